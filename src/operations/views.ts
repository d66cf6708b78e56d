/**
 * Views: start_task, retrieve_tools, explore_capabilities, and the replay of what they answered.
 *
 * What is read of the world's indexes is read before the manager is asked; its answer is assembled on the same moment. The view is
 * on disc before it is answered.
 */
import { canonicalJson, sha256 } from "../catalog/canonical.js";
import { manifestTools } from "../catalog/version.js";
import type { Counted, ExploreCapabilitiesInput, RetrieveToolsInput, StartTaskInput, View } from "../model/facade.js";
import { Fault } from "../model/fault.js";
import type { EpisodeId, SkillName } from "../model/ids.js";
import type { JsonValue } from "../model/json.js";
import type { Caller } from "../model/operations.js";
import type { Skill } from "../model/skill.js";
import type { Basis, ViewRecord, ViewRequest } from "../model/view.js";
import { NO_EMBEDDER } from "../model/vectors.js";
import { assembleView } from "../provision/assemble.js";
import type { AssembleInput } from "../provision/material.js";
import { needText } from "../provision/plan.js";
import { parseSkill } from "../skills/text.js";
import { countingFlows } from "../world/known.js";
import { complete, gather } from "../world/turn.js";
import { vectorsBasis } from "../world/vectors.js";
import type { World } from "../world/world.js";
import { pinOf } from "./pins.js";
import { readDefinitions, readManifest } from "./versions.js";
import { bindSession, chooseEpisode, inTurn, opening, type ChosenEpisode, type Desk } from "./desk.js";

export function startTask(desk: Desk, input: StartTaskInput, caller: Caller): Promise<Counted<View>> {
  const episode: ChosenEpisode =
    input.episode === undefined
      ? { id: desk.chance.id("ep_") as EpisodeId, named: true, open: opening(caller, input.task, true) }
      : chooseEpisode(desk, caller, input.episode);
  const request: ViewRequest = {
    kind: "start",
    text: input.task,
    ...(input.hints === undefined ? {} : { hints: input.hints }),
    ...(input.budget_tokens === undefined ? {} : { budgetTokens: input.budget_tokens }),
  };
  return answer(desk, request, caller, episode);
}

export function retrieveTools(desk: Desk, input: RetrieveToolsInput, caller: Caller): Promise<Counted<View>> {
  const request: ViewRequest = {
    kind: "retrieve",
    text: input.query,
    ...(input.limit === undefined ? {} : { limit: input.limit }),
    ...(input.detail === undefined ? {} : { detail: input.detail }),
  };
  return answer(desk, request, caller, chooseEpisode(desk, caller, input.episode));
}

export function exploreCapabilities(desk: Desk, input: ExploreCapabilitiesInput, caller: Caller): Promise<Counted<View>> {
  return answer(desk, { kind: "explore", text: input.need }, caller, chooseEpisode(desk, caller, input.episode));
}

function answer(desk: Desk, request: ViewRequest, caller: Caller, episode: ChosenEpisode): Promise<Counted<View>> {
  return inTurn(desk, episode.id, async () => {
    const record = await makeRecord(desk, request, caller, episode);
    await desk.steward.post({ kind: "view-answered", at: record.at, record, open: episode.open });
    bindSession(desk, caller, episode.id);
    return { body: record.view, episode: episode.id };
  });
}

async function makeRecord(desk: Desk, request: ViewRequest, caller: Caller, chosen: ChosenEpisode): Promise<ViewRecord> {
  // The only wait before the world is looked at, and a short one.
  const need = await desk.embedder.embed(needText(request));
  const world = desk.steward.world();
  const running = world.episodes.get(chosen.id);
  if (running?.outcome !== undefined) {
    throw new Fault(
      "episode-finished",
      `${chosen.id} ended at ${running.outcome.at}; start_task without an episode opens a new one.`,
    );
  }
  const before = { turn: running?.turn ?? 0, explored: running?.explored ?? 0, skillChars: running?.skillChars ?? 0 };
  const pinned = pinOf(desk, world, caller);
  const gathered = gather(world, request, { allowed: caller.upstreams, pinned, need });
  const basis = basisOf(world, gathered.byVectors, pinned?.version);
  const decisions = await desk.manager.decideView(gathered.candidates);
  const found = complete(world, gathered, decisions);
  const record: Omit<ViewRecord, "view"> = {
    format: "view/1",
    at: desk.clock.now(),
    request,
    before,
    named: chosen.named,
    episode: chosen.id,
    found,
    decisions,
  };
  const view = assembleView(assembleInput(record, basis, world.library.skills, world.catalog.tools));
  return { ...record, view };
}

function assembleInput(
  record: Omit<ViewRecord, "view">,
  basis: Basis,
  skills: ReadonlyMap<string, Skill>,
  tools: World["catalog"]["tools"],
): AssembleInput {
  const turn = record.request.kind === "start" ? record.before.turn + 1 : record.before.turn;
  return {
    request: record.request,
    decisions: record.decisions,
    basis,
    ...(record.named ? { episode: record.episode, turn } : {}),
    before: record.before,
    skill: (name) => skills.get(name),
    tool: (key) => tools.get(key),
    found: record.found,
  };
}

