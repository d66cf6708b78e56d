/**
 * What rules propose: rebinds through lineage and moved parameters for skills that are due, skills that evidence teaches, tool skills
 * for tools that came, and shorter ways that they open.
 *
 * Owns: which edit would mend a skill, and whether that edit is certain or for a person to look at.
 * Speaks: MaintenanceInput in, ProposedEdit out; every edit carries its evidence.
 * Never: applying anything; rewriting pinned, hand-written or imported skills.
 */
import { sha256 } from "../catalog/canonical.js";
import { takeover } from "../catalog/lineage.js";
import type { SkillName, ToolKey } from "../model/ids.js";
import type { ProposedEdit } from "../model/maintenance.js";
import type { DueSkill, MaintenanceInput } from "../model/ports.js";
import type { Requirement, Skill } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import { rewriteTool } from "../skills/rewrite.js";
import { parseSkill } from "../skills/text.js";
import { extractSkills } from "./extract/extract.js";
import { withArguments } from "./arguments.js";
import { shorterWays } from "./shorter.js";
import { movedParameters, newRequired, unsafeIn } from "./mapping.js";
import { retold, toolSkills } from "./tool-skills.js";

/** All edits for what is due, in the order of skill names. Skills that need none or can have none are not named. */
export function proposeByRules(input: MaintenanceInput): ProposedEdit[] {
  const edits: ProposedEdit[] = [];
  for (const due of input.due) {
    const { edit } = mendByRules(due, input);
    if (edit !== undefined && !input.rejected.has(edit.signature)) edits.push(edit);
  }
  const learnt = extractSkills(input, edits);
  // In a rebuild a skill may be mended and written anew: the evidence has the last word.
  const anew = new Set(learnt.flatMap((edit) => (edit.kind === "modify" ? [edit.skill] : [])));
  const mended = edits.filter((edit) => !anew.has(edit.skill));
  const ofTools = toolSkills(input, mended);
  const written = new Set(ofTools.map((edit) => edit.skill));
  const made = [...mended.filter((edit) => !written.has(edit.skill)), ...learnt, ...ofTools];
  return [...made, ...shorterWays(input, made)];
}

/** The edit that would mend the skill, or in a sentence why rules know none. A skill that stands and needs none has neither. */
export interface Mended {
  readonly edit?: ProposedEdit;
  readonly why?: string;
}

export function mendByRules(due: DueSkill, input: MaintenanceInput): Mended {
  const untouched = untouchedFor(due, input);
  return untouched === undefined ? mend(due, input) : { why: untouched };
}

/** Why maintenance leaves a skill alone, whatever moved. */
function untouchedFor({ skill, pinned }: DueSkill, input: MaintenanceInput): string | undefined {
  if (pinned) return "It is pinned: nothing is edited until it is unpinned.";
  if (skill.provenance === "human" || skill.provenance === "import")
    return `It is ${skill.provenance === "human" ? "written by hand" : "imported"}: its text is never rewritten.`;
  if (skill.tier === "planning" && input.planning === "frozen") return "Plans are frozen by policy.maintainPlanning.";
  return undefined;
}

interface Mending {
  skill: Skill;
  certain: boolean;
  readonly causes: string[];
  readonly evidence: string[];
}

/** Thrown and caught in this file only: rules know no edit, and why. */
class NoEdit extends Error {}

/** One edit that mends everything the skill rests for, or nothing: half a mended skill would rest all the same. */
function mend(due: DueSkill, input: MaintenanceInput): Mended {
  const mending: Mending = { skill: due.skill, certain: true, causes: [], evidence: [] };
  try {
    for (const need of due.skill.contract.requires) {
      if (!mayGoWithout(need, due.skill, input)) mendNeed(mending, need, due, input);
      else attempt(mending, () => mendNeed(mending, need, due, input));
    }
  } catch (error) {
    if (error instanceof NoEdit) return { why: error.message };
    throw error;
  }
  if (mending.causes.length > 0) return { edit: modify(due, mending) };
  const kept = keep(due, input);
  if (kept !== undefined) return { edit: kept };
  return due.standing.standing === "active" ? {} : { why: "None of its own tools moved in a way that an edit would follow." };
}

function mendNeed(mending: Mending, need: Requirement, due: DueSkill, input: MaintenanceInput): void {
  const key = need.tool as ToolKey;
  const present = input.tools.get(key);
  const verified = due.verified.get(key);
  if (present === undefined) rebind(mending, key, verified, input);
  else if (verified !== undefined && verified.digests.contract !== present.digests.contract)
    followContract(mending, verified, present);
}

/** A tool that is optional, or has an alternative that is there, rests nothing: where no edit mends it, the others are mended. */
function mayGoWithout(need: Requirement, skill: Skill, input: MaintenanceInput): boolean {
  if (need.optional === true) return true;
  const group = need.anyGroup;
  return (
    group !== undefined &&
    skill.contract.requires.some((other) => other.anyGroup === group && other !== need && input.tools.has(other.tool as ToolKey))
  );
}

