/** Operations on the library: what skills there are and how they stand, their history, and what people do to them. */
import { takeover } from "../catalog/lineage.js";
import { Fault } from "../model/fault.js";
import type { SkillName, ToolKey } from "../model/ids.js";
import type { Caller, GraphWhy, Reverted, SkillDetail, SkillRevision, SkillSummary } from "../model/operations.js";
import type { Problem } from "../model/problem.js";
import { reachesTool, type Reach } from "../model/reach.js";
import type { LockEntry, Skill } from "../model/skill.js";
import { UNSETTLED, type Standing } from "../model/standing.js";
import type { ListedTool } from "../model/tool.js";
import { pathsOf } from "../graph/reach.js";
import { skillDigest } from "../skills/digest.js";
import { planImport } from "../skills/import.js";
import { lintLibrary } from "../skills/lint.js";
import { whyUnread } from "../skills/unread.js";
import { namesOthers, skillWithin } from "../world/reach.js";
import type { World } from "../world/world.js";
import { servingOf, servings } from "../world/upstream-skills.js";
import { takenBack } from "./catalog.js";
import type { Desk } from "./desk.js";

export function listSkills(
  world: World,
  filter: { tier?: string; standing?: string },
  reach?: Reach,
  /** Of the folders, what was not taken up. */
  refused: readonly Problem[] = [],
): SkillSummary[] {
  return [...world.library.skills.values()]
    .filter((skill) => skillWithin(world, skill, reach))
    .map((skill) => ({ ...summaryOf(world, skill, reach), ...unreadOf(skill, refused) }))
    .filter((skill) => filter.tier === undefined || skill.tier === filter.tier)
    .filter((skill) => filter.standing === undefined || skill.standing.standing === filter.standing)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function summaryOf(world: World, skill: Skill, reach?: Reach): SkillSummary {
  const standing = world.standings.get(skill.name) ?? UNSETTLED;
  return {
    name: skill.name,
    tier: skill.tier,
    description: skill.description,
    provenance: skill.provenance,
    revision: world.library.lock.skills[skill.name]?.revision ?? 0,
    standing:
      reach === undefined
        ? standing
        : { ...standing, reasons: standing.reasons.filter((one) => !namesOthers(world, `${one.on} ${one.text}`, reach)) },
    pinned: world.pinned.has(skill.name),
    tools: skill.contract.requires.map((need) => need.tool),
    ...originOf(world, skill),
  };
}

function unreadOf({ name }: Skill, refused: readonly Problem[]): Pick<SkillSummary, "unread"> {
  const found = refused.filter(({ where }) => where.startsWith(`${name}/`));
  return found.length === 0 ? {} : { unread: whyUnread(found) };
}

function originOf(world: World, skill: Skill): Pick<SkillSummary, "origin"> {
  const serving = servingOf(world, skill);
  if (serving === undefined) return {};
  const { label, taken } = serving;
  return { origin: { upstream: label, uri: taken.uri, served: taken.served } };
}

function requireSkill(world: World, name: string, reach?: Reach): Skill {
  const within = (one: Skill): boolean => skillWithin(world, one, reach);
  const skill = world.library.skills.get(name as SkillName);
  if (skill !== undefined && within(skill)) return skill;
  const near = [...world.library.skills.values()]
    .filter((other) => (other.name.includes(name) || name.includes(other.name)) && within(other))
    .map((other) => other.name)
    .slice(0, 3);
  throw new Fault("skill-unknown", `There is no skill ${name}${near.length > 0 ? `; did you mean ${near.join(", ")}?` : "."}`);
}

export function readSkill(desk: Desk, name: string, reach?: Reach): SkillDetail {
  const world = desk.steward.world();
  const skill = requireSkill(world, name, reach);
  const links = skill.contract.requires.flatMap(
    (need) => takeover(world.catalog, need.tool as ToolKey, world.lineage)?.links ?? [],
  );
  return {
    ...summaryOf(world, skill, reach),
    ...unreadOf(skill, desk.memory.folders.refused),
    text: skill.files["SKILL.md"] ?? "",
    files: skill.files,
    contract: skill.contract,
    problems: skill.problems,
    successors: links.filter((link) => [link.from, ...link.to].every((key) => reachesTool(reach, key))),
  };
}

/** Every revision that wrote the skill or took it out, newest first; that of a skill which was removed is kept. */
export async function skillHistory(desk: Desk, name: string): Promise<SkillRevision[]> {
  const revisions = [...(await desk.store.listRevisions())].sort((a, b) => b.revision - a.revision);
  const history: SkillRevision[] = [];
  for (const record of revisions) {
    const edit = record.edits.find((candidate) => candidate.skill === name);
    const isOut = edit?.kind === "remove" && record.lock.skills[name] === undefined;
    if (!isOut && record.lock.skills[name]?.revision !== record.revision) continue;
    const files = isOut ? {} : await desk.store.readSkillFiles(record, name as SkillName);
    history.push({ revision: record.revision, time: record.time, cause: record.cause, edit, files: files ?? {} });
  }
  if (history.length === 0) requireSkill(desk.steward.world(), name);
  return history;
}

export async function approveSkill(desk: Desk, name: string, caller: Caller): Promise<SkillSummary> {
  const skill = requireSkill(desk.steward.world(), name);
  await desk.steward.post({ kind: "skill-approved", at: desk.clock.now(), by: caller.principal, skill: skill.name });
  return listedSkill(desk, name);
}

export async function pinSkill(desk: Desk, name: string, pinned: boolean, caller: Caller): Promise<SkillSummary> {
  const skill = requireSkill(desk.steward.world(), name);
  await desk.steward.post({ kind: "skill-pinned", at: desk.clock.now(), by: caller.principal, skill: skill.name, pinned });
  return listedSkill(desk, name);
}

function listedSkill(desk: Desk, name: string): SkillSummary {
  const world = desk.steward.world();
  return summaryOf(world, requireSkill(world, name));
}

export async function removeSkill(desk: Desk, name: string, caller: Caller): Promise<{ removed: string; revision: number }> {
  const skill = requireSkill(desk.steward.world(), name);
  await desk.steward.post({ kind: "skill-removed", at: desk.clock.now(), by: caller.principal, skill: skill.name });
  return { removed: skill.name, revision: desk.steward.world().library.revision };
}

export async function importSkills(
  desk: Desk,
  folders: readonly { folder: string; files: Readonly<Record<string, string>>; origin?: string }[],
  by: "import" | "human",
): Promise<{ imported: string[]; problems: Problem[]; revision: number }> {
  const plan = planImport(
    folders.map(({ folder, files, origin }) => ({ path: origin ?? folder, written: { folder, files } })),
    desk.steward.world().library,
  );
  if (plan.taken.length === 0)
    return { imported: [], problems: [...plan.problems], revision: desk.steward.world().library.revision };
  const answer = await desk.steward.post({
    kind: "skills-written",
    at: desk.clock.now(),
    by,
    written: plan.taken.map((taken) => taken.written),
    missing: [],
    origins: new Map(plan.taken.map((taken) => [taken.skill.name, taken.path])),
  });
  return {
    imported: (answer["written"] as string[] | undefined) ?? [],
    problems: [...plan.problems, ...newTo(plan.problems, (answer["problems"] as unknown as Problem[] | undefined) ?? [])],
    revision: desk.steward.world().library.revision,
  };
}

/** What reading a folder found was told with the path it was found at; the folder's name here tells nothing more. */
function newTo(told: readonly Problem[], problems: readonly Problem[]): Problem[] {
  const known = new Set(told.map(({ code, text }) => `${code} ${text}`));
  return problems.filter(({ code, text }) => !RENAMED.has(code) && !known.has(`${code} ${text}`));
}

/** What people did to the skill folders while the daemon runs or was down. */
export async function takeHandEdits(
  desk: Pick<Desk, "steward" | "store" | "clock" | "log" | "memory">,
): Promise<readonly Problem[]> {
  const { written, missing, problems } = await desk.store.readHandEdits();
  const { folders } = desk.memory;
  // What was not taken up lies there still: it is told once, and looked at again when anything moved.
  const look = (gone: readonly string[]): string =>
    JSON.stringify([
      desk.steward.world().library.revision,
      written.map(({ folder, files }) => [folder, skillDigest(files)]),
      gone,
      problems,
    ]);
  if (folders.seen === look(missing)) return folders.refused;
  for (const problem of problems) desk.log("warn", `${problem.where}: ${problem.text}`);
  const nothing = written.length === 0 && missing.length === 0;
  const answer = nothing
    ? {}
    : await desk.steward.post({ kind: "skills-written", at: desk.clock.now(), by: "human", written, missing });
  const refused = (answer["refused"] as unknown as Problem[] | undefined) ?? [];
  folders.refused = [...problems, ...refused];
  // What was gone is restored: gone again, maybe before anybody looked, it is restored again.
  folders.seen = look([]);
  return [...problems, ...((answer["problems"] as unknown as Problem[] | undefined) ?? [])];
}

/** Skill folders as they lie there: on a new home the `shipped` ones with their lock, later what people edited meanwhile. */
export async function takeFolders(desk: Desk, shipped: ReadonlyMap<SkillName, LockEntry["verified"]> | undefined): Promise<void> {
  if (shipped !== undefined) {
    const { written, problems } = await desk.store.readHandEdits();
    for (const problem of problems) desk.log("warn", `${problem.where}: ${problem.text}`);
    const starters = written.filter((skill) => shipped.has(skill.folder as SkillName));
    if (starters.length > 0) {
      const digests = [...shipped.values()].flatMap((verified) => Object.values(verified).map((entry) => entry.document));
      const definitions = await desk.store.readDocuments([...new Set(digests)]).catch(() => new Map<string, ListedTool>());
      const at = desk.clock.now();
      await desk.steward.post({
        kind: "skills-written",
        at,
        by: "starter",
        written: starters,
        missing: [],
        verified: shipped,
        definitions,
      });
    }
  }
  await takeHandEdits(desk);
}

export async function revertLibrary(desk: Desk, options: { to: number; skill?: string }, caller: Caller): Promise<Reverted> {
  const record = await desk.store.readRevision(options.to);
  if (record === undefined) {
    throw new Fault(
      "revision-unknown",
      `Revision ${options.to} is not kept; the present one is ${desk.steward.world().library.revision}.`,
    );
  }
  if (options.skill !== undefined && record.lock.skills[options.skill] === undefined) {
    throw new Fault("skill-unknown", `Revision ${options.to} has no skill ${options.skill}.`);
  }
  const stood = new Map<SkillName, { files: Readonly<Record<string, string>>; entry: LockEntry }>();
  for (const [name, entry] of Object.entries(record.lock.skills)) {
    if (options.skill !== undefined && options.skill !== name) continue;
    const files = await desk.store.readSkillFiles(record, name as SkillName);
    if (files === undefined) {
      const text = `The files of ${name} at revision ${options.to} are not kept as they were, so nothing was reverted.`;
      throw new Fault("revision-unknown", `${text} Revert other skills by name, or to another revision.`);
    }
    stood.set(name as SkillName, { files, entry });
  }
  const answer = await desk.steward.post({
    kind: "library-reverted",
    at: desk.clock.now(),
    by: caller.principal,
    to: options.to,
    ...(options.skill === undefined ? {} : { skill: options.skill as SkillName }),
    stood,
    definitions: await desk.store.readDocuments([
      ...new Set([...stood.values()].flatMap(({ entry }) => Object.values(entry.verified).map((digests) => digests.document))),
    ]),
  });
  const { revision, lock } = desk.steward.world().library;
  const back = takenBack(answer);
  const keptPinned = (answer["keptPinned"] as string[] | undefined) ?? [];
  return {
    revision,
    ...back,
    keptSince: (answer["keptSince"] as string[] | undefined) ?? [],
    keptPinned,
    ...(back.changed.length > 0
      ? {}
      : keptPinned.length > 0
        ? { unchanged: `Nothing changed: all that stood otherwise at revision ${options.to} is pinned.` }
        : { unchanged: unchangedSince(options, revision, lock.skills) }),
  };
}

/** A revert to what stands already, in words. */
function unchangedSince(
  { to, skill }: { readonly to: number; readonly skill?: string },
  revision: number,
  entries: Readonly<Record<string, LockEntry>>,
): string {
  if (skill === undefined)
    return `Nothing changed: each skill of revision ${to} stands in the present one, ${revision}, as it did.`;
  const since = entries[skill]?.revision ?? revision;
  return `Nothing changed: ${skill} has the bytes of revision ${to} already, from revision ${since}.`;
}

const RENAMED: ReadonlySet<string> = new Set(["name-not-folder", "name-taken-as"]);

export function lintSkills(desk: Desk): readonly Problem[] {
  const { library, upstreamSkills, skillsFrom } = desk.steward.world();
  const unread = [...upstreamSkills].flatMap(([label, { refused }]) =>
    skillsFrom.has(label) ? refused.map(({ uri, code, text }) => ({ code, where: `${label}: ${uri}`, text })) : [],
  );
  // Label before name is how we know it here; the upstream's own name in the file is right where it is served.
  const renamed = new Set([...servings({ upstreamSkills }).keys()].map((name) => `${name}/SKILL.md`));
  const own = lintLibrary(library).filter(({ code, where }) => !(RENAMED.has(code) && renamed.has(where)));
  return [...own, ...unread, ...desk.memory.folders.refused];
}

/** A skill that is taken from an upstream rests on being served there too. */
function servedBy(world: World, skill: Skill, standing: Standing): GraphWhy["paths"] {
  const serving = servingOf(world, skill);
  if (serving === undefined) return [];
  const on = `upstream:${serving.label}`;
  const reason = standing.reasons.find((candidate) => candidate.on === on);
  const text = reason?.text ?? `serves it as ${serving.taken.uri}`;
  return [{ path: [skill.name, on], level: reason?.level ?? "compatible", text }];
}

/** Why a skill stands as it does: every tool and skill it rests on, the way there, and what stands at its end. */
export function whyOf(world: World, name: string): GraphWhy {
  const skill = requireSkill(world, name);
  const standing = world.standings.get(skill.name) ?? UNSETTLED;
  const paths = pathsOf(world.graph, skill.name).map((rest) => {
    const end = rest.path[rest.path.length - 1] ?? "";
    const owner = world.standings.get((rest.path[rest.path.length - 2] ?? skill.name) as SkillName);
    const reason = owner?.reasons.find((candidate) => candidate.on === end || candidate.on === `skill:${end}`);
    const fallback = rest.present ? "stands as verified" : "is not there";
    return {
      path: [...rest.path],
      level: reason?.level ?? (rest.present ? "compatible" : "breaking"),
      text: reason?.text ?? fallback,
    };
  });
  return { skill: skill.name, standing, paths: [...servedBy(world, skill, standing), ...paths] };
}
