import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diversify } from "../../src/retrieve/mmr.js";

const item = fc.record({ worth: fc.double({ min: 0, max: 1, noNaN: true }), kind: fc.integer({ min: 0, max: 3 }) });
const alike = (a: { kind: number }, b: { kind: number }): number => (a.kind === b.kind ? 1 : 0);

describe("relevant, and not what was chosen already", () => {
  it("chooses as many as asked for, each once", () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 12 }), fc.integer({ min: 0, max: 15 }), (items, limit) => {
        const chosen = diversify(items, { limit, lambda: 0.7, relevance: ({ worth }) => worth, similarity: alike });
        expect(chosen.length).toBe(Math.min(limit, items.length));
        expect(new Set(chosen).size).toBe(chosen.length);
      }),
    );
  });

  it("is the order of relevance with λ = 1", () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 12 }), (items) => {
        const chosen = diversify(items, { limit: items.length, lambda: 1, relevance: ({ worth }) => worth, similarity: alike });
        expect(chosen.map(({ worth }) => worth)).toEqual(items.map(({ worth }) => worth).sort((a, b) => b - a));
      }),
    );
  });

  it("begins with the most relevant, whatever λ above 0", () => {
    fc.assert(
      fc.property(
        fc.array(item, { minLength: 1, maxLength: 12 }),
        fc.double({ min: 0.1, max: 1, noNaN: true }),
        (items, lambda) => {
          const [first] = diversify(items, { limit: 1, lambda, relevance: ({ worth }) => worth, similarity: alike });
          // Weighed, as it is compared: the smallest numbers there are vanish under a weight.
          expect((first?.worth ?? NaN) * lambda).toBe(Math.max(...items.map(({ worth }) => worth)) * lambda);
        },
      ),
    );
  });

  it("prefers a different kind to a second of the same that is a little better [R08]", () => {
    const items = [
      { name: "best", worth: 1, kind: 1 },
      { name: "its double", worth: 0.95, kind: 1 },
      { name: "something else", worth: 0.8, kind: 2 },
    ];
    const chosen = diversify(items, { limit: 2, lambda: 0.7, relevance: ({ worth }) => worth, similarity: alike });
    expect(chosen.map(({ name }) => name)).toEqual(["best", "something else"]);
  });
});
