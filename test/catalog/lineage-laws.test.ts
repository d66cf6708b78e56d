import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { playHistory, readRows, readVersions, scoreHistory } from "../../scripts/eval/lineage.js";
import { findLineage, successors } from "../../src/catalog/lineage.js";
import { sharedData } from "../data.js";
import { CATALOGS } from "./lineage-catalogs.js";
import { deleteQuarter, emptyTally, renameAll, swapServer, swapSiblings } from "./lineage-negative.js";
import { STYLES } from "./lineage-styles.js";
import { movement, renamed } from "./lineage-tools.js";

const catalog = fc.constantFrom(...CATALOGS);
/** A random source that fast-check can shrink and repeat. */
const random = fc.integer().map((seed) => {
  let state = seed >>> 0;
  return (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
});

describe("over small catalogs", () => {
  it("tools that leave for good have no certain successor and hardly a proposed one", () => {
    const tally = emptyTally();
    fc.assert(
      fc.property(catalog, random, (tools, draw) => deleteQuarter(tools, draw, tally)),
      { seed: 7, numRuns: 200 },
    );
    expect(tally.certain).toBe(0);
    expect(tally.proposed).toBeLessThanOrEqual(0.02 * tally.removed);
  });

  it("another server behind a label takes nothing over", () => {
    const tally = emptyTally();
    for (const one of CATALOGS) for (const other of CATALOGS) if (one !== other) swapServer(one, other, tally);
    expect(tally.certain).toBe(0);
    expect(tally.proposed).toBeLessThanOrEqual(0.03 * tally.removed);
  });

  it("siblings that come while others leave are not certain", () => {
    const tally = emptyTally();
    fc.assert(
      fc.property(catalog, random, (tools, draw) => swapSiblings(tools, draw, tally)),
      { seed: 7, numRuns: 200 },
    );
    expect(tally.certain).toBeLessThanOrEqual(0.01 * tally.removed);
  });

  it.each(Object.entries(STYLES))("a whole catalog renamed %s is certain, tool by tool", (_style, spell) => {
    for (const tools of CATALOGS) expect(renameAll(tools, spell)?.missed ?? []).toEqual([]);
  });

  it("a rename and its way back end where they began", () => {
    fc.assert(
      fc.property(catalog, fc.constantFrom(...Object.values(STYLES)), (tools, spell) => {
        const other = tools.map((tool) => renamed(tool, spell(tool.name)));
        const links = [...findLineage(movement(tools, other, 2)), ...findLineage(movement(other, tools, 3))];
        const there = new Set<string>(tools.map((tool) => tool.key));
        for (const [at, tool] of other.entries()) {
          if (there.has(tool.key)) continue;
          expect(successors(tool.key, 2, links, (key) => there.has(key))?.to).toEqual([tools[at]?.key]);
        }
      }),
      { numRuns: 30 },
    );
  });

  it("every link names tools that left and tools that are there", () => {
    fc.assert(
      fc.property(catalog, catalog, fc.array(fc.boolean(), { minLength: 24, maxLength: 24 }), (left, right, draws) => {
        const before = left.filter((_tool, at) => draws[at] === true);
        const after = [
          ...left.filter((_tool, at) => draws[at + 6] === true),
          ...right.filter((_tool, at) => draws[at + 12] === true),
        ];
        const input = movement(before, [...new Map(after.map((tool) => [tool.key, tool])).values()]);
        const links = findLineage(input);
        const [gone, there] = [
          input.removed.map((tool) => tool.key),
          [...input.added, ...input.kept.map((pair) => pair.after)].map((tool) => tool.key),
        ];
        for (const link of links) {
          expect(gone).toContain(link.from);
          for (const to of link.to) expect(there).toContain(to);
        }
        expect(new Set(links.map((link) => link.from)).size).toBe(links.length);
      }),
      { numRuns: 60 },
    );
  });
});

const data = sharedData("");

describe("over labelled histories", () => {
  it.skipIf(data === undefined).each(["github-mcp-server", "azure-mcp"])(
    "takeovers of %s are found, and hardly one is wrong",
    (name) => {
      const history = playHistory(name, readVersions(data ?? "", name), true);
      const figures = scoreHistory(history, readRows(data ?? "", history));
      expect(figures.found).toBeGreaterThanOrEqual(0.95 * figures.rows);
      expect(figures.certain.right).toBeGreaterThanOrEqual(0.99 * figures.certain.emitted);
      expect(figures.all.right).toBeGreaterThanOrEqual(0.95 * figures.all.emitted);
      expect(figures.fixed.right).toBeGreaterThanOrEqual(0.95 * figures.fixed.emitted);
    },
  );
});
