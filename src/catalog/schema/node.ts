/**
 * A schema as a set of values: the shape behind digests, differences and validation.
 *
 * Owns: `Node` (a union of branches), `Branch` (one kind of value and its constraints), `Slot` (a place where a schema stands).
 * Speaks: kinds of JSON values; nothing of JSON Schema's spelling.
 * Never: reading a schema (read.ts), printing one (print.ts).
 *
 *   Slot ──force()──▶ Node ──branches──▶ Branch ──properties, items, …──▶ Slot
 *
 * Slots are lazy, so a recursive schema is a finite graph with cycles. Every walk over it is coinductive: what is being looked at
 * already counts as done.
 */
import type { JsonValue } from "../../model/json.js";

/** What a branch may hold: all values of one kind, or listed values (never null, never both booleans: those are kinds). */
export type Kind = "array" | "boolean" | "null" | "number" | "object" | "string";
export const KINDS: readonly Kind[] = ["array", "boolean", "null", "number", "object", "string"];

/** Numeric limits, each with the kind of value it speaks of. */
export type Bound =
  | "minimum"
  | "exclusiveMinimum"
  | "maximum"
  | "exclusiveMaximum"
  | "multipleOf"
  | "minLength"
  | "maxLength"
  | "minItems"
  | "maxItems"
  | "minProperties"
  | "maxProperties";
export type Bounds = Readonly<Partial<Record<Bound, number>>>;

/** An assertion that is kept and compared but not reasoned about: `not`, `if`, `contains`, a reference that leads nowhere. */
export interface Opaque {
  readonly keyword: string;
  /** Schemas inside, by where they stand under the keyword. */
  readonly slots: readonly (readonly [string, Slot])[];
  readonly data: JsonValue;
}

/** Absent members constrain nothing. */
export interface Branch {
  readonly kind: Kind | "values";
  /** Only with kind `values`: in canonical order, without duplicates. */
  readonly values?: readonly JsonValue[];
  readonly integer?: true;
  readonly bounds?: Bounds;
  readonly unique?: true;
  readonly patterns?: readonly string[];
  /** `format:uuid`, `contentEncoding:base64`, …, sorted. */
  readonly formats?: readonly string[];
  readonly prefix?: readonly Slot[];
  readonly items?: Slot;
  readonly properties?: ReadonlyMap<string, Slot>;
  /** Sorted. */
  readonly required?: readonly string[];
  readonly additional?: Slot;
  readonly patternProperties?: ReadonlyMap<string, Slot>;
  /** What every property name must be. */
  readonly names?: Slot;
  readonly opaque?: readonly Opaque[];
  readonly fallback?: JsonValue;
}

export interface Node {
  /** Empty: nothing is accepted. */
  readonly branches: readonly Branch[];
  /** Written as `oneOf`: a value of two branches is accepted by neither. */
  readonly oneOf: boolean;
  /** The default. */
  readonly fallback: JsonValue | undefined;
  /** Its description, for recognising renamed parameters; no part of the contract. */
  readonly text: string | undefined;
}

/** A place in a schema where a schema stands. */
export interface Slot {
  readonly id: number;
  force(): Node;
}

/** The branch of each kind that constrains nothing. */
export const PLAIN: Readonly<Record<Kind, Branch>> = Object.freeze({
  array: Object.freeze({ kind: "array" }),
  boolean: Object.freeze({ kind: "boolean" }),
  null: Object.freeze({ kind: "null" }),
  number: Object.freeze({ kind: "number" }),
  object: Object.freeze({ kind: "object" }),
  string: Object.freeze({ kind: "string" }),
});

const ALL_PLAIN: readonly Branch[] = Object.freeze(KINDS.map((kind) => PLAIN[kind]));

export const ANY: Node = Object.freeze({ branches: ALL_PLAIN, oneOf: false, fallback: undefined, text: undefined });
export const NEVER: Node = Object.freeze({ branches: Object.freeze([]), oneOf: false, fallback: undefined, text: undefined });
export const ANY_SLOT: Slot = Object.freeze({ id: 1, force: () => ANY });
export const NEVER_SLOT: Slot = Object.freeze({ id: 2, force: () => NEVER });

/** True where the branch accepts every value of its kind. */
export function isPlain(branch: Branch): boolean {
  return branch.kind !== "values" && (branch === PLAIN[branch.kind] || Object.keys(branch).length === 1);
}

export function isAny(node: Node): boolean {
  return node.branches === ALL_PLAIN || (node.branches.length === KINDS.length && node.branches.every(isPlain));
}

export function isNever(node: Node): boolean {
  return node.branches.length === 0;
}

/** The kind of a JSON value. */
export function kindOf(value: JsonValue): Kind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  switch (typeof value) {
    case "boolean":
      return "boolean";
    case "number":
      return "number";
    case "string":
      return "string";
    default:
      return "object";
  }
}

/** True where the object shows extra keys the door: nothing but declared properties. */
export function isClosed(branch: Branch): boolean {
  return branch.additional !== undefined && isNever(branch.additional.force());
}

/**
 * True where no kind is named and one kind alone is constrained, as in `{properties: …}`: other kinds are accepted by the letter,
 * and nobody sends them.
 */
export function isImplied(node: Node): boolean {
  if (node.branches.length !== KINDS.length) return false;
  let constrained = 0;
  const seen = new Set<string>();
  for (const branch of node.branches) {
    seen.add(branch.kind);
    if (!isPlain(branch)) constrained += 1;
  }
  return constrained === 1 && seen.size === KINDS.length && !seen.has("values");
}

/**
 * The properties that say anything: not those that are impossible in an object that is closed anyway, nor those that may be anything
 * and are required anyway.
 */
export function tellingProperties(branch: Branch): ReadonlyMap<string, Slot> {
  const properties = branch.properties;
  if (properties === undefined) return NO_PROPERTIES;
  const required = new Set(branch.required ?? []);
  const closed = isClosed(branch) && branch.patternProperties === undefined;
  if (!closed && (required.size === 0 || tellingSlot(branch.additional) !== undefined)) return properties;
  const telling = [...properties].filter(([name, slot]) => {
    const node = slot.force();
    if (closed) return !isNever(node) || required.has(name);
    return !(required.has(name) && isAny(node) && node.fallback === undefined);
  });
  return telling.length === properties.size ? properties : new Map(telling);
}

/** The place, unless what stands there takes anything: then it is as good as absent. */
export function tellingSlot(slot: Slot | undefined): Slot | undefined {
  if (slot === undefined) return undefined;
  const node = slot.force();
  return isAny(node) && node.fallback === undefined ? undefined : slot;
}

const NO_PROPERTIES: ReadonlyMap<string, Slot> = new Map();
