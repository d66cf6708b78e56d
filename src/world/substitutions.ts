/** Substitutions: tools that a need asks for and that are gone, with what took over from them. */
import { takeover } from "../catalog/lineage.js";
import { splitToolKey, type ToolKey } from "../model/ids.js";
import type { LineageLink } from "../model/lineage.js";
import { PROVISION } from "../model/policy.js";
import type { ViewRecord } from "../model/view.js";
import { toolFit, wordsOfNeed, type Words } from "../provision/meaning.js";
import { exactTerms, namedIn } from "../retrieve/exact.js";
import { nameOf } from "./advance.js";
import type { World } from "./world.js";

type Found = ViewRecord["found"];

/**
 * Tools named in the request that have left: as a live one is found by its exact name, by the name agents saw, and bare names that look like
 * one (a separator or a change of case).
 */
export function askedAndGone(world: World, text: string, mayUse: (key: ToolKey) => boolean): Found["substitutions"] {
  if (world.catalog.departed.size === 0) return [];
  const words = new Set(text.split(/[^A-Za-z0-9_./-]+/).map((word) => word.replace(/[./-]+$/, "")));
  const spelt = namedIn(text);
  const result: Found["substitutions"] = [];
  for (const key of world.catalog.departed.keys()) {
    const { name } = splitToolKey(key);
    const isSpelt = exactTerms({ key, name }).some((term) => spelt.has(term));
    const named = isSpelt || words.has(key) || words.has(nameOf(world, key)) || (/[_-]|[a-z][A-Z]/.test(name) && words.has(name));
    const substitution = named && mayUse(key) ? substitutionFor(world, key, "it was asked for") : undefined;
    if (substitution !== undefined) result.push(substitution);
  }
  return result;
}

/** Tools that stand in for gone ones → the gone one; the first that names it. */
export function standInsOf(substitutions: Found["substitutions"]): ReadonlyMap<ToolKey, ToolKey> {
  const standIns = new Map<ToolKey, ToolKey>();
  for (const { asked, given } of substitutions) {
    for (const key of given) if (!standIns.has(key as ToolKey)) standIns.set(key as ToolKey, asked as ToolKey);
  }
  return standIns;
}

/** One gone tool and who stands in for it; undefined for a tool that never left. */
export function substitutionFor(world: World, key: ToolKey, why: string): Found["substitutions"][number] | undefined {
  const departed = world.catalog.departed.get(key);
  if (departed === undefined) return undefined;
  const next = takeover(world.catalog, key, world.lineage);
  if (next === undefined)
    return {
      asked: key,
      given: [],
      why: `${why}; it left after catalog version ${departed.lastVersion} and nothing took over`,
      certain: true,
    };
  const fixed = Object.entries(next.fixedArguments).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  const renamed = Object.entries(next.params).filter(([old, name]) => old !== name);
  const how = [...renamed.map(([old, name]) => `${old} is now ${name}`), ...fixed.map((argument) => `set ${argument}`)];
  return {
    asked: key,
    given: [...next.to],
    why: `${why}; ${next.kind}${how.length > 0 ? ` (${how.join(", ")})` : ""}`,
    certain: next.level === "certain",
  };
}

/** For tools of the view that took over from gone ones which the need means: an agent may remember those. */
export function takenOver(world: World, text: string, keys: ReadonlySet<ToolKey>): Found["substitutions"] {
  const result: Found["substitutions"] = [];
  const words = wordsOfNeed(text);
  for (const link of world.lineage.values()) {
    if (
      !isInForce(link) ||
      !isMeant(link.from, words) ||
      world.catalog.tools.has(link.from as ToolKey) ||
      !link.to.some((key) => keys.has(key as ToolKey))
    )
      continue;
    const substitution = substitutionFor(world, link.from as ToolKey, "it left the catalog");
    if (substitution !== undefined && substitution.given.some((key) => keys.has(key as ToolKey))) result.push(substitution);
  }
  return result;
}

/** The need says most of the name of a tool: one that merely shares a noun with it was not asked for. */
export function isMeant(tool: string, words: Words): boolean {
  return toolFit({ key: tool as ToolKey }, words) >= PROVISION.fit;
}

function isInForce(link: LineageLink): boolean {
  return link.rejected === undefined;
}

/** One row per asked tool, the first reason given. */
export function distinct(substitutions: Found["substitutions"]): Found["substitutions"] {
  const seen = new Map<string, Found["substitutions"][number]>();
  for (const substitution of substitutions) if (!seen.has(substitution.asked)) seen.set(substitution.asked, substitution);
  return [...seen.values()].sort((a, b) => (a.asked < b.asked ? -1 : a.asked > b.asked ? 1 : 0));
}
