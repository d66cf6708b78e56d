/**
 * Ports: what the core's owner needs from the edge.
 *
 * Owns: the interfaces between steward.ts and upstream/, store/, manager/, host/.
 * Speaks: domain nouns; promises only here.
 * Never: implementations.
 */
import type { CatalogManifest, CatalogPin, DepartedTool, Holds, KeptVersions, Presence } from "./catalog.js";
import type { Calibration } from "./experience.js";
import type { Change } from "./change.js";
import type { CallLine, Episode, Evidence } from "./episode.js";
import type { CatalogVersion, Instant, LibraryRevision, SkillName, ToolKey, UpstreamLabel } from "./ids.js";
import type { JsonObject, JsonValue } from "./json.js";
import type { SeenFlow } from "./flow.js";
import type { LineageLink, LineageVerdict, SupersedeHint } from "./lineage.js";
import type { MaintenanceReport, ProposedEdit } from "./maintenance.js";
import type { Problem } from "./problem.js";
import type { PatternAnswer, Sample } from "./sample.js";
import type { LibraryRevisionRecord, LockEntry } from "./skill.js";
import type { Standing } from "./standing.js";
import type { ListedTool } from "./tool.js";
import type { UpstreamSkills } from "./upstream-skills.js";
import type { ViewDecisions, ViewRecord, ViewRequest } from "./view.js";

/** Everything on disc that the world is rebuilt from. */
export interface Ground {
  readonly manifest: CatalogManifest | undefined;
  /** The highest number that a catalog version has a file of, be it damaged or set aside; 0 where there is none. */
  readonly highestVersion: CatalogVersion;
  /** Definitions of the current catalog and of what locks and holds refer to, by document digest. */
  readonly documents: ReadonlyMap<string, ListedTool>;
  readonly lineage: readonly LineageLink[];
  readonly hints: readonly SupersedeHint[];
  readonly holds: Holds;
  /** token name → its catalog pin */
  readonly catalogPins: ReadonlyMap<string, CatalogPin>;
  readonly presence: ReadonlyMap<UpstreamLabel, Presence>;
  readonly revision: LibraryRevisionRecord | undefined;
  /** Skill files of that revision, from the store's objects. */
  readonly skills: ReadonlyMap<SkillName, Readonly<Record<string, string>>>;
  /** Earlier contracts of skills that were edited, newest first: what a returning tool may revive. */
  readonly pastRevisions: ReadonlyMap<SkillName, readonly PastSkill[]>;
  readonly standings: ReadonlyMap<SkillName, Standing>;
  readonly pinned: ReadonlyMap<SkillName, { readonly at: string; readonly by: string }>;
  readonly episodes: readonly Episode[];
  readonly rejected: ReadonlyMap<string, { readonly skill: string; readonly why: string; readonly at: string }>;
  readonly calibration: Calibration;
  /** Observed flows by id. */
  readonly flows: ReadonlyMap<string, SeenFlow>;
  readonly samples: ReadonlyMap<ToolKey, readonly Sample[]>;
  readonly patterns: ReadonlyMap<string, PatternAnswer>;
  /** Skills taken in from upstreams, by label. */
  readonly upstreamSkills: ReadonlyMap<UpstreamLabel, UpstreamSkills>;
  /** Count of kept evidence records. */
  readonly evidence: number;
  /** What an earlier run of the same code worked out; empty is always right. */
  readonly prepared: Prepared;
  /** What was damaged, set aside, repaired or migrated while reading. */
  readonly problems: readonly Problem[];
}

/** Derived things as bytes, by a name that says what they were derived from (world/prepared.ts). Each part begins at a multiple of 8 bytes. */
export type Prepared = ReadonlyMap<string, Uint8Array>;

/** One earlier state of a skill: which revision, its files, its lock entry then. */
export interface PastSkill {
  readonly revision: LibraryRevision;
  readonly files: Readonly<Record<string, string>>;
  readonly entry: LockEntry;
}

