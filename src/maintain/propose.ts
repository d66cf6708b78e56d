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
import type { Skill } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import { rewriteTool } from "../skills/rewrite.js";
import { parseSkill } from "../skills/text.js";
import { extractSkills } from "./extract/extract.js";
import { withArguments } from "./arguments.js";
import { shorterWays } from "./shorter.js";
import { mapsSafely, movedParameters, newRequired } from "./mapping.js";
import { retold, toolSkills } from "./tool-skills.js";

/** All edits for what is due, in the order of skill names. Skills that need none or can have none are not named. */
export function proposeByRules(input: MaintenanceInput): ProposedEdit[] {
  const edits: ProposedEdit[] = [];
  for (const due of input.due) {
    const edit = isEditable(due, input) ? mend(due, input) : undefined;
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

function isEditable(due: DueSkill, input: MaintenanceInput): boolean {
  if (due.skill.tier === "planning" && input.planning === "frozen") return false;
  return !due.pinned && due.skill.provenance !== "human" && due.skill.provenance !== "import";
}

interface Mending {
  skill: Skill;
  certain: boolean;
  readonly causes: string[];
  readonly evidence: string[];
}

/** One edit that mends everything the skill rests for, or nothing: half a mended skill would rest all the same. */
function mend(due: DueSkill, input: MaintenanceInput): ProposedEdit | undefined {
  const mending: Mending = { skill: due.skill, certain: true, causes: [], evidence: [] };
  for (const need of due.skill.contract.requires) {
    const key = need.tool as ToolKey;
    const present = input.tools.get(key);
    const verified = due.verified.get(key);
    if (present === undefined) {
      if (!rebind(mending, key, verified, input)) return undefined;
    } else if (verified !== undefined && verified.digests.contract !== present.digests.contract) {
      if (!followContract(mending, verified, present)) return undefined;
    }
  }
  return mending.causes.length === 0 ? keep(due, input) : modify(due, mending);
}

/** The tool left: its successors stand in for it, where lineage names them and the arguments map. */
function rebind(mending: Mending, from: ToolKey, verified: Tool | undefined, input: MaintenanceInput): boolean {
  const next = takeover(input, from, input.links);
  if (next === undefined) return false;
  const to = next.to.map((key) => input.tools.get(key)).filter((tool) => tool !== undefined);
  const [single] = to;
  const added = to.length === 1 && single !== undefined ? newRequired(mending.skill, from, single, next) : [];
  const filled = added.length === 0 ? mending.skill : withArguments(mending.skill, from, added);
  if (filled === undefined) return false;
  const result = rewriteTool(filled, { from, to, params: next.params, fixedArguments: next.fixedArguments });
  if (result.kind === "refused") return false;
  const maps =
    to.length !== 1 || single === undefined || verified === undefined || mapsSafely(mending.skill, verified, single, next);
  if (next.level !== "certain" || added.length > 0 || !maps) mending.certain = false;
  mending.causes.push(`T3: ${from} left; ${to.map((tool) => tool.key).join(" and ")} (${next.kind}, ${next.level})`);
  for (const link of next.links)
    mending.evidence.push(`lineage ${link.id} at catalog version ${link.atVersion}: ${link.evidence.join("; ")}`);
  if (added.length > 0) mending.evidence.push(`new required: ${added.join(", ")} — taken from the request; a person should look`);
  const isFixed = Object.keys(next.fixedArguments).length > 0;
  const files = single === undefined || to.length !== 1 ? result.files : retold(mending.skill, result.files, single, isFixed);
  return replaceWith(mending, files);
}

/** The tool is there and takes other arguments: renamed and newly required parameters can be followed, for a person to look at. */
function followContract(mending: Mending, verified: Tool, present: Tool): boolean {
  const moved = movedParameters(mending.skill, verified, present);
  if (moved === undefined) return false;
  if (moved.renamed.size === 0 && moved.added.length === 0) return true;
  const filled = moved.added.length === 0 ? mending.skill : withArguments(mending.skill, present.key, moved.added);
  if (filled === undefined) return false;
  const result = rewriteTool(filled, {
    from: present.key,
    to: [present],
    params: Object.fromEntries(moved.renamed),
    fixedArguments: {},
  });
  if (result.kind === "refused") return false;
  mending.certain = false;
  for (const [old, name] of moved.renamed) mending.causes.push(`I8: ${present.key} calls ${old} now ${name}`);
  for (const name of moved.added) mending.causes.push(`I1: ${present.key} now requires ${name}`);
  mending.evidence.push(`contract ${verified.digests.contract.slice(0, 12)} → ${present.digests.contract.slice(0, 12)}`);
  return replaceWith(mending, result.files);
}

function replaceWith(mending: Mending, files: Readonly<Record<string, string>>): boolean {
  const { skill } = parseSkill({ folder: mending.skill.name, files }, mending.skill.provenance);
  if (skill === undefined) return false;
  mending.skill = skill;
  return true;
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
