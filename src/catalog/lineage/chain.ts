/**
 * Chains: what stands in for a tool today, composed link by link over catalog versions.
 *
 * Owns: following links, composing parameters, fixed arguments and levels.
 * Speaks: LineageLink, tool keys.
 * Never: judging a rebind (maintain/).
 *
 * A step follows only links of a later version than the one it came by, so a chain cannot turn in a circle, and a catalog
 * that goes back (v2 → v1) is just two more links.
 */
import type { Catalog } from "../../model/catalog.js";
import type { CatalogVersion, ToolKey } from "../../model/ids.js";
import type { JsonValue } from "../../model/json.js";
import type { LineageLink, LinkState } from "../../model/lineage.js";
import { oncePer } from "../../model/once.js";
import { speakerOf } from "./opinion.js";

export interface Succession {
  /** In order of use, without repeats. */
  readonly to: ToolKey[];
  readonly level: "certain" | "proposed";
  /** The links followed, in the order they were followed. */
  readonly links: LineageLink[];
  /** parameter of the tool → parameter of what stands in for it; what no link mapped is missing. */
  readonly params: Record<string, string>;
  readonly fixedArguments: Record<string, JsonValue>;
  readonly kind: LineageLink["kind"];
}

/**
 * What stands in for `tool`, as somebody knows it who saw it at `since`; undefined while it is present itself, or where no
 * usable chain ends at a present tool. Rejected links are ignored, confirmed ones count as certain, a person's word goes first. A chain is as sure as
 * its weakest link; one that lost a part of a split, or a fixed argument on the way, is proposed.
 */
export function successors(
  tool: ToolKey,
  since: CatalogVersion,
  links: Links,
  present: (key: ToolKey) => boolean,
): Succession | undefined {
  if (present(tool)) return undefined;
  return follow(tool, since, areKnown(links) ? usableOf(links) : usableIn(links), present);
}

/** All links by their ids, as a world has them, or any. Those of a world are read once, however often somebody asks. */
export type Links = KnownLinks | Iterable<LineageLink>;
type KnownLinks = ReadonlyMap<string, LineageLink>;

function areKnown(links: Links): links is KnownLinks {
  return links instanceof Map;
}

/** Links that are not rejected, by the tool that they lead from. */
type Usable = ReadonlyMap<string, readonly LineageLink[]>;

const usableOf = oncePer((links: KnownLinks) => usableIn(links.values()));

function usableIn(links: Iterable<LineageLink>): Usable {
  const usable = new Map<string, LineageLink[]>();
  for (const link of links) {
    if (link.rejected !== undefined) continue;
    const own = usable.get(link.from);
    if (own === undefined) usable.set(link.from, [link]);
    else own.push(link);
  }
  return usable;
}

/** What stands in for a tool that left a catalog, from the last version that had it on; undefined for one that did not leave. */
export function takeover(
  catalog: Pick<Catalog, "departed"> & { readonly tools: { has(key: ToolKey): boolean } },
  key: ToolKey,
  links: Links,
): Succession | undefined {
  const departed = catalog.departed.get(key);
  return departed === undefined ? undefined : successors(key, departed.lastVersion, links, (one) => catalog.tools.has(one));
}

/**
 * What is of a link now, whoever found or stated it: followed as it is; on to what took over later; not, since another goes before it; not
 * any more, since the tool is back, or came back and left again; to nothing that is there. Or a word stands against it.
 */
export function stateOfLink(
  link: LineageLink,
  catalog: Pick<Catalog, "departed"> & { readonly tools: { has(key: ToolKey): boolean } },
  links: Links,
): LinkState {
  const from = link.from as ToolKey;
  if (link.rejected !== undefined) return "rejected";
  if (catalog.tools.has(from)) return "returned";
  if ((catalog.departed.get(from)?.lastVersion ?? 0) >= link.atVersion) return "earlier";
  const followed = takeover(catalog, from, links);
  if (followed === undefined) return "ended";
  if (!followed.links.some(({ id }) => id === link.id)) return "passed-over";
  return link.to.every((key) => catalog.tools.has(key as ToolKey)) ? "followed" : "followed-on";
}

