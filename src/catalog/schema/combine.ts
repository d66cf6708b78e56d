/**
 * Unions and intersections of nodes: `anyOf`, `oneOf`, nullable forms, `allOf`, siblings of `$ref`.
 *
 * Owns: join and meet, and the tidying that makes equal unions equal.
 * Speaks: nodes and branches.
 * Never: keywords of JSON Schema (read.ts).
 */
import { canonicalJson } from "../canonical.js";
import type { JsonValue } from "../../model/json.js";
import { ANY, ANY_SLOT, isAny, isNever, isPlain, kindOf, NEVER_SLOT, PLAIN } from "./node.js";
import type { Bound, Bounds, Branch, Kind, Node, Opaque, Slot } from "./node.js";

/** A union with more branches than this is not multiplied out. */
export const BRANCH_LIMIT = 64;

/** Intersects two places lazily; given by the reader, which remembers pairs so that recursion ends. */
export type MeetSlots = (a: Slot, b: Slot) => Slot;

/**
 * The union of nodes. A default of a member moves to its branches, and up again where one branch remains. A `oneOf` inside an `anyOf`
 * keeps its meaning beside null alone; beside anything else it counts as `anyOf`, which differs only for values of two branches.
 */
export function joinNodes(all: readonly Node[], oneOf: boolean): Node {
  const members = all.filter((member) => !isNever(member));
  const first = members[0] ?? all[0];
  if (members.length < 2 && first !== undefined) return first;
  const branches: Branch[] = [];
  for (const member of members) {
    for (const branch of member.branches) {
      const inherits = member.fallback !== undefined && branch.kind !== "null" && branch.fallback === undefined;
      branches.push(inherits ? { ...branch, fallback: member.fallback } : branch);
    }
  }
  const apart = members.filter((member) => member.branches.some((branch) => branch.kind !== "null"));
  return makeNode(tidy(branches), oneOf || (apart.length === 1 && apart[0]?.oneOf === true), undefined, undefined);
}

/** A node whose only non-null branch has a default carries it itself. */
export function makeNode(
  branches: readonly Branch[],
  oneOf: boolean,
  fallback: JsonValue | undefined,
  text: string | undefined,
): Node {
  let only: Branch | undefined;
  let others = 0;
  for (const branch of branches) {
    if (branch.kind === "null") continue;
    others += 1;
    only = branch;
  }
  // A default of what takes nothing says nothing.
  if (branches.length === 0) return { branches, oneOf: false, fallback: undefined, text };
  if (others !== 1 || only?.fallback === undefined) return { branches, oneOf: oneOf && others > 1, fallback, text };
  const { fallback: lifted, ...bare } = only;
  const plain = branches.map((branch) => (branch === only ? bare : branch));
  return { branches: plain, oneOf: false, fallback: fallback === undefined ? lifted : fallback, text };
}

/** The intersection of two nodes; undefined where multiplying out would pass BRANCH_LIMIT. */
export function meetNodes(a: Node, b: Node, meetSlots: MeetSlots): Node | undefined {
  const fallback = a.fallback === undefined ? b.fallback : a.fallback;
  const text = a.text ?? b.text;
  if (isAny(a) && !isNever(b)) return withNotes(b, fallback, text);
  if (isAny(b) && !isNever(a)) return withNotes(a, fallback, text);
  const branches: Branch[] = [];
  for (const x of a.branches) {
    for (const y of b.branches) {
      const both = meetBranches(x, y, meetSlots);
      if (both !== undefined) branches.push(both);
      if (branches.length > BRANCH_LIMIT) return undefined;
    }
  }
  return makeNode(tidy(branches), a.oneOf || b.oneOf, fallback, text);
}

/** The node itself where nothing moves: identity is what ends walks over recursive schemas. */
function withNotes(node: Node, fallback: JsonValue | undefined, text: string | undefined): Node {
  return node.fallback === fallback && node.text === text ? node : { ...node, fallback, text };
}

