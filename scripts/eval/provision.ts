/**
 * `npm run eval -- provision`: which tools the first view of a task shows, against the tools its gold actions call.
 *
 * Tasks are cut in two halves by the parity of the first byte of sha256(id). Skills are extracted from one half's gold actions and
 * asked for on the other, then the other way round; every task is asked once. P, R and F1 per task, then their mean; an empty answer
 * has P = 0; tasks without gold actions are left out.
 */
import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { toTool } from "../../src/catalog/intake.js";
import { buildGraph, type DependencyGraph } from "../../src/graph/graph.js";
import { closure, skillsNaming } from "../../src/graph/reach.js";
import type { SkillName, ToolKey, UpstreamLabel } from "../../src/model/ids.js";
import type { SkillCandidate, ToolCandidate, ViewCandidates } from "../../src/model/ports.js";
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import type { Skill, Tier } from "../../src/model/skill.js";
import type { ListedTool, Tool } from "../../src/model/tool.js";
import type { View } from "../../src/model/view.js";
import { assembleView } from "../../src/provision/assemble.js";
import { decideByRules, notChosen } from "../../src/provision/choose.js";
import { VIEW_FORM } from "../../src/provision/material.js";
import { buildSkillIndex, searchSkills, type SkillIndex } from "../../src/retrieve/skills.js";
import { buildToolIndex, searchTools, type ToolIndex } from "../../src/retrieve/tools.js";
import { extractSkills, type SolvedTask } from "./extract.js";
import { mean } from "./figures.js";
import { readJson, readRows } from "./data.js";

const DOMAINS = ["airline", "retail", "telecom"];

interface TaskRow {
  readonly id: string;
  readonly domain: string;
  readonly instruction: string;
  readonly gold_actions: readonly { readonly name: string }[];
}

/** A catalog and a library with what a view is made from. */
export interface Bench {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly skills: ReadonlyMap<string, Skill>;
  readonly toolIndex: ToolIndex;
  readonly skillIndex: SkillIndex;
  readonly graph: DependencyGraph;
}

export function benchOf(tools: readonly Tool[], skills: readonly Skill[]): Bench {
  return {
    tools: new Map(tools.map((tool) => [tool.key, tool])),
    skills: new Map(skills.map((skill) => [skill.name, skill])),
    toolIndex: buildToolIndex(tools),
    skillIndex: buildSkillIndex(skills),
    graph: buildGraph({ skills, tools, links: [] }),
  };
}

/** The first view of a task, as the daemon makes it with the rules manager. */
export function firstView(bench: Bench, text: string): View {
  const { policy, request } = { policy: DEFAULT_POLICY, request: { kind: "start" as const, text } };
  const skillsFor = (need: string, tier: Tier, limit: number): SkillCandidate[] =>
    searchSkills(bench.skillIndex, need, { tier, limit, lambda: policy.mmrLambda }).hits.map(({ skill, score }) => ({
      skill,
      score,
    }));
  const toolsFor = (need: string, limit: number): ToolCandidate[] =>
    searchTools(bench.toolIndex, need, { limit }).hits.flatMap(({ key, score, reason }) => {
      const tool = bench.tools.get(key);
      return tool === undefined ? [] : [{ tool, score, reason }];
    });
  const candidates: ViewCandidates = {
    request,
    planning: skillsFor(text, "planning", policy.planningSkills),
    atomic: skillsFor(text, "atomic", 24),
    tools: toolsFor(text, 16),
    forStep: (goal) => ({ atomic: skillsFor(goal, "atomic", 6), tools: toolsFor(goal, 6) }),
    limits: {
      planning: policy.planningSkills,
      atomic: policy.atomicSkillsPerView,
      toolsPerStep: policy.toolsPerStep,
      tools: policy.exploreTools,
      mmrLambda: policy.mmrLambda,
    },
    lookup: {
      skill: (name) => bench.skills.get(name),
      tool: (key) => bench.tools.get(key),
      suppliers: (key, given) => closure(bench.graph, key, given),
      notesOn: (key) => skillsNaming(bench.graph, key, "tool").flatMap((name: SkillName) => bench.skills.get(name) ?? []),
    },
  };
  const decisions = decideByRules(candidates);
  return assembleView({
    request,
    decisions,
    basis: {
      catalog: "1:000000000000",
      library: 1,
      evidence: 0,
      presence: "000000000000",
      policy: "000000000000",
      embedder: "none",
    },
    before: { turn: 0, explored: 0, skillChars: 0 },
    skill: (name) => bench.skills.get(name),
    tool: (key) => bench.tools.get(key),
    found: {
      marks: {},
      names: {},
      substitutions: [],
      alternatives: [],
      unmatched: [],
      notices: [],
      leftOut: notChosen(candidates, decisions),
      limits: {
        form: VIEW_FORM,
        tokens: policy.viewTokens,
        tokensMost: policy.viewTokensMax,
        explore: policy.exploreCalls,
        skillChars: policy.exploreSkillChars,
      },
    },
  });
}

