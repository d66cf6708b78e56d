/**
 * The dependency graph: skills → tools, skills → skills, tools → tools (an output field feeds a required parameter), old tools →
 * new tools (lineage).
 *
 * Owns: the graph's shape and its upkeep: what moved is moved, and moving is the same as building anew.
 * Speaks: graphology; skill names, tool keys, parameter and field names.
 * Never: what an edge means for a standing (world/), how links are found (catalog/), what is shown of it (provision/).
 *
 * ```
 *   skill:plan-cancel ──uses──▶ skill:atomic-cancel ──requires──▶ tool:shop/cancel_order
 *                                                                        ▲ feeds (order_id)
 *   tool:shop/get_orders ──lineage──▶ tool:shop/search_orders ───────────┘
 * ```
 * What is named and not there (a tool that left, a skill that was removed) keeps its node with `present: false` as long as an
 * edge names it: a tool that comes back reaches the skills that wait for it.
 */
import { MultiDirectedGraph } from "graphology";
import type { SkillName, ToolKey } from "../model/ids.js";
import { splitToolKey } from "../model/ids.js";
import type { LineageLink } from "../model/lineage.js";
import type { Requirement, Skill, Tier } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import {
  createFeeds,
  dropReferences,
  feedsInto,
  setFlows,
  setReferences,
  staleConsumers,
  type Feed,
  type Feeds,
  type Stale,
} from "./feeds.js";
import type { ObservedFlow } from "./flows.js";
import { referencesOf } from "./references.js";

export type NodeFacts =
  | { readonly kind: "skill"; readonly name: string; readonly present: boolean; readonly tier?: Tier }
  | { readonly kind: "tool"; readonly name: string; readonly present: boolean; readonly server: string };

export type EdgeFacts =
  | {
      readonly kind: "requires";
      readonly params: readonly string[];
      readonly reads: readonly string[];
      readonly anyGroup?: string;
      readonly optional?: boolean;
      readonly inferred?: boolean;
    }
  | { readonly kind: "uses" }
  | { readonly kind: "feeds"; readonly feeds: readonly Feed[] }
  | { readonly kind: "lineage"; readonly link: LineageLink };

/** Moved in place by `moveGraph`, behind an immutable face: readers take what they need before they wait for anything. */
export interface DependencyGraph extends Built {
  /** Moves that wait, where it is still being built (see `plannedGraph`). */
  readonly waiting?: GraphMove[];
}

interface Built {
  readonly nodes: MultiDirectedGraph<NodeFacts, EdgeFacts>;
  readonly feeds: Feeds;
  /** Links in force, by id. */
  readonly links: Map<string, LineageLink>;
}

export interface GraphInput {
  readonly skills: Iterable<Skill>;
  readonly tools: Iterable<Tool>;
  readonly links: Iterable<LineageLink>;
  /** What calls were seen to do (flows.ts). */
  readonly flows?: Iterable<ObservedFlow>;
}

export interface GraphMove {
  readonly skills?: { readonly set?: Iterable<Skill>; readonly drop?: Iterable<SkillName> };
  readonly tools?: { readonly set?: Iterable<Tool>; readonly drop?: Iterable<ToolKey> };
  /** All links as they are now; absent = unchanged. Links that did not move cost a comparison. */
  readonly links?: Iterable<LineageLink>;
  /** All observed flows as they are now; absent = unchanged. */
  readonly flows?: Iterable<ObservedFlow>;
}

export const skillNode = (name: string): string => `skill:${name}`;
export const toolNode = (key: string): string => `tool:${key}`;

export function buildGraph(input: GraphInput): DependencyGraph {
  const graph: DependencyGraph = { nodes: new MultiDirectedGraph(), feeds: createFeeds(), links: new Map() };
  return moveGraph(graph, {
    skills: { set: input.skills },
    tools: { set: input.tools },
    links: input.links,
    ...(input.flows === undefined ? {} : { flows: input.flows }),
  });
}

/**
 * The same graph, built when it is first looked at or a little at a time before (`tendGraph`), whichever comes first: a start need not
 * wait for it. Moves that come meanwhile wait their turn.
 */
