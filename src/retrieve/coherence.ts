/**
 * Coherence: the tools of one task mostly live together, so a tool gains by what its server's best tool is worth.
 */
import type { Bm25fIndex } from "./bm25f.js";
import { payloadOf } from "./bm25f.js";
import type { IndexedTool } from "./fields.js";
import type { Ranked } from "./ranked.js";
import { topScore } from "./ranked.js";

/** Servers by number, for the slots of all faces of one index; a slot's server never changes. */
interface Servers {
  readonly numbers: Map<string, number>;
  of: Int32Array;
  /** Slots entered so far. */
  entered: number;
}
const known = new WeakMap<object, Servers>();

function serversOf(index: Bm25fIndex<IndexedTool>): Servers {
  const { shared } = index;
  let servers = known.get(shared);
  if (servers === undefined) {
    servers = { numbers: new Map(), of: new Int32Array(shared.ids.length), entered: 0 };
    known.set(shared, servers);
  }
  if (servers.of.length < shared.ids.length) {
    const grown = new Int32Array(Math.max(shared.ids.length, 2 * servers.of.length));
    grown.set(servers.of);
    servers.of = grown;
  }
  for (; servers.entered < shared.ids.length; servers.entered++) {
    const { label } = payloadOf(index, servers.entered).tool;
    let number = servers.numbers.get(label);
    if (number === undefined) servers.numbers.set(label, (number = servers.numbers.size));
    servers.of[servers.entered] = number;
  }
  return servers;
}

/** `share`: how much of a score its server's best decides, 0…1. The order of candidates is left to the caller. */
export function cohere(index: Bm25fIndex<IndexedTool>, ranked: readonly Ranked[], share: number): void {
  const max = topScore(ranked);
  if (max <= 0 || share <= 0) return;
  const servers = serversOf(index);
  const best = new Float64Array(servers.numbers.size);
  for (const { slot, score } of ranked) {
    const server = servers.of[slot] ?? 0;
    if (score > (best[server] ?? 0)) best[server] = score;
  }
  for (const one of ranked) {
    const bestHere = best[servers.of[one.slot] ?? 0] ?? 0;
    one.score = (1 - share) * one.score + share * bestHere * Math.sqrt(one.score / max);
  }
}
