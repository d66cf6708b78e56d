/**
 * Suppliers: tools that yield what another tool requires.
 *
 * A required `order_id` is not invented by an agent: the tools of the same server that look up, list or create orders belong
 * to the answer too.
 */
import type { Bm25fIndex } from "./bm25f.js";
import { payloadOf, slotsWith } from "./bm25f.js";
import { bestOf, Ranked } from "./ranked.js";
import { stem } from "./stem.js";
import { tokenise } from "./tokens.js";
import type { IndexedTool } from "./fields.js";

const HANDLES: ReadonlySet<string> = new Set(["id", "ids", "key", "uuid", "guid", "slug", "code", "name"].map(stem));
const YIELDS: ReadonlySet<string> = new Set(
  ["search", "list", "find", "get", "lookup", "query", "fetch", "retrieve", "read", "show", "all", "create"].map(stem),
);

const NAME_FIELD = 0;
const JUST_BELOW = 0.999;

export interface SupplierOptions {
  /** How many of the best tools bring their suppliers. */
  readonly depth: number;
  /** Part of the tool's score that each supplier gains; it never overtakes the tool by that. */
  readonly part: number;
  readonly accept: (slot: number) => boolean;
}

/** Raises the suppliers of the best tools (`ranked` is in no order); slot of supplier → slot it supplies. */
export function addSuppliers(
  index: Bm25fIndex<IndexedTool>,
  ranked: Ranked[],
  options: SupplierOptions,
): ReadonlyMap<number, number> {
  const gains = new Map<number, { gain: number; supplied: number; whole: number }>();
  for (const { slot, score } of bestOf(index, ranked, options.depth)) {
    for (const supplier of suppliersOf(index, slot)) {
      const gain = options.part * score;
      if (gain > (gains.get(supplier)?.gain ?? 0) && options.accept(supplier)) {
        gains.set(supplier, { gain, supplied: slot, whole: score });
      }
    }
  }
  if (gains.size === 0) return new Map();
  const known = new Map(ranked.map((one) => [one.slot, one]));
  const supplied = new Map<number, number>();
  for (const [slot, { gain, supplied: other, whole }] of gains) {
    supplied.set(slot, other);
    const one = known.get(slot);
    if (one === undefined) ranked.push(new Ranked(slot, 0, gain));
    else if (one.score < whole) one.score = Math.min(one.score + gain, whole * JUST_BELOW);
  }
  return supplied;
}

function suppliersOf(index: Bm25fIndex<IndexedTool>, slot: number): Set<number> {
  const { tool, required } = payloadOf(index, slot);
  const found = new Set<number>();
  for (const parameter of required) {
    const entity = entityOf(parameter);
    if (entity === undefined) continue;
    for (const other of slotsWith(index, entity, NAME_FIELD)) {
      const { tool: candidate, nameTerms, required: needs } = payloadOf(index, other);
      if (other === slot || candidate.label !== tool.label || needs.includes(parameter)) continue;
      if (nameTerms.some((term) => YIELDS.has(term))) found.add(other);
    }
  }
  return found;
}

/** `order_id`, `orderKey` → `order` (as a stem); nothing for a parameter that is no handle of a thing. */
export function entityOf(parameter: string): string | undefined {
  const words = tokenise(parameter).map(stem);
  const last = words.at(-1);
  return last !== undefined && HANDLES.has(last) ? words.at(-2) : undefined;
}
