/**
 * How an embeddings endpoint stands: what it last failed by, how long it is left alone, when it is looked at again.
 *
 * Owns: the reason of the last fault in words, faults in a row, the length of the next pause, what of it is told to the operator.
 * Speaks: faults and answers in; words, waits and log lines out.
 * Never: asks (embeddings.ts), or logs the same reason twice in a row.
 */
import { cleanText } from "../catalog/clean.js";
import { redact } from "../host/redact.js";
import type { EMBEDDING_LIMITS } from "../model/policy.js";
import type { Clock } from "../model/ports.js";
import { UNSTEADY, type Refusal } from "./embeddings-whose.js";

const QUOTE_CHARS = 300;

export class Standing {
  /** Why the last request came to nothing; undefined after one that did not. */
  away: string | undefined;
  private faults = 0;
  private restsUntilMs = Number.NEGATIVE_INFINITY;
  private pauseMs = 0;

  constructor(
    private readonly options: {
      readonly url: string;
      readonly model: string;
      readonly limits: { readonly [Name in keyof typeof EMBEDDING_LIMITS]: number };
      readonly clock: Clock;
      /** Values that no log line may show. */
      readonly secrets: () => readonly string[];
      readonly log: (level: "info" | "warn", text: string, data?: Record<string, unknown>) => void;
    },
  ) {}

  /** Faults in a row: nobody who waits asks it for now. */
  isResting(): boolean {
    return this.options.clock.elapsedMs() < this.restsUntilMs;
  }

  answered(): void {
    // One that contradicts itself is told of once, not each time it agrees.
    if (this.away !== undefined && this.away !== UNSTEADY)
      this.options.log("info", "the embeddings endpoint answers again", { model: this.options.model });
    this.away = undefined;
    this.faults = 0;
    this.pauseMs = 0;
    this.restsUntilMs = Number.NEGATIVE_INFINITY;
  }

  failed({ kind, why, said }: Refusal): void {
    const quote = redact(cleanText(said.slice(0, 2_000)).text, this.options.secrets()).slice(0, QUOTE_CHARS);
    if (this.away !== why) this.options.log("warn", why, { model: this.options.model, ...(quote === "" ? {} : { said: quote }) });
    this.count(why, kind === "denied");
  }

  contradictedItself(isNews: boolean): void {
    const { url, model } = this.options;
    if (isNews) this.options.log("warn", `${UNSTEADY}; the vectors that are there stay in force`, { url, model });
    this.count(UNSTEADY, false);
  }

  /** Until it is looked at again: what the endpoint asks for, or twice the last pause, at most the limit. */
  nextPauseMs(askedMs: number | undefined): number {
    const { retryMs, retryMostMs } = this.options.limits;
    this.pauseMs = Math.min(retryMostMs, Math.max(retryMs, this.pauseMs * 2));
    return Math.min(retryMostMs, Math.max(this.pauseMs, askedMs ?? 0));
  }

  private count(why: string, rests: boolean): void {
    const { limits, clock } = this.options;
    this.away = why;
    this.faults += 1;
    if (this.faults >= limits.restAfterFaults || rests) this.restsUntilMs = clock.elapsedMs() + limits.restMs;
  }
}
