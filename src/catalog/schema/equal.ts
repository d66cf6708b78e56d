/**
 * Equality of nodes by what they accept, recursion included.
 *
 * Owns: coinductive equality: two places that are being compared already count as equal, until something else tells them apart.
 * Speaks: nodes.
 * Never: differences (walk.ts says what they are).
 */
import { canonicalJson } from "../canonical.js";
import type { JsonValue } from "../../model/json.js";
import { isExclusive } from "./combine.js";
import type { Effort } from "./effort.js";
import { tellingProperties, tellingSlot, type Branch, type Node, type Opaque, type Slot } from "./node.js";

export interface Equality {
  nodes(a: Node, b: Node): boolean;
  branches(x: Branch, y: Branch): boolean;
  opaques(a: Opaque, b: Opaque): boolean;
}

export function sameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  return a !== undefined && b !== undefined && canonicalJson(a) === canonicalJson(b);
}

/** Remembers what was found equal for as long as it lives: one per comparison of two documents. Throws Exhausted. */
export function equality({ spend, within }: Effort): Equality {
  const known = new Map<Node, Map<Node, boolean>>();
  /** Pairs assumed equal since the outermost comparison began, in order. */
  const trail: [Node, Node][] = [];

  const nodes = (a: Node, b: Node): boolean => {
    if (a === b) return true;
    const before = known.get(a)?.get(b);
    if (before !== undefined) return before;
    spend(1);
    const mark = trail.length;
    remember(a, b, true);
    trail.push([a, b]);
    const equal =
      sameJson(a.fallback, b.fallback) &&
      within(() => sameUnion(a.branches, b.branches)) &&
      (a.oneOf || b.oneOf ? isExclusive(a) === isExclusive(b) : true);
    if (!equal) {
      // What was found equal on the strength of this assumption is not known any more.
      for (const [x, y] of trail.splice(mark)) known.get(x)?.delete(y);
      remember(a, b, false);
    }
    return equal;
  };

  const remember = (a: Node, b: Node, equal: boolean): void => {
    const row = known.get(a);
    if (row === undefined) known.set(a, new Map([[b, equal]]));
    else row.set(b, equal);
  };

  const slots = (a: Slot | undefined, b: Slot | undefined): boolean => {
    if (a === b) return true;
    return a !== undefined && b !== undefined && nodes(a.force(), b.force());
  };

  /** Equality is transitive, so taking the first equal partner never blocks another. */
  const sameUnion = (a: readonly Branch[], b: readonly Branch[]): boolean => {
    if (a === b) return true;
    const left = [...b];
    for (const x of a) {
      const index = left.findIndex((y) => branches(x, y));
      if (index >= 0) left.splice(index, 1);
      else if (!b.some((y) => branches(x, y))) return false;
    }
    return left.every((y) => a.some((x) => branches(x, y)));
  };

  const maps = (a: ReadonlyMap<string, Slot> | undefined, b: ReadonlyMap<string, Slot> | undefined): boolean => {
    if (a === b) return true;
    if (a?.size !== b?.size || a === undefined || b === undefined) return false;
    for (const key of a.keys()) if (!b.has(key)) return false;
    for (const [key, slot] of a) if (!slots(slot, b.get(key))) return false;
    return true;
  };

  const branches = (x: Branch, y: Branch): boolean => {
    if (x === y) return true;
    spend(1);
    if (x.kind !== y.kind || x.integer !== y.integer || x.unique !== y.unique) return false;
    if (plainKey(x) !== plainKey(y)) return false;
    if ((x.prefix?.length ?? 0) !== (y.prefix?.length ?? 0)) return false;
    if (!sameOpaque(x.opaque ?? [], y.opaque ?? [])) return false;
    return (
      (x.prefix ?? []).every((slot, index) => slots(slot, y.prefix?.[index])) &&
      maps(tellingProperties(x), tellingProperties(y)) &&
      maps(x.patternProperties, y.patternProperties) &&
      slots(tellingSlot(x.items), tellingSlot(y.items)) &&
      slots(tellingSlot(x.additional), tellingSlot(y.additional)) &&
      slots(tellingSlot(x.names), tellingSlot(y.names))
    );
  };

  const opaques = (a: Opaque, b: Opaque): boolean =>
    a === b ||
    (a.keyword === b.keyword &&
      a.slots.length === b.slots.length &&
      sameJson(a.data, b.data) &&
      a.slots.every(([name, slot], index) => b.slots[index]?.[0] === name && slots(slot, b.slots[index]?.[1])));

  const sameOpaque = (a: readonly Opaque[], b: readonly Opaque[]): boolean =>
    a === b || (a.every((x) => b.some((y) => opaques(x, y))) && b.every((y) => a.some((x) => opaques(x, y))));

  return { nodes, branches, opaques };
}

const plainKeys = new WeakMap<Branch, string>();

/** What a branch says apart from the places in it, as one text. */
function plainKey(branch: Branch): string {
  const known = plainKeys.get(branch);
  if (known !== undefined) return known;
  const key = canonicalJson(plainParts(branch));
  plainKeys.set(branch, key);
  return key;
}

function plainParts(branch: Branch): JsonValue {
  const { values, bounds, patterns, formats, required, fallback } = branch;
  return [
    values === undefined ? null : [...values],
    bounds === undefined ? null : { ...bounds },
    patterns === undefined ? null : [...patterns],
    formats === undefined ? null : [...formats],
    required === undefined ? null : [...required],
    fallback === undefined ? [] : [fallback],
  ];
}
