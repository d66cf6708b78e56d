/**
 * What a maintenance run asks a model: one question after another, within the run's time and tokens.
 *
 * Owns: the run's allowance and its end, answers that still hold, what answered questions cost.
 * Speaks: questions by kind in; checked answers, or why there is none.
 * Never: what an answer means.
 *
 * A run that died is taken up where it was: answers are remembered by their question, so that the next run pays for the rest only.
 */
import { sha256 } from "../catalog/canonical.js";
import type { JsonObject, JsonValue } from "../model/json.js";
import type { Clock } from "../model/ports.js";
import type { z } from "zod";
import { answerSchema } from "./answer.js";
import { NOTHING_SPENT, openAllowance, type Account, type Spent } from "./budget.js";
import { promptTokens, type Endpoint, type Say } from "./llm-client.js";
import type { LlmLimits } from "./llm-limits.js";
import type { LlmMemory } from "./llm-memory.js";
import { promptOf, type PromptParts } from "./prompt.js";

export interface RunDeps {
  readonly endpoint: Endpoint;
  readonly limits: LlmLimits;
  readonly account: Account;
  readonly secrets: () => readonly string[];
  readonly model: string;
  readonly memory: LlmMemory;
  readonly clock: Clock;
  readonly log: Say;
}

export type Asked<Answer> =
  | { readonly answer: Answer; readonly spent: Spent }
  | { readonly answer: undefined; readonly spent: Spent; readonly fault: string; readonly why: string };

/** A kind of question: its name is part of what answers are remembered by. */
export interface Kind<Shape extends z.ZodType> {
  readonly name: string;
  readonly shape: Shape;
}

export interface Run {
  ask<Shape extends z.ZodType>(kind: Kind<Shape>, parts: PromptParts): Promise<Asked<z.infer<Shape>>>;
  /** Tokens used so far. */
  used(): number;
  /** What answered questions cost by the endpoint's count, and their prompts by ours: an estimate speaks the endpoint's language. */
  readonly seen: { answers: number; answerTokens: number; promptTokens: number; promptTokensCounted: number };
}

/** `within`: what is left to it. `instead`: what goes on without the model where it ends early, for the log. */
export function openRun(deps: RunDeps, within: { readonly tokens: number; readonly ms: number }, instead: string): Run {
  const { limits } = deps;
  const allowance = openAllowance(within.tokens);
  const endsMs = deps.clock.elapsedMs() + within.ms;
  const seen = { answers: 0, answerTokens: 0, promptTokens: 0, promptTokensCounted: 0 };
  /** Why nothing more is asked in this run. */
  let over: string | undefined;

  function stop(why: string): string {
    if (over === undefined) deps.log("warn", `${instead}: ${why}`);
    over ??= why;
    return why;
  }

  function none(fault: string, why: string, spent: Spent = NOTHING_SPENT): Asked<never> {
    return { answer: undefined, spent, fault, why };
  }

  return {
    seen,
    used: () => allowance.used(),
    async ask<Shape extends z.ZodType>({ name, shape }: Kind<Shape>, parts: PromptParts): Promise<Asked<z.infer<Shape>>> {
      // The content without the mark that is drawn anew for each prompt.
      const key = `${name} ${sha256(`${deps.model}\n${JSON.stringify(parts)}`)}`;
      const known = shape.safeParse(deps.memory.get(key));
      if (known.success) return { answer: known.data, spent: NOTHING_SPENT };
      if (over !== undefined) return none("over", over);
      const leftMs = endsMs - deps.clock.elapsedMs();
      if (leftMs < limits.leastMs) return none("over", stop("the run's time is used up"));
      const prompt = promptOf(parts, deps.secrets());
      const counted = promptTokens({ prompt });
      if (!allowance.mayAsk(counted, limits.editAnswerTokens)) return none("over", stop("the run's token budget is used up"));
      const question = {
        prompt,
        form: { name, schema: answerSchema(shape) },
        answerTokens: limits.editAnswerTokens,
        read: (answer: JsonObject) => shape.safeParse(answer).data as z.infer<Shape> | undefined,
      };
      const reply = await deps.endpoint.ask(question, {
        withinMs: Math.min(limits.editMs, leftMs),
        retries: limits.editRetries,
        retryAfterMostMs: limits.retryAfterMostMs,
      });
      allowance.take(reply.spent);
      if (reply.kind === "failed") {
        // Who refuses one question may answer the next; who is not there will not be.
        if (!["refused", "cut", "invalid", "late"].includes(reply.fault)) stop(reply.why);
        return none(reply.fault, reply.why, reply.spent);
      }
      seen.answers += 1;
      seen.answerTokens += reply.spent.answerTokens / reply.spent.calls;
      seen.promptTokens += reply.spent.promptTokens / reply.spent.calls;
      seen.promptTokensCounted += counted;
      deps.memory.set(key, reply.answer as unknown as JsonValue);
      return { answer: reply.answer, spent: reply.spent };
    },
  };
}
