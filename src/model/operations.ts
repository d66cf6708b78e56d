/**
 * Operations: everything the surfaces may ask of STEWARD.
 *
 * Owns: the port between the surfaces (MCP, HTTP, CLI) and steward.ts.
 * Speaks: domain nouns, `Caller` for who asks; throws Fault.
 * Never: wire forms; rights are checked by the surfaces before an operation is asked for.
 */
import type { CatalogManifest } from "./catalog.js";
import type { Drift } from "./drift.js";
import type { Episode, EpisodeState, CallLine, Outcome } from "./episode.js";
import type {
  CallAnswer,
  CallToolInput,
  Counted,
  DescribeAnswer,
  DescribeToolsInput,
  ExploreCapabilitiesInput,
  FinishAnswer,
  FinishTaskInput,
  RetrieveToolsInput,
  StartTaskInput,
} from "./facade.js";
import type { Right } from "./home.js";
import type { JsonObject, JsonValue } from "./json.js";
import type { LineageLink, LinkState } from "./lineage.js";
import type {
  MaintenanceComparison,
  MaintenanceOptions,
  MaintenanceProgress,
  MaintenanceReport,
  MaintenanceRun,
  MaintenanceTally,
} from "./maintenance.js";
import type { CallOptions, ManagerStatus, UpstreamStatus } from "./ports.js";
import type { Problem } from "./problem.js";
import type { Reach } from "./reach.js";
import type { ImportAnswer, ImportRequest } from "./recorded.js";
import type { Contract, EditRecord, Provenance, Tier } from "./skill.js";
import type { Standing } from "./standing.js";
import type { EffectiveAnnotations, ToolDigests } from "./tool.js";
import type { View, ViewRecord } from "./view.js";

/** Who asks. `session` is the transport's (legacy MCP), used to find the running episode. */
export interface Caller {
  readonly principal: string;
  readonly rights: ReadonlySet<Right>;
  /** Labels this caller may use; undefined = all. */
  readonly upstreams: Reach;
  readonly session: string | undefined;
}

