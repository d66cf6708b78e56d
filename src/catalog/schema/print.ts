/**
 * Nodes written back as JSON Schema, in one form for equal schemas.
 *
 * Owns: the normal form. Everything that repeats is written out; only a recursive or very large schema keeps `$ref`s, and those point
 * at the first place of their target in the normal form itself, so that it is a valid schema and its own normal form.
 * Speaks: JSON Schema 2020-12.
 * Never: descriptions and other annotations.
 */
import { canonicalJson, sha256 } from "../canonical.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { isExclusive } from "./combine.js";
import { effort, Exhausted, LEVEL_LIMIT, type Effort } from "./effort.js";
import { isAny, isImplied, isNever, KINDS, tellingProperties, tellingSlot } from "./node.js";
import type { Branch, Node, Slot } from "./node.js";
import { pointerToken } from "./refs.js";

/** Places written out at most before repeated ones are referred to. */
const WRITTEN_OUT_LIMIT = 20_000;

/** Characters of a branch's key that count as one step. */
const KEY_CHARACTERS = 100;

/** How a place inside a node is written; `path` = keys from the node to it. */
type WriteSlot = (slot: Slot, path: readonly string[]) => JsonValue;

/** The normal form of the schema at this place. Throws Exhausted. */
export function printSlot(slot: Slot): JsonValue {
  const work = effort();
  return writeTree(slot, WRITTEN_OUT_LIMIT, work).value ?? writeGraph(slot, work);
}

/** The same, unless it would have more than so many places: then undefined, found out without writing it. */
export function printWithin(slot: Slot, places: number): JsonValue | undefined {
  const work = effort();
  try {
    const { value, isLarge } = writeTree(slot, places, work);
    return value ?? (isLarge || reachable(slot, places) === undefined ? undefined : writeGraph(slot, work));
  } catch (error) {
    if (!(error instanceof Exhausted)) throw error;
    return undefined;
  }
}

interface Tree {
  /** undefined: recursive, or too large to be written out. */
  readonly value: JsonValue | undefined;
  readonly isLarge: boolean;
}

function writeTree(root: Slot, limit: number, work: Effort): Tree {
  const open = new Set<Node>();
  let written = 0;
  let [isRecursive, isLarge] = [false, false];
  const write = (slot: Slot): JsonValue => {
    const node = slot.force();
    written += 1;
    if (open.has(node)) isRecursive = true;
    if (written > limit || open.size > LEVEL_LIMIT) isLarge = true;
    if (isRecursive || isLarge) return null;
    open.add(node);
    const value = writeNode(node, write, work);
    open.delete(node);
    return value;
  };
  const value = write(root);
  return { value: isRecursive || isLarge ? undefined : value, isLarge };
}

/**
 * A schema with cycles. Places are put into classes by what they accept (refined until the number of classes stands still, so an
 * unrolled recursion equals a rolled one); the first place of a class is written out, later ones refer to it.
 */
function writeGraph(root: Slot, work: Effort): JsonValue {
  const classes = classify(root, work);
  const classOf = (slot: Slot): string => classes.get(slot.force()) ?? "";
  const first = new Map<string, string>();
  const write = (slot: Slot, pointer: string): JsonValue => {
    const node = slot.force();
    const name = classOf(slot);
    const there = first.get(name);
    if (there !== undefined && hasPlaces(node)) return { $ref: there };
    first.set(name, pointer);
    const inside: WriteSlot = (inner, path) => write(inner, `${pointer}/${path.map(pointerToken).join("/")}`);
    return work.within(() => writeNode(node, inside, work, (branch) => canonicalJson(writeBranch(branch, classOf))));
  };
  return write(root, "#");
}

function classify(root: Slot, work: Effort): ReadonlyMap<Node, string> {
  const nodes = reachable(root) ?? [];
  let labels = new Map<Node, string>(nodes.map((node) => [node, ""]));
  let count = 1;
  for (;;) {
    const previous = labels;
    const labelOf = (slot: Slot): string => previous.get(slot.force()) ?? "";
    const next = new Map<Node, string>();
    work.spend(nodes.length);
    for (const node of nodes) next.set(node, sha256(canonicalJson(writeNode(node, labelOf, work))));
    const seen = new Set(next.values()).size;
    labels = next;
    if (seen === count) return labels;
    count = seen;
  }
}

