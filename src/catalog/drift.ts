/**
 * Drift: the typed difference between two tools, and between two catalogs.
 *
 * Owns: `diffTool`, `diffCatalogs`, and one cause per (rule, field) across a catalog.
 * Speaks: tools and catalogs in, ToolChange out.
 * Never: what a change means for a skill (level.ts); who took over from a tool that left (lineage).
 */
import type { Catalog } from "../model/catalog.js";
import type { Drift, RuleId, ToolChange, Verdict } from "../model/drift.js";
import type { ToolKey } from "../model/ids.js";
import type { Tool } from "../model/tool.js";
import { compareCodePoints } from "./canonical.js";
import { repairInput } from "./repair.js";
import { ALL_RULES, type Direction, type SchemaRule } from "./rules.js";
import { diffSchemas } from "./schema-diff.js";
import { observeTools, placeOf, TOOL_RULES, type ToolRule } from "./tool-rules.js";

/** The tables a comparison works with; tests pass shorter ones to see that each rule is missed. */
export interface DriftRules {
  readonly schema: readonly SchemaRule[];
  readonly tool: readonly ToolRule[];
  readonly catalog: readonly CatalogRule[];
}

/** A rule about a tool that is on one side only. */
export interface CatalogRule {
  readonly rule: RuleId;
  readonly claim: (seen: PresenceObservation) => { readonly verdict: Verdict; readonly text: string } | undefined;
}
export interface PresenceObservation {
  readonly kind: "appeared" | "left";
  /** Appeared with the contract it had when it left. */
  readonly returned: boolean;
  /** Left, and these took over. */
  readonly successors: readonly ToolKey[];
}

export const CATALOG_RULES: readonly CatalogRule[] = Object.freeze([
  {
    rule: "T4",
    claim: (seen) =>
      seen.kind === "appeared" && seen.returned
        ? { verdict: "compatible", text: "the tool is back with the contract it had" }
        : undefined,
  },
  {
    rule: "N1",
    claim: (seen) => (seen.kind === "appeared" ? { verdict: "compatible", text: "the tool appeared" } : undefined),
  },
  {
    rule: "T3",
    claim: (seen) =>
      seen.kind === "left" && seen.successors.length > 0
        ? { verdict: "breaking", text: `the tool was removed; ${seen.successors.join(", ")} took over` }
        : undefined,
  },
  {
    rule: "T1",
    claim: (seen) => (seen.kind === "left" ? { verdict: "breaking", text: "the tool was removed" } : undefined),
  },
] satisfies CatalogRule[]);

export const DRIFT_RULES: DriftRules = Object.freeze({ schema: ALL_RULES, tool: TOOL_RULES, catalog: CATALOG_RULES });

/** All typed changes of one tool. `unclassified` counts differences that no rule claims. */
export function diffTool(
  before: Tool,
  after: Tool,
  rules: DriftRules = DRIFT_RULES,
): { changes: ToolChange[]; unclassified: number } {
  if (before.digests.document === after.digests.document) return { changes: [], unclassified: 0 };
  const changes: ToolChange[] = [];
  let unclassified = 0;
  const schemas = before.digests.contract === after.digests.contract ? [] : changedSchemas(before, after);
  for (const [direction, path, old, now] of schemas) {
    const diff = diffSchemas(old, now, direction, rules.schema);
    unclassified += diff.unclassified.length;
    for (const change of diff.changes) changes.push({ ...change, tool: after.key, path: `${path}${change.path}` });
  }
  for (const seen of observeTools(before, after)) {
    const found = firstClaim(rules.tool, seen);
    if (found === undefined) unclassified += 1;
    else
      changes.push({ tool: after.key, rule: found.rule, verdict: found.claim.verdict, ...placeOf(seen), text: found.claim.text });
  }
  if (changes.length + unclassified === 0) changes.push(respelt(after.key));
  return { changes: changes.sort(compareChanges), unclassified };
}

/** The document moved, and neither contract nor texts did by anything that can be told apart: another spelling of the same. */
function respelt(tool: ToolKey): ToolChange {
  return { tool, rule: "D3", verdict: "cosmetic", path: "", text: "the definition is spelt differently and says the same" };
}

type SchemaPair = readonly [Direction, string, Parameters<typeof diffSchemas>[0], Parameters<typeof diffSchemas>[1]];

