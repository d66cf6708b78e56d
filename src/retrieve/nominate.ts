/**
 * Nominate: a graph over the rows of a vector index that names candidates where looking at every row would take too long.
 *
 * Owns: the graph (hierarchical navigable small world, Malkov and Yashunin 2018) and how far it has grown.
 * Speaks: row numbers. Built in the background, row by row, by whoever has time; what it does not cover yet is searched exactly.
 * Never: decides nearness (vectors.ts scores its candidates again), nor is it stored: a stored graph of another dimension loads without
 *        an error and one wrong byte can end the process, while growing it anew costs a minute of idle time.
 */
import { vectorAt, type Nominator, type VectorIndex } from "./vector-rows.js";

/** The part of the `hnswlib-node` addon that is used. It is handed in: it is native, and may not be there. */
export interface GraphAddon {
  readonly HierarchicalNSW: new (
    space: "ip",
    dimension: number,
  ) => {
    initIndex(options: { maxElements: number; m: number; efConstruction: number; randomSeed: number }): void;
    resizeIndex(maxElements: number): void;
    addPoint(point: number[], label: number): void;
    searchKnn(point: number[], count: number): { neighbors: number[] };
    getCurrentCount(): number;
    setEf(ef: number): void;
  };
}

/** Links of a node, and how wide the graph is searched while it grows and while it is asked: recall ≥ 0.99 is the law. */
const LINKS = 16;
const BUILD_WIDTH = 200;
const ASK_WIDTH = 256;
const SEED = 100;

/** Grows the index's graph by up to `rows` rows, beginning one where there is none; true once it covers the face. */
export function growGraph(addon: GraphAddon, index: VectorIndex, rows: number): boolean {
  const { shared, alive } = index;
  const graph = shared.nominator instanceof Graph ? shared.nominator : new Graph(addon, index.dimension, alive.length);
  shared.nominator = graph;
  const until = Math.min(alive.length, graph.covered + rows);
  for (let row = graph.covered; row < until; row++) graph.add(vectorAt(index, row));
  return graph.covered >= alive.length;
}

class Graph implements Nominator {
  covered = 0;
  private readonly graph: InstanceType<GraphAddon["HierarchicalNSW"]>;
  private room: number;

  constructor(addon: GraphAddon, dimension: number, rows: number) {
    this.room = Math.max(1_024, rows);
    this.graph = new addon.HierarchicalNSW("ip", dimension);
    this.graph.initIndex({ maxElements: this.room, m: LINKS, efConstruction: BUILD_WIDTH, randomSeed: SEED });
    this.graph.setEf(ASK_WIDTH);
  }

  add(vector: Float32Array): void {
    if (this.covered === this.room) {
      this.room *= 2;
      this.graph.resizeIndex(this.room);
    }
    this.graph.addPoint(Array.from(vector), this.covered);
    this.covered++;
  }

  nominate(need: Float32Array, count: number): number[] {
    return this.graph.searchKnn(Array.from(need), Math.min(count, this.covered)).neighbors;
  }
}
