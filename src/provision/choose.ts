/**
 * Choosing by rules: plan, skills and tools of a view, out of what retrieval found.
 *
 * Owns: the decisions of the `rules` manager for views; few and right, since every tool shown costs the agent attention.
 * Speaks: candidates in, decisions out, the same for the same input.
 * Never: budgets (assemble.ts cuts) or standings (candidates are active and offered).
 */
import type { SkillName, ToolKey } from "../model/ids.js";
import { PROVISION } from "../model/policy.js";
import type { SkillCandidate, ToolCandidate, ViewCandidates } from "../model/ports.js";
import type { Skill } from "../model/skill.js";
import type { PlanStep, ToolChoice, ViewDecisions, ViewRecord } from "../model/view.js";
import { skillFit, toolFit, wordsOfNeed } from "./meaning.js";
import { draftPlan, needText, type DraftStep } from "./plan.js";
import { createAdvice } from "./advice.js";
import { openReferences, readSpoken, unsaid, type Spoken } from "./spoken.js";

export function decideByRules(candidates: ViewCandidates): ViewDecisions {
  switch (candidates.request.kind) {
    case "start":
      return decideStart(candidates);
    case "retrieve":
      return decideRetrieve(candidates);
    case "explore":
      return decideExplore(candidates);
  }
}

/** Tools only: retrieval ranked and cut them; what a tool cannot do without is said beside it. */
function decideRetrieve(candidates: ViewCandidates): ViewDecisions {
  const spoken = readSpoken(needText(candidates.request));
  const kept = candidates.tools.slice(0, candidates.limits.tools);
  const keys = new Set<string>(kept.map(({ tool }) => tool.key));
  const advice = createAdvice(candidates, spoken, keys);
  const tools = kept.map((candidate): ToolChoice => {
    const needs = advice(candidate.tool);
    const reason = needs.length === 0 ? candidate.reason : `${candidate.reason}; needs ${needs.join(" and ")} first`;
    return { tool: candidate.tool.key, reason, score: candidate.score };
  });
  return { by: "rules", skills: [], tools };
}

/** What the ecosystem can do for a need: skills and tools side by side, no plan. */
function decideExplore(candidates: ViewCandidates): ViewDecisions {
  const skills = [...candidates.planning, ...candidates.atomic.slice(0, candidates.limits.atomic)].sort(
    (a, b) => b.score - a.score,
  );
  const tools = candidates.tools
    .slice(0, candidates.limits.tools)
    .map(({ tool, score, reason }) => ({ tool: tool.key, reason, score }));
  return { by: "rules", skills: skills.map(({ skill }) => skill.name), tools };
}

function decideStart(candidates: ViewCandidates): ViewDecisions {
  const plan = draftPlan(candidates);
  const pool: Pool = {
    candidates,
    spoken: readSpoken(needText(candidates.request)),
    skills: new Map(),
    choices: new Map(),
    searched: 0,
    searches: 0,
  };
  const filled = plan.steps.map((step, n) => fillStep(pool, step, n + 1, plan.steps.length === 1));
  const closed = filled.map((step, n) => closeStep(pool, step, n + 1));
  const notes = notesOn(pool);
  return {
    by: "rules",
    plan: { source: plan.source, from: plan.from.map((skill) => skill.name), steps: closed },
    skills: [...plan.from.map((skill) => skill.name), ...pool.skills.keys(), ...notes],
    tools: inOrderOfNeed(pool, closed),
  };
}

/** What was chosen so far. */
interface Pool {
  readonly candidates: ViewCandidates;
  readonly spoken: Spoken;
  readonly skills: Map<SkillName, Skill>;
  readonly choices: Map<ToolKey, ToolChoice>;
  /** Tools found by search among the choices. */
  searched: number;
  /** Searches made for single steps. */
  searches: number;
}

