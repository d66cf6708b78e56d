/**
 * The space in force: whose vectors count.
 *
 * Owns: the space itself, and its change once an endpoint keeps to another embedder.
 * Speaks: what an endpoint made of the fixed text.
 * Never: asks for texts; what was gathered for the former space is thrown away by its owner (`onReplaced`).
 */
import { isSameEmbedder, type Space } from "./embeddings-cache.js";
import type { EmbeddingsOptions } from "./embeddings-options.js";
import type { Standing } from "./embeddings-standing.js";
import type { ChangeJudge } from "./embeddings-whose.js";

/** "ours": the space's own, or the first; "other": a new one from now on; "unsure": not kept to, or it could not be asked. */
export type Whose = "ours" | "other" | "unsure";

export interface SpaceOptions {
  readonly endpoint: Pick<EmbeddingsOptions, "baseUrl" | "model" | "cache" | "log" | "deliver">;
  readonly standing: Standing;
  readonly changes: ChangeJudge;
  /** Called as soon as another space, or the first, is in force. */
  readonly onReplaced: () => void;
}

export class SpaceInForce {
  private space: Space | undefined;
  private settling: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: SpaceOptions) {}

  /** Undefined until the endpoint answered once. */
  get current(): Space | undefined {
    return this.space;
  }

  /** The endpoint answers now so and now so: no answer of it can be told for whose. */
  isUnsteady(): boolean {
    return this.options.changes.isUnsteady();
  }

  /** When nothing is being settled any more; never rejects. */
  async settled(): Promise<void> {
    await this.settling;
  }

  /** Puts the space in force whose embedder answered so, once the endpoint keeps to it. One at a time. */
  settle(probe: Float32Array): Promise<Whose> {
    const settled = this.settling.then(() => this.judge(probe));
    this.settling = settled.catch(() => undefined);
    return settled;
  }

  private async judge(probe: Float32Array): Promise<Whose> {
    const { endpoint, standing, changes } = this.options;
    const before = this.space;
    if (before !== undefined) {
      if (isSameEmbedder(before.probe, probe)) return "ours";
      const verdict = await changes.judge(probe);
      if (verdict.kind === "unsteady") standing.contradictedItself(verdict.isNews);
      else if (verdict.kind !== "changed") standing.failed(verdict);
      if (verdict.kind !== "changed") return "unsure";
      standing.answered();
    }
    const { baseUrl: url, model } = endpoint;
    const space = await endpoint.cache.spaceOf({ url, model, probe });
    this.space = space;
    this.options.onReplaced();
    if (before === undefined) return "ours";
    const change = before.dimension === space.dimension ? "" : ` (${before.dimension} dimensions before, ${space.dimension} now)`;
    endpoint.log("warn", `another embedder answers at ${url}${change}; tools and skills are embedded anew`, { model });
    await endpoint.deliver(space.identity, space.dimension, []);
    return "other";
  }
}
