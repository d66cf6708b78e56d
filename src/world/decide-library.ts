/**
 * What people do to the library: hand edits, imports, pins, approvals, reverts, removal.
 */
import { findCycle } from "../graph/reach.js";
import { Fault } from "../model/fault.js";
import type { Event } from "../model/event.js";
import type { SkillName, ToolKey } from "../model/ids.js";
import type { Problem } from "../model/problem.js";
import type { Contract, LockEntry, Skill, WrittenSkill } from "../model/skill.js";
import type { ListedTool } from "../model/tool.js";
import { lintSkill } from "../skills/lint.js";
import { CONTRACT_PATH, writeContract } from "../skills/contract.js";
import { withInferred } from "../skills/infer.js";
import { speaksToModel } from "../skills/speaks.js";
import { NAME_RULE, parseSkill } from "../skills/text.js";
import { settleStandings } from "./decide-standings.js";
import { put, type Draft } from "./draft.js";
import { dependants } from "./known.js";
import { remapUnpinned } from "./remap.js";
import { marksOfRevert, restingOf } from "./reverts.js";
import { putRevision, type SkillWrite } from "./revise.js";
import { waitsForWord } from "./standings.js";
import { leaveOut, letPass } from "./upstream-skills.js";
import type { Known } from "./world.js";

type Of<Kind extends Event["kind"]> = Extract<Event, { kind: Kind }>;

/** Digests of the present tools that a contract requires: what a skill written now is verified against. */
export function presentDigests(known: Known, contract: Contract): SkillWrite["verified"] {
  const verified: Record<string, { contract: string; text: string; document: string }> = {};
  for (const { tool } of contract.requires) {
    const present = known.catalog.tools.get(tool as ToolKey);
    if (present !== undefined) verified[tool] = { ...present.digests };
  }
  return verified;
}

/** Hand edits and imports: each skill by itself; what cannot be read leaves the last good one in force. */
export function decideSkillsWritten(draft: Draft, event: Of<"skills-written">): void {
  const writes: SkillWrite[] = [];
  /** Skills of this event that come in: two of them may use each other. */
  const accepted: Skill[] = [];
  const problems: Problem[] = [];
  /** Why a folder was not taken up: all that reading it found, the reason last. */
  const refused: Problem[] = [];
  for (const written of ownFoldersFirst(event.written)) {
    const { skill, problems: found } = parseSkill(written, event.by);
    problems.push(...found);
    if (skill === undefined) {
      refused.push(...found.map((one, n) => (n === found.length - 1 ? withStanding(draft.known, written, one) : one)));
      continue;
    }
    const why = doubled(draft.known, skill, written, event, accepted) ?? problemWithSkill(draft.known, skill, accepted);
    if (why !== undefined) {
      problems.push(why);
      refused.push(withStanding(draft.known, written, why));
      continue;
    }
    accepted.push(skill);
    if (event.by === "import" && speaksToModel(skill).length > 0) problems.push(heldAtImport(skill));
    writes.push(writeOf(draft.known, skill, event));
  }
  for (const name of event.missing) {
    const skill = draft.known.library.skills.get(name);
    const entry = draft.known.library.lock.skills[name];
    if (skill === undefined || entry === undefined) continue;
    problems.push({
      code: "skill-folder-missing",
      where: `skills/${name}`,
      text: "The folder was gone; it was restored. To remove a skill use `steward skills remove`.",
    });
    const edit = {
      kind: "keep",
      skill: name,
      cause: "its folder was missing and was restored",
      signature: `restore:${name}`,
      by: "mechanical",
    } as const;
    writes.push({ name, files: skill.files, provenance: entry.provenance, verified: entry.verified, edit });
  }
  for (const problem of problems) draft.effects.push({ kind: "log", level: "warn", text: `${problem.where}: ${problem.text}` });
  draft.answer = {
    problems: problems.map(({ code, where, text }) => ({ code, where, text })),
    refused: refused.map(({ code, where, text }) => ({ code, where, text })),
    written: writes.map((write) => write.name),
    revision: draft.known.library.revision,
  };
  if (writes.length === 0) return;
  applyWrites(draft, writes, event.by === "human" ? "hand edit" : event.by, event.definitions);
  draft.answer = { ...draft.answer, revision: draft.known.library.revision };
}

/**
 * A folder under `skills/` that cannot have its skill's name is read once, and the skill has a folder of its own from then on: to take
 * the first one up again with every look would write over edits of the other, for ever.
 */
