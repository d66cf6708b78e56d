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
  /** Episodes that nobody verified are forgotten, views and calls included, when nothing happened in them for this long. */
  readonly episodesKeptMs: number;
  readonly sessionIdleMs: number;
  readonly sessionsMax: number;
  /** Bound on a graceful stop. */
  readonly stopMs: number;
  /** Run maintenance by itself after a settled version. */
  readonly maintainAuto: boolean;
  /** Run maintenance by itself this often, whatever is due: new evidence is learnt from. 0 = never. */
  readonly maintainEveryMs: number;
  /** `frozen`: planning skills stay as they were extracted; runs neither add nor edit one. */
  readonly maintainPlanning: "revised" | "frozen";
  /** A manager's verdict on a proposed takeover: not asked for, shown to people, or in force like a person's until a person says otherwise. */
  readonly lineageByManager: "off" | "advice" | "confirm";
  /** Calls of read-only tools on live upstreams that one run of maintenance may make to try a takeover on recorded calls. 0 = none. */
  readonly probeCalls: number;
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
  episodesKeptMs: 180 * 24 * hours,
  sessionIdleMs: 30 * minutes,
  sessionsMax: 1_000,
  stopMs: 10 * seconds,
  maintainAuto: false,
  maintainEveryMs: 0,
  maintainPlanning: "revised",
  lineageByManager: "advice",
  probeCalls: 0,
  holdOnTextChange: false,
  evidenceKeep: "shape",
});

/** What finding lineage may cost at most. */
export const LINEAGE_LIMITS = Object.freeze({
  /** Tools of one upstream up to which takeovers to come are looked for: half a second. Real ones have 350 at most. */
  hintTools: 1_000,
});

/** What looking at proposed takeovers may cost in one run of maintenance. */
export const LINEAGE_LOOKS = Object.freeze({
  /** Links a manager is asked about; those that most skills wait for go first, the rest wait for the next run. */
  askedMost: 20,
  /** Part of a run's tokens that may go to lineage: edits are what the run is for. */
  tokenShare: 0.5,
});

/** Recorded calls made again on the tool that is said to have taken over. */
export const PROBE_LIMITS = Object.freeze({
  /** Different calls that must be answered alike, without one that is not, before a takeover counts as shown. */
  agreeing: 2,
  /** Calls tried for one takeover or one edit. */
  triedMost: 4,
  /** One answer, and all probes of a run: maintenance does not wait for a slow upstream. */
  callMs: 10 * seconds,
  runMs: 60 * seconds,
});

/** Recorded calls that are kept to try moved schemas on, and what running an upstream's patterns on them may cost. */
export const SAMPLE_LIMITS = Object.freeze({
  /** Distinct arguments kept per tool; those of evidence that a skill cites are kept beside them. */
  perTool: 32,
  /** Calls remembered of one set of arguments. */
  callsPerSample: 8,
  /** Arguments above this show no more than smaller ones and cost as much at every judgement. */
  argsChars: 16_384,
  /** A longer text or pattern is not run: it stays undecided. */
  textChars: 20_000,
  /** Answers of patterns kept, above which those that nothing rests on go. */
  answers: 10_000,
  /** Patterns asked at once; the rest are asked when these are answered. */
  questionsAtOnce: 1_000,
  /** A pattern that runs longer on one text is ended; after a second try it stays undecided. Ordinary ones take microseconds. */
  patternMs: 500,
});

/** A run of maintenance by itself that failed: first pause, doubled up to the last. */
export const AUTO_MAINTENANCE = Object.freeze({ backoffMs: 30 * seconds, backoffMaxMs: 1 * hours });

/** From when on evidence is worth a skill, in counts of different things it was done to. */
export const EXTRACTION = Object.freeze({
  /** Verified runs of one way. One may be luck; the second makes it a way. */
  supportLeast: 2,
  /** Agents' own claims, where nobody verified: so many, of so many different agents, are shown to a person. */
  claimsLeast: 3,
  claimantsLeast: 2,
  /** Trajectories looked at in one run, the newest first: what a run holds in memory. */
  proofsMost: 5_000,
  claimsMost: 500,
});

/** Limits on skill files, in characters (code points) and counts: what STEWARD writes, and what it reads at all. */
export const SKILL_LIMITS = Object.freeze({
  /** Folders of one import: each is read, checked and written in one go. */
  foldersAtOnce: 2_000,
  /** The Agent Skills format's own bounds. */
  nameChars: 64,
  descriptionChars: 1_024,
  compatibilityChars: 500,
  /** Hosts list all skills in about 8,000 characters: ours stay below this. */
  listedDescriptionChars: 200,
  /** Bodies STEWARD writes, by tier. */
  bodyChars: Object.freeze({ planning: 1_500, atomic: 900, tool: 400 }),
  /** A front matter that does not end within this is refused before any YAML is read. */
  frontMatterChars: 65_536,
  /** Nesting above this is refused before YAML is parsed: a recursive parser near its stack limit can end the process. */
  frontMatterDepth: 64,
  /** Bad YAML is repaired line by line only in heads of at most this many lines. */
  frontMatterRepairLines: 200,
  /** A SKILL.md above this is refused: it would not fit any view. */
  skillFileChars: 262_144,
  /** The skills extension's bounds on one folder. */
  filesPerSkill: 512,
  folderBytes: 16 * 1024 * 1024,
});

