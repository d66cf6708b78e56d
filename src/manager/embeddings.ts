/**
 * The embedder: keeps the texts of tools and skills embedded in the background; needs are embedded beside it (embeddings-needs.ts).
 *
 * Owns: what is asked when; pauses after faults; texts an endpoint does not take.
 * Speaks: due texts in; rows of one embedder out, as they come.
 * Never: throws for what an endpoint does, gives a text up for what an endpoint does to all, or stands in the way of a listing.
 *
 *   wake ─► due? ─► in the cache ──► delivered
 *             ▲  └► in batches ────► whose? ─► kept, delivered      a fault: pause, doubled each time, and again
 *             └──────────────────────  └ another embedder's: everything is due anew
 *
 * After a fault with nothing due, a plain text is asked for after the same pauses: how the endpoint stands is known without a need.
 */
import { EMBEDDING_LIMITS } from "../model/endpoint-limits.js";
import { NO_EMBEDDER, type DueText, type EmbeddedText, type NeedVector } from "../model/vectors.js";
import type { Space } from "./embeddings-cache.js";
import { Batches } from "./embeddings-batch.js";
import type { EmbeddingLimits, Embeddings, EmbeddingsOptions } from "./embeddings-options.js";
import { FirstAnswer, Pause, RefusedTexts } from "./embeddings-pause.js";
import { Needs } from "./embeddings-needs.js";
import { hasVector, openTextSender, PLAIN_TEXT, type SendTexts, type Vectors } from "./embeddings-sender.js";
import { SpaceInForce, type Whose } from "./embeddings-space.js";
import { Standing } from "./embeddings-standing.js";
import { awayInWords, spaceInWords } from "./embeddings-words.js";
import { createChangeJudge, type Refusal } from "./embeddings-whose.js";

