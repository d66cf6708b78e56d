import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agreement, CLASSES, oracleAccepts, worstVerdict } from "../../scripts/eval/drift-oracle.js";
import { schemaDiff } from "../../src/catalog/schema-diff.js";
import { direction } from "./harmless.js";
import { argumentSchema, plainPair } from "./schemas.js";

/** The independent checker takes 30–100 ms a pair: few runs here, many in the long tests. */
describe("against an independent compatibility checker", () => {
  it("breaking and not breaking agree for generated pairs, or differ for a reason that has a name", () => {
    fc.assert(
      fc.property(plainPair, direction, ([before, after], way) => {
        const changes = schemaDiff(before, after, way);
        const found = agreement({ before, after, direction: way, accepted: oracleAccepts(before, after, way) }, changes);
        expect(["agree", ...CLASSES.map((one) => one.name)]).toContain(found);
      }),
      { numRuns: 25 },
    );
  });

  it("takes every schema for compatible with itself", () => {
    fc.assert(
      fc.property(argumentSchema, (schema) => {
        expect(worstVerdict(schemaDiff(schema, structuredClone(schema), "input"))).toBe("equal");
        expect(oracleAccepts(schema, schema, "input")).not.toBe(false);
      }),
      { numRuns: 10 },
    );
  });
});
