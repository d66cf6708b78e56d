/**
 * Two branches of one kind, side by side: limits and items.
 *
 * Owns: what differs inside a kind of value.
 * Speaks: branches in, observations out through the walk.
 * Never: unions (walk.ts), members (objects.ts).
 */
import type { JsonObject } from "../../model/json.js";
import { sameJson } from "./equal.js";
import { ANY, isNever } from "./node.js";
import type { Bound, Bounds, Branch, Node, Opaque, Slot } from "./node.js";
import { observeMembers } from "./objects.js";
import { branchFragment, deeper, fragment, type At, type Shown, type Walk } from "./step.js";

/** `a` and `b` are the unions that the branches stand in: what a recorded value is tested against is the whole of `b`. */
export function observeBranches(walk: Walk, x: Branch, y: Branch, at: At, a: Node, b: Node): void {
  if (!sameJson(x.fallback, y.fallback))
    walk.note(
      { kind: "default-moved" },
      at,
      () => x.fallback,
      () => y.fallback,
    );
  observeLimits(walk, x, y, at, a, b);
  observeOpaque(walk, x.opaque ?? [], y.opaque ?? [], at, x, y);
  if (x.kind === "array" && y.kind === "array") observeItems(walk, x, y, at);
  if (x.kind === "object" && y.kind === "object") observeMembers(walk, x, y, at);
}

/* ── limits ─────────────────────────────────────────────────────────────────────────────────────────────────────────── */

function observeLimits(walk: Walk, x: Branch, y: Branch, at: At, a: Node, b: Node): void {
  const alone = a.branches.length === 1 && b.branches.length === 1;
  const show = (node: Node, part: () => JsonObject): Shown => (alone ? part : () => fragment(node));
  if (x.integer !== y.integer) {
    const kind = y.integer ? "integer-introduced" : "integer-lifted";
    walk.note(
      { kind },
      at,
      show(a, () => numberType(x)),
      show(b, () => numberType(y)),
    );
  }
  for (const [keyword, direction] of compareBounds(x.bounds ?? {}, y.bounds ?? {})) {
    const [before, after] = [show(a, () => pick(x.bounds, keyword)), show(b, () => pick(y.bounds, keyword))];
    if (direction === "loosened") walk.note({ kind: "limit-loosened", keyword }, at, before, after);
    else walk.note({ kind: "limit-tightened", keyword, edge: true, loosenedToo: direction === "both" }, at, before, after);
  }
  if (x.unique !== y.unique) {
    const [before, after] = [
      show(a, () => ({ uniqueItems: x.unique ?? false })),
      show(b, () => ({ uniqueItems: y.unique ?? false })),
    ];
    if (y.unique)
      walk.note({ kind: "limit-tightened", keyword: "uniqueItems", edge: true, loosenedToo: false }, at, before, after);
    else walk.note({ kind: "limit-loosened", keyword: "uniqueItems" }, at, before, after);
  }
  observeSets(x.patterns, y.patterns, (lost, won) => {
    const [before, after] = [show(a, () => patternPart(x)), show(b, () => patternPart(y))];
    if (won) walk.note({ kind: "limit-tightened", keyword: "pattern", edge: false, loosenedToo: lost }, at, before, after);
    else walk.note({ kind: "limit-loosened", keyword: "pattern" }, at, before, after);
  });
  observeSets(x.formats, y.formats, (lost, won) => {
    walk.note(
      { kind: "format-moved", lost, won },
      at,
      () => formatPart(x),
      () => formatPart(y),
    );
  });
}

function observeSets(
  before: readonly string[] | undefined,
  after: readonly string[] | undefined,
  note: (lost: boolean, won: boolean) => void,
): void {
  const lost = (before ?? []).some((text) => !(after ?? []).includes(text));
  const won = (after ?? []).some((text) => !(before ?? []).includes(text));
  if (lost || won) note(lost, won);
}

type Moved = "tightened" | "loosened" | "both";

function* compareBounds(x: Bounds, y: Bounds): Iterable<readonly [Bound, Moved]> {
  yield* compareEnds(x, y, "minimum", "exclusiveMinimum", 1);
  yield* compareEnds(x, y, "maximum", "exclusiveMaximum", -1);
  for (const [bound, sign] of SIZE_BOUNDS) {
    const moved = compareEnd(x[bound], y[bound], sign);
    if (moved !== undefined) yield [bound, moved];
  }
  const [was, is] = [x.multipleOf, y.multipleOf];
  if (was === is) return;
  if (was === undefined) yield ["multipleOf", "tightened"];
  else if (is === undefined || isMultiple(was, is)) yield ["multipleOf", "loosened"];
  else yield ["multipleOf", isMultiple(is, was) ? "tightened" : "both"];
}