export type { EmbeddingLimits, Embeddings, EmbeddingsOptions } from "./embeddings-options.js";

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
  private readonly inForce: SpaceInForce;
  private readonly standing: Standing;
  private readonly needs: Needs;
  private readonly batches: Batches;
  private readonly refused: RefusedTexts;
  private working: Promise<void> | undefined;
  private again = false;
  /** Pauses that begin while a round is under way do not hold up the next one. */
  private isHurried = false;
  private readonly pausing: Pause;
  /** The first answer, or that none came: a need waits for it once, within its own bound. */
  private readonly first = new FirstAnswer();
  private stopped = false;
  private left = 0;

  constructor(
    private readonly options: EmbeddingsOptions,
    private readonly limits: EmbeddingLimits,
    private readonly send: SendTexts,
    private readonly endRequests: () => void,
  ) {
    this.batches = new Batches(limits);
    const { baseUrl: url, model, clock, log } = options;
    this.standing = new Standing({ url, model, limits, clock, log, secrets: () => [...options.secrets(), options.apiKey ?? ""] });
    this.pausing = new Pause(clock, () => this.wake());
    this.refused = new RefusedTexts(limits, clock, () => this.wake());
    this.inForce = new SpaceInForce({
      endpoint: options,
      standing: this.standing,
      changes: createChangeJudge({ limits, clock, ask: () => this.send([], limits.batchMs) }),
      onReplaced: () => {
        this.needs.forget();
        this.refused.clear();
        this.batches.forget();
      },
    });
    this.needs = new Needs({
      limits,
      send,
      standing: this.standing,
      first: this.first,
      inForce: this.inForce,
      log: options.log,
      isAsking: () => this.isAsking(),
      judged: (whose) => this.needJudged(whose),
      failed: (fault) => this.needFailed(fault),
      passedOver: () => this.needPassedOver(),
    });
  }

  wake(): void {
    if (this.stopped) return;
    this.again = true;
    if (this.working !== undefined || this.pausing.isOn()) return;
    this.working = this.work().finally(() => {
      this.working = undefined;
      this.first.came();
    });
  }

  retry(): void {
    this.refused.release();
    this.standing.forgetPauses();
    this.comeBack();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.pausing.end();
    this.refused.clear();
    this.first.came();
    this.endRequests();
    await this.working;
    await this.inForce.settled();
  }

  status(): string {
    const { model } = this.options;
    const { standing, space, refused, left } = this;
    if (standing.away !== undefined) return awayInWords(standing, { isAsked: this.working !== undefined, pause: this.pausing });
    if (space === undefined) return `${model}: ${this.isAsking() ? "asked, no answer yet" : "not asked yet"}`;
    const isUnsteady = this.inForce.isUnsteady();
    return `${model} (${space.dimension} dimensions): ${spaceInWords({ left, refused, needs: standing.needsTold(), isUnsteady })}`;
  }

  isFine(): boolean {
    const isTaken = this.refused.count === 0 && this.standing.needsTold() === undefined && !this.inForce.isUnsteady();
    return isTaken && this.standing.away === undefined && (this.space !== undefined || !this.isAsking());
  }

  embed(need: string): Promise<NeedVector> {
    return this.needs.embed(need);
  }

  /** A need came to nothing: the endpoint is looked at again after a while, whether another need comes or not. */
  private needFailed(fault: Refusal): void {
    if (this.stopped) return;
    this.standing.needFailed(fault);
    if (!this.pausing.isOn()) this.pause(fault.kind === "later" ? fault.afterMs : undefined);
  }

  /** A need's strange answer was looked into. */
  private needJudged(whose: Whose): void {
    if (whose === "other") this.wake();
    else if (whose === "unsure" && !this.stopped && !this.pausing.isOn()) this.pause(undefined);
  }

  /** A need went by words without asking: it has the endpoint asked where the last time is a while ago. */
  private needPassedOver(): void {
    if (this.pausing.isOn() && this.standing.mayBeAsked()) this.comeBack();
  }

  /** Ends a pause. */
  private comeBack(): void {
    this.isHurried = this.working !== undefined;
    this.pausing.end();
    this.wake();
  }

  /** Whose vectors are in force. */
  private get space(): Space | undefined {
    return this.inForce.current;
  }

  /** Something is due and the endpoint was asked for it. */
  private isAsking(): boolean {
    return this.working !== undefined || this.pausing.isOn();
  }

  /** Everything due, until nothing is, or a fault asks for a pause. */
  private async work(): Promise<void> {
    try {
      while (this.again && !this.stopped) {
        this.again = false;
        while (!this.stopped && (await this.round()));
        if (this.pausing.isOn() && !this.isHurried) break;
        this.isHurried = false;
        this.pausing.end();
      }
      if (!this.stopped && !this.pausing.isOn()) this.options.onSettled?.();
    } catch (error) {
      // A delivery that is refused because the house is closing; anything else is told and tried again.
      if (this.stopped) return;
      this.options.log("error", `embedding texts failed: ${String(error)}`);
      this.pause(undefined);
    }
  }

  /** One pass over what is due; true where another one is worth it. */
  private async round(): Promise<boolean> {
    const all = this.options.due(this.space?.identity ?? NO_EMBEDDER);
    if (this.space !== undefined) this.refused.keepOnly(all);
    const due = all.filter((one) => !this.refused.isLeftOut(one));
    this.left = due.length;
    if (due.length === 0) return await this.lookAgain();
    if (this.space === undefined) return await this.greet();
    const { space } = this;
    const kept = due.filter(({ digest }) => space.has(digest));
    if (kept.length > 0) await this.deliverKept(space, kept);
    this.first.came();
    const fresh = due.filter(({ digest }) => !space.has(digest));
    for (let at = 0; at < fresh.length && !this.stopped && this.space === space;) {
      const batch = this.batches.next(fresh, at);
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

  /** The first answer of all: whose vectors count. False where a pause was asked for. */
  private async greet(): Promise<boolean> {
    const made = await this.send([], this.limits.batchMs);
    if (made.kind !== "vectors") return this.refusedBy(made);
    const whose = await this.whoseIs(made.probe);
    if (whose !== "unsure") this.standing.answered();
    return whose !== "unsure";
  }

  /** False where a pause was asked for. */
  private async embedBatch(space: Space, batch: readonly DueText[]): Promise<boolean> {
    const made = await this.send(
      batch.map((one) => one.text()),
      this.limits.batchMs,
    );
    if (made.kind === "vectors") return await this.take(space, batch, made);
    if (made.kind !== "unfit") return this.refusedBy(made);
    this.batches.wasTooMuch(batch);
    const [only] = batch;
    return batch.length > 1 || only === undefined || (await this.blame(space, only));
  }

  /** What came for a batch is put in force, unless it is another embedder's. False where a pause was asked for. */
  private async take(space: Space, batch: readonly DueText[], made: Vectors): Promise<boolean> {
    const whose = await this.whoseIs(made.probe);
    if (whose === "unsure") return false;
    // An answer in which no text has a vector is none.
    if (hasVector(made)) this.standing.answered();
    this.batches.wasTaken();
    if (whose === "other") return true;
    const rows = new Map<string, Float32Array>();
    batch.forEach(({ digest }, i) => {
      const vector = made.vectors[i];
      this.batches.suspect(digest, vector === undefined);
      if (vector === undefined) return;
      rows.set(digest, vector);
      this.refused.taken(digest);
    });
    const [only] = batch;
    if (batch.length === 1 && rows.size === 0 && only !== undefined) return await this.blame(space, only);
    await space.keep(rows);
    await this.deliver(space, batch, rows);
    return true;
  }

  /** Whose an answer is; "unsure" begins a pause. */
  private async whoseIs(probe: Float32Array): Promise<Whose> {
    const whose = await this.inForce.settle(probe);
    if (whose === "unsure" && !this.stopped) this.pause(undefined);
    return whose;
  }

  /** A fault: told, and looked at again after a while. */
  private refusedBy(fault: Refusal): false {
    if (this.stopped) return false;
    this.standing.failed(fault);
    if (fault.kind === "later") this.pause(fault.afterMs);
    else this.pause(undefined, this.limits.retryMostMs);
    return false;
  }

  /**
   * A text got no vector even alone: is it this text, or does the endpoint give none at all? Where it takes another one, this one is asked
   * for once more: the endpoint may have come back in between. False where a pause was asked for.
   */
  private async blame(space: Space, only: DueText): Promise<boolean> {
    if ((await this.askPlain()) === undefined) return false;
    const again = await this.send([only.text()], this.limits.batchMs);
    if (again.kind === "vectors" && hasVector(again)) return await this.take(space, [only], again);
    if (again.kind === "later" || again.kind === "denied") return this.refusedBy(again);
    this.batches.suspect(only.digest, true);
    this.refused.add(only.digest);
    this.options.log("warn", "the embeddings endpoint takes one text not; it is searched by words alone", { text: only.digest });
    return true;
  }

  /** What the endpoint makes of a text that none has a reason to refuse; undefined after a fault, which is told. */
  private async askPlain(): Promise<Float32Array | undefined> {
    const plain = await this.send([PLAIN_TEXT], this.limits.batchMs);
    if (plain.kind === "vectors" && plain.vectors[0] !== undefined) return plain.probe;
    this.standing.refusesAll();
    this.refusedBy(
      plain.kind === "vectors" ? { kind: "later", why: plain.lacking ?? NOTHING, said: "", afterMs: undefined } : plain,
    );
    return undefined;
  }

  /** Nothing is due: does an endpoint that failed answer again? True where there is something due after all. */
  private async lookAgain(): Promise<boolean> {
    if (this.standing.away === undefined) return false;
    const probe = await this.askPlain();
    if (probe === undefined) return false;
    const whose = await this.whoseIs(probe);
    if (whose !== "unsure") this.standing.answered();
    return whose === "other";
  }

  private async deliver(space: Space, texts: readonly DueText[], vectors: ReadonlyMap<string, Float32Array>): Promise<void> {
    const rows = texts.flatMap(({ of, id, digest }): EmbeddedText[] => {
      const vector = vectors.get(digest);
      return vector === undefined ? [] : [{ of, id, text: digest, vector }];
    });
    this.left = Math.max(0, this.left - rows.length);
    if (rows.length > 0 && this.space === space) await this.options.deliver(space.identity, space.dimension, rows);
  }

  /** Looks again after a while. */
  private pause(askedMs: number | undefined, leastMs?: number): void {
    this.first.came();
    this.pausing.begin(this.standing.nextPauseMs(askedMs, leastMs));
  }
}
