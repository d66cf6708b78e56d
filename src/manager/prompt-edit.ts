/**
 * What a model is asked for one skill that is due, and the form of its answer.
 *
 * Owns: what of the skill, of what moved and of what could take over is shown; the numbers evidence is cited by.
 * Speaks: one due skill in; our sentences, rows of data and a zod shape out. The same skill on the same ground, the same rows.
 * Never: asks for files: exact replacements in step lines, and the contract as fields.
 */
import { z } from "zod";
import { speakerOf } from "../catalog/lineage/opinion.js";
import type { ToolKey } from "../model/ids.js";
import { isJsonObject, type JsonObject } from "../model/json.js";
import { LLM_LIMITS } from "../model/endpoint-limits.js";
import type { DueSkill, MaintenanceInput } from "../model/ports.js";
import type { StandingReason } from "../model/standing.js";
import type { Skill } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import { sectionText } from "../skills/mentions.js";
import { shown, toolRow, type PromptParts } from "./prompt.js";

const texts = z.array(z.string()).default([]);

export const editShape = z.object({
  verdict: z.enum(["modify", "keep", "skip"]),
  /** Exact replacements in the text of steps. */
  steps: z.array(z.object({ step: z.int(), find: z.string(), put: z.string() })).default([]),
  /** Requirements that change: what the skill needs instead of a tool (the same tool where only its parameters moved). */
  requires: z.array(z.object({ instead_of: z.string(), tool: z.string(), params: texts, reads: texts })).default([]),
  /** Numbers of the evidence it rests on. */
  evidence: texts,
  why: z.string().default(""),
});
export type EditAnswer = z.infer<typeof editShape>;

/** One skill, and what an edit of it may name. */
export interface EditCase {
  readonly due: DueSkill;
  /** Tools that may stand in for each tool the skill requires: itself while it is there, else what could take over. */
  readonly mayUse: ReadonlyMap<ToolKey, ReadonlySet<ToolKey>>;
  /** Tools that are not what the skill was verified against: the only ones whose requirement may change. */
  readonly moved: ReadonlySet<ToolKey>;
  /** Number → sentence. */
  readonly evidence: ReadonlyMap<string, string>;
}

/** `near`: tools like one that left, likeliest first. */
export function editCase(due: DueSkill, input: MaintenanceInput, near: (tool: Tool) => readonly ToolKey[]): EditCase {
  const mayUse = new Map<ToolKey, ReadonlySet<ToolKey>>();
  const moved = new Set<ToolKey>();
  const { reasons } = due.standing;
  const evidence: string[] = reasonRows(reasons);
  for (const need of due.skill.contract.requires) {
    const key = need.tool as ToolKey;
    const present = input.tools.get(key);
    const verified = due.verified.get(key);
    if (present === undefined || verified?.digests.contract !== present.digests.contract) moved.add(key);
    if (present !== undefined) {
      mayUse.set(key, new Set([key]));
      // A reason on the tool says what moved; that something did is worth a row only where none does.
      const isSaid = reasons.some((reason) => reason.on === key);
      if (!isSaid && verified !== undefined && verified.digests.contract !== present.digests.contract) {
        evidence.push(`${key} has another contract than verified: ${short(verified)} became ${short(present)}`);
      }
      continue;
    }
    const links = input.links.filter((link) => link.from === key && link.rejected === undefined);
    const departed = input.departed.get(key);
    if (!reasons.some((reason) => reason.on === key && GONE.has(reason.rule)))
      evidence.push(`${key} left the catalog${departed === undefined ? "" : ` after version ${departed.lastVersion}`}`);
    for (const link of links) {
      // The reason on the tool that left names who took over, where somebody did.
      const isNamed = reasons.some(
        (reason) => reason.on === key && link.to.every((other) => reason.text.split(/[\s;,.]+/).includes(other)),
      );
      const to = isNamed ? "" : ` to ${link.to.join(" and ")}`;
      const how = link.confirmed === undefined ? link.level : `confirmed by a ${speakerOf(link.confirmed)}`;
      evidence.push(`lineage ${link.id} (${link.kind}, ${how})${to}: ${link.evidence.join("; ")}`);
    }
    const successors = links.flatMap((link) => link.to as ToolKey[]);
    // Beside a successor that lineage names only the likeliest others are worth their tokens.
    const like =
      verified === undefined ? [] : near(verified).slice(0, links.length > 0 ? LLM_LIMITS.nearBesideSuccessor : undefined);
    mayUse.set(key, new Set([...successors, ...like].filter((other) => input.tools.has(other))));
  }
  return { due, mayUse, moved, evidence: new Map(evidence.map((text, n) => [`e${n + 1}`, text])) };
}

/** Rules whose reason says that the tool left. */
const GONE: ReadonlySet<string> = new Set(["T1", "T3"]);

