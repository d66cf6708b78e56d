/**
 * The temporary plan: steps for one task, from planning skills or from the task's own clauses.
 *
 * Owns: which planning skills a task means, how several become one plan, how a task is cut into clauses, what a plan lacks.
 * Speaks: candidates in, draft steps out; names tools and skills, never fetches them.
 * Never: an empty plan: a task that nothing fits is its own single step.
 */
import { splitToolKey, type SkillName, type ToolKey } from "../model/ids.js";
import type { SkillCandidate, ToolCandidate, ViewCandidates } from "../model/ports.js";
import { PROVISION } from "../model/policy.js";
import type { Skill } from "../model/skill.js";
import type { ViewRequest } from "../model/view.js";
import {
  coverOf,
  meaningOf,
  nameMeaning,
  sharedTerms,
  sharedWeight,
  skillFit,
  toolFit,
  toolMeaning,
  wordsOfNeed,
  type Words,
} from "./meaning.js";
import { tokenise } from "../retrieve/tokens.js";
import { REQUEST_WORDS, STOP_WORDS } from "../retrieve/words.js";
import { cuts } from "./ends.js";
import { firstSentence } from "./signature.js";

export interface DraftStep {
  readonly goal: string;
  /** Skills the plan names for this step. */
  readonly skills: readonly SkillName[];
  /** Tools the plan names for this step. */
  readonly tools: readonly ToolKey[];
  /** Tools that retrieval brought up for it. */
  readonly found: readonly ToolCandidate[];
  /** The planning skill the step comes from; undefined for a step of the task's own. */
  readonly from: SkillName | undefined;
}

export interface DraftPlan {
  readonly source: "skill" | "merged" | "derived";
  readonly from: readonly Skill[];
  readonly steps: readonly DraftStep[];
}

/** Task and hints as one text. */
export function needText(request: ViewRequest): string {
  return [request.text, ...(request.hints ?? [])].join("\n");
}

/** Ends of sentences, lines, list marks, and the words that put one thing after another. */
const CLAUSE_END =
  /(?<=[.!?;])\s+|[。！？；\n]+|,?\s+(?:and then|then|after that|afterwards|and also|and afterwards)\s+|,\s+and\s+/iu;

/** The clauses of a task that say something, in order; thanks and greetings say nothing. */
export function clausesOf(text: string): string[] {
  return text.split(CLAUSE_END).flatMap((part) => {
    const clause = part
      .replace(/^\s*(?:[-*•]|\d+[.)])\s+/, "")
      .replace(/[\s.,;:!]+$/, "")
      .trim();
    const isTelling = tokenise(clause).some((word) => !STOP_WORDS.has(word) && !REQUEST_WORDS.has(word));
    return isTelling ? [clause] : [];
  });
}

export function draftPlan(candidates: ViewCandidates): DraftPlan {
  const text = needText(candidates.request);
  const words = wordsOfNeed(text);
  const chosen = choosePlans(
    candidates.planning.filter(({ skill }) => !isOverreaching(skill, text, candidates)),
    words,
  );
  const steps = distinctSteps(chosen.flatMap((skill) => stepsOf(skill))).slice(0, PROVISION.steps);
  if (steps.length === 0) return { source: "derived", from: [], steps: deriveSteps(candidates, text) };
  const missing = uncovered(candidates, text, steps).slice(0, PROVISION.steps - steps.length);
  return { source: chosen.length > 1 ? "merged" : "skill", from: chosen, steps: [...steps, ...missing] };
}

/**
 * Planning skills the task means. The first is the one search is surest of, where the task has its name, or enough of its gist: people
 * say "send it elsewhere" for what a skill calls "redirect". Others join only where their name is in the task, their gist too, and
 * they say something of it that the plans before them do not.
 */
function choosePlans(planning: readonly SkillCandidate[], words: Words): Skill[] {
  const ranked = planning
    .map(({ skill, score }) => {
      const gist = gistMeaning(skill);
      return { skill, fit: skillFit(skill, words), cover: coverOf(gist, words), shared: sharedTerms(gist, words), score };
    })
    .sort((a, b) => b.score + b.fit * NAME_SHARE - (a.score + a.fit * NAME_SHARE));
  const chosen: Skill[] = [];
  const said = new Set<string>();
  for (const { skill, fit, cover, shared } of ranked) {
    if (chosen.length === PROVISION.mergedPlans) break;
    const isMeant =
      chosen.length === 0 ? fit >= PROVISION.fit || cover >= PROVISION.gist : fit >= PROVISION.fit && cover >= PROVISION.gist;
    const isNew = [...shared].some((term) => !said.has(term));
    if (!isMeant || !isNew) continue;
    chosen.push(skill);
    for (const term of shared) said.add(term);
  }
  return chosen;
}

/**
 * A plan that goes beyond a task which some single skill says plainly. Where the task has not the word that the plan's name begins
 * with, it is about something else if that skill is no part of it, and too much if it also changes what the task does not speak of
 * ("refund one of the payments" is no reason to cancel the order first). Where a clause has that word, it is too much if the clause
 * means a skill outside it ("change the shipping address" is no reason to ship).
 */
function isOverreaching(plan: Skill, text: string, candidates: ViewCandidates): boolean {
  const { lookup } = candidates;
  const [lead] = nameMeaning(plan);
  if (lookup === undefined || lead === undefined) return false;
  const words = wordsOfNeed(text);
  const home = clausesOf(text)
    .map(wordsOfNeed)
    .find((clause) => clause.has(lead[0]));
  const plainly = candidates.atomic.find(({ skill }) => skillFit(skill, home ?? words) >= PROVISION.fit)?.skill.name;
  const parts = plan.steps.flatMap((step) => step.skills);
  if (plainly === undefined) return false;
  const isPart = parts.includes(plainly);
  if (home === undefined && !isPart) return true;
  if (home !== undefined && isPart) return false;
  return parts.some((name) => {
    const skill = lookup.skill(name);
    const writes = skill?.contract.requires.some((need) => lookup.tool(need.tool)?.annotations.readOnly === false) === true;
    return skill !== undefined && writes && skillFit(skill, words) < PROVISION.fit;
  });
}