export function plannedGraph(input: GraphInput): DependencyGraph {
  const built: Built = { nodes: new MultiDirectedGraph(), feeds: createFeeds(), links: new Map() };
  const waiting: GraphMove[] = [
    {
      skills: { set: input.skills },
      tools: { set: input.tools },
      links: input.links,
      ...(input.flows === undefined ? {} : { flows: input.flows }),
    },
  ];
  const work = worked(built, waiting);
  let failed: unknown;
  /** True where there is more to do. What failed once fails whoever looks: half a graph is none. */
  const go = (): boolean => {
    if (failed !== undefined) throw failed;
    try {
      return work.next().done !== true;
    } catch (error) {
      failed = error;
      throw error;
    }
  };
  const whole = (): Built => {
    while (go());
    return built;
  };
  const graph: DependencyGraph = {
    waiting,
    get nodes() {
      return whole().nodes;
    },
    get feeds() {
      return whole().feeds;
    },
    get links() {
      return whole().links;
    },
  };
  progress.set(graph, go);
  return graph;
}

const progress = new WeakMap<DependencyGraph, () => boolean>();

/** Goes on building for about `steps` tools and skills. True once all of it is there. */
export function tendGraph(graph: DependencyGraph, steps: number): boolean {
  const go = progress.get(graph);
  for (let n = 0; n < steps; n += 1) if (go === undefined || !go()) return true;
  return false;
}

/** All moves in their order; a move is off the list once it is made whole. Never begun again once it is through. */
function* worked(graph: Built, waiting: GraphMove[]): Generator<void, void> {
  for (let move = waiting[0]; move !== undefined; move = waiting[0]) {
    yield* moved(graph, move);
    waiting.shift();
  }
}

/**
 * Moves the graph in place and returns it. Cost grows with what moved and the edges that hang on it, not with the graph.
 * Law: the same as building from the state after the move.
 */
export function moveGraph(graph: DependencyGraph, move: GraphMove): DependencyGraph {
  if (graph.waiting !== undefined && graph.waiting.length > 0) graph.waiting.push(move);
  else for (const _ of moved(graph, move));
  return graph;
}

/** One move, with a stop behind every tool and skill that is set. */
function* moved(graph: Built, move: GraphMove): Generator<void, void> {
  const stale: Stale = { consumers: new Set(), buckets: new Set() };
  const loose = new Set<string>();
  for (const key of move.tools?.drop ?? []) dropTool(graph, key, stale, loose);
  for (const tool of move.tools?.set ?? []) {
    setTool(graph, tool, stale);
    yield;
  }
  if (move.flows !== undefined) setFlows(graph.feeds, move.flows, stale);
  for (const consumer of staleConsumers(graph.feeds, stale)) {
    refreshFeeds(graph, consumer);
    yield;
  }
  for (const name of move.skills?.drop ?? []) dropSkill(graph, name, loose);
  for (const skill of move.skills?.set ?? []) {
    setSkill(graph, skill, loose);
    yield;
  }
  if (move.links !== undefined) setLinks(graph, move.links, loose);
  for (const node of loose) dropIfLoose(graph, node);
}

function setTool(graph: Built, tool: Tool, stale: Stale): void {
  mark(graph, toolNode(tool.key), { kind: "tool", name: tool.key, present: true, server: tool.label });
  setReferences(graph.feeds, tool.key, tool.label, referencesOf(tool), stale);
}

function dropTool(graph: Built, key: ToolKey, stale: Stale, loose: Set<string>): void {
  const node = toolNode(key);
  if (!graph.nodes.hasNode(node)) return;
  mark(graph, node, { kind: "tool", name: key, present: false, server: splitToolKey(key).label });
  dropReferences(graph.feeds, key, stale);
  loose.add(node);
}

/** Brings the feeds into one tool to what the index says. */
function refreshFeeds(graph: Built, consumer: ToolKey): void {
  const target = toolNode(consumer);
  if (!graph.nodes.hasNode(target)) return;
  const wanted = new Map<string, readonly Feed[]>();
  for (const [producer, feeds] of feedsInto(graph.feeds, consumer)) wanted.set(toolNode(producer), feeds);
  for (const edge of graph.nodes.inEdges(target)) {
    const facts = graph.nodes.getEdgeAttributes(edge);
    if (facts.kind !== "feeds") continue;
    const source = graph.nodes.source(edge);
    const feeds = wanted.get(source);
    if (feeds === undefined) graph.nodes.dropEdge(edge);
    else if (JSON.stringify(feeds) !== JSON.stringify(facts.feeds)) {
      graph.nodes.replaceEdgeAttributes(edge, { kind: "feeds", feeds });
    }
    wanted.delete(source);
  }
  for (const [source, feeds] of wanted) {
    graph.nodes.addDirectedEdgeWithKey(edgeKey("feeds", source, target), source, target, { kind: "feeds", feeds });
  }
}

