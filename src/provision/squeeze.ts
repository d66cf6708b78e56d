/**
 * Squeezing: a view that does not fit is cut to its budget, what the plan needs first.
 *
 * Owns: the order in which a view grows from the smallest one.
 * Speaks: material in, a View out; the same material gives the same bytes.
 * Never: a plan that names what the view neither shows nor names as left out, a text cut within a word, a cut that is not told.
 *
 * From the smallest view (a plan without steps, the notice of the budget, a count of what is left out) it grows in a fixed order:
 *   the first words of the first goal (form 2 begins with them) · more of it · notices in short · four steps at a time: goals, names
 *   of their tools (the last of each step first), the tools themselves ·
 *   tools whose entry is large
 * The first of these that does not fit ends it, so that a larger budget never shows fewer of the plan's tools. What room is left takes
 *   goals and notices as they are · substitutions · skills of steps, notes, plans, in brief, then in full · definitions ·
 *   unmatched words · alternatives
 * as they fit. Where the smallest view is above the budget (an episode with a long name), it is given, and its notice stands.
 */
import { PROVISION } from "../model/policy.js";
import type { View } from "../model/view.js";
import type { Draft, Tight } from "./draft.js";
import { LEFT_OUT_FORMS } from "./left-out.js";
import type { Material, SkillMaterial, ToolMaterial } from "./material.js";
import { countOnce, estimate, ESTIMATE_OFF, render, seemsShort } from "./render.js";
import { shortNotice } from "./shorten.js";
import { budgetNotice, noticeIn, planTools, SHORT_GOAL } from "./tight.js";
import { charsLeft, NAMED_FORMS, unitsFor, withLeftOut, type Unit } from "./units.js";

/** Steps whose tools come before the next ones' goals. */
const STEPS_AT_ONCE = 4;
/** Tokens from which on a tool's entry is large: it waits for the others. */
const LARGE_ENTRY = 250;
/** Unmatched words told as soon as there is room. */
const UNMATCHED_FEW = 5;
const UNMATCHED_MOST = 20;
/** What a budget that shows everything is rounded up to. */
const NEED_ROUND = 50;

export function squeeze(material: Material): View {
  const full = fullest(material);
  // Where the limit on skill text takes nothing away, everything at once was tried before.
  const isLess = material.skills.some(
    (skill) => !full.skills.has(skill) || (hasMore(skill) && full.skills.get(skill) !== "full"),
  );
  const uncut = isLess ? withLeftOut(material, full, NAMED_FORMS) : undefined;
  if (uncut !== undefined) return uncut;
  const core = coreOf(material, needOf(material, full));
  const kept = fill(material, core(), material.limits.tokens * PROVISION.leftOutShare);
  const named = withLeftOut(material, kept, NAMED_FORMS);
  if (named !== undefined) return named;
  const filled = fill(material, core(), 0);
  return withLeftOut(material, filled, LEFT_OUT_FORMS - 1) ?? render(material, filled);
}

/** Everything but skill texts that the episode's limit on them forbids. */
function fullest(material: Material): Draft {
  const draft: Draft = {
    tools: new Set(material.tools),
    definitions: new Set(material.tools.filter((tool) => tool.definition !== undefined)),
    skills: new Map(),
    alternatives: material.input.found.alternatives.length,
    terse: 0,
    leftOut: 0,
  };
  let chars = charsLeft(material);
  const { briefUnit, fullUnit } = unitsFor(material, draft);
  for (const unit of [...material.skills.map(briefUnit), ...material.skills.filter(hasMore).map(fullUnit)]) {
    if (!unit.isPossible() || unit.chars > chars) continue;
    unit.apply();
    chars -= unit.chars;
  }
  return draft;
}

function hasMore(skill: SkillMaterial): boolean {
  return skill.full !== skill.brief;
}

/** Tokens of a budget that surely shows all of a draft, in round numbers: what is left out has its share of it. */
function needOf(material: Material, full: Draft): number {
  const needs = Array.from({ length: NAMED_FORMS + 1 }, (_, leftOut) => {
    const all = estimate(material, { ...full, leftOut });
    const left = all - estimate(material, { ...full, leftOut: LEFT_OUT_FORMS - 1 }) + ESTIMATE_OFF;
    return Math.max(all + ESTIMATE_OFF, left / PROVISION.leftOutShare);
  });
  return Math.ceil(Math.min(...needs) / NEED_ROUND) * NEED_ROUND;
}

