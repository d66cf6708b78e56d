/**
 * The pool of a view: everything a model may choose from, taken out of the candidates in one go.
 *
 * Owns: what is put before the model and what may come along with it (tools of skills, suppliers, notes).
 * Speaks: candidates in; plain maps out, in the order of retrieval.
 * Never: looks anything up after an `await`: indexes move behind their readers. What is not in the pool cannot be chosen.
 */
import { splitToolKey, type SkillName, type ToolKey } from "../model/ids.js";
import { LLM_LIMITS } from "../model/endpoint-limits.js";
import { PROVISION } from "../model/policy.js";
import type { SkillCandidate, ToolCandidate, ViewCandidates } from "../model/ports.js";
import type { Skill } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import { clausesOf, needText, shortGoal } from "../provision/plan.js";
import { openReferences, readSpoken, type Spoken } from "../provision/spoken.js";

export interface ViewPool {
  readonly request: ViewCandidates["request"];
  readonly limits: ViewCandidates["limits"];
  readonly planning: ReadonlyMap<string, SkillCandidate>;
  /** Skills a step may name: found ones, and those that planning skills in the pool name. */
  readonly skills: ReadonlyMap<string, SkillCandidate>;
  /** Tools a step may name. */
  readonly tools: ReadonlyMap<string, ToolCandidate>;
  /** Definitions of everything that may come along: the tools above, tools of skills, suppliers. */
  readonly known: ReadonlyMap<string, Tool>;
  /** Tool → what supplies a required reference that the request does not say, likeliest first. */
  readonly suppliers: ReadonlyMap<string, readonly Supply[]>;
  readonly notes: ReadonlyMap<string, readonly SkillName[]>;
}

export interface Supply {
  readonly param: string;
  readonly tool: ToolKey;
}

/** Suppliers kept per reference: the likeliest, and others that the plan may have anyway. */
const SUPPLIERS_EACH = 4;

export function poolOf(candidates: ViewCandidates): ViewPool {
  const { request, limits, lookup } = candidates;
  const planning = new Map(candidates.planning.map((one) => [one.skill.name as string, one]));
  const skills = new Map<string, SkillCandidate>();
  const tools = new Map<string, ToolCandidate>();
  gatherFound(candidates, skills, tools);
  if (request.kind === "start") gatherNamed(candidates, planning, skills);
  const gathered: Gathered = { known: new Map(), suppliers: new Map(), notes: new Map() };
  const spoken = readSpoken(needText(request));
  for (const { tool } of tools.values()) gatherTool(candidates, tool, spoken, gathered);
  if (request.kind === "start" && lookup !== undefined) {
    for (const { skill } of skills.values()) {
      for (const key of toolsOf(skill)) {
        const tool = lookup.tool(key);
        if (tool !== undefined) gatherTool(candidates, tool, spoken, gathered);
      }
    }
  }
  return { request, limits, planning, skills, tools, ...gathered };
}

/** Is there anything to choose from? */
export function isEmpty(pool: ViewPool): boolean {
  return pool.planning.size + pool.skills.size + pool.tools.size === 0;
}

/** What a search for the whole and for the clauses of a task brought up. */
function gatherFound(candidates: ViewCandidates, skills: Map<string, SkillCandidate>, tools: Map<string, ToolCandidate>): void {
  const { request, limits } = candidates;
  const isStart = request.kind === "start";
  const add = (found: { atomic: readonly SkillCandidate[]; tools: readonly ToolCandidate[] }): void => {
    for (const one of found.atomic) {
      if (skills.size < LLM_LIMITS.shownSkills && !skills.has(one.skill.name)) skills.set(one.skill.name, one);
    }
    for (const one of found.tools) {
      if (tools.size < LLM_LIMITS.shownTools && !tools.has(one.tool.key)) tools.set(one.tool.key, one);
    }
  };
  if (!isStart) {
    add({ atomic: candidates.atomic.slice(0, limits.atomic), tools: candidates.tools.slice(0, limits.tools) });
    return;
  }
  // What single clauses bring up goes first: the search for the whole may have looked past it, and there is room for both.
  const clauses = clausesOf(needText(request));
  if (clauses.length > 1) {
    for (const clause of clauses.slice(0, PROVISION.stepSearches)) {
      const { atomic, tools: found } = candidates.forStep(shortGoal(clause));
      add({ atomic: atomic.slice(0, limits.toolsPerStep), tools: found.slice(0, limits.toolsPerStep) });
    }
  }
  add(candidates);
}

