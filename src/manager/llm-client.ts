/**
 * One endpoint of one model: a question goes out, a checked answer or a named fault comes back, in time.
 *
 * Owns: the deadline of a question, its attempts and their pauses, leaving a dead endpoint alone, the count of tokens.
 * Speaks: questions with a form; answers of that form, or a fault with a reason in words.
 * Never: throws for what an endpoint does; decides anything.
 *
 *   ask ─► resting? ─► send ─► text ──► in form ─► answered
 *                       ▲        │        └ not ─► a rung lower, at once
 *                       │        ├ cut ──► a larger bound, once
 *                       │        ├ refused, late, denied ─► fault
 *                       └────────┴ busy, without content, unreachable: after a pause, as often as the terms allow
 */
import { cleanText } from "../catalog/clean.js";
import { redact } from "../host/redact.js";
import type { JsonObject } from "../model/json.js";
import type { Clock, ManagerStatus } from "../model/ports.js";
import { countTokens } from "../provision/tokens.js";
import { addSpent, NOTHING_SPENT, type Spent } from "./budget.js";
import { openLadder } from "./ladder.js";
import type { LlmLimits } from "./llm-limits.js";
import type { LlmMemory } from "./llm-memory.js";
import { openSender } from "./llm-sender.js";
import type { Asked } from "./llm-translate.js";
import { inSeconds, verdictOf, type AskFault, type Attempt, type Failure, type Sent } from "./llm-verdict.js";

export interface Question<Answer> extends Omit<Asked, "model"> {
  /** The checked answer; undefined where the object is not of the form asked for. */
  readonly read: (answer: JsonObject) => Answer | undefined;
}

/** How long and how often. */
export interface Terms {
  readonly withinMs: number;
  readonly retries: number;
  /** A Retry-After up to this is waited for; beyond it the question is given up at once. */
  readonly retryAfterMostMs: number;
}

export type Reply<Answer> =
  | { readonly kind: "answered"; readonly answer: Answer; readonly spent: Spent }
  | { readonly kind: "failed"; readonly fault: AskFault; readonly why: string; readonly spent: Spent };

export interface Endpoint {
  ask<Answer>(question: Question<Answer>, terms: Terms): Promise<Reply<Answer>>;
  /** How it was met last. */
  standing(): Pick<ManagerStatus, "state" | "why" | "againAt">;
}

export type Say = (level: "info" | "warn" | "error", text: string, data?: Record<string, unknown>) => void;

export interface EndpointOptions {
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string;
  readonly memory: LlmMemory;
  readonly limits: LlmLimits;
  readonly clock: Clock;
  readonly secrets: () => readonly string[];
  readonly log: Say;
}

/** Attempts at one question, whatever comes: rungs, bounds and retries together. */
const ATTEMPTS_MOST = 10;

