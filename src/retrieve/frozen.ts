/**
 * Frozen indexes: an index as numbers and names, so that a start takes it up instead of analysing every document again.
 *
 * Owns: what of an index has to be kept, and the index made of it again, which answers exactly like the one that was frozen.
 * Speaks: text indexes; per document, the terms that its payload keeps.
 * Never: where it is kept, and whether it is of the documents at hand (world/prepared.ts); the payloads themselves.
 */
import { WordOrder } from "./arrays.js";
import { compacted, type Bm25fIndex, type Shared } from "./bm25f.js";

/** Plain data: names as texts, everything else as arrays of numbers. */
export interface FrozenIndex {
  readonly fieldCount: number;
  readonly orderedFields: number;
  readonly ids: readonly string[];
  readonly terms: readonly string[];
  readonly lengthSums: readonly number[];
  readonly having: readonly number[];
  readonly arrays: Readonly<Record<FrozenArray, Uint32Array>>;
}
/**
 * `starts`, `data`: postings; `everHad`: documents a term; `lengths`: field lengths, slot after slot; `orderEnds`, `order`: terms in
 * order; `ownEnds`, `own`: numbers of the terms that each payload keeps.
 */
export const FROZEN_ARRAYS = ["starts", "data", "everHad", "lengths", "orderEnds", "order", "ownEnds", "own"] as const;
export type FrozenArray = (typeof FROZEN_ARRAYS)[number];

/** `termsOf`: terms of the index that a payload keeps, in its order. The index itself stays as it is. */
export function freeze<Payload>(index: Bm25fIndex<Payload>, termsOf: (payload: Payload) => Iterable<string>): FrozenIndex {
  const isWhole = index.shared.extra.size === 0 && index.documents === index.shared.ids.length;
  const face = isWhole ? index : compacted(index);
  const { shared } = face;
  const own: number[] = [];
  const ownEnds = shared.payloads.map((payload) => {
    for (const term of termsOf(payload)) own.push(shared.termOf.get(term) ?? 0);
    return own.length;
  });
  const { ends, data } = shared.order.kept();
  return {
    ...shared.shape,
    ids: shared.ids,
    terms: shared.terms,
    lengthSums: face.lengthSums,
    having: face.having,
    arrays: {
      starts: shared.base.starts,
      data: shared.base.data,
      everHad: Uint32Array.from(shared.everHad),
      lengths: Uint32Array.from(shared.lengths.subarray(0, shared.ids.length * shared.shape.fieldCount)),
      orderEnds: ends,
      order: data,
      ownEnds: Uint32Array.from(ownEnds),
      own: Uint32Array.from(own),
    },
  };
}

/**
 * The index again. `payloadOf` makes the payload of a document from its id and the terms it kept; undefined where the document is
 * not there any more, which makes the whole undefined.
 */
export function thaw<Payload>(
  frozen: FrozenIndex,
  payloadOf: (id: string, terms: () => string[]) => Payload | undefined,
): Bm25fIndex<Payload> | undefined {
  const { ids, terms, fieldCount, orderedFields, arrays } = frozen;
  const payloads: Payload[] = [];
  const slotsOf = new Map<string, number[]>();
  for (const [slot, id] of ids.entries()) {
    const own = arrays.own.subarray(slot === 0 ? 0 : arrays.ownEnds[slot - 1], arrays.ownEnds[slot]);
    const payload = payloadOf(id, () => Array.from(own, (term) => terms[term] ?? ""));
    if (payload === undefined) return undefined;
    payloads.push(payload);
    slotsOf.set(id, [slot]);
  }
  const termOf = new Map<string, number>();
  for (const [number, term] of terms.entries()) termOf.set(term, number);
  const shared: Shared<Payload> = {
    shape: { fieldCount, orderedFields },
    ids: [...ids],
    payloads,
    builtWith: ids.length,
    slotsOf,
    termOf,
    terms: [...terms],
    base: { starts: arrays.starts, data: arrays.data },
    extra: new Map(),
    everHad: Array.from(arrays.everHad),
    lengths: Uint16Array.from(arrays.lengths),
    order: WordOrder.of(arrays.orderEnds, arrays.order),
  };
  return {
    shared,
    alive: new Uint8Array(ids.length).fill(1),
    documents: ids.length,
    lengthSums: frozen.lengthSums,
    having: frozen.having,
    operations: 0,
  };
}

/** The frozen index as bytes, its arrays in the order of this machine. */
export function toBytes(frozen: FrozenIndex): Uint8Array {
  const { arrays, ...names } = frozen;
  const lengths = FROZEN_ARRAYS.map((name) => arrays[name].length);
  const head = Buffer.from(JSON.stringify({ ...names, lengths }));
  const from = aligned(WORD + head.length);
  const bytes = new Uint8Array(from + WORD * lengths.reduce((sum, length) => sum + length, 0));
  new DataView(bytes.buffer).setUint32(0, head.length, true);
  bytes.set(head, WORD);
  const words = new Uint32Array(bytes.buffer, from);
  let at = 0;
  for (const name of FROZEN_ARRAYS) {
    words.set(arrays[name], at);
    at += arrays[name].length;
  }
  return bytes;
}

/** From what `toBytes` made; `bytes` begin at a multiple of four, and are not held on to. */
export function fromBytes(bytes: Uint8Array): FrozenIndex {
  const headBytes = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const head = Buffer.from(bytes.buffer, bytes.byteOffset + WORD, headBytes).toString("utf8");
  const { lengths, ...names } = JSON.parse(head) as Omit<FrozenIndex, "arrays"> & { readonly lengths: readonly number[] };
  let at = bytes.byteOffset + aligned(WORD + headBytes);
  const arrays = FROZEN_ARRAYS.map((name, place) => {
    const words = new Uint32Array(bytes.buffer, at, lengths[place]).slice();
    at += WORD * words.length;
    return [name, words] as const;
  });
  return { ...names, arrays: Object.fromEntries(arrays) as Record<FrozenArray, Uint32Array> };
}

const WORD = 4;
const aligned = (at: number): number => Math.ceil(at / WORD) * WORD;
