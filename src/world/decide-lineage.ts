/**
 * What a moved catalog says of takeovers: links for tools that left, hints for those that may leave later, and what people say of both.
 *
 * Lineage is asked whenever tools left or came: a tool that came may be the one that an earlier one was renamed to, or the one that
 * will take over from one that is still there.
 */
import { findLineage, supersedeHints, toldHints } from "../catalog/lineage.js";
import { toTool } from "../catalog/intake.js";
import { isInForce, isRejectedByPerson, lookBasis, opinionOf } from "../catalog/lineage/opinion.js";
import { Fault } from "../model/fault.js";
import type { Event } from "../model/event.js";
import { splitToolKey, type ToolKey } from "../model/ids.js";
import type { LineageLink, SupersedeHint } from "../model/lineage.js";
import type { LineageLook } from "../model/maintenance.js";
import { LINEAGE_LIMITS } from "../model/policy.js";
import { oncePer } from "../model/once.js";
import type { Tool } from "../model/tool.js";
import { applyWrites } from "./decide-library.js";
import { settleStandings } from "./decide-standings.js";
import { put, type Draft } from "./draft.js";
import { dependants } from "./known.js";
import { definitionOf, withVerdicts } from "./open-links.js";
import { isRemapped, remapSkills, type Remapped } from "./remap.js";
import { rebindBack, restingOf } from "./reverts.js";
import { statedAgain } from "./stated-again.js";
import { weighLinks } from "./weigh-holds.js";
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
  const said = statedAgain(draft.known, gone, atVersion);
  const fresh = [
    ...links.filter(
      (link) => !isKnown(draft.known, link) && !isRejected(draft.known, link) && !said.some(({ id }) => id === link.id),
    ),
    ...said,
  ];
  const hints = nextHints(draft.known, [...seenComing(added, kept, atVersion), ...saidAloud(draft.known, moved, added, labels)]);
  const hintsMoved = JSON.stringify(hints) !== JSON.stringify(before.hints);
  if (fresh.length > 0 || hintsMoved) put(draft, { kind: "lineage", links: fresh, ...(hintsMoved ? { hints } : {}) });
}

/**
 * Is it there already? Where the version that it was found at was lost, the tool left once more, at a later number, and the link found
 * then, with all that was said of it, is the one that is followed.
 */