/** One row for what a rule found at a level on a tool, as far as a row is shown whole; a text that names the tool stands for itself. */
function reasonRows(reasons: readonly StandingReason[]): string[] {
  const rows: { of: string; text: string }[] = [];
  for (const { rule, level, on, text } of reasons) {
    const of = `${rule} ${level} ${on}`;
    const row = rows.find((one) => one.of === of && one.text.length + text.length + 2 <= LLM_LIMITS.shownChars);
    if (row === undefined) rows.push({ of, text: `${rule} (${level})${text.startsWith(`${on} `) ? "" : ` on ${on}`}: ${text}` });
    else row.text += `; ${text}`;
  }
  return rows.map((row) => row.text);
}

const short = (tool: Tool): string => tool.digests.contract.slice(0, 12);

export function editPrompt(one: EditCase, input: MaintenanceInput, secrets: readonly string[]): PromptParts {
  const { due } = one;
  const { skill } = due;
  const inputs = (sectionText(skill.body, /^inputs\b/i) ?? "").split("\n").filter((line) => line.startsWith("- "));
  const steps = skill.steps.map((step) => ({ step: step.n, text: shown(step.text, secrets, LLM_LIMITS.stepChars) }));
  const requires = skill.contract.requires.map(({ tool, params, reads }) => ({
    requires: tool,
    params: [...params],
    reads: [...reads],
  }));
  return {
    task: [
      "A written procedure (a skill) is due for a look, because tools it calls moved. Decide whether a small exact edit mends it.",
      'Verdict "modify": give replacements in the text of single steps (`find` stands in it exactly once, `put` takes its place), and for',
      "each requirement that changes what is needed instead: tool, parameters the steps set, output fields they read.",
      'Verdict "keep": it is right as it stands. Verdict "skip": no small edit mends it, or you cannot tell.',
      "Name only tools of the data. A step that calls a tool keeps its form: GOAL: `label/tool` with NAME from SOURCE, NAME = VALUE and NAME from",
      "SOURCE. SOURCE is `the request`, `FIELD in the request`, `step N` or `FIELD of step N`, and N is an earlier step. Every required parameter",
      "is set; where nothing says what it should be, the verdict is skip. Cite the numbers of the evidence you rest on.",
    ],
    blocks: [
      // Each row says by its first field what it is; a fence of its own would cost more than that.
      {
        title: "The skill, its steps, its inputs and what it requires",
        rows: [
          { skill: skill.name, tier: skill.tier, says: shown(skill.description, secrets) },
          ...steps,
          ...inputs.map((line) => ({ input: shown(line.slice(2), secrets) })),
          ...requires,
        ],
      },
      { title: "Evidence", rows: [...one.evidence].map(([id, text]) => ({ evidence: id, says: shown(text, secrets) })) },
      {
        title: "The tools as they were used",
        rows: [...due.verified.values()]
          .filter((tool) => isMoved(tool, input))
          .map((tool) => toolRow(asUsed(tool, skill), secrets)),
      },
      { title: "The tools as they are", rows: offered(one, input).map((tool) => toolRow(tool, secrets)) },
    ],
  };
}

/** Tools of the catalog that the edit may name, in the order of the contract. */
function offered(one: EditCase, input: MaintenanceInput): Tool[] {
  const keys = new Set([...one.mayUse.values()].flatMap((set) => [...set]));
  return [...keys].flatMap((key) => input.tools.get(key) ?? []).slice(0, LLM_LIMITS.shownTools);
}

function isMoved(tool: Tool, input: MaintenanceInput): boolean {
  return input.tools.get(tool.key)?.digests.contract !== tool.digests.contract;
}

/** Of a tool as it was only what the skill sets, must set and reads bears on an edit: the rest is gone and was never used. */
function asUsed(tool: Tool, skill: Skill): Tool {
  const needs = skill.contract.requires.filter((need) => need.tool === tool.key);
  const required: unknown = tool.inputSchema["required"];
  const set = new Set([...(Array.isArray(required) ? required : []), ...needs.flatMap((need) => need.params.map(rootOf))]);
  const read = new Set(needs.flatMap((need) => need.reads.map(rootOf)));
  const { outputSchema } = tool;
  return {
    ...tool,
    inputSchema: withProperties(tool.inputSchema, set),
    ...(isJsonObject(outputSchema) ? { outputSchema: withProperties(outputSchema, read) } : {}),
  };
}

/** `address.city` and `lines[].id` stand in `address` and `lines`. */
const rootOf = (field: string): string => /^[^.[]*/.exec(field)?.[0] ?? field;

function withProperties(schema: JsonObject, kept: ReadonlySet<unknown>): JsonObject {
  const properties = schema["properties"];
  if (!isJsonObject(properties)) return schema;
  return { ...schema, properties: Object.fromEntries(Object.entries(properties).filter(([name]) => kept.has(name))) };
}
