/**
 * Fielded index: documents that come and go, by the terms of their fields.
 *
 * Owns: postings, lengths, word order, live counts; adding, removing, replacing, compacting.
 * Speaks: document ids, terms (already analysed), field numbers, slots.
 * Never: where terms come from, what they score (contribution.ts), how documents are ranked (rank.ts).
 *
 *   shared, append-only                    one index = an immutable face on it
 *   ┌───────────────────────────────┐      ┌──────────────────────────────┐
 *   │ slot 0 1 2 3 …  (id, lengths) │ ◄─── │ alive: which slots count     │
 *   │ term → postings (slot, field) │      │ sums of lengths, counts      │
 *   │ slot → its terms in order     │      └──────────────────────────────┘
 *   └───────────────────────────────┘
 *
 * Every document gets a new slot; a face that does not know a slot ignores it, so older faces keep answering as they did.
 * All sums are of whole numbers and every score is added up in the order of the query, so a moved index answers exactly like
 * one built afresh. When too many slots are dead, the face gets compacted arrays of its own (no text is analysed again).
 */
import { PostingLog, WordOrder } from "./arrays.js";

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

export interface IndexShape {
  readonly fieldCount: number;
  /** The first so many fields are also kept in order, for phrases. */
  readonly orderedFields: number;
}

/** What all faces of one index have in common. Only appended to. */
export interface Shared<Payload> {
  readonly shape: IndexShape;
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
  readonly order: WordOrder;
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
}

/** Builds an index over documents with distinct ids. */
export function buildIndex<Payload>(shape: IndexShape, documents: Iterable<Document<Payload>>): Bm25fIndex<Payload> {
  if (shape.fieldCount > FIELD_LIMIT) throw new RangeError(`an index has at most ${FIELD_LIMIT} fields`);
  const shared = emptyShared<Payload>(shape);
  const sums = { lengthSums: zeros(shape.fieldCount), having: zeros(shape.fieldCount) };
  const postings = new PostingLog();
  for (const document of documents) {
    if (shared.slotsOf.has(document.id)) throw new Error(`document given twice: ${document.id}`);
    appendDocument(shared, document, sums, (term, packed) => postings.push(term, packed));
  }
  shared.base = postings.sorted(shared.terms.length);
  const count = shared.ids.length;
  shared.builtWith = count;
  return { shared, alive: new Uint8Array(count).fill(1), documents: count, ...sums, operations: count };
}

function emptyShared<Payload>(shape: IndexShape): Shared<Payload> {
  return {
    shape,
    ids: [],
    payloads: [],
    builtWith: 0,
    slotsOf: new Map(),
    termOf: new Map(),
    terms: [],
    base: { starts: new Uint32Array(1), data: new Uint32Array(0) },
    extra: new Map(),
    everHad: [],
    lengths: new Uint16Array(shape.fieldCount * 64),
    order: new WordOrder(),
  };
}

function zeros(count: number): number[] {
  return new Array<number>(count).fill(0);
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
  const sums = { lengthSums: [...index.lengthSums], having: [...index.having] };
  const dead = new Set<number>();
  const opened = new Map<string, number>();
  let operations = index.operations;
  const retire = (id: string): boolean => {
    const slot = opened.get(id) ?? slotOf(index, id);
    if (slot === undefined || dead.has(slot)) return false;
    dead.add(slot);
    takeLengths(shared, slot, sums);
    return true;
  };
  for (const id of moved.removed) if (retire(id)) operations++;
  let added = 0;
  for (const document of moved.put) {
    retire(document.id);
    const slot = appendDocument(shared, document, sums, (term, packed) => {
      const list = shared.extra.get(term);
      if (list === undefined) shared.extra.set(term, [packed]);
      else list.push(packed);
    });
    opened.set(document.id, slot);
    added++;
    operations++;
  }
  if (dead.size === 0 && added === 0) return index;
  const alive = new Uint8Array(shared.ids.length);
  alive.set(index.alive);
  for (const slot of opened.values()) alive[slot] = 1;
  for (const slot of dead) alive[slot] = 0;
  const face = { shared, alive, documents: index.documents + added - dead.size, ...sums, operations };
  return wantsCompaction(face) ? compacted(face) : face;
}

