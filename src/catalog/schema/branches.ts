/**
 * Two branches of one kind, side by side: limits, members, items.
 *
 * Owns: what differs inside a kind of value.
 * Speaks: branches in, observations out through the walk.
 * Never: unions (walk.ts).
 */
import type { JsonObject, JsonValue } from "../../model/json.js";
import { sameJson } from "./equal.js";
import { ANY, isNever, tellingSlot } from "./node.js";
import type { Bound, Bounds, Branch, Node, Opaque, Slot } from "./node.js";
import type { Extras } from "./observation.js";
import { pointerToken } from "./refs.js";
import { findRenames, type Member } from "./rename.js";
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

/* ── objects ────────────────────────────────────────────────────────────────────────────────────────────────────────── */

function observeMembers(walk: Walk, x: Branch, y: Branch, at: At): void {
  const [before, after] = [membersOf(x), membersOf(y)];
  const removed = [...before.values()].filter((member) => !after.has(member.name));
  const added = [...after.values()].filter((member) => !before.has(member.name));
  const renames = walk.findsRenames ? findRenames(removed, added) : [];
  const renamed = new Map(renames.map(([from, to]) => [from, to]));
  const into = extrasOf(y);
  const over = extrasOf(x);
  for (const member of before.values()) {
    const here = memberAt(at, member.name);
    const kept = after.get(member.name);
    if (kept !== undefined) {
      observeKept(walk, member, kept, here);
      continue;
    }
    const to = renamed.get(member);
    const shown = (): JsonValue => fragment(member.node);
    if (to === undefined)
      walk.note({ kind: "member-removed", required: member.required, into: landing(walk, member, y, into) }, here, shown);
    else walk.note({ kind: "member-renamed", to: to.name, into, required: to.required }, here, shown, () => fragment(to.node));
  }
  const explained = new Set(renames.filter(([from, to]) => from.required || !to.required).map(([, to]) => to));
  for (const member of added) {
    if (explained.has(member)) continue;
    const hasDefault = member.node.fallback !== undefined;
    const here = memberAt(at, member.name);
    const was = isForbidden(x, member.name) ? "closed" : over;
    walk.note({ kind: "member-added", required: member.required, hasDefault, over: was }, here, undefined, () =>
      fragment(member.node),
    );
    // What the key could be before was said by the schema for other keys.
    const extra = x.additional?.force() ?? ANY;
    if (was === "typed") walk.nodes(extra, { ...member.node, fallback: extra.fallback }, here);
  }
  observeForbidden(walk, x, y, at);
  observeExtras(walk, x, y, at, over, into);
  observePatterned(walk, x, y, at);
  observeNames(walk, x, y, at);
}

/** Declared members, and those that are required without being declared. A member that may have no value is as good as undeclared. */
function membersOf(branch: Branch): ReadonlyMap<string, Member> {
  const members = new Map<string, Member>();
  const required = new Set(branch.required ?? []);
  for (const [name, slot] of branch.properties ?? []) {
    const node = slot.force();
    if (!isNever(node) || required.has(name)) members.set(name, { name, node, required: required.has(name) });
  }
  for (const name of required)
    if (!members.has(name)) members.set(name, { name, node: branch.additional?.force() ?? ANY, required: true });
  return members;
}

/** Keys that may have no value although other undeclared keys may: one more or one fewer. Declared ones were removed or added above. */
function observeForbidden(walk: Walk, x: Branch, y: Branch, at: At): void {
  const [before, after] = [forbiddenIn(x), forbiddenIn(y)];
  for (const name of after)
    if (!before.has(name) && !x.properties?.has(name) && extrasOf(x) !== "closed")
      walk.note(
        { kind: "extras-closed", wasMap: extrasOf(x) === "typed" },
        memberAt(at, name),
        () => true,
        () => false,
      );
  for (const name of before)
    if (!after.has(name) && !y.properties?.has(name) && extrasOf(y) !== "closed")
      walk.note(
        { kind: "extras-opened" },
        memberAt(at, name),
        () => false,
        () => true,
      );
}

function forbiddenIn(branch: Branch): ReadonlySet<string> {
  const names = [...(branch.properties ?? [])].filter(([, slot]) => isNever(slot.force())).map(([name]) => name);
  return new Set(names.filter((name) => !(branch.required ?? []).includes(name)));
}

function memberAt(at: At, name: string): At {
  return deeper(at, `properties/${pointerToken(name)}`, at.field === "" ? name : `${at.field}.${name}`);
}

function extraAt(at: At, token: string): At {
  return deeper(at, token, at.field === "" ? "*" : `${at.field}.*`);
}

