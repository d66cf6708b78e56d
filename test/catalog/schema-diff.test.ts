import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/catalog/canonical.js";
import { normaliseSchema } from "../../src/catalog/normalise.js";
import { ALL_RULES, type Direction } from "../../src/catalog/rules.js";
import { diffSchemas, schemaDiff } from "../../src/catalog/schema-diff.js";
import type { Observation } from "../../src/catalog/schema/observation.js";
import { readSchema } from "../../src/catalog/schema/read.js";
import { observe } from "../../src/catalog/schema/walk.js";
import type { JsonObject, JsonValue } from "../../src/model/json.js";
import { rewriteCosmetically } from "./rewrite.js";
import { argumentSchema, schemaPair } from "./schemas.js";

const string: JsonObject = { type: "string" };
const number: JsonObject = { type: "number" };

/** An object with these parameters; a name with `!` is required. */
function object(members: Record<string, JsonValue>, more: JsonObject = {}): JsonObject {
  const names = Object.keys(members);
  const required = names.filter((name) => name.endsWith("!")).map((name) => name.slice(0, -1));
  const properties = Object.fromEntries(Object.entries(members).map(([name, schema]) => [name.replace(/!$/, ""), schema]));
  return { type: "object", properties, ...(required.length > 0 ? { required } : {}), ...more };
}
const closed = { additionalProperties: false };

/** `rule verdict field` of each change, sorted. */
function said(before: JsonValue, after: JsonValue, direction: Direction): string[] {
  return schemaDiff(before, after, direction)
    .map((change) => [change.rule, change.verdict, change.field ?? "-"].join(" "))
    .sort();
}

