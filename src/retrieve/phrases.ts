/**
 * Phrases: words of the need that stand side by side in a document, and names that the need spells out.
 *
 * Sequential dependence in the manner of Metzler and Croft (2005), for the best candidates only.
 */
import { FIELD_MARK } from "./arrays.js";
import type { Bm25fIndex } from "./bm25f.js";
import { raritiesOf, rarityOf } from "./contribution.js";
import type { ParsedQuery } from "./query.js";
import type { Ranked } from "./ranked.js";
import type { Scratch } from "./scratch.js";

/** Distinct words of a need whose neighbourhoods are looked at. */
const PAIRED_WORDS_MAX = 128;

export interface PhraseScoring {
  /** What a pair of rare words adds, per unit of the lesser rarity. */
  readonly pair: number;
  /** Factor for pairs found in a field at or after `lateFrom`. */
  readonly late: number;
  readonly lateFrom: number;
  /** A name that the need has whole gains this part of the score. */
  readonly name: number;
  readonly nameField: number;
  /** The same two in the raw score. */
  readonly sure: { readonly pair: number; readonly name: number };
}

/** Adds to each candidate what its word order and its name are worth. The order of candidates is left to the caller. */
export function addPhrases(
  index: Bm25fIndex<unknown>,
  query: ParsedQuery,
  ranked: readonly Ranked[],
  scoring: PhraseScoring,
  scratch: Scratch,
): void {
  const asked = new Asked(index, query, scratch);
  for (const one of ranked) {
    const pairs = asked.pairsIn(one.slot, scoring);
    const name = asked.nameIn(one.slot, scoring.nameField);
    one.score = (one.score + scoring.pair * pairs) * (1 + scoring.name * name);
    one.raw = (one.raw + scoring.sure.pair * pairs) * (1 + scoring.sure.name * name);
  }
  asked.end();
}

/** The need as term numbers: which terms it has, and what each neighbouring pair is worth. */
class Asked {
  /** Term number → 1-based place among the need's own terms; 0 = not asked for. */
  private readonly placeOf: Uint16Array;
  private readonly size: number;
  /** place × size + place → worth of that pair. */
  private readonly worth: Float64Array;
  /** place × size + place → the best factor it was seen with in the document at hand. */
  private readonly seen: Float64Array;
  private readonly touched: number[] = [];
  /** Term number → how far the need asks for it (synonyms count less). */
  private readonly factorOf: Float64Array;
  /** Term numbers that have a place or a factor. */
  private readonly numbers: number[] = [];
  private readonly rarities: Float64Array;

  constructor(
    private readonly index: Bm25fIndex<unknown>,
    query: ParsedQuery,
    { placeOf, factorOf }: Scratch,
  ) {
    const { termOf } = index.shared;
    this.placeOf = placeOf;
    this.factorOf = factorOf;
    this.rarities = raritiesOf(index);
    const numbers: (number | undefined)[] = query.sequence.map((term) => termOf.get(term));
    let count = 0;
    for (const number of numbers) {
      if (number === undefined || placeOf[number] !== 0 || count >= PAIRED_WORDS_MAX) continue;
      placeOf[number] = ++count;
      this.numbers.push(number);
    }
    this.size = count + 1;
    this.worth = new Float64Array(this.size * this.size);
    this.seen = new Float64Array(this.size * this.size);
    for (let i = 1; i < numbers.length; i++) {
      const a = numbers[i - 1];
      const b = numbers[i];
      if (a === undefined || b === undefined || a === b) continue;
      const [placeA, placeB] = [placeOf[a] ?? 0, placeOf[b] ?? 0];
      if (placeA === 0 || placeB === 0) continue;
      this.worth[placeA * this.size + placeB] = Math.min(rarityOf(index, a, this.rarities), rarityOf(index, b, this.rarities));
    }
    for (const { alternatives } of query.groups) {
      for (const { term, factor } of alternatives) {
        const number = termOf.get(term);
        if (number === undefined) continue;
        factorOf[number] = Math.max(factor, factorOf[number] ?? 0);
        this.numbers.push(number);
      }
    }
  }

  /** Leaves the scratch as all zeros. */
  end(): void {
    for (const number of this.numbers) {
      this.placeOf[number] = 0;
      this.factorOf[number] = 0;
    }
  }

  /** What the pairs are worth that stand side by side in the document. */
  pairsIn(slot: number, { lateFrom, late }: PhraseScoring): number {
    const { order } = this.index.shared;
    const { data } = order;
    const { placeOf, size } = this;
    const end = order.endOf(slot);
    let factor = 1;
    let before = 0;
    for (let i = order.startOf(slot); i < end; i++) {
      const value = data[i] ?? 0;
      if (value >= FIELD_MARK) {
        factor = value - FIELD_MARK < lateFrom ? 1 : late;
        before = 0;
        continue;
      }
      const place = placeOf[value] ?? 0;
      if (place !== 0 && before !== 0) this.note(before * size + place, factor);
      before = place;
    }
    return this.sum();
  }

  /** How much of the document's name the need asks for, 0…1, by rarity. */
  nameIn(slot: number, nameField: number): number {
    const { order } = this.index.shared;
    const { data } = order;
    const { factorOf, rarities, index } = this;
    const end = order.endOf(slot);
    let whole = 0;
    let asked = 0;
    let isName = false;
    for (let i = order.startOf(slot); i < end; i++) {
      const value = data[i] ?? 0;
      if (value >= FIELD_MARK) {
        if (isName) break;
        isName = value - FIELD_MARK === nameField;
      } else if (isName) {
        const rarity = rarityOf(index, value, rarities);
        whole += rarity;
        asked += rarity * (factorOf[value] ?? 0);
      }
    }
    return whole > 0 ? asked / whole : 0;
  }

  private note(pair: number, factor: number): void {
    if ((this.worth[pair] ?? 0) === 0) return;
    const known = this.seen[pair] ?? 0;
    if (known === 0) this.touched.push(pair);
    if (factor > known) this.seen[pair] = factor;
  }

  private sum(): number {
    let sum = 0;
    for (const pair of this.touched) {
      sum += (this.worth[pair] ?? 0) * (this.seen[pair] ?? 0);
      this.seen[pair] = 0;
    }
    this.touched.length = 0;
    return sum;
  }
}
