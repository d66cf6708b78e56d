/**
 * Fielded BM25 over documents that come and go.
 *
 * Owns: postings, lengths, live counts; adding, removing, replacing; the contribution of one term to each document.
 * Speaks: document ids, terms (already analysed), field numbers.
 * Never: where terms come from, how contributions are combined into a ranking.
 *
 *   shared, append-only                    one index = an immutable face on it
 *   ┌───────────────────────────────┐      ┌──────────────────────────────┐
 *   │ slot 0 1 2 3 …  (id, lengths) │ ◄─── │ alive: which slots count     │
 *   │ term → postings (slot, field) │      │ sums of lengths, counts      │
 *   └───────────────────────────────┘      └──────────────────────────────┘
 *
 * Every document gets a new slot; a face that does not know a slot ignores it, so older faces keep answering as they did.
 * All sums are of whole numbers and every score is added up in the order of the query: a moved index answers exactly like
 * one built afresh. When too many slots are dead, the face gets compacted arrays of its own (no text is analysed again).
 */

/** Postings are packed: slot (20 bits), field (4 bits), occurrences (8 bits). */
const SLOT_LIMIT = 1 << 20;
const FIELD_LIMIT = 16;
const OCCURRENCES_MAX = 255;
const LENGTH_MAX = 65_535;

/** Compaction starts above this share of dead slots, or when most documents came after the first build … */
const DEAD_SHARE = 0.3;
/** … and not before there are this many. */
const SLACK_LEAST = 256;

export interface Document<Payload> {
  readonly id: string;
  /** Handed back with the document's slot. */
  readonly payload: Payload;
  /** Terms of each field, in the order of the index's fields; a missing field is an empty list. */
  readonly fields: readonly (readonly string[])[];
}

interface Shared<Payload> {
  readonly fieldCount: number;
  readonly ids: string[];
  readonly payloads: Payload[];
  /** Documents of the first build or of the last compaction. */
  builtWith: number;
  readonly slotsOf: Map<string, number[]>;
  readonly termOf: Map<string, number>;
  readonly terms: string[];
  /** Postings of the first build: those of term t lie from starts[t] to starts[t + 1]. */
  base: { starts: Uint32Array; data: Uint32Array };
  /** Postings that came later. */
  readonly extra: Map<number, number[]>;
  /** Documents that have the term, dead ones included. */
  readonly everHad: number[];
  /** Field lengths, slot after slot. */
  lengths: Uint16Array;
}

export interface Bm25fIndex<Payload> {
  readonly shared: Shared<Payload>;
  readonly alive: Uint8Array;
  /** Live documents. */
  readonly documents: number;
  /** Per field: summed length over live documents. */
  readonly lengthSums: readonly number[];
  /** Per field: live documents that have it. */
  readonly having: readonly number[];
  /** Documents analysed, replaced or removed since the first build began. */
  readonly operations: number;
  /** No slot of `shared` is unknown or dead to this face. */
  readonly whole: boolean;
}

/** Builds an index over documents with distinct ids. */
export function buildIndex<Payload>(fieldCount: number, documents: Iterable<Document<Payload>>): Bm25fIndex<Payload> {
  if (fieldCount > FIELD_LIMIT) throw new RangeError(`an index has at most ${FIELD_LIMIT} fields`);
  const shared: Shared<Payload> = {
    fieldCount,
    ids: [],
    payloads: [],
    builtWith: 0,
    slotsOf: new Map(),
    termOf: new Map(),
    terms: [],
    base: { starts: new Uint32Array(1), data: new Uint32Array(0) },
    extra: new Map(),
    everHad: [],
    lengths: new Uint16Array(fieldCount * 64),
  };
  const lengthSums = new Array<number>(fieldCount).fill(0);
  const having = new Array<number>(fieldCount).fill(0);
  const postings = new PostingLog();
  for (const document of documents) {
    if (shared.slotsOf.has(document.id)) throw new Error(`document given twice: ${document.id}`);
    const slot = openSlot(shared, document);
    appendDocument(shared, slot, document, lengthSums, having, (term, packed) => postings.push(term, packed));
  }
  shared.base = postings.sorted(shared.terms.length);
  const documentsCount = shared.ids.length;
  shared.builtWith = documentsCount;
  return {
    shared,
    alive: new Uint8Array(documentsCount).fill(1),
    documents: documentsCount,
    lengthSums,
    having,
    operations: documentsCount,
    whole: true,
  };
}

