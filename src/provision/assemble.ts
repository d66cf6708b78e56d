/**
 * Assembling a view: decisions rendered into what one turn is answered with, within its budgets.
 *
 * Owns: the form of everything in a view, the order in which it gives way to a budget, the list of what was left out.
 * Speaks: plain data in, a View out: the same input gives the same bytes.
 * Never: searches, judges or asks anybody; a replay passes the recorded decisions and gets the recorded view.
 *
 * What does not fit gives way as the form of the limits says: in the present one by squeeze.ts, in the first one by what stands here,
 * kept for the views that were recorded then. That one gives way in this order, in each group the last first:
 *   alternatives · full definitions · full skill texts (brief ones stay) · further tools of a step · skills · the tools that steps
 *   are for · wordy notices and goals · steps of the plan
 * A text is shown whole, brief or not at all, never cut in mid-step; whatever gave way is named in `left_out`.
 */
import { PROVISION } from "../model/policy.js";
import type { View } from "../model/view.js";
import { TERSEST, type Draft } from "./draft.js";
import { LEFT_OUT_FORMS } from "./left-out.js";
import { gatherMaterial, type AssembleInput, type Material } from "./material.js";
import { countedChars, estimate, render } from "./render.js";
import { squeeze } from "./squeeze.js";
import { charsLeft, NAMED_FORMS, unitsFor, withLeftOut, type Unit } from "./units.js";

export function assembleView(input: AssembleInput): View {
  const material = gatherMaterial(input);
  return wholeView(material) ?? (material.limits.form === 1 ? cutView(material) : squeeze(material));
}

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

/** What can be added, the most needed first: the reverse of the order in which a view gives way. */
function unitsOf(material: Material, draft: Draft): Unit[] {
  const { tools, skills, input } = material;
  const { toolUnit, briefUnit, fullUnit, definitionUnit, alternativeUnit } = unitsFor(material, draft);
  return [
    ...tools.filter((tool) => tool.isAim).map(toolUnit),
    ...skills.map(briefUnit),
    ...tools.filter((tool) => !tool.isAim).map(toolUnit),
    ...skills.filter((skill) => skill.full !== skill.brief).map(fullUnit),
    ...tools.filter((tool) => tool.definition !== undefined).map(definitionUnit),
    ...input.found.alternatives.map(alternativeUnit),
  ];
}
