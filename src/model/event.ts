/**
 * Events: everything that can happen to STEWARD, closed.
 *
 * Owns: the inbox's alphabet. `decide` turns one event and the world into changes and effects.
 * Speaks: facts with the time they happened (`at`); never intentions without data.
 * Never: callbacks, promises, sockets.
 */
import type { CallLine, Episode, Evidence, Outcome } from "./episode.js";
import type { CatalogPin, PresenceState } from "./catalog.js";
import type { Calibration } from "./experience.js";
import type { CatalogVersion, Digest, EpisodeId, Instant, LibraryRevision, SkillName, ToolKey, UpstreamLabel } from "./ids.js";
import type { JsonValue } from "./json.js";
import type { LineageVerdict } from "./lineage.js";
import type { ProposedEdit } from "./maintenance.js";
import type { Policy } from "./policy.js";
import type { Problem } from "./problem.js";
import type { PatternQuestion } from "./sample.js";
import type { LockEntry, WrittenSkill } from "./skill.js";
import type { ListedTool, Tool } from "./tool.js";
import type { EmbeddedText } from "./vectors.js";
import type { RefusedSkill, ServedFolder, SkillMode } from "./upstream-skills.js";
import type { ViewRecord } from "./view.js";

export type Event =
  /** Time passed. The only way time enters what waits. */
  | { readonly kind: "tick"; readonly at: Instant }
  /**
   * The configuration in force: labels and policy. Tools of labels that are gone are purged. `starting`: a daemon begins, nothing is
   * connected yet; otherwise the configuration was read again under connections that live on.
   */
  | {
      readonly kind: "configured";
      readonly at: Instant;
      readonly starting: boolean;
      readonly upstreams: ReadonlyMap<
        UpstreamLabel,
        { readonly disabled: boolean; readonly prefix: string; readonly skills?: SkillMode | undefined }
      >;
      readonly policy: Policy;
    }
  /** A complete successful listing of one upstream (never a half one). */
  | {
      readonly kind: "listing";
      readonly at: Instant;
      readonly label: UpstreamLabel;
      readonly tools: readonly Tool[];
      readonly problems: readonly Problem[];
      readonly cause: "start" | "list_changed" | "poll" | "sync";
    }
  | {
      readonly kind: "presence";
      readonly at: Instant;
      readonly label: UpstreamLabel;
      readonly state: PresenceState;
      readonly reason?: string | undefined;
    }
  /** A token's views and calls stay with what a version had; `pin` undefined: they follow the catalog again. */
  | {
      readonly kind: "catalog-pinned";
      readonly at: Instant;
      readonly by: string;
      readonly token: string;
      readonly pin: Pick<CatalogPin, "version" | "tools"> | undefined;
    }
  | {
      readonly kind: "tool-approved";
      readonly at: Instant;
      readonly by: string;
      readonly tool: ToolKey;
      readonly contract: Digest;
      readonly text: Digest;
      /** Where the whole definition was shown: void if any of it moved. */
      readonly document?: Digest | undefined;
    }
  /** Patterns of upstreams were run on recorded texts; `matches` undefined where one is no pattern or did not end in time. */
  | {
      readonly kind: "patterns-run";
      readonly at: Instant;
      readonly answers: readonly (PatternQuestion & { readonly matches: boolean | undefined })[];
    }
  | {
      readonly kind: "lineage-judged";
      readonly at: Instant;
      readonly by: string;
      readonly link: string;
      readonly verdict: "confirm" | "reject";
    }
  /** A person says what took over from tools that left: one from one, several from one, or one from several. */
  | {
      readonly kind: "takeover-stated";
      readonly at: Instant;
      readonly by: string;
      /** Tool keys, or names that one tool has alone. */
      readonly from: readonly string[];
      readonly to: readonly string[];
      /** old parameter → new one, or null for one that goes nowhere; the others as found. */
      readonly params?: Readonly<Record<string, string | null>> | undefined;
      /** All fixed arguments; without them those that are known stay. */
      readonly fixed?: Readonly<Record<string, JsonValue>> | undefined;
      /** catalog version → the tools it had, of the last versions that had tools which left: what stood beside them then. */
      readonly stood?: ReadonlyMap<CatalogVersion, ReadonlySet<string>> | undefined;
    }
  | {
      readonly kind: "view-answered";
      readonly at: Instant;
      readonly record: ViewRecord;
      readonly open?: EpisodeOpening | undefined;
    }
  | { readonly kind: "episode-opened"; readonly at: Instant; readonly episode: EpisodeId; readonly opening: EpisodeOpening }
  /** Calls that were answered since the last such event, in the order of their answers. */
  | { readonly kind: "episode-calls"; readonly at: Instant; readonly calls: readonly AnsweredCall[] }
  | {
      readonly kind: "episode-finished";
      readonly at: Instant;
      readonly episode: EpisodeId;
      readonly outcome: Outcome;
      /** The episode's call lines, where the outcome is trusted and becomes evidence. */
      readonly calls: readonly CallLine[];
    }
  /** Episodes of other programs or homes, with their calls; those that are here already are left as they are. */
  | {
      readonly kind: "episodes-imported";
      readonly at: Instant;
      readonly episodes: readonly { readonly episode: Episode; readonly calls: readonly CallLine[] }[];
    }
  /** A person's or client's hand edit found on disc, or an import. */
  | {
      readonly kind: "skills-written";
      readonly at: Instant;
      readonly by: "human" | "import" | "starter";
      readonly written: readonly WrittenSkill[];
      /** Where imported skills come from, by name: a folder, a repository with its commit. */
      readonly origins?: ReadonlyMap<SkillName, string> | undefined;
      /** Folders that a person deleted: reported, restored from the store, never taken as removal. */
      readonly missing: readonly SkillName[];
      /** What a shipped lock says the skills were verified against; else the present tools count. */
      readonly verified?: ReadonlyMap<SkillName, LockEntry["verified"]> | undefined;
      /** Definitions of that lock, by document digest. */
      readonly definitions?: ReadonlyMap<string, ListedTool> | undefined;
    }
  /** All skills that an upstream serves, read whole (never half a list). */
  | {
      readonly kind: "skills-served";
      readonly at: Instant;
      readonly label: UpstreamLabel;
      readonly found: readonly ServedFolder[];
      /** In the list, and not readable as they should be: what was taken of them before stays. */
      readonly refused: readonly RefusedSkill[];
    }
  | {
      readonly kind: "skill-pinned";
      readonly at: Instant;
      readonly by: string;
      readonly skill: SkillName;
      readonly pinned: boolean;
    }
  | { readonly kind: "skill-approved"; readonly at: Instant; readonly by: string; readonly skill: SkillName }
  | { readonly kind: "skill-removed"; readonly at: Instant; readonly by: string; readonly skill: SkillName }
  | {
      readonly kind: "library-reverted";
      readonly at: Instant;
      readonly by: string;
      readonly to: LibraryRevision;
      readonly skill?: SkillName | undefined;
      /** What stood at that revision: files and lock entry per skill. */
      readonly stood: ReadonlyMap<SkillName, { readonly files: Readonly<Record<string, string>>; readonly entry: LockEntry }>;
      /** Definitions those lock entries were verified against, by document digest. */
      readonly definitions: ReadonlyMap<string, ListedTool>;
    }
  /** How far experience can be trusted was found anew. */
  | { readonly kind: "experience-calibrated"; readonly at: Instant; readonly calibration: Calibration }
  /** Texts were embedded; void where they moved meanwhile. Another embedder's vectors replace all there are; no rows and `none` end them. */
  | {
      readonly kind: "texts-embedded";
      readonly at: Instant;
      readonly embedder: string;
      readonly dimension: number;
      readonly rows: readonly EmbeddedText[];
    }
  /** The manager's proposals for a run came back; void for skills whose basis moved. */
  | {
      readonly kind: "maintenance-proposed";
      readonly at: Instant;
      readonly id: string;
      readonly mode: "incremental" | "rebuild";
      readonly dryRun: boolean;
      readonly basis: { readonly catalog: CatalogVersion; readonly library: LibraryRevision };
      readonly edits: readonly ProposedEdit[];
      /** Skills whose proposals a person accepts with this run; `*` = all. */
      readonly accept: readonly string[];
      /** Trajectories that the edits cite, by digest. */
      readonly recorded?: ReadonlyMap<string, Evidence> | undefined;
      /** Verdicts on proposed takeovers; each is void where a person spoke or its tools moved meanwhile. */
      readonly lineage?: readonly LineageVerdict[] | undefined;
      /** Links no verdict came for, and why: told in the report. */
      readonly unjudged?:
        readonly { readonly link: string; readonly how: "manager" | "replay"; readonly why: string }[] | undefined;
      /** What was looked at and not acted on: told in the report. */
      readonly notes?: readonly string[] | undefined;
      /** Findings of what was tried outside of the inbox, on this very basis (frozen queries, probes), by signature. */
      readonly findings?: ReadonlyMap<string, readonly string[]> | undefined;
      readonly tokens: { readonly used: number; readonly rebuildEstimate: number };
    };

export interface AnsweredCall {
  readonly line: Omit<CallLine, "seq" | "format">;
  /** How its episode is opened, where it is not known yet. */
  readonly open?: EpisodeOpening | undefined;
}

export interface EpisodeOpening {
  readonly task: string;
  readonly explicit: boolean;
  readonly principal: string;
  readonly session?: string | undefined;
}
