/**
 * A model's answer for a skill, made an edit or refused.
 *
 * Owns: applying exact replacements, the contract that follows from them, every check that an edit must pass before it is proposed.
 * Speaks: an answer and its case in; a ProposedEdit, or a sentence why there is none.
 * Never: takes a file from a model ([L14]: it gives fields, files are rendered and read back); touches front matter, other sections
 *        than steps, inputs and mentions of a replaced tool, or names a tool that the case does not offer.
 */
import { sha256 } from "../catalog/canonical.js";
import { cleanText } from "../catalog/clean.js";
import { SCAN_RULES } from "../catalog/scan.js";
import { splitToolKey, type ToolKey } from "../model/ids.js";
import type { ProposedEdit } from "../model/maintenance.js";
import { LLM_LIMITS } from "../model/endpoint-limits.js";
import type { MaintenanceInput } from "../model/ports.js";
import type { Contract, Requirement, Skill } from "../model/skill.js";
import { gateEdit } from "../maintain/gate.js";
import { requiredOf } from "../maintain/fields.js";
import { mapsSafely } from "../maintain/mapping.js";
import { CONTRACT_PATH, writeContract } from "../skills/contract.js";
import { mentionedSkills, mentionedTools, withoutFences } from "../skills/mentions.js";
import { parseStepCall, type StepCall } from "../skills/step-call.js";
import { parseSkill, SKILL_PATH } from "../skills/text.js";
import { splitFile } from "../skills/fences.js";
import { whyUnread } from "../skills/unread.js";
import type { EditAnswer, EditCase } from "./prompt-edit.js";

export type EditOutcome =
  { readonly kind: "edit"; readonly edit: ProposedEdit } | { readonly kind: "refused"; readonly why: string };

/** Thrown and caught in this file only: the answer is no edit. */
class NoEdit extends Error {}

export interface EditContext {
  readonly input: MaintenanceInput;
  /** Policy allows to apply an edit that was checked wholly. */
  readonly applyChecked: boolean;
  /** For the report: which model. */
  readonly model: string;
}

export function editFrom(answer: EditAnswer, one: EditCase, context: EditContext): EditOutcome {
  try {
    return { kind: "edit", edit: answer.verdict === "modify" ? modify(answer, one, context) : look(answer, one, context) };
  } catch (error) {
    if (error instanceof NoEdit) return { kind: "refused", why: error.message };
    throw error;
  }
}

/** `keep` and `skip` write nothing. They are shown to people, and never remembered as a reason not to look again. */
function look(answer: EditAnswer, one: EditCase, context: EditContext): ProposedEdit {
  const { skill, standing } = one.due;
  const kind = answer.verdict === "keep" ? "keep" : "skip";
  return {
    kind,
    skill: skill.name,
    cause: kind === "keep" ? "looked at: right as it stands" : "looked at: no small edit mends it",
    signature: sha256(`${skill.name}\n${kind} ${skill.digest}`),
    by: "llm",
    certain: kind === "keep" && standing.standing === "active",
    evidence: cited(answer, one, context),
  };
}

function modify(answer: EditAnswer, one: EditCase, context: EditContext): ProposedEdit {
  const { skill } = one.due;
  const evidence = cited(answer, one, context);
  if (one.moved.size === 0) throw new NoEdit("nothing it needs has moved");
  if (evidence.length === 1) throw new NoEdit("it cites no evidence");
  if (answer.steps.length + answer.requires.length === 0) throw new NoEdit("it changes nothing");
  if (answer.steps.length > LLM_LIMITS.replacements) throw new NoEdit("it replaces more than a small edit does");
  const replaced = replacedTools(answer, one);
  checkEffects(replaced, one, context.input);
  const files = rewrite(skill, answer, replaced, context.input);
  const { skill: written, problems } = parseSkill({ folder: skill.name, files }, skill.provenance);
  if (written === undefined) throw new NoEdit(whyUnread(problems));
  if (written.digest === skill.digest) throw new NoEdit("it changes nothing");
  const edit: ProposedEdit = {
    kind: "modify",
    skill: skill.name,
    files,
    contract: written.contract,
    cause: causeOf(replaced),
    signature: sha256(`${skill.name}\n${written.digest}`),
    by: "llm",
    certain: context.applyChecked && isCheckedWholly(written, replaced, one, context.input),
    evidence,
  };
  checkByGate(edit, one, context.input);
  return edit;
}

