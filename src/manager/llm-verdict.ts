/**
 * What an exchange with an endpoint comes to: an answer, a fault, or another attempt.
 *
 * Owns: which faults may pass, which forms may be given up, what is said of each. Pure: no time passes here.
 * Speaks: one exchange in, a verdict out; reasons in our own words only.
 * Never: repeats a server's words in a reason (`said` goes to the operator's log and nowhere else).
 */
import type { JsonObject } from "../model/json.js";
import { objectIn } from "./answer.js";
import { stepDown, type Dialect } from "./ladder.js";
import type { Asked, Reading, Usage } from "./llm-translate.js";

export type AskFault =
  "refused" | "cut" | "invalid" | "late" | "busy" | "broken" | "unreachable" | "denied" | "unable" | "resting";

/** What one request came to. */
export type Sent =
  | { readonly kind: "read"; readonly reading: Reading; readonly usage: Usage | undefined }
  | { readonly kind: "status"; readonly status: number; readonly said: string; readonly afterMs: number | undefined }
  | { readonly kind: "unreachable"; readonly said: string }
  | { readonly kind: "late" };

export interface Failure {
  readonly fault: AskFault;
  readonly why: string;
  /** The server's own words, if it had any. */
  readonly said?: string | undefined;
}

/** How the next attempt is sent. */
export interface Attempt {
  readonly dialect: Dialect;
  readonly answerTokens: number;
}

export type Verdict<Answer> =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "failed"; readonly failure: Failure }
  /** At once, put in another way. */
  | { readonly kind: "again"; readonly attempt: Attempt }
  /** The same after a pause, where that is allowed; otherwise it failed so. */
  | { readonly kind: "later"; readonly afterMs: number | undefined; readonly failure: Failure };

export interface Judged<Answer> {
  readonly asked: Asked;
  readonly attempt: Attempt;
  readonly read: (answer: JsonObject) => Answer | undefined;
  /** Factor of the larger bound that a cut answer gets once. */
  readonly larger: number;
}

export function verdictOf<Answer>(sent: Exclude<Sent, { kind: "late" }>, judged: Judged<Answer>): Verdict<Answer> {
  switch (sent.kind) {
    case "unreachable":
      return later("unreachable", "the model's endpoint could not be reached", undefined, sent.said);
    case "status":
      return ofStatus(sent, judged.attempt);
    case "read":
      return ofReading(sent.reading, judged);
  }
}

function ofStatus<Answer>(sent: Extract<Sent, { kind: "status" }>, attempt: Attempt): Verdict<Answer> {
  const { status, said, afterMs } = sent;
  if (mayPass(status)) {
    const wish = afterMs === undefined ? "" : ` and asks to be left alone for ${inSeconds(afterMs)}`;
    return later("busy", `the model's endpoint is busy (${status})${wish}`, afterMs, said);
  }
  const lower = isAboutForm(status, said) ? stepDown(attempt.dialect, said) : undefined;
  if (lower !== undefined) return { kind: "again", attempt: { ...attempt, dialect: lower } };
  if (status === 401 || status === 403) return failed("denied", `the model's endpoint refused the key (${status})`, said);
  return failed("unable", `the model's endpoint does not take the question (${status})`, said);
}

function ofReading<Answer>(reading: Reading, judged: Judged<Answer>): Verdict<Answer> {
  const { asked, attempt } = judged;
  switch (reading.kind) {
    case "empty":
      return later("broken", "the model's endpoint answered without content", undefined, reading.said);
    case "refused":
      return failed("refused", "the model refused");
    case "cut": {
      const isFirst = attempt.answerTokens === asked.answerTokens && attempt.dialect.bound !== "none";
      if (!isFirst) return failed("cut", "the model's answer was cut, with a larger bound as well");
      return { kind: "again", attempt: { ...attempt, answerTokens: asked.answerTokens * judged.larger } };
    }
    case "text": {
      const object = objectIn(reading.text);
      const answer = object === undefined ? undefined : judged.read(object);
      if (answer !== undefined) return { kind: "answered", answer };
      const lower = stepDown(attempt.dialect);
      if (lower === undefined) return failed("invalid", "the model's answer was not of the form asked for");
      return { kind: "again", attempt: { ...attempt, dialect: lower } };
    }
  }
}

function failed<Answer>(fault: AskFault, why: string, said?: string): Verdict<Answer> {
  return { kind: "failed", failure: { fault, why, said } };
}

function later<Answer>(fault: AskFault, why: string, afterMs: number | undefined, said: string): Verdict<Answer> {
  return { kind: "later", afterMs, failure: { fault, why, said } };
}

/** 408, 409, 425 and 429 may pass, like everything that is the server's own fault. 501 says that it never will. */
function mayPass(status: number): boolean {
  return [408, 409, 425, 429].includes(status) || (status >= 500 && status !== 501);
}

/** May the complaint be about how the question was put? Not where it is about its length or about who asks. */
function isAboutForm(status: number, said: string): boolean {
  if (/context.{0,24}(?:length|window|size)|too (?:long|many tokens)|maximum context/i.test(said)) return false;
  return [400, 404, 415, 422, 501].includes(status);
}

/** A span for people: `8 s`, `0.5 s`, `120 ms`. */
export function inSeconds(ms: number): string {
  return ms < 1_000 ? `${Math.ceil(ms)} ms` : `${Math.ceil(ms / 100) / 10} s`;
}
