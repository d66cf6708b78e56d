/**
 * What a person states of takeovers: one tool or several that left, and what stands in for each.
 *
 * A stated link is confirmed by whoever stated it and outranks what was found; a word of a person against it has to be taken back first.
 */
import { speakerOf } from "../catalog/lineage/opinion.js";
import { parametersOf } from "../catalog/lineage/profile.js";
import { statedLink } from "../catalog/lineage/stated.js";
import type { Event } from "../model/event.js";
import { Fault } from "../model/fault.js";
import { splitToolKey, type ToolKey } from "../model/ids.js";
import type { LineageLink } from "../model/lineage.js";
import type { Tool } from "../model/tool.js";
import { didYouMean } from "../retrieve/near-names.js";
import { settleStandings } from "./decide-standings.js";
import { put, type Draft } from "./draft.js";
import { dependants } from "./known.js";
import { definitionOf } from "./open-links.js";
import { remapSkills } from "./remap.js";
import { restingOf } from "./reverts.js";
import { weighLinks } from "./weigh-holds.js";
import type { Known } from "./world.js";

type Stated = Extract<Event, { kind: "takeover-stated" }>;

export function decideTakeoverStated(draft: Draft, event: Stated): void {
  const before = draft.known;
  const from = event.from.map((asked) => leftTool(before, asked));
  const to = event.to.map((asked) => knownTool(before, asked));
  refuseSides(from, to);
  const remarks: string[] = [];
  const links = from.map((tool) => {
    const stated = stateOne(before, event, { tool, to, among: from });
    remarks.push(...stated.remarks);
    return stated.link;
  });
  refuseUnused(event, from);
  put(draft, { kind: "lineage", links });
  const remapped = remapSkills(draft, before, links, event.by);
  const fresh = links.filter((link) => !before.lineage.has(link.id));
  const known = links.filter((link) => before.lineage.has(link.id));
  const weighed = new Set([...weighLinks(draft, fresh, true), ...weighLinks(draft, known)]);
  const rewritten = [...remapped.back, ...remapped.marked];
  settleStandings(draft, { tools: [...from.map((tool) => tool.key), ...weighed], skills: dependants(draft.known, rewritten) });
  if (weighed.size > 0) draft.effects.push({ kind: "announce-tools" });
  const wasHeld = (key: ToolKey): boolean => before.holds.held[key] !== undefined;
  draft.answer = {
    links: links.map((link) => link.id),
    remarks: [...new Set(remarks)],
    held: [...weighed].filter((key) => !wasHeld(key)),
    released: [...weighed].filter(wasHeld),
    changed: [...remapped.back],
    marked: [...remapped.marked],
    resting: restingOf(draft.known, dependants(draft.known, remapped.back)),
  };
  const text = `${event.by} states that ${to.map((tool) => tool.key).join(" and ")} took over from ${from.map((tool) => tool.key).join(" and ")}`;
  draft.effects.push({ kind: "log", level: "info", text, data: { links: links.map((link) => link.id) } });
}

interface One {
  readonly tool: Tool;
  readonly to: readonly Tool[];
  readonly among: readonly Tool[];
}

function stateOne(known: Known, event: Stated, { tool, to, among }: One): { link: LineageLink; remarks: string[] } {
  const keys = to.map(({ key }) => key as string);
  const since = known.catalog.departed.get(tool.key)?.lastVersion ?? 0;
  const own = [...known.lineage.values()].filter((link) => link.from === tool.key && link.atVersion > since);
  const same = own.find((link) => JSON.stringify(link.to) === JSON.stringify(keys));
  const others = own.filter((link) => link !== same && link.rejected === undefined);
  for (const link of others) refuseContradiction(link);
  const params = Object.fromEntries(
    Object.entries(event.params ?? {}).filter(([name]) => among.length === 1 || hasParameter(tool, name)),
  );
  const { link, remarks } = statedLink({
    from: tool,
    to,
    atVersion: since + 1,
    by: event.by,
    at: event.at,
    kind: kindOf(known, { tool, to, among }, event.stood?.get(since)),
    params,
    fixed: event.fixed,
    known: same,
  });
  return { link, remarks: [...remarks, ...chainRemarks(known, link, since + 1), ...others.map(passedOver)] };
}

function passedOver(link: LineageLink): string {
  return `That ${link.to.join(" and ")} took over from ${link.from} (${link.level}, link ${link.id}) is not followed while your word stands; reject ${link.id} to take skills back that were bound by it.`;
}