function doubled(
  known: Known,
  skill: Skill,
  { folder }: WrittenSkill,
  { by }: Of<"skills-written">,
  accepted: readonly Skill[],
): Problem | undefined {
  const isThere = known.library.skills.has(skill.name) || accepted.some(({ name }) => name === skill.name);
  if (by !== "human" || folder === skill.name || !isThere) return undefined;
  return {
    code: "skill-folder-doubled",
    where: `skills/${folder}`,
    text: `The skill is known as \`${skill.name}\` and lives in skills/${skill.name}: edit it there and take this folder away.`,
  };
}

/** Folders that can have their skill's name go before those that cannot: two of one name are the first kind's. */
function ownFoldersFirst(written: readonly WrittenSkill[]): readonly WrittenSkill[] {
  const isOwn = ({ folder }: WrittenSkill): boolean => NAME_RULE.test(folder);
  return [...written.filter(isOwn), ...written.filter((one) => !isOwn(one))];
}

function heldAtImport(skill: Skill): Problem {
  const text = `It is held until a person approves it (\`steward skills approve ${skill.name}\`): ${speaksToModel(skill).join(" ")}`;
  return { code: "skill-held", where: skill.name, text };
}

/** A person has to know what an edit that was not taken up leaves in force. */
function withStanding(known: Known, { folder }: WrittenSkill, problem: Problem): Problem {
  const stays = known.library.skills.has(folder as SkillName) ? " What stood before the edit stays in force." : "";
  return { ...problem, text: `${problem.text}${stays}` };
}

/** Dependencies read out of the prose of a skill that states none are written down as inferred, not asserted. */
function writeOf(known: Known, skill: Skill, { by, verified, origins }: Of<"skills-written">): SkillWrite {
  const contract = skill.contract.requires.length === 0 ? withInferred(skill, known.catalog.tools) : skill.contract;
  const files = contract === skill.contract ? skill.files : { ...skill.files, [CONTRACT_PATH]: writeContract(contract) };
  const origin = origins?.get(skill.name);
  const imported = origin === undefined ? "imported" : `imported from ${origin}`;
  const verb = by === "human" ? "edited by hand" : by === "import" ? imported : "part of the starter library";
  return {
    name: skill.name,
    files,
    provenance: by,
    verified: verified?.get(skill.name) ?? presentDigests(known, contract),
    edit: {
      kind: known.library.skills.has(skill.name) ? "modify" : "add",
      skill: skill.name,
      cause: verb,
      signature: `${by}:${skill.digest}`,
      by,
    },
  };
}

/** What keeps a readable skill out of the library: only what would make the library itself wrong. */
export function problemWithSkill(known: Known, skill: Skill, accepted: readonly Skill[]): Problem | undefined {
  const beside = new Map(known.library.skills);
  for (const one of [...accepted, skill]) beside.set(one.name, one);
  const cycle = findCycle(beside.values());
  if (cycle !== undefined) {
    return {
      code: "skill-cycle",
      where: skill.name,
      text: `It would use itself: ${cycle.join(" → ")}; take one of these uses out.`,
    };
  }
  return undefined;
}

/** One revision of these writes, with the standings they move. */
export function applyWrites(
  draft: Draft,
  writes: readonly SkillWrite[],
  cause: string,
  definitions: ReadonlyMap<string, ListedTool> = new Map(),
): void {
  const written = putRevision(draft, { cause, writes, definitions });
  settleStandings(draft, { skills: dependants(draft.known, written) });
  draft.effects.push({ kind: "announce-skills" });
}

export function decideSkillPinned(draft: Draft, event: Of<"skill-pinned">): void {
  requireSkill(draft.known, event.skill);
  put(draft, { kind: "pinned", skill: event.skill, pin: event.pinned ? { at: event.at, by: event.by } : undefined });
  if (!event.pinned) remapUnpinned(draft, event.skill);
  // What can be done about a resting skill, and whether a known contract wakes it, is another thing now.
  settleStandings(draft, { skills: [event.skill] });
}

/**
 * A person looked at the skill and its tools as they are now: what it is verified against moves to the present. Where the text waits for
 * that word, a tool that is away does not keep it from being said: it counts from when the tool is there again.
 */
