/**
 * Answer: how much of a ranking is shown.
 *
 * Owns: the cut-off, the floor, the place of copies.
 * Speaks: ranked slots.
 * Never: ranking itself.
 */
import type { Bm25fIndex } from "./bm25f.js";
import { payloadOf } from "./bm25f.js";
import type { Ranked } from "./rank.js";
import type { ToolScoring } from "./score.js";
import type { IndexedTool } from "./fields.js";

/** Copies of one tool (same texts, same contract, several servers) that keep their place; the others come after all else. */
const COPIES_IN_PLACE = 2;

export interface Cut {
  readonly exact: ReadonlySet<number>;
  /** Best score. */
  readonly top: number;
  readonly strength: number;
  /** Words of the need. */
  readonly words: number;
  readonly scoring: ToolScoring;
}

/** The cut-off is given for needs of so many words, and stays within these bounds. */
const USUAL_WORDS = 6;
const CUT_LEAST = 0.4;
const CUT_MOST = 0.9;

/** The part of the best score down to which tools are shown. */
export function cutFor(words: number, scoring: { readonly cutOff: number; readonly cutOffLength: number }): number {
  const part = scoring.cutOff - scoring.cutOffLength * Math.log((1 + words) / (1 + USUAL_WORDS));
  return Math.min(CUT_MOST, Math.max(CUT_LEAST, part));
}

/** How far the best tool can be trusted to be an answer at all (score.ts, `floor`). Grows with the raw score, from 0. */
export function strengthOf(topRaw: number, words: number, documents: number, scoring: ToolScoring): number {
  return topRaw / (Math.sqrt(1 + words) * Math.pow(Math.log(Math.max(2, documents) + 1), scoring.idfPower));
}

/** The part of a sorted ranking worth showing: nothing below the floor, nothing far below the best; exact names always. */
export function cutOff(index: Bm25fIndex<IndexedTool>, ranked: readonly Ranked[], cut: Cut): Ranked[] {
  const { exact, top, strength, words, scoring } = cut;
  const least = cutFor(words, scoring) * top;
  const kept = ranked.filter(({ slot, score }) => exact.has(slot) || (strength >= scoring.floor && score > 0 && score >= least));
  const copies = new Map<string, number>();
  const inPlace: Ranked[] = [];
  const after: Ranked[] = [];
  for (const one of kept) {
    const { digests } = payloadOf(index, one.slot).tool;
    const likeness = `${digests.text} ${digests.contract}`;
    const count = (copies.get(likeness) ?? 0) + 1;
    copies.set(likeness, count);
    (count <= COPIES_IN_PLACE ? inPlace : after).push(one);
  }
  return [...inPlace, ...after];
}