function meetBranches(x: Branch, y: Branch, meetSlots: MeetSlots): Branch | undefined {
  if (x === y || isPlainOf(y, x.kind)) return x;
  if (isPlainOf(x, y.kind)) return y;
  if (x.kind === "values" || y.kind === "values") return meetValues(x, y);
  if (x.kind !== y.kind) return undefined;
  const properties = meetProperties(x, y, meetSlots);
  return {
    ...x,
    ...y,
    ...given("bounds", meetBounds(x.bounds, y.bounds)),
    ...given("patterns", mergeSorted(x.patterns, y.patterns)),
    ...given("formats", mergeSorted(x.formats, y.formats)),
    ...given("required", mergeSorted(x.required, y.required)),
    ...given("opaque", x.opaque && y.opaque ? mergeOpaque(x.opaque, y.opaque) : (x.opaque ?? y.opaque)),
    ...given("properties", properties),
    ...given("additional", meetOptional(x.additional, y.additional, meetSlots)),
    ...given("patternProperties", meetMaps(x.patternProperties, y.patternProperties, meetSlots)),
    ...given("names", meetOptional(x.names, y.names, meetSlots)),
    ...given("prefix", meetPrefixes(x, y, meetSlots)),
    ...given("items", meetOptional(x.items, y.items, meetSlots)),
    ...given("fallback", x.fallback === undefined ? y.fallback : x.fallback),
  };
}

function isPlainOf(branch: Branch, kind: Branch["kind"]): boolean {
  return branch.kind === kind && isPlain(branch);
}

function given<Key extends keyof Branch>(key: Key, value: Branch[Key] | undefined): Partial<Branch> {
  return value === undefined ? {} : ({ [key]: value } as Partial<Branch>);
}

function meetValues(x: Branch, y: Branch): Branch | undefined {
  const listed = x.kind === "values" ? x : y;
  const other = listed === x ? y : x;
  const allowed = other.kind === "values" ? new Set((other.values ?? []).map(canonicalJson)) : undefined;
  const values = (listed.values ?? []).filter((value) =>
    allowed === undefined ? admits(other, value) : allowed.has(canonicalJson(value)),
  );
  if (values.length === 0) return undefined;
  return {
    ...listed,
    values,
    ...given("patterns", mergeSorted(x.patterns, y.patterns)),
    ...given("opaque", x.opaque && y.opaque ? mergeOpaque(x.opaque, y.opaque) : (x.opaque ?? y.opaque)),
    ...given("fallback", x.fallback === undefined ? y.fallback : x.fallback),
  };
}

/** True unless the value breaks the branch's kind or a limit on scalars. Patterns and what is inside are not looked at. */
export function admits(branch: Branch, value: JsonValue): boolean {
  if (branch.kind === "values") return true;
  if (kindOf(value) !== branch.kind) return false;
  if (typeof value === "number" && branch.integer && !Number.isInteger(value)) return false;
  const bounds = branch.bounds;
  if (bounds === undefined) return true;
  if (typeof value === "number") return numberFits(bounds, value);
  if (typeof value === "string") return sizeFits(bounds.minLength, bounds.maxLength, codePoints(value));
  if (Array.isArray(value)) return sizeFits(bounds.minItems, bounds.maxItems, value.length);
  if (typeof value === "object" && value !== null)
    return sizeFits(bounds.minProperties, bounds.maxProperties, Object.keys(value).length);
  return true;
}

function numberFits(bounds: Bounds, value: number): boolean {
  if (bounds.minimum !== undefined && value < bounds.minimum) return false;
  if (bounds.exclusiveMinimum !== undefined && value <= bounds.exclusiveMinimum) return false;
  if (bounds.maximum !== undefined && value > bounds.maximum) return false;
  if (bounds.exclusiveMaximum !== undefined && value >= bounds.exclusiveMaximum) return false;
  if (bounds.multipleOf === undefined || bounds.multipleOf <= 0) return true;
  const times = value / bounds.multipleOf;
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times));
}

function sizeFits(least: number | undefined, most: number | undefined, size: number): boolean {
  return (least === undefined || size >= least) && (most === undefined || size <= most);
}