export function decideSkillApproved(draft: Draft, event: Of<"skill-approved">): void {
  const skill = requireSkill(draft.known, event.skill);
  const entry = draft.known.library.lock.skills[skill.name];
  const gone = skill.contract.requires.find(
    (need) => need.optional !== true && !draft.known.catalog.tools.has(need.tool as ToolKey),
  );
  if (gone !== undefined && !waitsForWord(draft.known, skill)) {
    throw new Fault(
      "edit-refused",
      `${skill.name} needs ${gone.tool}, which is not in the catalog; edit the skill or run maintenance first.`,
    );
  }
  const confirmed = lintSkill(skill);
  const edit = {
    kind: "keep",
    skill: skill.name,
    cause: `looked at and approved by ${event.by}`,
    signature: `approve:${skill.digest}`,
    by: "human",
  } as const;
  const write: SkillWrite = {
    name: skill.name,
    files: skill.files,
    provenance: entry?.provenance ?? "human",
    verified: { ...keptDigests(skill, entry), ...presentDigests(draft.known, skill.contract) },
    edit,
    marks: {
      approved: skill.digest,
      ...(entry?.reverted === undefined ? {} : { reverted: { ...entry.reverted, stands: false } }),
      ...(entry?.remapped === undefined ? {} : { remapped: { ...entry.remapped, of: "" } }),
    },
  };
  letPass(draft, skill);
  applyWrites(draft, [write], `approval of ${skill.name}`);
  draft.answer = { lint: confirmed.map(({ code, where, text }) => ({ code, where, text })) };
}

/** What the skill's tools were verified as before, for those that are away. */
function keptDigests(skill: Skill, entry: LockEntry | undefined): SkillWrite["verified"] {
  const needed = new Set<string>(skill.contract.requires.map(({ tool }) => tool));
  return Object.fromEntries(Object.entries(entry?.verified ?? {}).filter(([tool]) => needed.has(tool)));
}

export function decideSkillRemoved(draft: Draft, event: Of<"skill-removed">): void {
  const skill = requireSkill(draft.known, event.skill);
  if (draft.known.pinned.has(skill.name)) throw new Fault("skill-pinned", `${skill.name} is pinned; unpin it first.`);
  const users = dependants(draft.known, [skill.name]);
  putRevision(draft, {
    cause: `removal of ${skill.name} by ${event.by}`,
    writes: [],
    removed: [skill.name],
    notes: [
      { kind: "remove", skill: skill.name, cause: `removed by ${event.by}`, signature: `remove:${skill.digest}`, by: "human" },
    ],
  });
  leaveOut(draft, skill);
  put(draft, { kind: "standings", set: new Map(), drop: [skill.name] });
  users.delete(skill.name);
  settleStandings(draft, { skills: users });
  draft.effects.push({ kind: "announce-skills" });
  draft.answer = { revision: draft.known.library.revision };
}

/**
 * Back to what stood at an earlier revision, as a new revision. Skills added since are kept and named: nothing is deleted by this. A
 * pinned skill stays as it is: by its name that is refused, in the whole library it is named.
 */
export function decideLibraryReverted(draft: Draft, event: Of<"library-reverted">): void {
  const writes: SkillWrite[] = [];
  const keptPinned: string[] = [];
  for (const [name, { files, entry }] of event.stood) {
    if (event.skill !== undefined && event.skill !== name) continue;
    const present = draft.known.library.skills.get(name);
    const lock = draft.known.library.lock.skills[name];
    if (present !== undefined && lock !== undefined && sameFiles(lock.files, entry.files)) continue;
    if (draft.known.pinned.has(name)) {
      if (event.skill !== undefined) throw new Fault("skill-pinned", `${name} is pinned; unpin it first.`);
      keptPinned.push(name);
      continue;
    }
    const edit = {
      kind: present === undefined ? "add" : "modify",
      skill: name,
      cause: `reverted to library revision ${event.to} by ${event.by}`,
      signature: `revert:${name}:${event.to}`,
      by: "human",
    } as const;
    const marks = marksOfRevert(draft.known, name, event.to, entry);
    writes.push({ name, files, provenance: entry.provenance, verified: entry.verified, edit, marks });
  }
  const since = event.skill === undefined ? [...draft.known.library.skills.keys()].filter((name) => !event.stood.has(name)) : [];
  if (writes.length > 0) applyWrites(draft, writes, `revert to library revision ${event.to}`, event.definitions);
  const changed = writes.map((write) => write.name);
  const resting = restingOf(draft.known, dependants(draft.known, changed));
  draft.answer = { revision: draft.known.library.revision, changed, keptSince: since, keptPinned, resting };
}

function sameFiles(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((path) => a[path] === b[path]);
}

function requireSkill(known: Known, name: SkillName): Skill {
  const skill = known.library.skills.get(name);
  if (skill === undefined) throw new Fault("skill-unknown", `There is no skill ${name}.`);
  return skill;
}
