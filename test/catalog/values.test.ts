import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { worstVerdict } from "../../scripts/eval/drift-oracle.js";
import { schemaDiff } from "../../src/catalog/schema-diff.js";
import { broken, direction, expectHarmless } from "./harmless.js";
import { plainPair } from "./schemas.js";

/** What independent values say of verdicts: each is looked for by chance, and judged by the reference validator. */
describe("verdicts on schemas", () => {
  it(
    "call nothing harmless that refuses a value written by what was declared, or lets a new one come",
    { timeout: 60_000 },
    () => {
      expect(expectHarmless(150, 300)).toBeGreaterThan(10);
    },
  );

  it("call nothing breaking for which hardly ever a value shows it", { timeout: 60_000 }, () => {
    let [shown, all] = [0, 0];
    fc.assert(
      fc.property(plainPair, direction, (pair, way) => {
        const verdict = worstVerdict(schemaDiff(...pair, way));
        if (verdict !== "breaking" && verdict !== "edge") return;
        all += 1;
        if (broken(pair, way, "any", 3_000) !== undefined) shown += 1;
      }),
      { numRuns: 120 },
    );
    // Some are too deep to be met by chance.
    expect(shown).toBeGreaterThan(all * 0.85);
  });
});
