/**
 * Contribution: what one term adds to each document that has it, by BM25F.
 */
import type { Bm25fIndex } from "./bm25f.js";

export interface Bm25fScoring {
  /** Per field, ≥ 0. */
  readonly weights: readonly number[];
  /** Per field: length normalisation, 0…1. */
  readonly bs: readonly number[];
  readonly k1: number;
  readonly idfPower: number;
  /** Terms of everyday language and the largest part of ln(N) that their rarity may count. */
  readonly everyday: { readonly terms: ReadonlySet<string>; readonly share: number };
}

/** Parallel arrays, slots ascending. */
export interface Contribution {
  readonly slots: Int32Array;
  readonly scores: Float64Array;
}

/**
 * Occurrences are weighted and length-normalised per field, summed, saturated once (k1), and multiplied by the term's rarity.
 * A document's field is compared with the mean over the documents that have it.
 */
export function contribution(index: Bm25fIndex<unknown>, term: string, scoring: Bm25fScoring): Contribution | undefined {
  const number = index.shared.termOf.get(term);
  if (number === undefined) return undefined;
  const gathered = new Gathered(index, index.shared.everHad[number] ?? 0, scoring);
  const { starts, data } = index.shared.base;
  if (number + 1 < starts.length) gathered.addAll(data, starts[number] ?? 0, starts[number + 1] ?? 0);
  const extra = index.shared.extra.get(number);
  if (extra !== undefined) gathered.addAll(extra, 0, extra.length);
  const { count, slots, scores } = gathered;
  if (count === 0) return undefined;
  const idf = rarity(index.documents, count, term, scoring);
  const { k1 } = scoring;
  for (let i = 0; i < count; i++) {
    const weighted = scores[i] ?? 0;
    scores[i] = (idf * weighted * (k1 + 1)) / (k1 + weighted);
  }
  if (count === slots.length) return { slots, scores };
  return { slots: slots.subarray(0, count), scores: scores.subarray(0, count) };
}

/** ln(1 + (N − df + ½)/(df + ½)) to the power of `idfPower`; an everyday word is never rarer than its share of ln(N + 1). */
function rarity(documents: number, having: number, term: string, scoring: Bm25fScoring): number {
  const most = scoring.everyday.terms.has(term) ? scoring.everyday.share * Math.log(documents + 1) : Number.POSITIVE_INFINITY;
  return Math.pow(Math.min(logRarity(documents, having), most), scoring.idfPower);
}

function logRarity(documents: number, having: number): number {
  return Math.log(1 + (documents - having + 0.5) / (having + 0.5));
}

const rarities = new WeakMap<Bm25fIndex<unknown>, Float64Array>();

/** By term number what has been asked for before, otherwise 0: to look into before `rarityOf` is called, which fills it. */
export function raritiesOf(index: Bm25fIndex<unknown>): Float64Array {
  let known = rarities.get(index);
  if (known === undefined || known.length < index.shared.terms.length) {
    known = new Float64Array(index.shared.terms.length);
    rarities.set(index, known);
  }
  return known;
}

/** ln(1 + (N − df + ½)/(df + ½)) of the term of this number, > 0. */
export function rarityOf(index: Bm25fIndex<unknown>, term: number, known: Float64Array = raritiesOf(index)): number {
  const asked = known[term] ?? 0;
  if (asked !== 0) return asked;
  const rarity = logRarity(index.documents, liveCount(index, term));
  known[term] = rarity;
  return rarity;
}

/** Per field: its weight, and what a length there divides by, as flat + slope × length. */
interface FieldWeights {
  readonly scoring: Bm25fScoring;
  readonly weights: Float64Array;
  readonly flat: Float64Array;
  readonly slope: Float64Array;
}
const weightsOf = new WeakMap<Bm25fIndex<unknown>, FieldWeights>();

/** The same for every term of a need, and for most needs of a face. */
function fieldWeights(index: Bm25fIndex<unknown>, scoring: Bm25fScoring): FieldWeights {
  const known = weightsOf.get(index);
  if (known?.scoring === scoring) return known;
  const made: FieldWeights = {
    scoring,
    weights: Float64Array.from(scoring.weights),
    flat: Float64Array.from(scoring.bs, (b) => 1 - b),
    slope: Float64Array.from(scoring.bs, (b, field) => {
      const having = index.having[field] ?? 0;
      return having === 0 ? 0 : (b * having) / (index.lengthSums[field] ?? 1);
    }),
  };
  weightsOf.set(index, made);
  return made;
}

/** Weighted occurrences per live document. */
class Gathered {
  readonly slots: Int32Array;
  readonly scores: Float64Array;
  count = 0;
  private last = -1;
  private readonly fields: FieldWeights;

  constructor(
    private readonly index: Bm25fIndex<unknown>,
    upTo: number,
    scoring: Bm25fScoring,
  ) {
    this.slots = new Int32Array(upTo);
    this.scores = new Float64Array(upTo);
    this.fields = fieldWeights(index, scoring);
  }

  addAll(postings: ArrayLike<number>, from: number, to: number): void {
    const { alive } = this.index;
    const { lengths, shape } = this.index.shared;
    const { slots, scores } = this;
    const { weights, flat, slope } = this.fields;
    for (let i = from; i < to; i++) {
      const packed = postings[i] ?? 0;
      const slot = packed >>> 12;
      if (alive[slot] !== 1) continue;
      const field = (packed >>> 8) & 15;
      const weight = weights[field] ?? 0;
      const length = lengths[slot * shape.fieldCount + field] ?? 0;
      const weighted = (weight * (packed & 255)) / ((flat[field] ?? 1) + (slope[field] ?? 0) * length);
      if (slot === this.last) {
        scores[this.count - 1] = (scores[this.count - 1] ?? 0) + weighted;
      } else {
        slots[this.count] = slot;
        scores[this.count] = weighted;
        this.count++;
        this.last = slot;
      }
    }
  }
}

const counts = new WeakMap<Bm25fIndex<unknown>, Map<number, number>>();

/** Live documents that have the term of this number; remembered per face where documents are dead. */
export function liveCount(index: Bm25fIndex<unknown>, term: number): number {
  const { shared, alive } = index;
  if (index.documents === shared.ids.length) return shared.everHad[term] ?? 0;
  let known = counts.get(index);
  if (known === undefined) {
    known = new Map();
    counts.set(index, known);
  }
  const counted = known.get(term);
  if (counted !== undefined) return counted;
  let count = 0;
  let last = -1;
  const look = (postings: ArrayLike<number>, from: number, to: number): void => {
    for (let i = from; i < to; i++) {
      const slot = (postings[i] ?? 0) >>> 12;
      if (slot !== last && alive[slot] === 1) count++;
      last = slot;
    }
  };
  const { starts, data } = shared.base;
  if (term + 1 < starts.length) look(data, starts[term] ?? 0, starts[term + 1] ?? 0);
  const extra = shared.extra.get(term);
  if (extra !== undefined) look(extra, 0, extra.length);
  known.set(term, count);
  return count;
}