/** Makes the draft with as much of what the plan needs as the budget has room for. */
function coreOf(material: Material, need: number): () => Draft {
  const steps = coreSteps(material);
  const made = (count: number): Draft => {
    const { draft, tight } = smallest(material, need);
    for (const step of steps.slice(0, count)) step(draft, tight);
    return draft;
  };
  const quick = stepsThatFit(material, smallest(material, need), steps, seemsShort);
  const isSure = quick === 0 || fits(material, made(quick));
  const count = isSure ? quick : stepsThatFit(material, smallest(material, need), steps, () => false);
  return () => made(count);
}

/** How many steps fit, from the first; where `isShort` says so, nothing is counted. */
function stepsThatFit(
  material: Material,
  { draft, tight }: { draft: Draft; tight: Tight },
  steps: readonly CoreStep[],
  isShort: (material: Material, draft: Draft) => boolean,
): number {
  const end = steps.findIndex((step) => {
    step(draft, tight);
    return !isShort(material, draft) && !fits(material, draft);
  });
  return end < 0 ? steps.length : end;
}

function smallest({ limits }: Material, need: number): { draft: Draft; tight: Tight } {
  const tight: Tight = {
    need,
    bare: true,
    steps: limits.form < 3 ? 1 : 0,
    wholeGoals: false,
    named: new Set(),
    notices: new Map(),
    explains: false,
    substitutions: new Set(),
    unmatched: 0,
    fellBack: false,
  };
  const draft: Draft = {
    tools: new Set(),
    definitions: new Set(),
    skills: new Map(),
    alternatives: 0,
    terse: 0,
    tight,
    leftOut: LEFT_OUT_FORMS - 1,
  };
  return { draft, tight };
}

function fits(material: Material, draft: Draft): boolean {
  const { tokens } = material.limits;
  const about = estimate(material, draft);
  if (about + ESTIMATE_OFF <= tokens) return true;
  return about - ESTIMATE_OFF <= tokens && render(material, draft).budgets.tokens.used <= tokens;
}

/** Adds something to a draft. */
type CoreStep = (draft: Draft, tight: Tight) => void;

function coreSteps(material: Material): CoreStep[] {
  const { notices, input } = material;
  const tools = planTools(material);
  const large = new Set(tools.filter((tool) => countOnce(material, JSON.stringify(tool.entry)) > LARGE_ENTRY));
  return [
    ...(material.limits.form < 3 ? [] : [tellsStep]),
    tellsAtLength,
    ...notices.filter((notice) => shortNotice(notice) !== undefined).map(tellsShortly),
    ...(input.decisions.fellBack === undefined ? [] : [tellsFallback]),
    ...planSteps(material, tools, large),
    ...[...large].map(shows),
  ];
}

/** Goals, names and tools of the plan, a few steps at a time; of their tools those that steps are for first. */
function planSteps(material: Material, tools: readonly ToolMaterial[], large: ReadonlySet<ToolMaterial>): CoreStep[] {
  const steps = material.plan?.steps ?? [];
  const added: CoreStep[] = [];
  const done = new Set<ToolMaterial>();
  for (let from = 0; from < steps.length; from += STEPS_AT_ONCE) {
    const block = steps.slice(from, from + STEPS_AT_ONCE);
    const keys = new Set(block.flatMap((step) => step.tools));
    const own = tools.filter((tool) => keys.has(tool.entry.tool) && !done.has(tool));
    const inOrder = [...own.filter((tool) => tool.isAim), ...own.filter((tool) => !tool.isAim)];
    for (const tool of own) done.add(tool);
    added.push(
      ...block.slice(from === 0 ? 1 : 0).map(() => tellsStep),
      ...inOrder.map(names),
      ...inOrder.filter((tool) => !large.has(tool)).map(shows),
    );
  }
  return added;
}

const tellsAtLength: CoreStep = (_, tight) => {
  tight.bare = false;
};

const tellsStep: CoreStep = (_, tight) => {
  tight.steps++;
};

const tellsFallback: CoreStep = (_, tight) => {
  tight.fellBack = true;
};

function tellsShortly(notice: Material["notices"][number]): CoreStep {
  return (_, tight) => void tight.notices.set(notice, "short");
}

function names({ entry }: ToolMaterial): CoreStep {
  return (_, tight) => void tight.named.add(entry.tool);
}

function shows(tool: ToolMaterial): CoreStep {
  return (draft) => void draft.tools.add(tool);
}

/** Adds to a draft what fits beside it, leaving `reserved` tokens where there is anything to leave. */
function fill(material: Material, draft: Draft, reserved: number): Draft {
  const { limits } = material;
  const added: Unit[] = [];
  let tokens = estimate(material, draft);
  let chars = charsLeft(material);
  for (const unit of further(material, draft)) {
    if (!unit.isPossible() || tokens + unit.tokens > limits.tokens - reserved || unit.chars > chars) continue;
    unit.apply();
    added.push(unit);
    tokens += unit.tokens;
    chars -= unit.chars;
  }
  // Parts were counted one by one; joined they may cost a little more.
  while (added.length > 0 && render(material, draft).budgets.tokens.used > limits.tokens) added.pop()?.undo();
  return draft;
}

