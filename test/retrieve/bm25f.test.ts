import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Bm25fIndex, Document } from "../../src/retrieve/bm25f.js";
import { buildIndex, hasTerm, idOf, isKnown, moveIndex, payloadOf, slotOf, slotsWith } from "../../src/retrieve/bm25f.js";
import type { Bm25fScoring } from "../../src/retrieve/contribution.js";
import { contribution, rarityOf } from "../../src/retrieve/contribution.js";

const SHAPE = { fieldCount: 3, orderedFields: 2 };
const SCORING: Bm25fScoring = {
  weights: [2, 1, 0.5],
  bs: [0.5, 0.75, 1],
  k1: 1.5,
  idfPower: 1.1,
  everyday: { terms: new Set(["c"]), share: 0.5 },
};
const TERMS = ["a", "b", "c", "d", "e", "f"];

const fields = fc.array(fc.array(fc.constantFrom(...TERMS), { maxLength: 6 }), { minLength: 3, maxLength: 3 });
const id = fc.constantFrom("p", "q", "r", "s", "t", "u", "v");
const step = fc.record({
  put: fc.uniqueArray(fc.record({ id, fields }), { selector: (document) => document.id, maxLength: 4 }),
  removed: fc.uniqueArray(id, { maxLength: 3 }),
});
type Step = { put: { id: string; fields: string[][] }[]; removed: string[] };

function document(made: { id: string; fields: string[][] }): Document<string> {
  return { ...made, payload: `payload of ${made.id}` };
}

/** Everything the index says, by id: independent of slots and term numbers. */
function answers(index: Bm25fIndex<string>): unknown {
  return {
    documents: index.documents,
    terms: TERMS.map((term) => {
      const one = contribution(index, term, SCORING);
      const scores = one === undefined ? [] : [...one.slots].map((slot, i) => [idOf(index, slot), one.scores[i]] as const);
      const number = index.shared.termOf.get(term);
      return {
        term,
        known: isKnown(index, term),
        rarity: scores.length === 0 || number === undefined ? undefined : rarityOf(index, number),
        scores: scores.sort(([a], [b]) => (a < b ? -1 : 1)),
        having: slotsWith(index, term)
          .map((slot) => idOf(index, slot))
          .sort(),
      };
    }),
    order: ["p", "q", "r", "s", "t", "u", "v"].map((name) => {
      const slot = slotOf(index, name);
      if (slot === undefined) return undefined;
      const { order, terms } = index.shared;
      const words = [...order.data.slice(order.startOf(slot), order.endOf(slot))].map(
        (number) => terms[number] ?? `field ${number % 16}`,
      );
      return { name, payload: payloadOf(index, slot), words, has: TERMS.filter((term) => hasTerm(index, slot, term)) };
    }),
  };
}

function rebuilt(documents: ReadonlyMap<string, string[][]>): Bm25fIndex<string> {
  return buildIndex(
    SHAPE,
    [...documents].map(([name, made]) => document({ id: name, fields: made })),
  );
}

function apply(documents: ReadonlyMap<string, string[][]>, { put, removed }: Step): Map<string, string[][]> {
  const after = new Map(documents);
  for (const name of removed) after.delete(name);
  for (const made of put) after.set(made.id, made.fields);
  return after;
}

function move(index: Bm25fIndex<string>, { put, removed }: Step): Bm25fIndex<string> {
  return moveIndex(index, { put: put.map(document), removed });
}

