/**
 * A model's answer for a view, held against what it could choose from.
 *
 * Owns: dropping and counting what is no candidate, the limits, what a goal may say.
 * Speaks: answers and pools in, decisions out.
 * Never: takes a name, a reason or a score from the model: names are the pool's, reasons and scores retrieval's and the rules'.
 */
import { SCAN_RULES } from "../catalog/scan.js";
import { cleanText } from "../catalog/clean.js";
import { splitToolKey, type SkillName, type ToolKey } from "../model/ids.js";
import { PROVISION } from "../model/policy.js";
import type { PlanStep, ToolChoice, ViewDecisions } from "../model/view.js";
import { shortGoal } from "../provision/plan.js";
import { firstSentence } from "../provision/signature.js";
import { closeSteps } from "./llm-close.js";
import { corpusOf, offeredToolsOf, type ViewPool } from "./llm-pool.js";
import type { ExploreAnswer, RetrieveAnswer, StartAnswer } from "./prompt-view.js";

export interface Decided {
  /** Undefined where nothing of the answer was left. */
  readonly decisions: ViewDecisions | undefined;
  readonly dropped: number;
}

/** Choice among what the rules would have shown: their reasons and scores, the model's order and omissions. */
export function decideRetrieve(answer: RetrieveAnswer, byRules: ViewDecisions): Decided {
  const picked = pick(answer.tools, new Map(byRules.tools.map((choice) => [choice.tool, choice])));
  if (picked.chosen.length === 0 && picked.dropped > 0) return { decisions: undefined, dropped: picked.dropped };
  return { decisions: { by: "llm", skills: [], tools: picked.chosen }, dropped: picked.dropped };
}

export function decideExplore(answer: ExploreAnswer, byRules: ViewDecisions): Decided {
  const tools = pick(answer.tools, new Map(byRules.tools.map((choice) => [choice.tool, choice])));
  const skills = pick(answer.skills, new Map(byRules.skills.map((name) => [name, name])));
  const dropped = tools.dropped + skills.dropped;
  if (tools.chosen.length + skills.chosen.length === 0 && dropped > 0) return { decisions: undefined, dropped };
  return { decisions: { by: "llm", skills: skills.chosen, tools: tools.chosen }, dropped };
}

/** What of the asked is among the candidates, each once, in the order asked; the rest counted. */
function pick<Item>(asked: readonly string[], candidates: ReadonlyMap<string, Item>): { chosen: Item[]; dropped: number } {
  const chosen = new Map<string, Item>();
  let dropped = 0;
  for (const name of asked) {
    const item = candidates.get(name);
    if (item === undefined) dropped += 1;
    else chosen.set(name, item);
  }
  return { chosen: [...chosen.values()], dropped };
}

interface Plan {
  readonly pool: ViewPool;
  readonly corpus: string;
  readonly choices: Map<ToolKey, ToolChoice>;
  readonly skills: Set<SkillName>;
  /** Tools the model chose by itself, beyond those of skills. */
  readonly own: Set<ToolKey>;
  dropped: number;
}

/**
 * The plan as answered, less what is no candidate or over a limit; then what its tools cannot do without, as the rules would have it.
 * Nothing is decided where no step names anything: the rules know better than an empty plan.
 */
export function decideStart(answer: StartAnswer, pool: ViewPool): Decided {
  const plan: Plan = { pool, corpus: corpusOf(pool), choices: new Map(), skills: new Set(), own: new Set(), dropped: 0 };
  const named = pick(answer.from, pool.planning);
  const from = named.chosen.slice(0, PROVISION.mergedPlans).map(({ skill }) => skill.name);
  plan.dropped += named.dropped + named.chosen.length - from.length;
  const steps: PlanStep[] = [];
  for (const step of answer.steps) {
    const taken = steps.length < PROVISION.steps ? takeStep(plan, step, steps.length + 1) : undefined;
    if (taken === undefined) plan.dropped += 1;
    else steps.push(taken);
  }
  if (plan.choices.size + plan.skills.size === 0) return { decisions: undefined, dropped: plan.dropped };
  const closed = closeSteps(steps, pool, plan.choices);
  const notes = [...plan.choices.keys()].flatMap((key) => pool.notes.get(key) ?? []);
  const decisions: ViewDecisions = {
    by: "llm",
    plan: { source: from.length === 0 ? "derived" : from.length === 1 ? "skill" : "merged", from, steps: closed },
    skills: [...new Set([...from, ...plan.skills, ...notes])],
    tools: inOrderOfNeed(closed, plan.choices),
  };
  return { decisions, dropped: plan.dropped };
}

