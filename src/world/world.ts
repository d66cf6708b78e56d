/**
 * The world: where nouns meet.
 *
 * Owns: everything STEWARD knows at one moment: the ground state in memory (`Known`) and what is derived from it.
 * Speaks: the core's nouns; changes come in through advance.ts, answers go out through turn.ts.
 * Never: IO, clocks, chance. `now` is the time of the last tick.
 *
 * A world is immutable towards its readers. Two things inside are moved in place by `advance`, behind that face, because
 * copying them would cost more than the work: the search indexes and the map of episodes. A reader therefore takes what it
 * needs of them before its first `await`.
 */
import type { Catalog, CatalogPin, Holds, Presence } from "../model/catalog.js";
import type { Episode } from "../model/episode.js";
import { NO_CALIBRATION, type Calibration } from "../model/experience.js";
import type { CatalogVersion, ExposedName, Instant, SkillName, ToolKey, UpstreamLabel } from "../model/ids.js";
import type { SeenFlow } from "../model/flow.js";
import type { LineageLink, SupersedeHint } from "../model/lineage.js";
import type { PastSkill } from "../model/ports.js";
import { DEFAULT_POLICY, type Policy } from "../model/policy.js";
import type { Problem } from "../model/problem.js";
import type { PatternAnswer, Sample } from "../model/sample.js";
import type { Library } from "../model/skill.js";
import type { Standing } from "../model/standing.js";
import type { ListedTool } from "../model/tool.js";
import type { UpstreamSkills } from "../model/upstream-skills.js";
import { emptyCatalog } from "../catalog/version.js";
import type { DependencyGraph } from "../graph/graph.js";
import type { Experience } from "../retrieve/experience.js";
import type { SkillIndex } from "../retrieve/skills.js";
import type { ToolIndex } from "../retrieve/tools.js";
import type { Vectors } from "./vectors.js";

/** The ground state in memory: what the store holds, parsed. */
export interface Known {
  readonly catalog: Catalog;
  /** The highest number that a catalog version ever had: what is kept may be older, and no number is given twice. */
  readonly highestVersion: CatalogVersion;
  /** Definitions that locks, holds and departed tools refer to, by document digest. */
  readonly definitions: ReadonlyMap<string, ListedTool>;
  readonly lineage: ReadonlyMap<string, LineageLink>;
  /** Takeovers that were seen coming: what `findLineage` is told when the old tool leaves. */
  readonly hints: readonly SupersedeHint[];
  readonly holds: Holds;
  /** Tokens that stay with a catalog version. */
  readonly catalogPins: ReadonlyMap<string, CatalogPin>;
  readonly presence: ReadonlyMap<UpstreamLabel, Presence>;
  /** What the last listing of each upstream had wrong with it. */
  readonly intake: ReadonlyMap<UpstreamLabel, readonly Problem[]>;
  readonly library: Library;
  /** Earlier states of edited skills, newest first. */
  readonly past: ReadonlyMap<SkillName, readonly PastSkill[]>;
  readonly standings: ReadonlyMap<SkillName, Standing>;
  /** Skills taken in from upstreams, by label; those of labels that are no longer configured included. */
  readonly upstreamSkills: ReadonlyMap<UpstreamLabel, UpstreamSkills>;
  readonly pinned: ReadonlyMap<SkillName, { readonly at: string; readonly by: string }>;
  readonly rejected: ReadonlyMap<string, { readonly skill: string; readonly why: string; readonly at: string }>;
  readonly calibration: Calibration;
  /** What calls were seen to pass on, by id; those seen in enough episodes join tools in the graph. */
  readonly flows: ReadonlyMap<string, SeenFlow>;
  /** Arguments of verified calls, by tool. */
  readonly samples: ReadonlyMap<ToolKey, readonly Sample[]>;
  /** What patterns said of recorded texts, by `questionId`. */
  readonly patterns: ReadonlyMap<string, PatternAnswer>;
  /** Count of kept evidence records: the evidence position. */
  readonly evidence: number;
  readonly policy: Policy;
  readonly prefixes: ReadonlyMap<UpstreamLabel, string>;
  /** Upstreams whose skills are taken into the library. */
  readonly skillsFrom: ReadonlySet<UpstreamLabel>;
  readonly now: Instant;
}

export interface World extends Known {
  /** Moved in place by advance. */
  readonly episodes: ReadonlyMap<string, Episode>;
  readonly graph: DependencyGraph;
  readonly toolIndex: ToolIndex;
  /** Active skills only: what views choose from. */
  readonly activeSkills: SkillIndex;
  /** Resting skills: only to say what was left out and why. */
  readonly restingSkills: SkillIndex;
  readonly exposed: ReadonlyMap<ExposedName, ToolKey>;
  /** What served verified tasks. */
  readonly experience: Experience;
  /** What an embedder made of tools and skills; what moves loses its vector until it is embedded again. Empty after a rebuild. */
  readonly vectors: Vectors;
}

export const emptyHolds: Holds = Object.freeze({ format: "holds/1", held: {}, approved: {}, review: {} });

export const emptyKnown: Known = Object.freeze({
  catalog: emptyCatalog,
  highestVersion: 0,
  definitions: new Map(),
  lineage: new Map(),
  hints: [],
  holds: emptyHolds,
  catalogPins: new Map(),
  presence: new Map(),
  intake: new Map(),
  library: { revision: 0, skills: new Map(), lock: { format: "steward-lock/1", revision: 0, skills: {} } },
  past: new Map(),
  standings: new Map(),
  upstreamSkills: new Map(),
  pinned: new Map(),
  rejected: new Map(),
  calibration: NO_CALIBRATION,
  flows: new Map(),
  samples: new Map(),
  patterns: new Map(),
  evidence: 0,
  policy: DEFAULT_POLICY,
  prefixes: new Map(),
  skillsFrom: new Set<UpstreamLabel>(),
  now: "1970-01-01T00:00:00.000Z",
});

/** Is any of this label's tools offered at all (listed, retrievable)? */
export function isOffered(presence: Presence | undefined): boolean {
  return presence === undefined || (presence.state !== "parked" && presence.state !== "disabled");
}

/** Would a call need the upstream to come back first? */
export function isUnavailable(presence: Presence | undefined): boolean {
  return presence === undefined || presence.state === "connecting" || presence.state === "away";
}