export interface Store {
  /** Reads the ground state; never throws for damage (see Ground.problems). Finishes an interrupted batch first. */
  read(): Promise<Ground>;
  /** Persists one decision whole or not at all, durably, before it resolves. */
  persist(changes: readonly Change[]): Promise<void>;
  /** Skill folders as they lie in `skills/` now, where their bytes differ from the lock, and those that vanished. */
  readHandEdits(): Promise<{
    written: readonly { folder: string; files: Readonly<Record<string, string>> }[];
    missing: readonly SkillName[];
    problems: readonly Problem[];
  }>;
  readManifest(version: CatalogVersion): Promise<CatalogManifest | undefined>;
  listManifests(): Promise<readonly CatalogManifest[]>;
  /** Which versions are there, and which are damaged: what to say where a manifest cannot be had. */
  keptVersions(asked?: CatalogVersion): Promise<KeptVersions>;
  /** Throws Fault `home-damaged` naming the digest where an object is missing or does not hash. */
  readDocuments(digests: readonly string[]): Promise<ReadonlyMap<string, ListedTool>>;
  readRevision(revision: LibraryRevision): Promise<LibraryRevisionRecord | undefined>;
  listRevisions(): Promise<readonly LibraryRevisionRecord[]>;
  readSkillFiles(record: LibraryRevisionRecord, skill: SkillName): Promise<Readonly<Record<string, string>> | undefined>;
  readView(view: string): Promise<ViewRecord | undefined>;
  readReport(id: string): Promise<MaintenanceReport | undefined>;
  listReports(): Promise<readonly MaintenanceReport[]>;
  readCalls(episode: string): Promise<readonly CallLine[]>;
  readEvidence(digest: string): Promise<Evidence | undefined>;
  /** Digests of all kept evidence, oldest file first. */
  listEvidence(): Promise<readonly string[]>;
  /** Waits for writes under way; afterwards nothing is written. */
  close(): Promise<void>;
}

export interface Clock {
  now(): Instant;
  /** Milliseconds, monotonic. */
  elapsedMs(): number;
}

export interface Chance {
  /** Lower-case base32 characters, cryptographically random. */
  id(prefix: string): string;
}

/** Where decisions come from. `refused`: the endpoint took no question; `resting`: it is left alone until `againAt`. */
export interface ManagerStatus {
  readonly kind: "rules" | "llm";
  readonly model?: string | undefined;
  readonly state: "reachable" | "refused" | "resting" | "not asked";
  /** The last fault, in our own words. */
  readonly why?: string | undefined;
  readonly againAt?: Instant | undefined;
}

/** The six decisions that need judgement. `rules` answers at once; `llm` falls back to `rules`, visibly. */
export interface Manager {
  readonly name: "rules" | "llm";
  /** Who decides, and how its endpoint was met last; immediate, asks nobody. */
  status(): ManagerStatus;
  /** Plan, skills and tools of a view, chosen among candidates. */
  decideView(input: ViewCandidates): Promise<ViewDecisions>;
  /** Verdicts on proposed takeovers; where there is nobody to judge, none. */
  matchLineage(input: LineageQuestion): Promise<LineageMatch>;
  /** Edits for the skills that are due; `tell` hears of each skill that was thought about. */
  proposeEdits(
    input: MaintenanceInput,
    tell?: (done: number, of: number, skill: SkillName) => void,
  ): Promise<{ edits: readonly ProposedEdit[]; tokens: { used: number; rebuildEstimate: number } }>;
}

