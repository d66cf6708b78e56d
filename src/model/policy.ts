/**
 * Policy: every threshold, limit and delay, with its unit and reason.
 *
 * Owns: the defaults of CONTRACTS.md and the type that configuration may override.
 * Speaks: milliseconds, bytes, tokens, counts; units last in names.
 * Never: scoring weights of retrieval (retrieve/score.ts).
 */
export interface Policy {
  /** A listing counts as settled after this long without change. */
  readonly settledMs: number;
  /** … and at the latest after this long. */
  readonly settledAtMostMs: number;
  /** How long a skill keeps its standing while its upstream is away. */
  readonly graceMs: number;
  /** A spawned upstream without calls is stopped after this; its tools stay listed. 0 = never. */
  readonly idleStopMs: number;
  readonly callTimeoutMs: number;
  /** No progress can renew a call beyond this. */
  readonly callCapMs: number;
  readonly connectTimeoutMs: number;
  /** Slow polling for servers that never notify. */
  readonly pollMs: number;
  /** Upstreams started at the same time. */
  readonly startsAtOnce: number;
  readonly viewTokens: number;
  /** Largest token budget a caller may ask for. */
  readonly viewTokensMax: number;
  readonly planningSkills: number;
  readonly atomicSkillsPerView: number;
  readonly toolsPerStep: number;
  readonly retrieveLimit: number;
  readonly exploreCalls: number;
  readonly exploreTools: number;
  /** Full skill text given out by explore over one episode. */
  readonly exploreSkillChars: number;
  readonly describeLimit: number;
  /** Maximal marginal relevance for skills: 1 = relevance only. */
  readonly mmrLambda: number;
  /** Results of call_tool above this come as head, tail and a handle. */
  readonly resultBytes: number;
  readonly requestBytes: number;
  /** Exposed tool names: with a client's own prefix they stay within 64. */
  readonly maxNameLength: number;
  /** An implicit episode of a token is continued for this long. */
  readonly episodeIdleMs: number;
  readonly sessionIdleMs: number;
  readonly sessionsMax: number;
  /** Bound on a graceful stop. */
  readonly stopMs: number;
  /** Run maintenance by itself after a settled version. */
  readonly maintainAuto: boolean;
  /** Hold a tool on any text change (default: only when the scan finds something). */
  readonly holdOnTextChange: boolean;
  readonly evidenceKeep: "shape" | "full";
}

const seconds = 1_000;
const minutes = 60 * seconds;
const hours = 60 * minutes;

export const DEFAULT_POLICY: Policy = Object.freeze({
  settledMs: 2 * seconds,
  settledAtMostMs: 30 * seconds,
  graceMs: 24 * hours,
  idleStopMs: 15 * minutes,
  callTimeoutMs: 300 * seconds,
  callCapMs: 1 * hours,
  connectTimeoutMs: 60 * seconds,
  pollMs: 10 * minutes,
  startsAtOnce: 4,
  viewTokens: 4_000,
  viewTokensMax: 32_000,
  planningSkills: 5,
  atomicSkillsPerView: 8,
  toolsPerStep: 3,
  retrieveLimit: 5,
  exploreCalls: 3,
  exploreTools: 8,
  exploreSkillChars: 4_000,
  describeLimit: 5,
  mmrLambda: 0.7,
  resultBytes: 200_000,
  requestBytes: 4 * 1024 * 1024,
  maxNameLength: 48,
  episodeIdleMs: 30 * minutes,
  sessionIdleMs: 30 * minutes,
  sessionsMax: 1_000,
  stopMs: 10 * seconds,
  maintainAuto: false,
  holdOnTextChange: false,
  evidenceKeep: "shape",
});