/** Limits and delays of upstream sessions that are not configurable, each with its reason. */
export const UPSTREAM_LIMITS = Object.freeze({
  /** One message of an upstream. Real screenshots and file dumps reach tens of MiB; above this one answer could exhaust memory. */
  messageBytes: 64 * 1024 * 1024,
  /**
   * Output of a spawned upstream without a message in it, within this time, after which it is ended and started anew. Above it even the
   * largest messages that are refused have come whole; nothing a server logs by mistake comes near it.
   */
  floodBytes: 256 * 1024 * 1024,
  /** What a line counts beside its bytes: reading it costs as much, however short it is. */
  floodLineBytes: 1024,
  floodMs: 1 * minutes,
  /** Unsent bytes towards an upstream that does not read: further calls are refused as busy. */
  unsentBytes: 64 * 1024 * 1024,
  /** Kept end of an upstream's stderr. */
  stderrTailBytes: 8 * 1024,
  /** Part of that tail which is shown inside an error. */
  stderrShownChars: 1_200,
  /** One listing: pages, tools and time after which the upstream is taken to never end. */
  listPages: 1_000,
  listTools: 20_000,
  listMs: 5 * minutes,
  /** Reading a listing holds others up for no longer at once, but for the one tool that it is at. */
  readTurnMs: 20,
  /** Skills that are taken in from one upstream, and the bytes of their files together. */
  skills: 1_000,
  skillBytes: 64 * 1024 * 1024,
  /** list_changed: calm before a refresh, the shortest interval between two, and how far no-op refreshes stretch it. */
  refreshDelayMs: 50,
  refreshIntervalMs: 500,
  refreshIntervalMaxMs: 60 * seconds,
  /** The same for a list that is another at each refresh: each makes a version, which work under way must read past. */
  refreshFlapMaxMs: 8 * seconds,
  /**
   * And for one that goes on so: every version writes a manifest of the whole catalog and has maintenance look. So many changes are
   * seen as they come (a server that is being worked on for an hour), then one for each cooling: some 300 a day, whoever announces
   * what. The longest wait is how late the last word is seen; it is no shorter than a cooling.
   */
  flapFew: 30,
  flapCoolMs: 5 * minutes,
  flapSlowMaxMs: 5 * minutes,
  /** An upstream's own hint how long a list stays fresh is obeyed within this and `pollMs`. */
  pollMinMs: 30 * seconds,
  /** Reconnecting: first delay, doubled up to the last; each drawn between half and whole. */
  backoffMs: 500,
  backoffMaxMs: 5 * minutes,
  /** A session that lived this long (or answered a call) starts the backoff anew. */
  backoffForgivenMs: 30 * seconds,
  /** Calls do not cause another attempt this soon after one failed: they fail with its reason. */
  attemptGapMs: 1 * seconds,
  /** Stopping a process group: time for a clean exit after stdin ends, after SIGTERM, and to be gone after SIGKILL. */
  exitCleanMs: 1_500,
  exitTermMs: 1_500,
  exitKillMs: 1_000,
  /** How soon after a start, and how often then, it is seen which process groups an upstream's descendants lead. */
  familyFirstMs: 1 * seconds,
  familyMs: 10 * seconds,
  /** Last output of a process that died is still read for this long. */
  drainMs: 200,
  /** Requests of a lost HTTP session may still end by themselves for this long. */
  retireMs: 30 * seconds,
  /** Refused credentials: the configuration is read again at most this often, and waited for at most this long. */
  rereadGapMs: 1 * seconds,
  rereadWaitMs: 2 * seconds,
  /** Ending an HTTP session politely (DELETE) may take this long. */
  farewellMs: 1 * seconds,
  /** A silent upstream is asked for a sign of life after a call timed out and while none runs; without one it is restarted. */
  pingMs: 10 * seconds,
} as const);

