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
  readonly topRaw: number;
  readonly scoring: ToolScoring;
}

/** The part of a sorted ranking worth showing: nothing below the floor, nothing far below the best; exact names always. */
export function cutOff(index: Bm25fIndex<IndexedTool>, ranked: readonly Ranked[], cut: Cut): Ranked[] {
  const { exact, top, topRaw, scoring } = cut;
  const kept = ranked.filter(
    ({ slot, score }) => exact.has(slot) || (topRaw >= scoring.floor && score > 0 && score >= scoring.cutOff * top),
  );
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
