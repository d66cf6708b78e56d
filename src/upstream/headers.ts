/**
 * Headers of one call: the agent's, where the configuration allows them by name, and those that a modern tool asks to
 * have copied from its arguments.
 *
 * Owns: the allow-list; the reading of `x-mcp-header` marks in input schemas.
 * Speaks: header names and values (RFC 9110).
 * Never: configured headers (they go with every request of an upstream).
 */
import type { HttpUpstream } from "../model/config.js";
import { isJsonObject } from "../model/json.js";
import type { JsonObject, JsonValue } from "../model/json.js";

/** Hop-by-hop and session headers never pass, whatever the configuration names. */
const NEVER_FORWARDED =
  /^(host|connection|content-.*|transfer-encoding|accept.*|mcp-.*|last-event-id|keep-alive|upgrade|te|trailer|origin|proxy-.*)$/i;

/** The agent's headers reduced to those that this upstream may see. */
export function forwardedHeaders(
  config: HttpUpstream,
  headers: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  if (headers === undefined || config.forwardHeaders.length === 0) return {};
  const allowed = new Set(config.forwardHeaders.map((name) => name.toLowerCase()));
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => allowed.has(name.toLowerCase()) && !NEVER_FORWARDED.test(name)),
  );
}

const MARK = "x-mcp-header";
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
    headers[`Mcp-Param-${name}`] = headerValue(String(value));
  }
  return headers;
}

/** Values that are no plain header text travel in base64, marked as such. */
function headerValue(value: string): string {
  const plain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return plain ? value : `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`;
}
