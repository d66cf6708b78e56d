/**
 * The keywords of one schema object, read into branches: one per kind of value it accepts.
 *
 * Owns: what each assertion keyword says, in the drafts from 04 to 2020-12, and which values of keywords are nonsense.
 * Speaks: JSON Schema keywords.
 * Never: references, unions and intersections (read.ts puts those together).
 */
import { canonicalJson } from "../canonical.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { admits, strongerBounds, tidy } from "./combine.js";
import { ANY, ANY_SLOT, KINDS, NEVER_SLOT, PLAIN } from "./node.js";
import type { Bound, Bounds, Branch, Kind, Opaque, Slot } from "./node.js";

/** Keywords that say something about which values are accepted. All others are annotations, and no part of a contract. */
const ASSERTIONS: ReadonlySet<string> = new Set(
  (
    "$ref $dynamicRef $recursiveRef type enum const nullable allOf anyOf oneOf not if then else " +
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern format contentEncoding " +
    "contentMediaType contentSchema items prefixItems additionalItems contains minContains maxContains minItems maxItems " +
    "uniqueItems unevaluatedItems properties required additionalProperties patternProperties propertyNames minProperties " +
    "maxProperties dependencies dependentRequired dependentSchemas unevaluatedProperties default"
  ).split(" "),
);

/** True where the schema object accepts everything by its own keywords alone (descriptions and the like do not count). */
export function saysNothing(schema: JsonValue): boolean {
  if (schema === true) return true;
  if (!isJsonObject(schema)) return false;
  for (const key of Object.keys(schema)) if (ASSERTIONS.has(key)) return false;
  return true;
}

/** Gives the place of a schema that stands inside another. */
export type SlotOf = (schema: JsonValue) => Slot;

const TYPE_NAMES: Readonly<Record<string, Kind>> = {
  array: "array",
  boolean: "boolean",
  integer: "number",
  null: "null",
  number: "number",
  object: "object",
  string: "string",
};

/** What the object's own keywords accept, combinators and references left aside. */
export function readKeywords(schema: JsonObject, slotOf: SlotOf): readonly Branch[] {
  const type = readType(schema["type"]);
  const listed = readListed(schema);
  if (type === undefined && listed === undefined && saysNothing(schema)) return ANY.branches;
  const everywhere = readAnywhere(schema, slotOf, type?.unknown);
  const kinds = type?.kinds ?? KINDS;
  const branches: Branch[] = [];
  for (const kind of kinds) branches.push(readKind(kind, schema, slotOf, everywhere, type));
  if (listed !== undefined) return tidy(keepListed(listed, branches));
  return branches.length === ANY.branches.length ? tidy(branches) : branches;
}

interface TypeWord {
  readonly kinds: readonly Kind[];
  readonly integer: boolean;
  /** Names that no draft knows: kept to be compared, never understood. */
  readonly unknown: readonly string[];
}

function readType(type: JsonValue | undefined): TypeWord | undefined {
  if (type === undefined || type === null) return undefined;
  const names = (Array.isArray(type) ? type : [type]).filter((name): name is string => typeof name === "string");
  if (names.length === 0) return undefined;
  const known = names.filter((name) => Object.hasOwn(TYPE_NAMES, name));
  const unknown = names.filter((name) => !Object.hasOwn(TYPE_NAMES, name)).sort();
  const kinds = unknown.length > 0 ? new Set(KINDS) : new Set(known.map((name) => TYPE_NAMES[name] ?? "object"));
  return {
    kinds: KINDS.filter((kind) => kinds.has(kind)),
    integer: unknown.length === 0 && known.includes("integer") && !known.includes("number"),
    unknown,
  };
}

/** `enum` and `const`; both together are their intersection. */
function readListed(schema: JsonObject): readonly JsonValue[] | undefined {
  const listed = Array.isArray(schema["enum"]) ? schema["enum"] : undefined;
  const constant: JsonValue | undefined = schema["const"];
  if (constant === undefined) return listed;
  if (listed === undefined) return [constant];
  const text = canonicalJson(constant);
  return listed.filter((value) => canonicalJson(value) === text);
}

function keepListed(values: readonly JsonValue[], branches: readonly Branch[]): Branch[] {
  const groups = new Map<string, { values: Map<string, JsonValue>; beside: Partial<Branch> }>();
  for (const value of values) {
    const branch = branches.find((candidate) => admits(candidate, value));
    if (branch === undefined) continue;
    // A pattern is not run here: it stays beside the values it may refuse.
    const beside: Partial<Branch> = {
      ...(branch.patterns === undefined ? {} : { patterns: branch.patterns }),
      ...(branch.opaque === undefined ? {} : { opaque: branch.opaque }),
    };
    const name = Object.keys(beside).length === 0 ? "" : branch.kind;
    const group = groups.get(name) ?? { values: new Map<string, JsonValue>(), beside };
    groups.set(name, group);
    group.values.set(canonicalJson(value), value);
  }
  return [...groups.values()].map((group) => ({
    kind: "values",
    values: [...group.values].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value),
    ...group.beside,
  }));
}

