import { expect } from "vitest";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/model/json.js";
import type { Skill } from "../../src/model/skill.js";
import { parseStepCall, type StepArgument } from "../../src/skills/step-call.js";
import { findField, said, type RunningShop } from "./running-shop.js";

/** Does what a skill's steps say, taking each argument from where the step says. Returns the answers in order. */
export function follow(skill: Skill, request: JsonObject, shop: RunningShop): JsonObject[] {
  const answers: JsonObject[] = [];
  for (const step of skill.steps) {
    const call = parseStepCall(step.text);
    if (call === undefined) throw new Error(`${skill.name} step ${step.n} is not a call sentence`);
    const args: JsonObject = {};
    for (const argument of call.arguments) {
      const value = valueOf(argument, request, answers);
      if (value === undefined && argument.optional) continue;
      expect(value, `${skill.name} step ${step.n}: ${argument.name}`).toBeDefined();
      args[argument.name] = value ?? null;
    }
    answers.push(succeed(shop, call.tool, args));
  }
  return answers;
}

function valueOf(argument: StepArgument, request: JsonObject, answers: readonly JsonObject[]): JsonValue | undefined {
  const { source } = argument;
  if (source.kind === "literal") return source.value;
  const name = source.field ?? argument.name;
  return source.kind === "request" ? request[name] : findField(answers[source.step - 1], name);
}

/** Calls a tool that must not refuse; returns what it yields. */
export function succeed(shop: RunningShop, tool: string, args: JsonObject): JsonObject {
  const result = shop.call(tool, args);
  expect(result["isError"], `${tool} ${JSON.stringify(args)}: ${said(result)}`).toBeUndefined();
  const structured = result["structuredContent"];
  return isJsonObject(structured) ? structured : {};
}
