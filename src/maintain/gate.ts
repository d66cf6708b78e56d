/**
 * The gate: what every proposed edit must pass before it may become part of the library.
 *
 * Owns: the findings that refuse an edit.
 * Speaks: proposed edits and the present catalog; sentences out.
 * Never: applying, repairing or remembering anything.
 */
import { isJsonObject } from "../model/json.js";
import { validates, withoutRedacted } from "../catalog/usage.js";
import type { DepartedTool } from "../model/catalog.js";
import type { Evidence } from "../model/episode.js";
import type { LineageLink } from "../model/lineage.js";
import type { SkillName, ToolKey } from "../model/ids.js";
import type { ProposedEdit } from "../model/maintenance.js";
import type { Provenance, Requirement, Skill } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import { lintSkill } from "../skills/lint.js";
import { parseSkill } from "../skills/text.js";
import { mayNotExist, requiredOf } from "./fields.js";
import { presentCall } from "./present-call.js";

export interface GateContext {
  readonly tools: ReadonlyMap<ToolKey, Tool>;
  readonly skills: ReadonlyMap<SkillName, Skill>;
  readonly held: ReadonlySet<string>;
  readonly pinned: ReadonlySet<string>;
  readonly provenance: (skill: string) => Provenance | undefined;
  readonly rejected: ReadonlySet<string>;
  /** A trajectory by digest, where it is at hand. */
  readonly recorded: (digest: string) => Evidence | undefined;
  readonly departed: ReadonlyMap<ToolKey, DepartedTool>;
  readonly links: readonly LineageLink[];
}

interface GateRule {
  readonly id: string;
  readonly check: (edit: ProposedEdit, written: Skill, context: GateContext) => readonly string[];
}

/** How the finding ends that a tool waits for a person. */
export const TOOL_HELD = " is held.";

/** How the finding begins that a skill builds on is not there. */
export const USES_MISSING = "It uses";

/** Every rule by itself, so that a test can take one out and see that it was needed. */
export const GATE_RULES: readonly GateRule[] = [
  { id: "lint", check: checkLint },
  {
    id: "tools-exist",
    check: (_edit, written, context) => written.contract.requires.flatMap((need) => missingTool(need, context)),
  },
  {
    id: "params-exist",
    check: (_edit, written, context) => written.contract.requires.flatMap((need) => missingParams(need, context)),
  },
  {
    id: "required-set",
    check: (_edit, written, context) => written.contract.requires.flatMap((need) => unsetRequired(need, context)),
  },
  {
    id: "reads-exist",
    check: (_edit, written, context) => written.contract.requires.flatMap((need) => missingReads(need, context)),
  },
  { id: "recorded-calls", check: checkRecorded },
  { id: "uses-exist", check: checkUses },
  { id: "steps-named", check: checkSteps },
];

/** Sentences that refuse the edit; none = it passes. Edits without bytes (keep, skip) always pass. */
export function gateEdit(edit: ProposedEdit, context: GateContext, rules: readonly GateRule[] = GATE_RULES): string[] {
  if (edit.files === undefined) return [];
  if (context.pinned.has(edit.skill)) return ["The skill is pinned."];
  const provenance = context.provenance(edit.skill);
  if (edit.kind === "modify" && (provenance === "human" || provenance === "import")) {
    return [`The skill is ${provenance === "human" ? "written by hand" : "imported"}; it is never rewritten, only annotated.`];
  }
  if (edit.kind === "add" && context.skills.has(edit.skill)) return ["A skill of that name is in the library already."];
  if (context.rejected.has(edit.signature)) return ["This very edit was refused before."];
  const { skill, problems } = parseSkill({ folder: edit.skill, files: edit.files }, provenance ?? "rules");
  if (skill === undefined) return problems.map((problem) => problem.text);
  return rules.flatMap((rule) => rule.check(edit, skill, context));
}

function checkLint(edit: ProposedEdit, written: Skill, context: GateContext): readonly string[] {
  const before = context.skills.get(edit.skill);
  const known = new Set(before === undefined ? [] : lintSkill(before).map((problem) => `${problem.code} ${problem.text}`));
  return lintSkill(written)
    .filter((problem) => !known.has(`${problem.code} ${problem.text}`))
    .map((problem) => problem.text);
}

function missingTool(need: Requirement, context: GateContext): string[] {
  if (context.held.has(need.tool)) return [`${need.tool}${TOOL_HELD}`];
  return context.tools.has(need.tool as ToolKey) || need.optional === true ? [] : [`${need.tool} is not in the catalog.`];
}

function missingParams(need: Requirement, context: GateContext): string[] {
  const tool = context.tools.get(need.tool as ToolKey);
  if (tool === undefined) return [];
  return need.params
    .filter((param) => mayNotExist(tool.inputSchema, param))
    .map((param) => `${need.tool} has no parameter ${param}.`);
}

function unsetRequired(need: Requirement, context: GateContext): string[] {
  const tool = context.tools.get(need.tool as ToolKey);
  if (tool === undefined) return [];
  const set = new Set(need.params.map((param) => param.split(".")[0]));
  return requiredOf(tool.inputSchema)
    .filter((name) => !set.has(name))
    .map((name) => `${need.tool} requires ${name}, which the skill does not set.`);
}

function missingReads(need: Requirement, context: GateContext): string[] {
  const schema = context.tools.get(need.tool as ToolKey)?.outputSchema;
  if (schema === undefined) return [];
  return need.reads.filter((field) => mayNotExist(schema, field)).map((field) => `${need.tool} does not return ${field}.`);
}

function checkUses(_edit: ProposedEdit, written: Skill, context: GateContext): readonly string[] {
  return written.contract.uses
    .filter((used) => !context.skills.has(used as SkillName))
    .map((used) => `${USES_MISSING} ${used}, which is not in the library.`);
}

function checkSteps(_edit: ProposedEdit, written: Skill): readonly string[] {
  const required = new Set(written.contract.requires.map((need) => need.tool));
  return written.steps.flatMap((step) =>
    step.tools.filter((tool) => !required.has(tool)).map((tool) => `Step ${step.n} names ${tool}, which the contract does not.`),
  );
}

/**
 * The calls a skill was proven by, as they would be made now: mapped through lineage, with what the skill newly sets counted as given.
 * A call that worked under the very contract of today proves nothing against it: some servers take more than they say.
 */
function checkRecorded(_edit: ProposedEdit, written: Skill, context: GateContext): readonly string[] {
  const findings: string[] = [];
  for (const { trajectory, steps } of written.contract.evidence) {
    const evidence = context.recorded(trajectory);
    for (const line of evidence?.calls ?? []) {
      if (!steps.includes(line.seq) || line.isError) continue;
      const { args, redacted } = withoutRedacted(isJsonObject(line.args) ? line.args : {}, line.redacted);
      const mapped = presentCall({ ...line, args }, context, "any");
      const need = mapped === undefined ? undefined : written.contract.requires.find((one) => one.tool === mapped.tool.key);
      if (mapped === undefined || need === undefined || line.contract === mapped.tool.digests.contract) continue;
      if (validates(mapped.tool.inputSchema, mapped.args, [...need.params, ...redacted]) === false)
        findings.push(`The recorded call ${line.seq} of ${evidence?.episode ?? ""} does not fit ${mapped.tool.key}.`);
    }
  }
  return findings;
}
