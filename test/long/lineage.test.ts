import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readRows, playHistory, readVersions, seriesNames } from "../../scripts/eval/lineage.js";
import { readCatalogFile } from "../../src/catalog/files.js";
import { findLineage } from "../../src/catalog/lineage.js";
import type { ToolKey } from "../../src/model/ids.js";
import type { Tool } from "../../src/model/tool.js";
import { areUnrelated, deleteQuarter, emptyTally, renameAll, swapServer, swapSiblings } from "../catalog/lineage-negative.js";
import type { Tally } from "../catalog/lineage-negative.js";
import { STYLES } from "../catalog/lineage-styles.js";
import { movement } from "../catalog/lineage-tools.js";
import { sharedData } from "../data.js";

const data = sharedData("");

/** A catalog of one upstream: fewer than four tools say nothing about neighbours. */
interface Catalog {
  readonly product: string;
  readonly tools: readonly Tool[];
}

function byUpstream(product: string, tools: Iterable<Tool>): Catalog[] {
  const groups = new Map<string, Tool[]>();
  for (const tool of tools) groups.set(tool.label, [...(groups.get(tool.label) ?? []), tool]);
  return [...groups.values()].filter((group) => group.length >= 4).map((group) => ({ product, tools: group }));
}

/** First, middle and last version of every published history, by upstream. */
function published(): Catalog[] {
  return seriesNames(data ?? "").flatMap((name) => {
    const versions = readVersions(data ?? "", name);
    const picked = new Set([0, Math.floor(versions.length / 2), versions.length - 1]);
    return [...picked].flatMap((at) => byUpstream(name, versions[at]?.tools.values() ?? []));
  });
}

/** Third-party servers: each one a product of its own. */
function thirdParty(): Catalog[] {
  const lines = gunzipSync(readFileSync(sharedData("scale/toucan.jsonl.gz") ?? ""))
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "");
  const members = new Map<string, unknown[]>();
  for (const line of lines) {
    const tool = JSON.parse(line) as { server: string };
    members.set(tool.server, [...(members.get(tool.server) ?? []), tool]);
  }
  return [...members].flatMap(([product, tools]) => byUpstream(product, readCatalogFile(tools).tools));
}

/** mulberry32 with a fixed seed: the same draws in every run. */
function draws(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function bounded(tally: Tally, certain: number, proposed: number): void {
  expect(tally.removed).toBeGreaterThan(500);
  expect(tally.certain / tally.removed).toBeLessThanOrEqual(certain);
  expect(tally.proposed / tally.removed).toBeLessThanOrEqual(proposed);
}

describe.skipIf(data === undefined).each([
  ["published histories", published, 3],
  ["third-party servers", thirdParty, 1],
] as const)("over catalogs of %s", (_from, read, rounds) => {
  const catalogs = data === undefined ? [] : read();

  it("tools that leave for good have no certain successor and hardly a proposed one", () => {
    const [tally, random] = [emptyTally(), draws(7)];
    for (const { tools } of catalogs) for (let round = 0; round < rounds; round += 1) deleteQuarter(tools, random, tally);
    bounded(tally, 0, 0.02);
  });

  it("another server behind a label takes nothing over", () => {
    const [tally, random] = [emptyTally(), draws(11)];
    for (const { tools, product } of catalogs) {
      const others = catalogs.filter((other) => other.product !== product && areUnrelated(tools, other.tools));
      for (let round = 0; round < rounds; round += 1) {
        const other = others[Math.floor(random() * others.length)];
        if (other !== undefined) swapServer(tools, other.tools, tally);
      }
    }
    bounded(tally, 0, 0.03);
  });

  it("siblings that come while others leave are hardly ever certain", () => {
    const [tally, random] = [emptyTally(), draws(13)];
    for (const { tools } of catalogs) for (let round = 0; round < rounds; round += 1) swapSiblings(tools, random, tally);
    bounded(tally, 0.01, 1);
  });
});

describe.skipIf(data === undefined)("over published histories", () => {
  it.each(Object.entries(STYLES))("a whole catalog renamed %s is certain, tool by tool", (_style, spell) => {
    const missed = published().flatMap(({ tools }) => renameAll(tools, spell)?.missed ?? []);
    expect(missed).toEqual([]);
  });

  it("merges played backwards are splits with nearly all their sources", () => {
    let [sources, found] = [0, 0];
    for (const name of ["github-mcp-server", "azure-mcp"]) {
      const versions = readVersions(data ?? "", name);
      const rows = readRows(data ?? "", playHistory(name, versions, true));
      for (const [at, next] of versions.entries()) {
        const before = versions[at - 1];
        if (before === undefined) continue;
        const input = movement([...next.tools.values()], [...before.tools.values()]);
        const [gone, came] = [new Set(input.removed.map((tool) => tool.key)), new Set(input.added.map((tool) => tool.key))];
        const merges = new Map<ToolKey, ToolKey[]>();
        for (const row of rows) {
          if (gone.has(row.to) && came.has(row.from)) merges.set(row.to, [...(merges.get(row.to) ?? []), row.from]);
        }
        const links = findLineage(input);
        for (const [whole, parts] of merges) {
          if (parts.length < 2) continue;
          sources += parts.length;
          const link = links.find((one) => one.from === whole);
          found += parts.filter((part) => link?.to.includes(part) === true).length;
        }
      }
    }
    expect(sources).toBeGreaterThan(20);
    expect(found / sources).toBeGreaterThanOrEqual(0.85);
  });
});