/** Skills and tools of one step: named ones as they are, otherwise the best found, few. */
function fillStep(pool: Pool, step: DraftStep, n: number, isOnly: boolean): PlanStep {
  const skills = takeNamedSkills(pool, step);
  const isNamed = step.tools.length + skills.length > 0;
  const found = isNamed ? undefined : searchStep(pool, step, isOnly);
  if (found !== undefined) skills.push(...takeFoundSkills(pool, found.atomic, step.goal));
  const tools = new Set<ToolKey>();
  for (const key of step.tools) if (choose(pool, key, `named by ${step.from ?? "the task"}, step ${n}`, 1, n)) tools.add(key);
  for (const skill of skills) {
    for (const key of toolsOf(skill, pool.candidates)) if (choose(pool, key, `named by ${skill.name}`, 1, n)) tools.add(key);
  }
  const most = isOnly && step.from === undefined ? PROVISION.onlyStepTools : pool.candidates.limits.toolsPerStep;
  const retrieved = new Set<ToolKey>();
  if (!isNamed || tools.size === 0)
    takeFoundTools(pool, { found: foundFor(step, tools.size > 0 ? [] : found?.tools), most, n }, retrieved);
  for (const key of tools) retrieved.delete(key);
  return { goal: step.goal, skills: skills.map((skill) => skill.name), tools: [...retrieved, ...tools] };
}

/** What search has for a step: its clause's own, else what was found for it that a planned step's words mean. */
function foundFor(step: DraftStep, searched: readonly ToolCandidate[] = []): readonly ToolCandidate[] {
  if (step.found.length > 0) return step.found;
  const words = wordsOfNeed(step.goal);
  return searched.filter(({ tool }) => step.from === undefined || toolFit(tool, words) >= PROVISION.fit);
}

/** A step that is the whole request was searched already; others are, as long as searches last. */
function searchStep(
  pool: Pool,
  step: DraftStep,
  isOnly: boolean,
): { atomic: readonly SkillCandidate[]; tools: readonly ToolCandidate[] } {
  const { candidates } = pool;
  const words = wordsOfNeed(step.goal);
  const known = candidates.atomic.filter(({ skill }) => skillFit(skill, words) >= PROVISION.fit);
  if (isOnly || known.length > 0 || pool.searches >= PROVISION.stepSearches) return { atomic: known, tools: candidates.tools };
  pool.searches++;
  return candidates.forStep(step.goal);
}

function takeNamedSkills(pool: Pool, step: DraftStep): Skill[] {
  const { candidates } = pool;
  const taken: Skill[] = [];
  for (const name of step.skills) {
    const skill =
      pool.skills.get(name) ?? candidates.lookup?.skill(name) ?? candidates.atomic.find((one) => one.skill.name === name)?.skill;
    if (skill === undefined || skill.tier === "planning") continue;
    if (!pool.skills.has(name) && pool.skills.size >= candidates.limits.atomic) continue;
    pool.skills.set(skill.name, skill);
    taken.push(skill);
  }
  return taken;
}

/** At most one skill that plainly means the step: the one with the best λ·score − (1−λ)·(likeness to those chosen before). */
function takeFoundSkills(pool: Pool, atomic: readonly SkillCandidate[], goal: string): Skill[] {
  const { limits } = pool.candidates;
  const words = wordsOfNeed(goal);
  let best: Skill | undefined;
  let most = Number.NEGATIVE_INFINITY;
  for (const { skill, score } of atomic) {
    if (skillFit(skill, words) < PROVISION.fit) continue;
    if (!pool.skills.has(skill.name) && pool.skills.size >= limits.atomic) continue;
    const nearest = Math.max(
      0,
      ...[...pool.skills.values()].filter((other) => other !== skill).map((other) => likeness(skill, other)),
    );
    const value = limits.mmrLambda * score - (1 - limits.mmrLambda) * nearest;
    if (value > most) {
      most = value;
      best = skill;
    }
  }
  if (best === undefined) return [];
  pool.skills.set(best.name, best);
  return [best];
}