function isKnown({ lineage, catalog }: Known, { id, from, to }: LineageLink): boolean {
  if (lineage.has(id)) return true;
  const since = catalog.departed.get(from as ToolKey)?.lastVersion;
  const isSame = (link: LineageLink): boolean =>
    link.rejected === undefined && link.atVersion > (since ?? 0) && JSON.stringify(link.to) === JSON.stringify(to);
  return since !== undefined && (linksFrom(lineage).get(from) ?? []).some(isSame);
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

/**
 * Somebody said of these tools that the one did not take over from the other: they are not asked again. A person's word holds for the
 * names, a machine's for the definitions it was told by.
 */
function isRejected(known: Known, link: LineageLink): boolean {
  return (linksFrom(known.lineage).get(link.from) ?? []).some(
    (other) =>
      other.rejected !== undefined &&
      JSON.stringify(other.to) === JSON.stringify(link.to) &&
      (isRejectedByPerson(other) || opinionOf(other, "manager")?.basis === basisOf(known, link)),
  );
}

/** Links by the tool that they lead from. */
const linksFrom = oncePer((lineage: Known["lineage"]): ReadonlyMap<string, readonly LineageLink[]> => {
  const links = new Map<string, LineageLink[]>();
  for (const link of lineage.values()) {
    const own = links.get(link.from);
    if (own === undefined) links.set(link.from, [link]);
    else own.push(link);
  }
  return links;
});

function basisOf(known: Known, link: LineageLink): string | undefined {
  const from = definitionOf(known, link.from as ToolKey);
  const to = link.to.map((key) => definitionOf(known, key as ToolKey)).filter((tool) => tool !== undefined);
  return from === undefined || to.length !== link.to.length ? undefined : lookBasis(from, to);
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
  const bound = draft.known;
  const verdict = { by: event.by, at: event.at, how: "person" as const };
  put(draft, {
    kind: "lineage",
    links: [event.verdict === "confirm" ? { ...rest, confirmed: verdict } : { ...rest, rejected: verdict }],
  });
  const back = event.verdict === "reject" ? rebindBack(bound, link, event.by) : [];
  const names = back.map(({ name }) => name);
  if (back.length > 0) applyWrites(draft, back, `rejection of the takeover ${link.id} by ${event.by}`);
  const before = draft.known.holds.held;
  const moved = weighLinks(draft, [draft.known.lineage.get(link.id) ?? link]);
  settleStandings(draft, { tools: [link.from as ToolKey, ...moved] });
  if (moved.length > 0) draft.effects.push({ kind: "announce-tools" });
  const [released, held] = [moved.filter((key) => before[key] !== undefined), moved.filter((key) => before[key] === undefined)];
  draft.answer = { held, released, changed: names, resting: restingOf(draft.known, dependants(draft.known, names)) };
}

/** What a run's looks came to: told in its report, and the lineage its edits are judged on. */
export interface Heard {
  readonly looks: readonly LineageLook[];
  readonly lineage: ReadonlyMap<string, LineageLink>;
  /** Skills that a corrected mapping took back or marked: what the run worked out for them was of another text. */
  readonly remapped: Remapped;
}

const NOTHING: Remapped = { back: [], marked: [] };

/**
 * Verdicts of a maintenance run, put in force as far as they count. Made on another catalog they are void: the links are simply looked
 * at again. A dry run hears them for itself alone.
 */
export function hearLineage(draft: Draft, event: Extract<Event, { kind: "maintenance-proposed" }>): Heard {
  const { known } = draft;
  const isVoid = event.basis.catalog !== known.catalog.version;
  const verdicts = (event.lineage ?? []).filter((verdict) => known.lineage.has(verdict.link));
  const moved = isVoid ? new Map<string, LineageLink>() : withVerdicts(known.lineage, verdicts, known.policy);
  const lineage = new Map([...known.lineage, ...moved]);
  const looks: LineageLook[] = verdicts.map(({ link, opinion }) => {
    const judged = moved.get(link);
    const { how, verdict, why, evidence, tokens } = opinion;
    return {
      ...sidesOf(known, link),
      how,
      verdict,
      counts: !event.dryRun && judged !== undefined && isInForce(judged, opinion),
      why: isVoid ? `${why} (The catalog moved meanwhile; it is looked at again.)` : why,
      evidence: [...evidence],
      ...(tokens === undefined ? {} : { tokens }),
    };
  });
  for (const { link, how, why } of event.unjudged ?? [])
    looks.push({ ...sidesOf(known, link), how, verdict: "failed", counts: false, why, evidence: [] });
  const remapped = event.dryRun || moved.size === 0 ? NOTHING : putHeard(draft, [...moved.values()]);
  return { looks, lineage, remapped };
}

/** Links with what a machine said of them; a mapping that it corrected reaches the skills bound by it, as one of a person does. */
function putHeard(draft: Draft, links: readonly LineageLink[]): Remapped {
  const before = draft.known;
  put(draft, { kind: "lineage", links });
  const corrected = links.filter((link) => isRemapped(before.lineage.get(link.id), link));
  const by = new Set(corrected.map(({ confirmed }) => confirmed?.by ?? "unnamed"));
  const remapped =
    corrected.length === 0 ? NOTHING : remapSkills(draft, before, corrected, `the manager (${[...by].join(", ")})`);
  const weighed = weighLinks(draft, links);
  settleStandings(draft, {
    tools: [...links.map((link) => link.from as ToolKey), ...weighed],
    skills: dependants(draft.known, [...remapped.back, ...remapped.marked]),
  });
  if (weighed.length > 0) draft.effects.push({ kind: "announce-tools" });
  return remapped;
}

function sidesOf(known: Known, id: string): Pick<LineageLook, "link" | "from" | "to"> {
  const link = known.lineage.get(id);
  return { link: id, from: link?.from ?? "", to: [...(link?.to ?? [])] };
}
