/**
 * Faults: requests that cannot be answered, by blame.
 *
 * Owns: the one table of codes, who is to blame, whether trying again can help, and the sentence.
 * Speaks: plain text; the surfaces' translate.ts give each code its wire form.
 * Never: used for imperfect input (a Problem), for what an upstream answered (its result), or for bugs (assertions).
 */
import type { JsonValue } from "./json.js";

export type Blame = "caller" | "operator" | "upstream" | "steward";

interface FaultEntry {
  readonly blame: Blame;
  readonly retryable: boolean;
  /** What it means and what to do; details are appended by the thrower. */
  readonly sentence: string;
}

export const FAULTS = {
  "input-invalid": { blame: "caller", retryable: false, sentence: "The request is not what this endpoint takes." },
  "input-too-large": { blame: "caller", retryable: false, sentence: "The request body is larger than the limit." },
  "tool-unknown": { blame: "caller", retryable: false, sentence: "No tool of that name is in the catalog." },
  "tool-held": {
    blame: "operator",
    retryable: false,
    sentence: "The tool changed in a way that needs a person's approval before it can be called.",
  },
  "tool-unavailable": { blame: "upstream", retryable: true, sentence: "The tool's upstream cannot be reached now." },
  "tool-not-offered": { blame: "operator", retryable: false, sentence: "The tool is not offered at present." },
  "arguments-invalid": { blame: "caller", retryable: false, sentence: "The arguments do not fit the tool's input schema." },
  "call-timeout": {
    blame: "upstream",
    retryable: false,
    sentence: "The call took longer than its limit; it was cancelled and its outcome is unknown.",
  },
  "call-interrupted": {
    blame: "upstream",
    retryable: false,
    sentence: "The call was broken off before its answer came; its outcome is unknown.",
  },
  "answer-too-large": {
    blame: "upstream",
    retryable: false,
    sentence: "The upstream's answer is larger than one message may be; the call ran, its answer is lost.",
  },
  "answer-unreadable": {
    blame: "upstream",
    retryable: false,
    sentence: "The upstream's answer cannot be read; the call may have run, its answer is lost.",
  },
  "call-cancelled": { blame: "caller", retryable: false, sentence: "The call was cancelled by its caller." },
  "skill-unknown": { blame: "caller", retryable: false, sentence: "No skill of that name is to be had." },
  "episode-unknown": { blame: "caller", retryable: false, sentence: "No episode of that id is known." },
  "episode-finished": { blame: "caller", retryable: false, sentence: "The episode is finished; start a new task." },
  "view-unknown": { blame: "caller", retryable: false, sentence: "No view of that id is recorded." },
  "version-unknown": { blame: "caller", retryable: false, sentence: "No catalog version of that number is kept." },
  "version-damaged": { blame: "operator", retryable: false, sentence: "That catalog version is damaged on disc." },
  "revision-unknown": { blame: "caller", retryable: false, sentence: "No library revision of that number is kept." },
  "lineage-unknown": { blame: "caller", retryable: false, sentence: "No lineage link of that id is known." },
  "lineage-settled": {
    blame: "caller",
    retryable: false,
    sentence: "A person said otherwise of this tool's takeover; that word is taken back first.",
  },
  "report-unknown": { blame: "caller", retryable: false, sentence: "No maintenance run of that id is known." },
  "result-unknown": { blame: "caller", retryable: false, sentence: "No kept result of that id is known." },
  "approval-stale": {
    blame: "caller",
    retryable: false,
    sentence: "What was shown for approval is not what is there now; look at the difference again.",
  },
  "edit-refused": { blame: "caller", retryable: false, sentence: "The edit did not pass the gate; the library is unchanged." },
  "skill-pinned": { blame: "caller", retryable: false, sentence: "The skill is pinned and may not be edited." },
  unauthorized: { blame: "caller", retryable: false, sentence: "A valid token is needed." },
  forbidden: { blame: "caller", retryable: false, sentence: "The token does not allow this." },
  "host-refused": { blame: "caller", retryable: false, sentence: "The Host or Origin of the request is not allowed." },
  "route-unknown": { blame: "caller", retryable: false, sentence: "There is nothing at this address." },
  "home-locked": { blame: "operator", retryable: false, sentence: "Another daemon works on this home." },
  "home-damaged": { blame: "operator", retryable: false, sentence: "The home cannot be read." },
  "home-unwritable": {
    blame: "operator",
    retryable: true,
    sentence: "The home cannot be written now; nothing of this change was kept.",
  },
  "format-newer": {
    blame: "operator",
    retryable: false,
    sentence: "A stored document is of a newer format than this version reads.",
  },
  "config-invalid": { blame: "operator", retryable: false, sentence: "The configuration cannot be used." },
  "bind-refused": {
    blame: "operator",
    retryable: false,
    sentence: "Listening beyond loopback needs a token; configure one or bind to 127.0.0.1.",
  },
  "upstream-failed": { blame: "upstream", retryable: true, sentence: "The upstream could not be started or reached." },
  "upstream-busy": {
    blame: "upstream",
    retryable: true,
    sentence: "The upstream takes no more requests now; this one did not reach it. Try again later.",
  },
  "login-refused": {
    blame: "caller",
    retryable: false,
    sentence: "The upstream does not accept the credentials of this call.",
  },
  "login-needed": {
    blame: "operator",
    retryable: false,
    sentence: "The upstream does not accept STEWARD's credentials for this call.",
  },
  "daemon-unreachable": { blame: "operator", retryable: true, sentence: "No daemon answers for this home." },
  "shutting-down": { blame: "steward", retryable: true, sentence: "The daemon is shutting down." },
  busy: { blame: "steward", retryable: true, sentence: "Too much is under way; try again shortly." },
  bug: { blame: "steward", retryable: false, sentence: "Something in STEWARD is wrong; the incident id names the log line." },
} as const satisfies Record<string, FaultEntry>;

export type FaultCode = keyof typeof FAULTS;

/** Thrown where a request cannot be answered. `detail` is a sentence for people; `data` is for machines. */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly detail: string;
  readonly data: JsonValue | undefined;

  constructor(code: FaultCode, detail: string, data?: JsonValue, options?: { cause?: unknown }) {
    super(`${FAULTS[code].sentence} ${detail}`.trim(), options);
    this.name = "Fault";
    this.code = code;
    this.detail = detail;
    this.data = data;
  }

  get blame(): Blame {
    return FAULTS[this.code].blame;
  }

  get retryable(): boolean {
    return FAULTS[this.code].retryable;
  }
}

/**
 * What an upstream answered instead of a result: its protocol error, untouched. "Upstream said no" is an answer, not a
 * fault: surfaces pass code, message and data on, and it counts as evidence.
 */
export class Refusal extends Error {
  readonly code: number;
  readonly data: JsonValue | undefined;

  constructor(code: number, message: string, data?: JsonValue) {
    super(message);
    this.name = "Refusal";
    this.code = code;
    this.data = data;
  }
}

/** For closed unions: reaching this is a bug, and the compiler says where. */
export function assertNever(value: never, what: string): never {
  throw new Error(`unhandled ${what}: ${JSON.stringify(value)}`);
}
