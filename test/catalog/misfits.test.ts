import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Path } from "../../src/catalog/schema/misfits.js";
import { judgeOf } from "../../src/catalog/usage.js";
import type { JsonObject, JsonValue } from "../../src/model/json.js";
import { sentencesOf } from "../../src/operations/arguments.js";
import { argumentSchema } from "./schemas.js";

const said = (schema: JsonObject, args: JsonValue): string[] => {
  const judge = judgeOf(schema);
  expect(judge.accepts(args)).toBe(false);
  return sentencesOf(judge.misfits(args));
};
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: "object", properties, ...more });
const ITEM = object({ sku: { type: "string" }, qty: { type: "integer", minimum: 1 } }, { required: ["sku", "qty"] });
const TREE = object({ name: { type: "string" }, children: { type: "array", items: { $ref: "#" } } }, { required: ["name"] });
const PAYMENT = object({
  pay: {
    oneOf: [
      object({ by: { const: "card" }, number: { type: "string" } }, { required: ["by", "number"] }),
      object(
        { by: { const: "bill" }, to: object({ city: { type: "string" } }, { required: ["city"] }) },
        { required: ["by", "to"] },
      ),
    ],
  },
});
const proto = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}') as JsonObject;

const CASES: readonly (readonly [string, JsonObject, JsonObject, readonly string[]])[] = [
  [
    "a member missing in an item",
    object({ items: { type: "array", items: ITEM } }),
    { items: [{ sku: "a" }] },
    ["items[0].qty is missing (an integer)."],
  ],
  [
    "members missing on several levels",
    object({ a: object({ b: ITEM }) }, { required: ["a", "c"] }),
    { a: { b: {} } },
    ["c is missing.", "a.b.qty is missing (an integer).", "a.b.sku is missing (a string)."],
  ],
  [
    "numbers out of bounds",
    object({ n: { type: "integer", maximum: 10 }, m: { type: "number", exclusiveMinimum: 0, multipleOf: 0.5 } }),
    { n: 11, m: -0.2 },
    ["n must be at most 10.", "m must be more than 0.", "m must be a multiple of 0.5."],
  ],
  ["no whole number", object({ n: { type: "integer" } }), { n: 1.5 }, ["n must be an integer."]],
  [
    "lengths of texts",
    object({ a: { type: "string", minLength: 1 }, b: { type: "string", maxLength: 2 } }),
    { a: "", b: "😀😀😀" },
    ["a must have at least 1 character.", "b must have at most 2 characters."],
  ],
  [
    "lengths of lists",
    object({ a: { type: "array", minItems: 2 }, b: { type: "array", maxItems: 0 } }),
    { a: [1], b: [1] },
    ["a must have at least 2 items.", "b must have at most 0 items."],
  ],
  [
    "an item twice",
    object({ a: { type: "array", uniqueItems: true } }),
    { a: [1, { x: 1 }, { x: 1 }] },
    ["a[2] is the same as item 1; no item may be there twice."],
  ],
  [
    "a word that is not offered",
    object({ a: { enum: ["x", "y"] }, b: { const: 3 } }),
    { a: "z", b: 4 },
    ['a must be one of "x", "y".', "b must be 3."],
  ],
  [
    "another kind",
    object({ a: { type: ["string", "null"] }, b: object({ c: { type: "boolean" } }) }),
    { a: 1, b: { c: [] } },
    ["a must be null or a string, not a number.", "b.c must be a boolean, not an array."],
  ],
  [
    "a member that is not known",
    object({ a: object({ b: {}, c: {} }, { additionalProperties: false }) }),
    { a: { d: 1 } },
    ["a.d is not known here (known: b, c)."],
  ],
  [
    "a name out of bounds",
    object({ a: { type: "object", propertyNames: { maxLength: 2 } } }),
    { a: { long: 1 } },
    ["a.long has a name that is not accepted: it must have at most 2 characters."],
  ],
  ["too few members at the root", { type: "object", minProperties: 1 }, {}, ["The arguments must have at least 1 member."]],
  [
    "an item too many",
    object({ a: { type: "array", prefixItems: [{ type: "string" }], items: false } }),
    { a: ["x", 1] },
    ["a[1] is not accepted."],
  ],
  [
    "a recursive schema",
    TREE,
    { name: "a", children: [{ name: "b", children: [{ children: [] }] }] },
    ["children[0].children[0].name is missing (a string)."],
  ],
  [
    "the nearest of several forms",
    PAYMENT,
    { pay: { by: "bill", to: {} } },
    ["pay fits none of the 2 forms it may have; what follows is about the nearest.", "pay.to.city is missing (a string)."],
  ],
  [
    "two forms at once",
    object({
      a: {
        oneOf: [
          { type: "string", maxLength: 3 },
          { type: "string", minLength: 1 },
        ],
      },
    }),
    { a: "x" },
    ["a fits 2 of the forms it may have and must fit exactly one."],
  ],
  [
    "a form beside another kind",
    object({ a: { anyOf: [{ type: "integer", minimum: 1 }, { const: "all" }] } }),
    { a: 0 },
    ['a must be at least 1, or be "all".'],
  ],
  ["what every object inherits", proto, {}, ["__proto__ is missing (a string)."]],
  [
    "a name that is no word",
    object({ "odd name": object({ "": { type: "null" } }) }),
    { "odd name": { "": 1 } },
    ['["odd name"][""] must be null, not a number.'],
  ],
];

