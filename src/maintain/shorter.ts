/**
 * Shorter ways: a tool that came and does in one call what steps in a row of a skill did.
 *
 * Owns: by which signs that is taken to be so. It must take exactly what those steps took from outside, give every field that anybody
 *       took of them and all that the last of them gives, and do no more to the world than the last of them.
 * Speaks: MaintenanceInput in; proposals out, for a person to look at: signatures alike do not make two tools do the same.
 * Never: looks beyond one upstream, or at tools that an atomic skill calls already: all against all does not scale.
 */
import { sha256 } from "../catalog/canonical.js";
import { isJsonObject } from "../model/json.js";
import { splitToolKey } from "../model/ids.js";
import type { ProposedEdit } from "../model/maintenance.js";
import type { MaintenanceInput } from "../model/ports.js";
import type { Skill } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import { joinSteps, type Join } from "../skills/join-steps.js";
import { parseStepCall, type StepArgument, type StepCall } from "../skills/step-call.js";
import { parseSkill } from "../skills/text.js";
import { propertiesOf, requiredOf } from "./fields.js";
import { typesOf } from "./mapping.js";
import { isHonest } from "./say.js";

/** `before`: edits of the same run; a skill that one of them changes is looked at in the next. */
export function shorterWays(input: MaintenanceInput, before: readonly ProposedEdit[]): ProposedEdit[] {
  const free = freeTools(input);
  if (free.size === 0) return [];
  const changed = new Set(before.flatMap((edit) => (edit.kind === "keep" ? [] : [edit.skill])));
  const edits: ProposedEdit[] = [];
  for (const skill of input.skills.values()) {
    const isOurs = skill.provenance !== "human" && skill.provenance !== "import" && input.pinned?.has(skill.name) !== true;
    if (skill.tier !== "atomic" || !isOurs || changed.has(skill.name)) continue;
    const edit = shorten(skill, input, free);
    if (edit !== undefined && !input.rejected.has(edit.signature)) edits.push(edit);
  }
  return edits;
}

/** Tools with outputs that no atomic skill calls, by upstream. */
function freeTools(input: MaintenanceInput): Map<string, Tool[]> {
  const called = new Set<string>();
  for (const skill of input.skills.values())
    if (skill.tier === "atomic") for (const need of skill.contract.requires) called.add(need.tool);
  const free = new Map<string, Tool[]>();
  for (const tool of input.tools.values()) {
    if (called.has(tool.key) || outputsOf(tool).length === 0 || !isHonest(tool)) continue;
    free.set(tool.label, [...(free.get(tool.label) ?? []), tool]);
  }
  return free;
}

/** The longest run of steps that one tool stands for; of equals the first, then the first tool by key. */
function shorten(skill: Skill, input: MaintenanceInput, free: ReadonlyMap<string, readonly Tool[]>): ProposedEdit | undefined {
  const calls = skill.steps.map((step) => parseStepCall(step.text));
  for (let length = calls.length; length >= 2; length -= 1) {
    for (let first = 0; first + length <= calls.length; first += 1) {
      const run = runOf(calls, first, first + length - 1, input);
      if (run === undefined) continue;
      const tools = [...(free.get(splitToolKey(run.end.key).label) ?? [])].sort((a, b) => (a.key < b.key ? -1 : 1));
      for (const tool of tools) {
        const edit = doesAll(tool, run) ? proposal(skill, run, tool) : undefined;
        if (edit !== undefined) return edit;
      }
    }
  }
  return undefined;
}

interface StepRun extends Pick<Join, "first" | "last" | "reads"> {
  /** Tool of the last step. */
  readonly end: Tool;
  /** What the steps take from outside: parameter → how, and the types it may have. */
  readonly takes: ReadonlyMap<string, { readonly argument: StepArgument; readonly types: readonly string[] }>;
}

/** Undefined where a step is no call, a tool is gone, a step before the last writes, or one name is two things. */
function runOf(
  calls: readonly (StepCall | undefined)[],
  first: number,
  last: number,
  input: MaintenanceInput,
): StepRun | undefined {
  const takes = new Map<string, { argument: StepArgument; types: readonly string[] }>();
  let end: Tool | undefined;
  for (let n = first; n <= last; n += 1) {
    const call = calls[n];
    const tool = call === undefined ? undefined : input.tools.get(call.tool);
    if (call === undefined || tool === undefined || (n < last && !tool.annotations.readOnly)) return undefined;
    end = tool;
    for (const argument of call.arguments) {
      const { source } = argument;
      if (source.kind === "step" && source.step > first) continue;
      const types = typesOf(propertiesOf(tool.inputSchema)[argument.name]);
      const known = takes.get(argument.name);
      if (known !== undefined && JSON.stringify(known.argument) !== JSON.stringify(argument)) return undefined;
      takes.set(argument.name, { argument, types });
    }
  }
  return end === undefined ? undefined : { first, last, end, takes, reads: readsAfter(calls, first, last) };
}

/** Fields of the run's steps that later steps take. */
function readsAfter(calls: readonly (StepCall | undefined)[], first: number, last: number): string[] {
  const fields = calls
    .slice(last + 1)
    .flatMap((call) =>
      (call?.arguments ?? []).flatMap(({ name, source }) =>
        source.kind === "step" && source.step > first && source.step <= last + 1 ? [source.field ?? name] : [],
      ),
    );
  return [...new Set(fields)];
}

function doesAll(tool: Tool, run: StepRun): boolean {
  const properties = propertiesOf(tool.inputSchema);
  const outputs = new Set(outputsOf(tool));
  const { end } = run;
  const given = outputsOf(end);
  if (given.length === 0 || [...given, ...run.reads.map(rootOf)].some((field) => !outputs.has(field))) return false;
  if (tool.annotations.readOnly !== end.annotations.readOnly) return false;
  if (tool.annotations.destructive && !end.annotations.destructive) return false;
  if (requiredOf(tool.inputSchema).some((name) => run.takes.get(name)?.argument.optional !== false)) return false;
  return [...run.takes].every(([name, { types }]) => properties[name] !== undefined && fits(types, typesOf(properties[name])));
}

function fits(given: readonly string[], taken: readonly string[]): boolean {
  return given.length === 0 || taken.length === 0 || given.every((type) => taken.includes(type));
}

const rootOf = (field: string): string => /^[^.[]*/.exec(field)?.[0] ?? field;

function outputsOf(tool: Tool): string[] {
  return isJsonObject(tool.outputSchema) ? Object.keys(propertiesOf(tool.outputSchema)) : [];
}

function proposal(skill: Skill, run: StepRun, tool: Tool): ProposedEdit | undefined {
  const files = joinSteps(skill, { ...run, tool, arguments: [...run.takes.values()].map(({ argument }) => argument) });
  const written = files === undefined ? undefined : parseSkill({ folder: skill.name, files }, skill.provenance).skill;
  if (files === undefined || written === undefined) return undefined;
  const [from, to] = [run.first + 1, run.last + 1];
  return {
    kind: "modify",
    skill: skill.name,
    files,
    contract: written.contract,
    cause: `S1: ${tool.key} does in one call what steps ${from} to ${to} do`,
    signature: sha256(`${skill.name}\n${written.digest}`),
    by: "rules",
    certain: false,
    evidence: [
      `takes what those steps took from outside: ${[...run.takes.keys()].join(", ")}`,
      `gives every field of ${run.end.key}${run.reads.length > 0 ? ` and what later steps take: ${run.reads.join(", ")}` : ""}`,
      "by signature alone: a person should look whether it does the same",
    ],
  };
}