const SIZE_BOUNDS: readonly (readonly [Bound, 1 | -1])[] = [
  ["minLength", 1],
  ["maxLength", -1],
  ["minItems", 1],
  ["maxItems", -1],
  ["minProperties", 1],
  ["maxProperties", -1],
];

function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  return Math.abs(times - Math.round(times)) < 1e-9;
}

/** `sign` 1: a lower bound, growing tightens; −1: an upper one. */
function compareEnd(was: number | undefined, is: number | undefined, sign: 1 | -1): Moved | undefined {
  if (was === is) return undefined;
  if (was === undefined) return "tightened";
  if (is === undefined) return "loosened";
  return (is - was) * sign > 0 ? "tightened" : "loosened";
}

/** An end may be inclusive or exclusive; the keyword named is the one that now holds, else the one that held. */
function* compareEnds(x: Bounds, y: Bounds, inclusive: Bound, exclusive: Bound, sign: 1 | -1): Iterable<readonly [Bound, Moved]> {
  const [was, is] = [endOf(x, inclusive, exclusive), endOf(y, inclusive, exclusive)];
  let moved = compareEnd(was?.value, is?.value, sign);
  if (was !== undefined && is !== undefined && was.value === is.value && was.keyword !== is.keyword)
    moved = is.keyword === exclusive ? "tightened" : "loosened";
  if (moved !== undefined) yield [is?.keyword ?? was?.keyword ?? inclusive, moved];
}

function endOf(bounds: Bounds, inclusive: Bound, exclusive: Bound): { value: number; keyword: Bound } | undefined {
  for (const keyword of [exclusive, inclusive]) {
    const value = bounds[keyword];
    if (value !== undefined) return { value, keyword };
  }
  return undefined;
}

function pick(bounds: Bounds | undefined, keyword: Bound): JsonObject {
  const twins: Partial<Record<Bound, Bound>> = {
    minimum: "exclusiveMinimum",
    exclusiveMinimum: "minimum",
    maximum: "exclusiveMaximum",
    exclusiveMaximum: "maximum",
  };
  const twin = twins[keyword];
  const out: JsonObject = {};
  for (const name of twin === undefined ? [keyword] : [keyword, twin]) {
    const value = bounds?.[name];
    if (value !== undefined) out[name] = value;
  }
  return out;
}

function numberType(branch: Branch): JsonObject {
  return { type: branch.integer ? "integer" : "number" };
}

function patternPart(branch: Branch): JsonObject {
  const patterns = branch.patterns ?? [];
  const only = patterns[0];
  if (only === undefined) return {};
  return patterns.length === 1 ? { pattern: only } : { allOf: patterns.map((pattern) => ({ pattern })) };
}

function formatPart(branch: Branch): JsonObject {
  return Object.fromEntries(
    (branch.formats ?? []).map((format) => [format.slice(0, format.indexOf(":")), format.slice(format.indexOf(":") + 1)]),
  );
}

function observeOpaque(walk: Walk, before: readonly Opaque[], after: readonly Opaque[], at: At, x: Branch, y: Branch): void {
  const lost = before.filter((one) => !after.some((other) => walk.equal.opaques(one, other)));
  const won = after.filter((one) => !before.some((other) => walk.equal.opaques(one, other)));
  const keywords = new Set([...lost, ...won].map((one) => one.keyword));
  for (const keyword of [...keywords].sort())
    walk.note(
      { kind: "opaque-moved", keyword },
      at,
      () => branchFragment(x),
      () => branchFragment(y),
    );
}

/* ── arrays ─────────────────────────────────────────────────────────────────────────────────────────────────────────── */

function observeItems(walk: Walk, x: Branch, y: Branch, at: At): void {
  const length = Math.max(x.prefix?.length ?? 0, y.prefix?.length ?? 0);
  for (let index = 0; index < length; index += 1) {
    const [a, b] = [x.prefix?.[index] ?? x.items, y.prefix?.[index] ?? y.items];
    observeElement(walk, a, b, at, `prefixItems/${index}`, index);
  }
  observeElement(walk, x.items, y.items, at, "items", length);
}

/** Items that may not be there at all are a limit on the length, not a change of what items are. */
function observeElement(walk: Walk, a: Slot | undefined, b: Slot | undefined, at: At, token: string, index: number): void {
  const [was, is] = [a?.force() ?? ANY, b?.force() ?? ANY];
  if (isNever(was) === isNever(is)) walk.nodes(was, is, deeper(at, token, `${at.field}[]`));
  else if (isNever(is))
    walk.note(
      { kind: "limit-tightened", keyword: "items", edge: true, loosenedToo: false },
      at,
      () => ({}),
      () => ({ maxItems: index }),
    );
  else
    walk.note(
      { kind: "limit-loosened", keyword: "items" },
      at,
      () => ({ maxItems: index }),
      () => ({}),
    );
}
