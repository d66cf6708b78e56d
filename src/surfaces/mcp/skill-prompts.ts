/** Planning skills as prompts: what a person can pick in a client. */
import { Fault } from "../../model/fault.js";
import { isJsonObject } from "../../model/json.js";
import type { JsonObject } from "../../model/json.js";
import type { Caller, Operations } from "../../model/operations.js";
import { invalidParams } from "./translate.js";

/** Active planning skills. */
export async function skillPrompts(operations: Operations, caller: Caller): Promise<JsonObject[]> {
  const skills = await operations.skills({ tier: "planning", standing: "active" }, caller);
  return skills.map((skill) => ({
    name: skill.name,
    description: skill.description,
    arguments: [{ name: "task", description: "What is to be done with this plan.", required: false }],
  }));
}

/** One skill by its name; undefined where there is none. A resting one is refused with its reason. */
export async function skillPrompt(
  operations: Operations,
  name: string,
  args: unknown,
  caller: Caller,
): Promise<JsonObject | undefined> {
  try {
    const skill = await operations.skill(name, caller);
    if (skill.standing.standing !== "active") {
      const why = skill.standing.reasons.map((reason) => reason.text).join("; ");
      throw invalidParams(`The skill "${name}" rests: ${why === "" ? (skill.standing.because ?? "inactive") : why}`);
    }
    const task = isJsonObject(args) && typeof args["task"] === "string" ? `\n\nTask: ${args["task"]}` : "";
    return {
      description: skill.description,
      messages: [{ role: "user", content: { type: "text", text: `${skill.text}${task}` } }],
    };
  } catch (error) {
    if (error instanceof Fault && error.code === "skill-unknown") return undefined;
    throw error;
  }
}
