/**
 * Whose answers are these? Another embedder is followed once the endpoint keeps answering as that one.
 *
 * Owns: how often a change is asked about before it is believed, and how long an endpoint that contradicts itself is known for it.
 * Speaks: answers to the probe in; a verdict out.
 * Never: puts an embedder in force (embeddings.ts).
 *
 * One strange answer is not a change: two replicas with different models, or a server whose numbers are never the same, would have every
 * text embedded anew at each answer, for ever. So the probe is asked again, at least twice, and twice as often after each change of the
 * last hour, until that is too often: an endpoint that keeps to nothing for long is followed no further. An even number of questions goes with each strange answer, so that replicas asked in turn cannot always give the strange one.
 */
import type { EMBEDDING_LIMITS } from "../model/endpoint-limits.js";
import type { Clock } from "../model/ports.js";
import { isSameEmbedder } from "./embeddings-cache.js";
import type { Embedded } from "./embeddings-sender.js";

export type Refusal = Exclude<Embedded, { kind: "vectors" }>;

export const UNSTEADY =
  "the embeddings endpoint does not agree with itself: it gives different vectors for the same text " +
  "(several models behind one address, or one that adds noise)";

export interface ChangeJudge {
  /** Whether the endpoint keeps answering as the one that made this of the probe; a fault where it does not answer at all. */
  judge(
    probe: Float32Array,
  ): Promise<{ readonly kind: "changed" } | { readonly kind: "unsteady"; readonly isNews: boolean } | Refusal>;
  /** It contradicted itself within the last hour. */
  isUnsteady(): boolean;
}

export function createChangeJudge(options: {
  readonly limits: { readonly [Name in keyof typeof EMBEDDING_LIMITS]: number };
  readonly clock: Clock;
  /** Asks for the probe alone. */
  readonly ask: () => Promise<Embedded>;
}): ChangeJudge {
  const { limits, clock } = options;
  let changes: number[] = [];
  let unsteadyUntilMs = Number.NEGATIVE_INFINITY;
  const isUnsteady = (): boolean => clock.elapsedMs() < unsteadyUntilMs;

  return {
    isUnsteady,
    async judge(probe) {
      changes = changes.filter((at) => clock.elapsedMs() - at < limits.steadyMs);
      const wanted = limits.changeAnswers * 2 ** changes.length;
      let agreeing = 0;
      for (let asked = 1; asked <= wanted && wanted <= limits.changeAnswersMost; asked++) {
        const made = await options.ask();
        if (made.kind !== "vectors") return made;
        if (isSameEmbedder(probe, made.probe)) agreeing++;
        if (agreeing < asked && asked % limits.changeAnswers === 0) break;
      }
      if (agreeing === wanted) {
        changes.push(clock.elapsedMs());
        return { kind: "changed" };
      }
      const isNews = !isUnsteady();
      unsteadyUntilMs = clock.elapsedMs() + limits.steadyMs;
      return { kind: "unsteady", isNews };
    },
  };
}