/** As a found one is called: one that stood beside the tool already did not come under another name. */
function kindOf(known: Known, { tool, to, among }: One, stood: ReadonlySet<string> | undefined): LineageLink["kind"] {
  if (to.length > 1) return "split";
  const target = to[0]?.key;
  const others = [...known.lineage.values()].some(
    (link) => link.rejected === undefined && link.from !== tool.key && link.to.length === 1 && link.to[0] === target,
  );
  if (among.length > 1 || others) return "merged";
  return target !== undefined && stood?.has(target) === true ? "superseded" : "renamed";
}

/** Successors that left again: followed where something stands in for them, and said. */
function chainRemarks(known: Known, link: LineageLink, atVersion: number): string[] {
  return link.to.flatMap((key) => {
    const departed = known.catalog.departed.get(key as ToolKey);
    if (departed === undefined || known.catalog.tools.has(key as ToolKey)) return [];
    if (departed.lastVersion < atVersion)
      throw new Fault(
        "input-invalid",
        `${key} left after catalog version ${departed.lastVersion}, before ${link.from} did; name what was there since version ${atVersion}.`,
      );
    const next = [...known.lineage.values()].filter((one) => one.from === key && one.rejected === undefined);
    const said = next.length === 0 ? "and nothing is known to stand in for it" : "and is followed to what took over from it";
    return [`${key} left as well, after catalog version ${departed.lastVersion}, ${said}.`];
  });
}

function refuseContradiction(link: LineageLink): void {
  if (link.confirmed === undefined || speakerOf(link.confirmed) !== "person") return;
  throw new Fault(
    "lineage-settled",
    `${link.confirmed.by} confirmed that ${link.to.join(" and ")} took over from ${link.from}; \`steward catalog lineage reject ${link.id}\` takes that back first.`,
    { link: link.id, from: link.from, to: [...link.to] },
  );
}

function refuseSides(from: readonly Tool[], to: readonly Tool[]): void {
  for (const side of [from, to]) {
    const twice = side.find((tool, at) => side.findIndex((other) => other.key === tool.key) !== at);
    if (twice !== undefined) throw new Fault("input-invalid", `${twice.key} is named twice.`);
  }
  const both = from.find((tool) => to.some((other) => other.key === tool.key));
  if (both !== undefined) throw new Fault("input-invalid", `${both.key} cannot take over from itself.`);
  if (from.length > 1 && to.length > 1)
    throw new Fault("input-invalid", "Several tools took over from one, or one from several; state the rest one by one.");
}

/** With several tools that left, a mapping is for those that have the parameter: one of them must. */
function refuseUnused({ params = {} }: Stated, from: readonly Tool[]): void {
  for (const name of Object.keys(params)) {
    if (from.some((tool) => hasParameter(tool, name))) continue;
    throw new Fault("input-invalid", `None of ${from.map((tool) => tool.key).join(", ")} has a parameter ${name}.`);
  }
}

function hasParameter(tool: Tool, name: string): boolean {
  return parametersOf(tool.inputSchema).some((parameter) => parameter.name === name);
}

function leftTool(known: Known, asked: string): Tool {
  const { tools, departed } = known.catalog;
  const key = keyOf(asked, departed.keys());
  if (key !== undefined && !tools.has(key)) {
    const tool = definitionOf(known, key);
    if (tool !== undefined) return tool;
  }
  const there = keyOf(asked, tools.keys());
  if (there !== undefined)
    throw new Fault("input-invalid", `${there} is in the present catalog; a takeover is stated of a tool that left.`);
  throw new Fault("tool-unknown", `No tool ${asked} left the catalog.${didYouMean(asked, departed.keys())}`, { asked });
}

function knownTool(known: Known, asked: string): Tool {
  const { tools, departed } = known.catalog;
  const key = keyOf(asked, tools.keys()) ?? keyOf(asked, departed.keys());
  const tool = key === undefined ? undefined : definitionOf(known, key);
  if (tool !== undefined) return tool;
  const names = [...tools.keys(), ...departed.keys()];
  throw new Fault("tool-unknown", `No catalog version has a tool ${asked}.${didYouMean(asked, names)}`, { asked });
}

/** A key, or a bare name that one tool of these has alone. */
function keyOf(asked: string, keys: Iterable<ToolKey>): ToolKey | undefined {
  const named: ToolKey[] = [];
  for (const key of keys) {
    if (key === asked) return key;
    if (splitToolKey(key).name === asked) named.push(key);
  }
  return named.length === 1 ? named[0] : undefined;
}