/** Two skills are alike as far as they use the same tools. */
function likeness(a: Skill, b: Skill): number {
  const left = new Set(a.contract.requires.map((need) => need.tool));
  const right = new Set(b.contract.requires.map((need) => need.tool));
  const common = [...left].filter((key) => right.has(key)).length;
  const all = left.size + right.size - common;
  return all === 0 ? 0 : common / all;
}

/** Tools a skill uses, in the order of its steps; of a group of alternatives the first that is offered, optional ones not. */
function toolsOf(skill: Skill, candidates: ViewCandidates): ToolKey[] {
  const needed = new Map(skill.contract.requires.map((need) => [need.tool, need]));
  const order = [...new Set([...skill.steps.flatMap((step) => step.tools as readonly string[]), ...needed.keys()])];
  const served = new Set<string>();
  const keys: ToolKey[] = [];
  for (const key of order) {
    const need = needed.get(key);
    if (need?.optional === true || (need?.anyGroup !== undefined && served.has(need.anyGroup))) continue;
    if (!isOffered(candidates, key)) continue;
    if (need?.anyGroup !== undefined) served.add(need.anyGroup);
    keys.push(key as ToolKey);
  }
  return keys;
}

function isOffered(candidates: ViewCandidates, key: string): boolean {
  return candidates.lookup === undefined || candidates.lookup.tool(key) !== undefined;
}

/** Up to `most`, down to a share of the best one's score. */
function takeFoundTools(
  pool: Pool,
  from: { readonly found: readonly ToolCandidate[]; readonly most: number; readonly n: number },
  into: Set<ToolKey>,
): void {
  const { limits } = pool.candidates;
  const top = from.found[0]?.score ?? 0;
  for (const { tool, score, reason } of from.found) {
    if (into.size >= from.most || score < top * PROVISION.toolCutOff) break;
    const isKnown = pool.choices.has(tool.key);
    if (!isKnown && pool.searched >= limits.tools) break;
    if (!choose(pool, tool.key, reason, score, from.n)) continue;
    if (!isKnown) pool.searched++;
    into.add(tool.key);
  }
}

/** False for a tool that is not offered. The first reason stays. */
function choose(pool: Pool, tool: ToolKey, reason: string, score: number, step: number): boolean {
  if (!isOffered(pool.candidates, tool)) return false;
  if (!pool.choices.has(tool)) pool.choices.set(tool, { tool, reason, score, step });
  return true;
}

/** Dependency closure: a required reference that neither the task nor a tool of the plan yields brings its likeliest supplier. */
function closeStep(pool: Pool, step: PlanStep, n: number): PlanStep {
  const tools: string[] = [];
  for (const key of step.tools) {
    for (const supplier of suppliersOf(pool, key as ToolKey, n)) if (!tools.includes(supplier)) tools.push(supplier);
    if (!tools.includes(key)) tools.push(key);
  }
  return { ...step, tools };
}

function suppliersOf(pool: Pool, key: ToolKey, n: number): ToolKey[] {
  const brought: ToolKey[] = [];
  for (const { tool, supplies, to } of waysTo(pool, key, new Set(pool.choices.keys()), []) ?? []) {
    choose(pool, tool, `supplies ${supplies} for ${to}`, (pool.choices.get(key)?.score ?? 0) / 2, n);
    brought.push(tool);
  }
  return brought;
}

/** A tool that is called first, for what. */
interface Way {
  readonly tool: ToolKey;
  readonly supplies: string;
  readonly to: ToolKey;
}

/**
 * What must be called first for a tool's open references, in order of use; undefined where there is no way: a supplier that itself
 * cannot be called helps nobody. Two levels: an order is found by its customer, a customer by what the task says.
 */
