/**
 * Weighing holds: joins a catalog that moved, or a word on a takeover, with what the tools concerned were accepted for.
 *
 * Which takeovers measure their heirs is a function of the present links: all that no person rejected, where the heir came with the
 * takeover, or the takeover is certain or confirmed. A tool that was there before is no heir by a guess: it was accepted for itself.
 */
import { nextHolds, type Moved } from "../catalog/hold.js";
import { isRejectedByPerson } from "../catalog/lineage/opinion.js";
import type { Hop } from "../catalog/measure.js";
import { neighboursOf, type Neighbours } from "../catalog/scan.js";
import type { Holds } from "../model/catalog.js";
import type { ToolKey, UpstreamLabel } from "../model/ids.js";
import type { LineageLink } from "../model/lineage.js";
import type { Tool } from "../model/tool.js";
import { put, type Draft } from "./draft.js";
import { definitionOf } from "./open-links.js";
import type { Known } from "./world.js";

type Heirs = Map<ToolKey, { tool: Tool; came: boolean }[]>;

/** Weighs safety of what moved; returns the tools whose hold began or ended. */
export function weighHolds(draft: Draft, before: Known, moved: readonly Tool[], removed: readonly ToolKey[]): ToolKey[] {
  const fresh = [...draft.known.lineage.values()].filter((link) => !before.lineage.has(link.id));
  const heirs = heirsOf(fresh, before, (key) => !before.catalog.tools.has(key));
  const after = new Map(moved.map((tool) => [tool.key, tool]));
  // A tool that did not move itself and now stands for another is weighed as well.
  for (const key of heirs.keys()) {
    const tool = draft.known.catalog.tools.get(key);
    if (tool !== undefined) after.set(key, tool);
  }
  return putHolds(draft, nextHoldsOf(draft.known, weighed(before, [...after.values()], removed, heirs)));
}

function weighed(before: Known, after: readonly Tool[], removed: readonly ToolKey[], heirs: Heirs): Moved[] {
  return [
    ...after.map((tool) => ({
      key: tool.key,
      before: definitionOf(before, tool.key),
      after: tool,
      predecessors: heirs.get(tool.key) ?? [],
    })),
    ...removed.map((key) => ({ key, before: before.catalog.tools.get(key), after: undefined })),
  ];
}

/** The tools that these links give heirs, with the last definitions of those that they took over from. */
function heirsOf(links: Iterable<LineageLink>, known: Known, came: (to: ToolKey) => boolean): Heirs {
  const heirs: Heirs = new Map();
  for (const link of links) {
    const tool = definitionOf(known, link.from as ToolKey);
    if (tool === undefined) continue;
    for (const to of link.to as ToolKey[]) heirs.set(to, [...(heirs.get(to) ?? []), { tool, came: came(to) }]);
  }
  return heirs;
}

/**
 * Weighs anew what these links bear on, after a word was spoken on them. `isNew`: nobody knew of them when their heirs came, so those are
 * measured now, and whoever took over from them since. Returns the tools whose hold began or ended.
 */
export function weighLinks(draft: Draft, links: readonly LineageLink[], isNew = false): ToolKey[] {
  return putHolds(draft, holdsAfter(draft.known, links, isNew));
}

/** Tools that would be released if this person rejected the link. */
export function releasedBy(known: Known, id: string, by: string): ToolKey[] {
  const link = known.lineage.get(id);
  if (link === undefined) return [];
  const { confirmed: _confirmed, ...rest } = link;
  const rejected: LineageLink = { ...rest, rejected: { by, at: known.now, how: "person" } };
  const after = holdsAfter({ ...known, lineage: new Map([...known.lineage, [id, rejected]]) }, [rejected]);
  return (Object.keys(known.holds.held) as ToolKey[]).filter((key) => after.held[key] === undefined);
}

/** The holds as these links, which are in `known` already, leave them. */
export function holdsAfter(known: Known, links: readonly LineageLink[], isNew = false): Holds {
  let { holds } = known;
  const done = new Set<string>();
  for (let next = [...links]; next.length > 0;) {
    for (const link of next) done.add(link.id);
    const heirs: Heirs = isNew ? heirsOf(next, known, () => false) : new Map();
    const moved = [...new Set([...heirs.keys(), ...measuredBy(holds, next)])].flatMap((key): Moved[] => {
      const tool = definitionOf(known, key);
      return tool === undefined ? [] : [{ key, before: tool, after: tool, predecessors: heirs.get(key) ?? [] }];
    });
    holds = nextHoldsOf({ ...known, holds }, moved);
    const reached = new Set(next.flatMap((link) => link.to));
    next = isNew ? [...known.lineage.values()].filter((link) => reached.has(link.from) && !done.has(link.id)) : [];
  }
  return holds;
}

/** Tools with a measure that came by one of these links, or that is kept as that of the tool that left. */
function measuredBy(holds: Holds, links: readonly LineageLink[]): ToolKey[] {
  const isOne = ({ from, to }: Pick<Hop, "from" | "to">): boolean =>
    links.some((link) => link.from === from && link.to.includes(to));
  const heirs = Object.entries(holds.heirs ?? {}).filter(([, measures]) => measures.some(({ via }) => via.some(isOne)));
  const bound = Object.entries(holds.held).filter(([key, hold]) => isOne({ from: hold.predecessor ?? "", to: key }));
  return [...heirs, ...bound].map(([key]) => key as ToolKey);
}

function nextHoldsOf(known: Known, moved: readonly Moved[]): Holds {
  return nextHolds(known.holds, moved, known.now, {
    holdOnTextChange: known.policy.holdOnTextChange,
    neighbours: neighboursIn(known),
    stands: standsIn(known.lineage.values()),
  });
}

function putHolds(draft: Draft, holds: Holds): ToolKey[] {
  const before = draft.known.holds;
  if (JSON.stringify(holds) === JSON.stringify(before)) return [];
  put(draft, { kind: "holds", holds });
  const keys = new Set([...Object.keys(holds.held), ...Object.keys(before.held)]);
  return [...keys].filter((key) => (holds.held[key] === undefined) !== (before.held[key] === undefined)) as ToolKey[];
}

/**
 * Is a takeover in force as far as holds go? The newest link between two tools decides. A person's rejection ends it, a machine's does
 * not: what a machine reads was written by the upstream that would be released.
 */
function standsIn(links: Iterable<LineageLink>): (hop: Hop) => boolean {
  const newest = new Map<string, LineageLink>();
  for (const link of links) {
    for (const to of link.to) {
      const pair = JSON.stringify([link.from, to]);
      const known = newest.get(pair);
      if (known === undefined || known.atVersion <= link.atVersion) newest.set(pair, link);
    }
  }
  return ({ from, to, came }) => {
    const link = newest.get(JSON.stringify([from, to]));
    if (link === undefined) return came;
    return !isRejectedByPerson(link) && (came || link.level === "certain" || link.confirmed !== undefined);
  };
}

/** The names that each upstream may not give orders about, worked out once per upstream. */
export function neighboursIn(known: Known): (label: UpstreamLabel) => Neighbours {
  const found = new Map<UpstreamLabel, Neighbours>();
  return (label) => {
    let neighbours = found.get(label);
    if (neighbours === undefined) found.set(label, (neighbours = neighboursOf(label, known.catalog.tools.keys())));
    return neighbours;
  };
}
