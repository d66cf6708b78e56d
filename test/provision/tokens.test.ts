import { countTokens as reference } from "gpt-tokenizer/encoding/o200k_base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countTokens, tokensAtMost } from "../../src/provision/tokens.js";

describe("tokens", () => {
  it("are those of o200k, for any text people write", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ maxLength: 600, unit: "binary" }), fc.lorem({ maxCount: 60 })), (text) => {
        expect(countTokens(text)).toBe(reference(text, { disallowedSpecial: new Set() }));
      }),
      { numRuns: 200 },
    );
  });

  it("count a model's special marks as the text they are: a description cannot stop a view", () => {
    expect(countTokens("<|endoftext|><|im_start|>")).toBeGreaterThan(2);
  });

  it("never number more than the bound that is quick to tell", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300, unit: "binary" }), (text) => {
        expect(countTokens(text)).toBeLessThanOrEqual(tokensAtMost(text));
      }),
    );
  });

  it("of a text without any stop are counted in pieces, a few per thousand too many at the most", () => {
    const text = "荷物".repeat(1_500);
    const exact = reference(text);
    expect(countTokens(text)).toBeGreaterThanOrEqual(exact);
    expect(countTokens(text)).toBeLessThanOrEqual(exact * 1.01 + 1);
    expect(countTokens(`${"日".repeat(60_000)}.${" ".repeat(60_000)}${"=".repeat(60_000)}`)).toBeGreaterThan(1_000);
  });
});
