/** What a caller whose token is limited to some upstreams may be told of the world: nothing that names another one. */
import type { Hold } from "../model/catalog.js";
import { splitToolKey, type ToolKey, type UpstreamLabel } from "../model/ids.js";
import type { Problem } from "../model/problem.js";
import { reachesTool, type Reach } from "../model/reach.js";
import type { Skill } from "../model/skill.js";
import type { ViewRecord } from "../model/view.js";
import { servings } from "./upstream-skills.js";
import type { Known, World } from "./world.js";

/** Optional tools count as well: the skill's text speaks of them. */
export function skillWithin(known: Pick<Known, "upstreamSkills">, skill: Skill, reach: Reach): boolean {
  if (reach === undefined) return true;
  const from = servings(known).get(skill.name)?.label;
  return (from === undefined || reach.has(from)) && skill.contract.requires.every((need) => reachesTool(reach, need.tool));
}

/** Does a text name an upstream, or a tool of one, that is out of reach? Labels are looked for as whole words. */
export function namesOthers(world: World, text: string, reach: Reach): boolean {
  if (reach === undefined) return false;
  return labelsOf(world).some((label) => !reach.has(label) && isNamedIn(label, text));
}

function labelsOf(world: World): UpstreamLabel[] {
  const { tools, departed } = world.catalog;
  const keys = [...tools.keys(), ...departed.keys()];
  return [...new Set([...world.presence.keys(), ...keys.map((key) => splitToolKey(key).label)])] as UpstreamLabel[];
}

function isNamedIn(label: string, text: string): boolean {
  for (let at = text.indexOf(label); at >= 0; at = text.indexOf(label, at + 1)) {
    const before = text[at - 1] ?? " ";
    const after = text.slice(at + label.length, at + label.length + 2);
    if (!/[A-Za-z0-9]/.test(before) && (after.startsWith("__") || !/^[A-Za-z0-9_]/.test(after))) return true;
  }
  return false;
}

/** Problems that name no upstream out of reach. */
export function problemsWithin(world: World, problems: readonly Problem[], reach: Reach): Problem[] {
  return problems.filter(({ where, text }) => !namesOthers(world, `${where}\n${text}`, reach));
}

/** Substitutions without tools out of reach: what is asked for must be within; what took over is told as far as it is. */
export function substitutionsWithin(
  rows: ViewRecord["found"]["substitutions"],
  reach: Reach,
): ViewRecord["found"]["substitutions"] {
  if (reach === undefined) return rows;
  return rows
    .filter((row) => reachesTool(reach, row.asked))
    .map((row) => {
      const given = row.given.filter((key) => reachesTool(reach, key));
      if (given.length === row.given.length) return row;
      const why = given.length > 0 ? row.why : "it left the catalog, and nothing that this token may use took over";
      return { ...row, given, why };
    });
}

/** Why a tool is held, as far as a caller may be told. */
export interface HoldWithin {
  readonly reasons: readonly { readonly rule: string; readonly text: string }[];
  readonly predecessor?: string;
  /** What the tool is measured from; left out where that is another upstream's definition. */
  readonly from?: Hold["from"];
}

/**
 * The hold of a tool, without the tools out of reach that it took over from. Whom it is known by may be within reach while what it is
 * measured from came a longer way.
 */
export function holdWithin({ holds }: Pick<Known, "holds">, tool: ToolKey, reach: Reach): HoldWithin | undefined {
  const hold = holds.held[tool];
  if (hold === undefined) return undefined;
  const { from, predecessor } = hold;
  const reasons = hold.reasons.map(({ rule, text }) => ({ rule, text }));
  const past = (holds.heirs?.[tool] ?? []).flatMap(({ of, via }) => [of, ...via.map((hop) => hop.from)]);
  const ways = predecessor === undefined ? [] : [predecessor, ...past];
  const source = ways.every((key) => reachesTool(reach, key)) ? { from } : {};
  if (predecessor === undefined || reachesTool(reach, predecessor))
    return { reasons, ...source, ...(predecessor === undefined ? {} : { predecessor }) };
  const unnamed = (text: string): string => text.replaceAll(predecessor, "A tool that this token does not reach");
  return { reasons: reasons.map(({ rule, text }) => ({ rule, text: unnamed(text) })), ...source };
}
