import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../src/model/json.js";

/** Arbitrary schemas for laws: small enough to shrink, rich enough to meet every keyword that is reasoned about. */

export const fieldName = fc.constantFrom("id", "owner", "title", "type", "default", "items", "limit", "a", "b", "c");
const word = fc.constantFrom("a", "b", "c", "open", "closed", "42");
const small = fc.integer({ min: 0, max: 5 });

const stringSchema = fc.record(
  {
    type: fc.constant("string"),
    minLength: small,
    maxLength: fc.integer({ min: 5, max: 9 }),
    default: word,
    description: fc.constantFrom("The id.", "The owner of it."),
  },
  { requiredKeys: ["type"] },
);
const numberSchema = fc.record(
  {
    type: fc.constantFrom("integer", "number"),
    minimum: fc.integer({ min: -3, max: 3 }),
    maximum: fc.integer({ min: 4, max: 9 }),
    default: fc.integer({ min: 0, max: 3 }),
  },
  { requiredKeys: ["type"] },
);
const enumSchema = fc
  .uniqueArray(word, { minLength: 1, maxLength: 4 })
  .map((values): JsonObject => ({ type: "string", enum: values }));
const scalar: fc.Arbitrary<JsonObject> = fc.oneof(
  stringSchema as fc.Arbitrary<JsonObject>,
  numberSchema as fc.Arbitrary<JsonObject>,
  enumSchema,
  fc.constantFrom<JsonObject>({ type: "boolean" }, { type: ["string", "null"] }, { const: "a" }),
);

/** Forms that are rarer, or that are compared without being reasoned about. */
const rare = fc.constantFrom<JsonObject>(
  {},
  { type: "string", pattern: "^a" },
  { type: "string", pattern: "^b" },
  { type: "string", format: "date" },
  { type: "integer", multipleOf: 2 },
  { type: "number", multipleOf: 3 },
  { type: "array", uniqueItems: true },
  { type: "array", minItems: 2 },
  { type: "array", prefixItems: [{ type: "string" }], items: false },
  { type: "object", minProperties: 1 },
  { type: "object", required: ["a"] },
  { type: "object", patternProperties: { "^x": { type: "string" } } },
  { type: "object", propertyNames: { pattern: "^a" } },
  { type: "object", if: { required: ["a"] }, then: { required: ["b"] } },
  { not: { type: "string" } },
  { type: "string", not: { const: "a" } },
  { properties: { a: { type: "string" } } },
  { minLength: 2 },
  { type: ["string", "number"], minimum: 1 },
  { enum: ["a", 1, null, true, { x: 1 }, [1]] },
  { const: { a: 1 } },
);

interface Forms {
  readonly schema: fc.Arbitrary<JsonObject>;
  readonly object: fc.Arbitrary<JsonObject>;
}

/** Schemas valid in 2020-12; `rich` ones with the rare forms and with `allOf`. */
function forms(rich: boolean): Forms {
  return fc.letrec<{ schema: JsonObject; object: JsonObject }>((tie) => {
    const several = (keyword: string, maxLength: number): fc.Arbitrary<JsonObject> =>
      fc.array(tie("schema"), { minLength: 1, maxLength }).map((members): JsonObject => ({ [keyword]: members }));
    const list = fc
      .record({ items: tie("schema"), maxItems: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }) })
      .map(({ items, maxItems }): JsonObject => ({ type: "array", items, ...(maxItems === undefined ? {} : { maxItems }) }));
    return {
      schema: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        { arbitrary: scalar, weight: 5 },
        { arbitrary: tie("object"), weight: 3 },
        { arbitrary: list, weight: 1 },
        { arbitrary: several("anyOf", 3), weight: 1 },
        ...(rich
          ? [
              { arbitrary: several("allOf", 2), weight: 1 },
              { arbitrary: rare, weight: 3 },
            ]
          : []),
      ),
      object: objectOf(tie("schema")),
    };
  });
}

const [plain, rich] = [forms(false), forms(true)];

export const anySchema = rich.schema;
/** A schema for arguments: an object at the root. */
export const argumentSchema = rich.object;

function objectOf(member: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  return fc
    .record({
      entries: fc.uniqueArray(fc.tuple(fieldName, member, fc.boolean()), { maxLength: 4, selector: ([name]) => name }),
      extra: fc.constantFrom("absent", "absent", "closed", "typed"),
    })
    .map(({ entries, extra }) => {
      const required = entries.filter(([, , isRequired]) => isRequired).map(([name]) => name);
      return {
        type: "object",
        properties: Object.fromEntries(entries.map(([name, schema]) => [name, schema])),
        ...(required.length > 0 ? { required } : {}),
        ...(extra === "closed" ? { additionalProperties: false } : {}),
        ...(extra === "typed" ? { additionalProperties: { type: "string" } } : {}),
      };
    });
}

/** Two versions of one schema: the second with a few places replaced. */
export const schemaPair = pairOf(rich);
/** The same without the rare forms, about which checkers differ in ways of their own. */
export const plainPair = pairOf(plain);

function pairOf({ schema, object }: Forms): fc.Arbitrary<readonly [JsonObject, JsonObject]> {
  return fc.tuple(object, fc.array(fc.tuple(fc.nat(), fc.nat(), schema, word), { maxLength: 3 })).map(([before, edits]) => {
    let edited: JsonValue = before;
    for (const [place, kind, replacement, name] of edits) edited = edit(edited, place, kind, replacement, name);
    return [before, edited as JsonObject] as const;
  });
}

function edit(schema: JsonValue, place: number, kind: number, replacement: JsonObject, name: string): JsonValue {
  const objects: JsonObject[] = [];
  const copy = structuredClone(schema);
  collect(copy, objects);
  const target = objects[place % objects.length];
  if (target === undefined) return copy;
  const properties = (target["properties"] ??= {}) as JsonObject;
  const keys = Object.keys(properties);
  const key = keys[place % Math.max(1, keys.length)] ?? name;
  const required = new Set((target["required"] as string[] | undefined) ?? []);
  switch (kind % 7) {
    case 0:
      properties[key] = replacement;
      break;
    case 1:
      properties[name] = replacement;
      break;
    case 2:
      delete properties[key];
      required.delete(key);
      break;
    case 3:
      if (required.has(key)) required.delete(key);
      else if (keys.length > 0) required.add(key);
      break;
    case 4:
      if (target["additionalProperties"] === false) delete target["additionalProperties"];
      else target["additionalProperties"] = false;
      break;
    case 5:
      properties[key] = { anyOf: [properties[key] ?? {}, replacement] };
      break;
    default:
      properties[key] = { anyOf: [properties[key] ?? {}, { type: "null" }] };
  }
  if (required.size > 0) target["required"] = [...required];
  else delete target["required"];
  return copy;
}

function collect(schema: JsonValue, objects: JsonObject[]): void {
  if (typeof schema !== "object" || schema === null) return;
  if (Array.isArray(schema)) {
    for (const member of schema) collect(member, objects);
    return;
  }
  if (schema["type"] === "object") objects.push(schema);
  for (const keyword of ["items", "anyOf"]) if (schema[keyword] !== undefined) collect(schema[keyword], objects);
  const properties = schema["properties"];
  if (schema["type"] === "object" && typeof properties === "object" && properties !== null)
    for (const member of Object.values(properties)) collect(member, objects);
}
