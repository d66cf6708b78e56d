/**
 * The ground state as it lies on disc: everything the world is rebuilt from.
 *
 * Never throws for damage: what is damaged is set aside, what can be told from elsewhere is, and every such thing is a problem
 * with the file's name. The one refusal is a document of a newer format.
 */
import type { SkillName, ToolKey, UpstreamLabel } from "../model/ids.js";
import type { Presence } from "../model/catalog.js";
import type { Ground } from "../model/ports.js";
import type { Problem } from "../model/problem.js";
import { samplesFormat, type Sample } from "../model/sample.js";
import type { LibraryRevisionRecord } from "../model/skill.js";
import { lostVersions, newestManifest, readDefinitions, referredDocuments } from "./catalogs.js";
import { highestNumberIn, idsIn } from "./names.js";
import type { SmallDocuments } from "./commit.js";
import { readWrittenOnce, type DocumentShelf } from "./documents.js";
import { newestRevision, pastWithTexts, readPast, readSkillTexts } from "./library.js";
import type { Logs } from "./logs.js";
import type { Past } from "./past.js";
import { isDigest, places } from "./places.js";
import { readPrepared } from "./prepared.js";

export interface GroundReading {
  readonly ground: Ground;
  readonly past: Past;
  /** Files of the skills by their digest: what their pack is to hold. */
  readonly skillTexts: ReadonlyMap<string, string>;
  /** What is worth writing into the caches, so that the next start is quicker. */
  readonly stale: { readonly tools: boolean; readonly skills: boolean; readonly past: boolean };
}

/** From this many tools, skills or revisions read one by one, a cache pays. */
const PACK_FROM = 500;
const PAST_FROM = 8;

export async function readGround(options: {
  readonly shelf: DocumentShelf;
  readonly smalls: SmallDocuments;
  readonly logs: Pick<Logs, "readEpisodes">;
  /** What recovery and loading found already. */
  readonly problems: readonly Problem[];
  /** False after several crashes in a row: nothing derived is trusted. */
  readonly useCaches: boolean;
  /** The code that runs: what other code prepared is not taken. Absent: nothing prepared is. */
  readonly stamp?: string | undefined;
}): Promise<GroundReading> {
  const { shelf, smalls, logs, useCaches } = options;
  // Before this start sets anything aside: that is told by itself.
  const problems: Problem[] = [...options.problems, ...lostVersions(shelf)];
  const manifest = await newestManifest(shelf, problems);
  const revision = await newestRevision(shelf, smalls.lock.value, problems);
  await restoreLock(smalls, revision, problems);
  const { skills, texts, unpacked } = await readSkillTexts(shelf, revision, problems, { usePack: useCaches });
  const { past, behind } = await readPast(shelf, revision, useCaches);

  const referred = referredDocuments(manifest, revision?.lock, smalls.holds.value);
  const definitions = await readDefinitions(shelf, [...referred.present, ...referred.remembered], problems, {
    usePack: useCaches,
  });
  problems.push(...missingDefinitions(definitions.missing, referred.present));
  const episodes = await logs.readEpisodes();
  problems.push(...episodes.problems);

  const ground: Ground = {
    manifest,
    highestVersion: highestNumberIn(shelf.home, places.versions),
    documents: definitions.documents,
    lineage: smalls.lineage.value.links,
    hints: smalls.lineage.value.hints ?? [],
    holds: smalls.holds.value,
    catalogPins: new Map(Object.entries(smalls.catalogPins.value.tokens)),
    presence: presenceOf(smalls),
    revision,
    skills,
    pastRevisions: pastWithTexts(shelf.home, past, revision),
    standings: bySkill(smalls.standings.value.skills),
    pinned: bySkill(smalls.standings.value.pinned),
    episodes: episodes.episodes,
    rejected: new Map(Object.entries(smalls.rejected.value.edits)),
    calibration: smalls.experience.value.calibration,
    flows: new Map(Object.entries(smalls.flows.value.flows)),
    samples: await readSamples(shelf, problems),
    patterns: new Map(Object.entries(smalls.patterns.value.answers)),
    upstreamSkills: new Map(
      Object.entries(smalls.upstreamSkills.value.upstreams).map(([label, taken]) => [label as UpstreamLabel, taken]),
    ),
    evidence: countEvidence(shelf.home),
    prepared: useCaches && options.stamp !== undefined ? readPrepared(shelf.home, options.stamp) : new Map(),
    problems,
  };
  const stale = { tools: definitions.unpacked >= PACK_FROM, skills: unpacked >= PACK_FROM, past: behind >= PAST_FROM };
  return { ground, past, skillTexts: texts, stale };
}

async function readSamples(shelf: DocumentShelf, problems: Problem[]): Promise<Map<ToolKey, readonly Sample[]>> {
  const all = new Map<ToolKey, readonly Sample[]>();
  for (const digest of idsIn(shelf.home, places.samples).filter(isDigest)) {
    const found = await readWrittenOnce(shelf, samplesFormat, places.samplesOf(digest), problems);
    if (found !== undefined && found.samples.length > 0) all.set(found.tool as ToolKey, found.samples);
  }
  return all;
}

/** The record of the revision is what counts; the lock beside the skills repeats it for people and programs. */
async function restoreLock(
  smalls: SmallDocuments,
  revision: LibraryRevisionRecord | undefined,
  problems: Problem[],
): Promise<void> {
  if (revision === undefined || JSON.stringify(smalls.lock.value) === JSON.stringify(revision.lock)) return;
  const text = `It was not the lock of library revision ${revision.revision}; it was restored.`;
  problems.push({ code: "lock-restored", where: places.skillsLock, text });
  await smalls.lock.settle(revision.lock);
}

function bySkill<Value>(record: Readonly<Record<string, Value>>): ReadonlyMap<SkillName, Value> {
  return new Map(Object.entries(record).map(([name, value]) => [name as SkillName, value]));
}

function presenceOf(smalls: SmallDocuments): ReadonlyMap<UpstreamLabel, Presence> {
  const entries = Object.entries(smalls.presence.value.upstreams);
  return new Map(entries.map(([label, { state, since, reason }]) => [label as UpstreamLabel, { state, since, reason }]));
}

function missingDefinitions(missing: readonly string[], present: ReadonlySet<string>): Problem[] {
  const tools = missing.filter((digest) => present.has(digest));
  const problems: Problem[] = tools.map((digest) => ({
    code: "definition-missing",
    where: places.tool(digest),
    text: "The catalog names this definition and it is not there; its tool is left out until its upstream lists it again.",
  }));
  const rest = missing.length - tools.length;
  if (rest > 0) {
    const text = `${rest} earlier definitions that skills or holds refer to are not there; what they changed from cannot be shown.`;
    problems.push({ code: "definition-missing", where: places.tools, text });
  }
  return problems;
}

function countEvidence(home: string): number {
  return idsIn(home, places.evidence).filter(isDigest).length;
}