/** What is told and shown as there is room, the most needed first. */
function further(material: Material, draft: Draft): Unit[] {
  const { tools, skills, input } = material;
  const { toolUnit, briefUnit, fullUnit, definitionUnit, alternativeUnit } = unitsFor(material, draft);
  const ofPlan = new Set(planTools(material));
  const isWhole = [...ofPlan].every((tool) => draft.tools.has(tool));
  const ofSteps = new Set(material.plan?.steps.flatMap((step) => step.skills) ?? []);
  const inOrder = [
    ...skills.filter((skill) => ofSteps.has(skill.name)),
    ...skills.filter((skill) => !ofSteps.has(skill.name) && skill.tier === "tool"),
    ...skills.filter((skill) => !ofSteps.has(skill.name) && skill.tier !== "tool"),
  ];
  return [
    ...tellingUnits(material, draft),
    ...inOrder.map((skill) => namedUnit(material, briefUnit(skill), skill)),
    // What no step needs gets no room that a tool of a step was too large for.
    ...(isWhole ? tools.filter((tool) => !ofPlan.has(tool)).map(toolUnit) : []),
    ...inOrder.filter(hasMore).map(fullUnit),
    ...tools.filter((tool) => tool.definition !== undefined).map(definitionUnit),
    ...wordUnits(material, draft),
    ...input.found.alternatives.map(alternativeUnit),
  ];
}

/** A skill that is shown is named by its steps again. */
function namedUnit(material: Material, unit: Unit, skill: SkillMaterial): Unit {
  const { plan } = material;
  const mentions = plan === undefined ? 0 : plan.steps.filter((step) => step.skills.includes(skill.name)).length;
  const named = mentions + (plan?.from.includes(skill.name) === true ? 1 : 0);
  return { ...unit, tokens: unit.tokens + named * (countOnce(material, skill.name) + 2) };
}

/** Goals, notices and substitutions as they are. */
function tellingUnits(material: Material, draft: Draft): Unit[] {
  const { tight } = draft;
  if (tight === undefined) return [];
  const cost = (value: unknown): number => countOnce(material, JSON.stringify(value)) + 1;
  const goals = material.plan?.steps.slice(0, tight.steps).map((step) => step.goal) ?? [];
  const shorter = goals.map((goal) => material.cuts.firstWords(goal, SHORT_GOAL));
  const short = new Map(tight.notices);
  const silent = material.notices.length;
  const explained = cost(budgetNotice(material, { ...tight, explains: true }, silent));
  return [
    unit(
      cost(goals) - cost(shorter) + 1,
      () => (tight.wholeGoals = true),
      () => (tight.wholeGoals = false),
    ),
    ...material.notices.map((notice) =>
      unit(
        cost(notice) - (short.has(notice) ? cost(noticeIn(notice, "short")) : 0),
        () => tight.notices.set(notice, "whole"),
        () => (short.has(notice) ? tight.notices.set(notice, "short") : tight.notices.delete(notice)),
      ),
    ),
    unit(
      explained - cost(budgetNotice(material, tight, silent)),
      () => (tight.explains = true),
      () => (tight.explains = false),
    ),
    ...material.input.found.substitutions.map((row, n) =>
      unit(
        cost(row) + (n === 0 ? 4 : 0),
        () => tight.substitutions.add(row),
        () => tight.substitutions.delete(row),
      ),
    ),
  ];
}

function wordUnits(material: Material, draft: Draft): Unit[] {
  const { tight } = draft;
  const words = material.input.found.unmatched.slice(0, UNMATCHED_MOST);
  if (tight === undefined || words.length === 0) return [];
  const upTo = (count: number): number => countOnce(material, JSON.stringify(words.slice(0, count)));
  const tells = (count: number, before: number): Unit => ({
    ...unit(
      upTo(count) - (before === 0 ? -4 : upTo(before)),
      () => (tight.unmatched = count),
      () => (tight.unmatched = before),
    ),
    isPossible: () => tight.unmatched === before,
  });
  return [tells(UNMATCHED_FEW, 0), tells(UNMATCHED_MOST, UNMATCHED_FEW)];
}

function unit(tokens: number, apply: () => unknown, undo: () => unknown): Unit {
  return { tokens, chars: 0, isPossible: () => true, apply: () => void apply(), undo: () => void undo() };
}
