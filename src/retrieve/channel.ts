/**
 * Channels: what else speaks for a document beside its text: nearness in an embedder's space, experience.
 *
 * Owns: how voices join a ranking by text.
 * Speaks: ids and scores of 0…1, in parts of the best text score, so that a channel need not know how text is scored.
 * Never: where a voice comes from.
 */
import type { Bm25fIndex } from "./bm25f.js";
import { idOf, slotOf } from "./bm25f.js";
import { bestOf, Ranked, topScore } from "./ranked.js";

/** What a channel has to say to one need. */
export interface Voice<Id extends string> {
  /** What a full score is worth, in parts of the best text score, ≥ 0. */
  readonly weight: number;
  /** Scores of 0…1; a document that is not there scores 0. */
  readonly scores: ReadonlyMap<Id, number>;
  /** It is reason enough to answer, however weak the text's best is. */
  readonly sure: boolean;
  /** Why it speaks for a document, for people. */
  because(id: Id): string;
}

export interface Channel<Id extends string> {
  readonly name: string;
  /** Pure and immediate. `best`: what the text ranks first, best first. Undefined = nothing to say. */
  speak(need: string, best: readonly Id[]): Voice<Id> | undefined;
}

/** How many of the text's best a channel is told. */
const BEST_TOLD = 5;

/** A channel's score at and above which its reason is shown. */
const REASON_LEAST = 0.1;

export interface Heard {
  readonly sure: boolean;
  /** Reasons of the voices that spoke for the document in a slot. */
  reasonsFor(slot: number): string[];
}

const UNHEARD: Heard = { sure: false, reasonsFor: () => [] };

/** Adds every voice to the ranking (`ranked` is in no order); a document that only a voice knows joins the candidates. */
export function hear<Id extends string>(
  index: Bm25fIndex<unknown>,
  ranked: Ranked[],
  need: string,
  channels: readonly Channel<Id>[],
  accept: (slot: number) => boolean,
): Heard {
  if (channels.length === 0) return UNHEARD;
  const best = bestOf(index, ranked, BEST_TOLD).map(({ slot }) => idOf(index, slot) as Id);
  const voices = channels.flatMap((channel) => channel.speak(need, best) ?? []).filter(({ weight }) => weight > 0);
  if (voices.length === 0) return UNHEARD;
  const max = topScore(ranked) || 1;
  const known = new Map(ranked.map((one) => [one.slot, one]));
  for (const { weight, scores } of voices) {
    for (const [id, value] of scores) {
      const slot = slotOf(index, id);
      if (slot === undefined || value <= 0 || !accept(slot)) continue;
      let one = known.get(slot);
      if (one === undefined) {
        one = new Ranked(slot, 0, 0);
        known.set(slot, one);
        ranked.push(one);
      }
      one.score += weight * value * max;
    }
  }
  return {
    sure: voices.some(({ sure }) => sure),
    reasonsFor(slot) {
      const id = idOf(index, slot) as Id;
      return voices.filter(({ scores }) => (scores.get(id) ?? 0) >= REASON_LEAST).map((voice) => voice.because(id));
    },
  };
}
