/**
 * Skills taken in from upstreams: which of those that one serves come into the library, and under which name.
 *
 * Owns: their names here (label before name), what is the upstream's own, what it may replace, what a person must look at first.
 * Speaks: folders as served in; folders to write, what is remembered and what is refused out. Bytes are untouched.
 * Never: reading from upstreams; standings; replacing what a person, an import or another upstream brought.
 */
import { sha256 } from "../catalog/canonical.js";
import type { SkillName, ToolKey, UpstreamLabel } from "../model/ids.js";
import { SKILL_LIMITS } from "../model/policy.js";
import type { Library, Skill } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import type { RefusedSkill, ServedFolder, TakenSkill, UpstreamSkills } from "../model/upstream-skills.js";
import { CONTRACT_PATH, writeContract } from "./contract.js";
import { skillDigest } from "./digest.js";
import { withInferred } from "./infer.js";
import { speaksToModel } from "./speaks.js";
import { asName, NAME_RULE, parseSkill } from "./text.js";
import { whyUnread } from "./unread.js";

/** Refusals that are no fault of the skill: it is passed on under its upstream's label as if it were not to be taken in. */
const PASSED_ON: ReadonlySet<string> = new Set([
  "skill-name-taken",
  "skill-name-conflict",
  "skill-duplicate",
  "skill-dynamic",
  "skill-pinned",
  "skill-file-binary",
]);
export function isPassedOn({ code }: RefusedSkill): boolean {
  return PASSED_ON.has(code);
}

export const NOTHING_TAKEN: UpstreamSkills = Object.freeze({ skills: {}, refused: [] });

/**
 * A served skill's name in the library: `label-folder`, a function of the two alone. What does not fit (another alphabet, too long)
 * is cut and told apart by 8 hex digits of sha256.
 */
export function takenName(label: UpstreamLabel, folder: string): SkillName {
  const plain = `${label}-${folder}`;
  if (NAME_RULE.test(plain) && plain.length <= SKILL_LIMITS.nameChars) return plain as SkillName;
  const mark = sha256(`${label}/${folder}`).slice(0, 8);
  const room = SKILL_LIMITS.nameChars - mark.length - 1;
  return `${asName(plain).slice(0, room).replace(/-+$/, "")}-${mark}`.replace(/^-+/, "") as SkillName;
}

/** Is the skill as it stands still what was taken from the upstream? A hand edit makes it a person's, its undoing gives it back. */
export function isStillTaken(skill: Skill | undefined, taken: TakenSkill): boolean {
  return skill !== undefined && skill.provenance === "import" && skill.digest === taken.digest;
}

export interface TakingRequest {
  readonly label: UpstreamLabel;
  readonly found: readonly ServedFolder[];
  readonly refused: readonly RefusedSkill[];
  readonly before: UpstreamSkills;
  /** Names that other upstreams' skills have. */
  readonly foreign: ReadonlySet<string>;
  readonly library: Library;
  readonly pinned: ReadonlyMap<SkillName, unknown>;
  readonly tools: ReadonlyMap<ToolKey, Tool>;
  /** Why a readable skill cannot stand in the library beside those accepted so far. */
  readonly blocked: (skill: Skill, accepted: readonly Skill[]) => RefusedSkill | undefined;
}

export interface TakingPlan {
  readonly taken: UpstreamSkills;
  /** Whole folders to write. */
  readonly writes: readonly { readonly skill: Skill; readonly uri: string; readonly kind: "add" | "modify" }[];
}

/** Pure: the same list over the same library gives the same plan, in whatever order it was listed. */
export function planTaking(request: TakingRequest): TakingPlan {
  const { label, before } = request;
  const bench: Bench = { request, skills: {}, refused: [...request.refused], writes: [], accepted: [] };
  const inOrder = [...request.found].sort((a, b) => (a.uri < b.uri ? -1 : 1));
  for (const folder of inOrder) takeOne(bench, folder, takenName(label, folderOf(folder.uri)));
  const stillListed = new Set([...request.refused, ...bench.refused].map(({ uri }) => uri));
  for (const [name, entry] of Object.entries(before.skills)) {
    if (bench.skills[name] !== undefined) continue;
    const served = stillListed.has(entry.uri);
    // What a person took out and nobody serves any more leaves no trace; the rest rests.
    if (request.library.skills.has(name as SkillName) || (served && entry.removed === true))
      bench.skills[name] = { ...entry, served };
  }
  return {
    taken: { skills: sorted(bench.skills), refused: bench.refused.sort((a, b) => (a.uri < b.uri ? -1 : a.uri > b.uri ? 1 : 0)) },
    writes: bench.writes,
  };
}

