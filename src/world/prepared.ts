/**
 * Prepared: what a start would work out again from bytes that did not move, kept by the run before.
 *
 * Owns: which derived things are worth keeping, the name of each (it says which tools or skills it is of), taking them up again.
 * Speaks: worlds, parts of bytes.
 * Never: when they are kept or where (compose.ts, store/prepared.ts); anything that cannot be worked out from the ground state: without them,
 * or with those of other bytes, a start is slower and the world the same.
 */
import { sha256 } from "../catalog/canonical.js";
import type { Catalog } from "../model/catalog.js";
import type { SkillName } from "../model/ids.js";
import { oncePer } from "../model/once.js";
import type { Ground, Prepared } from "../model/ports.js";
import type { Library, Skill } from "../model/skill.js";
import { fromBytes, toBytes, type FrozenIndex } from "../retrieve/frozen.js";
import { freezeSkillIndex, thawSkillIndex, type SkillIndex } from "../retrieve/skills.js";
import { freezeToolIndex, thawToolIndex, type ToolIndex } from "../retrieve/tools.js";
import { prepareVocabulary } from "../retrieve/vocabulary.js";
import { folderDigest } from "../skills/digest.js";
import { emptyLibrary } from "../skills/library.js";
import { rememberSpeaking, speaksToModel } from "../skills/speaks.js";
import { SKILL_PATH } from "../skills/text.js";
import type { World } from "./world.js";

/** From this many tools or skills on. Fewer are worked out as fast as they are read. */
const WORTH_FROM = 500;

const SKILLS = "skills:";
const FACES = [
  { face: "activeSkills", active: true },
  { face: "restingSkills", active: false },
] as const;
type Face = (typeof FACES)[number]["face"];

/** A part's name and how to make it: one at a time, each some tens of milliseconds for ten thousand tools. */
export type Preparation = readonly [name: string, make: () => Uint8Array | undefined];

/** What is worth keeping of a world of so many tools or skills. Each is to be made before the world moves on. */
export function preparationsOf(world: World, from = WORTH_FROM): readonly Preparation[] {
  const { catalog, library } = world;
  const tools: Preparation[] =
    catalog.tools.size < from ? [] : [[toolsName(catalog), () => frozenBytes(freezeToolIndex(world.toolIndex))]];
  if (library.skills.size < from) return tools;
  const named = skillNames(library)(world.standings);
  return [
    ...tools,
    [named.skills, () => skillBytes(library)],
    ...FACES.map(({ face }): Preparation => [named[face], () => frozenBytes(freezeSkillIndex(world[face]))]),
  ];
}

/** Names that say which skills a part is of: worked out once for one library and its standings, however often the world ticks. */
const skillNames = oncePer((library: Library) =>
  oncePer((standings: World["standings"]): Record<"skills" | Face, string> => {
    const [active, resting] = FACES.map((one) => faceName(one.face, membersOf({ library, standings }, one.active)));
    const skills = `${SKILLS}${memberKey([...library.skills.values()])}`;
    return { skills, activeSkills: active ?? "", restingSkills: resting ?? "" };
  }),
);

const toolsName = ({ digest }: Catalog): string => `tools:${digest}`;
const faceName = (face: Face, skills: readonly Skill[]): string => `${face}:${memberKey(skills)}`;

/** Which skills, by name and bytes, in whatever order. */
function memberKey(skills: readonly Skill[]): string {
  const lines = skills.map(({ name, digest, provenance }) => `${name} ${digest} ${provenance}`);
  return sha256(lines.sort().join("\n"));
}

function membersOf({ library, standings }: Pick<World, "library" | "standings">, active: boolean): Skill[] {
  return [...library.skills.values()].filter(({ name }) => (standings.get(name)?.standing === "active") === active);
}

const frozenBytes = (frozen: FrozenIndex | undefined): Uint8Array | undefined =>
  frozen === undefined ? undefined : toBytes(frozen);

/** A skill as it was read, without its files; its body as a place in SKILL.md where it stands there; what it says to models where that was looked at. */
type PreparedSkill = readonly [
  skill: Omit<Skill, "files" | "body">,
  body: string | readonly [from: number, to: number],
  speaks: readonly string[] | undefined,
];

function skillBytes({ skills }: Library): Uint8Array {
  const kept = [...skills.values()].map(({ files, body, ...skill }): PreparedSkill => {
    const from = files[SKILL_PATH]?.lastIndexOf(body) ?? -1;
    const speaks = skill.provenance === "import" ? speaksToModel({ files }) : undefined;
    return [skill, from < 0 ? body : [from, from + body.length], speaks];
  });
  return Buffer.from(JSON.stringify(kept));
}

/** Skills of the ground state's revision as an earlier run read them from the same bytes. */
export function preparedLibrary({ prepared, skills, revision }: Pick<Ground, "prepared" | "skills" | "revision">): Library {
  const [name] = [...prepared.keys()].filter((part) => part.startsWith(SKILLS));
  const bytes = name === undefined ? undefined : prepared.get(name);
  if (bytes === undefined) return emptyLibrary;
  const read = new Map<SkillName, Skill>();
  for (const [skill, at, speaks] of JSON.parse(Buffer.from(bytes).toString("utf8")) as PreparedSkill[]) {
    const files = skills.get(skill.name);
    if (files === undefined || folderDigest(revision?.skills[skill.name] ?? {}) !== skill.digest) continue;
    const body = typeof at === "string" ? at : (files[SKILL_PATH]?.slice(...at) ?? "");
    read.set(skill.name, { ...NO_FIELDS, ...skill, body, files });
    if (Array.isArray(speaks)) rememberSpeaking(files, speaks);
  }
  return { ...emptyLibrary, skills: read };
}
/** Members that JSON leaves out where they are undefined. */
const NO_FIELDS = { license: undefined, compatibility: undefined, allowedTools: undefined };

/** Undefined where none of these very tools was kept. */
export function preparedToolIndex(prepared: Prepared, catalog: Catalog): ToolIndex | undefined {
  const bytes = prepared.get(toolsName(catalog));
  return bytes === undefined ? undefined : thawToolIndex(fromBytes(bytes), catalog.tools);
}

/** Undefined where none of these very skills was kept. */
export function preparedSkillIndex(prepared: Prepared, face: Face, skills: readonly Skill[]): SkillIndex | undefined {
  const bytes = prepared.get(faceName(face, skills));
  return bytes === undefined ? undefined : thawSkillIndex(fromBytes(bytes), new Map(skills.map((skill) => [skill.name, skill])));
}

/** Looks at up to so many words of the indexes that were taken up as they are; true when all were looked at. */
export function tendIndexes({ toolIndex, activeSkills, restingSkills }: World, words: number): boolean {
  return [toolIndex, activeSkills, restingSkills].every(({ text }) => prepareVocabulary(text, words));
}