export interface CatalogTool {
  readonly tool: string;
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string;
  readonly signature: string;
  readonly annotations: EffectiveAnnotations;
  readonly digests: ToolDigests;
  readonly marks: readonly string[];
}
export interface CatalogAnswer {
  readonly version: number;
  readonly digest: string;
  readonly time: string;
  readonly tools: readonly CatalogTool[];
  /** Tools refused or repaired at intake, upstreams not offered. */
  readonly problems: readonly Problem[];
}
/** A token or session that stays with a catalog version, and what is left of it. */
export interface PinAnswer {
  readonly token?: string | undefined;
  readonly session?: string | undefined;
  readonly version: number;
  /** Tools of that version. */
  readonly tools: number;
  readonly gone: readonly { readonly tool: string; readonly to: readonly string[] }[];
  /** There, with another contract: called as they are now. */
  readonly changed: readonly string[];
  /** Nobody goes by that name yet: what the pin waits for. */
  readonly waits?: string | undefined;
}
/** Tools for a query as a catalog version would have answered; nothing is recorded. */
export interface SearchAnswer {
  readonly version: number;
  readonly tools: readonly {
    readonly tool: string;
    readonly signature: string;
    readonly score: number;
    readonly reason: string;
    /** False where it is not in the present catalog. */
    readonly present: boolean;
  }[];
  readonly unmatched: readonly string[];
  /** What was answered otherwise than it was asked for, as in a view. */
  readonly notices?: readonly { readonly code: string; readonly text: string }[];
}
export interface VersionSummary {
  readonly version: number;
  readonly time: string;
  readonly cause: string;
  readonly digest: string;
  readonly tools: number;
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  /** Its manifest cannot be read: where it lies and why. Digest and counts are empty then. */
  readonly damaged?: string;
}
export interface DriftAnswer extends Drift {
  readonly lineage: readonly LineageLink[];
  /** One cause per (rule, field) across the catalog. */
  readonly causes: readonly {
    readonly rule: string;
    readonly field: string | undefined;
    readonly tools: readonly string[];
    readonly text: string;
  }[];
  /**
   * Tools that the change between the two held, with why, and what became of them: still held, approved, free since the takeover was
   * rejected, free since they moved on, or gone. Beside them what of the moved is held now.
   */
  readonly held: readonly {
    readonly tool: string;
    readonly now: "held" | "approved" | "rejected" | "released" | "gone";
    readonly reasons: readonly { readonly rule: string; readonly text: string }[];
  }[];
  /** Skills reached by a changed or removed tool, with their present standing. */
  readonly skills: readonly { readonly skill: string; readonly standing: Standing }[];
}
export interface SkillSummary {
  readonly name: string;
  readonly tier: Tier;
  readonly description: string;
  readonly provenance: Provenance;
  readonly revision: number;
  readonly standing: Standing;
  readonly pinned: boolean;
  readonly tools: readonly string[];
  /** Why an edit of its folder is not taken up; what stood before it is in force. */
  readonly unread?: string | undefined;
  /** Where a skill is taken from that an upstream serves, while it is as it was taken. */
  readonly origin?: { readonly upstream: string; readonly uri: string; readonly served: boolean } | undefined;
}
export interface SkillDetail extends SkillSummary {
  readonly text: string;
  readonly files: Readonly<Record<string, string>>;
  readonly contract: Contract;
  readonly problems: readonly Problem[];
  /** Successors by lineage for tools that are gone. */
  readonly successors: readonly LineageLink[];
}
/** A skill as other programs are served it. */
export interface ServedSkill {
  readonly name: string;
  readonly description: string;
  /** The front matter of SKILL.md as data, typed as YAML's core schema types it. */
  readonly frontMatter: JsonObject;
  /** By path; `digest` is the sha256 of the bytes in hex, `size` their number. */
  readonly files: readonly { readonly path: string; readonly digest: string; readonly size: number }[];
}
export interface ServedSkills {
  /** Active skills, by name. */
  readonly skills: readonly ServedSkill[];
  /** Active skills that cannot be served, and why. */
  readonly leftOut: readonly { readonly skill: string; readonly why: string }[];
}
export interface SkillRevision {
  readonly revision: number;
  readonly time: string;
  readonly cause: string;
  readonly edit: EditRecord | undefined;
  readonly files: Readonly<Record<string, string>>;
}
export interface Health {
  readonly version: string;
  readonly pid: number;
  readonly home: string;
  readonly started: string;
  readonly ready: boolean;
  readonly catalog: number;
  readonly library: number;
  readonly tools: number;
  readonly skills: { readonly active: number; readonly inactive: number };
  readonly upstreams: readonly { readonly label: string; readonly presence: string }[];
  readonly problems: readonly Problem[];
  /** `fine`: false where somebody should look at what `vectors` says. */
  readonly retrieval: { readonly vectors: string; readonly fine: boolean };
  /** Of runs that were no dry ones, since the daemon started. */
  readonly maintenance: MaintenanceTally;
  /** Who decides views and edits. */
  readonly manager: ManagerStatus;
}
/** What a person's word took back: the skills that changed, and why any of them, or of what uses them, rests now. */
export interface TakenBack {
  readonly changed: readonly string[];
  readonly resting: readonly { readonly skill: string; readonly reason: string }[];
}
/** A library after a revert. */
export interface Reverted extends TakenBack {
  /** The present one: a new one where anything changed. */
  readonly revision: number;
  /** Skills that came in after the revision that was asked for: they stay. */
  readonly keptSince: readonly string[];
  /** Pinned skills that stood otherwise then: they stay as they are. */
  readonly keptPinned: readonly string[];
  /** Where nothing changed: that, and since when it is so. */
  readonly unchanged?: string | undefined;
}
export interface ApprovalInput {
  readonly tool: string;
  /** As they were shown; both are needed but for a dry run. `document` makes it of the whole definition. */
  readonly contract?: string | undefined;
  readonly text?: string | undefined;
  readonly document?: string | undefined;
  readonly dryRun?: boolean | undefined;
}
export interface ApprovedTool {
  readonly tool: string;
  readonly approved: boolean;
  /** What the approval is of. */
  readonly difference: ToolDifference;
  /** Skills that use it, as they stand. */
  readonly standing: readonly string[];
}
/** What a person looks at before approving a tool: from what was accepted, or last looked at, to what it is. */
export interface ToolDifference {
  readonly digests: { readonly contract: string; readonly text: string; readonly document: string };
  readonly held: boolean;
  /** The tool that it took over from, where it is measured from that one. */
  readonly predecessor?: string | undefined;
  readonly reasons: readonly { readonly rule: string; readonly text: string }[];
  /** Whether the former definition is known; else all texts are shown as new. */
  readonly known: boolean;
  readonly changes: readonly { readonly rule: string; readonly verdict: string; readonly path: string; readonly text: string }[];
  /** As listed, invisible characters and all. */
  readonly texts: readonly { readonly where: string; readonly before: string; readonly after: string }[];
  readonly findings: readonly {
    readonly code: string;
    readonly severity: string;
    readonly where: string;
    readonly text: string;
  }[];
}
/** A takeover as a person states it: one tool from one, several from one, or one from several. */
export interface TakeoverInput {
  /** Keys, or names that one tool has alone. */
  readonly from: readonly string[];
  /** In order of use. */
  readonly to: readonly string[];
  /** old parameter → new one, or null for one that goes nowhere; the others as they are found. */
  readonly params?: Readonly<Record<string, string | null>> | undefined;
  /** All arguments that are fixed; without them those that are known stay. */
  readonly fixed?: Readonly<Record<string, JsonValue>> | undefined;
}
export interface StatedTakeover {
  readonly links: readonly LineageLink[];
  /** What should be known of them: parameters that nothing fills or that go nowhere, links that are not followed any more. */
  readonly remarks: readonly string[];
  readonly held: readonly string[];
  readonly released: readonly string[];
  /** Of skills that a corrected mapping bound: those that went back, to be bound anew, and what rests for it. */
  readonly skills: TakenBack & {
    /** Those whose text is a person's, or was edited since: it stays, and asks for a look. */
    readonly marked: readonly string[];
  };
}
/** A link with what is of it in the present catalog. */
export interface ShownLink extends LineageLink {
  readonly now: LinkState;
}
/** A link after a person's word on it. */
export interface JudgedLink extends LineageLink {
  /** Those that a rejection took back to the tool that left, and which of them and of what uses them rest now. */
  readonly skills: TakenBack;
  /** Tools that wait for a person since, or no longer do, because of that word. */
  readonly held: readonly string[];
  readonly released: readonly string[];
}
export interface GraphWhy {
  readonly skill: string;
  readonly standing: Standing;
  /** Paths from the skill to what it rests on, each with what stands there. */
  readonly paths: readonly { readonly path: readonly string[]; readonly level: string; readonly text: string }[];
}
/** The facade's own descriptions depend on these and nothing else: they move only with a catalog version. */
export interface FacadeFacts {
  readonly catalogVersion: number;
  readonly servers: readonly { readonly label: string; readonly tools: number; readonly title: string | undefined }[];
  readonly tools: number;
  readonly skills: number;
}
/** One tool for direct exposure: its whole listed document under its exposed name. */
export interface DirectTool {
  readonly name: string;
  readonly document: JsonObject;
}
/** What an upstream announces beside its tools: a resource that moved, or a list that did. */
export type UpstreamAnnouncement =
  { readonly kind: "resource"; readonly uri: string } | { readonly kind: "prompts" } | { readonly kind: "resources" };
