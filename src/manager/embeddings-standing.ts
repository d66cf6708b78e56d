/**
 * How an embeddings endpoint stands: what it last failed by, how long it is left alone, when it is looked at again.
 *
 * Owns: the reason of the last fault in words, faults in a row, the length of the next pause, what of it is told to the operator.
 * Speaks: faults and answers in; words, waits and log lines out.
 * Never: asks (embeddings.ts), or logs the same reason twice in a row.
 */
import { cleanText } from "../catalog/clean.js";
import { redact } from "../host/redact.js";
import type { EMBEDDING_LIMITS } from "../model/endpoint-limits.js";
import type { Clock } from "../model/ports.js";
import { UNSTEADY, type Refusal } from "./embeddings-whose.js";

const QUOTE_CHARS = 300;

export class Standing {
  /** Why the last request came to nothing; undefined after one that did not. */
  away: string | undefined;
  /** The endpoint said something of its own about it, which the log has. */
  isQuoted = false;
  /** Needs in a row that it did not take, though it takes other texts, and why the last one was not taken. */
  private untaken = 0;
  private untakenWhy = "";
  private faults = 0;
  private lastFaultMs = Number.NEGATIVE_INFINITY;
  private waitsUntilMs = Number.NEGATIVE_INFINITY;
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

  /** Somebody may have it asked before its pause is over: not just now, and not before the time it asked for. */
  mayBeAsked(): boolean {
    const now = this.options.clock.elapsedMs();
    return now >= this.waitsUntilMs && now - this.lastFaultMs >= this.options.limits.needRetryMs;
  }

  /** Somebody changed something: it is asked as if it had not failed before. */
  forgetPauses(): void {
    this.faults = 0;
    this.pauseMs = 0;
    this.restsUntilMs = Number.NEGATIVE_INFINITY;
    this.waitsUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** A need got no vector; whether the need or the endpoint is to blame shows when another text is asked for. */
  needFailed(fault: Refusal): void {
    // Where it failed already for other texts, the need is not to blame.
    const isNeedsOwn = fault.kind === "unfit" && (this.away === undefined || this.untaken > 0);
    if (isNeedsOwn) [this.untaken, this.untakenWhy] = [this.untaken + 1, fault.why];
    this.failed(fault);
  }

  needAnswered(): void {
    this.untaken = 0;
    this.answered();
  }

  /** How the last needs fared where other texts are taken; undefined where the last one was embedded. */
  needsTold(): string | undefined {
    if (this.untaken === 0) return undefined;
    return `the last ${this.untaken === 1 ? "need" : `${this.untaken} needs`} went by words (${this.untakenWhy})`;
  }

  /** No text is taken at all: no need was to blame. */
  refusesAll(): void {
    this.untaken = 0;
  }

  answered(): void {
    // One that contradicts itself is told of once, not each time it agrees.
    if (this.away !== undefined && this.away !== UNSTEADY)
      this.options.log("info", "the embeddings endpoint answers again", { model: this.options.model });
    this.away = undefined;
    this.isQuoted = false;
    this.forgetPauses();
  }

  failed({ kind, why, said }: Refusal): void {
    const quote = redact(cleanText(said.slice(0, 2_000)).text, this.options.secrets()).slice(0, QUOTE_CHARS);
    if (this.away !== why) this.options.log("warn", why, { model: this.options.model, ...(quote === "" ? {} : { said: quote }) });
    this.isQuoted = quote !== "";
    this.count(why, kind === "denied");
  }

  contradictedItself(isNews: boolean): void {
    const { url, model } = this.options;
    if (isNews) this.options.log("warn", `${UNSTEADY}; the vectors that are there stay in force`, { url, model });
    this.count(UNSTEADY, false);
  }

  /** Until it is looked at again: what the endpoint asks for, or twice the last pause and no less than given, at most the limit. */
  nextPauseMs(askedMs: number | undefined, leastMs = 0): number {
    const { retryMs, retryMostMs } = this.options.limits;
    this.pauseMs = Math.min(retryMostMs, Math.max(retryMs, this.pauseMs * 2));
    this.waitsUntilMs = this.options.clock.elapsedMs() + Math.min(retryMostMs, askedMs ?? 0);
    return Math.min(retryMostMs, Math.max(this.pauseMs, askedMs ?? 0, leastMs));
  }

  private count(why: string, rests: boolean): void {
    const { limits, clock } = this.options;
    this.away = why;
    this.faults += 1;
    this.lastFaultMs = clock.elapsedMs();
    if (this.faults >= limits.restAfterFaults || rests) this.restsUntilMs = clock.elapsedMs() + limits.restMs;
  }
}
