/**
 * Skills that upstreams serve, as part of the world: whose a skill is, and what a person said of it.
 */
import type { SkillName, UpstreamLabel } from "../model/ids.js";
import type { Skill } from "../model/skill.js";
import type { TakenSkill, UpstreamSkills } from "../model/upstream-skills.js";
import { isStillTaken } from "../skills/taken.js";
import { put, type Draft } from "./draft.js";
import type { Known } from "./world.js";

export interface Serving {
  readonly label: UpstreamLabel;
  readonly taken: TakenSkill;
}

const byName = new WeakMap<Known["upstreamSkills"], ReadonlyMap<string, Serving>>();

/** Every skill that is remembered as taken in, by its name here; worked out once per state. */
export function servings({ upstreamSkills }: Pick<Known, "upstreamSkills">): ReadonlyMap<string, Serving> {
  const known = byName.get(upstreamSkills);
  if (known !== undefined) return known;
  const found = new Map<string, Serving>();
  for (const [label, { skills }] of upstreamSkills)
    for (const [name, taken] of Object.entries(skills)) if (!found.has(name)) found.set(name, { label, taken });
  byName.set(upstreamSkills, found);
  return found;
}

/** The upstream that a skill is taken from, while the skill is as it was taken. */
export function servingOf(known: Pick<Known, "upstreamSkills">, skill: Skill): Serving | undefined {
  const serving = servings(known).get(skill.name);
  return serving !== undefined && isStillTaken(skill, serving.taken) ? serving : undefined;
}

/** Names of the skills that an upstream served at any time. */
export function takenFrom(known: Known, label: UpstreamLabel): SkillName[] {
  return Object.keys(known.upstreamSkills.get(label)?.skills ?? {}) as SkillName[];
}

/** Digest over the files that were served under a URI when it was taken last; undefined where they have to be read. */
export function knownSource(
  known: Pick<Known, "upstreamSkills" | "library">,
  label: UpstreamLabel,
  uri: string,
): string | undefined {
  for (const [name, taken] of Object.entries(known.upstreamSkills.get(label)?.skills ?? {}))
    if (taken.uri === uri && (taken.removed === true || known.library.skills.has(name as SkillName))) return taken.source;
  return undefined;
}

/** A person looked at what the scan found: these very bytes pass. */
export function letPass(draft: Draft, skill: Skill): void {
  const serving = servingOf(draft.known, skill);
  if (serving !== undefined && serving.taken.findings.length > 0)
    remember(draft, serving.label, skill.name, { ...serving.taken, approved: serving.taken.source });
}

/** A person took the skill out: its upstream does not bring it back. */
export function leaveOut(draft: Draft, skill: Skill): void {
  const serving = servings(draft.known).get(skill.name);
  if (serving !== undefined) remember(draft, serving.label, skill.name, { ...serving.taken, removed: true });
}

function remember(draft: Draft, label: UpstreamLabel, name: SkillName, entry: TakenSkill): void {
  const before: UpstreamSkills = draft.known.upstreamSkills.get(label) ?? { skills: {}, refused: [] };
  put(draft, { kind: "upstream-skills", label, taken: { ...before, skills: { ...before.skills, [name]: entry } } });
}
