/**
 * Tool skills from schemas: for tools that have none, of upstreams whose tools have some; for all of them where there is no skill yet.
 * In a rebuild those written here before are written anew from what their tools say today.
 */
import { sha256 } from "../catalog/canonical.js";
import { isJsonObject } from "../model/json.js";
import type { SkillName, ToolKey, UpstreamLabel } from "../model/ids.js";
import type { ProposedEdit } from "../model/maintenance.js";
import type { MaintenanceInput } from "../model/ports.js";
import { SKILL_LIMITS } from "../model/policy.js";
import type { Skill } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import { renderBody } from "../skills/body.js";
import { asName, draftProblems, parseSkill, renderSkill, SKILL_PATH, TIER_PREFIX, type SkillDraft } from "../skills/text.js";
import { propertiesOf, requiredOf } from "./fields.js";
import { typesOf } from "./mapping.js";
import { isHonest, sentenceAbout } from "./say.js";

/** `mended`: edits of the same run; a tool skill that follows its tool to a new name describes it already. */
export function toolSkills(input: MaintenanceInput, mended: readonly ProposedEdit[]): ProposedEdit[] {
  const described = new Set<string>();
  const labels = new Set<UpstreamLabel>();
  for (const skill of input.skills.values()) {
    if (skill.tier !== "tool") continue;
    const contract = mended.find((edit) => edit.skill === skill.name)?.contract ?? skill.contract;
    for (const need of contract.requires) {
      described.add(need.tool);
      labels.add(need.tool.slice(0, need.tool.indexOf("/")) as UpstreamLabel);
    }
  }
  const edits: ProposedEdit[] = input.mode === "rebuild" ? writtenAnew(input, mended) : [];
  const isColdStart = input.skills.size === 0;
  const taken = new Set<string>(input.skills.keys());
  for (const tool of input.tools.values()) {
    if (described.has(tool.key) || !(isColdStart || labels.has(tool.label))) continue;
    const edit = addSkill(tool, taken);
    if (edit === undefined || input.rejected.has(edit.signature)) continue;
    taken.add(edit.skill);
    edits.push(edit);
  }
  return edits;
}

/** Ours, not pinned, on a tool that is there, and saying something else than its schema does now. */
function writtenAnew(input: MaintenanceInput, mended: readonly ProposedEdit[]): ProposedEdit[] {
  const elsewhere = new Set<string>(mended.flatMap((edit) => (edit.kind === "keep" ? [] : [edit.skill])));
  return input.due.flatMap(({ skill, pinned }) => {
    const [need, ...others] = skill.contract.requires;
    const tool = need === undefined || others.length > 0 ? undefined : input.tools.get(need.tool as ToolKey);
    const isOurs = skill.tier === "tool" && skill.provenance === "rules" && !pinned && !elsewhere.has(skill.name);
    if (tool === undefined || !isOurs) return [];
    const cause = `R2: written anew from the schema of ${tool.key}`;
    const edit = written(tool, skill.name, { kind: "modify", cause });
    const isSame = edit?.files?.["SKILL.md"] === skill.files["SKILL.md"];
    return edit === undefined || isSame || input.rejected.has(edit.signature) ? [] : [edit];
  });
}

function addSkill(tool: Tool, taken: ReadonlySet<string>): ProposedEdit | undefined {
  const cause = `N1: ${tool.key} came and no tool skill describes it`;
  return written(tool, freeName(tool, taken), { kind: "add", cause });
}

function written(tool: Tool, name: string, more: Pick<ProposedEdit, "kind" | "cause">): ProposedEdit | undefined {
  const draft = draftFor(tool, name);
  if (draftProblems(draft).length > 0) return undefined;
  const files = renderSkill(draft);
  const { skill } = parseSkill({ folder: draft.name, files }, "rules");
  if (skill === undefined) return undefined;
  return {
    ...more,
    skill: draft.name as SkillName,
    files,
    contract: skill.contract,
    signature: sha256(`${draft.name}\n${tool.digests.document}`),
    by: "rules",
    certain: true,
    evidence: [
      `schema ${tool.digests.contract.slice(0, 12)}`,
      ...(isHonest(tool) ? [] : ["its texts speak to the model or hide something: the skill says its name and nothing of them"]),
    ],
  };
}

function freeName(tool: Tool, taken: ReadonlySet<string>): string {
  const wanted = asName(`${TIER_PREFIX.tool}${tool.label}-${tool.name}`);
  if (!taken.has(wanted)) return wanted;
  return `${wanted.slice(0, SKILL_LIMITS.nameChars - 9).replace(/-+$/, "")}-${sha256(tool.key).slice(0, 8)}`;
}

const EFFECTS = ["Reads only.", "Changes data and may destroy some.", "Changes data."] as const;

/** What the tool may do, in the words of its skill. */
function effectOf({ annotations }: Tool): string {
  return annotations.readOnly ? EFFECTS[0] : annotations.destructive ? EFFECTS[1] : EFFECTS[2];
}

/**
 * Files of a tool skill that was written here, as they say what its new tool does: the words of the one before would go on promising
 * its effect. `files`: rewritten to the new tool already. With fixed arguments the new tool's words say too much: only the effect moves.
 */
export function retold(skill: Skill, files: Skill["files"], tool: Tool, fixed: boolean): Skill["files"] {
  if (skill.tier !== "tool" || skill.provenance !== "rules") return files;
  const anew = fixed ? undefined : written(tool, skill.name, { kind: "modify", cause: "" })?.files?.[SKILL_PATH];
  if (anew !== undefined) return { ...files, [SKILL_PATH]: anew };
  const text = files[SKILL_PATH] ?? "";
  const said = EFFECTS.find((effect) => text.includes(effect));
  return said === undefined ? files : { ...files, [SKILL_PATH]: text.replaceAll(said, effectOf(tool)) };
}

function draftFor(tool: Tool, name: string): SkillDraft {
  const required = requiredOf(tool.inputSchema);
  const properties = propertiesOf(tool.inputSchema);
  const sentence = sentenceAbout(tool, SKILL_LIMITS.listedDescriptionChars);
  const inputs = required.map((param) => `${param}: ${typesOf(properties[param]).join(" or ") || "any"}, required`);
  const outputs = isJsonObject(tool.outputSchema) ? Object.keys(propertiesOf(tool.outputSchema)) : [];
  const parts = { whenToUse: `\`${tool.key}\`: ${sentence} ${effectOf(tool)}` };
  const fits = (body: string): boolean => body.length <= SKILL_LIMITS.bodyChars.tool;
  const bodies = [renderBody({ ...parts, inputs }), renderBody(parts), `## When to use\n\`${tool.key}\``];
  return {
    name,
    tier: "tool",
    description: sentence,
    body: bodies.find(fits) ?? `\`${tool.key}\``,
    contract: {
      requires: [{ tool: tool.key, contractDigest: tool.digests.contract, params: required, reads: [] }],
      uses: [],
      produces: outputs,
      evidence: [],
    },
  };
}