function readKind(
  kind: Kind,
  schema: JsonObject,
  slotOf: SlotOf,
  everywhere: readonly Opaque[],
  type: TypeWord | undefined,
): Branch {
  const typed = type !== undefined;
  let said: Partial<Branch>;
  switch (kind) {
    case "string":
      said = readString(schema, typed);
      break;
    case "number":
      said = readNumber(schema, type?.integer ?? false, typed);
      break;
    case "array":
      said = readArray(schema, slotOf);
      break;
    case "object":
      said = readObject(schema, slotOf);
      break;
    default:
      said = {};
  }
  const opaque = everywhere.length === 0 ? said.opaque : said.opaque === undefined ? everywhere : [...everywhere, ...said.opaque];
  if (opaque === undefined && Object.keys(said).length === 0) return PLAIN[kind];
  return opaque === undefined ? { kind, ...said } : { kind, ...said, opaque };
}

function readString(schema: JsonObject, typed: boolean): Partial<Branch> {
  const said: { -readonly [Key in keyof Branch]?: Branch[Key] } = {};
  const bounds = readBounds(schema, ["minLength", "maxLength"]);
  if (bounds !== undefined) said.bounds = bounds;
  if (typeof schema["pattern"] === "string") said.patterns = [schema["pattern"]];
  const formats: string[] = [];
  for (const keyword of ["contentEncoding", "contentMediaType", "format"]) {
    const value = schema[keyword];
    // Number formats without a type speak of numbers.
    if (typeof value === "string" && (typed || !/^u?int\d+$|^float$|^double$/.test(value))) formats.push(`${keyword}:${value}`);
  }
  if (formats.length > 0) said.formats = formats;
  return said;
}

function readNumber(schema: JsonObject, integer: boolean, typed: boolean): Partial<Branch> {
  const said: { -readonly [Key in keyof Branch]?: Branch[Key] } = {};
  let bounds: Partial<Record<Bound, number>> = {};
  for (const [bound, exclusive] of [
    ["minimum", "exclusiveMinimum"],
    ["maximum", "exclusiveMaximum"],
  ] as const) {
    const limit = schema[bound];
    const beyond = schema[exclusive];
    // draft-04 marks the limit itself as exclusive.
    if (typeof limit === "number") bounds[beyond === true ? exclusive : bound] = limit;
    if (typeof beyond === "number") bounds[exclusive] = beyond;
  }
  const step = schema["multipleOf"];
  if (typeof step === "number" && step > 0) bounds.multipleOf = step;
  bounds = { ...strongerBounds(bounds) };
  const whole = integer || (bounds.multipleOf !== undefined && Number.isInteger(bounds.multipleOf));
  if (whole) {
    said.integer = true;
    bounds = wholeBounds(bounds);
  }
  if (Object.keys(bounds).length > 0) said.bounds = bounds;
  if (typed && typeof schema["format"] === "string") said.formats = [`format:${schema["format"]}`];
  return said;
}

/** For whole numbers every limit is inclusive, and limits at the edge of what a double can count say nothing. */
function wholeBounds(bounds: Bounds): Partial<Record<Bound, number>> {
  const out: Partial<Record<Bound, number>> = {};
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf } = bounds;
  const least =
    exclusiveMinimum !== undefined ? Math.floor(exclusiveMinimum) + 1 : minimum === undefined ? undefined : Math.ceil(minimum);
  const most =
    exclusiveMaximum !== undefined ? Math.ceil(exclusiveMaximum) - 1 : maximum === undefined ? undefined : Math.floor(maximum);
  if (least !== undefined && least > -Number.MAX_SAFE_INTEGER) out.minimum = least + 0;
  if (most !== undefined && most < Number.MAX_SAFE_INTEGER) out.maximum = most + 0;
  if (multipleOf !== undefined && multipleOf !== 1) out.multipleOf = multipleOf;
  return out;
}

function readArray(schema: JsonObject, slotOf: SlotOf): Partial<Branch> {
  const said: { -readonly [Key in keyof Branch]?: Branch[Key] } = {};
  const bounds = readBounds(schema, ["minItems", "maxItems"]);
  if (bounds !== undefined) said.bounds = bounds;
  if (schema["uniqueItems"] === true) said.unique = true;
  const items: JsonValue | undefined = schema["items"];
  const tuple: JsonValue | undefined = Array.isArray(items) ? items : schema["prefixItems"];
  const rest: JsonValue | undefined = Array.isArray(items) ? schema["additionalItems"] : items;
  if (Array.isArray(tuple) && tuple.length > 0) said.prefix = tuple.map(slotOf);
  if (isSchema(rest) && !saysNothing(rest)) said.items = slotOf(rest);
  const opaque: Opaque[] = [];
  if (isSchema(schema["contains"])) {
    const counts: JsonObject = {};
    for (const name of ["minContains", "maxContains"]) if (typeof schema[name] === "number") counts[name] = schema[name];
    opaque.push({ keyword: "contains", slots: [["", slotOf(schema["contains"])]], data: counts });
  }
  noteSchema("unevaluatedItems", schema, slotOf, opaque);
  if (opaque.length > 0) said.opaque = opaque;
  return said;
}

