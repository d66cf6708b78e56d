/**
 * Joining: the exact edit of a skill when one call does what several of its steps in a row did.
 *
 * Owns: the one step in place of the others, references of later steps, the contract.
 * Speaks: steps by their place from 0; whole new files out.
 * Never: an edit that is not exact: undefined where the steps are no plain list, or where a tool that falls away is named elsewhere.
 */
import type { Contract, Requirement, Skill } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import { CONTRACT_PATH, writeContract } from "./contract.js";
import { splitFile } from "./fences.js";
import { parseStepCall, renderStepCall, type StepArgument, type StepCall } from "./step-call.js";
import { SKILL_PATH } from "./text.js";

export interface Join {
  /** First and last step that fall together. */
  readonly first: number;
  readonly last: number;
  /** What is called instead; its goal and tail are those of the last step. */
  readonly tool: Tool;
  readonly arguments: readonly StepArgument[];
  /** Fields that later steps take of it. */
  readonly reads: readonly string[];
}

export function joinSteps(skill: Skill, join: Join): Readonly<Record<string, string>> | undefined {
  const source = skill.files[SKILL_PATH] ?? "";
  const split = splitFile(source);
  if ("refused" in split) return undefined;
  const lines = split.body.split("\n");
  const heading = lines.findIndex((line) => /^## Steps\s*$/.test(line));
  const at = heading + 1;
  const end = at + skill.steps.length;
  const texts = lines
    .slice(at, end)
    .map((line, n) => (line.startsWith(`${n + 1}. `) ? line.slice(`${n + 1}. `.length) : undefined));
  if (heading < 0 || texts.some((text, n) => text !== skill.steps[n]?.text)) return undefined;
  const joined = joinedTexts(skill, join);
  if (joined === undefined) return undefined;
  const body = [...lines.slice(0, at), ...joined.map((text, n) => `${n + 1}. ${text}`), ...lines.slice(end)].join("\n");
  const contract = joinedContract(skill.contract, join, joined);
  const gone = skill.contract.requires.filter((need) => !contract.requires.some((one) => one.tool === need.tool));
  const text = `---\n${split.head}\n---\n${body}`;
  if (gone.some((need) => names(text, need.tool))) return undefined;
  return {
    ...skill.files,
    [SKILL_PATH]: `${split.bom ? "\uFEFF" : ""}${split.lineEnd === "\n" ? text : text.replace(/\n/g, split.lineEnd)}`,
    [CONTRACT_PATH]: writeContract(contract),
  };
}

/** Is the tool named, by its whole key? */
function names(text: string, key: string): boolean {
  for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + 1)) {
    if (!/[\w./-]/.test(text[at - 1] ?? " ") && !/[\w/-]/.test(text[at + key.length] ?? " ")) return true;
  }
  return false;
}

/** Undefined where a step outside speaks of steps by number in a form that cannot be followed. */
function joinedTexts(skill: Skill, { first, last, tool, arguments: given }: Join): string[] | undefined {
  const texts: string[] = [];
  for (const [n, step] of skill.steps.entries()) {
    if (n >= first && n < last) continue;
    const call = parseStepCall(step.text);
    if (n === last) {
      if (call === undefined) return undefined;
      texts.push(renderStepCall({ ...call, tool: tool.key, arguments: given }));
    } else if (n < first) texts.push(step.text);
    else if (call === undefined) {
      if (/\bsteps? \d/i.test(step.text)) return undefined;
      texts.push(step.text);
    } else texts.push(renderStepCall(followed(call, first, last)));
  }
  return texts;
}

function followed(call: StepCall, first: number, last: number): StepCall {
  const moved = (step: number): number => (step > last + 1 ? step - (last - first) : step > first ? first + 1 : step);
  return {
    ...call,
    arguments: call.arguments.map((argument) =>
      argument.source.kind === "step"
        ? { ...argument, source: { ...argument.source, step: moved(argument.source.step) } }
        : argument,
    ),
  };
}

/** What it was proven by stays cited: the runs went the longer way to the same end, and they are kept as long as they are cited. */
function joinedContract(contract: Contract, join: Join, texts: readonly string[]): Contract {
  const called = new Set(texts.map((text) => parseStepCall(text)?.tool as string | undefined));
  const own: Requirement = {
    tool: join.tool.key,
    contractDigest: join.tool.digests.contract,
    params: join.arguments.map(({ name }) => name),
    reads: [...join.reads],
  };
  return { ...contract, requires: [...contract.requires.filter((need) => called.has(need.tool)), own] };
}