function waysTo(pool: Pool, key: ToolKey, have: ReadonlySet<ToolKey>, path: readonly ToolKey[]): Way[] | undefined {
  const { lookup } = pool.candidates;
  const tool = lookup?.tool(key);
  if (lookup === undefined || tool === undefined) return [];
  const open = openReferences(tool, pool.spoken);
  const suppliers = open.length === 0 ? [] : lookup.suppliers(key, (param) => !open.includes(param));
  const ways: Way[] = [];
  for (const param of open) {
    // What waits for this tool's answer cannot supply it.
    const able = suppliers
      .filter((one) => one.supplies === param && one.tool !== key && !path.includes(one.tool))
      .map((one) => one.tool);
    const now = new Set([...have, ...ways.map((way) => way.tool)]);
    if (able.some((one) => now.has(one))) continue;
    const best = path.length === PROVISION.supplierLevels ? undefined : soonest(pool, able, now, [...path, key]);
    if (best !== undefined) ways.push(...best.before, { tool: best.tool, supplies: param, to: key });
    // Of the tool itself as much is supplied as can be; a supplier that cannot be called is none.
    else if (path.length > 0) return undefined;
  }
  return ways;
}

/** The supplier that can be called the soonest; of equals the likeliest, which comes first. */
function soonest(
  pool: Pool,
  able: readonly ToolKey[],
  have: ReadonlySet<ToolKey>,
  path: readonly ToolKey[],
): { tool: ToolKey; before: Way[] } | undefined {
  let best: { tool: ToolKey; before: Way[]; cost: number } | undefined;
  for (const key of able) {
    const tool = pool.candidates.lookup?.tool(key);
    const before = tool === undefined ? undefined : waysTo(pool, key, have, path);
    if (tool === undefined || before === undefined) continue;
    const cost = unsaid(tool, pool.spoken) + before.length;
    if (best === undefined || cost < best.cost) best = { tool: key, before, cost };
  }
  return best;
}

/** First the last tool of every step (what the step is for), then the others in order of use. */
function inOrderOfNeed(pool: Pool, steps: readonly PlanStep[]): ToolChoice[] {
  const order = new Set<string>();
  for (const step of steps) {
    const last = step.tools.at(-1);
    if (last !== undefined) order.add(last);
  }
  for (const step of steps) for (const key of step.tools) order.add(key);
  return [...order].flatMap((key) => pool.choices.get(key as ToolKey) ?? []);
}

function notesOn(pool: Pool): SkillName[] {
  const notes = [...pool.choices.keys()].flatMap((key) => pool.candidates.lookup?.notesOn(key) ?? []);
  return [...new Set(notes.map((skill) => skill.name))];
}

/** Candidates that were not decided on, each with why: what a view must name as left out. */
export function notChosen(candidates: ViewCandidates, decisions: ViewDecisions): ViewRecord["found"]["leftOut"] {
  const skills = new Set<string>([
    ...decisions.skills,
    ...(decisions.plan?.from ?? []),
    ...(decisions.plan?.steps.flatMap((step) => step.skills) ?? []),
  ]);
  const tools = new Set<string>([
    ...decisions.tools.map((choice) => choice.tool),
    ...(decisions.plan?.steps.flatMap((step) => step.tools) ?? []),
  ]);
  const isStart = candidates.request.kind === "start";
  const left = new Map<string, ViewRecord["found"]["leftOut"][number]>();
  const leave = (kind: "skill" | "tool", id: string, why: string): void => {
    if (!(kind === "skill" ? skills : tools).has(id) && !left.has(`${kind} ${id}`)) left.set(`${kind} ${id}`, { kind, id, why });
  };
  for (const { skill } of candidates.planning)
    leave("skill", skill.name, isStart ? "fits the task less than the plan" : "fits the need less");
  for (const { skill } of candidates.atomic)
    leave("skill", skill.name, isStart ? "no step of the plan needs it" : "fits the need less");
  for (const { tool } of candidates.tools)
    leave("tool", tool.key, isStart ? "no step of the plan needs it" : "fits the need less");
  return [...left.values()];
}