function readObject(schema: JsonObject, slotOf: SlotOf): Partial<Branch> {
  const said: { -readonly [Key in keyof Branch]?: Branch[Key] } = {};
  const bounds = readBounds(schema, ["minProperties", "maxProperties"]);
  if (bounds !== undefined) said.bounds = bounds;
  const properties = readMap(schema["properties"], slotOf);
  if (properties !== undefined) said.properties = properties;
  const required = schema["required"];
  if (Array.isArray(required)) {
    const names = required.filter((name): name is string => typeof name === "string");
    if (names.length > 0) said.required = [...new Set(names)].sort();
  }
  const extra = schema["additionalProperties"];
  if (extra === false) said.additional = NEVER_SLOT;
  else if (isSchema(extra) && !saysNothing(extra)) said.additional = slotOf(extra);
  const patterned = readMap(schema["patternProperties"], slotOf);
  if (patterned !== undefined) said.patternProperties = patterned;
  const names = schema["propertyNames"];
  if (isSchema(names) && !acceptsAllNames(names)) said.names = slotOf(names);
  const opaque = readDependencies(schema, slotOf);
  noteSchema("unevaluatedProperties", schema, slotOf, opaque);
  if (opaque.length > 0) said.opaque = opaque;
  return said;
}

function acceptsAllNames(schema: JsonValue): boolean {
  if (saysNothing(schema)) return true;
  if (!isJsonObject(schema)) return false;
  const { type, ...others } = schema;
  return type === "string" && saysNothing(others);
}

/** `dependencies` of the older drafts are `dependentRequired` or `dependentSchemas`. */
function readDependencies(schema: JsonObject, slotOf: SlotOf): Opaque[] {
  const required: [string, JsonValue][] = [];
  const schemas: [string, Slot][] = [];
  for (const keyword of ["dependencies", "dependentRequired", "dependentSchemas"]) {
    const map = schema[keyword];
    if (!isJsonObject(map)) continue;
    for (const [key, value] of Object.entries(map)) {
      if (Array.isArray(value)) {
        const names = value.filter((name): name is string => typeof name === "string");
        if (names.length > 0) required.push([key, [...new Set(names)].sort()]);
      } else if (isSchema(value) && !saysNothing(value)) schemas.push([key, slotOf(value)]);
    }
  }
  const out: Opaque[] = [];
  if (required.length > 0) out.push({ keyword: "dependentRequired", slots: [], data: Object.fromEntries(required) });
  if (schemas.length > 0) out.push({ keyword: "dependentSchemas", slots: sortPairs(schemas), data: null });
  return out;
}

/** Assertions that bear on values of every kind. */
function readAnywhere(schema: JsonObject, slotOf: SlotOf, unknownTypes: readonly string[] | undefined): Opaque[] {
  const out: Opaque[] = [];
  if (unknownTypes !== undefined && unknownTypes.length > 0) out.push({ keyword: "type", slots: [], data: [...unknownTypes] });
  const not = schema["not"];
  if (isSchema(not) && not !== false && !saysNothing(not)) out.push({ keyword: "not", slots: [["", slotOf(not)]], data: null });
  if (isSchema(schema["if"])) {
    const parts: [string, Slot][] = [["if", slotOf(schema["if"])]];
    for (const name of ["then", "else"] as const) {
      const part = schema[name];
      if (isSchema(part) && !saysNothing(part)) parts.push([name, slotOf(part)]);
    }
    if (parts.length > 1) out.push({ keyword: "if", slots: parts, data: null });
  }
  return out;
}

function noteSchema(keyword: string, schema: JsonObject, slotOf: SlotOf, out: Opaque[]): void {
  const value = schema[keyword];
  if (isSchema(value) && !saysNothing(value)) out.push({ keyword, slots: [["", slotOf(value)]], data: null });
}

/** A whole-number limit; zero as a lower one says nothing. */
function readBounds(schema: JsonObject, names: readonly [Bound, Bound]): Bounds | undefined {
  const [least, most] = [schema[names[0]], schema[names[1]]];
  const bounds: Partial<Record<Bound, number>> = {};
  if (typeof least === "number" && least > 0) bounds[names[0]] = least;
  if (typeof most === "number") bounds[names[1]] = most;
  return Object.keys(bounds).length > 0 ? bounds : undefined;
}

function readMap(map: JsonValue | undefined, slotOf: SlotOf): ReadonlyMap<string, Slot> | undefined {
  if (!isJsonObject(map)) return undefined;
  const keys = Object.keys(map);
  if (keys.length === 0) return undefined;
  const out = new Map<string, Slot>();
  for (const key of keys) {
    const value = map[key];
    out.set(key, isSchema(value) ? slotOf(value) : ANY_SLOT);
  }
  return out;
}

function sortPairs(pairs: [string, Slot][]): [string, Slot][] {
  return pairs.sort(([a], [b]) => (a < b ? -1 : 1));
}

function isSchema(value: JsonValue | undefined): value is JsonObject | boolean {
  return typeof value === "boolean" || isJsonObject(value);
}
