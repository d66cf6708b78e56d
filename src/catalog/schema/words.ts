/**
 * What a branch wants, in words.
 *
 * Owns: words for kinds, listed values and bounds; how long they may get.
 * Speaks: branches and values.
 * Never: what is inside of objects and lists (misfits.ts).
 */
import type { JsonValue } from "../../model/json.js";
import { admits } from "./combine.js";
import { KINDS, type Bound, type Branch, type Kind } from "./node.js";

/** Listed values or names that are said; of the others the number. */
const LISTED_MOST = 12;
/** UTF-16 units of one of them. */
const LISTED_LENGTH = 60;

export const KIND_WORDS: Readonly<Record<Kind, string>> = {
  array: "an array",
  boolean: "a boolean",
  null: "null",
  number: "a number",
  object: "an object",
  string: "a string",
};

const BOUND_WORDS: Readonly<Record<Bound, (limit: number) => string>> = {
  minimum: (limit) => `be at least ${limit}`,
  exclusiveMinimum: (limit) => `be more than ${limit}`,
  maximum: (limit) => `be at most ${limit}`,
  exclusiveMaximum: (limit) => `be less than ${limit}`,
  multipleOf: (limit) => `be a multiple of ${limit}`,
  minLength: (limit) => `have at least ${counted(limit, "character")}`,
  maxLength: (limit) => `have at most ${counted(limit, "character")}`,
  minItems: (limit) => `have at least ${counted(limit, "item")}`,
  maxItems: (limit) => `have at most ${counted(limit, "item")}`,
  minProperties: (limit) => `have at least ${counted(limit, "member")}`,
  maxProperties: (limit) => `have at most ${counted(limit, "member")}`,
};

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The limits of its kind that the value breaks: `must be at most 10`. Each is asked of the one rule that judges (combine.ts). */
export function boundsBroken(branch: Branch, value: JsonValue): string[] {
  if (branch.kind === "values") return [];
  const broken: string[] = [];
  if (branch.integer === true && !admits({ kind: branch.kind, integer: true }, value)) broken.push("must be an integer");
  for (const [bound, limit] of Object.entries(branch.bounds ?? {}) as [Bound, number][])
    if (!admits({ kind: branch.kind, bounds: { [bound]: limit } }, value)) broken.push(`must ${BOUND_WORDS[bound](limit)}`);
  return broken;
}

/** Kinds and listed values that branches take: `an integer or null`, `one of "a", "b"`; empty where they take anything. */
export function wantedOf(branches: readonly Branch[]): string {
  const kinds = KINDS.filter((kind) => branches.some((branch) => branch.kind === kind));
  if (kinds.length === KINDS.length) return "";
  const words = kinds.map((kind) =>
    kind === "number" && branches.every((branch) => branch.kind !== kind || branch.integer === true)
      ? "an integer"
      : KIND_WORDS[kind],
  );
  const values = branches.flatMap((branch) => (branch.kind === "values" ? (branch.values ?? []) : []));
  if (values.length > 0) words.unshift(values.length === 1 ? listed(values) : `one of ${listed(values)}`);
  return words.join(" or ");
}

/** Values in a row, each of them and their number bounded. */
export function listed<Value extends JsonValue>(
  values: readonly Value[],
  spell: (value: Value) => string = JSON.stringify,
): string {
  const said = values.slice(0, LISTED_MOST).map((value) => brief(spell(value), LISTED_LENGTH));
  return said.join(", ") + (values.length > LISTED_MOST ? ` and ${values.length - LISTED_MOST} more` : "");
}

/** The beginning of a text, never half a code point. */
export function brief(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…`;
}
