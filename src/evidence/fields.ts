/** Reading foreign documents without trusting their shape. */
import { isDeeperThan, isJsonObject, JSON_LEVELS, type JsonObject, type JsonValue } from "../model/json.js";

export function objectAt(value: JsonValue | undefined, ...path: readonly string[]): JsonObject {
  let node: JsonValue | undefined = value;
  for (const key of path) node = isJsonObject(node) ? node[key] : undefined;
  return isJsonObject(node) ? node : {};
}

export function listAt(value: JsonValue | undefined, ...path: readonly string[]): JsonObject[] {
  let node: JsonValue | undefined = value;
  for (const key of path) node = isJsonObject(node) ? node[key] : undefined;
  return Array.isArray(node) ? node.filter(isJsonObject) : [];
}

export function textAt(value: JsonValue | undefined, ...path: readonly string[]): string | undefined {
  let node: JsonValue | undefined = value;
  for (const key of path) node = isJsonObject(node) ? node[key] : undefined;
  return typeof node === "string" ? node : typeof node === "number" ? String(node) : undefined;
}

/** Arguments as an object: as they are, or as the JSON text of one. What is neither is undefined. */
export function argumentsOf(value: JsonValue | undefined): JsonObject | undefined {
  if (isJsonObject(value)) return value;
  if (value === undefined || value === null || value === "") return {};
  if (typeof value !== "string") return undefined;
  const data = dataOfText(value);
  return isJsonObject(data) ? data : undefined;
}

/** A text that is a JSON object or list as what it says; any other text as it is, and so one that is too deep to be walked. */
export function dataOfText(text: string): JsonValue {
  const first = text.trimStart()[0];
  if (first !== "{" && first !== "[") return text;
  try {
    const value = JSON.parse(text) as JsonValue;
    return isDeeperThan(value, JSON_LEVELS) ? text : value;
  } catch {
    return text;
  }
}

/** Content of a message or result: a text, or blocks of which the texts count. */
export function textOfContent(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.flatMap((block) => (isJsonObject(block) && typeof block["text"] === "string" ? [block["text"]] : [])).join("\n");
}

/** Programs that hand results on as plain text say a failure with this word first. */
export function readsAsError(text: string): boolean {
  return /^\s*error\b/i.test(text);
}
