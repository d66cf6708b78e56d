import fc from "fast-check";
import { expect } from "vitest";
import { worstVerdict } from "../../scripts/eval/drift-oracle.js";
import { witness } from "../../scripts/eval/witness.js";
import type { Direction } from "../../src/catalog/rules.js";
import { schemaDiff } from "../../src/catalog/schema-diff.js";
import type { JsonObject, JsonValue } from "../../src/model/json.js";
import { schemaPair } from "./schemas.js";

export const direction = fc.constantFrom<Direction>("input", "output");

/** A value that was fine and is not: for parameters one that was taken, for results one that did not come. */
export function broken(
  [before, after]: readonly [JsonObject, JsonObject],
  way: Direction,
  keys: "any" | "declared",
  tries: number,
): JsonValue | undefined {
  return way === "input" ? witness(before, after, keys, tries) : witness(after, before, keys, tries);
}

/** The law: what is called harmless refuses no value written by what was declared, and lets none come. Returns how many were. */
export function expectHarmless(pairs: number, tries: number): number {
  let harmless = 0;
  fc.assert(
    fc.property(schemaPair, direction, (pair, way) => {
      const verdict = worstVerdict(schemaDiff(...pair, way));
      if (verdict !== "compatible" && verdict !== "cosmetic") return;
      harmless += 1;
      expect(broken(pair, way, "declared", tries)).toBeUndefined();
    }),
    { numRuns: pairs, interruptAfterTimeLimit: 300_000 },
  );
  return harmless;
}