export type Announcement = "tools" | "skills" | "prompts" | "resources";

export interface Operations {
  startTask(input: StartTaskInput, caller: Caller): Promise<Counted<View>>;
  retrieveTools(input: RetrieveToolsInput, caller: Caller): Promise<Counted<View>>;
  exploreCapabilities(input: ExploreCapabilitiesInput, caller: Caller): Promise<Counted<View>>;
  describeTools(input: DescribeToolsInput, caller: Caller): Promise<Counted<DescribeAnswer>>;
  /** `direct` never cuts a result; otherwise results above the byte cap come as head, tail and a handle. */
  callTool(
    input: CallToolInput,
    caller: Caller,
    options: CallOptions & { readonly direct: boolean },
  ): Promise<Counted<CallAnswer>>;
  finishTask(input: FinishTaskInput, caller: Caller): Promise<Counted<FinishAnswer>>;

  /** Without a reach: of everything. */
  facadeFacts(reach?: Reach): FacadeFacts;
  directTools(caller: Caller): readonly DirectTool[];
  /** Input schema of a tool that this caller may use, by key or exposed name. */
  inputSchema(tool: string, caller: Caller): JsonObject | undefined;
  /** A kept result above the cap, for who made the call: the rest behind `steward://results/<id>`. */
  keptResult(id: string, caller: Caller): { readonly mimeType: string; readonly text: string };
  onAnnounce(listener: (what: Announcement) => void): () => void;
  /** A subscribed resource changed; `uri` as the upstream spells it. Absent where updates cannot be followed. */
  onResourceUpdated?(listener: (label: string, uri: string) => void): () => void;

