/**
 * Material: everything a view could show, rendered once, before any budget.
 */
import { cleanText } from "../catalog/clean.js";
import type { SkillName, ToolKey } from "../model/ids.js";
import { PROVISION } from "../model/policy.js";
import type { Skill } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import type { Basis, View, ViewDecisions, ViewRecord, ViewRequest } from "../model/view.js";
import { briefOf } from "../skills/steps.js";
import { shownDefinition } from "./definition.js";
import type { LeftOut } from "./left-out.js";
import { cuts, formerCuts, type Cuts } from "./ends.js";
import { compactSignature } from "./signature.js";
import { viewId } from "./view-id.js";

/** What a view is assembled from: the request, the decisions, and what the world contributes. */
export interface AssembleInput {
  readonly request: ViewRequest;
  readonly decisions: ViewDecisions;
  readonly basis: Basis;
  /** Only where the caller named it: it then shows in the body. */
  readonly episode?: string | undefined;
  /** Number of this turn; shown with the episode. */
  readonly turn?: number | undefined;
  /** Counters of the episode before this view. */
  readonly before: ViewRecord["before"];
  /** By name, of the library revision of the basis; active or not. */
  readonly skill: (name: SkillName) => Skill | undefined;
  /** By key, of the catalog version of the basis. */
  readonly tool: (key: ToolKey) => Tool | undefined;
  readonly found: Pick<
    ViewRecord["found"],
    "marks" | "names" | "substitutions" | "alternatives" | "unmatched" | "notices" | "leftOut" | "limits"
  >;
}

/** Everything that could be shown, rendered, before any budget. */
export interface Material {
  readonly input: AssembleInput;
  readonly id: string;
  readonly limits: Limits;
  /** How texts end in views of its form. */
  readonly cuts: Cuts;
  readonly plan: View["plan"];
  readonly skills: readonly SkillMaterial[];
  readonly tools: readonly ToolMaterial[];
  readonly notices: NonNullable<View["notices"]>;
  /** Left out before any budget. */
  readonly left: readonly LeftOut[];
  /** Set where this explore call is over the limit: nothing is shown. */
  readonly isSpent: boolean;
  /** Token counts of parts, so that none is counted twice. */
  readonly counts: Map<string, number>;
}

interface Limits {
  readonly tokens: number;
  /** The largest budget that can be asked for. */
  readonly tokensMost: number;
  /**
   * How a view is told and cut to its budget, recorded, so that each replays as it was: 1 as before there were forms; 2 grows from the
   * smallest view (squeeze.ts), which has a step; 3 from one without, and ends no text within a word or a character.
   */
  readonly form: number;
  readonly explore: number;
  readonly skillChars: number;
  /** Part of the skill text left that one view may show, 0…1. */
  readonly skillShare: number;
}

export interface SkillMaterial {
  readonly name: string;
  readonly tier: Skill["tier"];
  readonly full: string;
  readonly brief: string;
}

export interface ToolMaterial {
  readonly entry: View["tools"][number];
  /** The full definition, where it was asked for. */
  readonly definition: View["tools"][number]["definition"];
  /** What a step of the plan is for. */
  readonly isAim: boolean;
}

/** The form in which views are cut at present (Limits.form). */
export const VIEW_FORM = 3;

/** Smallest limits that a damaged record could ask for still leave room for an answer. */
const TOKENS_LEAST = 1;

export function gatherMaterial(input: AssembleInput): Material {
  const { request, found, before, decisions } = input;
  const limits: Limits = {
    tokens: Math.max(TOKENS_LEAST, found.limits["tokens"] ?? 0),
    tokensMost: found.limits["tokensMost"] ?? 0,
    form: found.limits["form"] ?? 1,
    explore: found.limits["explore"] ?? 0,
    skillChars: found.limits["skillChars"] ?? 0,
    // Views recorded before there was a share took all that was left.
    skillShare: found.limits["skillShare"] ?? 1,
  };
  const by = limits.form < 3 ? formerCuts : cuts;
  const isSpent = request.kind === "explore" && before.explored >= limits.explore;
  const left: LeftOut[] = [];
  const plan = request.kind === "start" ? planOf(input, by) : undefined;
  const skills = request.kind === "retrieve" ? [] : skillMaterial(input, left);
  const tools = toolMaterial(input, plan, by, left);
  left.push(...found.leftOut);
  const notices = [...found.notices];
  if (isSpent) {
    const text = `explore_capabilities was asked ${before.explored} times in this episode, which is the limit; use retrieve_tools.`;
    notices.push({ code: "explore-limit", text });
  }
  return {
    input,
    id: viewId({ basis: input.basis, request, before, episode: input.episode }),
    limits,
    cuts: by,
    plan,
    skills: isSpent ? [] : skills,
    tools: isSpent ? [] : tools,
    notices: distinct(notices, (notice) => `${notice.code} ${notice.text}`),
    left: isSpent
      ? [...named(skills, tools, "the episode's explore calls are used up"), ...left]
      : distinct(left, (one) => `${one.kind} ${one.id}`),
    isSpent,
    counts: new Map(),
  };
  function named(asSkills: readonly SkillMaterial[], asTools: readonly ToolMaterial[], why: string): LeftOut[] {
    if (decisions.tools.length + decisions.skills.length === 0) return [];
    return [
      ...asSkills.map((skill): LeftOut => ({ kind: "skill", id: skill.name, why })),
      ...asTools.map((tool): LeftOut => ({ kind: "tool", id: tool.entry.tool, why })),
    ];
  }
}

