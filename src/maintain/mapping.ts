/**
 * Do the arguments map? The old input, with its parameters renamed and the fixed arguments added, against the new input.
 */
import { diffTool } from "../catalog/drift.js";
import { judge, levelOf } from "../catalog/level.js";
import type { Level, Usage } from "../model/drift.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { ToolKey } from "../model/ids.js";
import type { Skill } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import { propertiesOf, requiredOf } from "./fields.js";

export interface Mapping {
  readonly params: Readonly<Record<string, string>>;
  readonly fixedArguments: Readonly<Record<string, JsonValue>>;
}

/** Required parameters of a successor that neither the skill, renamed, nor the fixed arguments set. */
export function newRequired(skill: Skill, from: ToolKey, to: Tool, mapping: Mapping): string[] {
  const set = new Set(Object.keys(mapping.fixedArguments));
  for (const param of usageOf(skill, from).params) set.add(renamed(param, mapping).split(".")[0] ?? "");
  return requiredOf(to.inputSchema).filter((name) => !set.has(name));
}

/** True where the typed difference of (old input + fixed arguments) to the new input breaks nothing the skill uses. */
export function mapsSafely(skill: Skill, verified: Tool, to: Tool, mapping: Mapping): boolean {
  return unsafeIn(skill, verified, to, mapping).length === 0;
}

/** What of that difference may break the skill, a text each. */
export function unsafeIn(skill: Skill, verified: Tool, to: Tool, mapping: Mapping): string[] {
  const usage = usageOf(skill, verified.key);
  const mapped: Usage = {
    params: [...usage.params.map((param) => renamed(param, mapping)), ...Object.keys(mapping.fixedArguments)],
    reads: usage.reads.map((read) => renamed(read, mapping)),
    recorded: [],
  };
  return judge(translate(verified, to, mapping), to, mapped)
    .reasons.filter(mayBreak)
    .map(({ text }) => text);
}

const mayBreak = ({ level }: { readonly level: Level }): boolean => level === "breaking" || level === "safety";

/** The old tool as it would look under its successor's name: parameters renamed, fixed arguments required constants. */
function translate(old: Tool, to: Tool, mapping: Mapping): Tool {
  const properties: JsonObject = {};
  for (const [name, property] of Object.entries(propertiesOf(old.inputSchema))) properties[renamed(name, mapping)] = property;
  for (const [name, value] of Object.entries(mapping.fixedArguments)) properties[name] = { const: value };
  const required = [...requiredOf(old.inputSchema).map((name) => renamed(name, mapping)), ...Object.keys(mapping.fixedArguments)];
  const inputSchema: JsonObject = { ...old.inputSchema, properties, required };
  return { ...old, key: to.key, name: to.name, inputSchema };
}

/** Renamed and newly required parameters of a tool that stayed; a text where the skill breaks for a reason that no mechanical edit mends. */
export function movedParameters(
  skill: Skill,
  verified: Tool,
  present: Tool,
): { renamed: Map<string, string>; added: string[] } | string {
  const usage = usageOf(skill, present.key);
  const renamedTo = new Map<string, string>();
  const added: string[] = [];
  for (const change of diffTool(verified, present).changes) {
    const level = levelOf(change, usage);
    if (level !== "breaking" && level !== "safety") continue;
    if (change.rule === "I8" && change.field !== undefined && change.renamedTo !== undefined)
      renamedTo.set(change.field, change.renamedTo);
    else if (
      (change.rule === "I1" || change.rule === "I2" || change.rule === "I4") &&
      change.field !== undefined &&
      !change.field.includes(".")
    )
      added.push(change.field);
    else return change.text;
  }
  return { renamed: renamedTo, added };
}

function usageOf(skill: Skill, key: ToolKey): Usage {
  const needs = skill.contract.requires.filter((need) => need.tool === key);
  return { params: needs.flatMap((need) => need.params), reads: needs.flatMap((need) => need.reads), recorded: [] };
}

function renamed(param: string, mapping: Mapping): string {
  const [first = "", ...rest] = param.split(".");
  return mapping.params[param] ?? [mapping.params[first] ?? first, ...rest].join(".");
}

/** Types of a property, for texts. */
export function typesOf(property: JsonValue | undefined): string[] {
  return isJsonObject(property) ? [property["type"]].flat().filter((type): type is string => typeof type === "string") : [];
}
