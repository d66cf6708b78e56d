/**
 * Vectors: what lies near a need in an embedder's space.
 *
 * Owns: unit vectors by id, what moves among them, exact search.
 * Speaks: ids and numbers.
 * Never: texts, endpoints, or whose vectors they are (whoever fills an index never mixes two embedders).
 *
 *   shared, append-only                       one index = an immutable face on it
 *   ┌──────────────────────────────────┐      ┌───────────────────────────┐
 *   │ row 0 1 2 …: id, numbers         │ ◄─── │ alive: which rows count   │
 *   │ graph over rows (nominate.ts)    │      └───────────────────────────┘
 *   └──────────────────────────────────┘
 *
 * A replaced vector gets a new row, so older faces answer as they did. When too many rows are dead, a face gets arrays of its own.
 */
import { VECTOR_SCORING } from "./score.js";
import { vectorAt, type SharedRows, type VectorIndex } from "./vector-rows.js";

export interface Neighbour {
  readonly id: string;
  /** Cosine with the need's vector, −1…1. */
  readonly nearness: number;
}

export interface Nearest {
  /** Nearest first; equal ones by id. */
  readonly hits: readonly Neighbour[];
  /**
   * How near things are to this need in general: median of the cosine over an even sample of all rows, and its spread (median
   * absolute deviation, scaled to the standard deviation of a normal distribution). Not moved by the few that are meant.
   */
  readonly median: number;
  readonly spread: number;
}

/** Compaction starts above this share of dead rows, and not before there are so many. */
const DEAD_SHARE = 0.5;
const DEAD_LEAST = 256;
/** Rows that say how near things are in general. */
const SAMPLE = 512;
/** A nominator is asked for so many times what is wanted: it may miss some, and some are dead. */
const OVERSAMPLE = 3;

export function emptyVectors(dimension: number): VectorIndex {
  return {
    dimension,
    shared: { ids: [], rowsOf: new Map(), numbers: new Float32Array(dimension * 64), nominator: undefined },
    alive: new Uint8Array(0),
    count: 0,
  };
}

/** The vector with length 1; undefined where it has none (all zeros, or a number that is none). */
export function unit(vector: ArrayLike<number>): Float32Array | undefined {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += (vector[i] ?? Number.NaN) ** 2;
  if (!(sum > 0) || !Number.isFinite(sum)) return undefined;
  const scale = 1 / Math.sqrt(sum);
  return Float32Array.from(vector, (value) => value * scale);
}

/** Cosine of two unit vectors of one dimension. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

/**
 * The index after some vectors came or were replaced (`put`: unit vectors of the index's dimension) and some left. Cost follows what
 * moved, and one byte a row. The given index stays usable.
 */
export function moveVectors(
  index: VectorIndex,
  moved: { readonly put: Iterable<readonly [id: string, vector: Float32Array]>; readonly removed: Iterable<string> },
): VectorIndex {
  const { shared, dimension } = index;
  const dead = new Set<number>();
  const fresh = new Map<string, number>();
  const retire = (id: string): void => {
    const row = fresh.get(id) ?? rowOf(index, id);
    if (row !== undefined) dead.add(row);
  };
  for (const id of moved.removed) retire(id);
  for (const [id, vector] of moved.put) {
    if (vector.length !== dimension) throw new RangeError(`a vector of ${vector.length} numbers in an index of ${dimension}`);
    retire(id);
    fresh.set(id, append(shared, dimension, id, vector));
  }
  if (dead.size === 0 && fresh.size === 0) return index;
  const alive = new Uint8Array(shared.ids.length);
  alive.set(index.alive);
  for (const row of fresh.values()) alive[row] = 1;
  for (const row of dead) alive[row] = 0;
  const face: VectorIndex = { dimension, shared, alive, count: alive.reduce((sum, one) => sum + one, 0) };
  const lost = alive.length - face.count;
  return lost > DEAD_LEAST && lost > DEAD_SHARE * alive.length ? compacted(face) : face;
}

function append(shared: SharedRows, dimension: number, id: string, vector: Float32Array): number {
  const row = shared.ids.length;
  if ((row + 1) * dimension > shared.numbers.length) {
    const grown = new Float32Array(Math.max(shared.numbers.length * 2, (row + 1) * dimension));
    grown.set(shared.numbers);
    shared.numbers = grown;
  }
  shared.numbers.set(vector, row * dimension);
  shared.ids.push(id);
  const rows = shared.rowsOf.get(id);
  if (rows === undefined) shared.rowsOf.set(id, [row]);
  else rows.push(row);
  return row;
}

function compacted(face: VectorIndex): VectorIndex {
  const { dimension } = face;
  const put: [string, Float32Array][] = [];
  for (let row = 0; row < face.alive.length; row++) {
    if (face.alive[row] === 1) put.push([face.shared.ids[row] ?? "", vectorAt(face, row)]);
  }
  return moveVectors(emptyVectors(dimension), { put, removed: [] });
}

/** The live row of an id. */
function rowOf(index: VectorIndex, id: string): number | undefined {
  return index.shared.rowsOf.get(id)?.findLast((row) => index.alive[row] === 1);
}

export function hasVector(index: VectorIndex, id: string): boolean {
  return rowOf(index, id) !== undefined;
}

/** Small enough that every row is looked at. */
export function isSearchedExactly({ count, dimension }: VectorIndex, exactNumbers = VECTOR_SCORING.exactNumbers): boolean {
  return count * dimension <= exactNumbers;
}

/** The `count` nearest to a unit vector. Where a nominator knows the rows it only names candidates: the exact cosine decides. */
export function nearest(
  index: VectorIndex,
  need: Float32Array,
  count: number,
  exactNumbers = VECTOR_SCORING.exactNumbers,
): Nearest {
  const { alive, shared } = index;
  if (need.length !== index.dimension || index.count === 0) return { hits: [], median: 0, spread: 0 };
  const nominator = isSearchedExactly(index, exactNumbers) ? undefined : shared.nominator;
  const covered = Math.min(nominator?.covered ?? 0, alive.length);
  const rows = nominator === undefined || covered === 0 ? [] : nominator.nominate(need, count * OVERSAMPLE);
  const hits: Neighbour[] = [];
  const look = (row: number): void => {
    if (alive[row] === 1) hits.push({ id: shared.ids[row] ?? "", nearness: nearness(index, row, need) });
  };
  for (const row of rows) if (row < covered) look(row);
  for (let row = covered; row < alive.length; row++) look(row);
  hits.sort((a, b) => b.nearness - a.nearness || (a.id < b.id ? -1 : 1));
  return { hits: hits.slice(0, count), ...general(index, need) };
}

function nearness({ shared: { numbers }, dimension }: VectorIndex, row: number, need: Float32Array): number {
  const start = row * dimension;
  let sum = 0;
  for (let i = 0; i < dimension; i++) sum += (numbers[start + i] ?? 0) * (need[i] ?? 0);
  return sum;
}

/** The median absolute deviation of a normal distribution times this is its standard deviation. */
const NORMAL = 1.4826;

function general(index: VectorIndex, need: Float32Array): { median: number; spread: number } {
  const { length } = index.alive;
  const step = Math.max(1, Math.floor(length / SAMPLE));
  const values: number[] = [];
  for (let row = 0; row < length; row += step) if (index.alive[row] === 1) values.push(nearness(index, row, need));
  const median = middle(values);
  return { median, spread: NORMAL * middle(values.map((value) => Math.abs(value - median))) };
}

function middle(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
