/**
 * What maintenance has to look at: a function of present standings, never of a remembered event.
 */
import type { Known } from "./world.js";
import type { DueSkill, MaintenanceInput, Proof } from "../model/ports.js";
import type { SkillName, ToolKey } from "../model/ids.js";
import type { Tool } from "../model/tool.js";
import { heldTools } from "./known.js";
import { verifiedTool } from "./standings.js";

/** Skills that rest because a tool of theirs moved, and those that need a look. In `rebuild` mode: all. */
export function dueSkills(known: Known, mode: "incremental" | "rebuild"): DueSkill[] {
  const due: DueSkill[] = [];
  for (const name of [...known.library.skills.keys()].sort()) {
    const skill = known.library.skills.get(name);
    const standing = known.standings.get(name);
    if (skill === undefined || standing === undefined) continue;
    const own =
      standing.standing === "inactive" &&
      standing.reasons.some((reason) => reason.level === "breaking" && !reason.on.startsWith("skill:"));
    if (mode === "incremental" && !own && !standing.needsReview) continue;
    due.push({ skill, standing, pinned: known.pinned.has(name), verified: verifiedTools(known, name) });
  }
  return due;
}

function verifiedTools(known: Known, name: SkillName): ReadonlyMap<ToolKey, Tool> {
  const result = new Map<ToolKey, Tool>();
  for (const key of Object.keys(known.library.lock.skills[name]?.verified ?? {})) {
    const tool = verifiedTool(known, name, key as ToolKey);
    if (tool !== undefined) result.set(key as ToolKey, tool);
  }
  return result;
}

/** Signatures not to be proposed again. Of a skill that a person accepts by its name, everything is judged again: they looked at it. */
export function rejectedFor(known: Known, accept: readonly string[]): ReadonlySet<string> {
  const again = new Set(accept);
  return new Set([...known.rejected].filter(([, { skill }]) => !again.has(skill)).map(([signature]) => signature));
}

/** Everything a manager may look at to propose edits. `accept`: skills whose proposals a person takes. */
export function maintenanceInput(
  known: Known,
  mode: "incremental" | "rebuild",
  at: string,
  proofs: readonly Proof[] = [],
  accept: readonly string[] = [],
): MaintenanceInput {
  return {
    mode,
    at,
    due: dueSkills(known, mode),
    tools: known.catalog.tools,
    departed: known.catalog.departed,
    links: [...known.lineage.values()],
    held: heldTools(known),
    widened: new Set(
      Object.entries(known.holds.approved).flatMap(([key, { measure }]) => (measure?.predecessor === undefined ? [] : [key])),
    ),
    skills: known.library.skills,
    rejected: rejectedFor(known, accept),
    pinned: new Set(known.pinned.keys()),
    proofs,
    planning: known.policy.maintainPlanning,
  };
}