describe("what is wrong with arguments", () => {
  it.each(CASES)("is said by its place and what is wanted: %s", (_what, schema, args, expected) => {
    expect(said(schema, args)).toEqual(expected);
  });

  it("names a pattern where it is known not to match", () => {
    const judge = judgeOf(object({ mail: { type: "string", pattern: "^[^@]+@[^@]+$" } }), (pattern, text) =>
      new RegExp(pattern).test(text),
    );
    expect(sentencesOf(judge.misfits({ mail: "none" }))).toEqual(['mail must match the pattern "^[^@]+@[^@]+$".']);
    expect(judge.misfits({ mail: "a@b" })).toEqual([]);
  });

  it("is bounded in number and length, however much is wrong", () => {
    const schema = object({
      a: { type: "array", items: { enum: Array.from({ length: 500 }, (_, n) => `${n}-${"w".repeat(500)}`) } },
    });
    const sentences = said(schema, { a: Array.from({ length: 5_000 }, () => 7) });
    expect(sentences.length).toBe(11);
    expect(sentences.at(-1)).toBe("There is more of it.");
    expect(sentences.join(" ").length).toBeLessThan(12_000);
    const names = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`"${"k".repeat(5_000)}${n}`, 1]));
    expect(said(object({}, { additionalProperties: false }), names).join("").length).toBeLessThan(3_000);
  });

  it("ends where each of the forms of a recursive schema is asked about the same value on every level", () => {
    const form = (name: string): JsonObject =>
      object({ [name]: { type: "string" }, in: { $ref: "#/$defs/any" } }, { required: ["in"] });
    const schema: JsonObject = {
      $defs: { any: { anyOf: [form("a"), form("b"), form("c")] } },
      ...object({ in: { $ref: "#/$defs/any" } }),
    };
    let args: JsonObject = {};
    for (let level = 0; level < 400; level += 1) args = { in: args };
    const sentences = said(schema, args);
    expect(sentences.length).toBe(11);
    expect(sentences[0]).toBe("in fits none of the 3 forms it may have; what follows is about the nearest.");
  });
});

const scalar = fc.constantFrom<JsonValue>("a", "open", "42", "xylophone", 0, 1, 42, 2.5, true, null);
const keys = fc.constantFrom("id", "owner", "title", "type", "items", "a", "b", "x1");
const value = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof({ depthSize: "small" }, scalar, fc.array(tie("value"), { maxLength: 3 }), tie("object")),
  object: fc.dictionary(keys, tie("value"), { maxKeys: 5, noNullPrototype: true }),
}));

/** Where the reference validator finds fault, as a JSON pointer; a member that is missing or too many by its own place. */
function placeOf({ instancePath, params }: ErrorObject): string[] {
  const named = ["missingProperty", "additionalProperty", "propertyName"].map(
    (param) => (params as Record<string, unknown>)[param],
  );
  return [instancePath, ...named.filter((name) => typeof name === "string").map((name) => `${instancePath}/${name}`)];
}
/** The reference tells items that are doubled or too many by their list. */
const isOfList = (at: Path, says: string): boolean =>
  typeof at.at(-1) === "number" && (says.startsWith("is the same as item") || says === "is not accepted");

describe("the reason of a refusal", () => {
  it("is given whenever one is, at places alone where the reference validator finds fault too", () => {
    const reference = new Ajv2020({ strict: false, validateFormats: false, logger: false, allErrors: true });
    let refused = 0;
    fc.assert(
      fc.property(argumentSchema, value.object, (schema, args) => {
        const matches = (pattern: string, text: string): boolean => new RegExp(pattern, "u").test(text);
        const judge = judgeOf(schema, matches);
        const misfits = judge.misfits(args);
        expect(misfits.length > 0).toBe(judge.accepts(args) === false);
        if (misfits.length === 0) return;
        refused += 1;
        const check = reference.compile(schema);
        expect(check(args)).toBe(false);
        const places = new Set((check.errors ?? []).flatMap(placeOf));
        for (const { at, says } of misfits)
          expect([...places]).toContain((isOfList(at, says) ? at.slice(0, -1) : at).map((step) => `/${step}`).join(""));
        reference.removeSchema(schema);
      }),
      { numRuns: 300 },
    );
    expect(refused).toBeGreaterThan(100);
  });
});
