/**
 * Compact signatures: a tool in one line, enough to choose and usually enough to call.
 *
 *   shop/cancel_order(order_id: string, reason: "mistake"|"too late", note?: string) — Cancel a pending order.
 *
 * Owns: how a JSON Schema is said in a few characters; what may be lost on the way and where `~` says so.
 * Speaks: JSON Schema of any dialect, read leniently; local `$ref` only, nothing is fetched.
 * Never: drops a required parameter, names a definition that the reader cannot see, or stands in for the schema in validation.
 */
import { cleanText } from "../catalog/clean.js";
import { referencesOf } from "../catalog/schema/refs.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { SIGNATURE_LIMITS } from "../model/policy.js";
import type { Tool } from "../model/tool.js";
import { cuts, type Cuts } from "./ends.js";

/** The tool's line; `~` stands wherever the full definition says more. */
export function compactSignature(tool: Tool, by: Cuts = cuts): string {
  const lead = firstSentence(tool.description === "" ? (tool.title ?? "") : tool.description, by);
  const text = `${tool.key}(${parametersOf(tool.inputSchema)})${lead === "" ? "" : ` — ${lead}`}`;
  return cleanText(text).text.replace(/\s+/g, " ");
}

/** The first sentence of a text, cut at a word with `~` where it is long. Headings and list marks are no sentences. */
export function firstSentence(text: string, by: Cuts = cuts): string {
  const lines = text.split("\n").map((line) => line.replace(/^\s*(?:#{1,6}\s+|[-*>]\s+|\d+[.)]\s+)/, "").trim());
  const start = lines.findIndex((line) => /[\p{L}\p{N}]/u.test(line));
  if (start < 0) return "";
  // A sentence may run over lines; an empty line ends it in any case.
  const rest = lines.slice(start);
  const stop = rest.indexOf("");
  const paragraph = (stop < 0 ? rest : rest.slice(0, stop)).join(" ");
  const sentence = paragraph.slice(0, endOfSentence(paragraph)).trim();
  return by.atWord(sentence, SIGNATURE_LIMITS.sentenceChars);
}

/** `e.g. x`, `v1.2` and `approx. 3` go on; a stop before a capital, another script or the end does not. */
function endOfSentence(text: string): number {
  for (const match of text.matchAll(/[.!?]+["')\]]*(?=\s|$)|[。！？]/gu)) {
    const end = match.index + match[0].length;
    const before = text.slice(0, match.index);
    if (/(?:\b(?:e\.g|i\.e|etc|vs|approx|incl|no|cf)|\b[A-Z])$/i.test(before) && end < text.length && match[0] === ".") continue;
    return end;
  }
  return text.length;
}

/** Where a schema's `$ref` leads within the document; `ref` is undefined for a schema without one, `target` where it leads nowhere. */
function resolveRef(schema: JsonObject, root: JsonObject): { ref: string | undefined; target: JsonValue | undefined } {
  const ref = schema["$ref"];
  return typeof ref === "string"
    ? { ref, target: referencesOf(root).resolve(ref, root)?.schema }
    : { ref: undefined, target: undefined };
}

interface Parameter {
  readonly name: string;
  readonly schema: JsonValue;
  readonly required: boolean;
}

function parametersOf(schema: JsonObject): string {
  const { parameters, isPartial } = readObject(schema, schema);
  const shown = parameters.filter((parameter) => parameter.required).map((parameter) => say(parameter, schema));
  let left = SIGNATURE_LIMITS.optionalChars;
  let dropped = 0;
  for (const parameter of parameters) {
    if (parameter.required) continue;
    const text = say(parameter, schema);
    left -= text.length + 2;
    if (left < 0) dropped++;
    else shown.push(text);
  }
  if (dropped > 0) shown.push(`~${dropped} optional`);
  else if (isPartial) shown.push("~");
  return shown.join(", ");
}

function say(parameter: Parameter, root: JsonObject): string {
  const name = /^[\p{L}\p{N}_.$-]+$/u.test(parameter.name) ? parameter.name : JSON.stringify(parameter.name);
  return `${name}${parameter.required ? "" : "?"}: ${typeOf(parameter.schema, root, { depth: 0, path: [] })}`;
}

/**
 * The members of an object schema with those of its `allOf`; members of alternatives are optional unless every alternative
 * requires them, and `isPartial` says that the alternatives themselves are not told.
 */
function readObject(
  schema: JsonObject,
  root: JsonObject,
  path: readonly string[] = [],
): { parameters: Parameter[]; isPartial: boolean } {
  const properties = new Map<string, JsonValue>();
  const required = new Set<string>();
  let isPartial = false;
  const visit = (node: JsonValue | undefined, seen: readonly string[], requires: Set<string>): void => {
    if (!isJsonObject(node)) return;
    const { target, ref } = resolveRef(node, root);
    if (ref !== undefined) {
      if (target === undefined || seen.includes(ref)) isPartial = true;
      else visit(target, [...seen, ref], requires);
    }
    if (isJsonObject(node["properties"])) {
      for (const [name, child] of Object.entries(node["properties"])) if (!properties.has(name)) properties.set(name, child);
    }
    if (Array.isArray(node["required"])) for (const name of node["required"]) if (typeof name === "string") requires.add(name);
    if (Array.isArray(node["allOf"])) for (const part of node["allOf"]) visit(part, seen, requires);
    for (const keyword of ["anyOf", "oneOf"]) {
      const branches = node[keyword];
      if (!Array.isArray(branches) || branches.length === 0) continue;
      const each = branches.map((branch) => {
        const own = new Set<string>();
        visit(branch, seen, own);
        return own;
      });
      for (const name of each[0] ?? []) if (each.every((own) => own.has(name))) requires.add(name);
      isPartial = true;
    }
    if (
      ["if", "not", "dependentRequired", "dependentSchemas", "patternProperties"].some((keyword) => node[keyword] !== undefined)
    )
      isPartial = true;
  };
  visit(schema, path, required);
  const parameters = [...properties].map(([name, child]) => ({ name, schema: child, required: required.has(name) }));
  for (const name of required) if (!properties.has(name)) parameters.push({ name, schema: {}, required: true });
  return { parameters, isPartial };
}

interface Where {
  readonly depth: number;
  /** References followed so far: one that comes again is recursive. */
  readonly path: readonly string[];
}

/** A schema as a short type: `string`, `integer[]`, `"a"|"b"`, `{id: string, note?: string}`, `object~`. */
function typeOf(schema: JsonValue, root: JsonObject, where: Where): string {
  if (!isJsonObject(schema)) return schema === false ? "never" : "any";
  const { target, ref } = resolveRef(schema, root);
  if (ref !== undefined) {
    if (target === undefined || where.path.includes(ref)) return "any~";
    const { $ref: _followed, ...beside } = schema;
    // Members beside a reference refine it; a description alone changes nothing.
    const merged = isJsonObject(target) && beside["properties"] === undefined ? { ...target, ...beside } : target;
    return typeOf(merged, root, { depth: where.depth, path: [...where.path, ref] });
  }
  if (schema["const"] !== undefined) return enumOf([schema["const"]]);
  if (Array.isArray(schema["enum"])) return enumOf(schema["enum"]);
  for (const keyword of ["anyOf", "oneOf"]) {
    const branches = schema[keyword];
    if (Array.isArray(branches) && branches.length > 0) return unionOf(branches.map((branch) => typeOf(branch, root, where)));
  }
  if (Array.isArray(schema["allOf"]) && schema["type"] === undefined && schema["properties"] === undefined) {
    const [only, second] = schema["allOf"];
    if (only !== undefined && second === undefined) return typeOf(only, root, where);
    return objectOf(schema, root, where);
  }
  const { type } = schema;
  if (Array.isArray(type)) return unionOf(type.map((one) => typeOf({ ...schema, type: one }, root, where)));
  if (type === "array" || (type === undefined && schema["items"] !== undefined)) return arrayOf(schema, root, where);
  if (type === "object" || (type === undefined && schema["properties"] !== undefined)) return objectOf(schema, root, where);
  if (type === "string" && typeof schema["format"] === "string" && schema["format"].length <= 12)
    return `string<${schema["format"]}>`;
  return typeof type === "string" ? type : "any";
}

function arrayOf(schema: JsonObject, root: JsonObject, where: Where): string {
  const { items } = schema;
  if (items === undefined) return "any[]";
  if (where.depth >= SIGNATURE_LIMITS.depth) return "array~";
  const inner = typeOf(items, root, { ...where, depth: where.depth + 1 });
  return /^[^|{]*$/.test(inner) || inner.startsWith("{") ? `${inner}[]` : `(${inner})[]`;
}

function objectOf(schema: JsonObject, root: JsonObject, where: Where): string {
  if (where.depth >= SIGNATURE_LIMITS.depth) return "object~";
  const { parameters, isPartial } = readObject(schema, root, where.path);
  if (parameters.length === 0) return isPartial ? "object~" : "object";
  const inner = { ...where, depth: where.depth + 1 };
  const members = parameters.map(({ name, schema: child, required }) => ({
    required,
    text: `${name}${required ? "" : "?"}: ${typeOf(child, root, inner)}`,
  }));
  const whole = members.map((member) => member.text).join(", ");
  if (whole.length <= SIGNATURE_LIMITS.objectChars) return `{${whole}${isPartial ? ", ~" : ""}}`;
  // Names of what must be given are worth more than types.
  const needed = parameters.filter((member) => member.required).map((member) => member.name);
  const names = needed.join(", ");
  return needed.length > 0 && names.length <= SIGNATURE_LIMITS.objectChars ? `{${names}, ~}` : "object~";
}

function enumOf(values: readonly JsonValue[]): string {
  const shown: string[] = [];
  let length = 0;
  for (const value of values) {
    const text = JSON.stringify(value);
    length += text.length + 1;
    if (shown.length > 0 && length > SIGNATURE_LIMITS.enumChars) return `${shown.join("|")}|~`;
    shown.push(text.length > SIGNATURE_LIMITS.enumChars ? "~" : text);
  }
  return shown.length === 0 ? "never" : shown.join("|");
}

function unionOf(types: readonly string[]): string {
  const distinct = [...new Set(types.flatMap((type) => (type.includes("{") ? [type] : type.split("|"))))];
  const text = distinct.join("|");
  if (text.length <= SIGNATURE_LIMITS.objectChars) return text;
  return `${[...new Set(distinct.map((type) => (type.startsWith("{") ? "object~" : type)))].slice(0, 4).join("|")}|~`;
}
