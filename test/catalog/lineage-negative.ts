import { findLineage } from "../../src/catalog/lineage.js";
import { toTool } from "../../src/catalog/intake.js";
import type { UpstreamLabel } from "../../src/model/ids.js";
import type { LineageLink } from "../../src/model/lineage.js";
import type { Tool } from "../../src/model/tool.js";
import { movement, renamed } from "./lineage-tools.js";

/** Changes of which the truth is known: what lineage may say of them is bounded. */

export interface Tally {
  removed: number;
  certain: number;
  proposed: number;
}
export const emptyTally = (): Tally => ({ removed: 0, certain: 0, proposed: 0 });

function count(tally: Tally, removed: number, links: readonly LineageLink[]): void {
  tally.removed += removed;
  tally.certain += links.filter((link) => link.level === "certain").length;
  tally.proposed += links.filter((link) => link.level === "proposed").length;
}

/** A quarter of the tools leaves and nothing comes: nobody took over. */
export function deleteQuarter(catalog: readonly Tool[], random: () => number, tally: Tally): void {
  const after = catalog.filter(() => random() >= 0.25);
  count(tally, catalog.length - after.length, findLineage(movement(catalog, after)));
}

/** One third leaves, its siblings of another third come: whoever is named for a tool is the wrong one. */
export function swapSiblings(catalog: readonly Tool[], random: () => number, tally: Tally): void {
  const [before, after]: [Tool[], Tool[]] = [[], []];
  for (const tool of catalog) {
    const draw = random();
    if (draw >= 1 / 3) after.push(tool);
    if (draw < 1 / 3 || draw >= 2 / 3) before.push(tool);
  }
  const input = movement(before, after);
  count(tally, input.removed.length, findLineage(input));
}

/** Nothing that both have: two servers for the same thing, or forks of one, are no test of unrelated ones. */
export function areUnrelated(catalog: readonly Tool[], other: readonly Tool[]): boolean {
  const names = new Set(catalog.map((tool) => tool.name.toLowerCase().replace(/[^a-z0-9]/g, "")));
  const texts = new Set(catalog.map((tool) => tool.description));
  return !other.some(
    (tool) =>
      names.has(tool.name.toLowerCase().replace(/[^a-z0-9]/g, "")) || (tool.description !== "" && texts.has(tool.description)),
  );
}

/** Another server stands behind the label: nothing of the first went on. */
export function swapServer(catalog: readonly Tool[], other: readonly Tool[], tally: Tally): void {
  const under = (tools: readonly Tool[]): Tool[] => tools.map((tool) => toTool("swapped" as UpstreamLabel, tool.document));
  const input = movement(under(catalog), under(other));
  count(tally, input.removed.length, findLineage(input));
}

/**
 * The whole catalog under other names: undefined where two tools would get one name, else how many of those that moved were
 * found with certainty and rightly, and which were not.
 */
export function renameAll(
  catalog: readonly Tool[],
  style: (name: string) => string,
): { moved: number; right: number; missed: string[] } | undefined {
  const after = catalog.map((tool) => renamed(tool, style(tool.name)));
  if (new Set(after.map((tool) => tool.key)).size < after.length) return undefined;
  const input = movement(catalog, after);
  const links = new Map(findLineage(input).map((link) => [link.from, link]));
  const moved = catalog.filter((tool, at) => tool.key !== after[at]?.key && input.removed.includes(tool));
  const missed = moved.filter((tool) => {
    const link = links.get(tool.key);
    const truth = after[catalog.indexOf(tool)]?.key;
    return link?.level !== "certain" || link.to.length !== 1 || link.to[0] !== truth;
  });
  return { moved: moved.length, right: moved.length - missed.length, missed: missed.map((tool) => tool.key) };
}
