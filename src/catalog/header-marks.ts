/**
 * Header marks: parameters whose values a tool wants repeated in headers of the request (`x-mcp-header`), for what stands between.
 *
 * Owns: which parameters are marked, how a value is spelt in a header, whether headers repeat the arguments truly.
 * Speaks: input schemas, arguments, header names and values (RFC 9110).
 * Never: requests; who adds or checks the headers.
 */
import { isJsonObject } from "../model/json.js";
import type { JsonObject, JsonValue } from "../model/json.js";

const MARK = "x-mcp-header";
const PREFIX = "Mcp-Param-";
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const COPIED_TYPES = new Set(["string", "integer", "boolean"]);

export interface HeaderMark {
  readonly path: readonly string[];
  readonly name: string;
}

/** The marks of an input schema, or what is wrong with them: such a tool may not be offered over HTTP. */
export function headerMarks(schema: JsonObject): { readonly marks: readonly HeaderMark[]; readonly wrong: string | undefined } {
  const marks: HeaderMark[] = [];
  const seen = new Set<string>();
  let wrong: string | undefined;
  const complain = (path: readonly string[], text: string): void => {
    wrong ??= `${path.join(".") || "the root"}: ${text}`;
  };
  const visit = (node: JsonValue, path: readonly string[], reachable: boolean): void => {
    if (Array.isArray(node)) return node.forEach((one, at) => visit(one, [...path, String(at)], false));
    if (!isJsonObject(node)) return;
    const name = node[MARK];
    if (name !== undefined) {
      if (!reachable || path.length === 0) complain(path, `${MARK} stands where only some arguments reach it`);
      else if (typeof name !== "string" || !TOKEN.test(name)) complain(path, `${MARK} is no header name`);
      else if (typeof node["type"] !== "string" || !COPIED_TYPES.has(node["type"]))
        complain(path, `${MARK} needs type string, integer or boolean`);
      else if (seen.has(name.toLowerCase())) complain(path, `the header ${name} is used twice`);
      else {
        seen.add(name.toLowerCase());
        marks.push({ path, name });
      }
    }
    for (const [key, child] of Object.entries(node)) {
      if (key === "properties" && isJsonObject(child))
        for (const [property, one] of Object.entries(child)) visit(one, [...path, property], reachable);
      // Values that are data, not schemas, may contain anything.
      else if (!["default", "const", "enum", "examples", MARK].includes(key)) visit(child, [...path, key], false);
    }
  };
  visit(schema, [], true);
  return { marks, wrong };
}

/** Headers that repeat marked arguments. Absent and null arguments have none. */
export function markedHeaders(marks: readonly HeaderMark[], args: JsonObject): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { path, name } of marks) {
    let value: JsonValue | undefined = args;
    for (const key of path) value = isJsonObject(value) ? value[key] : undefined;
    if (typeof value === "number" && !Number.isSafeInteger(value)) continue;
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") continue;
    headers[`${PREFIX}${name}`] = headerValue(String(value));
  }
  return headers;
}

/** Values that are no plain header text travel in base64, marked as such. */
function headerValue(value: string): string {
  const plain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return plain ? value : `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`;
}

/**
 * Why these headers (lower case) do not repeat these arguments; undefined where they do. `bare`: the transport has no headers to
 * repeat them in, so that missing ones are no fault.
 */
export function mirrorProblem(
  marks: readonly HeaderMark[],
  args: JsonObject,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  bare: boolean,
): string | undefined {
  const expected = markedHeaders(marks, args);
  for (const { name } of marks) {
    const header = `${PREFIX}${name}`;
    const given = headers[header.toLowerCase()];
    const wanted = expected[header];
    if (given === undefined && (wanted === undefined || bare)) continue;
    if (given === undefined) return `The header ${header} is missing; the arguments have a value for it.`;
    if (wanted === undefined) return `The header ${header} has a value, the arguments have none.`;
    const said = typeof given === "string" ? headerText(given.trim()) : undefined;
    if (said === undefined) return `The header ${header} cannot be read.`;
    if (said !== headerText(wanted)) return `The header ${header} does not say what the arguments say.`;
  }
  return undefined;
}

/** What a header says; undefined where it is marked as base64 and is none. */
function headerText(value: string): string | undefined {
  const coded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (coded === undefined) return value;
  const bytes = Buffer.from(coded, "base64");
  return bytes.toString("base64") === coded ? bytes.toString("utf8") : undefined;
}