/** Does the work, or leaves everything as it was where rules know no edit. */
function attempt(mending: Mending, work: () => void): void {
  const { skill, certain } = mending;
  try {
    work();
  } catch (error) {
    if (!(error instanceof NoEdit)) throw error;
    Object.assign(mending, { skill, certain });
  }
}

/** The tool left: its successors stand in for it, where lineage names them and the arguments map. */
function rebind(mending: Mending, from: ToolKey, verified: Tool | undefined, input: MaintenanceInput): void {
  // The same tool may be required twice; the first look mended both.
  if (!mending.skill.contract.requires.some((need) => need.tool === from)) return;
  const next = takeover(input, from, input.links);
  if (next === undefined) throw new NoEdit(`Nothing is known to have taken over from ${from}.`);
  const to = next.to.map((key) => input.tools.get(key)).filter((tool) => tool !== undefined);
  const names = to.map((tool) => tool.key).join(" and ");
  const [single] = to.length === 1 ? to : [];
  const added = single === undefined ? [] : newRequired(mending.skill, from, single, next);
  const filled = filledWith(mending.skill, from, added, names);
  const result = rewriteTool(filled, { from, to, params: next.params, fixedArguments: next.fixedArguments });
  if (result.kind === "refused") throw new NoEdit(`No exact edit puts ${names} in place of ${from}: ${result.why}.`);
  const unsafe = single === undefined || verified === undefined ? [] : unsafeIn(mending.skill, verified, single, next);
  const isFixed = Object.keys(next.fixedArguments).length > 0;
  replaceWith(mending, single === undefined ? result.files : retold(mending.skill, result.files, single, isFixed));
  if (next.level !== "certain" || added.length > 0 || unsafe.length > 0) mending.certain = false;
  mending.causes.push(`T3: ${from} left; ${names} (${next.kind}, ${next.level})`);
  for (const link of next.links)
    mending.evidence.push(`lineage ${link.id} at catalog version ${link.atVersion}: ${link.evidence.join("; ")}`);
  for (const text of unsafe) mending.evidence.push(`a person should look, ${from} → ${names}: ${text}`);
  if (added.length > 0) mending.evidence.push(`new required: ${added.join(", ")} — taken from the request; a person should look`);
}

/** The tool is there and takes other arguments: renamed and newly required parameters can be followed, for a person to look at. */
function followContract(mending: Mending, verified: Tool, present: Tool): void {
  const moved = movedParameters(mending.skill, verified, present);
  if (typeof moved === "string") throw new NoEdit(`No exact edit follows what changed in ${present.key}: ${moved}.`);
  if (moved.renamed.size === 0 && moved.added.length === 0) return;
  const filled = filledWith(mending.skill, present.key, moved.added, present.key);
  const result = rewriteTool(filled, {
    from: present.key,
    to: [present],
    params: Object.fromEntries(moved.renamed),
    fixedArguments: {},
  });
  if (result.kind === "refused") throw new NoEdit(`What changed in ${present.key} cannot be written into it: ${result.why}.`);
  replaceWith(mending, result.files);
  mending.certain = false;
  for (const [old, name] of moved.renamed) mending.causes.push(`I8: ${present.key} calls ${old} now ${name}`);
  for (const name of moved.added) mending.causes.push(`I1: ${present.key} now requires ${name}`);
  mending.evidence.push(`contract ${verified.digests.contract.slice(0, 12)} → ${present.digests.contract.slice(0, 12)}`);
}

/** The skill with what `names` newly requires of `tool`'s calls taken from the request. */
function filledWith(skill: Skill, tool: ToolKey, added: readonly string[], names: string): Skill {
  const filled = added.length === 0 ? skill : withArguments(skill, tool, added);
  if (filled === undefined)
    throw new NoEdit(
      `No step says its arguments in the form that can be extended by ${added.join(", ")}, which ${names} requires.`,
    );
  return filled;
}

function replaceWith(mending: Mending, files: Readonly<Record<string, string>>): void {
  const { skill, problems } = parseSkill({ folder: mending.skill.name, files }, mending.skill.provenance);
  if (skill === undefined) throw new NoEdit(`The edited text is no skill: ${problems.at(-1)?.text ?? "it cannot be read"}`);
  mending.skill = skill;
}

function modify(due: DueSkill, mending: Mending): ProposedEdit {
  const { skill } = mending;
  return {
    kind: "modify",
    skill: skill.name,
    files: skill.files,
    contract: skill.contract,
    cause: mending.causes.join("; "),
    signature: signatureOf(due.skill.name, skill.digest),
    by: mending.certain ? "mechanical" : "rules",
    certain: mending.certain,
    evidence: mending.evidence,
  };
}

/** In a rebuild every skill is looked at; those that stand are kept, and said to be. */
function keep(due: DueSkill, input: MaintenanceInput): ProposedEdit | undefined {
  if (input.mode !== "rebuild" || due.standing.standing !== "active") return undefined;
  return {
    kind: "keep",
    skill: due.skill.name,
    cause: "looked at: every tool it needs is as verified",
    signature: signatureOf(due.skill.name, `keep ${due.skill.digest}`),
    by: "rules",
    certain: true,
    evidence: [],
  };
}

function signatureOf(name: SkillName, content: string): string {
  return sha256(`${name}\n${content}`);
}
