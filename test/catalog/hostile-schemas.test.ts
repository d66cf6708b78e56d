/** Schemas that are small to write and endless to work through: whoever lists one may not keep everybody else waiting. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readListing } from "../../src/catalog/intake.js";
import { normaliseSchema } from "../../src/catalog/normalise.js";
import { diffSchemas } from "../../src/catalog/schema-diff.js";
import type { UpstreamLabel } from "../../src/model/ids.js";
import type { JsonObject, JsonValue } from "../../src/model/json.js";

const label = "shop" as UpstreamLabel;
const range = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
const ref = (n: number): JsonObject => ({ $ref: `#/$defs/d${n}` });

/** `leaf` is what moves; each shape multiplies or nests it in another way. */
const SHAPES: Readonly<Record<string, (leaf: JsonValue, size: number) => JsonObject>> = {
  "references that nest": (leaf, size) =>
    defs(range(size).map((n) => (n === size - 1 ? leaf : { type: "object", properties: { next: ref(n + 1) } }))),
  "references that lead on and on": (leaf, size) => defs(range(size).map((n) => (n === size - 1 ? leaf : ref(n + 1)))),
  "a long circle of references": (leaf, size) =>
    defs(
      range(size).map((n) => ({
        type: "object",
        properties: { next: ref((n + 1) % size), ...(n === size - 1 ? { leaf } : {}) },
      })),
    ),
  "unions that double with every level": (leaf, size) =>
    defs(
      range(Math.min(size, 24)).map((n, _, all) =>
        n === all.length - 1 ? leaf : { anyOf: [ref(n + 1), { type: "object", properties: { x: ref(n + 1) } }] },
      ),
    ),
  "objects that double with every level": (leaf, size) =>
    defs(
      range(Math.min(size, 40)).map((n, _, all) =>
        n === all.length - 1 ? leaf : { type: "object", properties: { l: ref(n + 1), r: ref(n + 1) } },
      ),
    ),
  "intersections that double with every level": (leaf, size) =>
    defs(range(Math.min(size, 40)).map((n, _, all) => (n === all.length - 1 ? leaf : { allOf: [ref(n + 1), ref(n + 1)] }))),
  "a wide union of objects": (leaf, size) => ({
    type: "object",
    properties: {
      q: {
        oneOf: range(size).map((n) => ({ type: "object", properties: { kind: { const: n }, leaf }, required: ["kind"] })),
      },
    },
  }),
  "a wide union of unions": (leaf, size) => ({
    anyOf: range(Math.min(size, 300)).map((n) => ({
      type: "object",
      properties: { [`k${n}`]: { anyOf: range(8).map((m) => ({ type: "object", properties: { [`z${m}`]: leaf } })) } },
    })),
  }),
  "very many parameters": (leaf, size) => ({
    type: "object",
    properties: Object.fromEntries(range(size).map((n) => [`p${n}`, leaf])),
  }),
};

function defs(places: readonly JsonValue[]): JsonObject {
  return {
    type: "object",
    properties: { q: ref(0) },
    $defs: Object.fromEntries(places.map((place, n) => [`d${n}`, place])),
  };
}

const LEFT_OUT = ["tool-too-involved", "tool-too-large", "tool-too-deep"];

describe("a schema that is endless to work through", () => {
  for (const [what, make] of Object.entries(SHAPES)) {
    it(`neither ends a listing nor a comparison, and costs no other tool: ${what}`, () => {
      for (const size of [3, 40, 2_500]) {
        const [before, after] = [make({ type: "string" }, size), make({ type: "number" }, size)];
        const fine = { name: "fine", inputSchema: { type: "object" } };
        const { tools, problems } = readListing(label, [{ name: "hostile", inputSchema: before }, fine]);
        expect(tools.map((tool) => tool.name)).toContain("fine");
        if (size === 3) expect(tools).toHaveLength(2);
        else if (tools.length === 1) expect(LEFT_OUT).toContain(problems[0]?.code);
        for (const direction of ["input", "output"] as const) {
          const { changes, unclassified } = diffSchemas(before, after, direction);
          expect(unclassified).toEqual([]);
          if (size === 3) expect(changes.map((change) => change.text).join()).not.toContain("$large");
        }
      }
    });
  }

  it("is said to be undecided where a comparison is given up, beside what was found until then", () => {
    const make = SHAPES["a wide union of unions"];
    const { changes } = diffSchemas(make?.({ type: "string" }, 300) ?? {}, make?.({ type: "number" }, 300) ?? {}, "input");
    expect(changes.at(-1)).toMatchObject({ rule: "X2", verdict: "undecided", path: "" });
  });

  it("is left out of a listing with a reason where its references lead too far, its neighbours are kept", () => {
    const inputSchema = SHAPES["a long circle of references"]?.({ type: "string" }, 2_500) ?? {};
    const { tools, problems } = readListing(label, [
      { name: "a", inputSchema: {} },
      { name: "circle", inputSchema },
      { name: "b", inputSchema: {}, outputSchema: inputSchema },
    ]);
    expect(tools.map((tool) => tool.name)).toEqual(["a"]);
    expect(problems.filter((problem) => problem.code === "tool-too-involved").map((problem) => problem.where)).toEqual([
      "shop/circle",
      "shop/b",
    ]);
  });

  it("is left out where it is larger than any real one, by its schema or by its texts", () => {
    const long = "x".repeat(500_001);
    const { tools, problems } = readListing(label, [
      { name: "words", description: long, inputSchema: {} },
      { name: "values", inputSchema: { type: "object", properties: { q: { enum: range(60_000).map((n) => `value ${n}`) } } } },
      { name: "real", description: "x".repeat(90_000), inputSchema: {} },
    ]);
    expect(tools.map((tool) => tool.name)).toEqual(["real"]);
    expect(problems.map((problem) => problem.code)).toContain("tool-too-large");
  });

  it("keeps its own spelling as its normal form where no other can be found, which says nothing else", () => {
    const schema = SHAPES["references that nest"]?.({ type: "string" }, 2_500) ?? {};
    let heard = 0;
    expect(normaliseSchema(schema, () => (heard += 1))).toEqual(schema);
    expect(heard).toBe(1);
    expect(normaliseSchema({ type: "object" }, () => (heard += 1))).toEqual(normaliseSchema({ type: "object" }));
    expect(heard).toBe(1);
  });

  it("is compared to itself as equal, however involved", () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(SHAPES)), fc.integer({ min: 2, max: 120 }), (make, size) => {
        const schema = make({ type: "string" }, size);
        const { changes } = diffSchemas(schema, structuredClone(schema), "input");
        expect(changes.filter((change) => change.rule !== "X2")).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });
});
