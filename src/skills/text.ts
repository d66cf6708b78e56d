/**
 * Skills as text: a folder with SKILL.md and references/contract.json, read leniently, written strictly.
 *
 * Owns: which front matter field means what, what is repaired and named, what a file we write must satisfy.
 * Speaks: WrittenSkill in, Skill and problems out; SkillDraft in, file texts out.
 * Never: file systems, standings, catalogs; removing anything a person wrote.
 */
import { Fault } from "../model/fault.js";
import type { Digest, SkillName } from "../model/ids.js";
import { isJsonObject, type JsonValue } from "../model/json.js";
import { SKILL_LIMITS } from "../model/policy.js";
import type { Problem } from "../model/problem.js";
import { tierSchema, type Contract, type Provenance, type Skill, type Tier, type WrittenSkill } from "../model/skill.js";
import { CONTRACT_PATH, readContract, writeContract } from "./contract.js";
import { skillDigest } from "./digest.js";
import { parseSteps } from "./steps.js";
import { readFrontMatter, writeFrontMatter } from "./written.js";

export const SKILL_PATH = "SKILL.md";
/** Metadata keys that are ours start with this. */
export const METADATA_PREFIX = "steward-";
export const TIER_KEY = "steward-tier";
/** A metadata key of another author, carried through a strict rewrite. */
export const KEPT_PREFIX = "steward-kept-";
/** Folder prefix of the skills STEWARD writes, by tier. */
export const TIER_PREFIX: Readonly<Record<Tier, string>> = Object.freeze({ planning: "plan-", atomic: "atomic-", tool: "tool-" });
export const NAME_RULE = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** What a skill is to say, before it is text. */
export interface SkillDraft {
  readonly name: string;
  readonly tier: Tier;
  readonly description: string;
  /** Markdown. */
  readonly body: string;
  readonly contract: Omit<Contract, "format">;
  readonly license?: string | undefined;
  readonly compatibility?: string | undefined;
  readonly allowedTools?: string | undefined;
  /** Further metadata; keys start with `steward-`. The tier is added. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface SkillReading {
  /** Undefined where the skill is refused: the last problem says why. */
  readonly skill: Skill | undefined;
  readonly problems: readonly Problem[];
}

/** Reads a skill folder. Never throws for what a file may contain. `digest`: of the folder, where it is known already. */
export function parseSkill(written: WrittenSkill, provenance: Provenance, digest?: Digest): SkillReading {
  const where = `${written.folder}/${SKILL_PATH}`;
  const problems: Problem[] = [];
  const note: Note = (code, text, at = where) => void problems.push({ code, where: at, text });
  const refuse = (code: string, text: string): SkillReading => {
    note(code, text);
    return { skill: undefined, problems };
  };

  const unsafe = unsafeFolder(written);
  if (unsafe !== undefined) return refuse(unsafe.code, unsafe.text);
  const source = written.files[SKILL_PATH];
  if (source === undefined) return refuse("skill-file-missing", "The folder has no SKILL.md.");

  const reading = readFrontMatter(where, source);
  problems.push(...reading.problems);
  if (reading.front === undefined) return { skill: undefined, problems };
  const fields = readKnownFields(reading.front.fields, note);

  const description = fields.description.trim();
  if (description === "") return refuse("description-missing", "A skill needs a `description` that says something.");
  const name = chooseName(fields.name, written.folder, note);
  if (name === undefined) return refuse("name-unusable", "Neither `name` nor the folder can be made a skill name.");

  const contractWhere = `${written.folder}/${CONTRACT_PATH}`;
  const contract = readContract(contractWhere, written.files[CONTRACT_PATH]);
  problems.push(...contract.problems);
  if (contract.contract === undefined) return { skill: undefined, problems };

  const body = reading.front.body.replace(/^\n+/, "").trimEnd();
  if (body === "") note("body-empty", "The skill says nothing after its front matter.");
  const steps = parseSteps(body, contract.contract.uses);
  const tier = chooseTier(fields.metadata[TIER_KEY], steps.length, note);
  const skill: Skill = {
    name,
    tier,
    description,
    body,
    steps,
    contract: contract.contract,
    provenance,
    metadata: fields.metadata,
    license: fields.license,
    compatibility: fields.compatibility,
    allowedTools: fields.allowedTools,
    files: written.files,
    digest: digest ?? skillDigest(written.files),
    problems,
  };
  return { skill, problems };
}

