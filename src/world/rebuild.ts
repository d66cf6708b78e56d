/**
 * Rebuild: the world from the ground state on disc. Slow and plain: what `advance` must agree with.
 */
import { catalogFrom, emptyCatalog, manifestTools } from "../catalog/version.js";
import { plannedGraph } from "../graph/graph.js";
import type { CatalogVersion, Instant, SkillName } from "../model/ids.js";
import type { Ground, Prepared } from "../model/ports.js";
import type { Skill } from "../model/skill.js";
import { buildSkillIndex } from "../retrieve/skills.js";
import { buildToolIndex } from "../retrieve/tools.js";
import { libraryFrom } from "../skills/library.js";
import { exposedNames } from "./advance.js";
import { rememberAll } from "./experience.js";
import { countingFlows, pruneDefinitions } from "./known.js";
import { preparedLibrary, preparedSkillIndex, preparedToolIndex } from "./prepared.js";
import { NO_VECTORS } from "./vectors.js";
import { emptyKnown, type Known, type World } from "./world.js";

/** The ground state in memory, without anything derived. Policy and prefixes come with the `configured` event. */
export function knownFrom(ground: Ground, now: Instant): Known {
  const catalog =
    ground.manifest === undefined ? emptyCatalog : catalogFrom(ground.manifest, manifestTools(ground.manifest, ground.documents));
  const library =
    ground.revision === undefined ? emptyKnown.library : libraryFrom(ground.revision, ground.skills, preparedLibrary(ground));
  const known: Known = {
    ...emptyKnown,
    catalog,
    highestVersion: highestNamed(ground),
    lineage: new Map(ground.lineage.map((link) => [link.id, link])),
    hints: ground.hints,
    holds: ground.holds,
    catalogPins: ground.catalogPins,
    presence: ground.presence,
    library,
    past: ground.pastRevisions,
    standings: ground.standings,
    upstreamSkills: ground.upstreamSkills,
    pinned: ground.pinned,
    rejected: ground.rejected,
    calibration: ground.calibration,
    flows: ground.flows,
    samples: ground.samples,
    patterns: ground.patterns,
    evidence: ground.evidence,
    now,
  };
  return pruneDefinitions(known, ground.documents);
}

/** What names a version says that there was one, also where no file of it is left. */
function highestNamed(ground: Ground): CatalogVersion {
  const named = [
    ground.highestVersion,
    ground.manifest?.version ?? 0,
    ground.revision?.catalogVersion ?? 0,
    ground.calibration.catalog,
    ...[...ground.lineage, ...ground.hints].map(({ atVersion }) => atVersion),
    ...[...ground.catalogPins.values()].map(({ version }) => version),
  ];
  return named.reduce((highest, version) => Math.max(highest, version), 0);
}

export function rebuild(ground: Ground, now: Instant): World {
  const episodes = new Map(ground.episodes.map((episode) => [episode.episode, episode]));
  return derive(knownFrom(ground, now), episodes, ground.prepared);
}

/** Everything derived, from the ground state in memory; what an earlier run prepared of the same bytes is taken up. */
export function derive(known: Known, episodes: World["episodes"], prepared: Prepared = new Map()): World {
  const skills = [...known.library.skills.keys()]
    .sort()
    .map((name) => known.library.skills.get(name))
    .filter((skill) => skill !== undefined);
  const isActive = (skill: Skill): boolean => known.standings.get(skill.name as SkillName)?.standing === "active";
  const active = skills.filter(isActive);
  const resting = skills.filter((skill) => !isActive(skill));
  return {
    ...known,
    episodes,
    // A start answers before it is there; what looks at it earlier builds it.
    graph: plannedGraph({
      skills,
      tools: [...known.catalog.tools.values()],
      links: [...known.lineage.values()],
      flows: countingFlows(known),
    }),
    toolIndex: preparedToolIndex(prepared, known.catalog) ?? buildToolIndex(known.catalog.tools.values()),
    activeSkills: preparedSkillIndex(prepared, "activeSkills", active) ?? buildSkillIndex(active),
    restingSkills: preparedSkillIndex(prepared, "restingSkills", resting) ?? buildSkillIndex(resting),
    exposed: exposedNames(known),
    experience: rememberAll(episodes.values()),
    vectors: NO_VECTORS,
  };
}
