/**
 * Needs: the vector of what somebody searches for, while they wait for it.
 *
 * Owns: vectors of recent needs; what a need is told where it has to go by words.
 * Speaks: a need in; its vector, or in words why there is none, out.
 * Never: waits beyond its deadline, throws, or asks an endpoint that is left alone.
 */
import type { NeedVector } from "../model/vectors.js";
import { keepRecent } from "./embeddings-batch.js";
import { isSameEmbedder, type Space } from "./embeddings-cache.js";
import type { EmbeddingLimits, EmbeddingsOptions } from "./embeddings-options.js";
import type { FirstAnswer } from "./embeddings-pause.js";
import type { SendTexts } from "./embeddings-sender.js";
import type { SpaceInForce, Whose } from "./embeddings-space.js";
import type { Standing } from "./embeddings-standing.js";
import { UNSTEADY, type Refusal } from "./embeddings-whose.js";

const ANOTHER = "another embedder answers than the one the tools were embedded by";
const NOT_YET = "the embeddings endpoint has not answered yet";
const NO_VECTOR = "the embeddings endpoint gave no vector for this need";

export interface NeedsOptions {
  readonly limits: EmbeddingLimits;
  readonly send: SendTexts;
  readonly standing: Standing;
  readonly first: FirstAnswer;
  readonly inForce: SpaceInForce;
  /** Something is due and the endpoint was asked for it. */
  readonly isAsking: () => boolean;
  readonly log: EmbeddingsOptions["log"];
  /** Another embedder answered a need, and this is whether it is in force now. */
  readonly judged: (whose: Whose) => void;
  /** A need was asked for and came to nothing. */
  readonly failed: (fault: Refusal) => void;
  /** A need was not asked for, since the endpoint is left alone. */
  readonly passedOver: () => void;
}

export class Needs {
  /** Oldest first. */
  private readonly recent = new Map<string, Float32Array>();
  /** A strange answer is being looked into. */
  private looking = false;

  constructor(private readonly options: NeedsOptions) {}

  /** Another embedder is in force: no vector counts any more. */
  forget(): void {
    this.recent.clear();
  }

  async embed(need: string): Promise<NeedVector> {
    const { inForce, isAsking, first, limits, standing } = this.options;
    if (inForce.current === undefined && isAsking()) await first.within(limits.needMs);
    const space = inForce.current;
    if (space === undefined) {
      if (standing.away !== undefined) return this.passedOver(standing.away);
      return isAsking() ? { kind: "failed", why: NOT_YET } : { kind: "off" };
    }
    const known = this.recent.get(need);
    if (known !== undefined) return { kind: "vector", embedder: space.identity, vector: known };
    if (standing.isResting()) return this.passedOver(`${standing.away ?? "faults"}; it is left alone for a while`);
    return await this.ask(space, need);
  }

  private async ask(space: Space, need: string): Promise<NeedVector> {
    const { inForce, limits, send, standing } = this.options;
    const made = await send([need], limits.needMs);
    if (made.kind !== "vectors") return this.failed(made);
    if (!isSameEmbedder(space.probe, made.probe)) {
      // Not waited for: this search goes by words, the next ones by the new embedder's vectors as they come.
      this.lookInto(made.probe);
      return { kind: "failed", why: inForce.isUnsteady() ? UNSTEADY : ANOTHER };
    }
    const [vector] = made.vectors;
    if (vector === undefined) return this.failed({ kind: "unfit", why: made.lacking ?? NO_VECTOR, said: "" });
    standing.needAnswered();
    // Where another embedder came into force meanwhile, this is none of its vectors.
    if (inForce.current === space) keepRecent(this.recent, need, vector, limits.needsKept);
    return { kind: "vector", embedder: space.identity, vector };
  }

  private lookInto(probe: Float32Array): void {
    if (this.looking) return;
    this.looking = true;
    const { inForce, judged, log } = this.options;
    void inForce
      .settle(probe)
      .then(judged)
      .catch((error: unknown) => log("error", `another embedder's vectors could not be begun: ${String(error)}`))
      .finally(() => (this.looking = false));
  }

  private failed(fault: Refusal): NeedVector {
    this.options.failed(fault);
    return { kind: "failed", why: fault.why };
  }

  private passedOver(why: string): NeedVector {
    this.options.passedOver();
    return { kind: "failed", why };
  }
}