function changedSchemas(before: Tool, after: Tool): SchemaPair[] {
  const [old, now] = [repairInput(before.document["inputSchema"]), repairInput(after.document["inputSchema"])];
  const pairs: SchemaPair[] = [["input", "/inputSchema", old.contract, now.contract]];
  if (before.outputSchema !== undefined && after.outputSchema !== undefined)
    pairs.push(["output", "/outputSchema", before.outputSchema, after.outputSchema]);
  return pairs;
}

function firstClaim<Seen, Claim>(
  rules: readonly { readonly rule: RuleId; readonly claim: (seen: Seen) => Claim | undefined }[],
  seen: Seen,
): { rule: RuleId; claim: Claim } | undefined {
  for (const { rule, claim } of rules) {
    const found = claim(seen);
    if (found !== undefined) return { rule, claim: found };
  }
  return undefined;
}

export interface DriftOptions {
  /** Who took over from a tool that left, by lineage: makes T3 of T1. */
  readonly successors?: (key: ToolKey) => readonly ToolKey[];
  readonly rules?: DriftRules;
}

/** The typed difference between two catalogs, in either direction of time. Cost grows with the tools whose document moved. */
export function diffCatalogs(from: Catalog, to: Catalog, options: DriftOptions = {}): Drift {
  const rules = options.rules ?? DRIFT_RULES;
  const added = [...to.tools.keys()].filter((key) => !from.tools.has(key));
  const removed = [...from.tools.keys()].filter((key) => !to.tools.has(key));
  const changed: ToolKey[] = [];
  const changes: ToolChange[] = [];
  let unclassified = 0;
  const present = (tool: ToolKey, seen: PresenceObservation): void => {
    const found = firstClaim(rules.catalog, seen);
    if (found === undefined) unclassified += 1;
    else changes.push({ tool, rule: found.rule, verdict: found.claim.verdict, path: "", text: found.claim.text });
  };
  for (const key of added) {
    const returned = from.departed.get(key)?.contract === to.tools.get(key)?.digests.contract;
    present(key, { kind: "appeared", returned, successors: [] });
  }
  for (const key of removed) present(key, { kind: "left", returned: false, successors: options.successors?.(key) ?? [] });
  for (const [key, after] of to.tools) {
    const before = from.tools.get(key);
    if (before === undefined || before === after || before.digests.document === after.digests.document) continue;
    changed.push(key);
    const diff = diffTool(before, after, rules);
    changes.push(...diff.changes);
    unclassified += diff.unclassified;
  }
  return {
    from: from.version,
    to: to.version,
    added: added.sort(compareCodePoints),
    removed: removed.sort(compareCodePoints),
    changed: changed.sort(compareCodePoints),
    changes: changes.sort(compareChanges),
    unclassified,
  };
}

/** By tool, then rule (I2 before I10), then place. */
function compareChanges(a: ToolChange, b: ToolChange): number {
  return (
    compareCodePoints(a.tool, b.tool) ||
    a.rule.charCodeAt(0) - b.rule.charCodeAt(0) ||
    Number(a.rule.slice(1)) - Number(b.rule.slice(1)) ||
    compareCodePoints(a.path, b.path) ||
    compareCodePoints(a.text, b.text)
  );
}

/** One thing that happened, however many tools it shows in. */
export interface Cause {
  readonly rule: RuleId;
  readonly field: string | undefined;
  readonly tools: readonly ToolKey[];
  readonly text: string;
}

/** One cause per (rule, field) across the catalog, those of most tools first. */
export function causes(drift: Pick<Drift, "changes">): Cause[] {
  const groups = new Map<string, { first: ToolChange; tools: Set<ToolKey>; texts: Set<string> }>();
  for (const change of drift.changes) {
    const id = JSON.stringify([change.rule, change.field ?? null]);
    const group = groups.get(id) ?? { first: change, tools: new Set(), texts: new Set() };
    groups.set(id, group);
    group.tools.add(change.tool);
    group.texts.add(change.text);
  }
  return [...groups.values()]
    .map(({ first, tools, texts }) => ({
      rule: first.rule,
      field: first.field,
      tools: [...tools],
      text: texts.size > 1 ? `${first.text} (and ${texts.size - 1} more alike)` : first.text,
    }))
    .sort((a, b) => b.tools.length - a.tools.length || compareRules(a, b) || compareCodePoints(a.field ?? "", b.field ?? ""));
}

function compareRules(a: Cause, b: Cause): number {
  return a.rule.charCodeAt(0) - b.rule.charCodeAt(0) || Number(a.rule.slice(1)) - Number(b.rule.slice(1));
}
