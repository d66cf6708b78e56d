/**
 * Skills scripted for the first version of a history, and an opinion on later versions that knows nothing of rules.
 *
 * One skill a tool: it sets the required parameters and one optional one, has one recorded call, and reads a field where the result
 * is described. ajv says whether the recorded call still fits, names and annotations whether anything that is used was touched.
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import { normaliseSchema } from "../../src/catalog/normalise.js";
import type { Catalog } from "../../src/model/catalog.js";
import type { Usage } from "../../src/model/drift.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/model/json.js";
import type { Tool } from "../../src/model/tool.js";

export interface ScriptedSkill {
  readonly tool: Tool;
  readonly usage: Usage;
}

export function scriptSkills(first: Catalog): { skills: ScriptedSkill[]; withoutCall: number } {
  const skills: ScriptedSkill[] = [];
  let withoutCall = 0;
  for (const tool of first.tools.values()) {
    const schema = normaliseSchema(tool.inputSchema);
    const properties = isJsonObject(schema) && isJsonObject(schema["properties"]) ? schema["properties"] : {};
    const required = isJsonObject(schema) && Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
    const optional = Object.keys(properties).find((name) => !required.includes(name));
    const params = optional === undefined ? required : [...required, optional];
    const args = Object.fromEntries(params.map((name) => [name, example(properties[name] ?? {}, schema)]));
    const fits = ajvAccepts(tool.inputSchema, args) === true;
    if (!fits) withoutCall += 1;
    skills.push({ tool, usage: { params, reads: firstRead(tool), recorded: fits ? [args] : [] } });
  }
  return { skills, withoutCall };
}

/** One field that a skill may read: the first leaf of the result. */
function firstRead(tool: Tool): string[] {
  let schema: JsonValue | undefined = tool.outputSchema === undefined ? undefined : normaliseSchema(tool.outputSchema);
  let path = "";
  for (let depth = 0; depth < 4 && isJsonObject(schema); depth += 1) {
    const properties: JsonValue | undefined = schema["properties"];
    const [name, inner] = isJsonObject(properties) ? (Object.entries(properties)[0] ?? []) : [];
    if (name !== undefined) {
      path = path === "" ? name : `${path}.${name}`;
      schema = inner;
    } else if (schema["items"] !== undefined) {
      path += "[]";
      schema = schema["items"];
    } else break;
  }
  return path === "" ? [] : [path];
}

/** A plausible value for a schema in normal form. */
function example(schema: JsonValue, root: JsonValue, depth = 0): JsonValue {
  if (!isJsonObject(schema) || depth > 8) return "value";
  const { enum: listed, anyOf, oneOf, default: fallback, type } = schema;
  if (fallback !== undefined && fallback !== null) return fallback;
  if (Array.isArray(listed)) return listed[0] ?? null;
  const union = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  if (union !== undefined)
    return example(union.find((one) => isJsonObject(one) && one["type"] !== "null") ?? {}, root, depth + 1);
  const reference = schema["$ref"];
  if (typeof reference === "string") return example(follow(root, reference), root, depth + 1);
  switch (type) {
    case "integer":
    case "number":
      return exampleNumber(schema);
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return exampleList(schema, root, depth);
    case "object":
      return exampleObject(schema, root, depth);
    default:
      return exampleString(schema);
  }
}

function exampleList(schema: JsonObject, root: JsonValue, depth: number): JsonValue[] {
  const { items, minItems, maxItems } = schema;
  const least = typeof minItems === "number" ? Math.max(minItems, 1) : 1;
  const length = typeof maxItems === "number" ? Math.min(least, maxItems) : least;
  return Array.from({ length }, () => example(items ?? { type: "string" }, root, depth + 1));
}

function exampleNumber(schema: JsonObject): number {
  const { minimum, exclusiveMinimum, maximum } = schema;
  if (typeof minimum === "number") return minimum;
  if (typeof exclusiveMinimum === "number") return exclusiveMinimum + (schema["type"] === "integer" ? 1 : 0.5);
  return typeof maximum === "number" ? Math.min(1, maximum) : 1;
}

function exampleObject(schema: JsonObject, root: JsonValue, depth: number): JsonObject {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
  return Object.fromEntries(required.map((name) => [name, example(properties[name] ?? {}, root, depth + 1)]));
}

const EXAMPLES: Readonly<Record<string, string>> = {
  uuid: "123e4567-e89b-12d3-a456-426614174000",
  "date-time": "2026-01-31T12:00:00Z",
  date: "2026-01-31",
  uri: "https://example.org/a",
  email: "a@example.org",
  ipv4: "192.0.2.1",
};

/** What most patterns want: words, identifiers, digits, addresses. */
const TRIED = ["value", "abcdef0123456789", "0123456789", "VALUE", "192.0.2.0/24", "/a", "a.b"];

function exampleString(schema: JsonObject): string {
  const { format, pattern, minLength, maxLength } = schema;
  const fit = (text: string): string =>
    text
      .repeat(Math.ceil(Math.max(Number(minLength ?? 0), 1) / text.length))
      .slice(0, Math.max(text.length, Number(minLength ?? 0)));
  const candidates = [EXAMPLES[String(format)] ?? "value", ...TRIED].map((text) =>
    fit(text).slice(0, Number(maxLength ?? 1_000)),
  );
  const matches = typeof pattern === "string" ? candidates.find((text) => new RegExp(pattern, "u").test(text)) : undefined;
  return matches ?? candidates[0] ?? "value";
}

function follow(root: JsonValue, reference: string): JsonValue {
  let value: JsonValue | undefined = root;
  for (const token of reference.split("/").slice(1)) {
    const key = decodeURIComponent(token).replace(/~1/g, "/").replace(/~0/g, "~");
    value = Array.isArray(value) ? value[Number(key)] : isJsonObject(value) ? value[key] : undefined;
  }
  return value ?? {};
}

const compiled = new WeakMap<JsonObject, ((value: JsonValue) => boolean) | undefined>();

export function ajvAccepts(schema: JsonObject, value: JsonValue): boolean | undefined {
  if (!compiled.has(schema)) compiled.set(schema, compile(schema));
  return compiled.get(schema)?.(value);
}

function compile(schema: JsonObject): ((value: JsonValue) => boolean) | undefined {
  try {
    const { $schema: _dialect, ...rest } = schema;
    const validate = new Ajv2020({ strict: false, validateFormats: false, logger: false }).compile(rest);
    return (value) => validate(value) === true;
  } catch {
    return undefined;
  }
}

/** Was anything that the skill uses touched? Said without the differ: by ajv, by names, by annotations. */
export function isTouched(before: Tool, now: Tool, usage: Usage): boolean {
  if (usage.recorded.some((args) => ajvAccepts(now.inputSchema, args) === false)) return true;
  if (JSON.stringify(before.annotations) !== JSON.stringify(now.annotations)) return true;
  const [old, present] = [membersOf(before.inputSchema), membersOf(now.inputSchema)];
  if (usage.params.some((name) => JSON.stringify(old[name]) !== JSON.stringify(present[name]))) return true;
  const required = now.inputSchema["required"];
  if (Array.isArray(required) && required.some((name) => !usage.params.includes(String(name)))) return true;
  return usage.reads.length > 0 && JSON.stringify(before.outputSchema) !== JSON.stringify(now.outputSchema);
}

/** Schemas of the parameters in normal form: their texts are not used by a call. */
function membersOf(schema: JsonObject): JsonObject {
  const normal = normaliseSchema(schema);
  const properties = isJsonObject(normal) ? normal["properties"] : undefined;
  return isJsonObject(properties) ? properties : {};
}
