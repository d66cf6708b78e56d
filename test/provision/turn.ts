/** One turn on the sample shop, from hand-given candidates: what retrieval would have found. */
import type { SkillName, ToolKey } from "../../src/model/ids.js";
import type { SkillCandidate, ToolCandidate, ViewCandidates } from "../../src/model/ports.js";
import type { Skill } from "../../src/model/skill.js";
import type { Tool } from "../../src/model/tool.js";
import { BUDGET_MOST, type View, type ViewDecisions, type ViewRecord, type ViewRequest } from "../../src/model/view.js";
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import { buildGraph, type DependencyGraph } from "../../src/graph/graph.js";
import { closure, skillsNaming } from "../../src/graph/reach.js";
import { assembleView } from "../../src/provision/assemble.js";
import { VIEW_FORM, type AssembleInput } from "../../src/provision/material.js";
import { decideByRules, notChosen } from "../../src/provision/choose.js";
import { SHOP_SKILLS, SHOP_TOOLS, sampleSkill, sampleTool, type SkillSketch, type ToolSketch } from "./sample.js";

type Found = ViewRecord["found"];
interface Hits {
  readonly atomic?: readonly (readonly [string, number])[];
  readonly tools?: readonly (readonly [string, number, string?])[];
}

export interface TurnSketch extends Hits {
  readonly request: ViewRequest;
  readonly planning?: readonly (readonly [string, number])[];
  /** goal → what a search for it finds */
  readonly forStep?: Readonly<Record<string, Hits>>;
  readonly found?: Partial<Omit<Found, "limits">>;
  readonly limits?: Readonly<Record<string, number>>;
  readonly before?: Partial<ViewRecord["before"]>;
  readonly episode?: string;
  readonly turn?: number;
  /** Beside the sample shop. */
  readonly moreTools?: Readonly<Record<string, ToolSketch>>;
  readonly moreSkills?: Readonly<Record<string, SkillSketch>>;
  /** Names of skills that rest: known and not offered. */
  readonly resting?: readonly string[];
  readonly withoutTools?: readonly string[];
}

export interface Turn {
  readonly candidates: ViewCandidates;
  readonly decisions: ViewDecisions;
  readonly input: AssembleInput;
  readonly view: View;
}

export function turnOf(sketch: TurnSketch): Turn {
  const tools = toolsOf(sketch);
  const skills = skillsOf(sketch);
  const candidates = candidatesOf(sketch, tools, skills);
  const decisions = decideByRules(candidates);
  const { request, found = {} } = sketch;
  const keys = [...decisions.tools.map((choice) => choice.tool), ...(decisions.plan?.steps.flatMap((step) => step.tools) ?? [])];
  const input: AssembleInput = {
    request,
    decisions,
    basis: {
      catalog: "7:0123456789ab",
      library: 3,
      evidence: 12,
      presence: "a1b2c3d4e5f6",
      policy: "0f1e2d3c4b5a",
      embedder: "none",
    },
    episode: sketch.episode,
    turn: sketch.turn,
    before: { turn: 0, explored: 0, skillChars: 0, ...sketch.before },
    skill: (name) => skills.get(name),
    tool: (key) => tools.get(key),
    found: {
      marks: found.marks ?? {},
      names: Object.fromEntries(keys.map((key) => [key, key.replace("/", "__")])),
      substitutions: found.substitutions ?? [],
      alternatives: found.alternatives ?? [],
      unmatched: found.unmatched ?? [],
      notices: found.notices ?? [],
      leftOut: [...(found.leftOut ?? []), ...notChosen(candidates, decisions)],
      limits: {
        form: VIEW_FORM,
        tokensMost: BUDGET_MOST,
        tokens: request.budgetTokens ?? DEFAULT_POLICY.viewTokens,
        explore: DEFAULT_POLICY.exploreCalls,
        skillChars: DEFAULT_POLICY.exploreSkillChars,
        ...sketch.limits,
      },
    },
  };
  return { candidates, decisions, input, view: assembleView(input) };
}

function toolsOf(sketch: TurnSketch): Map<string, Tool> {
  const tools = new Map<string, Tool>(SHOP_TOOLS.map((tool) => [tool.key, tool]));
  for (const [key, more] of Object.entries(sketch.moreTools ?? {})) tools.set(key, sampleTool(key, more));
  for (const key of sketch.withoutTools ?? []) tools.delete(key);
  return tools;
}

function skillsOf(sketch: TurnSketch): Map<string, Skill> {
  const skills = new Map<string, Skill>(SHOP_SKILLS.map((skill) => [skill.name, skill]));
  for (const [name, more] of Object.entries(sketch.moreSkills ?? {})) skills.set(name, sampleSkill(name, more));
  return skills;
}

function candidatesOf(sketch: TurnSketch, tools: ReadonlyMap<string, Tool>, skills: ReadonlyMap<string, Skill>): ViewCandidates {
  const resting = new Set(sketch.resting ?? []);
  const graph = graphOf(tools, skills);
  const active = (name: string): Skill | undefined => (resting.has(name) ? undefined : skills.get(name));
  const asSkills = (hits: readonly (readonly [string, number])[] = []): SkillCandidate[] =>
    hits.flatMap(([name, score]) => {
      const skill = active(name);
      return skill === undefined ? [] : [{ skill, score }];
    });
  const asTools = (hits: readonly (readonly [string, number, string?])[] = []): ToolCandidate[] =>
    hits.flatMap(([key, score, reason]) => {
      const tool = tools.get(key);
      return tool === undefined ? [] : [{ tool, score, reason: reason ?? "matches the request" }];
    });
  return {
    request: sketch.request,
    planning: asSkills(sketch.planning),
    atomic: asSkills(sketch.atomic),
    tools: asTools(sketch.tools),
    forStep: (goal) => ({ atomic: asSkills(sketch.forStep?.[goal]?.atomic), tools: asTools(sketch.forStep?.[goal]?.tools) }),
    limits: {
      planning: DEFAULT_POLICY.planningSkills,
      atomic: DEFAULT_POLICY.atomicSkillsPerView,
      toolsPerStep: DEFAULT_POLICY.toolsPerStep,
      tools: sketch.request.kind === "retrieve" ? DEFAULT_POLICY.retrieveLimit : DEFAULT_POLICY.exploreTools,
      mmrLambda: DEFAULT_POLICY.mmrLambda,
    },
    lookup: {
      skill: active,
      tool: (key) => tools.get(key),
      suppliers: (key, given) => closure(graph, key, given),
      notesOn: (key) => skillsNaming(graph, key as ToolKey, "tool").flatMap((name: SkillName) => active(name) ?? []),
    },
  };
}

const graphs = new Map<string, DependencyGraph>();

/** The same tools and skills have the same graph; laws ask for it hundreds of times. */
function graphOf(tools: ReadonlyMap<string, Tool>, skills: ReadonlyMap<string, Skill>): DependencyGraph {
  const key = JSON.stringify([[...tools.values()].map((tool) => tool.digests.document), [...skills.keys()]]);
  const graph = graphs.get(key) ?? buildGraph({ skills: skills.values(), tools: tools.values(), links: [] });
  graphs.set(key, graph);
  return graph;
}
