import { diffCatalogs, DRIFT_RULES, type DriftRules } from "../../src/catalog/drift.js";
import { toTool } from "../../src/catalog/intake.js";
import { catalogFrom, emptyCatalog, nextManifest } from "../../src/catalog/version.js";
import type { Catalog } from "../../src/model/catalog.js";
import type { RuleId } from "../../src/model/drift.js";
import type { ToolKey, UpstreamLabel } from "../../src/model/ids.js";

/** Rules about tools that are on one side only, each with catalogs in which it alone gives the answer. */
export interface CatalogRuleCase {
  readonly says: string;
  readonly before: Catalog;
  readonly after: Catalog;
  readonly successors: readonly ToolKey[];
}

function catalog(previous: Catalog, ...names: string[]): Catalog {
  const tools = names.map((name) => toTool("s" as UpstreamLabel, { name, inputSchema: { type: "object" } }));
  const map = new Map(tools.map((tool) => [tool.key, tool]));
  const manifest = nextManifest(previous, map, "2026-01-01T00:00:00.000Z", "case");
  return manifest === undefined ? previous : catalogFrom(manifest, map);
}

const both = catalog(emptyCatalog, "a", "b");
const one = catalog(both, "b");
const back = catalog(one, "a", "b");

export const CATALOG_RULE_CASES: Readonly<Record<string, CatalogRuleCase>> = {
  N1: { says: "a tool that was never there appears", before: both, after: catalog(both, "a", "b", "c"), successors: [] },
  T1: { says: "a tool leaves and nobody takes over", before: both, after: one, successors: [] },
  T3: { says: "a tool leaves and another takes over", before: both, after: one, successors: ["s/b" as ToolKey] },
  T4: { says: "a tool is back with the contract it had", before: one, after: back, successors: [] },
};

/** What goes wrong with a case; empty: the rule says what it must. */
export function catalogRuleFaults(rule: RuleId, rules: DriftRules = DRIFT_RULES): string[] {
  const found = CATALOG_RULE_CASES[rule];
  if (found === undefined) return [];
  const { changes, unclassified } = diffCatalogs(found.before, found.after, { successors: () => found.successors, rules });
  const said = changes.map((change) => change.rule);
  return unclassified === 0 && said.join() === rule ? [] : [`${said.join() || "nothing"} instead of ${rule}`];
}
