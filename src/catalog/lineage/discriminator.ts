/**
 * Discriminators: the parameter by which a merged tool is told which of its acts to perform.
 *
 * Owns: finding such parameters and their values, from enum, const branches, or parsed from descriptions.
 * Speaks: one Profile in, values with their own words out.
 * Never: deciding who took over from whom (method.ts).
 */
import { isJsonObject } from "../../model/json.js";
import type { JsonObject, JsonValue } from "../../model/json.js";
import { parametersOf, resolved } from "./profile.js";
import type { Parameter, Profile } from "./profile.js";
import { stem, words } from "./words.js";

export interface MethodValue {
  readonly value: string;
  readonly words: readonly string[];
  /** What a description says of this value, or empty; looked for when it is asked. */
  readonly says: () => string;
}
export interface Discriminator {
  readonly parameter: string;
  /** `method`, `action` … name acts; `mode`, `type`, `kind` may name anything, so their values must be verbs or fit exactly. */
  readonly strong: boolean;
  readonly required: boolean;
  readonly values: readonly MethodValue[];
}

const STRONG = new Set(["method", "action", "operation", "op", "verb", "command"].map(stem));
const WEAK = new Set(
  ["mode", "type", "kind", "task", "subcommand", "resource", "what", "target", "view", "include", "category"].map(stem),
);
/** More values than this list data (countries, units), not acts. */
const MOST_VALUES = 40;
/** A longer value names no act. */
const LONGEST_VALUE = 80;

/** Discriminators of a tool, strong ones first. */
export function discriminatorsOf(profile: Profile): Discriminator[] {
  const found: Discriminator[] = [];
  if (!mayChoose(profile.tool.inputSchema)) return found;
  for (const parameter of profile.parameters) {
    const last = parameter.words.at(-1)?.stem ?? "";
    const strong = STRONG.has(last);
    if (!strong && !WEAK.has(last)) continue;
    const texts = [parameter.description, profile.tool.description];
    const listed = listedValues(parameter, profile.tool.inputSchema);
    const values = listed.length > 0 ? listed : parsedValues(parameter.description);
    if (values.length === 0 || values.length > MOST_VALUES) continue;
    found.push({
      parameter: parameter.name,
      strong,
      required: parameter.required,
      values: values.map((value) => ({
        value,
        words: words(value),
        says: () => saidOf(value, parameter, texts),
      })),
    });
  }
  return found.sort((a, b) => Number(b.strong) - Number(a.strong));
}

/** A name whose last word is one of those has these letters in it, whatever its ending. */
const CHOOSES = new RegExp([...STRONG, ...WEAK].map((word) => word.replace(/y$/, "")).join("|"), "i");

/** False only where no parameter can be a discriminator: told by letters, so that most tools' parameters are never read. */
function mayChoose(schema: JsonObject): boolean {
  if (["allOf", "anyOf", "oneOf"].some((keyword) => schema[keyword] !== undefined)) return true;
  const properties = schema["properties"];
  // Letters of other scripts may stand for Latin ones.
  return isJsonObject(properties) && Object.keys(properties).some((name) => CHOOSES.test(name) || /[^ -~]/.test(name));
}

/** String values a schema lists: enum, const, branches of either; a root union's const per branch. */
function listedValues(parameter: Parameter, root: JsonObject): string[] {
  const values = new Set<string>();
  collect(parameter.schema, root, values, 0);
  for (const keyword of ["oneOf", "anyOf"]) {
    const branches = root[keyword];
    if (!Array.isArray(branches)) continue;
    for (const branch of branches) {
      const own = parametersOf(resolved(branch, root)).find((other) => other.name === parameter.name);
      if (own !== undefined) collect(own.schema, root, values, 0);
    }
  }
  return [...values];
}

function collect(schema: JsonObject, root: JsonObject, into: Set<string>, depth: number): void {
  if (depth > 3) return;
  const add = (value: JsonValue | undefined): void => {
    if (typeof value === "string" && value !== "" && value.length <= LONGEST_VALUE) into.add(value);
  };
  add(schema["const"]);
  if (Array.isArray(schema["enum"])) schema["enum"].forEach(add);
  for (const keyword of ["anyOf", "oneOf"]) {
    const branches = schema[keyword];
    if (Array.isArray(branches)) for (const branch of branches) collect(resolved(branch, root), root, into, depth + 1);
  }
}

/** `- 'add' - …`, `1. get_diff - …`, `* close: …` at the start of a line. */
const LISTED =
  /^[ \t]{0,20}(?:[-*•]|\d{1,2}[.)])[ \t]{0,20}['"`]?([A-Za-z][A-Za-z0-9_.-]{0,40}?)['"`]?[ \t]{0,20}(?:[-–—:=]|\()/gm;
/** What introduces values within a sentence. */
const LEAD = /\b(?:one of|options?(?: are)?|values?(?: are)?|either|can be|must be|supported|allowed)\b\s*:?/gi;
/** How far behind its lead a run of values is looked for. */
const RUN_LENGTH = 400;

/** Values that a description lists where the schema does not; two at least, else it is prose. */
export function parsedValues(description: string): string[] {
  const listed = [...description.matchAll(LISTED)].map((match) => match[1] ?? "");
  if (listed.length >= 2) return [...new Set(listed)];
  for (const lead of description.matchAll(LEAD)) {
    const from = lead.index + lead[0].length;
    const run = description.slice(from, from + RUN_LENGTH).split(/[.\n;)]/)[0] ?? "";
    const values = leadingWords(run.split(/,|\||\/|\bor\b|\band\b/));
    if (values.length >= 2) return [...new Set(values)];
  }
  return [];
}

/** Pieces that are one word each, as long as they last; `, or` leaves empty pieces that count for nothing. */
function leadingWords(pieces: readonly string[]): string[] {
  const found: string[] = [];
  for (const piece of pieces) {
    const word = piece.trim().replace(/^['"`]|['"`]$/g, "");
    if (word === "") continue;
    if (!/^[A-Za-z][\w-]{0,40}$/.test(word)) break;
    found.push(word);
  }
  return found;
}

/** The sentence or line in which a description explains a value. */
function saidOf(value: string, parameter: Parameter, texts: readonly string[]): string {
  const escaped = value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const bullet = String.raw`(?:^|\n)[ \t]{0,20}(?:[-*•]|\d{1,2}[.)])?[ \t]{0,20}`;
  const quoted = String.raw`['"\`]?${escaped}['"\`]?`;
  const line = new RegExp(String.raw`${bullet}${quoted}[ \t]{0,20}[-–—:=(]{1,3}[ \t]{0,20}([^\n]{1,500})`, "i");
  const inline = new RegExp(String.raw`['"\`]${escaped}['"\`][ \t]{1,20}(?:to|for)[ \t]{1,20}([^,;.\n]{1,500})`, "i");
  for (const text of texts) {
    const said = line.exec(text)?.[1] ?? inline.exec(text)?.[1];
    if (said !== undefined) return said;
  }
  for (const branches of [parameter.schema["oneOf"], parameter.schema["anyOf"]]) {
    if (!Array.isArray(branches)) continue;
    const own = branches.find((branch) => isJsonObject(branch) && branch["const"] === value);
    if (isJsonObject(own) && typeof own["description"] === "string") return own["description"];
  }
  return "";
}