describe("an index that moves with its documents", () => {
  it("answers exactly like one built afresh, after any history of changes", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        let documents: Map<string, string[][]> = new Map();
        let index = rebuilt(documents);
        for (const one of steps) {
          documents = apply(documents, one);
          index = move(index, one);
        }
        expect(answers(index)).toEqual(answers(rebuilt(documents)));
      }),
    );
  });

  it("leaves older faces answering as they did, whatever grows from them", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), step, step, (steps, left, right) => {
        let documents: Map<string, string[][]> = new Map();
        let index = rebuilt(documents);
        for (const one of steps) {
          documents = apply(documents, one);
          index = move(index, one);
        }
        const before = answers(index);
        const first = move(index, left);
        const second = move(index, right);
        expect(answers(index)).toEqual(before);
        expect(answers(first)).toEqual(answers(rebuilt(apply(documents, left))));
        expect(answers(second)).toEqual(answers(rebuilt(apply(documents, right))));
      }),
    );
  });

  it("is itself where nothing moved, and counts one operation for each document that did", () => {
    const index = rebuilt(new Map([["p", [["a"], [], []]]]));
    expect(moveIndex(index, { put: [], removed: ["nobody"] })).toBe(index);
    const moved = moveIndex(index, { put: [document({ id: "p", fields: [["b"], [], []] })], removed: [] });
    expect(moved.operations - index.operations).toBe(1);
    expect(moveIndex(moved, { put: [], removed: ["p"] }).operations - moved.operations).toBe(1);
  });

  it("compacts itself once most of it is dead, and answers the same", () => {
    const made = (round: number, n: number): { id: string; fields: string[][] } => ({
      id: `document ${n}`,
      fields: [[TERMS[(n + round) % 6] ?? "a"], [TERMS[n % 6] ?? "a"], []],
    });
    const all = Array.from({ length: 300 }, (_, n) => n);
    let index = buildIndex(
      SHAPE,
      all.map((n) => document(made(0, n))),
    );
    for (let round = 1; round <= 5; round++) {
      for (const n of all) index = moveIndex(index, { put: [document(made(round, n))], removed: [] });
    }
    const fresh = buildIndex(
      SHAPE,
      all.map((n) => document(made(5, n))),
    );
    expect(index.shared.ids.length).toBeLessThan(2 * all.length + 300);
    for (const term of TERMS) {
      const scores = (one: Bm25fIndex<string>): unknown => {
        const found = contribution(one, term, SCORING);
        return found === undefined ? [] : [...found.slots].map((slot, i) => `${idOf(one, slot)} ${found.scores[i]}`).sort();
      };
      expect(scores(index)).toEqual(scores(fresh));
    }
  });

  it("refuses a document given twice in one build", () => {
    const twice = [document({ id: "p", fields: [["a"]] }), document({ id: "p", fields: [["b"]] })];
    expect(() => buildIndex(SHAPE, twice)).toThrow("document given twice: p");
  });
});

describe("what a term contributes", () => {
  const index = buildIndex(SHAPE, [
    document({ id: "short name", fields: [["a"], [], []] }),
    document({ id: "long name", fields: [["a", "d", "e", "f"], [], []] }),
    document({ id: "text", fields: [["d"], ["a"], []] }),
    document({ id: "often", fields: [["d"], ["a", "a", "a"], []] }),
    document({ id: "other", fields: [["e"], ["f"], ["b"]] }),
  ]);
  const score = (name: string, term = "a"): number => {
    const found = contribution(index, term, SCORING);
    const at = found === undefined ? -1 : [...found.slots].findIndex((slot) => idOf(index, slot) === name);
    return found?.scores[at] ?? 0;
  };

  it("is more in a heavier field, more in a shorter field, more for more occurrences, and less for each further one [R02]", () => {
    expect(score("short name")).toBeGreaterThan(score("long name"));
    expect(score("short name")).toBeGreaterThan(score("text"));
    expect(score("often")).toBeGreaterThan(score("text"));
    expect(score("often")).toBeLessThan(3 * score("text"));
    expect(score("other")).toBe(0);
  });

  it("is more for a rarer term, and capped for a word of everyday language", () => {
    const rare = buildIndex(SHAPE, [
      document({ id: "1", fields: [["b"], [], []] }),
      document({ id: "2", fields: [["c"], [], []] }),
      ...["3", "4", "5", "6"].map((name) => document({ id: name, fields: [["d"], [], []] })),
    ]);
    const top = (term: string): number => contribution(rare, term, SCORING)?.scores[0] ?? 0;
    expect(top("b")).toBeGreaterThan(top("d"));
    expect(top("c")).toBeLessThan(top("b"));
  });
});