function follow(tool: ToolKey, since: CatalogVersion, links: Usable, present: (key: ToolKey) => boolean): Succession | undefined {
  const own = (links.get(tool) ?? []).filter((link) => link.atVersion > since).sort(earlierThenSurer);
  for (const link of own) {
    const succession = along(link, links, present);
    if (succession !== undefined) return succession;
  }
  return undefined;
}

function earlierThenSurer(a: LineageLink, b: LineageLink): number {
  return (
    Number(isPersonsStatement(b)) - Number(isPersonsStatement(a)) ||
    a.atVersion - b.atVersion ||
    Number(isCertain(b)) - Number(isCertain(a)) ||
    b.score - a.score ||
    (a.id < b.id ? -1 : 1)
  );
}

/** Of a link that a person stated; where words differ, theirs is followed. */
export function isPersonsStatement(link: LineageLink): boolean {
  return link.stated !== undefined && link.confirmed !== undefined && speakerOf(link.confirmed) === "person";
}

function isCertain(link: LineageLink): boolean {
  return link.level === "certain" || link.confirmed !== undefined;
}

/** One link, and from each of its targets onward where that target left again. */
function along(link: LineageLink, links: Usable, present: (key: ToolKey) => boolean): Succession | undefined {
  const steps = link.to.map((key) => ({
    key: key as ToolKey,
    onward: present(key as ToolKey) ? undefined : follow(key as ToolKey, link.atVersion, links, present),
  }));
  const reached = steps.filter((step) => step.onward !== undefined || present(step.key));
  if (reached.length === 0) return undefined;
  const onwards = reached.flatMap((step) => (step.onward === undefined ? [] : [step.onward]));
  const fixed = composeFixed(link.fixedArguments, reached);
  const sure =
    reached.length === steps.length && isCertain(link) && onwards.every((onward) => onward.level === "certain") && !fixed.lost;
  return {
    to: [...new Set(reached.flatMap((step) => step.onward?.to ?? [step.key]))],
    level: sure ? "certain" : "proposed",
    links: [...new Set([link, ...onwards.flatMap((onward) => onward.links)])],
    params: composeParams(link.params, reached),
    fixedArguments: fixed.arguments,
    kind: composeKind(
      link.kind,
      onwards.map((onward) => onward.kind),
    ),
  };
}

interface Step {
  readonly onward: Succession | undefined;
}

/** A parameter goes on by the first step that still has it. */
function composeParams(params: Readonly<Record<string, string>>, steps: readonly Step[]): Record<string, string> {
  const composed = new Map<string, string>();
  for (const [old, next] of Object.entries(params)) {
    const onward = firstHaving(next, steps);
    if (onward !== undefined) composed.set(old, onward);
  }
  return Object.fromEntries(composed);
}

/** The name a parameter has at the end: its own where a step ends here, the mapped one where the step went on. */
function firstHaving(name: string, steps: readonly Step[]): string | undefined {
  for (const { onward } of steps) {
    if (onward === undefined) return name;
    if (Object.hasOwn(onward.params, name)) return onward.params[name];
  }
  return undefined;
}

function composeFixed(
  fixed: Readonly<Record<string, JsonValue>>,
  steps: readonly Step[],
): { arguments: Record<string, JsonValue>; lost: boolean } {
  const composed = new Map<string, JsonValue>();
  let lost = false;
  for (const { onward } of steps) {
    for (const [name, value] of Object.entries(onward?.fixedArguments ?? {})) composed.set(name, value);
  }
  for (const [name, value] of Object.entries(fixed)) {
    const onward = firstHaving(name, steps);
    if (onward === undefined) lost = true;
    else composed.set(onward, value);
  }
  return { arguments: Object.fromEntries(composed), lost };
}

/** The kind that says most about what changed for a caller: split, merged, superseded, renamed. */
function composeKind(first: LineageLink["kind"], more: readonly LineageLink["kind"][]): LineageLink["kind"] {
  const all = [first, ...more];
  const order: readonly LineageLink["kind"][] = ["split", "merged", "superseded"];
  return order.find((kind) => all.includes(kind)) ?? "renamed";
}
