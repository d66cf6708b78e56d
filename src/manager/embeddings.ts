/**
 * The embedder: keeps the texts of tools and skills embedded in the background, and embeds a need while somebody waits for it.
 *
 * Owns: what is asked when; pauses after faults; whose vectors are in force; texts an endpoint does not take.
 * Speaks: due texts in; rows of one embedder out, as they come; a need's vector, or in words why there is none.
 * Never: throws for what an endpoint does, makes a need wait beyond its deadline, or stands in the way of a listing.
 *
 *   wake ─► due? ─► in the cache ──► delivered
 *             ▲  └► in batches ────► whose? ─► kept, delivered      a fault: pause, doubled each time, and again
 *             └──────────────────────  └ another embedder's: everything is due anew
 */
import { cleanText } from "../catalog/clean.js";
import { redact } from "../host/redact.js";
import { EMBEDDING_LIMITS } from "../model/policy.js";
import type { Clock } from "../model/ports.js";
import { NO_EMBEDDER, type DueText, type EmbeddedText, type Embedder, type NeedVector } from "../model/vectors.js";
import { isSameEmbedder, type Space, type VectorCache } from "./embeddings-cache.js";
import { openTextSender, type Embedded, type SendTexts } from "./embeddings-sender.js";

export type EmbeddingLimits = { readonly [Name in keyof typeof EMBEDDING_LIMITS]: number };

export interface EmbeddingsOptions {
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | undefined;
  readonly dimensions: number | undefined;
  readonly cache: VectorCache;
  /** Texts without a vector of this embedder, as of now. */
  readonly due: (embedder: string) => readonly DueText[];
  /** Puts rows in force; another embedder's replace all there are. */
  readonly deliver: (embedder: string, dimension: number, rows: readonly EmbeddedText[]) => Promise<void>;
  /** Called when everything due is delivered: there may be an index to grow. */
  readonly onSettled?: (() => void) | undefined;
  readonly clock: Clock;
  readonly secrets: () => readonly string[];
  readonly log: (level: "info" | "warn" | "error", text: string, data?: Record<string, unknown>) => void;
  readonly limits?: Partial<EmbeddingLimits> | undefined;
}

export interface Embeddings extends Embedder {
  /** There may be something due. */
  wake(): void;
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
}

type Fault = Exclude<Embedded, { kind: "vectors" }>;

export function createEmbeddings(options: EmbeddingsOptions): Embeddings {
  const limits: EmbeddingLimits = { ...EMBEDDING_LIMITS, ...options.limits };
  const ending = new AbortController();
  const send = openTextSender({
    ended: ending.signal,
    baseUrl: options.baseUrl,
    apiKey: options.apiKey ?? "",
    answerBytes: limits.answerBytes,
    clock: options.clock,
    model: options.model,
    dimensions: options.dimensions,
  });
  return new Endpoint(options, limits, send, () => ending.abort());
}

class Endpoint implements Embeddings {
  /** Whose vectors are in force. */
  private space: Space | undefined;
  private settling: Promise<unknown> = Promise.resolve();
  /** Recent needs, oldest first. */
  private readonly needs = new Map<string, Float32Array>();
  /** Digests of texts that are asked for alone, and of those that no answer came for even so. */
  private readonly suspects = new Set<string>();
  private readonly refused = new Set<string>();
  private batchTexts: number;
  private faults = 0;
  private restsUntil = Number.NEGATIVE_INFINITY;
  /** Why the last request came to nothing; undefined after one that did not. */
  private away: string | undefined;
  private working: Promise<void> | undefined;
  private again = false;
  private timer: NodeJS.Timeout | undefined;
  private pauseMs = 0;
  private stopped = false;
  private left = 0;

  constructor(
    private readonly options: EmbeddingsOptions,
    private readonly limits: EmbeddingLimits,
    private readonly send: SendTexts,
    private readonly endRequests: () => void,
  ) {
    this.batchTexts = limits.batchTexts;
  }

