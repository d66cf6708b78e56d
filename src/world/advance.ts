/**
 * Advance: moves the world by the changes of one decision that is on disc.
 *
 * Owns: how each change moves what is derived: graph, indexes, exposed names.
 * Speaks: changes in, world out.
 * Never: IO; deciding anything. The chief law: advancing one event at a time answers like rebuilding from the ground state.
 */
import { exposedName } from "../catalog/name.js";
import { moveGraph, type GraphMove } from "../graph/graph.js";
import type { Change } from "../model/change.js";
import type { Episode } from "../model/episode.js";
import type { ExposedName, SkillName, ToolKey } from "../model/ids.js";
import type { Skill } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import { moveSkillIndex } from "../retrieve/skills.js";
import { moveToolIndex } from "../retrieve/tools.js";
import { moveExperienceBy } from "./experience.js";
import { applyChange, countingFlows, pruneDefinitions } from "./known.js";
import { moveVectorsBy } from "./vectors.js";
import type { Known, World } from "./world.js";

export function advance(world: World, changes: readonly Change[]): World {
  let known: Known = world;
  const tools = new Map<ToolKey, Tool | undefined>();
  const skills = new Set<SkillName>();
  let linksMoved = false;
  let flowsMoved = false;
  let namesMoved = false;
  for (const change of changes) {
    if (change.kind === "catalog-version") {
      for (const tool of change.moved) tools.set(tool.key, tool);
      for (const key of change.removed) tools.set(key, undefined);
    } else if (change.kind === "library-revision") {
      for (const name of [...change.written.keys(), ...change.removed]) skills.add(name);
    } else if (change.kind === "standings") {
      for (const [name, standing] of change.set) if (world.standings.get(name)?.standing !== standing.standing) skills.add(name);
    } else if (change.kind === "lineage") linksMoved = true;
    else if (change.kind === "flows") flowsMoved = true;
    else if (change.kind === "policy")
      namesMoved =
        namesMoved || !samePrefixes(world, change.prefixes) || world.policy.maxNameLength !== change.policy.maxNameLength;
    else if (change.kind === "episode") moveEpisode(world.episodes as Map<string, Episode>, change.episode);
    known = applyChange(known, change);
  }
  const moved = changes.some(
    (change) => change.kind === "catalog-version" || change.kind === "library-revision" || change.kind === "holds",
  );
  if (moved) known = pruneDefinitions(known);
  return {
    ...known,
    episodes: world.episodes,
    experience: moveExperienceBy(world.experience, changes, world.episodes),
    vectors: moveVectorsBy(world.vectors, changes),
    ...moveDerived(world, known, { tools, skills, linksMoved, flowsMoved, namesMoved }),
  };
}

function moveEpisode(episodes: Map<string, Episode>, episode: Episode): void {
  if (episode.retired === true) episodes.delete(episode.episode);
  else episodes.set(episode.episode, episode);
}

function samePrefixes(world: World, prefixes: Known["prefixes"]): boolean {
  return prefixes.size === world.prefixes.size && [...prefixes].every(([label, prefix]) => world.prefixes.get(label) === prefix);
}

type Derived = Pick<World, "graph" | "toolIndex" | "activeSkills" | "restingSkills" | "exposed">;

/** What the changes of one decision moved. */
interface Moved {
  readonly tools: ReadonlyMap<ToolKey, Tool | undefined>;
  readonly skills: ReadonlySet<SkillName>;
  readonly linksMoved: boolean;
  readonly flowsMoved: boolean;
  readonly namesMoved: boolean;
}

function moveDerived(world: World, known: Known, { tools, skills, linksMoved, flowsMoved, namesMoved }: Moved): Derived {
  const derived: Derived = world;
  if (tools.size === 0 && skills.size === 0 && !linksMoved && !flowsMoved && !namesMoved) {
    return {
      graph: derived.graph,
      toolIndex: derived.toolIndex,
      activeSkills: derived.activeSkills,
      restingSkills: derived.restingSkills,
      exposed: derived.exposed,
    };
  }
  const changed = [...tools.values()].filter((tool) => tool !== undefined);
  const removed = [...tools].filter(([, tool]) => tool === undefined).map(([key]) => key);
  const active: Skill[] = [];
  const resting: Skill[] = [];
  const gone: SkillName[] = [];
  for (const name of [...skills].sort()) {
    const skill = known.library.skills.get(name);
    if (skill === undefined) gone.push(name);
    else if (known.standings.get(name)?.standing === "active") active.push(skill);
    else resting.push(skill);
  }
  const move: GraphMove = {
    skills: { set: [...active, ...resting], drop: gone },
    tools: { set: changed, drop: removed },
    ...(linksMoved ? { links: known.lineage.values() } : {}),
    ...(flowsMoved ? { flows: countingFlows(known) } : {}),
  };
  const names = (list: readonly Skill[]): SkillName[] => list.map((skill) => skill.name);
  return {
    graph: moveGraph(derived.graph, move),
    toolIndex: tools.size === 0 ? derived.toolIndex : moveToolIndex(derived.toolIndex, { changed, removed }),
    activeSkills: moveSkillIndex(derived.activeSkills, { changed: active, removed: [...names(resting), ...gone] }),
    restingSkills: moveSkillIndex(derived.restingSkills, { changed: resting, removed: [...names(active), ...gone] }),
    exposed: tools.size === 0 && !namesMoved ? derived.exposed : exposedNames(known),
  };
}

/** Exposed name → tool key. A function of the key and its label's prefix alone; a clash of hashes keeps the first key. */
export function exposedNames(known: Known): ReadonlyMap<ExposedName, ToolKey> {
  const names = new Map<ExposedName, ToolKey>();
  for (const tool of known.catalog.tools.values()) {
    const name = nameOf(known, tool.key);
    if (!names.has(name)) names.set(name, tool.key);
  }
  return names;
}

export function nameOf(known: Known, key: ToolKey): ExposedName {
  const label = key.slice(0, Math.max(0, key.indexOf("/")));
  return exposedName(key, known.prefixes.get(label as never) ?? label, known.policy.maxNameLength);
}
