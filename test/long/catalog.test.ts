import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agreement, CLASSES, oracleAccepts } from "../../scripts/eval/drift-oracle.js";
import { schemaDiff } from "../../src/catalog/schema-diff.js";
import { direction, expectHarmless } from "../catalog/harmless.js";
import { faults, realTools } from "../catalog/mutation-check.js";
import { MUTATIONS } from "../catalog/mutations.js";
import { plainPair } from "../catalog/schemas.js";

describe("the differ, at length", () => {
  it("agrees with an independent checker on generated pairs, or differs for a reason that has a name", () => {
    fc.assert(
      fc.property(plainPair, direction, ([before, after], way) => {
        const accepted = oracleAccepts(before, after, way);
        const found = agreement({ before, after, direction: way, accepted }, schemaDiff(before, after, way));
        expect(["agree", ...CLASSES.map((one) => one.name)]).toContain(found);
      }),
      { numRuns: 1_500, interruptAfterTimeLimit: 400_000 },
    );
  });

  it("calls nothing harmless that refuses a value written by what was declared, or lets a new one come", () => {
    expect(expectHarmless(1_500, 1_000)).toBeGreaterThan(100);
  });

  const real = realTools(1);
  it.each(MUTATIONS)("gives the level it must, on every real tool: $name", (kind) => {
    expect(real.flatMap((tool) => faults(kind, tool))).toEqual([]);
  });
});