/** All nodes from here on; undefined where there are more than `most`. */
function reachable(root: Slot, most = Number.POSITIVE_INFINITY): Node[] | undefined {
  const found = new Set<Node>();
  const waiting: Slot[] = [root];
  for (let slot = waiting.pop(); slot !== undefined; slot = waiting.pop()) {
    const node = slot.force();
    if (found.has(node)) continue;
    found.add(node);
    if (found.size > most) return undefined;
    for (const branch of node.branches) for (const inner of slotsOf(branch)) waiting.push(inner);
  }
  return [...found];
}

function* slotsOf(branch: Branch): Iterable<Slot> {
  yield* tellingProperties(branch).values();
  if (branch.patternProperties) yield* branch.patternProperties.values();
  if (branch.prefix) yield* branch.prefix;
  for (const slot of [branch.items, branch.additional, branch.names]) {
    const telling = tellingSlot(slot);
    if (telling) yield telling;
  }
  for (const opaque of branch.opaque ?? []) for (const [, slot] of opaque.slots) yield slot;
}

function hasPlaces(node: Node): boolean {
  return node.branches.some((branch) => !slotsOf(branch)[Symbol.iterator]().next().done);
}

/**
 * One node. Branches are sorted by how they are written; where writing one depends on what was written before, `sortKey` gives the
 * key of a branch instead.
 */
function writeNode(node: Node, write: WriteSlot, work: Effort, sortKey?: (branch: Branch) => string): JsonValue {
  if (isNever(node)) return false;
  const fallback: JsonObject = node.fallback === undefined ? {} : { default: node.fallback };
  if (isAny(node)) return fallback;
  const single = node.branches[0];
  if (node.branches.length === 1 && single !== undefined) return { ...writeBranch(single, write), ...fallback };
  const entries = distinctBranches(node, write, work, sortKey);
  const only = entries[0];
  if (entries.length === 1 && only !== undefined) return { ...(only.written ?? writeBranch(only.branch, write)), ...fallback };
  if (canLeaveTypeOut(entries.map((entry) => entry.branch))) {
    const parts = entries.map((entry) => withoutType(entry.written ?? writeBranch(entry.branch, write)));
    return { ...(Object.assign({}, ...parts) as JsonObject), ...fallback };
  }
  const keyword = isExclusive(node) ? "oneOf" : "anyOf";
  const written = entries.map(
    (entry, index) => entry.written ?? writeBranch(entry.branch, (slot, path) => write(slot, [keyword, String(index), ...path])),
  );
  return { [keyword]: written, ...fallback };
}

interface Entry {
  readonly branch: Branch;
  /** Already written, where that does not depend on its place. */
  readonly written: JsonObject | undefined;
}

