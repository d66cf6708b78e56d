import { Ajv } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { validates } from "../../src/catalog/usage.js";
import type { JsonObject, JsonValue } from "../../src/model/json.js";
import { argumentSchema } from "./schemas.js";

const options = { strict: false, validateFormats: false, logger: false } as const;
const DIALECTS = [
  ["draft-07", "http://json-schema.org/draft-07/schema#", new Ajv(options)],
  ["2019-09", "https://json-schema.org/draft/2019-09/schema", new Ajv2019(options)],
  ["2020-12", "https://json-schema.org/draft/2020-12/schema", new Ajv2020(options)],
] as const;

const scalar = fc.constantFrom<JsonValue>("a", "b", "open", "42", "xylophone", "2026-01-01", 0, 1, 3, 42, 2.5, true, false, null);
const keys = fc.constantFrom("id", "owner", "title", "type", "default", "items", "limit", "a", "b", "x1");
const value = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof({ depthSize: "small" }, scalar, fc.array(tie("value"), { maxLength: 3 }), tie("object")),
  object: fc.dictionary(keys, tie("value"), { maxKeys: 5, noNullPrototype: true }),
}));

describe.each(DIALECTS)("arguments against a schema of %s", (_name, dialect, reference) => {
  it("are taken and refused as the reference validator does, wherever anything is said", { timeout: 60_000 }, () => {
    let said = 0;
    fc.assert(
      fc.property(argumentSchema, value.object, (schema, args) => {
        // `prefixItems` is a word of 2020-12 alone.
        fc.pre(dialect.includes("2020") || !JSON.stringify(schema).includes("prefixItems"));
        const whole = { $schema: dialect, ...schema };
        const ours = validates(whole, args, [], (pattern, text) => new RegExp(pattern, "u").test(text));
        if (ours === "undecided") return;
        said += 1;
        expect(ours).toBe(reference.compile(whole)(args));
        reference.removeSchema(whole);
      }),
      { numRuns: 300 },
    );
    expect(said).toBeGreaterThan(150);
  });
});

describe("patterns", () => {
  const schema: JsonObject = {
    type: "object",
    properties: { id: { type: "string", pattern: "^A" } },
    patternProperties: { "^x-": { type: "number" } },
    additionalProperties: false,
  };

  it("are never run: what they say is told, and undecided where it is not", () => {
    const asked: string[] = [];
    const answers = new Map([
      ["^A A1", true],
      ["^A B1", false],
    ]);
    const matches = (pattern: string, text: string): boolean | undefined => {
      asked.push(`${pattern} ${text}`);
      return answers.get(`${pattern} ${text}`);
    };
    const simple: JsonObject = { type: "object", properties: { id: { type: "string", pattern: "^A" } } };
    expect(validates(simple, { id: "A1" }, [], matches)).toBe(true);
    expect(validates(simple, { id: "B1" }, [], matches)).toBe(false);
    expect(validates(simple, { id: "C1" }, [], matches)).toBe("undecided");
    expect(validates(simple, { id: "A1" })).toBe("undecided");
    expect(asked).toEqual(["^A A1", "^A B1", "^A C1"]);
  });

  it("decide which keys a schema for others is for", () => {
    const run = (pattern: string, text: string): boolean => new RegExp(pattern).test(text);
    expect(validates(schema, { "x-a": 1 }, [], run)).toBe(true);
    expect(validates(schema, { "x-a": "1" }, [], run)).toBe(false);
    expect(validates(schema, { other: 1 }, [], run)).toBe(false);
    expect(validates(schema, { other: 1 })).toBe("undecided");
  });
});