function observeKept(walk: Walk, before: Member, after: Member, at: At): void {
  if (after.required && !before.required)
    walk.note(
      { kind: "member-required", hasDefault: after.node.fallback !== undefined },
      at,
      () => false,
      () => true,
    );
  if (before.required && !after.required)
    walk.note(
      { kind: "member-optional" },
      at,
      () => true,
      () => false,
    );
  walk.nodes(before.node, after.node, at);
}

function extrasOf(branch: Branch): Extras {
  const additional = tellingSlot(branch.additional);
  if (additional === undefined) return "open";
  return isNever(additional.force()) ? "closed" : "typed";
}

/** A removed member whose values the schema for other keys refuses is refused, whatever that schema lets through. */
function landing(walk: Walk, member: Member, y: Branch, into: Extras): Extras {
  if (isForbidden(y, member.name)) return "closed";
  if (into !== "typed" || y.additional === undefined) return into;
  return walk.covers(y.additional.force(), member.node, "member-removed") === "no" ? "closed" : "typed";
}

/** A key that is declared to have no value at all. */
function isForbidden(branch: Branch, name: string): boolean {
  const declared = branch.properties?.get(name);
  return declared !== undefined && isNever(declared.force());
}

function observeExtras(walk: Walk, x: Branch, y: Branch, at: At, over: Extras, into: Extras): void {
  const here = extraAt(at, "additionalProperties");
  if (over === "typed" && into === "typed") {
    walk.nodes(x.additional?.force() ?? ANY, y.additional?.force() ?? ANY, here);
    return;
  }
  if (over === into) return;
  const [before, after] = [(): JsonValue => extrasPart(x), (): JsonValue => extrasPart(y)];
  const wasMap = over === "typed" || isFreeForm(x, at);
  if (into === "closed" || over === "open") walk.note({ kind: "extras-closed", wasMap }, at, before, after);
  else walk.note({ kind: "extras-opened" }, at, before, after);
}

/** An object inside that declares no key at all is there for whatever keys are sent. One for all parameters says that there are none. */
function isFreeForm(branch: Branch, at: At): boolean {
  return at.field !== "" && (branch.properties?.size ?? 0) === 0;
}

/** As a schema that a recorded object can be tested against, which is what tells whether undeclared keys are sent. */
function extrasPart(branch: Branch): JsonValue {
  const declared = [...membersOf(branch).keys()].sort();
  const properties: JsonObject = Object.fromEntries(declared.map((name) => [name, {}]));
  const extra: JsonValue = branch.additional === undefined ? true : fragment(branch.additional.force());
  return { type: "object", properties, additionalProperties: extra };
}

function observePatterned(walk: Walk, x: Branch, y: Branch, at: At): void {
  const [before, after] = [x.patternProperties ?? new Map<string, Slot>(), y.patternProperties ?? new Map<string, Slot>()];
  let [lost, won] = [false, false];
  for (const [pattern, slot] of before) {
    const other = after.get(pattern);
    if (other === undefined) lost = true;
    else walk.nodes(slot.force(), other.force(), extraAt(at, `patternProperties/${pointerToken(pattern)}`));
  }
  for (const pattern of after.keys()) if (!before.has(pattern)) won = true;
  if (!lost && !won) return;
  const here = extraAt(at, "patternProperties");
  const shown = [(): JsonValue => [...before.keys()].sort(), (): JsonValue => [...after.keys()].sort()] as const;
  // Over an open object a pattern limits keys that were free; over a closed one it lets keys in.
  if ((won && extrasOf(x) !== "closed") || (lost && extrasOf(y) === "closed"))
    walk.note(
      { kind: "limit-tightened", keyword: "patternProperties", edge: true, loosenedToo: lost || extrasOf(x) === "closed" },
      here,
      ...shown,
    );
  else walk.note({ kind: "limit-loosened", keyword: "patternProperties" }, here, ...shown);
}

function observeNames(walk: Walk, x: Branch, y: Branch, at: At): void {
  const [a, b] = [x.names?.force() ?? ANY, y.names?.force() ?? ANY];
  if (walk.equal.nodes(a, b)) return;
  const [narrower, wider] = [walk.covers(b, a, "member-removed") === "no", walk.covers(a, b, "member-removed") === "no"];
  const keyword = "propertyNames";
  const [before, after] = [(): JsonValue => ({ [keyword]: fragment(a) }), (): JsonValue => ({ [keyword]: fragment(b) })];
  if (narrower) walk.note({ kind: "limit-tightened", keyword, edge: false, loosenedToo: wider }, at, before, after);
  else walk.note({ kind: "limit-loosened", keyword }, at, before, after);
}
