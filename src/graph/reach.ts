/**
 * Reach: questions to the dependency graph. Each visits what it reaches and nothing else.
 */
import type { SkillName, ToolKey } from "../model/ids.js";
import type { Skill, Tier } from "../model/skill.js";
import { skillNode, toolNode, type DependencyGraph, type EdgeFacts } from "./graph.js";

/** Skills that rest on any of the tools, directly or over other skills, sorted. */
export function skillsReaching(graph: DependencyGraph, tools: Iterable<ToolKey>): SkillName[] {
  return impactOf(graph, [...tools].map(toolNode)).skills;
}

/** Skills that build on a skill, directly or over others, sorted; without the skill itself. */
export function skillsUsing(graph: DependencyGraph, skill: SkillName): SkillName[] {
  return impactOf(graph, [skillNode(skill)]).skills.filter((name) => name !== skill);
}

/** Skills that name a tool themselves, sorted: of one tier where it is given. */
export function skillsNaming(graph: DependencyGraph, tool: ToolKey, tier?: Tier): SkillName[] {
  const node = toolNode(tool);
  if (!graph.nodes.hasNode(node)) return [];
  const skills: SkillName[] = [];
  graph.nodes.forEachInEdge(node, (_edge, facts, _source, _target, source) => {
    if (facts.kind !== "requires" || source.kind !== "skill" || !source.present) return;
    if (tier === undefined || source.tier === tier) skills.push(source.name as SkillName);
  });
  return skills.sort();
}

/** Skills that rest on any of the nodes, with the number of nodes that were looked at: the cost of an impact. Nodes are graph keys (`tool:…`, `skill:…`). */
export function impactOf(graph: DependencyGraph, starts: readonly string[]): { skills: SkillName[]; visited: number } {
  const reached = new Set<string>();
  const queue: string[] = [];
  for (const start of starts) {
    if (!graph.nodes.hasNode(start) || reached.has(start)) continue;
    reached.add(start);
    queue.push(start);
  }
  for (const node of queue) {
    graph.nodes.forEachInEdge(node, (_edge, facts, source) => {
      if (!isDependency(facts) || reached.has(source)) return;
      reached.add(source);
      queue.push(source);
    });
  }
  const skills: SkillName[] = [];
  for (const node of queue) {
    const facts = graph.nodes.getNodeAttributes(node);
    if (facts.kind === "skill" && facts.present) skills.push(facts.name as SkillName);
  }
  return { skills: skills.sort(), visited: queue.length };
}

function isDependency(facts: EdgeFacts): boolean {
  return facts.kind === "requires" || facts.kind === "uses";
}

/**
 * Tools of the same upstream that supply what a tool cannot be called without, likeliest first for each parameter.
 * `given` tells which parameters need no supplier (the request says them). Only tools that look supply: nobody changes a thing to learn its number.
 */
export function closure(
  graph: DependencyGraph,
  tool: ToolKey,
  given: (param: string) => boolean = () => false,
): { tool: ToolKey; supplies: string }[] {
  const node = toolNode(tool);
  if (!graph.nodes.hasNode(node)) return [];
  const server = node.slice(0, node.indexOf("/") + 1);
  const found: { tool: ToolKey; supplies: string; rank: number }[] = [];
  graph.nodes.forEachInEdge(node, (_edge, facts, source) => {
    if (facts.kind !== "feeds" || !source.startsWith(server)) return;
    const producer = graph.nodes.getNodeAttribute(source, "name") as ToolKey;
    for (const feed of facts.feeds)
      if (feed.finds === true && !given(feed.param)) found.push({ tool: producer, supplies: feed.param, rank: feed.rank });
  });
  found.sort((a, b) => compare(a.supplies, b.supplies) || a.rank - b.rank || compare(a.tool, b.tool));
  return found.map(({ tool: producer, supplies }) => ({ tool: producer, supplies }));
}

/** One thing a skill rests on, with the shortest way to it. */
export interface RestsOn {
  /** Names from the skill to what it rests on: skill names, then possibly one tool key. */
  readonly path: readonly string[];
  readonly kind: "skill" | "tool";
  /** Is it in the catalog (tool) or the library (skill)? */
  readonly present: boolean;
}

/** Everything a skill rests on, each with one shortest path; nearest first, then by name. Empty for an unknown skill. */
export function pathsOf(graph: DependencyGraph, skill: SkillName): RestsOn[] {
  const start = skillNode(skill);
  if (!graph.nodes.hasNode(start)) return [];
  const pathTo = new Map<string, readonly string[]>([[start, [skill]]]);
  const rests: RestsOn[] = [];
  let level = [start];
  while (level.length > 0) {
    const next: string[] = [];
    for (const node of level) {
      const path = pathTo.get(node) ?? [];
      const targets: string[] = [];
      graph.nodes.forEachOutEdge(node, (_edge, facts, _source, target) => {
        if (isDependency(facts) && !pathTo.has(target)) targets.push(target);
      });
      for (const target of targets.sort()) {
        if (pathTo.has(target)) continue;
        const facts = graph.nodes.getNodeAttributes(target);
        const way = [...path, facts.name];
        pathTo.set(target, way);
        next.push(target);
        rests.push({ path: way, kind: facts.kind, present: facts.present });
      }
    }
    level = next.filter((node) => graph.nodes.getNodeAttribute(node, "kind") === "skill").sort();
  }
  return rests;
}

/** A circle of skills that use one another, as its path with the first name again at the end; undefined where there is none. */
export function findCycle(skills: Iterable<Pick<Skill, "name" | "contract">>): readonly SkillName[] | undefined {
  const uses = new Map<string, readonly string[]>();
  for (const skill of skills) uses.set(skill.name, [...skill.contract.uses].sort());
  const done = new Set<string>();
  for (const start of [...uses.keys()].sort()) {
    // Depth first with its own stack: a chain of thousands of skills must not exhaust the engine's.
    const path: string[] = [];
    const onPath = new Set<string>();
    const stack: { name: string; next: number }[] = [];
    const enter = (name: string): void => {
      path.push(name);
      onPath.add(name);
      stack.push({ name, next: 0 });
    };
    if (!done.has(start)) enter(start);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const used = uses.get(top.name)?.[top.next++];
      if (used === undefined) {
        done.add(top.name);
        onPath.delete(top.name);
        path.pop();
        stack.pop();
      } else if (onPath.has(used)) {
        return [...path.slice(path.indexOf(used)), used] as SkillName[];
      } else if (!done.has(used) && uses.has(used)) {
        enter(used);
      }
    }
  }
  return undefined;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
