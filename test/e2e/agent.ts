/**
 * A scripted agent that knows no tool and no skill: it takes names and arguments from the answers of the facade only.
 *
 * It reads the plan, follows the steps of the skills it was given, else uses the first tool of a step, fills arguments from what the
 * user said (by parameter name) and from what earlier results showed (by field name), and looks for a supplier where one is missing.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/model/json.js";

export interface Facade {
  /** Calls a facade tool; answers its structured content, or the raw result for call_tool. */
  ask(name: string, args: JsonObject): Promise<JsonObject>;
}

export interface TaskGiven {
  readonly text: string;
  readonly facts: Readonly<Record<string, JsonValue>>;
}

export interface AgentRun {
  readonly episode: string;
  readonly view: JsonObject;
  readonly called: readonly { readonly tool: string; readonly args: JsonObject; readonly isError: boolean }[];
}

interface Knowledge {
  /** What the user said and what results showed, by name. */
  readonly known: Map<string, JsonValue>;
  readonly definitions: Map<string, JsonObject>;
}

export async function runTask(facade: Facade, task: TaskGiven): Promise<AgentRun> {
  const view = await facade.ask("start_task", { task: task.text });
  const episode = String(view["episode"]);
  const knowledge: Knowledge = { known: new Map(Object.entries(task.facts)), definitions: new Map() };
  const called: { tool: string; args: JsonObject; isError: boolean }[] = [];
  await learn(facade, knowledge, episode, toolsOf(view));
  for (const wanted of workOf(view)) {
    await learn(facade, knowledge, episode, [wanted.tool]);
    await supply(facade, knowledge, episode, wanted.tool, wanted.fixed, toolsOf(view), called);
    const args = argumentsFor(knowledge, wanted.tool, wanted.fixed);
    if (
      args === undefined ||
      called.some((call) => call.tool === wanted.tool && JSON.stringify(call.args) === JSON.stringify(args))
    )
      continue;
    await call(facade, knowledge, episode, wanted.tool, args, called);
  }
  await facade.ask("finish_task", { episode, outcome: called.some((made) => made.isError) ? "failure" : "success" });
  return { episode, view, called };
}

function list(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((item): item is JsonObject => isJsonObject(item)) : [];
}

function toolsOf(view: JsonObject): string[] {
  return list(view["tools"]).map((tool) => String(tool["tool"]));
}

interface Work {
  readonly tool: string;
  readonly fixed: JsonObject;
}

/** Tools to call, in order: the steps of a step's skills where it has some, else its first tool. */
function workOf(view: JsonObject): Work[] {
  const texts = new Map(list(view["skills"]).map((skill) => [String(skill["name"]), String(skill["text"])]));
  const steps = list(isJsonObject(view["plan"]) ? view["plan"]["steps"] : undefined);
  const offered = new Set(toolsOf(view));
  return steps.flatMap((step): Work[] => {
    const skills = Array.isArray(step["skills"]) ? step["skills"].map(String) : [];
    const fromSkills = skills.flatMap((name) => calledIn(texts.get(name) ?? "", offered));
    if (fromSkills.length > 0) return fromSkills;
    const [first] = Array.isArray(step["tools"]) ? step["tools"].map(String) : [];
    return first === undefined ? [] : [{ tool: first, fixed: {} }];
  });
}