/** Length in code points, as JSON Schema counts. */
function codePoints(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0xdc00 || unit > 0xdfff) count += 1;
  }
  return count;
}

const LOWER: ReadonlySet<Bound> = new Set(["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"]);

function meetBounds(a: Bounds | undefined, b: Bounds | undefined): Bounds | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const both: Partial<Record<Bound, number>> = { ...a };
  for (const [name, value] of Object.entries(b) as [Bound, number][]) {
    const other = both[name];
    if (other === undefined) both[name] = value;
    else if (name === "multipleOf") both[name] = leastCommonMultiple(other, value);
    else both[name] = LOWER.has(name) ? Math.max(other, value) : Math.min(other, value);
  }
  return strongerBounds(both);
}

/** Of `minimum` and `exclusiveMinimum` (and their upper twins) only the stronger one stays. */
export function strongerBounds(bounds: Bounds): Bounds {
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = bounds;
  let left: Bounds = bounds;
  if (minimum !== undefined && exclusiveMinimum !== undefined) {
    const { minimum: _a, exclusiveMinimum: _b, ...others } = left;
    left = exclusiveMinimum >= minimum ? { ...others, exclusiveMinimum } : { ...others, minimum };
  }
  if (maximum !== undefined && exclusiveMaximum !== undefined) {
    const { maximum: _a, exclusiveMaximum: _b, ...others } = left;
    left = exclusiveMaximum <= maximum ? { ...others, exclusiveMaximum } : { ...others, maximum };
  }
  return left;
}

function leastCommonMultiple(a: number, b: number): number {
  if (!Number.isInteger(a) || !Number.isInteger(b)) return Math.max(a, b);
  let x = a;
  let y = b;
  while (y !== 0) [x, y] = [y, x % y];
  return (a / x) * b;
}

function mergeSorted(a: readonly string[] | undefined, b: readonly string[] | undefined): readonly string[] | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return [...new Set([...a, ...b])].sort();
}

function mergeOpaque(a: readonly Opaque[], b: readonly Opaque[]): readonly Opaque[] {
  return [...new Set([...a, ...b])];
}

function meetOptional(a: Slot | undefined, b: Slot | undefined, meetSlots: MeetSlots): Slot | undefined {
  if (a === undefined || b === undefined || a === b) return a ?? b;
  return meetSlots(a, b);
}

function meetMaps(
  a: ReadonlyMap<string, Slot> | undefined,
  b: ReadonlyMap<string, Slot> | undefined,
  meetSlots: MeetSlots,
): ReadonlyMap<string, Slot> | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const both = new Map(a);
  for (const [key, slot] of b) {
    const other = both.get(key);
    both.set(key, other === undefined || other === slot ? slot : meetSlots(other, slot));
  }
  return both;
}

/** A property that one side declares and the other only lets through meets the other's `additionalProperties`. */
function meetProperties(x: Branch, y: Branch, meetSlots: MeetSlots): ReadonlyMap<string, Slot> | undefined {
  const both = meetMaps(x.properties, y.properties, meetSlots);
  if (both === undefined || (x.additional === undefined && y.additional === undefined)) return both;
  const out = new Map(both);
  for (const [key, slot] of both) {
    const inX = x.properties?.has(key) ?? false;
    const inY = y.properties?.has(key) ?? false;
    const extra = inX && inY ? undefined : inX ? y.additional : x.additional;
    if (extra !== undefined) out.set(key, extra === NEVER_SLOT ? NEVER_SLOT : meetSlots(slot, extra));
  }
  return out;
}

function meetPrefixes(x: Branch, y: Branch, meetSlots: MeetSlots): readonly Slot[] | undefined {
  if (x.prefix === undefined && y.prefix === undefined) return undefined;
  const length = Math.max(x.prefix?.length ?? 0, y.prefix?.length ?? 0);
  const out: Slot[] = [];
  for (let index = 0; index < length; index += 1) {
    out.push(meetOptional(x.prefix?.[index] ?? x.items, y.prefix?.[index] ?? y.items, meetSlots) ?? ANY_SLOT);
  }
  return out;
}

