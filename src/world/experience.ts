/**
 * Experience in the world: verified episodes as memories, followed to the tools and skills of the present.
 *
 * Owns: which episodes are remembered, what stands now for what served them, when calibration is due.
 * Speaks: episodes, tool keys, skill names.
 * Never: trusts a claim: only outcomes verified by state, replay or a person count.
 */
import { takeover } from "../catalog/lineage.js";
import type { DependencyGraph } from "../graph/graph.js";
import { skillsNaming } from "../graph/reach.js";
import type { Catalog, Holds } from "../model/catalog.js";
import type { Change } from "../model/change.js";
import { isVerified, type Episode } from "../model/episode.js";
import type { Calibration } from "../model/experience.js";
import type { SkillName, ToolKey } from "../model/ids.js";
import type { LineageLink } from "../model/lineage.js";
import type { Library } from "../model/skill.js";
import { startCalibration, type Calibration as Calibrating } from "../retrieve/calibrate.js";
import { moveExperience, NO_EXPERIENCE, type Experience, type Memory, type Present } from "../retrieve/experience.js";
import { textRanking, type ToolIndex } from "../retrieve/tools.js";

/** What a verified success teaches; undefined for every other episode. */
function memoryOf({ episode, opened, task, tools, outcome }: Episode): Memory | undefined {
  const teaches = isVerified(outcome) && outcome.outcome === "success";
  return teaches && task !== "" && tools.length > 0 ? { id: episode, at: opened, task, served: tools } : undefined;
}

export function rememberAll(episodes: Iterable<Episode>): Experience {
  return moveExperience(NO_EXPERIENCE, { put: [...episodes].flatMap((episode) => memoryOf(episode) ?? []), removed: [] });
}

/** The experience after a decision's changes. `episodes`: as they were before. */
export function moveExperienceBy(
  experience: Experience,
  changes: readonly Change[],
  episodes: ReadonlyMap<string, Episode>,
): Experience {
  const put: Memory[] = [];
  const removed: string[] = [];
  for (const change of changes) {
    if (change.kind !== "episode") continue;
    const { episode } = change;
    const memory = memoryOf(episode);
    if (memory !== undefined) put.push(memory);
    else if (experience.memories.has(episode.episode)) removed.push(episode.episode);
  }
  // What was forgotten may be among the newest again once something else is withdrawn.
  if (removed.length > 0) return rememberAll(laterEpisodes(changes, episodes));
  return moveExperience(experience, { put, removed });
}

function laterEpisodes(changes: readonly Change[], episodes: ReadonlyMap<string, Episode>): Episode[] {
  const later = new Map(episodes);
  for (const change of changes) if (change.kind === "episode") later.set(change.episode.episode, change.episode);
  return [...later.values()];
}

/** What of the world says what stands for a remembered tool. */
export interface Stage {
  readonly catalog: Catalog;
  readonly lineage: ReadonlyMap<string, LineageLink>;
  readonly holds: Holds;
  readonly library: Library;
  readonly graph: DependencyGraph;
}

const presents = new WeakMap<Catalog, { readonly lineage: unknown; readonly holds: Holds; readonly present: Present<ToolKey> }>();

/** A remembered tool is itself where it is listed, and what took over from it where it left; not what is held. */
export function presentTools({ catalog, lineage, holds }: Stage): Present<ToolKey> {
  const remembered = presents.get(catalog);
  if (remembered?.lineage === lineage && remembered.holds === holds) return remembered.present;
  const known = new Map<string, readonly ToolKey[]>();
  const follow = (id: string): readonly ToolKey[] => {
    const key = id as ToolKey;
    if (catalog.tools.has(key)) return [key];
    return (takeover(catalog, key, lineage)?.to ?? []).filter((to) => holds.held[to] === undefined);
  };
  const present: Present<ToolKey> = ({ served }) =>
    served.flatMap((id) => {
      const found = known.get(id) ?? follow(id);
      known.set(id, found);
      return found;
    });
  presents.set(catalog, { lineage, holds, present });
  return present;
}

/** A memory speaks for every skill that needs nothing beyond what served its task. */
export function presentSkills(stage: Stage): Present<SkillName> {
  const tools = presentTools(stage);
  return (memory) => {
    const served = new Set<string>(tools(memory));
    const named = new Set([...served].flatMap((key) => skillsNaming(stage.graph, key as ToolKey)));
    return [...named].filter((name) => {
      const needs = stage.library.skills.get(name)?.contract.requires.filter((need) => need.optional !== true) ?? [];
      return needs.length > 0 && needs.every((need) => served.has(need.tool));
    });
  };
}

/** Memories moved by this share, or the catalog at all, since trust was last found. */
const MOVED_SHARE = 0.1;

/** Whether trust should be found anew: a function of the present. */
export function isCalibrationDue(experience: Experience, calibration: Calibration, catalog: Catalog): boolean {
  const { size } = experience.memories;
  if (size === 0) return calibration.weight !== 0;
  const moved = Math.abs(size - calibration.memories);
  return moved > MOVED_SHARE * calibration.memories || calibration.catalog !== catalog.version;
}

/** Begins to find how far experience can be trusted in this world. */
export function beginCalibration(stage: Stage & { readonly experience: Experience; readonly toolIndex: ToolIndex }): Calibrating {
  return startCalibration(stage.experience, (need) => textRanking(stage.toolIndex, need), presentTools(stage));
}