/** Numbered lines of a skill that name an offered tool, with the arguments they set to constants. */
function calledIn(text: string, offered: ReadonlySet<string>): Work[] {
  return text.split("\n").flatMap((line): Work[] => {
    if (!/^\s*\d+[.)]/.test(line)) return [];
    const tool = [...line.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "").find((span) => offered.has(span));
    if (tool === undefined) return [];
    const fixed: JsonObject = {};
    for (const match of line.matchAll(/(\w+) = ("[^"]*"|[\d.]+|true|false)/g))
      fixed[match[1] ?? ""] = JSON.parse(match[2] ?? "null") as JsonValue;
    return [{ tool, fixed }];
  });
}

async function learn(facade: Facade, knowledge: Knowledge, episode: string, tools: readonly string[]): Promise<void> {
  const unknown = tools.filter((tool) => !knowledge.definitions.has(tool));
  for (let at = 0; at < unknown.length; at += 5) {
    const answer = await facade.ask("describe_tools", { tools: unknown.slice(at, at + 5), episode });
    for (const tool of list(answer["tools"]))
      if (isJsonObject(tool["definition"])) knowledge.definitions.set(String(tool["tool"]), tool["definition"]);
  }
}

function schemaOf(knowledge: Knowledge, tool: string): { properties: JsonObject; required: string[] } {
  const schema = knowledge.definitions.get(tool)?.["inputSchema"];
  const properties = isJsonObject(schema) && isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const required = isJsonObject(schema) && Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
  return { properties, required };
}

/** Arguments for a tool from what is known; undefined where a required one is missing. */
function argumentsFor(knowledge: Knowledge, tool: string, fixed: JsonObject): JsonObject | undefined {
  const { properties, required } = schemaOf(knowledge, tool);
  const args: JsonObject = { ...fixed };
  for (const name of Object.keys(properties)) {
    const value = knowledge.known.get(name);
    if (args[name] === undefined && value !== undefined && fits(properties[name], value)) args[name] = value;
  }
  return required.every((name) => args[name] !== undefined) ? args : undefined;
}

function fits(property: JsonValue | undefined, value: JsonValue): boolean {
  if (!isJsonObject(property)) return true;
  if (Array.isArray(property["enum"])) return property["enum"].includes(value);
  const type = property["type"];
  if (type === "string") return typeof value === "string";
  if (type === "number" || type === "integer") return typeof value === "number";
  return true;
}

/** Where a required argument is missing: calls read-only tools of the view whose output names it and whose own input is known. */
async function supply(
  facade: Facade,
  knowledge: Knowledge,
  episode: string,
  tool: string,
  fixed: JsonObject,
  offered: readonly string[],
  called: AgentRun["called"][number][],
): Promise<void> {
  const { required } = schemaOf(knowledge, tool);
  for (const name of required) {
    if (fixed[name] !== undefined || knowledge.known.has(name)) continue;
    for (const candidate of offered) {
      const definition = knowledge.definitions.get(candidate);
      const annotations = isJsonObject(definition?.["annotations"]) ? definition["annotations"] : {};
      if (candidate === tool || annotations["readOnlyHint"] !== true) continue;
      if (!JSON.stringify(definition?.["outputSchema"] ?? {}).includes(`"${name}"`)) continue;
      const args = argumentsFor(knowledge, candidate, {});
      if (args === undefined) continue;
      await call(facade, knowledge, episode, candidate, args, called);
      if (knowledge.known.has(name)) break;
    }
  }
}

async function call(
  facade: Facade,
  knowledge: Knowledge,
  episode: string,
  tool: string,
  args: JsonObject,
  called: AgentRun["called"][number][],
): Promise<void> {
  const result = await facade.ask("call_tool", { tool, arguments: args, episode });
  const isError = result["isError"] === true;
  called.push({ tool, args, isError });
  if (isError || result["structuredContent"] === undefined) return;
  remember(knowledge, result["structuredContent"]);
}

/** Fields of a result by name. What the user said stays; of several rows the first that is open counts. */
function remember(knowledge: Knowledge, value: JsonValue): void {
  if (Array.isArray(value)) {
    const open = value.find((row) => isJsonObject(row) && (row["status"] === "paid" || row["status"] === "open"));
    remember(knowledge, open ?? value[0] ?? null);
  } else if (isJsonObject(value)) {
    for (const [name, field] of Object.entries(value)) {
      if (typeof field === "object" && field !== null) remember(knowledge, field);
      else if (field !== null && !knowledge.known.has(name)) knowledge.known.set(name, field);
    }
  }
}
