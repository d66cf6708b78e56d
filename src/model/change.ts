/**
 * Changes and effects: what a decision says shall be, as data.
 *
 * Owns: the alphabet that the store persists and `advance` applies.
 * Speaks: whole new values of what moved, so that applying one twice is applying it once.
 * Never: IO, clocks.
 */
import type { CatalogManifest, CatalogPin, Holds, Presence } from "./catalog.js";
import type { CallLine, Episode, Evidence } from "./episode.js";
import type { SeenFlow } from "./flow.js";
import type { Calibration } from "./experience.js";
import type { EpisodeId, SkillName, ToolKey, UpstreamLabel } from "./ids.js";
import type { LineageLink, SupersedeHint } from "./lineage.js";
import type { MaintenanceReport } from "./maintenance.js";
import type { Policy } from "./policy.js";
import type { PatternAnswer, PatternQuestion, Sample } from "./sample.js";
import type { LibraryRevisionRecord } from "./skill.js";
import type { Standing } from "./standing.js";
import type { ListedTool, Tool } from "./tool.js";
import type { EmbeddedText } from "./vectors.js";
import type { ViewRecord } from "./view.js";
import type { Problem } from "./problem.js";
import type { UpstreamSkills } from "./upstream-skills.js";

export type Change =
  | {
      readonly kind: "catalog-version";
      readonly manifest: CatalogManifest;
      /** Definitions not in the store yet, by document digest. */
      readonly documents: ReadonlyMap<string, ListedTool>;
      /** The tools of the new catalog that moved (added or changed), parsed. */
      readonly moved: readonly Tool[];
      readonly removed: readonly ToolKey[];
    }
  /** Links that are new or judged anew; `hints`, where they moved, all of them. */
  | { readonly kind: "lineage"; readonly links: readonly LineageLink[]; readonly hints?: readonly SupersedeHint[] | undefined }
  | { readonly kind: "holds"; readonly holds: Holds }
  | { readonly kind: "catalog-pin"; readonly token: string; readonly pin: CatalogPin | undefined }
  | { readonly kind: "presence"; readonly label: UpstreamLabel; readonly presence: Presence | undefined }
  | { readonly kind: "intake"; readonly label: UpstreamLabel; readonly problems: readonly Problem[] }
  | {
      readonly kind: "library-revision";
      readonly record: LibraryRevisionRecord;
      /** New file contents by sha256. */
      readonly objects: ReadonlyMap<string, string>;
      /** Skills whose files moved, whole. */
      readonly written: ReadonlyMap<SkillName, Readonly<Record<string, string>>>;
      readonly removed: readonly SkillName[];
      /** In memory only: definitions an older lock refers to, read back from the store. */
      readonly definitions?: ReadonlyMap<string, ListedTool> | undefined;
    }
  | { readonly kind: "standings"; readonly set: ReadonlyMap<SkillName, Standing>; readonly drop: readonly SkillName[] }
  | { readonly kind: "pinned"; readonly skill: SkillName; readonly pin: { readonly at: string; readonly by: string } | undefined }
  | { readonly kind: "upstream-skills"; readonly label: UpstreamLabel; readonly taken: UpstreamSkills }
  | { readonly kind: "episode"; readonly episode: Episode }
  | { readonly kind: "call"; readonly line: CallLine }
  | { readonly kind: "flows"; readonly set: ReadonlyMap<string, SeenFlow> }
  | { readonly kind: "view"; readonly record: ViewRecord }
  | { readonly kind: "evidence"; readonly digest: string; readonly evidence: Evidence }
  /** All samples of a tool; none where it has none any more. */
  | { readonly kind: "samples"; readonly tool: ToolKey; readonly samples: readonly Sample[] }
  /** All answers of patterns that are kept. */
  | { readonly kind: "patterns"; readonly answers: ReadonlyMap<string, PatternAnswer> }
  | { readonly kind: "report"; readonly report: MaintenanceReport }
  | {
      readonly kind: "rejected";
      readonly set: ReadonlyMap<string, { readonly skill: string; readonly why: string; readonly at: string }>;
    }
  /** In memory only: comes from the configuration, not from the store. */
  | {
      readonly kind: "policy";
      readonly policy: Policy;
      readonly prefixes: ReadonlyMap<UpstreamLabel, string>;
      /** Upstreams whose skills are taken into the library. */
      readonly skillsFrom: ReadonlySet<UpstreamLabel>;
    }
  | { readonly kind: "calibration"; readonly calibration: Calibration }
  /** In memory only: the embedder's cache keeps them. */
  | { readonly kind: "vectors"; readonly embedder: string; readonly dimension: number; readonly rows: readonly EmbeddedText[] }
  | { readonly kind: "clock"; readonly at: string };

/** Launched after the changes are on disc, never awaited by the inbox. */
export type Effect =
  /** The exposed list or the facade's descriptions moved: tell subscribed agents once. */
  | { readonly kind: "announce-tools" }
  | { readonly kind: "announce-skills" }
  /** Tools or skills moved: there may be texts to embed. */
  | { readonly kind: "texts-moved" }
  /** Standings say that maintenance is due. */
  | { readonly kind: "maintenance-due"; readonly skills: readonly SkillName[] }
  /** Standings rest on what these patterns say, and nobody knows it yet. */
  | { readonly kind: "run-patterns"; readonly questions: readonly PatternQuestion[] }
  | { readonly kind: "log"; readonly level: "info" | "warn"; readonly text: string; readonly data?: Record<string, unknown> }
  | { readonly kind: "episode-ended"; readonly episode: EpisodeId };
