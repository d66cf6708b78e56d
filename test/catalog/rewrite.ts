import type { JsonObject, JsonValue } from "../../src/model/json.js";

/**
 * Writes the same contract differently. `choices` says which rewritings are made, so that a law can shrink them; the result
 * accepts exactly the same values and has the same defaults.
 */
export function rewriteCosmetically(schema: JsonObject, choices: readonly number[]): JsonObject {
  let next = 0;
  const choose = (ways: number): number => (choices.length === 0 ? 0 : (choices[next++ % choices.length] ?? 0) % ways);
  const definitions: JsonObject = {};
  const rewrite = (value: JsonValue, isRoot: boolean): JsonValue => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    let out: JsonObject = rewriteParts(value, (inner) => rewrite(inner, false), choose);
    out = rewriteSelf(out, choose, isRoot);
    out = choose(2) === 0 ? out : shuffleKeys(out, choose);
    if (isRoot || choose(4) !== 0) return out;
    const name = `Def${Object.keys(definitions).length}`;
    definitions[name] = out;
    return choose(2) === 0 ? { $ref: `#/$defs/${name}` } : { $ref: `#/$defs/${name}`, description: "Referred to." };
  };
  const out = rewrite(schema, true) as JsonObject;
  return Object.keys(definitions).length === 0 ? out : { ...out, $defs: definitions };
}

function rewriteParts(schema: JsonObject, inner: (value: JsonValue) => JsonValue, choose: (ways: number) => number): JsonObject {
  const out: JsonObject = { ...schema };
  const properties = schema["properties"];
  if (typeof properties === "object" && properties !== null && !Array.isArray(properties))
    out["properties"] = Object.fromEntries(
      shuffle(Object.entries(properties), choose).map(([key, value]) => [key, inner(value)]),
    );
  for (const keyword of ["items", "additionalProperties"]) {
    const value = schema[keyword];
    if (typeof value === "object") out[keyword] = inner(value);
  }
  if (Array.isArray(schema["anyOf"])) out["anyOf"] = shuffle(schema["anyOf"].map(inner), choose);
  if (Array.isArray(schema["required"])) out["required"] = shuffle(schema["required"], choose);
  if (Array.isArray(schema["enum"])) out["enum"] = shuffle(schema["enum"], choose);
  return out;
}

function rewriteSelf(schema: JsonObject, choose: (ways: number) => number, isRoot: boolean): JsonObject {
  let out = schema;
  switch (choose(12)) {
    case 0:
      out = { ...out, title: "A title", description: "Some words.", $comment: "Why", examples: ["a"], deprecated: true };
      break;
    case 1:
      if (typeof out["type"] === "string") out = { ...out, type: [out["type"]] };
      break;
    case 2:
      if (!isRoot) out = { allOf: [out] };
      break;
    case 3:
      if (!isRoot) out = { anyOf: [out, { not: {} }] };
      break;
    case 4:
      if (out["const"] !== undefined) out = { enum: [out["const"]] };
      break;
    case 5:
      if (Array.isArray(out["enum"]) && Object.keys(out).every((key) => key === "enum" || key === "type"))
        out = { oneOf: out["enum"].map((value) => ({ const: value, title: `The ${String(value)}` })) };
      break;
    case 6:
      if (JSON.stringify(out["type"]) === '["string","null"]') out = { ...out, type: "string", nullable: true };
      break;
    case 7:
      if (JSON.stringify(out["type"]) === '["string","null"]') {
        const { type: _both, ...rest } = out;
        out = { anyOf: [{ ...rest, type: "string" }, { type: "null" }] };
      }
      break;
    case 8:
      if (out["type"] === "integer" && out["maximum"] === undefined) out = { ...out, maximum: Number.MAX_SAFE_INTEGER };
      break;
    case 9:
      if (out["type"] === "object" && out["additionalProperties"] === undefined && out["propertyNames"] === undefined)
        out = { ...out, additionalProperties: choose(2) === 0 ? true : {}, propertyNames: { type: "string" } };
      break;
    case 10:
      if (out["type"] === "integer" && typeof out["minimum"] === "number") {
        const { minimum, ...rest } = out;
        out = { ...rest, exclusiveMinimum: Number(minimum) - 1 };
      }
      break;
    default:
      if (out["type"] === "string" && out["minLength"] === undefined) out = { ...out, minLength: 0 };
  }
  return isRoot ? { $schema: "https://json-schema.org/draft/2020-12/schema", $id: "urn:example:args", ...out } : out;
}

function shuffleKeys(schema: JsonObject, choose: (ways: number) => number): JsonObject {
  return Object.fromEntries(shuffle(Object.entries(schema), choose));
}

function shuffle<Item>(items: readonly Item[], choose: (ways: number) => number): Item[] {
  const out = [...items];
  for (let index = out.length - 1; index > 0; index -= 1) {
    const other = choose(index + 1);
    const [a, b] = [out[index], out[other]];
    if (a !== undefined && b !== undefined) [out[index], out[other]] = [b, a];
  }
  return out;
}
