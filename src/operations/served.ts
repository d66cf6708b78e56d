/** Skills as other programs are served them: the active ones, with digests. */
import { Fault } from "../model/fault.js";
import { splitToolKey, type SkillName, type ToolKey } from "../model/ids.js";
import type { Caller, ServedSkill, ServedSkills } from "../model/operations.js";
import type { Skill } from "../model/skill.js";
import { serveSkill, type Serving } from "../skills/served.js";
import type { Desk } from "./desk.js";

/** A skill's state never changes, so what is served of it does not either. */
const servings = new WeakMap<Skill, Serving>();

function servingOf(skill: Skill): Serving {
  const known = servings.get(skill) ?? serveSkill(skill);
  servings.set(skill, known);
  return known;
}

function mayUse(skill: Skill, caller: Caller): boolean {
  const { upstreams } = caller;
  if (upstreams === undefined) return true;
  return skill.contract.requires.every(
    (need) => need.optional === true || upstreams.has(splitToolKey(need.tool as ToolKey).label),
  );
}

export function servedSkills(desk: Desk, caller: Caller): ServedSkills {
  const skills: ServedSkill[] = [];
  const leftOut: { skill: string; why: string }[] = [];
  const world = desk.steward.world();
  for (const skill of world.library.skills.values()) {
    if (world.standings.get(skill.name)?.standing !== "active" || !mayUse(skill, caller)) continue;
    const serving = servingOf(skill);
    if ("served" in serving) skills.push(serving.served);
    else leftOut.push({ skill: skill.name, why: serving.why });
  }
  return { skills: skills.sort((a, b) => (a.name < b.name ? -1 : 1)), leftOut };
}

export function servedFile(desk: Desk, name: string, path: string, caller: Caller): string | undefined {
  const world = desk.steward.world();
  const skill = world.library.skills.get(name as SkillName);
  if (skill === undefined || !mayUse(skill, caller)) throw new Fault("skill-unknown", `There is no skill ${name}.`);
  const standing = world.standings.get(skill.name);
  if (standing?.standing !== "active") {
    const why = (standing?.reasons ?? []).map((reason) => reason.text).join("; ");
    throw new Fault("skill-unknown", `The skill ${name} rests: ${why === "" ? (standing?.because ?? "inactive") : why}`);
  }
  return Object.hasOwn(skill.files, path) ? skill.files[path] : undefined;
}