/** The sentences of the evidence it cites that there is, and which model said so, last. */
function cited(answer: EditAnswer, one: EditCase, context: EditContext): string[] {
  const sentences = [...new Set(answer.evidence)].flatMap((id) => one.evidence.get(id.trim()) ?? []);
  const why = cleanText(answer.why).text.replace(/\s+/g, " ").trim();
  const isSaid = why !== "" && !SCAN_RULES.some((rule) => rule.pattern.test(why));
  return [...sentences, `model ${context.model}${isSaid ? `: ${[...why].slice(0, LLM_LIMITS.shownChars).join("")}` : ""}`];
}

type Replaced = ReadonlyMap<
  ToolKey,
  { readonly to: ToolKey; readonly params: readonly string[]; readonly reads: readonly string[] }
>;

/** Requirements that change, each once, each to a tool its case offers. */
function replacedTools(answer: EditAnswer, one: EditCase): Replaced {
  const replaced = new Map<ToolKey, { to: ToolKey; params: readonly string[]; reads: readonly string[] }>();
  for (const change of answer.requires) {
    const from = change.instead_of as ToolKey;
    const offered = one.mayUse.get(from);
    if (offered === undefined) throw new NoEdit(`the skill does not require ${quoted(from)}`);
    if (!one.moved.has(from)) throw new NoEdit(`${from} is as it was verified`);
    if (!offered.has(change.tool as ToolKey)) throw new NoEdit(`${quoted(change.tool)} is not offered in place of ${from}`);
    if (replaced.has(from)) throw new NoEdit(`${from} is replaced twice`);
    replaced.set(from, { to: change.tool as ToolKey, params: change.params, reads: change.reads });
  }
  return replaced;
}

/** Names out of an answer are quoted short: they may be anything. */
const quoted = (name: string): string => JSON.stringify(cleanText(name).text.slice(0, 80));

/** No edit makes a step do more than the tool it was written for: reading does not become writing, nor writing destroying. */
function checkEffects(replaced: Replaced, one: EditCase, input: MaintenanceInput): void {
  for (const [from, { to }] of replaced) {
    const before = one.due.verified.get(from)?.annotations;
    const after = input.tools.get(to)?.annotations;
    if (before === undefined || after === undefined) continue;
    if ((before.readOnly && !after.readOnly) || (!before.destructive && after.destructive)) {
      throw new NoEdit(`${to} does more than ${from} did`);
    }
  }
}

function rewrite(skill: Skill, answer: EditAnswer, replaced: Replaced, input: MaintenanceInput): Record<string, string> {
  const split = splitFile(skill.files[SKILL_PATH] ?? "");
  if ("refused" in split) throw new NoEdit(split.refused.text);
  const lines = split.body.split("\n");
  const places = stepLines(lines, skill);
  for (const change of answer.steps) {
    const at = places.get(change.step);
    if (at === undefined) throw new NoEdit(`there is no step ${change.step} on a line of its own`);
    lines[at] = replaceOnce(lines[at] ?? "", change.find, change.put, change.step);
  }
  const stepAt = new Set(places.values());
  for (const [step, at] of places) checkStep(lines[at] ?? "", step, skill, replaced);
  const moved = lines.map((line, at) => (stepAt.has(at) ? line : withNewNames(line, replaced, input)));
  const calls = [...places.values()].flatMap((at) => parseStepCall(textOfItem(moved[at] ?? "")) ?? []);
  const body = withInputs(moved, skill, calls).join("\n");
  const text = `---\n${split.head}\n---\n${body}`;
  return {
    ...skill.files,
    [SKILL_PATH]: `${split.bom ? "\uFEFF" : ""}${split.lineEnd === "\n" ? text : text.replace(/\n/g, split.lineEnd)}`,
    [CONTRACT_PATH]: writeContract(contractOf(skill.contract, replaced, calls, input)),
  };
}