/** Weight of the name beside the search score when plans are ranked. */
const NAME_SHARE = 0.5;

/** What a plan is about in all: name, description, goals of its steps. */
function gistMeaning(skill: Skill): ReturnType<typeof meaningOf> {
  return meaningOf([skill.name.replace(/^plan-/, ""), skill.description, ...skill.steps.map((step) => step.goal)].join("\n"));
}

function stepsOf(skill: Skill): DraftStep[] {
  if (skill.steps.length > 0) {
    return skill.steps.map((step) => ({
      goal: shortGoal(step.goal),
      skills: step.skills,
      tools: step.tools,
      found: [],
      from: skill.name,
    }));
  }
  // A plan without steps still names what it rests on.
  const tools = skill.contract.requires.filter((need) => need.optional !== true).map((need) => need.tool as ToolKey);
  return [
    {
      goal: shortGoal(skill.description),
      skills: skill.contract.uses as SkillName[],
      tools: [...new Set(tools)],
      found: [],
      from: skill.name,
    },
  ];
}

/** Steps that name the same skills and tools are one step, where they name any. */
function distinctSteps(steps: readonly DraftStep[]): DraftStep[] {
  const seen = new Set<string>();
  return steps.filter((step) => {
    const key = step.skills.length + step.tools.length > 0 ? JSON.stringify([step.skills, step.tools]) : step.goal;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/**
 * What the plan lacks for this task: a tool that is among the best found, that a clause plainly names, and that no step of the plan
 * uses. The clause becomes a step: a plan must not hide what was asked for in so many words.
 */
function uncovered(candidates: ViewCandidates, text: string, planned: readonly DraftStep[]): DraftStep[] {
  const used = usedBy(planned, candidates);
  const said = new Set([...meaningOf([...used, ...planned.flatMap((step) => step.skills)].join("\n")).keys()]);
  const steps: DraftStep[] = [];
  for (const clause of clausesOf(text)) {
    const words = wordsOfNeed(clause);
    const named = candidates.tools.slice(0, candidates.limits.toolsPerStep).find(({ tool }) => {
      if (used.has(tool.key) || toolFit(tool, words) < PROVISION.fit) return false;
      // It must be named by more than what the plan is about anyway ("order").
      return [...sharedTerms(toolMeaning(tool), words)].some((term) => !said.has(term));
    });
    if (named === undefined) continue;
    used.add(named.tool.key);
    steps.push({ goal: shortGoal(clause), skills: [], tools: [], found: [named], from: undefined });
  }
  return steps;
}

/** Tools that steps name, themselves or over their skills. */
function usedBy(steps: readonly DraftStep[], candidates: ViewCandidates): Set<string> {
  const tools = new Set<string>(steps.flatMap((step) => step.tools));
  for (const name of steps.flatMap((step) => step.skills)) {
    const skill = candidates.lookup?.skill(name) ?? candidates.atomic.find((one) => one.skill.name === name)?.skill;
    for (const need of skill?.contract.requires ?? []) tools.add(need.tool);
  }
  return tools;
}

/**
 * Steps of the task's own: each tool that the whole task brought up goes to the clause that says most of what it is, and clauses
 * that brought up nothing are searched for by themselves, as far as searches go. A clause without anything is no step; a task
 * without any is one.
 */
function deriveSteps(candidates: ViewCandidates, text: string): DraftStep[] {
  const clauses = clausesOf(text).map((clause) => ({
    clause,
    words: wordsOfNeed(clause),
    found: [] as ToolCandidate[],
    searched: false,
  }));
  const most = clauses.length === 1 ? PROVISION.onlyStepTools : candidates.limits.toolsPerStep;
  for (const candidate of candidates.tools.slice(0, candidates.limits.tools)) {
    const said = meaningOf(`${splitToolKey(candidate.tool.key).name} ${firstSentence(candidate.tool.description)}`);
    let best = clauses[0];
    let surest = 0;
    for (const one of clauses) {
      const shared = sharedWeight(said, one.words);
      if (shared > surest) [best, surest] = [one, shared];
    }
    if (best !== undefined && best.found.length < most) best.found.push(candidate);
  }
  let searches = 0;
  for (const one of clauses) {
    if (one.found.length > 0 || one.words.size < 2 || clauses.length === 1) continue;
    if (searches === PROVISION.stepSearches) break;
    searches++;
    const { tools, atomic } = candidates.forStep(shortGoal(one.clause));
    one.found.push(...tools.slice(0, 1).filter(({ tool }) => toolFit(tool, one.words) >= PROVISION.fit));
    one.searched = atomic.some(({ skill }) => skillFit(skill, one.words) >= PROVISION.fit);
  }
  const steps = clauses.filter((one) => one.found.length > 0 || one.searched);
  if (steps.length === 0)
    return [{ goal: shortGoal(candidates.request.text), skills: [], tools: [], found: candidates.tools, from: undefined }];
  return steps
    .slice(0, PROVISION.steps)
    .map(({ clause, found }) => ({ goal: shortGoal(clause), skills: [], tools: [], found, from: undefined }));
}

export function shortGoal(text: string): string {
  return cuts.atWord(text.replace(/\s+/g, " ").trim(), PROVISION.goalChars);
}