/** A proposed takeover that something waits for. */
export interface OpenLink {
  readonly link: LineageLink;
  /** The tool that left, as it was. */
  readonly from: import("./tool.js").Tool;
  /** Those that would take over, as they are. */
  readonly to: readonly import("./tool.js").Tool[];
  /** Skills and verified episodes that need the tool that left. */
  readonly skills: readonly SkillName[];
  readonly episodes: number;
  /** Digest of the definitions of both sides. */
  readonly basis: string;
}
export interface LineageQuestion {
  readonly at: Instant;
  /** Those that matter most first. */
  readonly links: readonly OpenLink[];
}
export interface LineageMatch {
  readonly verdicts: readonly LineageVerdict[];
  /** Links that were to be judged and were not. */
  readonly unjudged: readonly { readonly link: string; readonly why: string }[];
  readonly tokens: number;
}

/** What retrieval found for a request: plain data, the manager's whole input. */
export interface ViewCandidates {
  readonly request: ViewRequest;
  readonly planning: readonly SkillCandidate[];
  readonly atomic: readonly SkillCandidate[];
  /** For each step text (see provision/plan.ts) or, without steps, for the whole request. */
  readonly tools: readonly ToolCandidate[];
  /** Answers for one step of a plan; pure and immediate. */
  readonly forStep: (goal: string) => { readonly atomic: readonly SkillCandidate[]; readonly tools: readonly ToolCandidate[] };
  readonly limits: {
    readonly planning: number;
    readonly atomic: number;
    readonly toolsPerStep: number;
    readonly tools: number;
    readonly mmrLambda: number;
  };
  /** What library, catalog and graph know by name: a plan names skills and tools that no search brought. */
  readonly lookup?: {
    /** An active skill. */
    readonly skill: (name: string) => import("./skill.js").Skill | undefined;
    /** A tool that is offered. */
    readonly tool: (key: string) => import("./tool.js").Tool | undefined;
    /** Tools that yield a required parameter of a tool which `given` does not know, likeliest first (graph/reach.ts `closure`). */
    readonly suppliers: (tool: ToolKey, given: (param: string) => boolean) => readonly { tool: ToolKey; supplies: string }[];
    /** Active skills of tier `tool` on a tool. */
    readonly notesOn: (tool: ToolKey) => readonly import("./skill.js").Skill[];
  };
}
export interface SkillCandidate {
  readonly skill: import("./skill.js").Skill;
  readonly score: number;
}
export interface ToolCandidate {
  readonly tool: import("./tool.js").Tool;
  readonly score: number;
  readonly reason: string;
}

export interface MaintenanceInput {
  readonly mode: "incremental" | "rebuild";
  readonly at: Instant;
  readonly due: readonly DueSkill[];
  readonly tools: ReadonlyMap<ToolKey, import("./tool.js").Tool>;
  readonly departed: ReadonlyMap<ToolKey, DepartedTool>;
  readonly links: readonly LineageLink[];
  /** Tools that wait for a person: no evidence is carried over to them. */
  readonly held?: ReadonlySet<string>;
  /** Tools that a person approved although they go further than what they took over from: what it taught is proposed of them at most. */
  readonly widened?: ReadonlySet<string>;
  readonly skills: ReadonlyMap<SkillName, import("./skill.js").Skill>;
  readonly rejected: ReadonlySet<string>;
  /** Skills that a person pinned, due or not. */
  readonly pinned?: ReadonlySet<string>;
  /** Trajectories with an outcome: what there is to learn from, oldest first. */
  readonly proofs: readonly Proof[];
  /** `frozen`: planning skills stay as they were extracted; nothing adds or edits one. */
  readonly planning: "revised" | "frozen";
  /** What the run has used before edits were asked for. */
  readonly spent?: { readonly tokens: number; readonly ms: number } | undefined;
}
/** One trajectory and how far its outcome is trusted. */
export interface Proof {
  /** Of the evidence on disc; empty for a claim, which is none. */
  readonly digest: string;
  readonly evidence: Evidence;
  readonly weight: "verified" | "claim";
  /** Who claimed. */
  readonly claimant?: string | undefined;
}
export interface DueSkill {
  readonly skill: import("./skill.js").Skill;
  readonly standing: Standing;
  readonly pinned: boolean;
  /** What the skill was verified against: tool key → definition. */
  readonly verified: ReadonlyMap<ToolKey, import("./tool.js").Tool>;
}

