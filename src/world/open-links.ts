/**
 * Proposed takeovers that something waits for: joins lineage, skills, evidence and the catalog.
 *
 * A function of the present, like all that maintenance looks at: what was looked at is told by the opinions on the links themselves.
 */
import { toTool } from "../catalog/intake.js";
import { isRejectedByPerson, lookBasis, withOpinion } from "../catalog/lineage/opinion.js";
import type { SkillName, ToolKey } from "../model/ids.js";
import { splitToolKey } from "../model/ids.js";
import type { LineageLink, LineageOpinion, LineageVerdict } from "../model/lineage.js";
import type { Policy } from "../model/policy.js";
import type { OpenLink, Proof } from "../model/ports.js";
import type { Tool } from "../model/tool.js";
import type { Known } from "./world.js";

type Ground = Pick<Known, "catalog" | "definitions" | "lineage" | "library" | "holds">;

/**
 * Links nobody confirmed and no person rejected, of tools that left and that a skill or a verified episode needs; those that most wait
 * for first. A successor that is held is left out: a person looks at it first.
 */
export function openLinks(known: Ground, proofs: readonly Proof[]): OpenLink[] {
  const links = [...known.lineage.values()].filter((link) => !isRejectedByPerson(link));
  const open = new Map<string, { skills: Set<SkillName>; episodes: number; link: LineageLink }>();
  for (const [key, need] of neededTools(known, proofs)) {
    for (const link of followed(known, links, key)) {
      const waits = open.get(link.id) ?? { skills: new Set(), episodes: 0, link };
      for (const skill of need.skills) waits.skills.add(skill);
      waits.episodes += need.episodes.size;
      open.set(link.id, waits);
    }
  }
  return [...open.values()]
    .flatMap(({ link, skills, episodes }) => {
      const from = definitionOf(known, link.from as ToolKey);
      const to = link.to.map((key) => definitionOf(known, key as ToolKey)).filter((tool) => tool !== undefined);
      const isHeld = to.some((tool) => known.holds.held[tool.key] !== undefined);
      if (from === undefined || to.length !== link.to.length || isHeld) return [];
      return [{ link, from, to, skills: [...skills].sort(), episodes, basis: lookBasis(from, to) }];
    })
    .sort((a, b) => b.skills.length - a.skills.length || b.episodes - a.episodes || (a.link.id < b.link.id ? -1 : 1));
}

interface Need {
  readonly skills: Set<SkillName>;
  readonly episodes: Set<string>;
}

/** Tools that left and are still asked for, by whom. */
function neededTools(known: Ground, proofs: readonly Proof[]): Map<ToolKey, Need> {
  const needs = new Map<ToolKey, Need>();
  const needOf = (tool: string): Need | undefined => {
    const key = tool as ToolKey;
    if (known.catalog.tools.has(key) || !known.catalog.departed.has(key)) return undefined;
    const need = needs.get(key) ?? { skills: new Set(), episodes: new Set() };
    needs.set(key, need);
    return need;
  };
  for (const [name, skill] of known.library.skills)
    for (const { tool } of skill.contract.requires) needOf(tool)?.skills.add(name);
  for (const { evidence, weight } of proofs) {
    if (weight !== "verified" || evidence.outcome.outcome !== "success") continue;
    for (const line of evidence.calls) if (!line.isError) needOf(line.tool)?.episodes.add(evidence.episode);
  }
  return needs;
}

/** Open links on the way from a tool to what is there today. Where one link of a tool is settled the others are not asked about. */
function followed(known: Ground, links: readonly LineageLink[], key: ToolKey): LineageLink[] {
  const departed = known.catalog.departed.get(key);
  if (departed === undefined || known.catalog.tools.has(key)) return [];
  return along(known, links, key, departed.lastVersion);
}

function along(known: Ground, links: readonly LineageLink[], key: ToolKey, since: number): LineageLink[] {
  const own = links.filter((link) => link.from === key && link.atVersion > since);
  const settled = own.filter(isSettled);
  return (settled.length > 0 ? settled : own).flatMap((link) => [
    ...(isSettled(link) ? [] : [link]),
    ...link.to.flatMap((next) =>
      known.catalog.tools.has(next as ToolKey) ? [] : along(known, links, next as ToolKey, link.atVersion),
    ),
  ]);
}

function isSettled(link: LineageLink): boolean {
  return link.confirmed !== undefined || (link.level === "certain" && link.rejected === undefined);
}

/** A tool as it is, or as it was when it left. */
export function definitionOf(known: Pick<Known, "catalog" | "definitions">, key: ToolKey): Tool | undefined {
  const present = known.catalog.tools.get(key);
  if (present !== undefined) return present;
  const departed = known.catalog.departed.get(key);
  const listed = departed === undefined ? undefined : known.definitions.get(departed.document);
  return listed === undefined ? undefined : toTool(splitToolKey(key).label, listed);
}

/** Does an opinion of this kind count, or is it advice? */
export function counts(how: LineageOpinion["how"], policy: Policy): boolean {
  return how === "replay" || policy.lineageByManager === "confirm";
}

/** The links that these verdicts move, as they are afterwards. */
export function withVerdicts(
  links: ReadonlyMap<string, LineageLink>,
  verdicts: readonly LineageVerdict[],
  policy: Policy,
): Map<string, LineageLink> {
  const moved = new Map<string, LineageLink>();
  for (const verdict of verdicts) {
    const link = moved.get(verdict.link) ?? links.get(verdict.link);
    if (link !== undefined) moved.set(link.id, withOpinion(link, verdict, counts(verdict.opinion.how, policy)));
  }
  return moved;
}
