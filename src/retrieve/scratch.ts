/**
 * Scratch: the arrays that a search works in, kept from one search to the next.
 *
 * A borrower has them alone and gives them back as all zeros; one that throws on its way keeps them, and the next gets new ones.
 */

export interface Scratch {
  /** By slot. */
  readonly dense: Float64Array;
  /** By slot. */
  readonly leads: Float64Array;
  /** Slots that were touched; holds anything. */
  readonly touched: Int32Array;
  /** By term number. */
  readonly placeOf: Uint16Array;
  /** By term number. */
  readonly factorOf: Float64Array;
}

let spare: Scratch | undefined;

/** Arrays for so many slots and terms at least. */
export function borrowScratch(slots: number, terms: number): Scratch {
  const kept = spare;
  spare = undefined;
  if (kept !== undefined && kept.dense.length >= slots && kept.placeOf.length >= terms) return kept;
  const [forSlots, forTerms] = [roomFor(slots, kept?.dense.length), roomFor(terms, kept?.placeOf.length)];
  return {
    dense: new Float64Array(forSlots),
    leads: new Float64Array(forSlots),
    touched: new Int32Array(forSlots),
    placeOf: new Uint16Array(forTerms),
    factorOf: new Float64Array(forTerms),
  };
}

/** Some more than is asked for: a catalog that grows tool by tool does not need new arrays for each. */
function roomFor(count: number, kept = 0): number {
  return Math.max(kept, Math.ceil(count * 1.25));
}

export function giveBackScratch(scratch: Scratch): void {
  spare = scratch;
}
