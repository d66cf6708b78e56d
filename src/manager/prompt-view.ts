/**
 * What a model is asked for a view, and the form of its answer.
 *
 * Owns: one question per kind of request: for `start` the plan with its skills and tools, else the choice among candidates.
 * Speaks: a pool in; our sentences, rows of data and a zod shape out.
 * Never: sets whole definitions before the model: it chooses by signature, the view's reader calls.
 */
import { z } from "zod";
import type { JsonValue } from "../model/json.js";
import { LLM_LIMITS } from "../model/endpoint-limits.js";
import { PROVISION } from "../model/policy.js";
import type { Skill } from "../model/skill.js";
import { offeredToolsOf, type ViewPool } from "./llm-pool.js";
import { effectOf, shown, shownTool, type DataBlock, type PromptParts } from "./prompt.js";

const names = z.array(z.string()).default([]);

export const startShape = z.object({
  /** Planning skills the plan was made from. */
  from: names,
  steps: z.array(z.object({ goal: z.string(), skills: names, tools: names })),
});
export type StartAnswer = z.infer<typeof startShape>;

export const retrieveShape = z.object({ tools: z.array(z.string()) });
export type RetrieveAnswer = z.infer<typeof retrieveShape>;

export const exploreShape = z.object({ skills: names, tools: z.array(z.string()) });
export type ExploreAnswer = z.infer<typeof exploreShape>;

export function startPrompt(pool: ViewPool, secrets: readonly string[]): PromptParts {
  const { limits } = pool;
  return {
    task: [
      "Make a plan for the task in the data: the fewest steps that do all of it, in the order in which they can be done.",
      "Where planning skills fit, adapt or merge them and name them in `from`; take out what the task does not ask for, add what it lacks.",
      "Give each step a goal of one short sentence in the task's own terms, the skills that do it, and the tools it needs beyond those that",
      "its skills bring. Check each tool: its required parameters must be known from the task or from an earlier step.",
      `At most ${PROVISION.steps} steps, ${limits.atomic} skills in all, ${limits.toolsPerStep} tools a step. Fewer is better: what is not needed costs the agent attention.`,
    ],
    blocks: [needBlock(pool, secrets), planningBlock(pool, secrets), skillBlock(pool, secrets), toolBlock(pool, secrets)],
  };
}

export function retrievePrompt(pool: ViewPool, secrets: readonly string[]): PromptParts {
  return {
    task: [
      "Choose the tools that serve the need in the data, the best first, and leave out those that do not serve it.",
      "Check each tool's parameters against what the need says. An empty list is a right answer where none serves it.",
    ],
    blocks: [needBlock(pool, secrets), toolBlock(pool, secrets)],
  };
}

export function explorePrompt(pool: ViewPool, secrets: readonly string[]): PromptParts {
  return {
    task: [
      "Choose what this collection of skills and tools can do for the need in the data, the best first in each list.",
      "Leave out what has nothing to do with it. An empty list is a right answer.",
    ],
    blocks: [needBlock(pool, secrets), planningBlock(pool, secrets), skillBlock(pool, secrets), toolBlock(pool, secrets)],
  };
}

function needBlock(pool: ViewPool, secrets: readonly string[]): DataBlock {
  const { request } = pool;
  const hints = (request.hints ?? []).map((hint) => shown(hint, secrets));
  const need = { [request.kind === "start" ? "task" : "need"]: shown(request.text, secrets, LLM_LIMITS.taskChars) };
  return { title: "What is asked", rows: [{ ...need, ...(hints.length === 0 ? {} : { hints }) }] };
}

function planningBlock(pool: ViewPool, secrets: readonly string[]): DataBlock {
  const rows = [...pool.planning.values()].map(({ skill }) => ({
    plan: skill.name,
    says: shown(skill.description, secrets),
    steps: stepsOf(skill, secrets),
  }));
  return { title: "Planning skills", rows };
}

function stepsOf(skill: Skill, secrets: readonly string[]): JsonValue {
  return skill.steps.map((step) => ({
    goal: shown(step.goal, secrets, PROVISION.goalChars),
    ...(step.skills.length === 0 ? {} : { skills: [...step.skills] }),
    ...(step.tools.length === 0 ? {} : { tools: [...step.tools] }),
  }));
}

function skillBlock(pool: ViewPool, secrets: readonly string[]): DataBlock {
  const rows = [...pool.skills.values()].map(({ skill }) => ({
    skill: skill.name,
    says: shown(skill.description, secrets),
    tools: offeredToolsOf(skill, pool),
  }));
  return { title: "Skills", rows };
}

function toolBlock(pool: ViewPool, secrets: readonly string[]): DataBlock {
  const rows = [...pool.tools.values()].map(({ tool }) => {
    const needs = (pool.suppliers.get(tool.key) ?? []).map((supply) => `${supply.param} from ${supply.tool}`);
    return {
      tool: tool.key,
      signature: shownTool(tool, secrets),
      effect: effectOf(tool),
      ...(needs.length === 0 ? {} : { "first needs": needs }),
    };
  });
  return { title: "Tools", rows };
}