const ITEM = /^( {0,3}\d{1,4}[.)] +)(.*)$/;

function textOfItem(line: string): string {
  return ITEM.exec(line)?.[2]?.trim() ?? "";
}

/** Step → its line, for steps that stand on one line. */
function stepLines(lines: readonly string[], skill: Skill): Map<number, number> {
  const places = new Map<number, number>();
  const plain = withoutFences(lines.join("\n"));
  let from = 0;
  for (const step of skill.steps) {
    const at = plain.findIndex((line, n) => n >= from && ITEM.test(line) && textOfItem(line) === step.text);
    if (at < 0) continue;
    places.set(step.n, at);
    from = at + 1;
  }
  return places;
}

function replaceOnce(line: string, find: string, put: string, step: number): string {
  const head = ITEM.exec(line)?.[1] ?? "";
  const text = line.slice(head.length);
  if (find === "" || text.split(find).length !== 2)
    throw new NoEdit(`what is to be replaced does not stand exactly once in step ${step}`);
  if (put.length > LLM_LIMITS.replacementChars || find.length > LLM_LIMITS.replacementChars) {
    throw new NoEdit(`the replacement in step ${step} is too long`);
  }
  if (/[\n\r<>]/.test(put) || cleanText(put).removed > 0)
    throw new NoEdit(`the replacement in step ${step} has characters no step has`);
  const at = text.indexOf(find);
  const next = text.slice(0, at) + put + text.slice(at + find.length);
  const speaks = SCAN_RULES.some((rule) => rule.pattern.test(next) && !rule.pattern.test(text));
  if (speaks || addresses(next).some((address) => !text.includes(address)))
    throw new NoEdit(`step ${step} would say more than what to call`);
  return head + next;
}

function addresses(text: string): string[] {
  return text.match(/\b[a-z][a-z0-9+.-]*:\/\/\S+|\]\([^)]*\)|\bwww\.\S+/gi) ?? [];
}

/** A step calls what it called or what takes over from that, names the skills it named, and says its arguments in the form that can be checked. */
function checkStep(line: string, step: number, skill: Skill, replaced: Replaced): void {
  const text = textOfItem(line);
  const before = skill.steps[step - 1]?.text ?? "";
  if (text === before) return;
  const called = mentionedTools(before);
  const may = new Set(called.map((tool) => replaced.get(tool)?.to ?? tool));
  for (const tool of mentionedTools(text))
    if (!may.has(tool)) throw new NoEdit(`step ${step} would call ${quoted(tool)}, which is not its tool`);
  const known = new Set<string>(mentionedSkills(before, skill.contract.uses));
  for (const name of mentionedSkills(text, skill.contract.uses)) {
    if (!known.has(name)) throw new NoEdit(`step ${step} would name the skill ${quoted(name)}, which it did not before`);
  }
  if (called.length > 0 && parseStepCall(text) === undefined)
    throw new NoEdit(`step ${step} does not say its call in the form asked for`);
}

/** A replaced tool is named by its new name in the rest of the body as well. */
function withNewNames(line: string, replaced: Replaced, input: MaintenanceInput): string {
  return line.replace(/`([^`\n]+)`/g, (whole, span: string) => {
    for (const [from, { to }] of replaced) {
      if (from === to) continue;
      if (span === from) return `\`${to}\``;
      if (span === splitToolKey(from).name) return `\`${input.tools.get(to)?.name ?? span}\``;
    }
    return whole;
  });
}