/** The plan as decided; without one, the request itself is the one step. */
function planOf(input: AssembleInput, by: Cuts): NonNullable<View["plan"]> {
  const decided = input.decisions.plan;
  const steps = decided?.steps ?? [];
  const own = {
    goal: by.atWord(input.request.text.replace(/\s+/g, " ").trim(), PROVISION.goalChars),
    skills: [],
    tools: input.decisions.tools.map((choice) => choice.tool),
  };
  return {
    source: decided === undefined || steps.length === 0 ? "derived" : decided.source,
    from: decided?.from ?? [],
    steps: (steps.length === 0 ? [own] : steps).map((step, i) => ({
      n: i + 1,
      goal: cleanText(step.goal).text,
      skills: step.skills.filter((name) => input.skill(name as SkillName) !== undefined),
      tools: step.tools.filter((key) => input.tool(key as ToolKey) !== undefined),
    })),
  };
}

function skillMaterial(input: AssembleInput, left: LeftOut[]): SkillMaterial[] {
  const { decisions } = input;
  const names = new Set([
    ...decisions.skills,
    ...(decisions.plan?.from ?? []),
    ...(decisions.plan?.steps.flatMap((step) => step.skills) ?? []),
  ]);
  const material: SkillMaterial[] = [];
  for (const name of names) {
    const skill = input.skill(name as SkillName);
    if (skill === undefined) {
      left.push({ kind: "skill", id: name, why: "it is not in the library" });
      continue;
    }
    const full = cleanText(skill.body).text.trim();
    const brief = cleanText(briefOf(skill)).text.trim();
    material.push({
      name: skill.name,
      tier: skill.tier,
      full: full === "" ? brief : full,
      brief: brief.length < full.length ? brief : full,
    });
  }
  return material;
}

function toolMaterial(input: AssembleInput, plan: View["plan"], by: Cuts, left: LeftOut[]): ToolMaterial[] {
  const { decisions, request, found } = input;
  const choices = new Map<string, { readonly reason: string; readonly score: number }>();
  for (const choice of decisions.tools) if (!choices.has(choice.tool)) choices.set(choice.tool, choice);
  for (const [n, step] of (decisions.plan?.steps ?? []).entries()) {
    for (const key of step.tools) if (!choices.has(key)) choices.set(key, { reason: `named by step ${n + 1}`, score: 0 });
  }
  const aims = new Set(plan?.steps.map((step) => step.tools.at(-1)));
  const material: ToolMaterial[] = [];
  for (const [key, { reason, score }] of choices) {
    const tool = input.tool(key as ToolKey);
    if (tool === undefined) {
      left.push({ kind: "tool", id: key, why: "it is not in the catalog" });
      continue;
    }
    const marks = [...(found.marks[key] ?? []), ...(tool.annotations.readOnly ? ["read-only"] : [])];
    material.push({
      entry: {
        tool: key,
        name: found.names[key] ?? key,
        signature: compactSignature(tool, by),
        reason: by.atWord(cleanText(reason).text, PROVISION.goalChars),
        score: Math.round(score * 1000) / 1000,
        marks: [...new Set(marks)],
      },
      definition: request.detail === "full" ? shownDefinition(tool) : undefined,
      isAim: aims.has(key),
    });
  }
  return material;
}

function distinct<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  const seen = new Map<string, Item>();
  for (const item of items) if (!seen.has(keyOf(item))) seen.set(keyOf(item), item);
  return [...seen.values()];
}
