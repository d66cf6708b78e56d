/**
 * Usage: what a skill sets and reads, laid against the fields of a schema.
 *
 * Owns: dotted paths, values at a path, and validation of arguments without patterns, with its reasons.
 * Speaks: params, reads, recorded argument objects.
 * Never: levels (level.ts); running an upstream's patterns.
 */
import type { JsonObject, JsonValue } from "../model/json.js";
import { isJsonObject } from "../model/json.js";
import { accepts, type Acceptance, type MatchPattern } from "./schema/accept.js";
import { misfitsOf, type Misfit } from "./schema/misfits.js";
import { readSchema } from "./schema/read.js";

/**
 * Do the arguments fit the schema? "undecided" where only a pattern, or an assertion that is not reasoned about, could refuse them.
 * `given`: dotted paths that count as set although their values are not there (they were redacted).
 */
export function validates(
  schema: JsonObject,
  args: JsonValue,
  given: readonly string[] = [],
  matches?: MatchPattern,
): boolean | "undecided" {
  return validatorOf(schema, matches)(args, given);
}

export type Validator = (value: JsonValue, given?: readonly string[]) => Acceptance;

/** The same for many values: the schema is read once. `matches`: what is known of its patterns. */
export function validatorOf(schema: JsonValue, matches?: MatchPattern): Validator {
  return judgeOf(schema, matches).accepts;
}

export interface Judge {
  readonly accepts: Validator;
  /** Where and why values are refused; none where they are not. */
  readonly misfits: (value: JsonValue) => readonly Misfit[];
}

/** Verdicts by a schema and their reasons, from one reading of it. */
export function judgeOf(schema: JsonValue, matches?: MatchPattern): Judge {
  const node = readSchema(schema).force();
  return {
    accepts: (value, given = []) => {
      const paths = given.map(segmentsOf);
      if (paths.length === 0) return accepts(node, value, { matches, known: new Map() });
      return accepts(node, value, { matches, assumed: (path) => isSetBy(paths, segmentsOf(path)) });
    },
    misfits: (value) => misfitsOf(node, value, matches),
  };
}

/**
 * How far a list of paths bears on a field. `whole`: it names the field or something inside it. `around`: it names something that
 * the field is part of, so the field may be meant. `no`: it does not.
 */
export type Bearing = "whole" | "around" | "no";

export function bearingOf(paths: readonly string[], field: string | undefined): Bearing {
  if (field === undefined) return paths.length > 0 ? "whole" : "no";
  const there = segmentsOf(field);
  let bearing: Bearing = "no";
  for (const path of paths) {
    const segments = segmentsOf(path);
    if (startsWith(segments, there)) return "whole";
    if (startsWith(there, segments)) bearing = "around";
  }
  return bearing;
}

/** Dotted path to segments. Items have no segment of their own, written `[]`, `[0]` or as an index: `items[].sku` = `items.0.sku`. */
export function segmentsOf(path: string): readonly string[] {
  return path
    .replace(/\[\d*\]/g, "")
    .split(".")
    .filter((segment) => segment !== "" && !/^\d+$/.test(segment));
}

/** `*` stands for any key. */
function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.length <= path.length && start.every((segment, index) => sameSegment(segment, path[index] ?? ""));
}

function sameSegment(a: string, b: string): boolean {
  return a === b || a === "*" || b === "*";
}

function isSetBy(paths: readonly (readonly string[])[], field: readonly string[]): boolean {
  return paths.some((path) => startsWith(path, field));
}

/** Every value that recorded arguments have at a field, items of lists one by one. */
export function valuesAt(recorded: readonly JsonValue[], field: string | undefined): JsonValue[] {
  if (field === undefined) return [...recorded];
  let values: JsonValue[] = [...recorded];
  for (const step of stepsOf(field)) {
    values = values.flatMap((value): JsonValue[] => {
      if (step === "[]") return Array.isArray(value) ? value : [];
      if (!isJsonObject(value)) return [];
      if (step === "*") return Object.values(value);
      return Object.hasOwn(value, step) ? [value[step] ?? null] : [];
    });
  }
  return values;
}

function stepsOf(field: string): readonly string[] {
  return field.split(".").flatMap((part) => {
    const name = part.replace(/(\[\])+$/, "");
    const items = (part.length - name.length) / 2;
    return [...(name === "" ? [] : [name]), ...Array.from({ length: items }, () => "[]")];
  });
}

/** The field that a field is a member of; undefined for a parameter of the tool itself. */
export function parentOf(field: string): string | undefined {
  const dot = field.lastIndexOf(".");
  return dot < 0 ? undefined : field.slice(0, dot);
}

/** The arguments without their redacted leaves. An item of a list cannot be taken out alone: the whole list goes. */
export function withoutRedacted(
  args: JsonObject,
  pointers: readonly string[],
): { args: JsonObject; redacted: ReadonlySet<string> } {
  const redacted = new Set<string>();
  const at = pointers.map((pointer) => pointer.split("/").slice(1).map(unescaped));
  const strip = (value: JsonValue, paths: readonly (readonly string[])[], here: string): JsonValue | undefined => {
    if (paths.some((path) => path.length === 0)) return taken(here);
    if (paths.length === 0 || typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return taken(here);
    const entries = Object.entries(value).flatMap(([key, member]): [string, JsonValue][] => {
      const inside = paths.filter(([first]) => first === key).map((path) => path.slice(1));
      const left = strip(member, inside, here === "" ? key : `${here}.${key}`);
      return left === undefined ? [] : [[key, left]];
    });
    return Object.fromEntries(entries);
  };
  const taken = (here: string): undefined => void redacted.add(here);
  const left = strip(args, at, "");
  return { args: isJsonObject(left) ? left : {}, redacted };
}

function unescaped(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}