/** Grows with everything learnt from calls that an answer may rest on: kept evidence and flows seen often enough. */
function evidencePosition(world: World): number {
  return world.evidence + countingFlows(world).length;
}

const presenceDigests = new WeakMap<World, string>();

/** All that an answer depends on, named so that two answers on the same basis are the same. */
function basisOf(world: World, byVectors: boolean, pinnedTo: number | undefined): Basis {
  const catalog = `${world.catalog.version}:${world.catalog.digest.slice(0, 12)}`;
  return {
    catalog: pinnedTo === undefined ? catalog : `${catalog}@${pinnedTo}`,
    library: world.library.revision,
    evidence: evidencePosition(world),
    presence: presenceDigest(world),
    policy: policyDigest(world),
    embedder: byVectors ? vectorsBasis(world.vectors) : NO_EMBEDDER,
  };
}

/** What the operator set, and how far experience is trusted. */
function policyDigest({ policy, prefixes, calibration: { weight, from, to } }: World): string {
  return shortDigest({ ...policy, prefixes: [...prefixes].sort(), trust: [weight, from, to] } as unknown as JsonValue);
}

/** Presence, standings, holds and judged lineage, as far as they bear on answers: words, not times. */
function presenceDigest(world: World): string {
  const known = presenceDigests.get(world);
  if (known !== undefined) return known;
  const digest = shortDigest({
    presence: [...world.presence].map(([label, { state, reason }]) => [label, state, reason ?? ""]).sort(),
    inactive: [...world.standings]
      .flatMap(([name, standing]) => (standing.standing === "inactive" ? [[name, standing.because ?? ""]] : []))
      .sort(),
    held: Object.keys(world.holds.held).sort(),
    review: Object.keys(world.holds.review).sort(),
    lineage: [...world.lineage.values()]
      .map((link) => [link.id, link.rejected !== undefined, link.confirmed !== undefined])
      .sort(),
  } as unknown as JsonValue);
  presenceDigests.set(world, digest);
  return digest;
}

function shortDigest(value: JsonValue): string {
  return sha256(canonicalJson(value)).slice(0, 12);
}

export async function readView(desk: Desk, id: string): Promise<ViewRecord> {
  const record = await desk.store.readView(id);
  if (record === undefined) throw new Fault("view-unknown", `There is no view ${id}.`);
  return record;
}

/** Assembles a recorded view again from the catalog version and the library revision it stood on; asks nobody. */
export async function replayView(desk: Desk, id: string): Promise<{ view: View; same: boolean; differences: string[] }> {
  const record = await readView(desk, id);
  const tools = await toolsAt(desk, record);
  const skills = await skillsAt(desk, record);
  const view = assembleView(assembleInput(record, record.view.basis, skills, tools));
  const differences: string[] = [];
  for (const field of new Set([...Object.keys(record.view), ...Object.keys(view)])) {
    const was = JSON.stringify(record.view[field as keyof View]);
    const is = JSON.stringify(view[field as keyof View]);
    if (was !== is) differences.push(`${field}: was ${was ?? "absent"}, is ${is ?? "absent"}`);
  }
  return { view, same: JSON.stringify(record.view) === JSON.stringify(view), differences };
}

/** The tools of the record's decisions, as they were in its catalog version. */
async function toolsAt(desk: Desk, record: ViewRecord): Promise<World["catalog"]["tools"]> {
  const version = record.found.catalogVersion;
  const manifest = await readManifest(desk.store, version);
  const named = Object.fromEntries(Object.entries(manifest.tools).filter(([key]) => record.found.names[key] !== undefined));
  const documents = await readDefinitions(desk.store, { version, tools: named });
  return manifestTools({ tools: named }, documents);
}

/** The skills of the record's decisions, as they were in its library revision. */
async function skillsAt(desk: Desk, record: ViewRecord): Promise<ReadonlyMap<string, Skill>> {
  const skills = new Map<string, Skill>();
  const revision = record.found.libraryRevision;
  const names = new Set<string>([
    ...record.decisions.skills,
    ...(record.decisions.plan?.from ?? []),
    ...(record.decisions.plan?.steps ?? []).flatMap((step) => step.skills),
  ]);
  if (revision === 0 || names.size === 0) return skills;
  const library = await desk.store.readRevision(revision);
  if (library === undefined)
    throw new Fault("revision-unknown", `The view stood on library revision ${revision}, which is not kept.`);
  for (const name of names) {
    const files = await desk.store.readSkillFiles(library, name as SkillName);
    const provenance = library.lock.skills[name]?.provenance ?? "rules";
    const skill = files === undefined ? undefined : parseSkill({ folder: name, files }, provenance).skill;
    if (skill !== undefined) skills.set(name, skill);
  }
  return skills;
}
