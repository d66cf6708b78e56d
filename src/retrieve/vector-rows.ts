/** The rows of a vector index: what its face, its exact search (vectors.ts) and its nominator (nominate.ts) share. */

/** Names candidates where there are too many rows to look at each (nominate.ts). */
export interface Nominator {
  /** Rows below this are known to it; the others are looked at. */
  readonly covered: number;
  /** About the `count` nearest rows, dead ones among them; in no particular order. */
  nominate(need: Float32Array, count: number): number[];
}

export interface SharedRows {
  readonly ids: string[];
  readonly rowsOf: Map<string, number[]>;
  /** Unit vectors, row after row. */
  numbers: Float32Array;
  /** Moved by its owner, read here. */
  nominator: Nominator | undefined;
}

export interface VectorIndex {
  readonly dimension: number;
  readonly shared: SharedRows;
  readonly alive: Uint8Array;
  /** Live rows. */
  readonly count: number;
}

/** The numbers of a row, as they lie there. */
export function vectorAt({ shared, dimension }: VectorIndex, row: number): Float32Array {
  return shared.numbers.subarray(row * dimension, (row + 1) * dimension);
}
