/**
 * Rewriting: the exact edit of a skill when one of its tools was taken over by others.
 *
 * Owns: what changes in a SKILL.md and its contract for 1→1, n→1 with fixed arguments, and 1→n in consecutive steps.
 * Speaks: the call sentence of step-call.ts and code spans elsewhere.
 * Never: an edit that is not exact; the reason comes back instead and the skill is as it was.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { ToolKey } from "../model/ids.js";
import { splitToolKey } from "../model/ids.js";
import type { Contract, Requirement, Skill } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import { CONTRACT_PATH, writeContract } from "./contract.js";
import { lintSkill } from "./lint.js";
import { withoutFences } from "./mentions.js";
import { parseStepCall, renderStepCall, type ArgumentSource, type StepArgument, type StepCall } from "./step-call.js";
import { parseSkill, SKILL_PATH } from "./text.js";
import { splitFile } from "./fences.js";
import { whyUnread } from "./unread.js";

export interface ToolRewrite {
  readonly from: ToolKey;
  /** What took over, in order of use: one for a rename or a merge, several for a split. */
  readonly to: readonly Tool[];
  /** old parameter → new parameter, of the first target that has it. Unnamed parameters keep their name. */
  readonly params: Readonly<Record<string, string>>;
  /** Arguments that every call now sets to a constant (a merged tool's mode). */
  readonly fixedArguments: Readonly<Record<string, JsonValue>>;
}

export type RewriteResult =
  | { readonly kind: "rewritten"; readonly files: Readonly<Record<string, string>>; readonly contract: Contract }
  | { readonly kind: "refused"; readonly why: string };

/** Thrown and caught in this file only: the edit cannot be exact. */
class NotExact extends Error {}

export function rewriteTool(skill: Skill, change: ToolRewrite): RewriteResult {
  try {
    return rewrite(skill, change);
  } catch (error) {
    if (error instanceof NotExact) return { kind: "refused", why: error.message };
    throw error;
  }
}

function rewrite(skill: Skill, change: ToolRewrite): RewriteResult {
  if (change.to.length === 0) throw new NotExact(`nothing took over from ${change.from}`);
  const needed = skill.contract.requires.filter((requirement) => requirement.tool === change.from);
  if (needed.length === 0) throw new NotExact(`the contract does not require ${change.from}`);
  const contract = rewriteContract(skill.contract, needed, change);

  const source = skill.files[SKILL_PATH] ?? "";
  const split = splitFile(source);
  if ("refused" in split) throw new NotExact(split.refused.text);
  const lines = rewriteSteps(split.body.split("\n"), skill, change);
  const body = lines.map((line) => rewriteSpans(line, skill, change)).join("\n");
  const head = rewriteHead(split.head, change);
  const text = `---\n${head}\n---\n${body}`;
  if (namesTool(text, change)) throw new NotExact(`${change.from} is also named outside code spans`);

  const files = {
    ...skill.files,
    [SKILL_PATH]: `${split.bom ? "\uFEFF" : ""}${split.lineEnd === "\n" ? text : text.replace(/\n/g, split.lineEnd)}`,
    [CONTRACT_PATH]: writeContract(contract),
  };
  const back = parseSkill({ folder: skill.name, files }, skill.provenance);
  if (back.skill === undefined) throw new NotExact(whyUnread(back.problems));
  const known = new Set(lintSkill(skill).map((problem) => problem.code));
  const fresh = lintSkill(back.skill).find((problem) => !known.has(problem.code));
  if (fresh !== undefined) throw new NotExact(`the rewritten skill would break a rule: ${fresh.text}`);
  return { kind: "rewritten", files, contract };
}

// --- the contract -------------------------------------------------------------------------------------------------

function rewriteContract(contract: Contract, needed: readonly Requirement[], change: ToolRewrite): Contract {
  const requires: Requirement[] = [];
  for (const requirement of contract.requires) {
    if (!needed.includes(requirement)) requires.push(requirement);
    else for (const target of targetsOf(requirement, change)) requires.push(target);
  }
  return { ...contract, requires: joinSameTool(requires) };
}