interface Bench {
  readonly request: TakingRequest;
  readonly skills: Record<string, TakenSkill>;
  readonly refused: RefusedSkill[];
  readonly writes: TakingPlan["writes"][number][];
  readonly accepted: Skill[];
}

/** The folder of a skill's URI: the last name before `/SKILL.md`. */
export function folderOf(uri: string): string {
  const last = uri.split("/").at(-2) ?? "";
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

function takeOne(bench: Bench, folder: ServedFolder, name: SkillName): void {
  const { request } = bench;
  const refuse = (code: string, text: string): void => void bench.refused.push({ uri: folder.uri, code, text });
  const twin = bench.skills[name];
  if (twin !== undefined)
    return refuse(
      twin.source === folder.source ? "skill-duplicate" : "skill-name-conflict",
      `It would be \`${name}\` here, as ${twin.uri} is already${twin.source === folder.source ? ", with the same bytes" : ""}; it is passed on and not taken in.`,
    );
  const entry = request.before.skills[name];
  const present = request.library.skills.get(name);
  if (present === undefined && entry?.removed === true && entry.uri === folder.uri) {
    bench.skills[name] = { ...entry, served: true };
    return;
  }
  const own = entry !== undefined && isStillTaken(present, entry);
  if (present !== undefined && !own) {
    if (entry?.uri === folder.uri) bench.skills[name] = { ...entry, served: true };
    return refuse("skill-name-taken", takenText(request, present, entry));
  }
  bench.refused.push(...folder.problems);
  const files = filesOf(folder, own ? present : undefined);
  if (files === undefined) return refuse("skill-unread", "Its files were not read; they are at the next listing.");
  const reading = parseSkill({ folder: name, files }, "import");
  const skill = reading.skill === undefined ? undefined : withContract(reading.skill, request.tools);
  if (skill === undefined) {
    const why = reading.problems.at(-1);
    if (entry !== undefined && own) bench.skills[name] = { ...entry, served: true };
    return refuse(why?.code ?? "skill-refused", `${whyUnread(reading.problems)}${own ? " What was taken before stays." : ""}`);
  }
  const blocked = request.blocked(skill, bench.accepted);
  if (blocked !== undefined || (skill.digest !== present?.digest && request.pinned.has(name))) {
    if (entry !== undefined && own) bench.skills[name] = { ...entry, served: true };
    return blocked === undefined
      ? refuse("skill-pinned", `\`${name}\` is pinned; what is served now is taken in when it is unpinned.`)
      : refuse(blocked.code, blocked.text);
  }
  bench.accepted.push(skill);
  if (skill.digest !== present?.digest)
    bench.writes.push({ skill, uri: folder.uri, kind: present === undefined ? "add" : "modify" });
  bench.skills[name] = {
    uri: folder.uri,
    served: true,
    source: folder.source,
    digest: skill.digest,
    findings: [...speaksToModel(skill)],
    ...(entry?.approved === folder.source ? { approved: entry.approved } : {}),
  };
}

function takenText({ foreign }: TakingRequest, present: Skill, entry: TakenSkill | undefined): string {
  if (entry !== undefined)
    return `\`${present.name}\` was edited here since it was taken in, so it stays as it is; \`steward skills revert\` gives it back to the upstream.`;
  if (foreign.has(present.name)) return `Another upstream's skill is \`${present.name}\` here; it is passed on and not taken in.`;
  return `\`${present.name}\` is in the library already (provenance ${present.provenance}) and is not replaced; it is passed on and not taken in.`;
}

/** As served now; where nothing moved, as they stand here. */
function filesOf(folder: ServedFolder, present: Skill | undefined): Readonly<Record<string, string>> | undefined {
  return folder.written?.files ?? present?.files;
}

/** Dependencies read out of prose are written down beside the served files once they can be told; a file of theirs stays. */
function withContract(skill: Skill, tools: ReadonlyMap<ToolKey, Tool>): Skill {
  const contract = skill.files[CONTRACT_PATH] === undefined ? withInferred(skill, tools) : skill.contract;
  if (contract === skill.contract) return skill;
  const files = { ...skill.files, [CONTRACT_PATH]: writeContract(contract) };
  return { ...skill, contract, files, digest: skillDigest(files) };
}

function sorted<Value>(record: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
