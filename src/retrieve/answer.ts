/**
 * Answer: how much of a ranking is shown.
 *
 * Owns: the cut-off, the floor, the place of copies, what the best is worth.
 * Speaks: ranked slots.
 * Never: ranking itself.
 */
import type { Bm25fIndex } from "./bm25f.js";
import { payloadOf } from "./bm25f.js";
import type { Ranked } from "./ranked.js";
import { sortRanked } from "./ranked.js";
import type { ToolScoring } from "./score.js";
import type { IndexedTool } from "./fields.js";

/** Copies of one tool (same texts, same contract, several servers) that keep their place; the others come after all else. */
const COPIES_IN_PLACE = 2;

export interface Cut {
  readonly exact: ReadonlySet<number>;
  /** Best score. */
  readonly top: number;
  /** Something speaks for an answer at all: the text's strength, or a channel that is sure. */
  readonly trusted: boolean;
  /** Words of the need. */
  readonly words: number;
  readonly scoring: ToolScoring;
}

/** The cut-off is given for needs of so many words, and stays within these bounds. */
const USUAL_WORDS = 6;
const CUT_LEAST = 0.4;
const CUT_MOST = 0.9;

/** From here on a tool counts as leading a clause (see Ranked.lead). */
const LEADING = 0.8;

/** The part of the best score down to which tools are shown. */
export function cutFor(words: number, scoring: { readonly cutOff: number; readonly cutOffLength: number }): number {
  const part = scoring.cutOff - scoring.cutOffLength * Math.log((1 + words) / (1 + USUAL_WORDS));
  return Math.min(CUT_MOST, Math.max(CUT_LEAST, part));
}

/** Strengths are given on the scale of a catalog of so many tools. */
const USUAL_TOOLS = 1_000;
/** How the score that chance alone reaches grows with the logarithm of the catalog's size, beside rarity itself (measured). */
const CHANCE_POWER = 2;

/**
 * How far the best tool can be trusted to be an answer at all. Grows with the raw score, from 0; longer needs and larger catalogs
 * reach a score by chance more easily, which is taken out.
 */
export function strengthOf(topRaw: number, words: number, documents: number, scoring: { readonly idfPower: number }): number {
  const size = Math.log(Math.max(2, documents) + 1);
  const chance = Math.pow(size, scoring.idfPower) * Math.pow(size / Math.log(USUAL_TOOLS + 1), CHANCE_POWER);
  return topRaw / (Math.sqrt(1 + words) * chance);
}

/** No answer is worth less than this: it was found good enough to be given. */
const SURENESS_LEAST = 0.1;

/** What the best tool of an answer is worth to people, 0…1: less where its strength is little, or only words akin to the need's speak for it. */
export function surenessOf(strength: number, isOnlyAkin: boolean, scoring: ToolScoring): number {
  const byStrength = strength < scoring.weak ? strength / scoring.weak : 1;
  return Math.max(SURENESS_LEAST, Math.min(byStrength, isOnlyAkin ? scoring.akin : 1));
}

/** A ranking (in no order), best first, exact names before all else. */
export function inOrder(index: Bm25fIndex<unknown>, ranked: readonly Ranked[], exact: ReadonlySet<number>): Ranked[] {
  const ordered = [...ranked];
  sortRanked(index, ordered);
  if (exact.size === 0) return ordered;
  return [...ordered.filter(({ slot }) => exact.has(slot)), ...ordered.filter(({ slot }) => !exact.has(slot))];
}

/** The part of a ranking (in no order) worth showing, best first: nothing below the floor, nothing far below the best; exact names always. */
export function cutOff(index: Bm25fIndex<IndexedTool>, ranked: readonly Ranked[], cut: Cut): Ranked[] {
  const { exact, top, trusted, words, scoring } = cut;
  const least = cutFor(words, scoring) * top;
  const leastLeading = scoring.cutOffLeading * top;
  const kept = ranked.filter(({ slot, score, lead }) => {
    if (exact.has(slot)) return true;
    if (!trusted || score <= 0) return false;
    return score >= least || (lead >= LEADING && score >= leastLeading);
  });
  const copies = new Map<string, number>();
  const inPlace: Ranked[] = [];
  const after: Ranked[] = [];
  for (const one of inOrder(index, kept, exact)) {
    const { digests } = payloadOf(index, one.slot).tool;
    const likeness = `${digests.text} ${digests.contract}`;
    const count = (copies.get(likeness) ?? 0) + 1;
    copies.set(likeness, count);
    (count <= COPIES_IN_PLACE ? inPlace : after).push(one);
  }
  return [...inPlace, ...after];
}