export function openEndpoint(options: EndpointOptions): Endpoint {
  const { limits, clock, model } = options;
  const ladder = openLadder({ ...options, nowMs: () => Date.parse(clock.now()), forgetMs: limits.ladderForgetMs });
  const send = openSender({ ...options, answerBytes: limits.answerBytes });
  const standing = openStanding(limits, clock);
  /** The last question's end; nothing before the first. */
  let last: { readonly why: string | undefined } | undefined;

  return {
    standing() {
      if (last === undefined) return { state: "not asked" };
      if (last.why === undefined) return { state: "reachable" };
      const ms = standing.restsMs();
      if (ms === 0) return { state: "refused", why: last.why };
      return { state: "resting", why: last.why, againAt: new Date(Date.parse(clock.now()) + ms).toISOString() };
    },

    async ask(question, terms) {
      const asked: Asked = { model, prompt: question.prompt, form: question.form, answerTokens: question.answerTokens };
      const until = clock.elapsedMs() + terms.withinMs;
      const left = (): number => until - clock.elapsedMs();
      let spent = NOTHING_SPENT;
      const fail = ({ fault, why, said }: Failure): Reply<never> => {
        tell(fault, why, said);
        if (fault !== "resting") last = { why };
        return { kind: "failed", fault, why, spent };
      };
      const late = (): Reply<never> => {
        standing.fault();
        return fail({ fault: "late", why: `the model did not answer within ${inSeconds(terms.withinMs)}` });
      };

      const restsMs = standing.restsMs();
      if (restsMs > 0 && restsMs > Math.min(terms.retryAfterMostMs, left() - limits.leastMs)) {
        const why = `the model's endpoint is left alone for another ${inSeconds(restsMs)} after faults`;
        return fail({ fault: "resting", why });
      }
      if (restsMs > 0) await pause(restsMs);

      let attempt: Attempt = { dialect: ladder.current(), answerTokens: asked.answerTokens };
      let retries = 0;
      for (let attempts = 0; attempts < ATTEMPTS_MOST; attempts += 1) {
        if (left() < limits.leastMs) return late();
        const sent = await send({ ...asked, answerTokens: attempt.answerTokens }, attempt.dialect, left());
        spent = addSpent(spent, spentOn(asked, sent));
        if (sent.kind === "late") return late();
        const verdict = verdictOf(sent, { asked, attempt, read: question.read, larger: limits.largerAnswer });
        if (verdict.kind === "later") {
          const ms = (verdict.afterMs ?? 0) + jittered(limits.retryMs * 2 ** retries);
          const mayWait = (verdict.afterMs ?? 0) <= terms.retryAfterMostMs && ms <= left() - limits.leastMs;
          if (mayWait && retries < terms.retries) {
            retries += 1;
            await pause(ms);
            continue;
          }
          standing.fault(verdict.afterMs);
          return fail(verdict.failure);
        }
        standing.alive();
        if (verdict.kind === "failed") {
          // A wrong key stays wrong: it is not tried with every turn.
          if (verdict.failure.fault === "denied") standing.fault(limits.restMs);
          return fail(verdict.failure);
        }
        if (verdict.kind === "again") attempt = verdict.attempt;
        else {
          ladder.worked(attempt.dialect);
          last = { why: undefined };
          return { kind: "answered", answer: verdict.answer, spent };
        }
      }
      return fail({ fault: "unable", why: "the model's endpoint takes the question in no form" });
    },
  };

  /** The server's own words are for the operator alone. An endpoint that is left alone was told of before. */
  function tell(fault: AskFault, why: string, said = ""): void {
    if (fault === "resting") return;
    const quote = redact(cleanText(said.slice(0, 2_000)).text, [...options.secrets(), options.apiKey]).slice(0, 300);
    const isModels = fault === "refused" || fault === "cut" || fault === "invalid";
    options.log(isModels ? "info" : "warn", why, { model, ...(quote === "" ? {} : { said: quote }) });
  }
}

/** Whether the endpoint is worth asking: after faults in a row, or at its own wish, it is left alone for a while. */
function openStanding(
  limits: LlmLimits,
  clock: Clock,
): { restsMs(): number; alive(): void; fault(restMs?: number | undefined): void } {
  let faults = 0;
  let restsUntil = Number.NEGATIVE_INFINITY;
  return {
    restsMs: () => Math.max(0, restsUntil - clock.elapsedMs()),
    alive() {
      faults = 0;
    },
    fault(restMs) {
      faults += 1;
      const ms = restMs ?? (faults >= limits.restAfterFaults ? limits.restMs : 0);
      restsUntil = Math.max(restsUntil, clock.elapsedMs() + Math.min(ms, limits.restMostMs));
    },
  };
}

/** Between half and whole: agents that failed together do not come back together. */
function jittered(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** By the server's own count where it gives one. A question that nobody answered in time was read all the same. */
function spentOn(asked: Asked, sent: Sent): Spent {
  if (sent.kind === "unreachable" || sent.kind === "status") return { ...NOTHING_SPENT, calls: 1 };
  const usage = sent.kind === "read" ? sent.usage : undefined;
  if (usage !== undefined) return { calls: 1, ...usage };
  const text = sent.kind === "read" && sent.reading.kind === "text" ? sent.reading.text : "";
  return { calls: 1, promptTokens: promptTokens(asked), answerTokens: countTokens(text) };
}

/** o200k tokens of a prompt. */
export function promptTokens(asked: Pick<Asked, "prompt">): number {
  return countTokens(asked.prompt.system) + countTokens(asked.prompt.user);
}