  catalog(options: { at?: number }, caller?: Caller): Promise<CatalogAnswer>;
  versions(): Promise<readonly VersionSummary[]>;
  version(version: number): Promise<CatalogManifest>;
  /** Tools for a query, by words alone, as of a catalog version; by default the present one. */
  searchCatalog(query: string, options: { at?: number; limit?: number }, caller: Caller): Promise<SearchAnswer>;
  catalogPins(): Promise<readonly PinAnswer[]>;
  /** Pins a token or a transport session to a version, or lets it follow the catalog again; by default the caller's own token. */
  pinCatalog(
    options: { version: number | undefined; token?: string; session?: string },
    caller: Caller,
  ): Promise<{ readonly pinned: PinAnswer | null }>;
  drift(options: { from?: number; to?: number }): Promise<DriftAnswer>;
  lineage(): Promise<readonly ShownLink[]>;
  /** One link by its id, or by the beginning of one that no other has. */
  lineageLink(link: string): Promise<ShownLink>;
  judgeLineage(link: string, verdict: "confirm" | "reject", caller: Caller): Promise<JudgedLink>;
  /** What a person knows of a takeover that was not found, or that was found with other parameters. */
  stateTakeover(input: TakeoverInput, caller: Caller): Promise<StatedTakeover>;
  /** Without a label: every upstream that the caller may use. */
  sync(
    label?: string,
    caller?: Caller,
  ): Promise<{ readonly version: number; readonly results: readonly { label: string; ok: boolean; reason?: string }[] }>;
  /** An approval names the digests it saw; `dryRun` shows them and approves nothing. */
  approveTool(input: ApprovalInput, caller: Caller): Promise<ApprovedTool>;

  /** `at`: as the library stood, and would have been judged, while that catalog version was in force; a caller is shown its own. */
  skills(filter: { tier?: string; standing?: string; at?: number }, caller?: Caller): Promise<readonly SkillSummary[]>;
  skill(name: string, caller?: Caller): Promise<SkillDetail>;
  /** Active skills that this caller may use all tools of; those taken from an upstream are passed on as the upstream's. */
  servedSkills(caller: Caller): ServedSkills;
  /** Why a skill of an upstream, or a file of one (URIs as the upstream spells them), is not passed on; undefined where it is. */
  skillWithheld(label: string, uri: string, what: "skill" | "file"): string | undefined;
  /** Text of one file of such a skill; undefined where it has none of this name. Throws Fault `skill-unknown`. */
  servedFile(skill: string, path: string, caller: Caller): string | undefined;
  skillHistory(name: string): Promise<readonly SkillRevision[]>;
  approveSkill(name: string, caller: Caller): Promise<SkillSummary>;
  pinSkill(name: string, pinned: boolean, caller: Caller): Promise<SkillSummary>;
  removeSkill(name: string, caller: Caller): Promise<{ readonly removed: string; readonly revision: number }>;
  importSkills(
    /** `origin`: where a folder comes from, for its history. */
    folders: readonly { folder: string; files: Readonly<Record<string, string>>; origin?: string }[],
    caller: Caller,
  ): Promise<{ readonly imported: readonly string[]; readonly problems: readonly Problem[]; readonly revision: number }>;
  /** Back to what stood at revision `to`, as a new revision. */
  revert(options: { to: number; skill?: string }, caller: Caller): Promise<Reverted>;
  lintSkills(): Promise<readonly Problem[]>;

  graph(): Promise<JsonObject>;
  graphGexf(): Promise<string>;
  why(skill: string, options?: { at?: number }): Promise<GraphWhy>;

  /** `tell` hears how far it is. */
  maintain(options: MaintenanceOptions, caller: Caller, tell?: (progress: MaintenanceProgress) => void): Promise<MaintenanceRun>;
  /** What each mode would do now; a configured model is asked, nothing is applied. */
  compareModes(tell?: (progress: MaintenanceProgress) => void): Promise<MaintenanceComparison>;
  reports(): Promise<readonly MaintenanceReport[]>;
  /** Of a run under way (`current`: the newest such) the report it ends with; `tell` hears how far it is. */
  report(id: string, tell?: (progress: MaintenanceProgress) => void): Promise<MaintenanceRun>;

  /** Newest first, at most `limit` of them. */
  episodes(options?: { readonly state?: EpisodeState; readonly limit?: number }): Promise<readonly Episode[]>;
  episode(id: string): Promise<{ readonly episode: Episode; readonly calls: readonly CallLine[] }>;
  verifyEpisode(
    id: string,
    verdict: { outcome: Outcome["outcome"]; trust: "state" | "replay" | "human"; note?: string },
    caller: Caller,
  ): Promise<Episode>;

  /** Takes in what logs of other programs say happened (evidence/ reads them). */
  importEpisodes(request: ImportRequest, caller: Caller): Promise<ImportAnswer>;

  viewRecord(id: string): Promise<ViewRecord>;
  replay(id: string): Promise<{ readonly view: View; readonly same: boolean; readonly differences: readonly string[] }>;

  upstreams(): readonly UpstreamStatus[];
  /** Pass-through of an upstream's own methods (resources, prompts, completion); `label` from a qualified URI or name. */
  passThrough(label: string, method: string, params: JsonObject, caller: Caller, options: CallOptions): Promise<JsonObject>;
  /** A caller is told of the upstreams within its reach, and of no problem that names another. */
  health(caller?: Caller): Health;
}
