/**
 * Arrays that grow: the raw storage of an index.
 *
 * PostingLog collects postings as they come and sorts them by term once; WordOrder keeps each document's terms in order.
 */

/** Postings in order of arrival, then sorted by term in one pass (arrival order kept within a term). */
export class PostingLog {
  private terms = new Uint32Array(1024);
  private packed = new Uint32Array(1024);
  private length = 0;

  push(term: number, packed: number): void {
    if (this.length === this.terms.length) {
      this.terms = doubled(this.terms);
      this.packed = doubled(this.packed);
    }
    this.terms[this.length] = term;
    this.packed[this.length] = packed;
    this.length++;
  }

  sorted(termCount: number): { starts: Uint32Array; data: Uint32Array } {
    const starts = new Uint32Array(termCount + 1);
    for (let i = 0; i < this.length; i++) {
      const after = (this.terms[i] ?? 0) + 1;
      starts[after] = (starts[after] ?? 0) + 1;
    }
    for (let term = 0; term < termCount; term++) starts[term + 1] = (starts[term + 1] ?? 0) + (starts[term] ?? 0);
    const next = starts.slice();
    const data = new Uint32Array(this.length);
    for (let i = 0; i < this.length; i++) {
      const term = this.terms[i] ?? 0;
      const at = next[term] ?? 0;
      data[at] = this.packed[i] ?? 0;
      next[term] = at + 1;
    }
    return { starts, data };
  }
}

/** Marks the beginning of a field: FIELD_MARK + its number. Above every term number. */
export const FIELD_MARK = 0xffff_fff0;
/** Terms of one field that are kept in order; the end of a long description decides no phrase. */
const ORDERED_TERMS_MAX = 96;

/** The terms of each document's ordered fields, document after document. */
export class WordOrder {
  /** Where the document of each slot ends in `data`. */
  private ends: Uint32Array = new Uint32Array(64);
  private documents = 0;
  private length = 0;
  private inField = 0;
  data: Uint32Array = new Uint32Array(1024);

  /** The same order from what `kept` answered; later documents go on from there. */
  static of(ends: Uint32Array, data: Uint32Array): WordOrder {
    const order = new WordOrder();
    // Arrays that grow by doubling cannot be empty.
    order.ends = ends.length === 0 ? order.ends : ends;
    order.data = data.length === 0 ? order.data : data;
    order.documents = ends.length;
    order.length = data.length;
    return order;
  }

  /** What is written so far. */
  kept(): { ends: Uint32Array; data: Uint32Array } {
    return { ends: this.ends.slice(0, this.documents), data: this.data.slice(0, this.length) };
  }

  openField(field: number): void {
    this.inField = 0;
    this.write(FIELD_MARK + field);
  }

  push(term: number): void {
    if (this.inField++ < ORDERED_TERMS_MAX) this.write(term);
  }

  closeDocument(): void {
    if (this.documents === this.ends.length) this.ends = doubled(this.ends);
    this.ends[this.documents++] = this.length;
  }

  startOf(slot: number): number {
    return slot === 0 ? 0 : (this.ends[slot - 1] ?? 0);
  }

  endOf(slot: number): number {
    return this.ends[slot] ?? 0;
  }

  copyDocument(from: WordOrder, slot: number, newTerm: Int32Array): void {
    const end = from.endOf(slot);
    for (let i = from.startOf(slot); i < end; i++) {
      const value = from.data[i] ?? 0;
      this.write(value >= FIELD_MARK ? value : (newTerm[value] ?? 0));
    }
    this.closeDocument();
  }

  private write(value: number): void {
    if (this.length === this.data.length) this.data = doubled(this.data);
    this.data[this.length++] = value;
  }
}

function doubled(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(array.length * 2);
  grown.set(array);
  return grown;
}