type Note = (code: string, text: string, at?: string) => void;

interface KnownFields {
  readonly name: string;
  readonly description: string;
  readonly license: string | undefined;
  readonly compatibility: string | undefined;
  readonly allowedTools: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Sorts the front matter into the six fields; what is not one of them is kept under metadata, and named. */
function readKnownFields(fields: ReadonlyMap<string, JsonValue>, note: Note): KnownFields {
  const metadata = new Map<string, string>();
  const given = fields.get("metadata");
  if (given !== undefined && given !== "") {
    if (!isJsonObject(given)) {
      note("metadata-not-a-map", "`metadata` is not a map; its text is kept under `metadata.metadata`.");
      metadata.set("metadata", flat(given));
    } else {
      for (const [key, value] of Object.entries(given)) {
        if (typeof value !== "string") note("metadata-not-flat", `\`metadata.${key}\` is not a string; it is kept as JSON text.`);
        metadata.set(key, flat(value));
      }
    }
  }
  const known = new Set(["name", "description", "license", "compatibility", "metadata", "allowed-tools"]);
  for (const [field, value] of fields) {
    if (known.has(field)) continue;
    const key = metadata.has(field) ? `field-${field}` : field;
    note("unknown-field", `\`${field}\` is not one of the six fields; it is kept as \`metadata.${key}\`.`);
    metadata.set(key, flat(value));
  }
  const text = (field: string): string | undefined => {
    const value = fields.get(field);
    if (value === undefined) return undefined;
    if (typeof value !== "string") note("field-not-text", `\`${field}\` is not text; it was read as \`${flat(value)}\`.`);
    return flat(value).trim();
  };
  return {
    name: text("name") ?? "",
    description: text("description") ?? "",
    license: nonEmpty(text("license")),
    compatibility: nonEmpty(text("compatibility")),
    allowedTools: nonEmpty(readAllowedTools(fields.get("allowed-tools"), note)),
    metadata: Object.fromEntries(metadata),
  };
}

/** The format wants one space-separated string; lists are common in the wild. */
function readAllowedTools(value: JsonValue | undefined, note: Note): string | undefined {
  if (value === undefined || typeof value === "string") return value?.trim();
  if (!Array.isArray(value)) {
    note("field-not-text", `\`allowed-tools\` is not text; it was read as \`${flat(value)}\`.`);
    return flat(value);
  }
  note("allowed-tools-list", "`allowed-tools` is a list; it was read as one string.");
  const items = value.map(flat);
  return items.join(items.some((item) => /\s/.test(item)) ? ", " : " ");
}

const flat = (value: JsonValue): string => (typeof value === "string" ? value : JSON.stringify(value));
const nonEmpty = (value: string | undefined): string | undefined => (value === undefined || value === "" ? undefined : value);

/** The folder is the identity where it can be one: two readers of one folder must agree. */
function chooseName(field: string, folder: string, note: Note): SkillName | undefined {
  const valid = (name: string): boolean => NAME_RULE.test(name) && name.length <= SKILL_LIMITS.nameChars;
  if (field === "") note("name-missing", `There is no \`name\`; the folder \`${folder}\` stands in for it.`);
  else if (!valid(field)) {
    note("name-rules", `The name \`${field}\` is not lower-case ASCII words joined by single hyphens (at most 64 characters).`);
  }
  if (field !== "" && field !== folder) note("name-not-folder", `The name \`${field}\` is not the folder \`${folder}\`.`);
  const choice = [folder, field, asName(field), asName(folder)].find(valid);
  if (choice !== undefined && field !== "" && choice !== field)
    note("name-taken-as", `The skill is known here as \`${choice}\`.`);
  return choice as SkillName | undefined;
}

/** A name made of what the format allows: `PDF Tools — 2` → `pdf-tools-2`. Empty where nothing is left. */
export function asName(text: string): string {
  const folded = text
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase();
  const words = folded.split(/[^a-z0-9]+/).filter((word) => word !== "");
  return words.join("-").slice(0, SKILL_LIMITS.nameChars).replace(/-+$/, "");
}

/** Without a stated tier: steps make a workflow, anything else is one ability. Never from the name. */
function chooseTier(stated: string | undefined, steps: number, note: Note): Tier {
  const parsed = tierSchema.safeParse(stated);
  if (parsed.success) return parsed.data;
  const tier: Tier = steps >= 2 ? "planning" : "atomic";
  if (stated === undefined) note("tier-missing", `\`metadata.${TIER_KEY}\` is not given; the skill counts as ${tier}.`);
  else note("tier-unknown", `\`${stated}\` is not a tier (planning, atomic, tool); the skill counts as ${tier}.`);
  return tier;
}

/** Folder and file names are confined: relative, no parent, no drive, no backslash, no hidden control characters. */
function unsafeFolder(written: WrittenSkill): { code: string; text: string } | undefined {
  const paths = Object.keys(written.files);
  if (paths.length > SKILL_LIMITS.filesPerSkill) {
    return {
      code: "too-many-files",
      text: `The folder has ${paths.length} files; at most ${SKILL_LIMITS.filesPerSkill} are taken.`,
    };
  }
  let size = 0;
  for (const text of Object.values(written.files)) size += text.length;
  if (size > SKILL_LIMITS.folderBytes)
    return { code: "skill-too-large", text: `The folder has more than ${SKILL_LIMITS.folderBytes} bytes.` };
  if (!safePath(written.folder) || written.folder.includes("/")) {
    return { code: "path-unsafe", text: `The folder name ${JSON.stringify(written.folder)} is not confined to the library.` };
  }
  const bad = paths.find((path) => !safePath(path));
  return bad === undefined
    ? undefined
    : { code: "path-unsafe", text: `The file name ${JSON.stringify(bad)} is not confined to the skill.` };
}

/** True for a relative path that stays below its root on every platform. */
export function safePath(path: string): boolean {
  if (path === "" || path.length > 255 || /[\\:\u0000-\u001f\u007f]/.test(path)) return false;
  return path
    .split("/")
    .every((part) => part !== "" && part !== "." && part !== ".." && part !== "__proto__" && part.trim() === part);
}

/** Everything that is wrong with a draft; empty where renderSkill will write it. */
export function draftProblems(draft: SkillDraft): Problem[] {
  const problems: Problem[] = [];
  const note = (code: string, text: string): void => void problems.push({ code, where: draft.name, text });
  const length = (text: string): number => Array.from(text).length;
  if (!NAME_RULE.test(draft.name) || draft.name.length > SKILL_LIMITS.nameChars) {
    note(
      "name-rules",
      `The name ${JSON.stringify(draft.name)} is not ASCII kebab of at most ${SKILL_LIMITS.nameChars} characters.`,
    );
  }
  if (draft.description.trim() === "") note("description-missing", "The description says nothing.");
  if (length(draft.description) > SKILL_LIMITS.descriptionChars) {
    note(
      "description-too-long",
      `The description has ${length(draft.description)} characters; at most ${SKILL_LIMITS.descriptionChars}.`,
    );
  }
  if (/[<>]/.test(draft.description)) note("description-angle-brackets", "The description has angle brackets.");
  if (length(draft.compatibility ?? "") > SKILL_LIMITS.compatibilityChars) {
    note("compatibility-too-long", `\`compatibility\` has more than ${SKILL_LIMITS.compatibilityChars} characters.`);
  }
  const body = cleanBody(draft.body);
  const most = SKILL_LIMITS.bodyChars[draft.tier];
  if (body === "") note("body-empty", "The body says nothing.");
  if (length(body) > most)
    note("body-too-long", `The body has ${length(body)} characters; ${draft.tier} skills have at most ${most}.`);
  for (const [key, value] of Object.entries(draft.metadata ?? {})) {
    if (!key.startsWith(METADATA_PREFIX))
      note("metadata-key", `The metadata key ${JSON.stringify(key)} does not start with \`steward-\`.`);
    if (key === TIER_KEY && value !== draft.tier) note("metadata-key", "The tier is stated twice and differs.");
  }
  const texts = [draft.description, draft.body, draft.license, draft.compatibility, draft.allowedTools];
  if (texts.some((text) => text !== undefined && !wellFormed(text)))
    note("text-not-unicode", "A text has half a surrogate pair.");
  if (texts.some((text) => text?.includes("\u0000"))) note("text-control", "A text has a NUL character.");
  return problems;
}

/**
 * Writes SKILL.md and references/contract.json: the six fields, quoted, in fixed order, and reads them back.
 * Same draft, same bytes. Throws Fault `edit-refused` naming every rule a draft breaks (see draftProblems).
 */
export function renderSkill(draft: SkillDraft): Record<string, string> {
  const problems = draftProblems(draft);
  if (problems.length > 0) throw refused(draft, problems);
  const metadata = new Map<string, string>([[TIER_KEY, draft.tier]]);
  const extra = Object.entries(draft.metadata ?? {}).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  for (const [key, value] of extra) metadata.set(key, value);
  const fields = new Map<string, string | ReadonlyMap<string, string>>([
    ["name", draft.name],
    ["description", draft.description.trim()],
  ]);
  for (const [field, value] of [
    ["license", draft.license],
    ["compatibility", draft.compatibility],
    ["allowed-tools", draft.allowedTools],
  ] as const) {
    if (value !== undefined && value.trim() !== "") fields.set(field, value.trim());
  }
  fields.set("metadata", metadata);
  const body = cleanBody(draft.body);
  const files = {
    [SKILL_PATH]: `${writeFrontMatter(fields)}\n${body}\n`,
    [CONTRACT_PATH]: writeContract(draft.contract),
  };

  const back = parseSkill({ folder: draft.name, files }, "rules");
  const differs = back.skill === undefined ? "the whole file" : firstDifference(back.skill, fields, metadata, body, draft);
  if (differs !== undefined) {
    const text = `Reading it back gives another value for ${differs}.`;
    throw refused(draft, [...back.problems, { code: "read-back", where: draft.name, text }]);
  }
  return files;
}

function firstDifference(
  skill: Skill,
  fields: ReadonlyMap<string, unknown>,
  metadata: ReadonlyMap<string, string>,
  body: string,
  draft: SkillDraft,
): string | undefined {
  if (skill.name !== draft.name) return "`name`";
  if (skill.description !== fields.get("description")) return "`description`";
  if (skill.license !== fields.get("license")) return "`license`";
  if (skill.compatibility !== fields.get("compatibility")) return "`compatibility`";
  if (skill.allowedTools !== fields.get("allowed-tools")) return "`allowed-tools`";
  if (JSON.stringify(Object.entries(skill.metadata)) !== JSON.stringify([...metadata])) return "`metadata`";
  if (skill.body !== body) return "the body";
  return writeContract(skill.contract) === writeContract(draft.contract) ? undefined : "the contract";
}

function refused(draft: SkillDraft, problems: readonly Problem[]): Fault {
  const text = problems.map((problem) => `${problem.code}: ${problem.text}`).join(" ");
  return new Fault("edit-refused", `Skill ${JSON.stringify(draft.name)}: ${text}`);
}

/** The draft that would write a skill again; metadata of others is carried under `steward-kept-`. */
export function draftOf(skill: Skill): SkillDraft {
  const metadata: Record<string, string> = {};
  for (const [key, value] of Object.entries(skill.metadata)) {
    if (key !== TIER_KEY) metadata[key.startsWith(METADATA_PREFIX) ? key : `${KEPT_PREFIX}${key}`] = value;
  }
  const { name, tier, description, body, contract, license, compatibility, allowedTools } = skill;
  return { name, tier, description, body, contract, license, compatibility, allowedTools, metadata };
}

/** Line ends as LF, no blank lines around, no trailing blanks of the whole. */
function cleanBody(body: string): string {
  return body.replace(/\r\n?/g, "\n").replace(/^\n+/, "").trimEnd();
}

function wellFormed(text: string): boolean {
  return !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text);
}