describe("rules for parameters", () => {
  const cases: readonly [string, JsonValue, JsonValue, string[]][] = [
    ["I1: a required parameter came", object({ a: string }), object({ a: string, "b!": number }), ["I1 breaking b"]],
    ["I2: a required parameter came, with a default", object({}), object({ "b!": { ...number, default: 1 } }), ["I2 risky b"]],
    ["I3: an optional parameter came", object({ a: string }), object({ a: string, b: number }), ["I3 compatible b"]],
    [
      "I3: an optional parameter came into a closed object",
      object({}, closed),
      object({ b: number }, closed),
      ["I3 compatible b"],
    ],
    ["I4: a parameter became required", object({ a: string }), object({ "a!": string }), ["I4 breaking a"]],
    [
      "I4: a parameter became required, with a default",
      object({ a: { ...string, default: "x" } }),
      object({ "a!": { ...string, default: "x" } }),
      ["I4 risky a"],
    ],
    ["I5: a parameter became optional", object({ "a!": string }), object({ a: string }), ["I5 compatible a"]],
    ["I6: a parameter left a closed object", object({ a: string }, closed), object({}, closed), ["I6 breaking a"]],
    ["I7: a parameter left an open object", object({ a: string }), object({}), ["I7 risky a"]],
    [
      "I6: a parameter left into a map that refuses its values",
      object({ a: string }, { additionalProperties: number }),
      object({}, { additionalProperties: number }),
      ["I6 breaking a"],
    ],
    ["I8: a parameter has another name", object({ orderId: string }), object({ order_id: string }), ["I8 risky orderId"]],
    [
      "I8: a required parameter has another name",
      object({ "orderId!": string }),
      object({ "order_id!": string }),
      ["I8 breaking orderId"],
    ],
    [
      "I8: in a closed object",
      object({ orderId: string }, closed),
      object({ order_id: string }, closed),
      ["I8 breaking orderId"],
    ],
    [
      "I8 and I1: the new name is required and the old was not",
      object({ orderId: string }),
      object({ "order_id!": string }),
      ["I1 breaking order_id", "I8 breaking orderId"],
    ],
    ["I9: null is taken too", object({ a: string }), object({ a: { type: ["string", "null"] } }), ["I9 compatible a"]],
    ["I9: whole numbers became numbers", object({ a: { type: "integer" } }), object({ a: number }), ["I9 compatible a"]],
    [
      "I9: a further form is taken",
      object({ a: { anyOf: [object({ "x!": string }), string] } }),
      object({ a: { anyOf: [object({ "x!": string }), object({ "y!": string }), string] } }),
      ["I9 compatible a"],
    ],
    ["I9: anything is taken", object({ a: string }), object({ a: {} }), ["I9 compatible a"]],
    ["I10: another type", object({ a: string }), object({ a: number }), ["I10 breaking a"]],
    ["I10: numbers became whole numbers", object({ a: number }), object({ a: { type: "integer" } }), ["I10 edge a"]],
    ["I10: null is not taken any more", object({ a: { type: ["string", "null"] } }), object({ a: string }), ["I10 edge a"]],
    [
      "I10: the type that was meant is named now",
      object({ a: { properties: { x: string } } }),
      object({ a: { type: "object", properties: { x: string } } }),
      ["I10 edge a"],
    ],
    [
      "I10: a form is gone",
      object({ a: { anyOf: [object({ "x!": string }), object({ "y!": number }, closed)] } }),
      object({ a: { anyOf: [object({ "y!": number }, closed)] } }),
      ["I10 breaking a"],
    ],
    ["I11: listed values are gone", object({ a: { enum: ["x", "y"] } }), object({ a: { enum: ["x"] } }), ["I11 breaking a"]],
    ["I11: values are listed now", object({ a: string }), object({ a: { enum: ["x"] } }), ["I11 breaking a"]],
    ["I12: further values", object({ a: { enum: ["x"] } }), object({ a: { enum: ["x", "y"] } }), ["I12 compatible a"]],
    ["I12: values are not listed any more", object({ a: { enum: ["x"] } }), object({ a: string }), ["I12 compatible a"]],
    [
      "I12: a value moved to another branch that takes it",
      object({ a: { enum: ["x", 1] } }),
      object({ a: { anyOf: [{ enum: ["x"] }, number] } }),
      ["I12 compatible a"],
    ],
    [
      "I13: a bound was tightened",
      object({ a: { ...number, maximum: 9 } }),
      object({ a: { ...number, maximum: 5 } }),
      ["I13 edge a"],
    ],
    ["I13: a pattern came", object({ a: string }), object({ a: { ...string, pattern: "^x" } }), ["I13 breaking a"]],
    [
      "I13: items must differ now",
      object({ a: { type: "array", items: string } }),
      object({ a: { type: "array", items: string, uniqueItems: true } }),
      ["I13 edge a"],
    ],
    [
      "I13: an end became exclusive",
      object({ a: { ...number, minimum: 1 } }),
      object({ a: { ...number, exclusiveMinimum: 1 } }),
      ["I13 edge a"],
    ],
    [
      "I14: a bound was loosened",
      object({ a: { ...number, minimum: 5 } }),
      object({ a: { ...number, minimum: 1 } }),
      ["I14 compatible a"],
    ],
    ["I14: undeclared keys are taken", object({ a: string }, closed), object({ a: string }), ["I14 compatible -"]],
    [
      "I14: fewer multiples are asked for",
      object({ a: { type: "integer", multipleOf: 6 } }),
      object({ a: { type: "integer", multipleOf: 3 } }),
      ["I14 compatible a"],
    ],
    [
      "I15: another format",
      object({ a: { ...string, format: "date" } }),
      object({ a: { ...string, format: "date-time" } }),
      ["I15 risky a"],
    ],
    ["I15: no format any more", object({ a: { ...string, format: "date" } }), object({ a: string }), ["I15 compatible a"]],
    ["I16: another default", object({ a: { ...number, default: 1 } }), object({ a: { ...number, default: 2 } }), ["I16 risky a"]],
    [
      "I16: a default of null came",
      object({ a: { type: ["string", "null"] } }),
      object({ a: { type: ["string", "null"], default: null } }),
      ["I16 compatible a"],
    ],
    ["I17: undeclared keys are refused", object({ a: string }), object({ a: string }, closed), ["I17 risky -"]],
    [
      "I17: a map takes nothing any more",
      object({ m: { type: "object", additionalProperties: string } }),
      object({ m: { type: "object", additionalProperties: false } }),
      ["I17 breaking m"],
    ],
    [
      "I17: an object of free form takes nothing any more",
      object({ m: { type: "object" } }),
      object({ m: { type: "object", additionalProperties: false } }),
      ["I17 breaking m"],
    ],
    [
      "I17: an object of free form takes some values only",
      object({ m: { type: "object", additionalProperties: true } }),
      object({ m: { type: "object", additionalProperties: { enum: [1, -1] } } }),
      ["I17 breaking m"],
    ],
    ["I17: a tool without parameters says so", object({}), object({}, closed), ["I17 risky -"]],
    [
      "X2: the parameters are published",
      { $schema: "http://json-schema.org/draft-07/schema#" },
      object({ "a!": string }),
      ["X2 risky -"],
    ],
    ["X2: the parameters are not published any more", object({ "a!": string }), {}, ["X2 risky -"]],
    [
      "X2: a condition that is not reasoned about",
      object({ a: string }, { if: { required: ["a"] }, then: { required: ["b"] } }),
      object({ a: string }),
      ["X2 undecided -"],
    ],
    [
      "nested parameters by their path",
      object({ f: object({ list: { type: "array", items: object({ sku: string }) } }) }),
      object({ f: object({ list: { type: "array", items: object({ sku: number }) } }) }),
      ["I10 breaking f.list[].sku"],
    ],
    [
      "values of a map",
      object({ m: { type: "object", additionalProperties: string } }),
      object({ m: { type: "object", additionalProperties: number } }),
      ["I10 breaking m.*"],
    ],
    [
      "one definition used twice, at both places",
      { ...object({ p: { $ref: "#/$defs/D" }, q: { $ref: "#/$defs/D" } }), $defs: { D: string } },
      { ...object({ p: { $ref: "#/$defs/D" }, q: { $ref: "#/$defs/D" } }), $defs: { D: number } },
      ["I10 breaking p", "I10 breaking q"],
    ],
    [
      "recursion, once",
      { $ref: "#/$defs/N", $defs: { N: object({ n: { $ref: "#/$defs/N" }, v: string }) } },
      { $ref: "#/$defs/N", $defs: { N: object({ n: { $ref: "#/$defs/N" }, v: number }) } },
      ["I10 breaking v"],
    ],
    [
      "forms told apart by a constant are compared one to one",
      object({ a: { oneOf: [object({ "kind!": { const: "x" }, v: string }), object({ "kind!": { const: "y" }, v: string })] } }),
      object({ a: { oneOf: [object({ "kind!": { const: "y" }, v: number }), object({ "kind!": { const: "x" }, v: string })] } }),
      ["I10 breaking a.v"],
    ],
    [
      "a narrowed form of which another form takes the values, and ignores them",
      object({ a: { anyOf: [object({ x: string }), object({ y: string, "z!": string })] } }),
      object({ a: { anyOf: [object({ x: string }), object({ y: string, "z!": string, "w!": string })] } }),
      ["I1 risky a.w"],
    ],
    [
      "a form whose values another form takes but for keys that nobody declared",
      object({ a: { anyOf: [object({ x: string }), { type: "object", additionalProperties: string }] } }),
      object({ a: { anyOf: [object({ x: number }), { type: "object", additionalProperties: string }] } }),
      ["I10 risky a.x"],
    ],
    [
      "a form of a map whose values no other form takes",
      object({ a: { anyOf: [{ type: "object", additionalProperties: number }, object({ x: string })] } }),
      object({ a: { anyOf: [{ type: "object", additionalProperties: string }, object({ x: string })] } }),
      ["I10 breaking a.*"],
    ],
    [
      "a member of which no value was taken, beside a map, that takes some now",
      object({ a: { allOf: [string, number] } }, { additionalProperties: string }),
      object({ a: number }, { additionalProperties: string }),
      ["I3 compatible a"],
    ],
    [
      "members that are required but not declared",
      object({}, { required: ["a"] }),
      object({}, { required: ["a", "b"] }),
      ["I1 breaking b"],
    ],
    ["a forbidden member is a removed one", object({ a: string, b: string }), object({ a: string, b: false }), ["I6 breaking b"]],
    [
      "parameters called like keywords",
      object({ type: string, default: string }),
      object({ type: number, default: string }),
      ["I10 breaking type"],
    ],
  ];
  it.each(cases)("%s", (_title, before, after, expected) => {
    expect(said(before, after, "input")).toEqual([...expected].sort());
  });

  it("says where, what it was and what it is", () => {
    const [change] = schemaDiff(
      object({ f: object({ "a/b": { ...number, minimum: 1 } }) }),
      object({ f: object({ "a/b": { ...number, minimum: 3 } }) }),
      "input",
    );
    expect(change).toMatchObject({
      rule: "I13",
      path: "/properties/f/properties/a~1b",
      field: "f.a/b",
      before: { minimum: 1 },
      after: { minimum: 3 },
    });
    expect(change?.text).toContain("`f.a/b`");
  });

  it("says where another form of a union lets through what one form lost", () => {
    const forms = (v: JsonObject): JsonValue => object({ a: { anyOf: [object({ x: v }), object({ y: string })] } });
    expect(schemaDiff(forms(string), forms(number), "input").map((change) => change.text)).toEqual([
      "`a.x` does not take string any more, but number; another form of it still lets such values through",
    ]);
    expect(schemaDiff(forms(string), forms(number), "output").map((change) => change.text)).toEqual([
      "field `a.x` may be number now; another form of it let such values through before",
    ]);
  });

  it("names the new name of a renamed parameter in its place", () => {
    const [change] = schemaDiff(object({ f: object({ orderId: string }) }), object({ f: object({ order_id: string }) }), "input");
    expect(change).toMatchObject({ rule: "I8", field: "f.orderId", renamedTo: "f.order_id" });
  });

  const notRenamed: readonly [string, JsonObject, JsonObject][] = [
    ["another type", object({ orderId: string }), object({ order_id: number })],
    ["nothing in common", object({ city: string }), object({ size: string })],
    ["two equally good partners", object({ id: string }), object({ "order id": string, "user id": string })],
    ["disjoint listed values", object({ sort_by: { enum: ["a"] } }), object({ sortBy: { enum: ["z"] } })],
  ];
  it.each(notRenamed)("takes nothing for a rename with %s", (_title, before, after) => {
    expect(schemaDiff(before, after, "input").map((change) => change.rule)).not.toContain("I8");
  });

  it("knows a renamed parameter by its description where the names share nothing", () => {
    const described = { ...string, description: "The account that pays for the order." };
    expect(said(object({ payer: described }), object({ billing: described }), "input")).toEqual(["I8 risky payer"]);
  });
});

