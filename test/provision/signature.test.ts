import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../src/model/json.js";
import { compactSignature, firstSentence } from "../../src/provision/signature.js";
import { sampleTool } from "./sample.js";

const signatureOf = (inputSchema: JsonObject, description = ""): string =>
  compactSignature(sampleTool("s/t", { inputSchema, description }));

/** Schemas of every shape upstreams publish, good and bad: nested, referenced, recursive, alternative, nonsense. */
const schemas = fc.letrec<{ schema: JsonValue; object: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.record({ type: fc.constantFrom("string", "integer", "boolean", "null", "nonsense") }),
    fc.record({ enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { maxLength: 20 }) }),
    fc.record({
      $ref: fc.constantFrom(
        "#",
        "#/$defs/a",
        "#/$defs/b",
        "#/$defs/none",
        "#/properties/x",
        "https://example.org/schema",
        "#%zz",
      ),
    }),
    fc.record({ type: fc.constantFrom<JsonValue>(["string", "null"], ["array", "object"]) }),
    fc.record({ type: fc.constant("array"), items: tie("schema") }),
    fc.record({ anyOf: fc.array(tie("schema"), { maxLength: 3 }) }),
    fc.record({ allOf: fc.array(tie("object"), { maxLength: 2 }) }),
    fc.constantFrom<JsonValue>(true, false, null, "x", {}),
    tie("object"),
  ),
  object: fc
    .record({
      names: fc.uniqueArray(
        fc.oneof(
          fc.stringMatching(/^[a-z_]{1,12}$/),
          fc.constantFrom("type", "$ref", "__proto__", "order id", "имя", "required"),
        ),
        { maxLength: 6 },
      ),
      types: fc.array(tie("schema"), { minLength: 6, maxLength: 6 }),
      needed: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
      more: fc.constantFrom<JsonObject>({}, { additionalProperties: false }, { if: {} }, { required: null as never }),
    })
    .map(({ names, types, needed, more }) => ({
      type: "object",
      properties: Object.fromEntries(names.map((name, i) => [name, types[i] ?? {}])),
      required: names.filter((_, i) => needed[i]),
      ...more,
    })),
}));