/**
 * The index after some documents changed or came (`put`) and some left. Cost follows what moved; ids that are not there are
 * ignored in `removed`. The given index stays usable.
 */
export function moveIndex<Payload>(
  index: Bm25fIndex<Payload>,
  moved: { readonly put: Iterable<Document<Payload>>; readonly removed: Iterable<string> },
): Bm25fIndex<Payload> {
  const { shared } = index;
  const lengthSums = [...index.lengthSums];
  const having = [...index.having];
  const dead = new Set<number>();
  const opened: number[] = [];
  let operations = index.operations;
  const openedBy = new Map<string, number>();
  const retire = (id: string): boolean => {
    const slot = openedBy.get(id) ?? slotOf(index, id);
    if (slot === undefined || dead.has(slot)) return false;
    dead.add(slot);
    openedBy.delete(id);
    for (let field = 0; field < shared.fieldCount; field++) {
      const length = shared.lengths[slot * shared.fieldCount + field] ?? 0;
      lengthSums[field] = (lengthSums[field] ?? 0) - length;
      if (length > 0) having[field] = (having[field] ?? 0) - 1;
    }
    return true;
  };
  for (const id of moved.removed) if (retire(id)) operations++;
  for (const document of moved.put) {
    retire(document.id);
    const slot = openSlot(shared, document);
    appendDocument(shared, slot, document, lengthSums, having, (term, packed) => {
      const list = shared.extra.get(term);
      if (list === undefined) shared.extra.set(term, [packed]);
      else list.push(packed);
    });
    openedBy.set(document.id, slot);
    opened.push(slot);
    operations++;
  }
  if (dead.size === 0 && opened.length === 0) return index;
  const alive = new Uint8Array(shared.ids.length);
  alive.set(index.alive);
  for (const slot of opened) alive[slot] = 1;
  for (const slot of dead) alive[slot] = 0;
  const documents = index.documents + opened.length - dead.size;
  const face = { shared, alive, documents, lengthSums, having, operations, whole: documents === shared.ids.length };
  return wantsCompaction(face) ? compacted(face) : face;
}

function wantsCompaction(face: Bm25fIndex<unknown>): boolean {
  const slots = face.shared.ids.length;
  const dead = slots - face.documents;
  const late = slots - face.shared.builtWith;
  return (dead > SLACK_LEAST && dead > DEAD_SHARE * slots) || (late > SLACK_LEAST && late > slots / 2);
}

function openSlot<Payload>(shared: Shared<Payload>, document: Document<Payload>): number {
  const { id, payload } = document;
  const slot = shared.ids.length;
  if (slot >= SLOT_LIMIT) throw new RangeError(`an index holds at most ${SLOT_LIMIT} documents`);
  shared.ids.push(id);
  shared.payloads.push(payload);
  const slots = shared.slotsOf.get(id);
  if (slots === undefined) shared.slotsOf.set(id, [slot]);
  else slots.push(slot);
  const needed = (slot + 1) * shared.fieldCount;
  if (needed > shared.lengths.length) {
    const grown = new Uint16Array(Math.max(needed, shared.lengths.length * 2));
    grown.set(shared.lengths);
    shared.lengths = grown;
  }
  return slot;
}

/** Writes one document's terms; `post` receives each (term, packed posting), fields in ascending order. */
function appendDocument(
  shared: Shared<unknown>,
  slot: number,
  document: Document<unknown>,
  lengthSums: number[],
  having: number[],
  post: (term: number, packed: number) => void,
): void {
  const inDocument = new Set<number>();
  for (let field = 0; field < shared.fieldCount; field++) {
    const words = document.fields[field];
    if (words === undefined || words.length === 0) continue;
    const length = Math.min(words.length, LENGTH_MAX);
    shared.lengths[slot * shared.fieldCount + field] = length;
    lengthSums[field] = (lengthSums[field] ?? 0) + length;
    having[field] = (having[field] ?? 0) + 1;
    const counts = new Map<number, number>();
    for (const word of words) {
      let term = shared.termOf.get(word);
      if (term === undefined) {
        term = shared.terms.length;
        shared.terms.push(word);
        shared.termOf.set(word, term);
        shared.everHad.push(0);
      }
      counts.set(term, (counts.get(term) ?? 0) + 1);
    }
    for (const [term, count] of counts) {
      post(term, slot * 4096 + field * 256 + Math.min(count, OCCURRENCES_MAX));
      if (inDocument.has(term)) continue;
      inDocument.add(term);
      shared.everHad[term] = (shared.everHad[term] ?? 0) + 1;
    }
  }
}

