/** Candidates of one search, and their order: by score, then by id. */
import type { Bm25fIndex } from "./bm25f.js";
import { idOf } from "./bm25f.js";

/** A candidate. A class, because the compiler makes its numbers at a fraction of what it takes for a literal's: a search makes hundreds. */
export class Ranked {
  /** How far it leads a clause of the need, 0…1: 1 = the best of a clause that speaks with full voice. */
  lead = 0;

  constructor(
    readonly slot: number,
    /** Score of the text of the whole need, on a scale that does not depend on the other candidates. */
    public raw: number,
    public score: number,
  ) {}
}

/** The best score among candidates in any order; 0 without any. */
export function topScore(ranked: readonly Ranked[]): number {
  let top = 0;
  for (const { score } of ranked) if (score > top) top = score;
  return top;
}

/** The best so many, best first, of candidates in any order. */
export function bestOf(index: Bm25fIndex<unknown>, ranked: readonly Ranked[], count: number): Ranked[] {
  const best: Ranked[] = [];
  if (count <= 0) return best;
  for (const one of ranked) {
    const last = best[count - 1];
    if (last !== undefined && byRank(index, last, one) < 0) continue;
    let at = Math.min(best.length, count - 1);
    for (; at > 0; at--) {
      const before = best[at - 1];
      if (before === undefined || byRank(index, before, one) < 0) break;
      best[at] = before;
    }
    best[at] = one;
  }
  return best;
}

export function sortRanked(index: Bm25fIndex<unknown>, ranked: Ranked[]): void {
  ranked.sort((a, b) => byRank(index, a, b));
}

/** Below 0 where a stands before b. */
export function byRank(index: Bm25fIndex<unknown>, a: Ranked, b: Ranked): number {
  return b.score - a.score || (idOf(index, a.slot) < idOf(index, b.slot) ? -1 : 1);
}