describe("laws of compact signatures", () => {
  it("every required parameter is named, nothing dangles, one line, whatever the schema is [C12]", () => {
    fc.assert(
      fc.property(schemas.object, schemas.object, schemas.schema, (object, a, b) => {
        const schema = { ...object, $defs: { a, b } } as JsonObject;
        const text = signatureOf(schema, "Does it. And more.");
        const { required } = schema;
        for (const name of Array.isArray(required) ? (required as string[]) : []) {
          const shown = /^[\p{L}\p{N}_.$-]+$/u.test(name) ? name : JSON.stringify(name);
          expect(text).toContain(`${shown}: `);
        }
        // A value that an enum allows is shown as it is, whatever it looks like.
        expect(text.replace(/"(?:[^"\\]|\\.)*"/g, '""')).not.toMatch(/#\/|\$defs|\n/);
        expect(text.endsWith(" — Does it.")).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  it("a tool is the same line every time, and a longer schema does not make an endless one", () => {
    const properties = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`optional_parameter_${i}`, { type: "string" }]));
    const text = signatureOf({ type: "object", properties: { ...properties, id: { type: "string" } }, required: ["id"] });
    expect(text).toMatch(/^s\/t\(id: string, optional_parameter_0\?: string, .*, ~\d+ optional\)$/);
    expect(text.length).toBeLessThan(400);
  });
});

describe("compact signatures", () => {
  const cases: [string, JsonObject, string][] = [
    [
      "types are said shortly",
      {
        type: "object",
        properties: {
          a: { type: "string" },
          b: { type: "array", items: { type: "integer" } },
          c: { type: "string", format: "date" },
          d: {},
        },
        required: ["a", "b"],
      },
      "s/t(a: string, b: integer[], c?: string<date>, d?: any)",
    ],
    [
      "required parameters come first",
      { type: "object", properties: { later: { type: "string" }, first: { type: "string" } }, required: ["first"] },
      "s/t(first: string, later?: string)",
    ],
    [
      "a required parameter that no property describes is named all the same",
      { type: "object", properties: {}, required: ["x"] },
      "s/t(x: any)",
    ],
    [
      "enumerations are short, and say when there is more",
      {
        type: "object",
        properties: { mode: { enum: ["a", "b"] }, code: { enum: Array.from({ length: 50 }, (_, i) => `value-${i}`) } },
        required: ["mode", "code"],
      },
      's/t(mode: "a"|"b", code: "value-0"|"value-1"|"value-2"|"value-3"|"value-4"|"value-5"|~)',
    ],
    [
      "objects are spelt out two levels deep",
      {
        type: "object",
        properties: {
          o: {
            type: "object",
            properties: { p: { type: "object", properties: { q: { type: "object", properties: { r: { type: "string" } } } } } },
            required: ["p"],
          },
        },
        required: ["o"],
      },
      "s/t(o: {p: {q?: object~}})",
    ],
    [
      "a large object keeps the names of what must be given",
      {
        type: "object",
        properties: {
          o: {
            type: "object",
            properties: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`field_${i}`, { type: "string" }])),
            required: ["field_3"],
          },
        },
      },
      "s/t(o?: {field_3, ~})",
    ],
    [
      "references are inlined",
      {
        type: "object",
        properties: { a: { $ref: "#/$defs/address" } },
        $defs: { address: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
      },
      "s/t(a?: {city: string})",
    ],
    [
      "a recursive reference ends",
      {
        type: "object",
        properties: { n: { $ref: "#/$defs/node" } },
        required: ["n"],
        $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
      },
      "s/t(n: {next?: any~})",
    ],
    [
      "null beside a type is said",
      { type: "object", properties: { a: { anyOf: [{ type: "string" }, { type: "null" }] }, b: { type: ["integer", "null"] } } },
      "s/t(a?: string|null, b?: integer|null)",
    ],
    [
      "parts joined by allOf are one object",
      {
        type: "object",
        allOf: [{ properties: { a: { type: "string" } }, required: ["a"] }, { properties: { b: { type: "number" } } }],
      },
      "s/t(a: string, b?: number)",
    ],
    [
      "alternatives at the root are told to be there [C15]",
      {
        type: "object",
        anyOf: [
          { properties: { a: { type: "string" } }, required: ["a"] },
          { properties: { b: { type: "string" } }, required: ["b"] },
        ],
      },
      "s/t(a?: string, b?: string, ~)",
    ],
    [
      "what every alternative requires is required",
      {
        type: "object",
        oneOf: [
          { properties: { id: { type: "string" }, x: { const: 1 } }, required: ["id", "x"] },
          { properties: { id: { type: "string" } }, required: ["id"] },
        ],
      },
      "s/t(id: string, x?: 1, ~)",
    ],
    ["no parameters, no noise", { type: "object" }, "s/t()"],
  ];
  for (const [title, schema, expected] of cases) it(title, () => expect(signatureOf(schema)).toBe(expected));

  it("end with the first sentence, whatever the description is made of", () => {
    const sentences: [string, string][] = [
      ["Cancel an order. Shipped ones stay.", "Cancel an order."],
      ["## Cancel\n\nCancel an order.", "Cancel"],
      ["Sends e.g. a mail to v1.2 hosts. More.", "Sends e.g. a mail to v1.2 hosts."],
      ["Cancel\nan order\n\nMore.", "Cancel an order"],
      ["- Cancels an order!\n- And more", "Cancels an order!"],
      ["取消订单。更多内容。", "取消订单。"],
      ["   \n***\n", ""],
      ["", ""],
    ];
    for (const [text, expected] of sentences) expect(firstSentence(text)).toBe(expected);
    const long = firstSentence(`${"word ".repeat(60)}end.`);
    expect([long.length <= 160, long.endsWith(" word~")]).toEqual([true, true]);
    expect(compactSignature(sampleTool("s/t", { title: "A title" }))).toBe("s/t() — A title");
  });

  it("carry no invisible characters and no line breaks of an upstream [S03]", () => {
    const text = signatureOf(
      { type: "object", properties: { "na\u200bme": { enum: ["a\u{E0041}b\nc"] } }, required: ["na\u200bme"] },
      "Read\u202e it\u0007.",
    );
    expect(text).toBe('s/t("name": "ab\\nc") — Read it.');
  });
});