/**
 * Equal unions in one form: listed nulls and both booleans are kinds; listed values are one branch; a branch that accepts a whole
 * kind swallows what else is said of that kind.
 */
export function tidy(branches: readonly Branch[]): readonly Branch[] {
  if (branches.length < 2 && branches[0]?.kind !== "values") return branches;
  const plain = new Set<Kind>();
  const values = new Map<string, JsonValue>();
  const listedApart: Branch[] = [];
  const rest: Branch[] = [];
  for (const branch of branches) {
    if (branch.kind !== "values") {
      if (isPlain(branch)) plain.add(branch.kind);
      else rest.push(branch);
    } else if (branch.patterns ?? branch.opaque ?? branch.fallback !== undefined) listedApart.push(branch);
    else for (const value of branch.values ?? []) values.set(canonicalJson(value), value);
  }
  if (values.delete("null")) plain.add("null");
  if (plain.has("boolean") || (values.has("true") && values.has("false"))) {
    values.delete("true");
    values.delete("false");
    plain.add("boolean");
  }
  if (plain.size + values.size + listedApart.length === 0) return dedupe(rest);
  const out: Branch[] = [...plain].map((kind) => PLAIN[kind]);
  const left = [...values].filter(([, value]) => !plain.has(kindOf(value)));
  if (left.length > 0) {
    left.sort(([a], [b]) => (a < b ? -1 : 1));
    out.push({ kind: "values", values: left.map(([, value]) => value) });
  }
  out.push(...listedApart.filter((branch) => !(branch.values ?? []).every((value) => plain.has(kindOf(value)))));
  out.push(...rest.filter((branch) => branch.kind === "values" || !plain.has(branch.kind)));
  if (out.length === ANY.branches.length && out.every(isPlain)) return ANY.branches;
  return dedupe(out);
}

function dedupe(branches: readonly Branch[]): readonly Branch[] {
  return new Set(branches).size === branches.length ? branches : [...new Set(branches)];
}

/** True where no value can be in both: different kinds, disjoint lists, or objects told apart by a required member. */
export function areDisjoint(x: Branch, y: Branch): boolean {
  if (x.kind === "values" && y.kind === "values") {
    const listed = new Set((x.values ?? []).map(canonicalJson));
    return !(y.values ?? []).some((value) => listed.has(canonicalJson(value)));
  }
  if (x.kind === "values") return !(x.values ?? []).some((value) => admits(y, value));
  if (y.kind === "values") return areDisjoint(y, x);
  if (x.kind !== y.kind) return true;
  return x.kind === "object" && (toldApart(x, y) || toldApart(y, x));
}

function toldApart(x: Branch, y: Branch): boolean {
  for (const key of x.required ?? []) {
    const there = y.properties?.get(key);
    if (there === undefined) {
      if (y.patternProperties === undefined && y.additional !== undefined && isNever(y.additional.force())) return true;
      continue;
    }
    const here = x.properties?.get(key);
    const listed = here?.force().branches ?? [];
    const listedThere = there.force().branches;
    if (here === undefined || (listed.length === 0 && listedThere.length === 0)) continue;
    if (listed.every((a) => listedThere.every((b) => (a.kind !== "object" || b.kind !== "object") && areDisjoint(a, b))))
      return true;
  }
  return false;
}

/** Branches that are laid side by side; of more, some are taken to share a value. */
const EXCLUSIVE_LIMIT = 256;

/** True where `oneOf` says more than `anyOf`: two branches may share a value. Decided when asked, since it looks into properties. */
export function isExclusive(node: Node): boolean {
  if (!node.oneOf) return false;
  if (node.branches.length > EXCLUSIVE_LIMIT) return true;
  for (let i = 0; i < node.branches.length; i += 1) {
    for (let j = i + 1; j < node.branches.length; j += 1) {
      const x = node.branches[i];
      const y = node.branches[j];
      if (x !== undefined && y !== undefined && !areDisjoint(x, y)) return true;
    }
  }
  return false;
}
