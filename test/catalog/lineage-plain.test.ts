import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readVersions, seriesNames } from "../../scripts/eval/lineage.js";
import { candidatesOf, targetOf, type Target } from "../../src/catalog/lineage/candidates.js";
import { corpusOf, type Corpus } from "../../src/catalog/lineage/corpus.js";
import { keeperOf, LINEAGE_GATES } from "../../src/catalog/lineage/gates.js";
import { assignModes, heldTools } from "../../src/catalog/lineage/method.js";
import { profileOf, type Profile } from "../../src/catalog/lineage/profile.js";
import { kinshipOf, splitsByModes, splitsByWords, type Kinship } from "../../src/catalog/lineage/split.js";
import { votes } from "../../src/catalog/lineage/votes.js";
import { words } from "../../src/catalog/lineage/words.js";
import type { Tool } from "../../src/model/tool.js";
import { sharedData } from "../data.js";
import { CATALOGS } from "./lineage-catalogs.js";
import { plainCandidates, plainModes, plainVotes, plainWords, spell } from "./lineage-plain.js";
import { STYLES } from "./lineage-styles.js";
import { movement, renamed, tool } from "./lineage-tools.js";

const keeper = keeperOf(LINEAGE_GATES);

/** Few words, so that names share beginnings, ends and changes, and some names are the same words in another spelling. */
const word = fc.constantFrom("acme", "get", "list", "manage", "order", "orders", "note", "case", "by", "id");
const name = fc
  .tuple(fc.array(word, { minLength: 0, maxLength: 5 }), fc.constantFrom("_", "-", "."))
  .map(([parts, between]) => (parts.length === 0 ? "_" : parts.join(between)));
const madeTool = fc
  .tuple(name, fc.array(word, { maxLength: 6 }), fc.uniqueArray(word, { maxLength: 3 }), fc.boolean())
  .map(([spelt, said, fields, chooses]) =>
    tool(`desk/${spelt}`, said.join(" "), {
      ...Object.fromEntries(fields.map((field) => [field, "string"])),
      ...(chooses ? { "method!": "string(get|list|note) What to do." } : {}),
    }),
  );
const catalogOf = (most: number) => fc.uniqueArray(madeTool, { maxLength: most, selector: (one) => one.key, size: "max" });
const spelling = fc.constantFrom(...Object.values(STYLES));

/** What moves between two catalogs: made ones, and small written ones of which a part is spelt anew. */
const moves = fc.oneof(
  fc.tuple(catalogOf(14), catalogOf(14)),
  fc
    .tuple(fc.constantFrom(...CATALOGS), spelling, fc.integer({ min: 1, max: 4 }))
    .map(([tools, spell, each]): [Tool[], Tool[]] => {
      const after = tools.map((one, at) => (at % each === 0 ? renamed(one, spell(one.name)) : one));
      return [[...tools], [...new Map(after.map((one) => [one.key, one])).values()]];
    }),
);

interface Sides {
  readonly olds: readonly Profile[];
  readonly news: readonly Profile[];
  readonly targets: readonly Target[];
  readonly corpus: Corpus;
}

function sidesOf(before: readonly Tool[], after: readonly Tool[]): Sides {
  const { removed, added, kept } = movement(before, after);
  const corpus = corpusOf([...removed, ...kept.map((pair) => pair.before)], [...added, ...kept.map((pair) => pair.after)]);
  const read = (tools: readonly Tool[]): Profile[] => tools.map((one) => profileOf(one, corpus));
  const [olds, news] = [read(removed), read(added)];
  const stayed = kept.map((pair) => targetOf(profileOf(pair.after, corpus), profileOf(pair.before, corpus), "kept", new Set()));
  return { olds, news, targets: [...news.map((next) => targetOf(next, undefined, "added", new Set())), ...stayed], corpus };
}

function expectVotes({ olds, news }: Sides, settledPairs: number, least: number): void {
  const settled = olds.slice(0, Math.min(settledPairs, news.length)).map((old, at) => ({ old, next: news[at] ?? old }));
  const [left, right] = [olds.slice(settled.length), news.slice(settled.length)];
  const found = votes(left, right, settled, (count) => count >= least);
  const plain = [...plainVotes(left, right, settled)].filter(([, rule]) => rule.edges.length >= least);
  const rules = new Map(found.map(({ from, to, inside, edges }) => [`${spell(from)} > ${spell(to)}`, { inside, edges }]));
  expect(found).toHaveLength(plain.length);
  for (const [key, { inside, edges }] of plain) {
    expect(rules.get(key)?.inside).toBe(inside);
    expect(rules.get(key)?.edges.map(keysOf)).toEqual(edges.map(keysOf));
  }
}