  wake(): void {
    if (this.stopped) return;
    this.again = true;
    if (this.working !== undefined || this.timer !== undefined) return;
    this.working = this.work().finally(() => {
      this.working = undefined;
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    this.endRequests();
    await this.working;
    await this.settling;
  }

  status(): string {
    const { model } = this.options;
    if (this.away !== undefined) return `by words alone: ${this.away}; asked again by itself`;
    if (this.space === undefined) return `${model}: not asked yet`;
    const set = this.refused.size === 0 ? "" : `, ${this.refused.size} texts it does not take`;
    return `${model} (${this.space.dimension} dimensions): ${this.left === 0 ? "all embedded" : `${this.left} texts to go`}${set}`;
  }

  async embed(need: string): Promise<NeedVector> {
    const { space } = this;
    const known = space === undefined ? undefined : this.needs.get(need);
    if (space !== undefined && known !== undefined) return { kind: "vector", embedder: space.identity, vector: known };
    if (space === undefined) return this.away === undefined ? { kind: "off" } : { kind: "failed", why: this.away };
    if (this.options.clock.elapsedMs() < this.restsUntil)
      return { kind: "failed", why: `${this.away ?? "faults"}; it is left alone for a while` };
    const made = await this.send([need], this.limits.needMs);
    if (made.kind !== "vectors") {
      this.noteFault(made);
      return { kind: "failed", why: made.why };
    }
    this.noteAnswer();
    if (!isSameEmbedder(space.probe, made.probe)) {
      // Not waited for: this search goes by words, the next ones by the new embedder's vectors as they come.
      void this.settle(made.probe).then(() => this.wake());
      return { kind: "failed", why: "another embedder answers than the one the tools were embedded by; they are embedded anew" };
    }
    const [vector] = made.vectors;
    if (vector === undefined) return { kind: "failed", why: "the embeddings endpoint gave no vector for this need" };
    this.remember(need, vector);
    return { kind: "vector", embedder: space.identity, vector };
  }

  private remember(need: string, vector: Float32Array): void {
    this.needs.set(need, vector);
    for (const oldest of this.needs.keys()) {
      if (this.needs.size <= this.limits.needsKept) break;
      this.needs.delete(oldest);
    }
  }

  /** Everything due, until nothing is, or a fault asks for a pause. */
  private async work(): Promise<void> {
    try {
      while (this.again && !this.stopped) {
        this.again = false;
        while (!this.stopped && (await this.round()));
      }
      if (!this.stopped && this.timer === undefined) this.options.onSettled?.();
    } catch (error) {
      // A delivery that is refused because the house is closing; anything else is told and tried again.
      if (this.stopped) return;
      this.options.log("error", `embedding texts failed: ${String(error)}`);
      this.pause(undefined);
    }
  }

  /** One pass over what is due; true where another one is worth it. */
  private async round(): Promise<boolean> {
    const due = this.options.due(this.space?.identity ?? NO_EMBEDDER).filter(({ digest }) => !this.refused.has(digest));
    this.left = due.length;
    if (due.length === 0) return false;
    if (this.space === undefined) return (await this.ask([])) !== undefined;
    const { space } = this;
    const kept = due.filter(({ digest }) => space.has(digest));
    if (kept.length > 0) await this.deliverKept(space, kept);
    const fresh = due.filter(({ digest }) => !space.has(digest));
    for (let at = 0; at < fresh.length && !this.stopped && this.space === space;) {
      const batch = this.batchFrom(fresh, at);
      at += batch.length;
      if (!(await this.embedBatch(space, batch))) return false;
    }
    return true;
  }

  private async deliverKept(space: Space, kept: readonly DueText[]): Promise<void> {
    for (let at = 0; at < kept.length && !this.stopped; at += this.limits.rowsAtOnce) {
      const some = kept.slice(at, at + this.limits.rowsAtOnce);
      await this.deliver(space, some, await space.read(some.map(({ digest }) => digest)));
    }
  }

  private batchFrom(due: readonly DueText[], from: number): DueText[] {
    const [first] = due.slice(from, from + 1);
    if (first === undefined) return [];
    if (this.suspects.has(first.digest)) return [first];
    const batch: DueText[] = [];
    let chars = 0;
    for (const one of due.slice(from, from + this.batchTexts)) {
      chars += one.text().length;
      if (batch.length > 0 && (chars > this.limits.batchChars || this.suspects.has(one.digest))) break;
      batch.push(one);
    }
    return batch;
  }

  /** False where a pause was asked for. */
  private async embedBatch(space: Space, batch: readonly DueText[]): Promise<boolean> {
    const made = await this.ask(batch);
    if (made === undefined) return false;
    if (made === "other" || made === "unfit") return true;
    const rows = new Map<string, Float32Array>();
    batch.forEach(({ digest }, i) => {
      const vector = made[i];
      if (vector !== undefined) {
        rows.set(digest, vector);
        this.suspects.delete(digest);
      } else this.doubt(digest, batch.length === 1);
    });
    await space.keep(rows);
    await this.deliver(space, batch, rows);
    return true;
  }

  /** The vectors of a batch; "unfit" where it has to be cut smaller, "other" where another embedder answered, undefined after a fault. */
  private async ask(batch: readonly DueText[]): Promise<readonly (Float32Array | undefined)[] | "unfit" | "other" | undefined> {
    const made = await this.send(
      batch.map((one) => one.text()),
      this.limits.batchMs,
    );
    if (made.kind === "vectors") {
      this.noteAnswer();
      this.batchTexts = Math.min(this.limits.batchTexts, this.batchTexts * 2);
      return (await this.settle(made.probe)) ? made.vectors : "other";
    }
    if (made.kind === "unfit" && batch.length > 0) {
      this.batchTexts = Math.max(1, batch.length >> 1);
      const [only] = batch;
      if (batch.length > 1 || only === undefined) return "unfit";
      // Is it this text, or does the endpoint take none at all?
      const alone = await this.send([], this.limits.batchMs);
      if (alone.kind === "vectors") {
        this.doubt(only.digest, true);
        return "unfit";
      }
    }
    if (this.stopped) return undefined;
    this.noteFault(made);
    this.pause(made.kind === "later" ? made.afterMs : this.limits.retryMostMs);
    return undefined;
  }

  /** A text without a vector is asked for alone the next time, and after that no more. */
  private doubt(digest: string, wasAlone: boolean): void {
    if (!wasAlone) this.suspects.add(digest);
    else {
      this.refused.add(digest);
      this.options.log("warn", "the embeddings endpoint takes one text not; it is searched by words alone", { text: digest });
    }
  }

  private async deliver(space: Space, texts: readonly DueText[], vectors: ReadonlyMap<string, Float32Array>): Promise<void> {
    const rows = texts.flatMap(({ of, id, digest }): EmbeddedText[] => {
      const vector = vectors.get(digest);
      return vector === undefined ? [] : [{ of, id, text: digest, vector }];
    });
    this.left = Math.max(0, this.left - rows.length);
    if (rows.length > 0 && this.space === space) await this.options.deliver(space.identity, space.dimension, rows);
  }

  /** Puts the space in force whose embedder answered so; true where it was in force before, or none was. One at a time. */
  private settle(probe: Float32Array): Promise<boolean> {
    const settled = this.settling.then(async () => {
      if (this.space !== undefined && isSameEmbedder(this.space.probe, probe)) return true;
      const { baseUrl: url, model } = this.options;
      const before = this.space;
      const space = await this.options.cache.spaceOf({ url, model, probe });
      this.space = space;
      this.needs.clear();
      this.refused.clear();
      this.suspects.clear();
      if (before === undefined) return true;
      const change =
        before.dimension === space.dimension ? "" : ` (${before.dimension} dimensions before, ${space.dimension} now)`;
      this.options.log("warn", `another embedder answers at ${url}${change}; tools and skills are embedded anew`, { model });
      await this.options.deliver(space.identity, space.dimension, []);
      return false;
    });
    this.settling = settled.catch(() => undefined);
    return settled;
  }

  private noteAnswer(): void {
    if (this.away !== undefined) this.options.log("info", "the embeddings endpoint answers again", { model: this.options.model });
    this.away = undefined;
    this.faults = 0;
    this.pauseMs = 0;
    this.restsUntil = Number.NEGATIVE_INFINITY;
  }

  private noteFault({ kind, why, ...rest }: Fault): void {
    const quote = redact(cleanText(rest.said.slice(0, 2_000)).text, [...this.options.secrets(), this.options.apiKey ?? ""]).slice(
      0,
      300,
    );
    if (this.away !== why) this.options.log("warn", why, { model: this.options.model, ...(quote === "" ? {} : { said: quote }) });
    this.away = why;
    this.faults += 1;
    if (this.faults < this.limits.restAfterFaults && kind !== "denied") return;
    this.restsUntil = this.options.clock.elapsedMs() + this.limits.restMs;
  }

  /** Looks again after a while: what the endpoint asks for, or twice the last pause, at most the limit. */
  private pause(askedMs: number | undefined): void {
    this.pauseMs = Math.min(this.limits.retryMostMs, Math.max(this.limits.retryMs, this.pauseMs * 2));
    const ms = Math.min(this.limits.retryMostMs, Math.max(this.pauseMs, askedMs ?? 0));
    this.timer = setTimeout(
      () => {
        this.timer = undefined;
        this.wake();
      },
      ms * (1 + Math.random() / 10),
    );
    this.timer.unref();
  }
}