/** Each branch once, in the order of its key. */
function distinctBranches(node: Node, write: WriteSlot, work: Effort, sortKey?: (branch: Branch) => string): Entry[] {
  const byKey = new Map<string, Entry>();
  for (const branch of node.branches) {
    const written = sortKey === undefined ? writeBranch(branch, write) : undefined;
    const key = sortKey === undefined ? canonicalJson(written ?? {}) : sortKey(branch);
    // Unions in unions are spelt once on each level.
    work.spend(key.length / KEY_CHARACTERS);
    byKey.set(key, { branch, written });
  }
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

/** All six kinds once: the constraints of each can stand side by side without a type, as they were most likely written. */
function canLeaveTypeOut(branches: readonly Branch[]): boolean {
  if (branches.length !== KINDS.length) return false;
  if (isImplied({ branches, oneOf: false, fallback: undefined, text: undefined })) return true;
  const kinds = new Set(branches.map((branch) => branch.kind));
  if (kinds.size !== KINDS.length || kinds.has("values")) return false;
  const opaque = branches[0]?.opaque;
  return branches.every(
    (branch) => !branch.integer && branch.fallback === undefined && !branch.formats && branch.opaque === opaque,
  );
}

function withoutType({ type, ...rest }: JsonObject): JsonObject {
  return type === "integer" ? { multipleOf: 1, ...rest } : rest;
}

function writeBranch(branch: Branch, write: WriteSlot): JsonObject {
  const out: JsonObject = {};
  if (branch.kind === "values") out["enum"] = [...(branch.values ?? [])];
  else out["type"] = branch.integer ? "integer" : branch.kind;
  if (branch.bounds) Object.assign(out, branch.bounds);
  if (branch.unique) out["uniqueItems"] = true;
  if (branch.kind === "object") writeObject(branch, write, out);
  if (branch.kind === "array") writeArray(branch, write, out);
  const apart = writeApart(branch, write);
  const first = apart[0];
  if (apart.length === 1 && first !== undefined) Object.assign(out, first);
  else if (apart.length > 1) out["allOf"] = apart;
  if (branch.fallback !== undefined) out["default"] = branch.fallback;
  return out;
}

function writeObject(branch: Branch, write: WriteSlot, out: JsonObject): void {
  const properties = tellingProperties(branch);
  if (properties.size > 0) out["properties"] = writeMap(properties, "properties", write);
  if (branch.required) out["required"] = [...branch.required];
  const additional = tellingSlot(branch.additional);
  if (additional) out["additionalProperties"] = write(additional, ["additionalProperties"]);
  if (branch.patternProperties) out["patternProperties"] = writeMap(branch.patternProperties, "patternProperties", write);
  const names = tellingSlot(branch.names);
  if (names) out["propertyNames"] = write(names, ["propertyNames"]);
}

function writeArray(branch: Branch, write: WriteSlot, out: JsonObject): void {
  if (branch.prefix) out["prefixItems"] = branch.prefix.map((slot, index) => write(slot, ["prefixItems", String(index)]));
  const items = tellingSlot(branch.items);
  if (items) out["items"] = write(items, ["items"]);
}

/** Assertions of which there may be several with one keyword: alone they stand in the branch, else each in its own `allOf` member. */
function writeApart(branch: Branch, write: WriteSlot): JsonObject[] {
  const apart: ((path: readonly string[]) => JsonObject)[] = [];
  for (const pattern of branch.patterns ?? []) apart.push(() => ({ pattern }));
  for (const format of branch.formats ?? []) {
    const colon = format.indexOf(":");
    apart.push(() => ({ [format.slice(0, colon)]: format.slice(colon + 1) }));
  }
  for (const opaque of branch.opaque ?? []) {
    apart.push((path) => {
      if (opaque.slots.length === 0) return { [opaque.keyword]: opaque.data };
      const inside: WriteSlot = (slot, inner) => write(slot, [...path, ...inner]);
      return {
        ...(isJsonObject(opaque.data) ? opaque.data : {}),
        ...writeOpaqueSlots(opaque.keyword, opaque.slots, inside),
      };
    });
  }
  if (apart.length < 2) return apart.map((make) => make([]));
  const keys = apart.map((make) => make([]));
  if (areApart(keys)) return [Object.assign({}, ...keys) as JsonObject];
  const byText = new Map(apart.map((make, index) => [canonicalJson(keys[index] ?? null), make]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, make], index) => make(["allOf", String(index)]));
}

/** True where no keyword appears twice, so that all may stand in one object. */
function areApart(parts: readonly JsonObject[]): boolean {
  const seen = new Set<string>();
  for (const part of parts) {
    for (const key of Object.keys(part)) {
      if (seen.has(key)) return false;
      seen.add(key);
    }
  }
  return true;
}

function writeOpaqueSlots(keyword: string, slots: readonly (readonly [string, Slot])[], write: WriteSlot): JsonObject {
  if (keyword === "if") return Object.fromEntries(slots.map(([name, slot]) => [name, write(slot, [name])]));
  if (keyword === "dependentSchemas") return { [keyword]: writeMap(new Map(slots), keyword, write) };
  const [, slot] = slots[0] ?? [];
  return slot === undefined ? {} : { [keyword]: write(slot, [keyword]) };
}

/** `fromEntries` defines members, so that a parameter called `__proto__` is one like any other. */
function writeMap(map: ReadonlyMap<string, Slot>, keyword: string, write: WriteSlot): JsonObject {
  const keys = [...map.keys()].sort();
  const entries: [string, JsonValue][] = [];
  for (const key of keys) {
    const slot = map.get(key);
    if (slot !== undefined) entries.push([key, write(slot, [keyword, key])]);
  }
  return Object.fromEntries(entries);
}