/** Skills that the steps of planning skills name, whether or not a search brought them up. */
function gatherNamed(
  candidates: ViewCandidates,
  planning: ReadonlyMap<string, SkillCandidate>,
  skills: Map<string, SkillCandidate>,
): void {
  for (const { skill, score } of planning.values()) {
    for (const name of new Set([...skill.steps.flatMap((step) => step.skills), ...skill.contract.uses])) {
      const named = candidates.lookup?.skill(name);
      if (named !== undefined && named.tier !== "planning" && !skills.has(name)) skills.set(name, { skill: named, score });
    }
  }
}

interface Gathered {
  readonly known: Map<string, Tool>;
  readonly suppliers: Map<string, readonly Supply[]>;
  readonly notes: Map<string, readonly SkillName[]>;
}

/** A tool with its suppliers and theirs: an order is found by its customer, a customer by what the task says. */
function gatherTool(candidates: ViewCandidates, tool: Tool, spoken: Spoken, into: Gathered, depth = 0): void {
  if (into.suppliers.has(tool.key)) return;
  const { lookup } = candidates;
  into.known.set(tool.key, tool);
  into.notes.set(tool.key, lookup?.notesOn(tool.key).map((skill) => skill.name) ?? []);
  const open = depth > PROVISION.supplierLevels || lookup === undefined ? [] : openReferences(tool, spoken);
  const likely = open.length === 0 ? [] : (lookup?.suppliers(tool.key, (param) => !open.includes(param)) ?? []);
  const supplies: Supply[] = [];
  into.suppliers.set(tool.key, supplies);
  for (const param of open) {
    for (const one of likely.filter((supplier) => supplier.supplies === param).slice(0, SUPPLIERS_EACH)) {
      const supplier = one.tool === tool.key ? undefined : lookup?.tool(one.tool);
      if (supplier === undefined) continue;
      supplies.push({ param, tool: supplier.key });
      gatherTool(candidates, supplier, spoken, into, depth + 1);
    }
  }
}

/** Tools a skill uses, in the order of its steps; of a group of alternatives all, optional ones not. */
export function toolsOf(skill: Skill): ToolKey[] {
  const optional = new Set(skill.contract.requires.filter((need) => need.optional === true).map((need) => need.tool));
  const order = new Set<string>([
    ...skill.steps.flatMap((step) => step.tools as readonly string[]),
    ...skill.contract.requires.map((need) => need.tool),
  ]);
  return [...order].filter((key) => !optional.has(key)) as ToolKey[];
}

/** The tools of a skill that a view shows: of a group of alternatives the first that is offered. */
export function offeredToolsOf(skill: Skill, pool: ViewPool): ToolKey[] {
  const groups = new Map(skill.contract.requires.map((need) => [need.tool, need.anyGroup]));
  const served = new Set<string>();
  return toolsOf(skill).filter((key) => {
    const group = groups.get(key);
    if (!pool.known.has(key) || (group !== undefined && served.has(group))) return false;
    if (group !== undefined) served.add(group);
    return true;
  });
}

/** Words that our own pool uses, for telling a name that is known from one that a hostile text made up. */
export function corpusOf(pool: ViewPool): string {
  const parts: string[] = [needText(pool.request)];
  for (const { skill } of [...pool.planning.values(), ...pool.skills.values()])
    parts.push(skill.name, skill.description, skill.body);
  for (const tool of pool.known.values()) {
    const properties = tool.inputSchema["properties"];
    parts.push(tool.key, splitToolKey(tool.key).name, ...Object.keys(typeof properties === "object" ? (properties ?? {}) : {}));
  }
  return parts.join("\n").toLowerCase();
}