/** Values the steps now take from the request stand under `## Inputs`, where there is such a list; those they no longer take do not. */
function withInputs(lines: readonly string[], skill: Skill, calls: readonly StepCall[]): string[] {
  const heading = lines.findIndex((line) => /^## Inputs\s*$/.test(line));
  if (heading < 0) return [...lines];
  let end = heading + 1;
  while (/^- /.test(lines[end] ?? "")) end += 1;
  const before = requested(skill.steps.flatMap((step) => parseStepCall(step.text) ?? []));
  const after = requested(calls);
  const nameOf = (line: string): string => /^- ([^:]+):/.exec(line)?.[1]?.trim() ?? "";
  const kept = lines.slice(heading + 1, end).filter((line) => !before.has(nameOf(line)) || after.has(nameOf(line)));
  const listed = new Set(kept.map(nameOf));
  const fresh = [...after].filter((name) => !before.has(name) && !listed.has(name)).map((name) => `- ${name}: from the request`);
  return [...lines.slice(0, heading + 1), ...kept, ...fresh, ...lines.slice(end)];
}

function requested(calls: readonly StepCall[]): Set<string> {
  return new Set(
    calls.flatMap((call) =>
      call.arguments.flatMap(({ name, source }) => (source.kind === "request" ? [source.field ?? name] : [])),
    ),
  );
}

/** The parameters a step sets are read from the step; the model's own list counts where no step calls the tool. */
function contractOf(contract: Contract, replaced: Replaced, calls: readonly StepCall[], input: MaintenanceInput): Contract {
  const requires = contract.requires.map((need): Requirement => {
    const change = replaced.get(need.tool as ToolKey);
    const tool = change === undefined ? undefined : input.tools.get(change.to);
    if (change === undefined || tool === undefined) return need;
    const set = calls.filter((call) => call.tool === change.to).flatMap((call) => call.arguments.map(({ name }) => name));
    return {
      ...need,
      tool: change.to,
      contractDigest: tool.digests.contract,
      params: [...new Set(set.length > 0 ? set : change.params)],
      reads: [...new Set(change.reads)],
    };
  });
  const keys = requires.map((need) => need.tool);
  if (new Set(keys).size < keys.length) throw new NoEdit("two requirements would become one tool: that is for a person to write");
  return { ...contract, requires };
}

/** The very gate the edit meets later, held against what is known here. What it refuses is not proposed. */
function checkByGate(edit: ProposedEdit, one: EditCase, input: MaintenanceInput): void {
  const findings = gateEdit(edit, {
    tools: input.tools,
    skills: input.skills,
    held: new Set(),
    pinned: new Set(one.due.pinned ? [one.due.skill.name] : []),
    provenance: (name) => (name === one.due.skill.name ? one.due.skill.provenance : undefined),
    rejected: input.rejected,
    recorded: (digest) => input.proofs.find((proof) => proof.digest === digest)?.evidence,
    departed: input.departed,
    links: input.links,
  });
  const [first] = findings;
  if (first !== undefined) throw new NoEdit(first);
}

/**
 * Nothing about it is the model's word alone: lineage or the tool itself says what takes over, every step is a call whose arguments the
 * new schema names and closes, all required ones are set, and what is read is declared.
 */
function isCheckedWholly(written: Skill, replaced: Replaced, one: EditCase, input: MaintenanceInput): boolean {
  const changed = written.steps.filter((step, n) => step.text !== one.due.skill.steps[n]?.text);
  if (changed.some((step) => parseStepCall(step.text) === undefined)) return false;
  for (const [from, { to, reads }] of replaced) {
    const tool = input.tools.get(to);
    const verified = one.due.verified.get(from);
    if (tool === undefined || verified === undefined) return false;
    const link = input.links.find(
      (one) => one.from === from && one.to.length === 1 && one.to[0] === to && one.rejected === undefined,
    );
    const isCertain = from === to || link?.confirmed !== undefined || link?.level === "certain";
    const isClosed = tool.inputSchema["additionalProperties"] === false;
    const isDeclared = reads.length === 0 || tool.outputSchema !== undefined;
    const mapping = { params: link?.params ?? {}, fixedArguments: link?.fixedArguments ?? {} };
    const need = written.contract.requires.find((requirement) => requirement.tool === to);
    const isSet = requiredOf(tool.inputSchema).every((name) => need?.params.includes(name) === true);
    if (!isCertain || !isClosed || !isDeclared || !isSet) return false;
    if (from !== to && !mapsSafely(one.due.skill, verified, tool, mapping)) return false;
  }
  return replaced.size > 0;
}

function causeOf(replaced: Replaced): string {
  const parts = [...replaced].map(([from, { to }]) =>
    from === to ? `${from} takes other arguments` : `${from} left; ${to} in its place`,
  );
  return parts.length === 0 ? "its steps follow what moved" : parts.join("; ");
}
