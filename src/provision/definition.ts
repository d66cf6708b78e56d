/**
 * A tool's definition as agents are shown it: the listed document with its texts cleaned, nothing else touched.
 *
 * Only titles and descriptions are cleaned: names, enumerations and defaults are values an agent has to send back exactly.
 */
import { cleanText } from "../catalog/clean.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { Tool } from "../model/tool.js";

export function shownDefinition(tool: Tool): JsonObject {
  const shown = cleaned(tool.document);
  return isJsonObject(shown) ? shown : {};
}

function cleaned(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(cleaned);
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    const shown =
      (key === "description" || key === "title") && typeof member === "string" ? cleanText(member).text : cleaned(member);
    // A schema may describe a property called `__proto__`: it must stay one.
    Object.defineProperty(copy, key, { value: shown, enumerable: true, configurable: true, writable: true });
  }
  return copy;
}