describe("rules for results", () => {
  const cases: readonly [string, JsonValue, JsonValue, string[]][] = [
    ["O1: the shape is published", {}, object({ a: string }), ["O1 compatible -"]],
    ["O2: the shape is withdrawn", object({ a: string }), {}, ["O2 risky -"]],
    ["O3: a field was removed", object({ "a!": string }), object({}), ["O3 breaking a"]],
    ["O3: a field may be missing", object({ "a!": string }), object({ a: string }), ["O3 breaking a"]],
    ["O3: an optional field left a closed result", object({ a: string }, closed), object({}, closed), ["O3 risky a"]],
    ["O4: a field was added", object({}), object({ a: string }), ["O4 compatible a"]],
    ["O4: a field was added over a closed result", object({}, closed), object({ a: string }, closed), ["O4 risky a"]],
    ["O4: undeclared fields may come", object({}, closed), object({}), ["O4 risky -"]],
    ["O5: another type", object({ a: string }), object({ a: number }), ["O5 breaking a"]],
    ["O5: null may come", object({ a: string }), object({ a: { type: ["string", "null"] } }), ["O5 edge a"]],
    ["O5: any number may come", object({ a: { type: "integer" } }), object({ a: number }), ["O5 edge a"]],
    [
      "O5: a further form may come",
      object({ a: { anyOf: [object({ "x!": string })] } }),
      object({ a: { anyOf: [object({ "x!": string }), object({ "y!": string })] } }),
      ["O5 breaking a"],
    ],
    [
      "O5: another format",
      object({ a: { ...string, format: "date" } }),
      object({ a: { ...string, format: "time" } }),
      ["O5 risky a"],
    ],
    ["O6: further values", object({ a: { enum: ["x"] } }), object({ a: { enum: ["x", "y"] } }), ["O6 breaking a"]],
    [
      "O6: a bound was loosened",
      object({ a: { ...number, maximum: 5 } }),
      object({ a: { ...number, maximum: 9 } }),
      ["O6 edge a"],
    ],
    ["O7: fewer values", object({ a: { enum: ["x", "y"] } }), object({ a: { enum: ["x"] } }), ["O7 compatible a"]],
    ["O7: null does not come any more", object({ a: { type: ["string", "null"] } }), object({ a: string }), ["O7 compatible a"]],
    ["O7: a field always comes", object({ a: string }), object({ "a!": string }), ["O7 compatible a"]],
    ["O7: nothing undeclared comes", object({ a: string }), object({ a: string }, closed), ["O7 compatible -"]],
    [
      "O7: a default says nothing about results",
      object({ a: string }),
      object({ a: { ...string, default: "x" } }),
      ["O7 cosmetic a"],
    ],
    ["X2: a condition that is not reasoned about", object({}), object({}, { not: { required: ["a"] } }), ["X2 undecided -"]],
    [
      "O5: a form that wins what another form had",
      object({ a: { anyOf: [object({ id: number }, closed), { type: "object", additionalProperties: string }] } }),
      object({
        a: { anyOf: [object({ id: { type: ["number", "string"] } }, closed), { type: "object", additionalProperties: string }] },
      }),
      ["O5 compatible a.id"],
    ],
    [
      "O5: a form that wins more than another form had",
      object({ a: { anyOf: [object({ id: number }, closed), { type: "object", additionalProperties: string }] } }),
      object({
        a: { anyOf: [object({ id: { type: ["number", "boolean"] } }, closed), { type: "object", additionalProperties: string }] },
      }),
      ["O5 breaking a.id"],
    ],
    [
      "a renamed field is one that left and one that came",
      object({ "orderId!": string }),
      object({ "order_id!": string }),
      ["O3 breaking orderId", "O4 compatible order_id"],
    ],
  ];
  it.each(cases)("%s", (_title, before, after, expected) => {
    expect(said(before, after, "output")).toEqual([...expected].sort());
  });
});

