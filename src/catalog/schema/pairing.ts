/**
 * Which branches of two unions are the same form, then and now.
 *
 * Owns: how alike two branches are, and the pairs made of that.
 * Speaks: branches.
 * Never: what differs in a pair (branches.ts).
 */
import type { JsonValue } from "../../model/json.js";
import { canonicalJson } from "../canonical.js";
import { sameJson } from "./equal.js";
import type { Branch, Node } from "./node.js";
import { branchFragment, type Walk } from "./step.js";

interface Paired {
  readonly pairs: readonly (readonly [Branch, Branch])[];
  readonly lost: readonly Branch[];
  readonly won: readonly Branch[];
}

/** Pairs the branches that are most alike. */
export function pairUp(walk: Walk, openA: readonly Branch[], openB: readonly Branch[]): Paired {
  const [onlyA, onlyB] = [openA[0], openB[0]];
  if (openA.length === 1 && openB.length === 1 && onlyA && onlyB && onlyA.kind === onlyB.kind)
    return { pairs: [[onlyA, onlyB]], lost: [], won: [] };
  const [sortedA, sortedB] = [inOrder(openA), inOrder(openB)];
  const scored = sortedA.flatMap((x, i) =>
    sortedB.map((y, j) => ({ x, y, i, j, score: x.kind === y.kind ? alike(walk, x, y) : 0 })),
  );
  scored.sort((p, q) => q.score - p.score || Math.abs(p.i - p.j) - Math.abs(q.i - q.j) || p.i - q.i);
  const taken = new Set<Branch>();
  const pairs: [Branch, Branch][] = [];
  for (const { x, y, score } of scored) {
    if (taken.has(x) || taken.has(y) || score <= 0) continue;
    taken.add(x);
    taken.add(y);
    pairs.push([x, y]);
  }
  return { pairs, lost: openA.filter((x) => !taken.has(x)), won: openB.filter((y) => !taken.has(y)) };
}

/** By what they say, so that the order in which a union is written decides nothing. */
function inOrder(branches: readonly Branch[]): readonly Branch[] {
  if (branches.length < 2) return branches;
  const keyed = branches.map((branch) => [canonicalJson(branchFragment(branch)), branch] as const);
  return keyed.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, branch]) => branch);
}

/** 0…3: a discriminator that agrees counts most, one that differs rules a pair out; then shared members. */
function alike(walk: Walk, x: Branch, y: Branch): number {
  walk.spend(1 + (x.properties?.size ?? 0));
  if (x.kind !== "object") return sameJson(shape(x), shape(y)) ? 1 : 0.5;
  let score = 0.1;
  let shared = 0;
  for (const [key, slot] of x.properties ?? []) {
    const other = y.properties?.get(key);
    if (other === undefined) continue;
    shared += 1;
    const [a, b] = [slot.force(), other.force()];
    if (!isConstant(a) || !isConstant(b)) continue;
    if (!walk.equal.nodes(a, b)) return 0;
    score = 2;
  }
  const all = (x.properties?.size ?? 0) + (y.properties?.size ?? 0) - shared;
  return score + (all === 0 ? 0 : shared / all);
}

function isConstant(node: Node): boolean {
  return node.branches.length === 1 && node.branches[0]?.values?.length === 1;
}

function shape(branch: Branch): JsonValue {
  return [[...(branch.formats ?? [])], [...(branch.patterns ?? [])], branch.integer ?? false];
}