interface Figures {
  readonly p: number;
  readonly r: number;
  readonly f1: number;
  readonly tools: number;
  readonly tokens: number;
}

function figuresOf(shown: readonly string[], gold: ReadonlySet<string>, tokens: number): Figures {
  const right = shown.filter((key) => gold.has(key)).length;
  return {
    p: shown.length === 0 ? 0 : right / shown.length,
    r: right / gold.size,
    f1: right === 0 ? 0 : (2 * right) / (shown.length + gold.size),
    tools: shown.length,
    tokens,
  };
}

export async function evalProvision(args: readonly string[]): Promise<void> {
  const at = args.indexOf("--data");
  const data = at >= 0 ? (args[at + 1] ?? "") : resolve(import.meta.dirname, "../../../shared/data");
  const tools: Tool[] = [];
  const tasks: SolvedTask[] = [];
  for (const domain of DOMAINS) {
    const folder = join(data, "stateful", `tau2-${domain}`);
    for (const listed of readJson(join(folder, "tools.json")) as unknown as ListedTool[])
      tools.push(toTool(domain as UpstreamLabel, listed));
    for (const row of readRows<TaskRow>(join(folder, "tasks.jsonl"))) {
      if (row.gold_actions.length === 0) continue;
      tasks.push({
        id: row.id,
        domain,
        text: row.instruction,
        calls: row.gold_actions.map((action) => `${domain}/${action.name}`),
      });
    }
  }
  const byKey = new Map(tools.map((tool) => [tool.key as string, tool]));
  const halves = [0, 1].map((parity) => tasks.filter((task) => halfOf(task.id) === parity));
  const bare = benchOf(tools, []);
  const rows: [string, (task: SolvedTask, bench: Bench) => Figures][] = [
    ...[3, 5, 8].map((k): [string, (task: SolvedTask) => Figures] => [
      `tools only, top ${k}`,
      (task) =>
        figuresOf(
          searchTools(bare.toolIndex, task.text, { limit: k, whole: true }).hits.map((hit) => hit.key),
          goldOf(task),
          0,
        ),
    ]),
    ["tools with closure", (task) => ofView(firstView(bare, task.text), task)],
    ["tools with skills", (task, bench) => ofView(firstView(bench, task.text), task)],
  ];
  const benches = halves.map((_, asked) => benchOf(tools, extractSkills(halves[1 - asked] ?? [], byKey)));
  const lines = [
    `${tasks.length} tasks of ${DOMAINS.join(", ")}; ${tools.length} tools; skills from the other half: ${benches.map((bench) => bench.skills.size).join(" and ")}`,
    "",
  ];
  lines.push(line(["condition", "P", "R", "F1", "tools", "tokens", ...DOMAINS.map((domain) => `F1 ${domain}`)]));
  for (const [name, measure] of rows) {
    const measured = halves.flatMap((half, asked) =>
      half.map((task) => ({ task, figures: measure(task, benches[asked] ?? bare) })),
    );
    const over = (of: (figures: Figures) => number, domain?: string): number =>
      mean(measured.filter(({ task }) => domain === undefined || task.domain === domain).map(({ figures }) => of(figures)));
    const percent = (value: number): string => (value * 100).toFixed(1);
    lines.push(
      line([
        name,
        percent(over((f) => f.p)),
        percent(over((f) => f.r)),
        percent(over((f) => f.f1)),
        over((f) => f.tools).toFixed(1),
        over((f) => f.tokens).toFixed(0),
        ...DOMAINS.map((domain) => percent(over((f) => f.f1, domain))),
      ]),
    );
  }
  process.stdout.write(`${lines.join("\n")}\n`);
}

function ofView(view: View, task: SolvedTask): Figures {
  return figuresOf(
    view.tools.map((tool) => tool.tool),
    goldOf(task),
    view.budgets.tokens.used,
  );
}

function goldOf(task: SolvedTask): ReadonlySet<string> {
  return new Set(task.calls);
}

function halfOf(id: string): number {
  return (createHash("sha256").update(id).digest()[0] ?? 0) % 2;
}

function line(cells: readonly string[]): string {
  return cells.map((cell, n) => (n === 0 ? cell.padEnd(22) : cell.padStart(12))).join("");
}

export type { ToolKey };