describe("the differ", () => {
  // The same pairs every time. A few pairs in ten thousand have a branch all of whose values another branch takes: the normal form
  // leaves it standing, so that a digest moves and nothing changed, and in unions of arrays the order of branches can then show.
  const runs = { numRuns: 500, seed: 7 };

  it("finds nothing between a schema and itself, however it is written", () => {
    fc.assert(
      fc.property(argumentSchema, fc.array(fc.nat(1_000), { minLength: 1, maxLength: 40 }), (schema, choices) => {
        const rewritten = rewriteCosmetically(schema, choices);
        for (const direction of ["input", "output"] as const) expect(schemaDiff(schema, rewritten, direction)).toEqual([]);
      }),
      runs,
    );
  });

  it("finds something exactly where the normal form moved, and classifies all of it", () => {
    fc.assert(
      fc.property(schemaPair, ([before, after]) => {
        const equal = canonicalJson(normaliseSchema(before)) === canonicalJson(normaliseSchema(after));
        for (const direction of ["input", "output"] as const) {
          const { changes, unclassified } = diffSchemas(before, after, direction);
          expect(unclassified).toEqual([]);
          expect(changes.length === 0).toBe(equal);
        }
      }),
      runs,
    );
  });

  it("sees the same from both sides: what one way tightens, the other loosens at the same place", () => {
    fc.assert(
      fc.property(schemaPair, ([before, after]) => {
        // What cannot be decided counts as lost one way and as won the other.
        fc.pre(!/"not"|"if"|"pattern(Properties)?"/.test(JSON.stringify([before, after])));
        const forth = observe(readSchema(before), readSchema(after), { findsRenames: false });
        const back = observe(readSchema(after), readSchema(before), { findsRenames: false });
        expect(places(forth, (seen) => DUAL[seen.kind] ?? seen.kind)).toEqual(places(back, (seen) => seen.kind));
      }),
      runs,
    );
  });

  it("does not depend on the order in which anything is written", () => {
    fc.assert(
      fc.property(schemaPair, fc.array(fc.nat(1_000), { minLength: 1, maxLength: 40 }), ([before, after], choices) => {
        const rewritten = [rewriteCosmetically(before, choices), rewriteCosmetically(after, [...choices].reverse())] as const;
        expect(said(...rewritten, "output")).toEqual(said(before, after, "output"));
      }),
      runs,
    );
  });

  it("counts what a shorter table of rules does not claim", () => {
    const { changes, unclassified } = diffSchemas(
      object({}),
      object({ "a!": string }),
      "input",
      ALL_RULES.filter((entry) => entry.rule !== "I1"),
    );
    expect(changes).toEqual([]);
    expect(unclassified.map((seen) => seen.kind)).toEqual(["member-added"]);
  });

  it("is quick and finite on schemas that multiply or mesh", () => {
    const mesh = (leaf: JsonObject): JsonObject => {
      const names = Array.from({ length: 12 }, (_, index) => `D${index}`);
      const members = Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }]));
      return { $ref: "#/$defs/D0", $defs: Object.fromEntries(names.map((name) => [name, object({ ...members, v: leaf })])) };
    };
    expect(schemaDiff(mesh(string), mesh(string), "input")).toEqual([]);
    expect(schemaDiff(mesh(string), mesh(number), "input").length).toBeGreaterThan(0);
  });
});

