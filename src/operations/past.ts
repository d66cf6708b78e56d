/**
 * Time travel: a world as of a catalog version, for answers that change nothing.
 *
 * Catalog and lineage are those of the version, the library the last revision made while it was in force, standings what the daemon
 * would have said. Holds, presence and evidence belong to the present and are left out: every upstream counts as up.
 */
import { NO_CALIBRATION } from "../model/experience.js";
import type { SkillName, ToolKey } from "../model/ids.js";
import type { Caller, SearchAnswer } from "../model/operations.js";
import type { Ground } from "../model/ports.js";
import { compactSignature } from "../provision/signature.js";
import { searchTools } from "../retrieve/tools.js";
import { derive, knownFrom } from "../world/rebuild.js";
import { computeStandings } from "../world/standings.js";
import { withoutWays } from "../world/ways.js";
import { emptyHolds, isOffered, type World } from "../world/world.js";
import { readManifest } from "./versions.js";
import type { Desk } from "./desk.js";

/** The last one asked for, per desk: people look at one version for a while. */
const lastAsked = new WeakMap<Desk, { readonly version: number; readonly present: World; readonly world: World }>();

/** Throws Fault `version-unknown`. */
export async function worldAt(desk: Desk, version: number | undefined): Promise<World> {
  const present = desk.steward.world();
  if (version === undefined || version === present.catalog.version) return present;
  const last = lastAsked.get(desk);
  if (last?.version === version && last.present.lineage === present.lineage && last.present.policy === present.policy)
    return last.world;
  const world = await travel(desk, present, version);
  lastAsked.set(desk, { version, present, world });
  return world;
}

async function travel(desk: Desk, present: World, version: number): Promise<World> {
  const manifest = await readManifest(desk.store, version);
  const revisions = (await desk.store.listRevisions()).filter((record) => record.catalogVersion <= version);
  const revision = revisions.sort((a, b) => a.revision - b.revision).at(-1);
  const skills = new Map<SkillName, Readonly<Record<string, string>>>();
  for (const name of Object.keys(revision?.skills ?? {}) as SkillName[]) {
    const files = revision === undefined ? undefined : await desk.store.readSkillFiles(revision, name);
    if (files !== undefined) skills.set(name, files);
  }
  const referred = [
    ...Object.values(manifest.tools),
    ...Object.values(manifest.departed),
    ...Object.values(revision?.lock.skills ?? {}).flatMap((entry) => Object.values(entry.verified)),
  ].map(({ document }) => document);
  const ground: Ground = {
    manifest,
    highestVersion: version,
    documents: await desk.store.readDocuments([...new Set(referred)]),
    lineage: [...present.lineage.values()].filter((link) => link.atVersion <= version),
    hints: [],
    holds: emptyHolds,
    catalogPins: new Map(),
    presence: new Map(),
    revision,
    skills,
    pastRevisions: new Map(),
    standings: new Map(),
    pinned: new Map(),
    episodes: [],
    rejected: new Map(),
    calibration: NO_CALIBRATION,
    flows: present.flows,
    samples: present.samples,
    patterns: present.patterns,
    upstreamSkills: new Map(),
    evidence: 0,
    prepared: new Map(),
    problems: [],
  };
  const known = { ...knownFrom(ground, manifest.time), policy: present.policy, prefixes: present.prefixes };
  const standings = [...computeStandings(known, known.library.skills.keys())];
  return derive({ ...known, standings: new Map(standings.map(([name, one]) => [name, withoutWays(one)])) }, new Map());
}

const SEARCH_LIMIT = 10;

export async function searchCatalog(
  desk: Desk,
  query: string,
  options: { at?: number; limit?: number },
  caller: Caller,
): Promise<SearchAnswer> {
  const world = await worldAt(desk, options.at);
  const present = desk.steward.world().catalog.tools;
  const offered = (key: ToolKey): boolean => {
    const label = world.catalog.tools.get(key)?.label;
    return label !== undefined && (caller.upstreams?.has(label) ?? true) && isOffered(world.presence.get(label));
  };
  const asked = options.limit ?? SEARCH_LIMIT;
  const found = searchTools(world.toolIndex, query, { limit: Math.min(asked, SEARCH_LIMIT), offered });
  return {
    version: world.catalog.version,
    tools: found.hits.flatMap(({ key, score, reason }) => {
      const tool = world.catalog.tools.get(key);
      return tool === undefined
        ? []
        : [{ tool: key, signature: compactSignature(tool), score, reason, present: present.has(key) }];
    }),
    unmatched: [...found.unmatched],
    ...(asked > SEARCH_LIMIT ? { notices: [{ code: "limit-cut", text: `limit ${asked} was cut to ${SEARCH_LIMIT}.` }] } : {}),
  };
}
