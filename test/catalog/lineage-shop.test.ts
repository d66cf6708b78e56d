import { describe, expect, it } from "vitest";
import { toTool } from "../../src/catalog/intake.js";
import { findLineage, successors } from "../../src/catalog/lineage.js";
import { DEPOT_CATALOGS, SHOP_CATALOGS, SHOP_LINEAGE } from "../../src/lab/worlds/shop/catalogs.js";
import type { UpstreamLabel } from "../../src/model/ids.js";
import type { Tool } from "../../src/model/tool.js";
import { movement } from "./lineage-tools.js";

/** Both upstreams' tools at a version of the sample ecosystem, 1 … 3. */
function version(number: number): Tool[] {
  const shop = SHOP_CATALOGS[number - 1]?.map((tool) => toTool("shop" as UpstreamLabel, tool.listed)) ?? [];
  return [...shop, ...(DEPOT_CATALOGS[number - 1]?.map((tool) => toTool("depot" as UpstreamLabel, tool.listed)) ?? [])];
}

describe("the sample shop", () => {
  const links = [2, 3].flatMap((number) => findLineage(movement(version(number - 1), version(number), number)));

  it.each(SHOP_LINEAGE)("has the takeover of $from found at v$atVersion", ({ atVersion, kind, from, to, fixedArguments }) => {
    const link = links.find((one) => one.from === from);
    expect(link).toMatchObject({ atVersion, fixedArguments });
    expect([...(link?.to ?? [])].sort()).toEqual([...to].sort());
    if (kind === "renamed" || kind === "merged") expect(link).toMatchObject({ kind, level: "certain" });
    if (kind === "split") expect(link?.kind).toBe("split");
  });

  it("has no takeover found that is none", () => {
    expect(links.map((link) => link.from).sort()).toEqual(SHOP_LINEAGE.map((truth) => truth.from).sort());
  });

  it("leads back from v2 to v1", () => {
    const back = [...links, ...findLineage(movement(version(2), version(1), 4))];
    const there = new Set<string>(version(1).map((tool) => tool.key));
    const renamed = SHOP_LINEAGE.filter((truth) => truth.kind === "renamed");
    for (const { from, to } of renamed) {
      expect(successors((to[0] ?? "") as Tool["key"], 2, back, (key) => there.has(key))).toMatchObject({
        to: [from],
        level: "certain",
      });
    }
  });
});