const DUAL: Partial<Record<Observation["kind"], Observation["kind"]>> = {
  "contract-published": "contract-lost",
  "contract-lost": "contract-published",
  "member-added": "member-removed",
  "member-removed": "member-added",
  "member-required": "member-optional",
  "member-optional": "member-required",
  "integer-introduced": "integer-lifted",
  "integer-lifted": "integer-introduced",
  "values-lost": "values-won",
  "values-won": "values-lost",
  "values-introduced": "values-lifted",
  "values-lifted": "values-introduced",
  "limit-tightened": "limit-loosened",
  "limit-loosened": "limit-tightened",
  "extras-closed": "extras-opened",
  "extras-opened": "extras-closed",
  "branch-lost": "branch-won",
  "branch-won": "branch-lost",
};

/** What was seen where. What a key of a map becomes when it is declared is told one way only, and left aside. */
function places(observations: readonly Observation[], word: (seen: Observation) => string): string[] {
  const moved = new Set<Observation>(
    observations.filter((seen) => seen.kind === "member-added" || seen.kind === "member-removed"),
  );
  const fields = [...moved].map((seen) => seen.field ?? "");
  const isInside = (seen: Observation): boolean =>
    !moved.has(seen) &&
    fields.some(
      (field) =>
        seen.field === field || (/^[.[]/.test((seen.field ?? "").slice(field.length)) && (seen.field ?? "").startsWith(field)),
    );
  return observations
    .filter((seen) => !isInside(seen))
    .map((seen) => `${word(seen)} ${seen.field ?? ""}`)
    .sort();
}