/** Limits and delays of the agents' side (MCP, HTTP) that are not configurable, each with its reason. */
export const SURFACE_LIMITS = Object.freeze({
  /** A comment on every open stream: proxies and clients drop streams that stay silent for 60 s and more. */
  keepAliveMs: 15 * seconds,
  /** How long a modern client may keep a list: short, since list_changed reaches subscribers only. */
  listTtlMs: 60 * seconds,
  /** The facade's list moves only with a catalog version. */
  facadeTtlMs: 5 * minutes,
  /** Time for one upstream to answer when lists are gathered from all of them; the rest is left out and said so. */
  gatherMs: 10 * seconds,
  /** Pages of one gathered list: a cursor that never ends is a fault of the upstream. */
  gatherPages: 1_000,
  /** Entries on one page of skills/list: hosts read them all, a few hundred bytes each. */
  skillsPerPage: 200,
  /** A call that waits for the agent's answer to a question is given up after this. */
  answerMs: 10 * minutes,
  /** Calls that wait so at the same time. */
  heldCallsMax: 1_000,
  /** Rounds of questions in one call, against two sides that only ask. */
  questionRounds: 8,
  /** Before a call is made again for an upstream that asked nothing and only wants to be called again. */
  questionPauseMs: 500,
  /** Head of a request, then the whole request body: slow senders hold no socket. */
  headersTimeoutMs: 65 * seconds,
  requestTimeoutMs: 2 * minutes,
  /** Of a request body that is refused for its size, bytes and time that are let in unread, so that its client sees the answer. */
  droppedBytes: 256 * 1024 * 1024,
  droppedMs: 30 * seconds,
  /** Longer than common clients keep an idle connection, so that they close it first and never write into a closing one. */
  idleConnectionMs: 60 * seconds,
  /** New sessions a minute from one address, beyond a burst of the same size. */
  sessionsPerMinute: 600,
  /** Events of a session's own stream that are kept for a client that lost it and comes back. */
  resumableEvents: 200,
  /** Unread bytes on one stream; a reader this far behind is cut off. */
  streamBacklogBytes: 16 * 1024 * 1024,
  /** Messages in one JSON-RPC batch (protocol 2025-03-26 only). */
  batchMessages: 100,
  /** Characters of one upstream's instructions that direct exposure passes on: hosts put them into every context. */
  instructionsChars: 4_000,
  /** Characters of a facade description that name what is behind. */
  behindChars: 260,
  /** The bridge: pause before the daemon is looked for again, doubling up to the second value. */
  bridgeRetryMs: 100,
  bridgeRetryAtMostMs: 2 * seconds,
  /** The bridge gives up looking for a daemon after this and answers with an error. */
  bridgeGiveUpMs: 30 * seconds,
  /** After stdin ended, calls in flight may still be answered: a pipe that says all at once waits for what it asked. */
  bridgeLastMs: 60 * seconds,
  /** How long the bridge tries to tell the daemon that its session is over. */
  bridgeByeMs: 1 * seconds,
});

/** Bounds on a compact signature, in characters: one line that an agent reads among a dozen others. */
export const SIGNATURE_LIMITS = Object.freeze({
  /** First sentence of the description. Real ones have a median of 70. */
  sentenceChars: 160,
  /** Optional parameters together; required ones are always told. */
  optionalChars: 240,
  /** One nested object or union. */
  objectChars: 90,
  /** Values of one enumeration. */
  enumChars: 60,
  /** Levels of objects within objects that are spelt out. */
  depth: 2,
});

/**
 * Milliseconds for which an episode with nothing but searches in it is kept after the last of them: its views can be looked at and
 * replayed for a day. Every search without a session makes one.
 */
export const EMPTY_EPISODES_KEPT_MS = 24 * hours;

/** What the rules decide with when they plan and choose, each with its reason. */
export const PROVISION = Object.freeze({
  /**
   * Share of a skill's (or tool's) own words that a need must have before it is taken to mean it, 0…1. Below it a plan that shares
   * only a noun with the task ("order") would be followed; a plan derived from the task's own clauses is the smaller harm.
   */
  fit: 0.6,
  /**
   * Share of a plan's gist (name, description, goals of its steps) that a task must have, 0…1. On the sample shop the plans that are
   * meant have 0.35 to 0.54, others at most 0.29.
   */
  gist: 0.3,
  /** Planning skills joined into one plan. More than three is no plan but a list. */
  mergedPlans: 3,
  /** Steps of a plan, and clauses of a task that are looked at. */
  steps: 12,
  /** Searches made for single steps: each costs a few milliseconds on a large catalog. */
  stepSearches: 4,
  /** Tools of a plan that is one step of the task's own: it stands for several calls that its sentence does not tell apart. */
  onlyStepTools: 5,
  /** A tool found by search is taken down to this part of the best one's score. */
  toolCutOff: 0.7,
  /** Suppliers of suppliers that are added for a required value which the task does not say: order ← customer ← email. */
  supplierLevels: 2,
  /** Characters of a step's goal. */
  goalChars: 160,
  /** Share of the skill text left in an episode that one explore may show: the next ones are to have some as well. */
  exploreShare: 0.5,
  /** Share of the token budget that may tell what was left out. */
  leftOutShare: 0.15,
  /** Share of a tight budget that plan, notices and substitutions may take before they are told more tersely. */
  frameShare: 0.5,
});