function keysOf({ old, next, settled }: { old: Profile; next: Profile; settled: boolean }): unknown {
  return [old.tool.key, next.tool.key, settled];
}

function expectCandidates({ olds, targets, corpus }: Sides): void {
  const [found, plain] = [candidatesOf(olds, targets, corpus, keeper), plainCandidates(olds, targets, corpus, keeper)];
  expect([...found.keys()]).toEqual([...plain.keys()]);
  for (const [old, own] of plain)
    expect(found.get(old)?.map((one) => [one.target.profile.tool.key, one.score])).toEqual(
      own.map((one) => [one.target.profile.tool.key, one.score]),
    );
}

function expectModes({ olds, targets, corpus }: Sides): void {
  const held = heldTools(olds);
  for (const target of targets) {
    const found = assignModes(held, target, corpus, keeper).map(({ old, fit }) => [old.tool.key, fit.label, fit.exact, fit.fit]);
    expect(found).toEqual(plainModes(olds, target, corpus).map((one) => [one.old.tool.key, one.label, one.exact, one.fit]));
  }
}

function expectSplits({ olds, news, corpus }: Sides): void {
  const kin = kinshipOf(olds, news, corpus, keeper);
  const plain: Kinship = { ...kin, partsOf: () => undefined };
  const keys = (of: ReturnType<typeof splitsByWords>): unknown =>
    of.map(({ old, parts, ...said }) => ({ ...said, old: old.tool.key, parts: parts.map((part) => part.tool.key) }));
  expect(keys(splitsByModes(olds, news, kin, corpus, keeper))).toEqual(keys(splitsByModes(olds, news, plain, corpus, keeper)));
  expect(keys(splitsByWords(olds, news, kin, keeper))).toEqual(keys(splitsByWords(olds, news, plain, keeper)));
}

describe("the short ways of the search for successors find what laying everything beside everything finds", () => {
  it("for the words of any text", () => {
    const letters = fc.string({ unit: fc.constantFrom(..."aAbBzZ09_- .\n\0~éÄKﬁ\u3000"), maxLength: 24 });
    fc.assert(
      fc.property(fc.oneof(letters, fc.string({ unit: "grapheme" })), (text) => {
        expect(words(text)).toEqual(plainWords(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it("for the changes of words that pairs of names vote for", () => {
    fc.assert(
      fc.property(moves, fc.integer({ min: 0, max: 3 }), fc.integer({ min: 1, max: 4 }), ([before, after], settled, least) => {
        expectVotes(sidesOf(before, after), settled, least);
      }),
      { numRuns: 120 },
    );
  });

  it("for the candidates of each tool, and their scores to the last digit", () => {
    fc.assert(
      // More than are compared with one tool.
      fc.property(fc.oneof(moves, fc.tuple(catalogOf(6), catalogOf(60))), ([before, after]) => {
        expectCandidates(sidesOf(before, after));
      }),
      { numRuns: 80 },
    );
  });

  it("for old tools that became modes of a target", () => {
    fc.assert(
      fc.property(moves, ([before, after]) => expectModes(sidesOf(before, after))),
      { numRuns: 120 },
    );
  });

  it("for tools that were split", () => {
    fc.assert(
      fc.property(moves, ([before, after]) => expectSplits(sidesOf(before, after))),
      { numRuns: 120 },
    );
  });

  const data = sharedData("evolution");
  it.skipIf(data === undefined)("for real histories, where they are there", () => {
    const root = sharedData("") ?? "";
    for (const series of seriesNames(root)) {
      const versions = readVersions(root, series);
      const [first, last] = [versions[0], versions.at(-1)];
      const sides = sidesOf([...(first?.tools.values() ?? [])], [...(last?.tools.values() ?? [])]);
      expectVotes(sides, 0, 3);
      expectCandidates(sides);
      expectModes(sides);
      expectSplits(sides);
    }
  });
});

describe("a large catalog whose names all begin alike", () => {
  it("is searched without laying every name beside every other", () => {
    // Not a clock: sixteen million pairs that each stand for a change of their own would not come back.
    const names = Array.from({ length: 4_000 }, (_none, at) => `thing${at % 61}_part${Math.floor(at / 61)}_of${at % 7}`);
    const sides = sidesOf(
      names.map((one) => tool(`desk/acme_${one}`, "")),
      names.map((one) => tool(`desk/acme_tool_${one}`, "")),
    );
    const found = votes(sides.olds, sides.news, [], (count) => count >= 3);
    const rule = found.find(({ from, to }) => spell(from) === "" && spell(to) === "tool");
    expect(rule?.edges).toHaveLength(4_000);
    expect(rule?.inside).toBe(true);
  });
});
