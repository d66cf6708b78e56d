/**
 * What a moved catalog says of takeovers: links for tools that left, hints for those that may leave later, and what people say of both.
 *
 * Lineage is asked whenever tools left or came: a tool that came may be the one that an earlier one was renamed to, or the one that
 * will take over from one that is still there.
 */
import { findLineage, supersedeHints, toldHints } from "../catalog/lineage.js";
import { toTool } from "../catalog/intake.js";
import { Fault } from "../model/fault.js";
import type { Event } from "../model/event.js";
import { splitToolKey, type ToolKey } from "../model/ids.js";
import type { LineageLink, SupersedeHint } from "../model/lineage.js";
import { LINEAGE_LIMITS } from "../model/policy.js";
import type { Tool } from "../model/tool.js";
import { settleStandings } from "./decide-standings.js";
import { put, type Draft } from "./draft.js";
import type { Known } from "./world.js";

/** Links and hints of the version that was just put in force; `before` is the world without it. */
export function traceLineage(draft: Draft, before: Known, moved: readonly Tool[], removed: readonly ToolKey[]): void {
  const added = moved.filter((tool) => !before.catalog.tools.has(tool.key));
  const labels = new Set<string>([...removed, ...moved.map((tool) => tool.key)].map((key) => splitToolKey(key).label));
  const atVersion = draft.known.catalog.version;
  const kept: { before: Tool; after: Tool }[] = [];
  for (const [key, after] of draft.known.catalog.tools) {
    const old = before.catalog.tools.get(key);
    if (old !== undefined && labels.has(after.label)) kept.push({ before: old, after });
  }
  const gone = removed.map((key) => before.catalog.tools.get(key)).filter((tool) => tool !== undefined);
  const links =
    gone.length + added.length === 0
      ? []
      : findLineage({ removed: gone, added, kept, atVersion, hints: before.hints, departed: orphans(before, labels) });
  const fresh = links.filter((link) => !draft.known.lineage.has(link.id) && !isRejected(draft.known, link));
  const hints = nextHints(draft.known, [...seenComing(added, kept, atVersion), ...saidAloud(draft.known, moved, added, labels)]);
  const hintsMoved = JSON.stringify(hints) !== JSON.stringify(before.hints);
  if (fresh.length > 0 || hintsMoved) put(draft, { kind: "lineage", links: fresh, ...(hintsMoved ? { hints } : {}) });
}

/** Tools of these upstreams that left earlier and that nobody is known to have taken over from. */
function orphans(before: Known, labels: ReadonlySet<string>): { tool: Tool; missingSince: number }[] {
  const resolved = new Set<string>();
  for (const link of before.lineage.values()) {
    const departed = before.catalog.departed.get(link.from as ToolKey);
    if (departed !== undefined && link.rejected === undefined && link.atVersion > departed.lastVersion) resolved.add(link.from);
  }
  const found: { tool: Tool; missingSince: number }[] = [];
  for (const [key, departed] of before.catalog.departed) {
    const { label } = splitToolKey(key);
    const listed = labels.has(label) && !resolved.has(key) ? before.definitions.get(departed.document) : undefined;
    if (listed !== undefined) found.push({ tool: toTool(label, listed), missingSince: departed.lastVersion + 1 });
  }
  return found;
}

/** A person said of these very tools that the one did not take over from the other: they are not asked again. */
function isRejected(known: Known, link: LineageLink): boolean {
  return [...known.lineage.values()].some(
    (other) => other.rejected !== undefined && other.from === link.from && JSON.stringify(other.to) === JSON.stringify(link.to),
  );
}

/** Each upstream by itself, and none that is so large that looking ahead would hold up everybody else. */
function seenComing(
  added: readonly Tool[],
  kept: readonly { before: Tool; after: Tool }[],
  atVersion: number,
): readonly SupersedeHint[] {
  return [...new Set(added.map((tool) => tool.label))].flatMap((label) => {
    const came = added.filter((tool) => tool.label === label);
    const stayed = kept.filter((pair) => pair.after.label === label);
    return came.length + stayed.length > LINEAGE_LIMITS.hintTools ? [] : supersedeHints({ added: came, kept: stayed, atVersion });
  });
}

/** Texts that moved, and where tools came also those that may have named one of them before it was there. */
function saidAloud(
  known: Known,
  moved: readonly Tool[],
  added: readonly Tool[],
  labels: ReadonlySet<string>,
): readonly SupersedeHint[] {
  const there = [...known.catalog.tools.values()].filter((tool) => labels.has(tool.label));
  return toldHints(added.length === 0 ? moved : there, there, known.catalog.version);
}

/** The hints in force: the first sight of each pair stays, and pairs go whose new tool is gone or whose old one is forgotten. */
function nextHints(known: Known, seen: readonly SupersedeHint[]): readonly SupersedeHint[] {
  const { tools } = known.catalog;
  const hints = new Map<string, SupersedeHint>();
  for (const hint of [...known.hints, ...seen]) {
    const id = JSON.stringify([hint.from, hint.to]);
    if (!hints.has(id) && tools.has(hint.from as ToolKey) && tools.has(hint.to as ToolKey)) hints.set(id, hint);
  }
  return [...hints].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, hint]) => hint);
}

export function decideLineageJudged(draft: Draft, event: Extract<Event, { kind: "lineage-judged" }>): void {
  const link = draft.known.lineage.get(event.link);
  if (link === undefined) throw new Fault("lineage-unknown", `There is no link ${event.link}; see the lineage of the catalog.`);
  const { confirmed: _confirmed, rejected: _rejected, ...rest } = link;
  const verdict = { by: event.by, at: event.at };
  put(draft, {
    kind: "lineage",
    links: [event.verdict === "confirm" ? { ...rest, confirmed: verdict } : { ...rest, rejected: verdict }],
  });
  settleStandings(draft, { tools: [link.from as ToolKey] });
}
