/**
 * Assembling a view: decisions rendered into what one turn is answered with, within its budgets.
 *
 * Owns: the form of everything in a view, the order in which it gives way to a budget, the list of what was left out.
 * Speaks: plain data in, a View out: the same input gives the same bytes.
 * Never: searches, judges or asks anybody; a replay passes the recorded decisions and gets the recorded view.
 *
 * A view gives way in this order, in each group the last first:
 *   alternatives · full definitions · full skill texts (brief ones stay) · further tools of a step · skills · the tools that steps
 *   are for · wordy notices and goals · steps of the plan
 * A text is shown whole, brief or not at all, never cut in mid-step; whatever gave way is named in `left_out`.
 */
import { PROVISION } from "../model/policy.js";
import type { View } from "../model/view.js";
import { LEFT_OUT_FORMS } from "./left-out.js";
import { gatherMaterial, type AssembleInput, type Material, type SkillMaterial, type ToolMaterial } from "./material.js";
import { countedChars, countOnce, estimate, mayFit, render, skillEntry, tellsWithin, TERSEST, type Draft } from "./render.js";

export function assembleView(input: AssembleInput): View {
  const material = gatherMaterial(input);
  return wholeView(material) ?? cutView(material);
}

/** The forms of left_out up to this one still name things with their reasons. */
const NAMED_FORMS = 2;

/** Everything at once, where it fits: for most views one count of tokens is all it takes. */
function wholeView(material: Material): View | undefined {
  const draft: Draft = {
    tools: new Set(material.tools),
    definitions: new Set(material.tools.filter((tool) => tool.definition !== undefined)),
    skills: new Map(material.skills.map((skill) => [skill, "full"])),
    alternatives: material.input.found.alternatives.length,
    terse: 0,
    leftOut: 0,
  };
  const chars = material.skills.reduce((sum, skill) => sum + countedChars(material, skill.full), 0);
  return chars > charsLeft(material) ? undefined : withLeftOut(material, draft, NAMED_FORMS);
}

/**
 * What is most needed first, as far as it fits. Room is kept for naming what is left out; where even that room does not suffice
 * for names, it is better given to what is shown.
 */
function cutView(material: Material): View {
  const kept = fill(material, material.limits.tokens * PROVISION.leftOutShare);
  const named = withLeftOut(material, kept, NAMED_FORMS);
  if (named !== undefined) return named;
  const full = fill(material, 0);
  return withLeftOut(material, full, LEFT_OUT_FORMS - 1) ?? render(material, full);
}

function emptyDraft(): Draft {
  return { tools: new Set(), definitions: new Set(), skills: new Map(), alternatives: 0, terse: 0, leftOut: LEFT_OUT_FORMS - 1 };
}

/** A draft that leaves `reserved` tokens of the budget, at least where there is anything to give way. */
function fill(material: Material, reserved: number): Draft {
  const { limits } = material;
  const draft = emptyDraft();
  // What can be told in fewer words takes at most its share of the room that is left beside what cannot.
  const least = estimate(material, { ...draft, terse: TERSEST });
  const frame = least + Math.max(0, limits.tokens - least) * PROVISION.frameShare;
  let tokens = estimate(material, draft);
  while (draft.terse < TERSEST && tokens > frame) {
    draft.terse++;
    tokens = estimate(material, draft);
  }
  const added: Unit[] = [];
  let chars = charsLeft(material);
  for (const unit of unitsOf(material, draft)) {
    if (!unit.isPossible() || tokens + unit.tokens > limits.tokens - reserved || unit.chars > chars) continue;
    unit.apply();
    added.push(unit);
    tokens += unit.tokens;
    chars -= unit.chars;
  }
  // Parts were counted one by one; joined they may cost a little more.
  const used = (): number => render(material, draft).budgets.tokens.used;
  while (added.length > 0 && used() > limits.tokens) added.pop()?.undo();
  while (draft.terse < TERSEST && used() > limits.tokens) draft.terse++;
  // Room that no tool or skill could use goes back to the plan.
  while (draft.terse > 0 && estimate(material, { ...draft, terse: draft.terse - 1 }) <= limits.tokens - reserved) draft.terse--;
  while (draft.terse < TERSEST && used() > limits.tokens) draft.terse++;
  return draft;
}

/** The view with the fullest telling of what was left out that the budget and its share allow; `last` = the tersest form tried. */
function withLeftOut(material: Material, draft: Draft, last: number): View | undefined {
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
interface Unit {
  readonly tokens: number;
  readonly chars: number;
  /** A full text needs its brief one first, a definition its signature. */
  readonly isPossible: () => boolean;
  readonly apply: () => void;
  readonly undo: () => void;
}

/** What can be added, the most needed first: the reverse of the order in which a view gives way. */
function unitsOf(material: Material, draft: Draft): Unit[] {
  const { tools, skills, input } = material;
  const toolUnit = (tool: ToolMaterial): Unit => ({
    tokens: countOnce(material, JSON.stringify(tool.entry)) + 1,
    chars: 0,
    isPossible: () => true,
    apply: () => draft.tools.add(tool),
    undo: () => draft.tools.delete(tool),
  });
  const briefUnit = (skill: SkillMaterial): Unit => ({
    tokens: countOnce(material, JSON.stringify(skillEntry(skill, "brief"))) + 1,
    chars: countedChars(material, skill.brief),
    isPossible: () => true,
    apply: () => draft.skills.set(skill, "brief"),
    undo: () => draft.skills.delete(skill),
  });
  const fullUnit = (skill: SkillMaterial): Unit => ({
    tokens:
      countOnce(material, JSON.stringify(skillEntry(skill, "full"))) -
      countOnce(material, JSON.stringify(skillEntry(skill, "brief"))) +
      2,
    chars: countedChars(material, skill.full) - countedChars(material, skill.brief),
    isPossible: () => draft.skills.has(skill),
    apply: () => draft.skills.set(skill, "full"),
    undo: () => draft.skills.set(skill, "brief"),
  });
  const definitionUnit = (tool: ToolMaterial): Unit => ({
    tokens: countOnce(material, JSON.stringify(tool.definition)) + 4,
    chars: 0,
    isPossible: () => draft.tools.has(tool),
    apply: () => draft.definitions.add(tool),
    undo: () => draft.definitions.delete(tool),
  });
  return [
    ...tools.filter((tool) => tool.isAim).map(toolUnit),
    ...skills.map(briefUnit),
    ...tools.filter((tool) => !tool.isAim).map(toolUnit),
    ...skills.filter((skill) => skill.full !== skill.brief).map(fullUnit),
    ...tools.filter((tool) => tool.definition !== undefined).map(definitionUnit),
    ...input.found.alternatives.map((alternative) => ({
      tokens: countOnce(material, JSON.stringify(alternative)) + 1,
      chars: 0,
      isPossible: () => true,
      apply: () => void draft.alternatives++,
      undo: () => void draft.alternatives--,
    })),
  ];
}

/** Characters of skill text that this view may show: its share of what the episode has left. */
function charsLeft(material: Material): number {
  const { skillChars, skillShare } = material.limits;
  return Math.floor(Math.max(0, skillChars - material.input.before.skillChars) * skillShare);
}