function setSkill(graph: Built, skill: Skill, loose: Set<string>): void {
  const node = skillNode(skill.name);
  mark(graph, node, { kind: "skill", name: skill.name, present: true, tier: skill.tier });
  dropOutEdges(graph, node, loose);
  for (const [key, facts] of requirements(skill.contract.requires)) {
    const tool = toolNode(key);
    touch(graph, tool, { kind: "tool", name: key, present: false, server: splitToolKey(key).label });
    graph.nodes.addDirectedEdgeWithKey(edgeKey("requires", node, tool), node, tool, facts);
  }
  for (const name of new Set(skill.contract.uses)) {
    const used = skillNode(name);
    touch(graph, used, { kind: "skill", name, present: false });
    graph.nodes.addDirectedEdgeWithKey(edgeKey("uses", node, used), node, used, { kind: "uses" });
  }
}

function dropSkill(graph: Built, name: SkillName, loose: Set<string>): void {
  const node = skillNode(name);
  if (!graph.nodes.hasNode(node)) return;
  dropOutEdges(graph, node, loose);
  mark(graph, node, { kind: "skill", name, present: false });
  loose.add(node);
}

function dropOutEdges(graph: Built, node: string, loose: Set<string>): void {
  for (const edge of graph.nodes.outEdges(node)) {
    loose.add(graph.nodes.target(edge));
    graph.nodes.dropEdge(edge);
  }
}

/** One edge a tool: what several requirements of the same tool say is joined; it is optional only where all of them are. */
function requirements(requires: readonly Requirement[]): Map<string, EdgeFacts> {
  const byTool = new Map<string, Requirement[]>();
  for (const requirement of requires) byTool.set(requirement.tool, [...(byTool.get(requirement.tool) ?? []), requirement]);
  const edges = new Map<string, EdgeFacts>();
  for (const [key, several] of byTool) {
    const group = several[0]?.anyGroup;
    edges.set(key, {
      kind: "requires",
      params: joined(several.map((requirement) => requirement.params)),
      reads: joined(several.map((requirement) => requirement.reads)),
      ...(group !== undefined && several.every((requirement) => requirement.anyGroup === group) ? { anyGroup: group } : {}),
      ...(several.every((requirement) => requirement.optional === true) ? { optional: true } : {}),
      ...(several.every((requirement) => requirement.inferred === true) ? { inferred: true } : {}),
    });
  }
  return edges;
}

function joined(lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())].sort();
}

function setLinks(graph: Built, links: Iterable<LineageLink>, loose: Set<string>): void {
  const wanted = new Map<string, LineageLink>();
  // A rejected link is nobody's successor.
  for (const link of links) if (link.rejected === undefined) wanted.set(link.id, link);
  for (const [id, link] of [...graph.links]) {
    const now = wanted.get(id);
    if (now !== undefined && (now === link || JSON.stringify(now) === JSON.stringify(link))) continue;
    for (const to of new Set(link.to)) {
      graph.nodes.dropEdge(linkEdge(link, to));
      loose.add(toolNode(to));
    }
    loose.add(toolNode(link.from));
    graph.links.delete(id);
  }
  for (const [id, link] of wanted) {
    if (graph.links.has(id)) continue;
    for (const key of [link.from, ...link.to]) {
      touch(graph, toolNode(key), { kind: "tool", name: key, present: false, server: splitToolKey(key).label });
    }
    for (const to of new Set(link.to)) {
      graph.nodes.addDirectedEdgeWithKey(linkEdge(link, to), toolNode(link.from), toolNode(to), { kind: "lineage", link });
    }
    graph.links.set(id, link);
  }
}

function linkEdge(link: LineageLink, to: string): string {
  return `${edgeKey("lineage", toolNode(link.from), toolNode(to))} ${link.id}`;
}

function edgeKey(kind: EdgeFacts["kind"], source: string, target: string): string {
  return `${kind} ${source} ${target}`;
}

function mark(graph: Built, node: string, facts: NodeFacts): void {
  if (graph.nodes.hasNode(node)) graph.nodes.replaceNodeAttributes(node, facts);
  else graph.nodes.addNode(node, facts);
}

/** Names a node without saying anything new of one that is there. */
function touch(graph: Built, node: string, facts: NodeFacts): void {
  if (!graph.nodes.hasNode(node)) graph.nodes.addNode(node, facts);
}

function dropIfLoose(graph: Built, node: string): void {
  if (!graph.nodes.hasNode(node) || graph.nodes.getNodeAttribute(node, "present") || graph.nodes.degree(node) > 0) return;
  graph.nodes.dropNode(node);
}
