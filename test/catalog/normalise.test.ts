import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/catalog/canonical.js";
import { normaliseSchema } from "../../src/catalog/normalise.js";
import type { JsonObject, JsonValue } from "../../src/model/json.js";
import { rewriteCosmetically } from "./rewrite.js";
import { anySchema, argumentSchema } from "./schemas.js";

const string = { type: "string" };

function sameForm(a: JsonValue, b: JsonValue): void {
  expect(canonicalJson(normaliseSchema(a))).toBe(canonicalJson(normaliseSchema(b)));
}

describe("the normal form of a schema", () => {
  it("is its own normal form", () => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        const once = normaliseSchema(schema);
        expect(normaliseSchema(once)).toEqual(once);
      }),
      { numRuns: 300 },
    );
  });

  it("is the same for every cosmetic rewriting of one contract", () => {
    fc.assert(
      fc.property(argumentSchema, fc.array(fc.nat(1_000), { minLength: 1, maxLength: 40 }), (schema, choices) => {
        sameForm(rewriteCosmetically(schema, choices), schema);
      }),
      { numRuns: 500 },
    );
  });

  const equal: readonly [string, JsonValue, JsonValue][] = [
    ["a list of types and anyOf with null", { type: ["string", "null"] }, { anyOf: [{ type: "null" }, string] }],
    ["nullable of OpenAPI", { type: "string", nullable: true }, { type: ["null", "string"] }],
    [
      "a default inside the only non-null branch",
      { anyOf: [{ ...string, default: "a" }, { type: "null" }] },
      { type: ["string", "null"], default: "a" },
    ],
    ["constants and an enumeration", { oneOf: [{ const: "b" }, { const: "a" }] }, { type: "string", enum: ["a", "b"] }],
    ["both booleans and the type", { enum: [true, false] }, { type: "boolean" }],
    ["a listed null and the type null", { enum: ["a", null] }, { anyOf: [{ const: "a" }, { type: "null" }] }],
    ["an impossible branch", { anyOf: [string, { not: {} }] }, string],
    ["the boolean schema false as a branch", { anyOf: [string, false] }, string],
    ["a branch that takes anything", { anyOf: [string, {}] }, {}],
    ["allOf with one member", { allOf: [string] }, string],
    [
      "allOf that adds up",
      { allOf: [{ properties: { a: string } }, { required: ["a"] }], type: "object" },
      { type: "object", properties: { a: string }, required: ["a"] },
    ],
    [
      "exclusive bounds of draft-04",
      { type: "number", minimum: 1, exclusiveMinimum: true },
      { type: "number", exclusiveMinimum: 1 },
    ],
    ["an exclusive bound of whole numbers", { type: "integer", exclusiveMinimum: 0 }, { type: "integer", minimum: 1 }],
    [
      "bounds at the edge of whole numbers",
      { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 },
      { type: "integer" },
    ],
    ["whole numbers as multiples of one", { type: "number", multipleOf: 1 }, { type: "integer" }],
    [
      "additionalProperties that say nothing",
      { type: "object", additionalProperties: true },
      { type: "object", additionalProperties: {} },
    ],
    ["names that are strings", { type: "object", propertyNames: { type: "string" } }, { type: "object" }],
    ["empty properties and required", { type: "object", properties: {}, required: [] }, { type: "object" }],
    [
      "tuples of draft-07",
      { type: "array", items: [string], additionalItems: false },
      { type: "array", prefixItems: [string], items: false },
    ],
    [
      "dependencies of draft-07",
      { type: "object", dependencies: { a: ["b"] } },
      { type: "object", dependentRequired: { a: ["b"] } },
    ],
    ["oneOf of kinds that cannot meet", { oneOf: [string, { type: "integer" }] }, { anyOf: [{ type: "integer" }, string] }],
    [
      "definitions under either word",
      { $ref: "#/definitions/A", definitions: { A: string } },
      { $ref: "#/$defs/B", $defs: { B: string } },
    ],
    [
      "a reference into properties",
      { type: "object", properties: { a: string, b: { $ref: "#/properties/a" } } },
      { type: "object", properties: { a: string, b: string } },
    ],
    [
      "a reference by anchor",
      { type: "object", properties: { a: { $ref: "#here" } }, $defs: { x: { $anchor: "here", ...string } } },
      { type: "object", properties: { a: string } },
    ],
    [
      "a reference by the document's own id",
      {
        $id: "https://example.org/s",
        type: "object",
        properties: { a: { $ref: "https://example.org/s#/$defs/A" } },
        $defs: { A: string },
      },
      { type: "object", properties: { a: string } },
    ],
    [
      "a draft-04 id reference",
      { type: "object", properties: { a: { $ref: "#w" } }, definitions: { W: { id: "#w", ...string } } },
      { type: "object", properties: { a: string } },
    ],
    [
      "a pointer with escapes",
      { type: "object", properties: { a: { $ref: "#/$defs/x~1y%20z" } }, $defs: { "x/y z": string } },
      { type: "object", properties: { a: string } },
    ],
    [
      "annotations",
      {
        ...string,
        title: "T",
        description: "D",
        $comment: "C",
        examples: ["x"],
        deprecated: true,
        "x-model": "M",
        readOnly: true,
      },
      string,
    ],
    [
      "null keywords",
      { type: "object", required: null, properties: { a: string } },
      { type: "object", properties: { a: string } },
    ],
    [
      "a branch said twice",
      { anyOf: [string, { type: "string", title: "again" }, { type: "integer" }] },
      { anyOf: [string, { type: "integer" }] },
    ],
    ["union with itself", { $ref: "#/$defs/A", $defs: { A: { anyOf: [{ $ref: "#/$defs/A" }, string] } } }, string],
  ];
  it.each(equal)("is the same for %s", (_title, a, b) => sameForm(a, b));

  const different: readonly [string, JsonValue, JsonValue][] = [
    ["a default", { ...string, default: "a" }, string],
    ["a default of null", { type: ["string", "null"], default: null }, { type: ["string", "null"] }],
    ["a format", { ...string, format: "uuid" }, string],
    ["a pattern", { ...string, pattern: "^a" }, string],
    ["an enumeration", { ...string, enum: ["a"] }, string],
    ["closed and open", { type: "object", additionalProperties: false }, { type: "object" }],
    ["a missing type", { properties: { a: string } }, { type: "object", properties: { a: string } }],
    ["nothing said and an object", {}, { type: "object" }],
    [
      "oneOf over forms that share values",
      {
        oneOf: [
          { type: "object", properties: { a: string } },
          { type: "object", properties: { b: string } },
        ],
      },
      {
        anyOf: [
          { type: "object", properties: { a: string } },
          { type: "object", properties: { b: string } },
        ],
      },
    ],
    ["a condition", { type: "object", if: { required: ["a"] }, then: { required: ["b"] } }, { type: "object" }],
    ["a reference that leads nowhere", { $ref: "https://example.org/other.json" }, {}],
    ["a type that no draft knows", { type: "any" }, {}],
  ];
  it.each(different)("tells apart %s", (_title, a, b) => {
    expect(canonicalJson(normaliseSchema(a))).not.toBe(canonicalJson(normaliseSchema(b)));
  });

  it("treats keywords as keywords only, never the names of parameters", () => {
    const properties: JsonObject = {};
    for (const name of [
      "title",
      "description",
      "default",
      "type",
      "id",
      "$ref",
      "$defs",
      "examples",
      "branches",
      "enum",
      "not",
      "__proto__",
    ])
      Object.defineProperty(properties, name, { value: string, enumerable: true, configurable: true, writable: true });
    const normal = normaliseSchema({ type: "object", properties, required: ["title", "$ref"] }) as JsonObject;
    expect(Object.keys(normal["properties"] as JsonObject).sort()).toEqual(Object.keys(properties).sort());
    expect(normal["required"]).toEqual(["$ref", "title"]);
  });

  it("keeps recursion finite, whatever way it is rolled up", () => {
    const rolled = { $ref: "#/$defs/N", $defs: { N: { type: "object", properties: { v: string, n: { $ref: "#/$defs/N" } } } } };
    const unrolled = {
      type: "object",
      properties: { v: string, n: { type: "object", properties: { v: string, n: { $ref: "#" } } } },
    };
    const twins = {
      $ref: "#/$defs/A",
      $defs: {
        A: { type: "object", properties: { v: string, n: { $ref: "#/$defs/B" } } },
        B: { type: "object", properties: { v: string, n: { $ref: "#/$defs/A" } } },
      },
    };
    sameForm(rolled, unrolled);
    sameForm(rolled, twins);
    expect(normaliseSchema(rolled)).toEqual({ type: "object", properties: { n: { $ref: "#" }, v: string } });
  });

  it("tells recursive schemas apart that differ somewhere inside", () => {
    const tree = (leaf: JsonObject): JsonObject => ({
      $ref: "#/$defs/N",
      $defs: { N: { type: "object", properties: { n: { $ref: "#/$defs/N" }, v: leaf } } },
    });
    expect(normaliseSchema(tree(string))).not.toEqual(normaliseSchema(tree({ type: "integer" })));
  });

  it("stays small where definitions multiply", () => {
    const definitions: JsonObject = { D40: string };
    for (let level = 0; level < 40; level += 1)
      definitions[`D${level}`] = {
        type: "object",
        properties: { l: { $ref: `#/$defs/D${level + 1}` }, r: { $ref: `#/$defs/D${level + 1}` } },
      };
    const text = canonicalJson(normaliseSchema({ $ref: "#/$defs/D0", $defs: definitions }));
    expect(text.length).toBeLessThan(100_000);
    expect(normaliseSchema(JSON.parse(text) as JsonValue)).toEqual(JSON.parse(text));
  });
});