function takeLengths(shared: Shared<unknown>, slot: number, sums: { lengthSums: number[]; having: number[] }): void {
  const { fieldCount } = shared.shape;
  for (let field = 0; field < fieldCount; field++) {
    const length = shared.lengths[slot * fieldCount + field] ?? 0;
    if (length === 0) continue;
    sums.lengthSums[field] = (sums.lengthSums[field] ?? 0) - length;
    sums.having[field] = (sums.having[field] ?? 0) - 1;
  }
}

function wantsCompaction(face: Bm25fIndex<unknown>): boolean {
  const slots = face.shared.ids.length;
  const dead = slots - face.documents;
  const late = slots - face.shared.builtWith;
  return (dead > SLACK_LEAST && dead > DEAD_SHARE * slots) || (late > SLACK_LEAST && late > slots / 2);
}

/** Opens a slot and writes one document into it; `post` receives each (term, packed posting), fields in ascending order. */
function appendDocument<Payload>(
  shared: Shared<Payload>,
  document: Document<Payload>,
  sums: { lengthSums: number[]; having: number[] },
  post: (term: number, packed: number) => void,
): number {
  const slot = openSlot(shared, document);
  const { fieldCount, orderedFields } = shared.shape;
  const inDocument = new Set<number>();
  for (let field = 0; field < fieldCount; field++) {
    const words = document.fields[field];
    if (words === undefined || words.length === 0) continue;
    const length = Math.min(words.length, LENGTH_MAX);
    shared.lengths[slot * fieldCount + field] = length;
    sums.lengthSums[field] = (sums.lengthSums[field] ?? 0) + length;
    sums.having[field] = (sums.having[field] ?? 0) + 1;
    const ordered = field < orderedFields;
    if (ordered) shared.order.openField(field);
    const counts = new Map<number, number>();
    for (const word of words) {
      const term = termNumber(shared, word);
      counts.set(term, (counts.get(term) ?? 0) + 1);
      if (ordered) shared.order.push(term);
    }
    for (const [term, count] of counts) {
      post(term, slot * 4096 + field * 256 + Math.min(count, OCCURRENCES_MAX));
      if (inDocument.has(term)) continue;
      inDocument.add(term);
      shared.everHad[term] = (shared.everHad[term] ?? 0) + 1;
    }
  }
  shared.order.closeDocument();
  return slot;
}

function openSlot<Payload>(shared: Shared<Payload>, { id, payload }: Document<Payload>): number {
  const slot = shared.ids.length;
  if (slot >= SLOT_LIMIT) throw new RangeError(`an index holds at most ${SLOT_LIMIT} documents`);
  shared.ids.push(id);
  shared.payloads.push(payload);
  const slots = shared.slotsOf.get(id);
  if (slots === undefined) shared.slotsOf.set(id, [slot]);
  else slots.push(slot);
  const needed = (slot + 1) * shared.shape.fieldCount;
  if (needed > shared.lengths.length) {
    const grown = new Uint16Array(Math.max(needed, shared.lengths.length * 2));
    grown.set(shared.lengths);
    shared.lengths = grown;
  }
  return slot;
}

function termNumber(shared: Shared<unknown>, word: string): number {
  const known = shared.termOf.get(word);
  if (known !== undefined) return known;
  const term = shared.terms.length;
  shared.terms.push(word);
  shared.termOf.set(word, term);
  shared.everHad.push(0);
  return term;
}