/** Postings in order of arrival, then sorted by term in one pass (arrival order kept within a term). */
class PostingLog {
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

function doubled(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(array.length * 2);
  grown.set(array);
  return grown;
}

/** The same face on arrays of its own, without dead slots and unused terms. */
function compacted<Payload>(face: Bm25fIndex<Payload>): Bm25fIndex<Payload> {
  const { shared: old, alive } = face;
  const fieldCount = old.fieldCount;
  const renumbered = new Int32Array(alive.length).fill(-1);
  const ids: string[] = [];
  const payloads: Payload[] = [];
  const slotsOf = new Map<string, number[]>();
  for (let slot = 0; slot < alive.length; slot++) {
    if (alive[slot] !== 1) continue;
    const id = old.ids[slot] ?? "";
    renumbered[slot] = ids.length;
    slotsOf.set(id, [ids.length]);
    ids.push(id);
    payloads.push(old.payloads[slot] as Payload);
  }
  const lengths = new Uint16Array(Math.max(1, ids.length) * fieldCount);
  for (let slot = 0; slot < alive.length; slot++) {
    const to = renumbered[slot] ?? -1;
    if (to >= 0) lengths.set(old.lengths.subarray(slot * fieldCount, (slot + 1) * fieldCount), to * fieldCount);
  }
  const shared: Shared<Payload> = {
    fieldCount,
    ids,
    payloads,
    builtWith: ids.length,
    slotsOf,
    termOf: new Map(),
    terms: [],
    base: { starts: new Uint32Array(1), data: new Uint32Array(0) },
    extra: new Map(),
    everHad: [],
    lengths,
  };
  const log = new PostingLog();
  for (let term = 0; term < old.terms.length; term++) copyTerm(old, term, renumbered, shared, log);
  shared.base = log.sorted(shared.terms.length);
  return { ...face, shared, alive: new Uint8Array(ids.length).fill(1), whole: true };
}

function copyTerm(old: Shared<unknown>, term: number, renumbered: Int32Array, shared: Shared<unknown>, log: PostingLog): void {
  let to = -1;
  let last = -1;
  eachPosting(old, term, (packed) => {
    const slot = renumbered[packed >>> 12] ?? -1;
    if (slot < 0) return;
    if (to < 0) {
      const word = old.terms[term] ?? "";
      to = shared.terms.length;
      shared.terms.push(word);
      shared.termOf.set(word, to);
      shared.everHad.push(0);
    }
    if (slot !== last) shared.everHad[to] = (shared.everHad[to] ?? 0) + 1;
    last = slot;
    log.push(to, slot * 4096 + (packed & 4095));
  });
}

function eachPosting(shared: Shared<unknown>, term: number, each: (packed: number) => void): void {
  const { starts, data } = shared.base;
  const end = term + 1 < starts.length ? (starts[term + 1] ?? 0) : 0;
  for (let i = term + 1 < starts.length ? (starts[term] ?? 0) : 0; i < end; i++) each(data[i] ?? 0);
  for (const packed of shared.extra.get(term) ?? []) each(packed);
}

/** The slot of a live document. */
export function slotOf(index: Bm25fIndex<unknown>, id: string): number | undefined {
  const slots = index.shared.slotsOf.get(id);
  if (slots === undefined) return undefined;
  for (let i = slots.length - 1; i >= 0; i--) {
    const slot = slots[i] ?? -1;
    if (index.alive[slot] === 1) return slot;
  }
  return undefined;
}

/** The id of the document in a slot. */
export function idOf(index: Bm25fIndex<unknown>, slot: number): string {
  return index.shared.ids[slot] ?? "";
}

/** What was handed in with the document in a slot. */
export function payloadOf<Payload>(index: Bm25fIndex<Payload>, slot: number): Payload {
  return index.shared.payloads[slot] as Payload;
}

/** Live documents that have the term, in no particular order. */
export function slotsWith(index: Bm25fIndex<unknown>, term: string): number[] {
  const number = index.shared.termOf.get(term);
  const slots = new Set<number>();
  if (number !== undefined) {
    eachPosting(index.shared, number, (packed) => {
      if (index.alive[packed >>> 12] === 1) slots.add(packed >>> 12);
    });
  }
  return [...slots];
}

/** True where a live document that `accept` takes has the term. */
export function isKnown(index: Bm25fIndex<unknown>, term: string, accept?: (slot: number) => boolean): boolean {
  const number = index.shared.termOf.get(term);
  if (number === undefined) return false;
  const { starts, data } = index.shared.base;
  const end = number + 1 < starts.length ? (starts[number + 1] ?? 0) : 0;
  const takes = (packed: number): boolean => {
    const slot = packed >>> 12;
    return index.alive[slot] === 1 && (accept === undefined || accept(slot));
  };
  for (let i = number + 1 < starts.length ? (starts[number] ?? 0) : 0; i < end; i++) if (takes(data[i] ?? 0)) return true;
  return (index.shared.extra.get(number) ?? []).some(takes);
}

export interface Bm25fScoring {
  readonly weights: readonly number[];
  readonly bs: readonly number[];
  readonly k1: number;
  readonly idfPower: number;
}

/** What one term adds to each live document that has it: parallel arrays, slots ascending. */
export interface Contribution {
  readonly slots: Int32Array;
  readonly scores: Float64Array;
  readonly idf: number;
}

/**
 * BM25F of one term: occurrences are weighted and length-normalised per field, summed, saturated once, and multiplied by
 * ln(1 + (N − df + ½)/(df + ½)) to the power of `idfPower`. A document's field is compared with the mean over those that have it.
 */
export function contribution(index: Bm25fIndex<unknown>, term: string, scoring: Bm25fScoring): Contribution | undefined {
  const number = index.shared.termOf.get(term);
  if (number === undefined) return undefined;
  const { shared, alive } = index;
  const upTo = shared.everHad[number] ?? 0;
  const slots = new Int32Array(upTo);
  const scores = new Float64Array(upTo);
  const { fieldCount, lengths } = shared;
  const flat = scoring.bs.map((b) => 1 - b);
  const slope = scoring.bs.map((b, field) =>
    (index.having[field] ?? 0) > 0 ? (b * (index.having[field] ?? 0)) / (index.lengthSums[field] ?? 1) : 0,
  );
  const { weights, k1 } = scoring;
  let count = 0;
  let last = -1;
  const add = (packed: number): void => {
    const slot = packed >>> 12;
    if (alive[slot] !== 1) return;
    const field = (packed >>> 8) & 15;
    const occurrences = packed & 255;
    const length = lengths[slot * fieldCount + field] ?? 0;
    const weighted = ((weights[field] ?? 0) * occurrences) / ((flat[field] ?? 1) + (slope[field] ?? 0) * length);
    if (slot !== last) {
      slots[count] = slot;
      scores[count] = weighted;
      count++;
      last = slot;
    } else {
      scores[count - 1] = (scores[count - 1] ?? 0) + weighted;
    }
  };
  const { starts, data } = shared.base;
  if (number + 1 < starts.length) {
    const end = starts[number + 1] ?? 0;
    for (let i = starts[number] ?? 0; i < end; i++) add(data[i] ?? 0);
  }
  const extra = shared.extra.get(number);
  if (extra !== undefined) for (const packed of extra) add(packed);
  if (count === 0) return undefined;
  const idf = Math.pow(Math.log(1 + (index.documents - count + 0.5) / (count + 0.5)), scoring.idfPower);
  for (let i = 0; i < count; i++) {
    const weighted = scores[i] ?? 0;
    scores[i] = (idf * weighted * (k1 + 1)) / (k1 + weighted);
  }
  return { slots: slots.subarray(0, count), scores: scores.subarray(0, count), idf };
}
