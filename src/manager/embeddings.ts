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
import { EMBEDDING_LIMITS } from "../model/policy.js";
import type { Clock } from "../model/ports.js";
import { NO_EMBEDDER, type DueText, type EmbeddedText, type Embedder, type NeedVector } from "../model/vectors.js";
import { isSameEmbedder, type Space, type VectorCache } from "./embeddings-cache.js";
import { batchFrom, keepRecent } from "./embeddings-batch.js";
import { openTextSender, PLAIN_TEXT, type SendTexts } from "./embeddings-sender.js";
import { Standing } from "./embeddings-standing.js";
import { createChangeJudge, UNSTEADY, type ChangeJudge, type Refusal } from "./embeddings-whose.js";

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

const ANOTHER = "another embedder answers than the one the tools were embedded by";
const NOTHING = "the embeddings endpoint gave no vector for a text";

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
  private readonly standing: Standing;
  private readonly changes: ChangeJudge;
  /** A need's strange answer is being looked into. */
  private looking = false;
  /** Recent needs, oldest first. */
  private readonly needs = new Map<string, Float32Array>();
  /** Digests of texts that are asked for alone, and of those that no answer came for even so. */
  private readonly suspects = new Set<string>();
  private readonly refused = new Set<string>();
  private batchTexts: number;
  private working: Promise<void> | undefined;
  private again = false;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  private left = 0;

  constructor(
    private readonly options: EmbeddingsOptions,
    private readonly limits: EmbeddingLimits,
    private readonly send: SendTexts,
    private readonly endRequests: () => void,
  ) {
    this.batchTexts = limits.batchTexts;
    const { baseUrl: url, model, clock, log } = options;
    this.standing = new Standing({ url, model, limits, clock, log, secrets: () => [...options.secrets(), options.apiKey ?? ""] });
    this.changes = createChangeJudge({ limits, clock, ask: () => this.send([], limits.batchMs) });
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
    if (this.standing.away !== undefined) return `by words alone: ${this.standing.away}; asked again by itself`;
    if (this.space === undefined) return `${model}: ${this.isAsking() ? "asked, no answer yet" : "not asked yet"}`;
    const set = this.refused.size === 0 ? "" : `, ${this.refused.size} texts it does not take`;
    const told = this.changes.isUnsteady() ? `; within the last hour, ${UNSTEADY}` : "";
    const left = this.left === 0 ? "all embedded" : `${this.left} texts to go`;
    return `${model} (${this.space.dimension} dimensions): ${left}${set}${told}`;
  }

  async embed(need: string): Promise<NeedVector> {
    const { space } = this;
    const known = space === undefined ? undefined : this.needs.get(need);
    if (space !== undefined && known !== undefined) return { kind: "vector", embedder: space.identity, vector: known };
    if (space === undefined) {
      if (this.standing.away !== undefined) return { kind: "failed", why: this.standing.away };
      return this.isAsking() ? { kind: "failed", why: "the embeddings endpoint has not answered yet" } : { kind: "off" };
    }
    if (this.standing.isResting())
      return { kind: "failed", why: `${this.standing.away ?? "faults"}; it is left alone for a while` };
    const made = await this.send([need], this.limits.needMs);
    if (made.kind !== "vectors") {
      this.standing.failed(made);
      return { kind: "failed", why: made.why };
    }
    if (!isSameEmbedder(space.probe, made.probe)) {
      // Not waited for: this search goes by words, the next ones by the new embedder's vectors as they come.
      this.lookInto(made.probe);
      return { kind: "failed", why: this.changes.isUnsteady() ? UNSTEADY : ANOTHER };
    }
    const [vector] = made.vectors;
    if (vector === undefined)
      return { kind: "failed", why: made.lacking ?? "the embeddings endpoint gave no vector for this need" };
    this.standing.answered();
    keepRecent(this.needs, need, vector, this.limits.needsKept);
    return { kind: "vector", embedder: space.identity, vector };
  }

  /** Something is due and the endpoint was asked for it. */
  private isAsking(): boolean {
    return this.working !== undefined || this.timer !== undefined;
  }

  private lookInto(probe: Float32Array): void {
    if (this.looking || this.stopped) return;
    this.looking = true;
    void this.settle(probe)
      .then((whose) => (whose === "other" ? this.wake() : undefined))
      .catch((error: unknown) => this.options.log("error", `another embedder's vectors could not be begun: ${String(error)}`))
      .finally(() => (this.looking = false));
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
      const batch = batchFrom(fresh.slice(at, at + this.batchTexts), this.limits.batchChars, this.suspects);
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

  /** False where a pause was asked for. */
  private async embedBatch(space: Space, batch: readonly DueText[]): Promise<boolean> {
    const made = await this.ask(batch);
    if (made === undefined) return false;
    if (made === "other" || made === "unfit") return true;
    const rows = new Map<string, Float32Array>();
    batch.forEach(({ digest }, i) => {
      const vector = made[i];
      if (vector === undefined) this.suspects.add(digest);
      else {
        rows.set(digest, vector);
        this.suspects.delete(digest);
      }
    });
    const [only] = batch;
    if (batch.length === 1 && rows.size === 0 && only !== undefined) return await this.blame(only.digest);
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
      const whose = await this.settle(made.probe);
      if (whose === "unsure") {
        if (!this.stopped) this.pause(undefined);
        return undefined;
      }
      // An answer in which no text has a vector is none.
      if (batch.length === 0 || made.vectors.some((vector) => vector !== undefined)) this.standing.answered();
      this.batchTexts = Math.min(this.limits.batchTexts, this.batchTexts * 2);
      return whose === "ours" ? made.vectors : "other";
    }
    if (made.kind === "unfit" && batch.length > 0) {
      this.batchTexts = Math.max(1, batch.length >> 1);
      const [only] = batch;
      if (batch.length > 1 || only === undefined) return "unfit";
      return (await this.blame(only.digest)) ? "unfit" : undefined;
    }
    return this.refusedBy(made);
  }

  /** A fault: told, and looked at again after a while. */
  private refusedBy(fault: Refusal): undefined {
    if (this.stopped) return;
    this.standing.failed(fault);
    this.pause(fault.kind === "later" ? fault.afterMs : this.limits.retryMostMs);
  }

  /** A text got no vector even alone: is it this text, or does the endpoint give none at all? False where a pause was asked for. */
  private async blame(digest: string): Promise<boolean> {
    const plain = await this.send([PLAIN_TEXT], this.limits.batchMs);
    if (plain.kind !== "vectors") this.refusedBy(plain);
    else if (plain.vectors[0] === undefined)
      this.refusedBy({ kind: "later", why: plain.lacking ?? NOTHING, said: "", afterMs: undefined });
    else {
      this.refused.add(digest);
      this.options.log("warn", "the embeddings endpoint takes one text not; it is searched by words alone", { text: digest });
      return true;
    }
    return false;
  }

  private async deliver(space: Space, texts: readonly DueText[], vectors: ReadonlyMap<string, Float32Array>): Promise<void> {
    const rows = texts.flatMap(({ of, id, digest }): EmbeddedText[] => {
      const vector = vectors.get(digest);
      return vector === undefined ? [] : [{ of, id, text: digest, vector }];
    });
    this.left = Math.max(0, this.left - rows.length);
    if (rows.length > 0 && this.space === space) await this.options.deliver(space.identity, space.dimension, rows);
  }

  /**
   * Puts the space in force whose embedder answered so: "ours" where it was before, or none was; "other" once the endpoint keeps to it,
   * "unsure" where it does not or cannot be asked. One at a time.
   */
  private settle(probe: Float32Array): Promise<"ours" | "other" | "unsure"> {
    const settled = this.settling.then(async () => {
      const before = this.space;
      if (before !== undefined) {
        if (isSameEmbedder(before.probe, probe)) return "ours";
        const verdict = await this.changes.judge(probe);
        if (verdict.kind === "unsteady") this.standing.contradictedItself(verdict.isNews);
        else if (verdict.kind !== "changed") this.standing.failed(verdict);
        if (verdict.kind !== "changed") return "unsure";
        this.standing.answered();
      }
      const { baseUrl: url, model } = this.options;
      const space = await this.options.cache.spaceOf({ url, model, probe });
      this.space = space;
      this.needs.clear();
      this.refused.clear();
      this.suspects.clear();
      if (before === undefined) return "ours";
      const change =
        before.dimension === space.dimension ? "" : ` (${before.dimension} dimensions before, ${space.dimension} now)`;
      this.options.log("warn", `another embedder answers at ${url}${change}; tools and skills are embedded anew`, { model });
      await this.options.deliver(space.identity, space.dimension, []);
      return "other";
    });
    this.settling = settled.catch(() => undefined);
    return settled;
  }

  /** Looks again after a while. */
  private pause(askedMs: number | undefined): void {
    const ms = this.standing.nextPauseMs(askedMs);
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