/** The same face on arrays of its own, without dead slots and unused terms. */
export function compacted<Payload>(face: Bm25fIndex<Payload>): Bm25fIndex<Payload> {
  const { shared: old, alive } = face;
  const { fieldCount } = old.shape;
  const shared = emptyShared<Payload>(old.shape);
  const renumbered = new Int32Array(alive.length).fill(-1);
  for (let slot = 0; slot < alive.length; slot++) {
    if (alive[slot] !== 1) continue;
    const to = openSlot(shared, { id: old.ids[slot] ?? "", payload: old.payloads[slot] as Payload, fields: [] });
    renumbered[slot] = to;
    shared.lengths.set(old.lengths.subarray(slot * fieldCount, (slot + 1) * fieldCount), to * fieldCount);
  }
  const log = new PostingLog();
  const newTerm = new Int32Array(old.terms.length).fill(-1);
  for (let term = 0; term < old.terms.length; term++) newTerm[term] = copyTerm(old, term, renumbered, shared, log);
  shared.base = log.sorted(shared.terms.length);
  shared.builtWith = shared.ids.length;
  for (let slot = 0; slot < alive.length; slot++) if (alive[slot] === 1) shared.order.copyDocument(old.order, slot, newTerm);
  return { ...face, shared, alive: new Uint8Array(shared.ids.length).fill(1) };
}

/** Copies the live postings of a term; its new number, or −1 where none is left. */
function copyTerm(old: Shared<unknown>, term: number, renumbered: Int32Array, shared: Shared<unknown>, log: PostingLog): number {
  let to = -1;
  let last = -1;
  eachPosting(old, term, (packed) => {
    const slot = renumbered[packed >>> 12] ?? -1;
    if (slot < 0) return;
    if (to < 0) to = termNumber(shared, old.terms[term] ?? "");
    if (slot !== last) shared.everHad[to] = (shared.everHad[to] ?? 0) + 1;
    last = slot;
    log.push(to, slot * 4096 + (packed & 4095));
  });
  return to;
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

/** Live documents that have the term (in one field, if given), in order of their slots. */
export function slotsWith(index: Bm25fIndex<unknown>, term: string, field?: number): number[] {
  const number = index.shared.termOf.get(term);
  if (number === undefined) return [];
  const slots: number[] = [];
  eachPosting(index.shared, number, (packed) => {
    const slot = packed >>> 12;
    if (field !== undefined && ((packed >>> 8) & 15) !== field) return;
    if (index.alive[slot] === 1 && slots.at(-1) !== slot) slots.push(slot);
  });
  return slots;
}

/** True where a live document that `accept` takes has the term. */
export function isKnown(index: Bm25fIndex<unknown>, term: string, accept?: (slot: number) => boolean): boolean {
  const number = index.shared.termOf.get(term);
  if (number === undefined) return false;
  const takes = (packed: number): boolean => {
    const slot = packed >>> 12;
    return index.alive[slot] === 1 && (accept === undefined || accept(slot));
  };
  const { starts, data } = index.shared.base;
  const end = number + 1 < starts.length ? (starts[number + 1] ?? 0) : 0;
  for (let i = number + 1 < starts.length ? (starts[number] ?? 0) : 0; i < end; i++) if (takes(data[i] ?? 0)) return true;
  return (index.shared.extra.get(number) ?? []).some(takes);
}

/** True where the document in the slot has the term. */
export function hasTerm(index: Bm25fIndex<unknown>, slot: number, term: string): boolean {
  const number = index.shared.termOf.get(term);
  if (number === undefined) return false;
  const { starts, data } = index.shared.base;
  if (slot >= index.shared.builtWith) return (index.shared.extra.get(number) ?? []).some((packed) => packed >>> 12 === slot);
  if (number + 1 >= starts.length) return false;
  let low = starts[number] ?? 0;
  let high = starts[number + 1] ?? 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    const at = (data[middle] ?? 0) >>> 12;
    if (at === slot) return true;
    if (at < slot) low = middle + 1;
    else high = middle;
  }
  return false;
}
