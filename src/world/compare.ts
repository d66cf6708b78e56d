/**
 * Compare: two catalogs that need not be successive versions, by drift, lineage and what skills of a library meet on the way.
 */
import { causes, diffCatalogs, type Cause } from "../catalog/drift.js";
import { nextHolds, type HoldPolicy } from "../catalog/hold.js";
import type { Predecessor } from "../catalog/measure.js";
import { judge } from "../catalog/level.js";
import { lineageReport, successors, type Unresolved } from "../catalog/lineage.js";
import type { Catalog, Holds } from "../model/catalog.js";
import { LEVELS, worseLevel, type Drift, type Level } from "../model/drift.js";
import type { ToolKey } from "../model/ids.js";
import type { LineageLink } from "../model/lineage.js";
import type { Tool } from "../model/tool.js";
import { emptyHolds, type World } from "./world.js";

export interface CatalogComparison {
  readonly drift: Omit<Drift, "from" | "to">;
  readonly causes: readonly Cause[];
  /** One row per tool that is gone: who took over, over all versions between where they are known. */
  readonly lineage: readonly TakenOver[];
  /** Tools that would be held, going from one to the other. */
  readonly held: readonly { readonly tool: string; readonly text: string }[];
  /** Skills of the library that use what changed, each with the worst that it meets. */
  readonly skills: readonly { readonly skill: string; readonly level: Level; readonly text: string }[];
}

export interface TakenOver {
  readonly tool: string;
  readonly to: readonly string[];
  readonly kind: LineageLink["kind"] | undefined;
  /** undefined: nothing was found. */
  readonly level: "certain" | "proposed" | undefined;
  readonly score: number | undefined;
  readonly params: Readonly<Record<string, string>>;
  readonly fixedArguments: LineageLink["fixedArguments"];
  readonly evidence: readonly string[];
  /** What came nearest, where nothing was found. */
  readonly nearest: Unresolved["nearest"];
}

/** `links`: known links, where both are versions of one history and `to` is the later one; else lineage is found by looking at the two alone. */
export function compareCatalogs(
  from: Catalog,
  to: Catalog,
  options: { readonly links?: readonly LineageLink[]; readonly world?: World | undefined },
): CatalogComparison {
  const lineage = options.links === undefined ? foundLineage(from, to) : knownLineage(from, to, options.links);
  const takenOver = new Map(lineage.map((row) => [row.tool, row.to as readonly ToolKey[]]));
  const drift = diffCatalogs(from, to, { successors: (key) => takenOver.get(key) ?? [] });
  const { added, removed, changed, changes, unclassified } = drift;
  return {
    drift: { added, removed, changed, changes, unclassified },
    causes: causes(drift),
    lineage,
    held: Object.entries(heldBetween(from, to, lineage)).map(([tool, hold]) => ({
      tool,
      text: hold.reasons.map((one) => one.text).join(" "),
    })),
    skills: options.world === undefined ? [] : skillsMeeting(options.world, from, to, [...removed, ...changed]),
  };
}

function knownLineage(from: Catalog, to: Catalog, links: readonly LineageLink[]): TakenOver[] {
  const between = new Map(
    links.filter((link) => link.atVersion > from.version && link.atVersion <= to.version).map((link) => [link.id, link]),
  );
  return gone(from, to).map((tool) => {
    const next = successors(tool.key, from.version, between, (key) => to.tools.has(key));
    if (next === undefined) return unresolved(tool.key, []);
    const score = next.links.reduce((least, link) => Math.min(least, link.score), 1);
    const evidence = next.links.flatMap((link) => link.evidence.map((text) => `v${link.atVersion}: ${text}`));
    return { tool: tool.key, ...next, score, evidence, nearest: [] };
  });
}

function foundLineage(from: Catalog, to: Catalog): TakenOver[] {
  const removed = gone(from, to);
  if (removed.length === 0) return [];
  const added = gone(to, from);
  const kept = [...to.tools.values()].flatMap((after) => {
    const before = from.tools.get(after.key);
    return before === undefined ? [] : [{ before, after }];
  });
  const report = lineageReport({ removed, added, kept, atVersion: 2 });
  const links = new Map(report.links.map((link) => [link.from, link]));
  const nearest = new Map(report.unresolved.map((one) => [one.tool, one.nearest]));
  return removed.map((tool) => {
    const link = links.get(tool.key);
    if (link === undefined) return unresolved(tool.key, nearest.get(tool.key) ?? []);
    const { to: targets, kind, level, score, params, fixedArguments, evidence } = link;
    return { tool: tool.key, to: targets, kind, level, score, params, fixedArguments, evidence, nearest: [] };
  });
}

function gone(from: Catalog, to: Catalog): Tool[] {
  return [...from.tools.values()].filter((tool) => !to.tools.has(tool.key));
}

function unresolved(tool: string, nearest: Unresolved["nearest"]): TakenOver {
  const none = { kind: undefined, level: undefined, score: undefined };
  return { tool, to: [], ...none, params: {}, fixedArguments: {}, evidence: [], nearest };
}

/** What the step from one catalog to another holds: tools that changed, and those that took over from narrower ones. */
export function heldBetween(
  from: Catalog,
  to: Catalog,
  lineage: readonly { readonly tool: string; readonly to: readonly string[]; readonly level: string | undefined }[],
  policy: HoldPolicy = { holdOnTextChange: false },
): Holds["held"] {
  const heirs = new Map<ToolKey, Predecessor[]>();
  for (const [key, after] of to.tools) {
    const before = from.tools.get(key);
    if (before !== undefined && before.digests.document !== after.digests.document) heirs.set(key, []);
  }
  for (const row of lineage) {
    const old = from.tools.get(row.tool as ToolKey);
    for (const key of row.to as readonly ToolKey[])
      if (old !== undefined && (row.level === "certain" || !from.tools.has(key)))
        heirs.set(key, [...(heirs.get(key) ?? []), { tool: old, came: !from.tools.has(key) }]);
  }
  const moved = [...heirs].map(([key, predecessors]) => ({
    key,
    before: from.tools.get(key),
    after: to.tools.get(key),
    predecessors,
  }));
  return nextHolds(emptyHolds, moved, to.time, policy).held;
}

function skillsMeeting(
  world: World,
  from: Catalog,
  to: Catalog,
  moved: readonly ToolKey[],
): { skill: string; level: Level; text: string }[] {
  const touched = new Set<string>(moved);
  const rows: { skill: string; level: Level; text: string }[] = [];
  for (const skill of world.library.skills.values()) {
    let [level, text]: [Level, string] = ["compatible", ""];
    for (const need of skill.contract.requires) {
      const before = touched.has(need.tool) && need.optional !== true ? from.tools.get(need.tool as ToolKey) : undefined;
      if (before === undefined) continue;
      const usage = { params: need.params, reads: need.reads, recorded: [] };
      const met = judge(before, to.tools.get(before.key), usage);
      if (worseLevel(level, met.level) === level) continue;
      level = met.level;
      text = `${need.tool}: ${met.reasons[0]?.text ?? ""}`;
    }
    if (level !== "compatible") rows.push({ skill: skill.name, level, text });
  }
  return rows.sort((a, b) => LEVELS.indexOf(b.level) - LEVELS.indexOf(a.level) || (a.skill < b.skill ? -1 : 1));
}