function takeStep(plan: Plan, step: StartAnswer["steps"][number], n: number): PlanStep | undefined {
  const skills: SkillName[] = [];
  for (const name of new Set(step.skills)) {
    const candidate = plan.pool.skills.get(name);
    const fits = candidate !== undefined && (plan.skills.has(candidate.skill.name) || plan.skills.size < plan.pool.limits.atomic);
    if (!fits) {
      plan.dropped += 1;
      continue;
    }
    plan.skills.add(candidate.skill.name);
    skills.push(candidate.skill.name);
  }
  const tools = new Set<ToolKey>();
  for (const name of skills) {
    const skill = plan.pool.skills.get(name)?.skill;
    for (const key of skill === undefined ? [] : offeredToolsOf(skill, plan.pool)) {
      tools.add(key);
      if (!plan.choices.has(key)) plan.choices.set(key, { tool: key, reason: `named by ${name}, step ${n}`, score: 1, step: n });
    }
  }
  takeTools(plan, step.tools, n, tools);
  const goal = goalOf(plan, step.goal, skills, [...tools]);
  return goal === undefined ? undefined : { goal, skills, tools: [...tools] };
}

function takeTools(plan: Plan, asked: readonly string[], n: number, into: Set<ToolKey>): void {
  const { limits } = plan.pool;
  let own = 0;
  for (const name of new Set(asked)) {
    if (into.has(name as ToolKey)) continue;
    const choice = choiceOf(plan.pool, name, n);
    const isNew = choice !== undefined && !plan.own.has(choice.tool as ToolKey);
    if (choice === undefined || own >= limits.toolsPerStep || (isNew && plan.own.size >= limits.tools)) {
      plan.dropped += 1;
      continue;
    }
    const key = choice.tool as ToolKey;
    own += 1;
    plan.own.add(key);
    into.add(key);
    if (!plan.choices.has(key)) plan.choices.set(key, choice);
  }
}

/** A tool that was found, that supplies one, or that a skill of the pool names; undefined for any other. */
function choiceOf(pool: ViewPool, name: string, step: number): ToolChoice | undefined {
  const found = pool.tools.get(name);
  if (found !== undefined) return { tool: found.tool.key, reason: found.reason, score: found.score, step };
  const tool = pool.known.get(name)?.key;
  if (tool === undefined) return undefined;
  for (const [to, supplies] of pool.suppliers) {
    const supply = supplies.find((one) => one.tool === tool);
    if (supply !== undefined)
      return { tool, reason: `supplies ${supply.param} for ${to}`, score: (pool.tools.get(to)?.score ?? 0) / 2, step };
  }
  const by = [...pool.skills.values()].find(({ skill }) => offeredToolsOf(skill, pool).includes(tool));
  return by === undefined ? undefined : { tool, reason: `named by ${by.skill.name}`, score: by.score, step };
}

/** Findings of the scan that no sentence of a plan has a reason to contain. */
const ORDERS = SCAN_RULES.filter(
  (rule) => rule.severity === "hold" || rule.code === "call-first" || rule.code === "speaks-to-model",
);

/**
 * A goal in the model's words, as long as it names nothing that is not ours and gives no orders; otherwise in the words of the skill or
 * tool that does the step. Undefined where neither says anything.
 */
function goalOf(plan: Plan, said: string, skills: readonly SkillName[], tools: readonly ToolKey[]): string | undefined {
  const goal = shortGoal(cleanText(said).text);
  if (goal !== "" && isOwn(goal, plan.corpus)) return goal;
  plan.dropped += 1;
  const skill = skills.map((name) => plan.pool.skills.get(name)?.skill.description).find((text) => text !== undefined);
  const tool = tools.at(-1);
  const own =
    skill !== undefined ? firstSentence(skill) : tool === undefined ? "" : splitToolKey(tool).name.replace(/[_-]+/g, " ");
  return own === "" ? undefined : shortGoal(own);
}

/** Names of tools, paths and addresses in a goal must stand in the task, in a skill, or among the candidates' names. */
function isOwn(goal: string, corpus: string): boolean {
  if (ORDERS.some((rule) => rule.pattern.test(goal))) return false;
  const names = goal.match(/[\p{L}\p{N}][\p{L}\p{N}.:-]*[/_][\p{L}\p{N}_./:?=&%#-]+|\b\w+\(/gu) ?? [];
  return names.every((name) => corpus.includes(name.toLowerCase().replace(/[.,:(]+$/, "")));
}

/** First the last tool of every step (what the step is for), then the others in order of use: as a view gives way to its budget. */
function inOrderOfNeed(steps: readonly PlanStep[], choices: ReadonlyMap<ToolKey, ToolChoice>): ToolChoice[] {
  const order = new Set<string>();
  for (const step of steps) {
    const last = step.tools.at(-1);
    if (last !== undefined) order.add(last);
  }
  for (const step of steps) for (const key of step.tools) order.add(key);
  return [...order].flatMap((key) => choices.get(key as ToolKey) ?? []);
}
