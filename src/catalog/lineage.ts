/**
 * Lineage: which tool or tools took over from which, found when a catalog version is made.
 *
 * Owns: what others ask of it: links of a version, hints for later versions, successors over versions.
 * Speaks: Tools in, LineageLinks out.
 * Never: applying a link to a skill, reading text as an instruction (texts are compared, nothing in them is obeyed).
 *
 *   removed ──► spelling ──► rules ──► splits by mode ──► modes and scores ──► splits by words ──► nothing, with hints
 *                  │            │
 *                  └────────────┴── what they pair counts as renamed: others may have merged into it
 *
 * What leaves with certainty by spelling or rule is taken out before anything is scored, so a renamed whole catalog costs
 * little and cannot distract. Refused: one global assignment over all scores; a wrong pair then pushes out a right one.
 */
import type { CatalogVersion, ToolKey } from "../model/ids.js";
import type { LineageLink, SupersedeHint } from "../model/lineage.js";
import type { Tool } from "../model/tool.js";
import { keeperOf, LINEAGE_GATES } from "./lineage/gates.js";
import type { Keeper, LineageGate } from "./lineage/gates.js";
import { linkOf } from "./lineage/link.js";
import { toldSuccessors } from "./lineage/told.js";
import { trace } from "./lineage/trace.js";
import type { TraceInput } from "./lineage/trace.js";

export { stateOfLink, successors, takeover } from "./lineage/chain.js";
export type { Succession } from "./lineage/chain.js";
export { LINEAGE_GATES } from "./lineage/gates.js";
export type { GateId, LineageGate } from "./lineage/gates.js";

export interface LineageInput {
  readonly removed: readonly Tool[];
  readonly added: readonly Tool[];
  readonly kept: readonly { readonly before: Tool; readonly after: Tool }[];
  /** The version in which `removed` are missing first. */
  readonly atVersion: CatalogVersion;
  /** What `supersedeHints` found in earlier versions; without them a target that did not change is never certain. */
  readonly hints?: readonly SupersedeHint[];
  /** Tools that left in earlier versions and have no link: one of the added ones may be theirs. */
  readonly departed?: readonly { readonly tool: Tool; readonly missingSince: CatalogVersion }[];
}

/** A tool for which nothing was found, and what came nearest. */
export interface Unresolved {
  readonly tool: string;
  readonly nearest: readonly { readonly tool: string; readonly score: number }[];
}
export interface LineageReport {
  readonly links: LineageLink[];
  readonly unresolved: Unresolved[];
}

/** One link per tool that left and has a likely successor, sorted by tool. Pure; the same input gives the same links. */
export function findLineage(input: LineageInput, gates: readonly LineageGate[] = LINEAGE_GATES): LineageLink[] {
  return lineageReport(input, gates).links;
}

/** The links, and for each tool without one up to three candidates that came nearest. */
export function lineageReport(input: LineageInput, gates: readonly LineageGate[] = LINEAGE_GATES): LineageReport {
  const keeper = keeperOf(gates);
  const links: LineageLink[] = [];
  const unresolved: Unresolved[] = [];
  for (const group of groupsOf(input, keeper)) {
    const { findings, nearest } = trace(group, keeper);
    links.push(...findings.map(linkOf));
    for (const [old, candidates] of nearest) {
      const near = candidates.map((one) => ({ tool: one.target.profile.tool.key, score: Math.round(one.score * 1000) / 1000 }));
      unresolved.push({ tool: old.tool.key, nearest: near });
    }
  }
  return { links: links.sort(byFrom), unresolved: unresolved.sort((a, b) => (a.tool < b.tool ? -1 : 1)) };
}

/**
 * Which added tools look, with certainty, like successors of tools that are still there. To be kept until those leave: a
 * tool that came later and fitted then is no mere sibling.
 */
export function supersedeHints(
  input: Pick<LineageInput, "added" | "kept" | "atVersion">,
  gates: readonly LineageGate[] = LINEAGE_GATES,
): SupersedeHint[] {
  if (input.added.length === 0) return [];
  const { added, atVersion } = input;
  const links = findLineage({ removed: input.kept.map((pair) => pair.before), added, kept: [], atVersion }, gates);
  return links
    .filter((link) => link.level === "certain")
    .flatMap((link) => link.to.map((to) => ({ from: link.from, to, atVersion, score: link.score })));
}

/** What the texts of the tools that moved say of their own end; `there`: the tools of their upstreams. */
export function toldHints(
  moved: readonly Tool[],
  there: readonly Pick<Tool, "label" | "name" | "key">[],
  atVersion: CatalogVersion,
): SupersedeHint[] {
  const names = new Map<string, Map<string, ToolKey>>();
  for (const { label, name, key } of there) names.set(label, (names.get(label) ?? new Map<string, ToolKey>()).set(name, key));
  return moved.flatMap((tool) =>
    toldSuccessors(tool, names.get(tool.label) ?? new Map<string, ToolKey>()).map((to) => ({
      from: tool.key,
      to,
      atVersion,
      score: 1,
      told: true,
    })),
  );
}

function byFrom(a: LineageLink, b: LineageLink): number {
  return a.from < b.from ? -1 : a.from > b.from ? 1 : a.atVersion - b.atVersion;
}

/** One group per upstream in which something left: names and words mean something within one upstream only. */
function groupsOf(input: LineageInput, keeper: Keeper): TraceInput[] {
  const announced = new Map<string, Set<string>>();
  const told = new Map<string, string[]>();
  for (const hint of input.hints ?? []) {
    if (hint.told === true) told.set(hint.from, [...(told.get(hint.from) ?? []), hint.to]);
    else announced.set(hint.to, (announced.get(hint.to) ?? new Set()).add(hint.from));
  }
  const there = new Set([...input.added, ...input.kept.map((pair) => pair.after)].map((tool) => tool.key));
  const departed = (input.departed ?? []).filter((one) => !there.has(one.tool.key));
  const whole = { ...input, departed, announced, told };
  if (keeper.holds("same-upstream", false)) return [whole];
  const labels = new Set([...whole.removed, ...whole.departed.map((one) => one.tool)].map((tool) => tool.label));
  return [...labels].map((label) => ({
    ...whole,
    removed: whole.removed.filter((tool) => tool.label === label),
    added: whole.added.filter((tool) => tool.label === label),
    kept: whole.kept.filter((pair) => pair.before.label === label),
    departed: whole.departed.filter((one) => one.tool.label === label),
  }));
}