/** One live connection set to all configured upstreams. */
export interface Upstreams {
  /** Starts connecting in the background; never waits for an upstream. */
  start(): void;
  /** Lists one upstream (or all) now; resolves when the listings' events were posted. */
  sync(label?: UpstreamLabel): Promise<readonly { label: UpstreamLabel; ok: boolean; reason?: string }[]>;
  /** Calls a tool: the upstream's result untouched. Throws Refusal for its protocol error, Fault where there is no answer. */
  call(request: UpstreamCall): Promise<JsonObject>;
  /** Passes any other request through (resources, prompts, completion). */
  request(label: UpstreamLabel, method: string, params: JsonObject, options: CallOptions): Promise<JsonObject>;
  status(): readonly UpstreamStatus[];
  /** Puts a new set of upstreams in force; unchanged ones keep their connection. */
  configure(upstreams: ReadonlyMap<UpstreamLabel, import("./config.js").UpstreamConfig>): Promise<void>;
  stop(): Promise<void>;
}
export interface UpstreamCall extends CallOptions {
  readonly label: UpstreamLabel;
  readonly name: string;
  readonly args: JsonObject;
}
export interface CallOptions {
  readonly signal: AbortSignal;
  /** Request `_meta` of the agent, minus its progress token and protocol keys. */
  readonly meta?: JsonObject | undefined;
  readonly onProgress?: ((progress: JsonObject) => void) | undefined;
  /** Told of the bytes that the answer came in, just before it is handed over. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  /** May a lost call be sent again? Only for read-only or idempotent tools. */
  readonly repeatable?: boolean | undefined;
  /** Carries server→client requests of this call (elicitation, sampling, roots) to the agent, where it can answer. */
  readonly onRequest?: ((method: string, params: JsonObject) => Promise<JsonObject>) | undefined;
  readonly onNotification?: ((method: string, params: JsonObject) => void) | undefined;
  /** Arguments for a retry of an `input_required` answer (modern era). */
  readonly inputResponses?: JsonObject | undefined;
  readonly requestState?: string | undefined;
  /** Client capabilities of the agent behind this call, for upstreams that are told with each request (modern era). */
  readonly capabilities?: JsonObject | undefined;
  /** Least severe log messages that the agent wants of this call (model/severity.ts); undefined = what the upstream does by itself. */
  readonly logLevel?: string | undefined;
  /** Who is behind this call (session or principal). Requests of an upstream that cannot say which call they belong to are passed on only where one origin is in flight. */
  readonly origin?: string | undefined;
  /** Headers of the agent's own request; only those that the upstream's `forwardHeaders` names are passed on. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}
export interface UpstreamStatus {
  readonly label: UpstreamLabel;
  readonly presence: Presence;
  readonly transport: "stdio" | "http" | "sse";
  readonly era: "legacy" | "modern" | undefined;
  readonly server: { readonly name: string; readonly version: string } | undefined;
  readonly capabilities: JsonObject | undefined;
  readonly instructions: string | undefined;
  readonly pid: number | undefined;
  readonly calls: number;
  readonly failures: number;
  /** Last lines of stderr, bounded, redacted. */
  readonly stderrTail: string;
  /** Texts that were no message, or nobody's. */
  readonly noiseLines: number;
  /** Of answers that came, those that named no request (their id null, missing or none of ours in kind). */
  readonly answersWithoutId: number;
  /** How long its tools stay unread between two listings, where they change over and over. */
  readonly slowedMs?: number | undefined;
  /** Prefix of exposed names where it is not the label; `""` shows names and URIs as the upstream spells them. */
  readonly prefix?: string | undefined;
  /** What becomes of skills that it serves; default `forward`. */
  readonly skills?: import("./upstream-skills.js").SkillMode | undefined;
}
export type { JsonValue };
