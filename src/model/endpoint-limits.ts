/**
 * Bounds on the endpoints that are asked: a model that decides, an embedder.
 *
 * Owns: sizes, delays and costs that are not configurable or have a default here, each with its reason.
 * Speaks: milliseconds, characters, tokens, counts.
 * Never: what is configured (config/), or what people may set by policy (policy.ts).
 */
const seconds = 1_000;
const minutes = 60 * seconds;
const hours = 60 * minutes;

/** Bounds on what a model is asked, how long it may take and what it may cost, each with its reason. */
export const LLM_LIMITS = Object.freeze({
  /** An agent waits for a view: after this the rules answer. Models take 1–4 s for such an answer; a slower one is no help. */
  viewMs: 8 * seconds,
  /** One question of maintenance: nobody waits for it, and reasoning models think. */
  editMs: 60 * seconds,
  /** A whole maintenance run; skills it does not come to are simply due again. */
  runMs: 10 * minutes,
  /** A question is not sent with less time left than this: no answer could come. */
  leastMs: 50,
  /** Times one question is sent again after a fault that may pass. A view has time for one. */
  viewRetries: 1,
  editRetries: 3,
  /** First pause before sending again, doubled each time, drawn between half and whole of it. */
  retryMs: 400,
  /** A Retry-After is waited for up to this in maintenance, never by a view; beyond it the work is given up and due again. */
  retryAfterMostMs: 20 * seconds,
  /** Faults in a row after which the endpoint is left alone, so that not every turn waits for a dead one; and for how long. */
  restAfterFaults: 3,
  restMs: 30 * seconds,
  /** An endpoint that asks for more rest than this is asked again all the same: one 3,600 must not cost an hour. */
  restMostMs: 5 * minutes,
  /** Views that ask at the same time; further ones are answered by rules rather than queued. */
  viewsAtOnce: 8,
  /** One answer with everything around it. Ours have a few kB; above this a server is broken or hostile. */
  answerBytes: 1024 * 1024,
  /** Tokens of an answer that is asked for; reasoning models spend some on thought. An answer that is cut gets this many times more, once. */
  viewAnswerTokens: 1_000,
  editAnswerTokens: 1_500,
  largerAnswer: 4,
  /** Tokens of one maintenance run, prompts and answers together. */
  runTokens: 200_000,
  /** What an edit's answer costs where none was seen yet: for the estimate of a rebuild. */
  editAnswerGuess: 150,
  /** What an endpoint was found not to take is tried again after this: servers are updated. */
  ladderForgetMs: 7 * 24 * hours,
  /** Answers of maintenance that are kept, so that an unchanged question costs nothing the second time. */
  answersKept: 500,
  /** Parameters of one tool that are shown where a takeover is judged, required ones first, and values of one enumeration. */
  shownParameters: 60,
  shownValues: 12,
  /** Tools and skills that are put before a model in one question: more is what a view is there to avoid. */
  shownTools: 24,
  shownSkills: 24,
  /** Tools like one that left, for the model to choose a successor from. */
  nearTools: 6,
  /** The same where lineage names a successor: enough to see that another would be likelier. */
  nearBesideSuccessor: 2,
  /** Characters of one description, of one step and of the whole task in a prompt. */
  shownChars: 300,
  stepChars: 600,
  taskChars: 8_000,
  /** Exact replacements of one edit, and characters of one. A skill that needs more is to be written anew by somebody. */
  replacements: 12,
  replacementChars: 400,
} as const);

/** Bounds on what an embeddings endpoint is asked and how long it may take, each with its reason. */
export const EMBEDDING_LIMITS = Object.freeze({
  /** An agent waits for a search: a need that is not embedded within this is searched by words alone. Endpoints take 20–400 ms. */
  needMs: 800,
  /** One request in the background. */
  batchMs: 60 * seconds,
  /** Texts and characters of one request; fewer after an endpoint refused that many. */
  batchTexts: 64,
  batchChars: 48_000,
  /** One answer: 64 vectors of 4,096 numbers have 6 MB as text. Above this a server is broken or hostile. */
  answerBytes: 32 * 1024 * 1024,
  /** First pause after a fault in the background, doubled up to the second; a longer Retry-After is not waited for. */
  retryMs: 1 * seconds,
  retryMostMs: 5 * minutes,
  /** A need has an endpoint that is paused with asked at once, at most this often: whoever mended it need not wait a pause out. */
  needRetryMs: 10 * seconds,
  /** First pause before texts that were refused are asked for again, doubled up to the second; how many try it for the others. */
  refusedMs: 10 * minutes,
  refusedMostMs: 24 * 60 * minutes,
  refusedAtOnce: 16,
  /** Faults in a row after which needs are searched by words at once, and for how long, so that not every turn waits for a dead endpoint. */
  restAfterFaults: 2,
  restMs: 30 * seconds,
  /** Vectors of recent needs that are kept: agents ask again in the same words. */
  needsKept: 256,
  /** Cosine of two answers to the probe from which on they come from one embedder: machines differ in the last digits only. */
  probeLikeness: 0.999,
  /**
   * Further answers to the probe that must agree before another embedder is followed; twice as many after each change within `steadyMs`.
   * Where that were more than `changeAnswersMost`, it is not followed: five changes an hour are.
   */
  changeAnswers: 2,
  changeAnswersMost: 32,
  /** For how long an endpoint is known for having changed, or for having contradicted itself. */
  steadyMs: 60 * minutes,
  /** Embedders whose vectors are kept, the last used ones: people try models and go back. */
  spacesKept: 3,
  /** Rows of one event: larger ones would hold up the inbox. */
  rowsAtOnce: 512,
} as const);
