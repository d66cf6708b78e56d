/** A skill with further arguments for one tool, taken from the request: an exact edit of its call sentences, inputs and contract. */
import type { ToolKey } from "../model/ids.js";
import type { Skill } from "../model/skill.js";
import { CONTRACT_PATH, writeContract } from "../skills/contract.js";
import { parseStepCall, renderStepCall } from "../skills/step-call.js";
import { parseSkill, SKILL_PATH } from "../skills/text.js";

const NUMBERED = /^(\s{0,3}\d{1,4}[.)]\s+)(.*)$/;

/** Undefined where no step of the skill calls the tool in a sentence that can be extended exactly. */
export function withArguments(skill: Skill, tool: ToolKey, names: readonly string[]): Skill | undefined {
  const source = skill.files[SKILL_PATH] ?? "";
  let extended = 0;
  const lines = source.split("\n").map((line) => {
    const numbered = NUMBERED.exec(line);
    const call = numbered === null ? undefined : parseStepCall(numbered[2] ?? "");
    if (numbered === null || call === undefined || call.tool !== tool) return line;
    extended += 1;
    const added = names
      .filter((name) => !call.arguments.some((argument) => argument.name === name))
      .map((name) => ({ name, source: { kind: "request", field: undefined } as const, optional: false }));
    return `${numbered[1] ?? ""}${renderStepCall({ ...call, arguments: [...call.arguments, ...added] })}`;
  });
  // A tool skill describes its tool without steps: its contract alone is extended.
  if (extended === 0 && skill.tier !== "tool") return undefined;
  const contract = {
    ...skill.contract,
    requires: skill.contract.requires.map((need) =>
      need.tool === tool ? { ...need, params: [...new Set([...need.params, ...names])] } : need,
    ),
  };
  const files = { ...skill.files, [SKILL_PATH]: withInputs(lines, names).join("\n"), [CONTRACT_PATH]: writeContract(contract) };
  return parseSkill({ folder: skill.name, files }, skill.provenance).skill;
}

/** Names the new inputs at the end of the `## Inputs` list, where there is one. */
function withInputs(lines: readonly string[], names: readonly string[]): string[] {
  const heading = lines.findIndex((line) => /^## Inputs\s*$/.test(line));
  if (heading < 0) return [...lines];
  let end = heading + 1;
  while (end < lines.length && /^- /.test(lines[end] ?? "")) end += 1;
  const known = lines.slice(heading + 1, end);
  const fresh = names
    .filter((name) => !known.some((line) => line.startsWith(`- ${name}:`)))
    .map((name) => `- ${name}: from the request`);
  return [...lines.slice(0, end), ...fresh, ...lines.slice(end)];
}
