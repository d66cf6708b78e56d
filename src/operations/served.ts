/** Skills as other programs are served them: the active ones, with digests. */
import { Fault } from "../model/fault.js";
import { type SkillName, type UpstreamLabel } from "../model/ids.js";
import type { Caller, ServedSkill, ServedSkills } from "../model/operations.js";
import type { Skill } from "../model/skill.js";
import type { Standing } from "../model/standing.js";
import { serveSkill, type Serving } from "../skills/served.js";
import { isPassedOn, isStillTaken, NOTHING_TAKEN } from "../skills/taken.js";
import { namesOthers, skillWithin } from "../world/reach.js";
import { servingOf as takenFrom } from "../world/upstream-skills.js";
import type { Desk } from "./desk.js";

/** A skill's state never changes, so what is served of it does not either. */
const servings = new WeakMap<Skill, Serving>();

function servingOf(skill: Skill): Serving {
  const known = servings.get(skill) ?? serveSkill(skill);
  servings.set(skill, known);
  return known;
}

export function servedSkills(desk: Desk, caller: Caller): ServedSkills {
  const skills: ServedSkill[] = [];
  const leftOut: { skill: string; why: string }[] = [];
  const world = desk.steward.world();
  for (const skill of world.library.skills.values()) {
    if (world.standings.get(skill.name)?.standing !== "active" || !skillWithin(world, skill, caller.upstreams)) continue;
    // Its upstream's own entry is passed on, with the author's name, bytes and digests.
    if (takenFrom(world, skill) !== undefined) continue;
    const serving = servingOf(skill);
    if ("served" in serving) skills.push(serving.served);
    else leftOut.push({ skill: skill.name, why: serving.why });
  }
  return { skills: skills.sort((a, b) => (a.name < b.name ? -1 : 1)), leftOut };
}

/**
 * An upstream whose skills are taken in has only those passed on that stand in the library: a skill that rests or was refused there is
 * not handed out by the other door.
 */
export function skillWithheld(desk: Desk, label: string, uri: string, what: "skill" | "file"): string | undefined {
  const world = desk.steward.world();
  if (what === "skill" && desk.upstreams.status().some((status) => status.label === label && status.skills === "off"))
    return `skills of ${label} are switched off (steward.upstreams.${label}.skills)`;
  if (!world.skillsFrom.has(label as UpstreamLabel)) return undefined;
  const isOf = (skill: string): boolean =>
    skill === uri || (what === "file" && uri.startsWith(skill.slice(0, -"SKILL.md".length)));
  const { skills, refused } = world.upstreamSkills.get(label as UpstreamLabel) ?? NOTHING_TAKEN;
  for (const [name, taken] of Object.entries(skills)) {
    if (!isOf(taken.uri)) continue;
    const skill = world.library.skills.get(name as SkillName);
    if (skill === undefined) return `\`${name}\` was taken out of the library`;
    if (!isStillTaken(skill, taken)) return `\`${name}\` was edited here; the library's own is served instead`;
    const standing = world.standings.get(skill.name);
    return standing?.standing === "active" ? undefined : `\`${name}\` rests: ${whyRests(standing)}`;
  }
  const why = refused.filter((one) => one.uri !== "" && isOf(one.uri));
  if (why.length === 0) return what === "skill" ? "it was not read yet" : undefined;
  return why.find((one) => !isPassedOn(one))?.text;
}

function whyRests(standing: Standing | undefined): string {
  const why = (standing?.reasons ?? []).map((reason) => reason.text).join("; ");
  return why === "" ? (standing?.because ?? "inactive") : why;
}

export function servedFile(desk: Desk, name: string, path: string, caller: Caller): string | undefined {
  const world = desk.steward.world();
  const skill = world.library.skills.get(name as SkillName);
  if (skill === undefined || !skillWithin(world, skill, caller.upstreams))
    throw new Fault("skill-unknown", `There is no skill ${name}.`);
  const standing = world.standings.get(skill.name);
  if (standing?.standing !== "active") {
    const why = whyRests(standing);
    const told = namesOthers(world, why, caller.upstreams) ? (standing?.because ?? "inactive") : why;
    throw new Fault("skill-unknown", `The skill ${name} rests: ${told}`);
  }
  return Object.hasOwn(skill.files, path) ? skill.files[path] : undefined;
}
