/**
 * The texts of a tool: what an agent reads and may be led by.
 *
 * Owns: which texts a tool has, by field, wherever its schema keeps them.
 * Speaks: dotted field paths (`[]` = items, `*` = any other key).
 * Never: judges or cleans a text (clean.ts, scan.ts).
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { ListedTool } from "../model/tool.js";
import { LEVEL_LIMIT } from "./schema/effort.js";
import { referencesOf, resolveReference, resourceOf } from "./schema/refs.js";

/** Every field of a schema with its descriptions, sorted; none for a field that has no text. `` = the schema itself. */
export type FieldTexts = ReadonlyMap<string, readonly string[]>;

export interface ToolTexts {
  readonly title: string;
  readonly description: string;
  readonly input: FieldTexts;
  readonly output: FieldTexts;
}

/** Schemas looked at before a definition that was already seen is passed over: keeps definitions that multiply finite. */
const VISIT_LIMIT = 5_000;

export function toolTexts(listed: ListedTool): ToolTexts {
  return {
    title: toolTitle(listed) ?? "",
    description: typeof listed["description"] === "string" ? listed["description"] : "",
    input: schemaTexts(listed["inputSchema"]),
    output: schemaTexts(listed["outputSchema"]),
  };
}

/** The tool's own title, else the older place for it among the annotations. */
export function toolTitle(listed: ListedTool): string | undefined {
  if (typeof listed["title"] === "string") return listed["title"];
  const annotations = listed["annotations"];
  return isJsonObject(annotations) && typeof annotations["title"] === "string" ? annotations["title"] : undefined;
}

/** All fields of a schema with their descriptions. A referenced definition speaks at the field that refers to it. */
export function schemaTexts(schema: JsonValue | undefined): FieldTexts {
  const found = new Map<string, string[]>();
  if (!isJsonObject(schema)) return found;
  const references = referencesOf(schema);
  const open = new Set<JsonObject>();
  const seen = new Set<JsonObject>();
  let visits = 0;
  const visit = (value: JsonValue | undefined, field: string, parent: JsonValue): void => {
    if (!isJsonObject(value) || open.has(value) || open.size >= LEVEL_LIMIT || (visits > VISIT_LIMIT && seen.has(value))) return;
    visits += 1;
    open.add(value);
    seen.add(value);
    const resource = resourceOf(value, parent);
    note(found, field, value["description"]);
    for (const [key, inner, keyword] of membersOf(value)) {
      visit(inner, fieldAt(field, keyword, key), resource);
    }
    for (const keyword of ["$ref", "$dynamicRef", "$recursiveRef"]) {
      const place = resolveReference(references, value[keyword], resource);
      if (place !== undefined) visit(place.schema, field, place.resource);
    }
    open.delete(value);
  };
  visit(schema, "", schema);
  for (const texts of found.values()) texts.sort();
  return found;
}

function note(found: Map<string, string[]>, field: string, text: JsonValue | undefined): void {
  let texts = found.get(field);
  if (texts === undefined) found.set(field, (texts = []));
  if (typeof text === "string" && !texts.includes(text)) texts.push(text);
}

const MAPS = ["properties", "patternProperties", "dependentSchemas", "dependencies"];
const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"];
const SINGLES = [
  "additionalProperties",
  "additionalItems",
  "items",
  "contains",
  "not",
  "if",
  "then",
  "else",
  "propertyNames",
  "unevaluatedProperties",
  "unevaluatedItems",
];

/** Schemas directly inside a schema object, with the key and the keyword they stand under. */
function* membersOf(schema: JsonObject): Iterable<readonly [string, JsonValue, string]> {
  for (const keyword of MAPS) {
    const map = schema[keyword];
    if (isJsonObject(map)) for (const key of Object.keys(map)) yield [key, map[key] ?? null, keyword];
  }
  for (const keyword of LISTS) {
    const list = schema[keyword];
    if (Array.isArray(list)) for (const member of list) yield ["", member, keyword];
  }
  for (const keyword of SINGLES) {
    const inner: JsonValue | undefined = schema[keyword];
    if (Array.isArray(inner)) for (const member of inner) yield ["", member, keyword];
    else if (inner !== undefined) yield ["", inner, keyword];
  }
}

/** The field that a schema inside `field` speaks of. */
function fieldAt(field: string, keyword: string, key: string): string {
  switch (keyword) {
    case "properties":
      return field === "" ? key : `${field}.${key}`;
    case "patternProperties":
    case "additionalProperties":
    case "unevaluatedProperties":
      return field === "" ? "*" : `${field}.*`;
    case "items":
    case "prefixItems":
    case "additionalItems":
    case "unevaluatedItems":
    case "contains":
      return `${field}[]`;
    default:
      return field;
  }
}