function targetsOf(requirement: Requirement, change: ToolRewrite): Requirement[] {
  const params = new Map<Tool, string[]>(change.to.map((tool) => [tool, []]));
  for (const old of requirement.params) {
    const [name, tool] = targetParameter(old, change);
    params.get(tool)?.push(name);
  }
  for (const name of Object.keys(change.fixedArguments)) {
    const tool = change.to.find((target) => hasParameter(target, name));
    if (tool === undefined) throw new NotExact(`no successor takes the fixed argument ${name}`);
    params.get(tool)?.push(name);
  }
  const reads = new Map<Tool, string[]>(change.to.map((tool) => [tool, []]));
  for (const old of requirement.reads) {
    const [name, tool] = targetField(old, change);
    reads.get(tool)?.push(name);
  }
  const rest = {
    ...(requirement.anyGroup === undefined ? {} : { anyGroup: requirement.anyGroup }),
    ...(requirement.optional === undefined ? {} : { optional: requirement.optional }),
    ...(requirement.inferred === undefined ? {} : { inferred: requirement.inferred }),
  };
  if (change.to.length > 1 && requirement.anyGroup !== undefined) {
    throw new NotExact(`${change.from} is one of several alternatives and would become several tools`);
  }
  return change.to.map((tool) => {
    const linked = linkedParameters(tool, change);
    const set = [...new Set([...(params.get(tool) ?? []), ...linked.keys()])];
    const missing = requiredOf(tool).find((name) => !set.some((param) => param.split(".")[0] === name));
    if (missing !== undefined) throw new NotExact(`nothing says what ${tool.key} should get for its required ${missing}`);
    return { tool: tool.key, contractDigest: tool.digests.contract, params: set, reads: reads.get(tool) ?? [], ...rest };
  });
}

/** Two requirements of one tool (a merge of tools the skill used both) become one that needs all of it. */
function joinSameTool(requires: readonly Requirement[]): Requirement[] {
  const joined = new Map<string, Requirement>();
  for (const requirement of requires) {
    const id = `${requirement.anyGroup ?? ""}\u0000${requirement.tool}`;
    const before = joined.get(id);
    if (before === undefined) {
      joined.set(id, requirement);
      continue;
    }
    const optional = before.optional === true && requirement.optional === true;
    const inferred = before.inferred === true || requirement.inferred === true;
    const { optional: _optional, inferred: _inferred, ...rest } = requirement;
    joined.set(id, {
      ...rest,
      params: [...new Set([...before.params, ...requirement.params])],
      reads: [...new Set([...before.reads, ...requirement.reads])],
      ...(optional ? { optional } : {}),
      ...(inferred ? { inferred } : {}),
    });
  }
  return [...joined.values()];
}

/** Dotted `old` with its first part renamed, and the first target that has it. */
function targetParameter(old: string, change: ToolRewrite): [string, Tool] {
  const [first = "", ...rest] = old.split(".");
  const renamed = change.params[old] ?? [change.params[first] ?? first, ...rest].join(".");
  const top = renamed.split(".")[0] ?? "";
  const tool = change.to.find((target) => hasParameter(target, top));
  if (tool === undefined)
    throw new NotExact(`the parameter ${old} has no place in ${change.to.map((target) => target.key).join(" or ")}`);
  return [renamed, tool];
}

