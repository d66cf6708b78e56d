/**
 * Units: the things that can be added to a draft one by one, and what a draft becomes once what it leaves out is told.
 */
import { PROVISION } from "../model/policy.js";
import type { View } from "../model/view.js";
import type { Draft } from "./draft.js";
import type { Material, SkillMaterial, ToolMaterial } from "./material.js";
import { countedChars, countOnce, mayFit, render, skillEntry, tellsWithin } from "./render.js";

/** The forms of left_out up to this one still name things with their reasons. */
export const NAMED_FORMS = 2;

/** The view with the fullest telling of what was left out that the budget and its share allow; `last` = the tersest form tried. */
export function withLeftOut(material: Material, draft: Draft, last: number): View | undefined {
  const { limits } = material;
  const share = limits.tokens * PROVISION.leftOutShare;
  for (let form = 0; form <= last; form++) {
    const candidate: Draft = { ...draft, leftOut: form };
    // Names are worth room that nobody uses, up to their share; a mere number is never too long.
    const isShort = form > NAMED_FORMS || tellsWithin(material, candidate, share);
    if (!isShort || !mayFit(material, candidate, limits.tokens)) continue;
    const view = render(material, candidate);
    if (view.budgets.tokens.used <= limits.tokens) return view;
  }
  return undefined;
}

/** One thing that can be added to a draft, with what it costs; `undo` takes it out again. */
export interface Unit {
  readonly tokens: number;
  readonly chars: number;
  /** A full text needs its brief one first, a definition its signature. */
  readonly isPossible: () => boolean;
  readonly apply: () => void;
  readonly undo: () => void;
}

/** Makers of units on one draft. */
export interface UnitMakers {
  toolUnit(tool: ToolMaterial): Unit;
  briefUnit(skill: SkillMaterial): Unit;
  fullUnit(skill: SkillMaterial): Unit;
  definitionUnit(tool: ToolMaterial): Unit;
  alternativeUnit(alternative: Material["input"]["found"]["alternatives"][number]): Unit;
}

export function unitsFor(material: Material, draft: Draft): UnitMakers {
  return {
    toolUnit: (tool) => ({
      tokens: countOnce(material, JSON.stringify(tool.entry)) + 1,
      chars: 0,
      isPossible: () => true,
      apply: () => draft.tools.add(tool),
      undo: () => draft.tools.delete(tool),
    }),
    briefUnit: (skill) => ({
      tokens: countOnce(material, JSON.stringify(skillEntry(skill, "brief"))) + 1,
      chars: countedChars(material, skill.brief),
      isPossible: () => true,
      apply: () => draft.skills.set(skill, "brief"),
      undo: () => draft.skills.delete(skill),
    }),
    fullUnit: (skill) => ({
      tokens:
        countOnce(material, JSON.stringify(skillEntry(skill, "full"))) -
        countOnce(material, JSON.stringify(skillEntry(skill, "brief"))) +
        2,
      chars: countedChars(material, skill.full) - countedChars(material, skill.brief),
      isPossible: () => draft.skills.has(skill),
      apply: () => draft.skills.set(skill, "full"),
      undo: () => draft.skills.set(skill, "brief"),
    }),
    definitionUnit: (tool) => ({
      tokens: countOnce(material, JSON.stringify(tool.definition)) + 4,
      chars: 0,
      isPossible: () => draft.tools.has(tool),
      apply: () => draft.definitions.add(tool),
      undo: () => draft.definitions.delete(tool),
    }),
    alternativeUnit: (alternative) => ({
      tokens: countOnce(material, JSON.stringify(alternative)) + 1,
      chars: 0,
      isPossible: () => true,
      apply: () => void draft.alternatives++,
      undo: () => void draft.alternatives--,
    }),
  };
}

/** Characters of skill text that this view may show: its share of what the episode has left. */
export function charsLeft(material: Material): number {
  const { skillChars, skillShare } = material.limits;
  return Math.floor(Math.max(0, skillChars - material.input.before.skillChars) * skillShare);
}
