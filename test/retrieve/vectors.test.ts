import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadGraphAddon } from "../../src/host/addon.js";
import { growGraph } from "../../src/retrieve/nominate.js";
import { emptyVectors, hasVector, moveVectors, nearest, unit } from "../../src/retrieve/vectors.js";
import type { VectorIndex } from "../../src/retrieve/vector-rows.js";
import { seeded } from "../../scripts/eval/figures.js";

const DIMENSION = 6;
const vector = fc
  .array(fc.integer({ min: -9, max: 9 }), { minLength: DIMENSION, maxLength: DIMENSION })
  .map((numbers) => unit(numbers))
  .filter((made) => made !== undefined);
const id = fc.constantFrom("a", "b", "c", "d", "e", "f");
const move = fc.record({ put: fc.array(fc.tuple(id, vector), { maxLength: 4 }), removed: fc.array(id, { maxLength: 2 }) });

function built(rows: ReadonlyMap<string, Float32Array>): VectorIndex {
  return moveVectors(emptyVectors(DIMENSION), { put: rows, removed: [] });
}

function ids(index: VectorIndex, need: Float32Array, count = 9): string[] {
  return nearest(index, need, count).hits.map((hit) => hit.id);
}

describe("an index of vectors", () => {
  it("finds what lies nearest, nearest first, equal ones by id", () => {
    fc.assert(
      fc.property(fc.dictionary(id, vector), vector, (rows, need) => {
        const cosines = Object.entries(rows).map(([one, row]) => ({
          one,
          cosine: row.reduce((sum, x, i) => sum + x * (need[i] ?? 0), 0),
        }));
        const { hits } = nearest(built(new Map(Object.entries(rows))), need, 3);
        expect(hits).toHaveLength(Math.min(3, cosines.length));
        hits.forEach((hit, i) => {
          expect(hit.nearness).toBeCloseTo(cosines.find(({ one }) => one === hit.id)?.cosine ?? Number.NaN, 5);
          const before = hits[i - 1];
          if (before !== undefined) expect(before.nearness > hit.nearness || before.id < hit.id).toBe(true);
        });
        const least = Math.min(...hits.map(({ nearness }) => nearness));
        for (const { one, cosine } of cosines)
          if (!hits.some((hit) => hit.id === one)) expect(cosine).toBeLessThanOrEqual(least + 1e-5);
      }),
    );
  });

  it("answers after any history of changes exactly like one built afresh, and older faces as they did", () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 8 }), vector, (moves, need) => {
        const present = new Map<string, Float32Array>();
        let index = emptyVectors(DIMENSION);
        const faces: [VectorIndex, ReturnType<typeof nearest>][] = [];
        for (const { put, removed } of moves) {
          index = moveVectors(index, { put, removed });
          for (const one of removed) present.delete(one);
          for (const [one, row] of put) present.set(one, row);
          faces.push([index, nearest(index, need, 9)]);
        }
        expect(nearest(index, need, 9)).toEqual(nearest(built(present), need, 9));
        for (const one of ["a", "b", "c"]) expect(hasVector(index, one)).toBe(present.has(one));
        for (const [face, answer] of faces) expect(nearest(face, need, 9)).toEqual(answer);
      }),
    );
  });

  it("gives back the room of what left", () => {
    const axis = (n: number): Float32Array => Float32Array.from({ length: DIMENSION }, (_, i) => (i === n % DIMENSION ? 1 : 0));
    let index = emptyVectors(DIMENSION);
    for (let n = 0; n < 2_000; n++) index = moveVectors(index, { put: [["one", axis(n)]], removed: [] });
    expect(index.count).toBe(1);
    expect(index.shared.ids.length).toBeLessThan(1_000);
    expect(ids(index, axis(1_999))).toEqual(["one"]);
  });

  it("takes no vector of another length, and no need of another length finds anything", () => {
    const one = unit([1, 2, 3]) ?? new Float32Array(3);
    expect(() => moveVectors(emptyVectors(DIMENSION), { put: [["a", one]], removed: [] })).toThrow("3 numbers in an index of 6");
    expect(ids(built(new Map([["a", unit([1, 0, 0, 0, 0, 0]) ?? one]])), one)).toEqual([]);
  });

  it.each([[[0, 0, 0]], [[Number.NaN, 1]], [[Number.POSITIVE_INFINITY, 1]], [[]]])("%j is no direction [L09]", (numbers) => {
    expect(unit(numbers)).toBeUndefined();
  });
});

describe("a graph that nominates", () => {
  const addon = loadGraphAddon();
  const random = seeded(5);
  const made = (dimension: number): Float32Array =>
    unit(Array.from({ length: dimension }, () => random() + random() - 1)) ?? new Float32Array(dimension);
  const rows = Array.from({ length: 1_500 }, (_, n) => [`r${n}`, made(24)] as const);
  const whole = moveVectors(emptyVectors(24), { put: rows, removed: [] });
  const needs = Array.from({ length: 60 }, () => made(24));
  const recall = (index: VectorIndex): number => {
    const found = needs.map((need) => {
      const exact = ids(index, need, 10);
      const named = nearest(index, need, 10, 0).hits.map((hit) => hit.id);
      return exact.filter((one) => named.includes(one)).length / exact.length;
    });
    return found.reduce((sum, one) => sum + one, 0) / found.length;
  };

  it.skipIf(addon === undefined)("misses at most one in a hundred, and its hits have the exact cosine", () => {
    if (addon === undefined) return;
    expect(growGraph(addon, whole, 1_000)).toBe(false);
    expect(growGraph(addon, whole, 1_000)).toBe(true);
    expect(whole.shared.nominator?.covered).toBe(1_500);
    expect(recall(whole)).toBeGreaterThanOrEqual(0.99);
    const [need] = needs;
    if (need === undefined) return;
    const exact = new Map(nearest(whole, need, 1_500).hits.map((hit) => [hit.id, hit.nearness]));
    for (const hit of nearest(whole, need, 10, 0).hits) expect(hit.nearness).toBe(exact.get(hit.id));
  });

  it.skipIf(addon === undefined)("covers what came later by looking at it, and never names what left", () => {
    if (addon === undefined) return;
    let index = moveVectors(emptyVectors(24), { put: rows.slice(0, 1_000), removed: [] });
    growGraph(addon, index, 1_000);
    index = moveVectors(index, { put: rows.slice(1_000), removed: rows.slice(0, 300).map(([one]) => one) });
    expect(recall(index)).toBeGreaterThanOrEqual(0.99);
    const gone = new Set<string>(rows.slice(0, 300).map(([one]) => one));
    for (const need of needs) expect(nearest(index, need, 40, 0).hits.some((hit) => gone.has(hit.id))).toBe(false);
  });

  it("that is not there leaves every row looked at [P12]", () => {
    const index = moveVectors(emptyVectors(24), { put: rows.slice(0, 200), removed: [] });
    const [need] = needs;
    if (need === undefined) throw new Error("no need");
    expect(nearest(index, need, 10, 0)).toEqual(nearest(index, need, 10));
  });
});