/** An output field under its old name, or under the name its parameter got, in the last target that yields it. */
function targetField(old: string, change: ToolRewrite): [string, Tool] {
  const first = /^[^.[]*/.exec(old)?.[0] ?? old;
  const renamed = change.params[first];
  for (const name of renamed === undefined ? [old] : [old, renamed + old.slice(first.length)]) {
    const tool = change.to.findLast((target) => yields(target, name) === true);
    if (tool !== undefined) return [name, tool];
  }
  const silent = change.to.findLast((target) => yields(target, old) === undefined);
  if (silent === undefined) throw new NotExact(`the output field ${old} is not in what ${change.to.at(-1)?.key ?? ""} yields`);
  return [old, silent];
}

/** Required parameters of a later target that an earlier target's output supplies under the same name. */
function linkedParameters(tool: Tool, change: ToolRewrite): Map<string, number> {
  const links = new Map<string, number>();
  const position = change.to.indexOf(tool);
  const sources = new Set(Object.values(change.params));
  for (const name of requiredOf(tool)) {
    if (name in change.fixedArguments || sources.has(name)) continue;
    const supplier = change.to
      .slice(0, position)
      .findLastIndex((earlier) => Object.hasOwn(propertiesOf(earlier.outputSchema) ?? {}, name));
    if (supplier >= 0) links.set(name, supplier);
  }
  return links;
}

const propertiesOf = (schema: JsonObject | undefined): JsonObject | undefined => {
  const properties = schema?.["properties"];
  return isJsonObject(properties) ? properties : undefined;
};
const hasParameter = (tool: Tool, name: string): boolean => Object.hasOwn(propertiesOf(tool.inputSchema) ?? {}, name);
const requiredOf = (tool: Tool): string[] => {
  const required = tool.inputSchema["required"];
  return Array.isArray(required) ? required.filter((name): name is string => typeof name === "string") : [];
};
/**
 * Does the tool yield the field: a dotted path (`orders[].id`), or a bare name anywhere in the output, as steps say it?
 * Undefined where the tool does not say what it yields, there or at all.
 */
function yields(tool: Tool, field: string): boolean | undefined {
  if (propertiesOf(tool.outputSchema) === undefined) return undefined;
  const paths = outputPaths(tool.outputSchema, "", OUTPUT_DEPTH);
  const bare = !/[.[]/.test(field);
  if (paths.some(({ path }) => path === field || (bare && path.endsWith(`.${field}`)))) return true;
  return paths.some(({ path, open }) => open && field.startsWith(`${path}.`)) ? undefined : false;
}

/** Deeper output fields are read by no step that a person would write. */
const OUTPUT_DEPTH = 6;

/** Every path of an output schema; `open` where an object says nothing about its fields. */
function outputPaths(schema: JsonObject | undefined, prefix: string, depth: number): { path: string; open: boolean }[] {
  return Object.entries(propertiesOf(schema) ?? {}).flatMap(([name, value]) => {
    const items = isJsonObject(value) ? value["items"] : undefined;
    const path = `${prefix}${name}${items === undefined ? "" : "[]"}`;
    const inner = isJsonObject(items) ? items : isJsonObject(value) ? value : undefined;
    const own = [{ path, open: inner?.["type"] === "object" && propertiesOf(inner) === undefined }];
    if (items !== undefined) own.push({ path: `${prefix}${name}`, open: false });
    return depth === 0 ? own : [...own, ...outputPaths(inner, `${path}.`, depth - 1)];
  });
}

// --- the steps ----------------------------------------------------------------------------------------------------

const ITEM = /^( {0,3})(\d{1,4})([.)] +)(.*)$/;

/** Step lines with the calls rewritten; where a step became several, all numbers and references move along. */
function rewriteSteps(lines: readonly string[], skill: Skill, change: ToolRewrite): string[] {
  const numbers = withoutFences(lines.join("\n")).map((line) => ITEM.exec(line));
  const growing = change.to.length - 1;
  const counted = numbers.flatMap((match) => (match === null ? [] : [Number(match[2])]));
  if (growing > 0 && (counted.length !== skill.steps.length || counted.some((number, n) => number !== n + 1))) {
    throw new NotExact("the numbered lines of the body are not just its steps, counted from 1: they cannot be moved along");
  }
  const grown: number[] = [];
  for (const match of numbers) {
    const call = match === null ? undefined : parseStepCall(match[4] ?? "");
    if (match !== null && call?.tool === change.from) grown.push(Number(match[2]));
  }
  /** The last new number of an old step. */
  const lastOf = (n: number): number => n + growing * grown.filter((other) => other <= n).length;
  return lines.flatMap((line, index) => {
    const match = numbers[index];
    if (match === null || match === undefined) return [moveReferences(line, grown, lastOf, change)];
    const [, indent = "", number = "", dot = "", text = ""] = match;
    const old = Number(number);
    const call = parseStepCall(text);
    if (call === undefined) {
      if (text.includes(`\`${change.from}\``)) checkPlainMention(text, change);
      return [`${indent}${lastOf(old)}${dot}${moveReferences(text, grown, lastOf, change)}`];
    }
    const moved: StepCall = { ...call, arguments: call.arguments.map((argument) => moveSource(argument, grown, lastOf, change)) };
    // A sentence in which nothing moves stays to the letter, however its author joined the arguments.
    if (call.tool !== change.from && JSON.stringify(moved) === JSON.stringify(call)) {
      const tail = moveReferences(call.tail, grown, lastOf, change);
      return [`${indent}${lastOf(old)}${dot}${text.slice(0, text.length - call.tail.length)}${tail}`];
    }
    const calls = call.tool === change.from ? rewriteCall(moved, change, lastOf(old) - growing) : [moved];
    const first = lastOf(old) - (calls.length - 1);
    return calls.map((one, n) => {
      const tail = moveReferences(one.tail, grown, lastOf, change);
      return `${indent}${first + n}${dot}${renderStepCall({ ...one, tail })}`;
    });
  });
}

/** A step that names the tool outside the call sentence is only rewritten where names alone change. */
function checkPlainMention(text: string, change: ToolRewrite): void {
  const renames = Object.entries(change.params).some(([old, now]) => old !== now);
  // What is fixed is written behind the name.
  if (change.to.length > 1 || renames) {
    throw new NotExact(`the step \`${text.slice(0, 60)}\` does not say its arguments in the form that can be edited`);
  }
}

function rewriteCall(call: StepCall, change: ToolRewrite, first: number): StepCall[] {
  const byTool = new Map<Tool, StepArgument[]>(change.to.map((tool) => [tool, []]));
  for (const [name, value] of Object.entries(change.fixedArguments)) {
    const tool = change.to.find((target) => hasParameter(target, name));
    if (tool !== undefined) byTool.get(tool)?.push({ name, source: { kind: "literal", value }, optional: false });
  }
  for (const argument of call.arguments) {
    const [name, tool] = targetParameter(argument.name, change);
    if (name in change.fixedArguments) throw new NotExact(`${name} is both fixed and given by the step`);
    byTool.get(tool)?.push({ ...argument, name, source: renamedSource(argument, name) });
  }
  const several = change.to.length > 1;
  return change.to.map((tool, n) => {
    const given = byTool.get(tool) ?? [];
    for (const [name, supplier] of linkedParameters(tool, change)) {
      if (!given.some((argument) => argument.name === name)) {
        given.push({ name, source: { kind: "step", step: first + supplier, field: undefined }, optional: false });
      }
    }
    const lacking = requiredOf(tool).find(
      (name) => !given.some((argument) => argument.name.split(".")[0] === name && !argument.optional),
    );
    if (lacking !== undefined)
      throw new NotExact(`the step does not say what ${tool.key} should get for its required ${lacking}`);
    const last = n === change.to.length - 1;
    const goal = several ? `${call.goal} (${n + 1} of ${change.to.length})` : call.goal;
    return { goal, tool: tool.key, arguments: given, tail: last ? call.tail : "." };
  });
}

/** `order_id from the request` under a new name still says which value of the request is meant. */
function renamedSource(argument: StepArgument, name: string): ArgumentSource {
  const { source } = argument;
  if (source.kind === "literal" || name === argument.name) return source;
  const field = source.field ?? argument.name;
  return { ...source, field: field === name ? undefined : field };
}

type LastOf = (n: number) => number;

/** A source `step N` follows its step; a field of the rewritten step is looked for in what the successors yield. */
function moveSource(argument: StepArgument, grown: readonly number[], lastOf: LastOf, change: ToolRewrite): StepArgument {
  const { source } = argument;
  if (source.kind !== "step") return argument;
  const step = lastOf(source.step);
  if (!grown.includes(source.step)) return { ...argument, source: { ...source, step } };
  const [field, tool] = targetField(source.field ?? argument.name, change);
  const offset = change.to.length - 1 - change.to.indexOf(tool);
  return { ...argument, source: { kind: "step", step: step - offset, field: field === argument.name ? undefined : field } };
}

/** `step 3` in prose follows its step. */
function moveReferences(text: string, grown: readonly number[], lastOf: LastOf, change: ToolRewrite): string {
  if (grown.length === 0 || change.to.length === 1) return text;
  return text.replace(/\b([Ss]tep )(\d+)\b/g, (_whole, word: string, n: string) => `${word}${lastOf(Number(n))}`);
}

// --- mentions elsewhere -------------------------------------------------------------------------------------------

/** Code spans of the tool, of its bare name, and of its renamed parameters, outside call sentences. */
function rewriteSpans(line: string, skill: Skill, change: ToolRewrite): string {
  const bare = splitToolKey(change.from).name;
  const fixed = Object.entries(change.fixedArguments).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  const note = fixed.length === 0 ? "" : ` (${fixed.join(", ")})`;
  return line.replace(/`([^`\n]+)`/g, (whole, span: string) => {
    if (span === change.from) return change.to.map((tool) => `\`${tool.key}\``).join(" and ") + note;
    if (span === bare) return change.to.map((tool) => `\`${tool.name}\``).join(" and ") + note;
    const renamed = change.params[span];
    if (renamed === undefined || renamed === span) return whole;
    const others = skill.contract.requires.filter(
      (other) => other.tool !== change.from && [...other.params, ...other.reads].includes(span),
    );
    if (others.length > 0)
      throw new NotExact(`\`${span}\` is also a field of ${others[0]?.tool ?? ""}: which one is meant is not said`);
    return `\`${renamed}\``;
  });
}

function rewriteHead(head: string, change: ToolRewrite): string {
  const [target] = change.to;
  return change.to.length === 1 && target !== undefined ? head.replace(wholeKey(change.from), () => target.key) : head;
}

/** True where the old key still stands in the text. */
function namesTool(text: string, change: ToolRewrite): boolean {
  return wholeKey(change.from).test(text) && !change.to.some((tool) => tool.key === change.from);
}

/** The key where it is not part of a longer one: `shop/find` is not in `shop/finder`. A full stop ends a sentence. */
function wholeKey(key: ToolKey): RegExp {
  const literal = key.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\w./-])${literal}(?![\\w/-]|\\.\\w)`, "g");
}
