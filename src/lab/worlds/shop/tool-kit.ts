/**
 * What a tool of the shop is made of, and the transformations that make one catalog version out of another.
 *
 * Owns: tool = listed definition + the base functions it runs; rename, required parameter, rewording, merge.
 * Speaks: the definitions an MCP server lists.
 * Never: mutating a tool; every transformation returns a new one over the same base functions.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../model/json.js";
import type { ListedTool } from "../../../model/tool.js";
import { no, type Outcome } from "./outcome.js";

export interface WorldTool<Tables> {
  readonly listed: ListedTool;
  /** Names of the base functions it runs: every catalog version covers all of them. */
  readonly base: readonly string[];
  readonly run: (tables: Tables, args: JsonObject) => Outcome;
}

export type Kind = "read" | "write" | "destructive";
const ANNOTATIONS: Readonly<Record<Kind, JsonObject>> = {
  read: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  write: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  destructive: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
};

export interface ToolParts<Tables> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly kind: Kind;
  readonly input: Readonly<Record<string, JsonObject>>;
  /** Parameters that may be left out; all others are required. */
  readonly optional?: readonly string[];
  readonly output: Readonly<Record<string, JsonObject>>;
  readonly base: readonly string[];
  readonly run: (tables: Tables, args: JsonObject) => Outcome;
}

/** A closed input object, an output object in which every field is present. */
export function defineTool<Tables>(parts: ToolParts<Tables>): WorldTool<Tables> {
  const optional = parts.optional ?? [];
  const listed: ListedTool = {
    name: parts.name,
    title: parts.title,
    description: parts.description,
    inputSchema: {
      type: "object",
      properties: { ...parts.input },
      required: Object.keys(parts.input).filter((name) => !optional.includes(name)),
      additionalProperties: false,
    },
    outputSchema: { type: "object", properties: { ...parts.output }, required: Object.keys(parts.output) },
    annotations: { ...ANNOTATIONS[parts.kind] },
  };
  return { listed, base: parts.base, run: parts.run };
}

// --- schema words -------------------------------------------------------------------------------------------------

export const string = (description: string): JsonObject => ({ type: "string", minLength: 1, description });
export const words = (description: string, values: readonly string[]): JsonObject => ({
  type: "string",
  enum: [...values],
  description,
});
export const integer = (description: string): JsonObject => ({ type: "integer", minimum: 1, description });
export const amount = (description: string): JsonObject => ({ type: "number", exclusiveMinimum: 0, description });
export const shown = (type: "string" | "number" | "integer", description: string): JsonObject => ({ type, description });
export const maybe = (description: string): JsonObject => ({ type: ["string", "null"], description });
export const rows = (description: string, properties: Readonly<Record<string, JsonObject>>): JsonObject => ({
  type: "array",
  description,
  items: { type: "object", properties: { ...properties }, required: Object.keys(properties) },
});

// --- transformations ----------------------------------------------------------------------------------------------

export function renamed<Tables>(tool: WorldTool<Tables>, name: string): WorldTool<Tables> {
  return { ...tool, listed: { ...tool.listed, name } };
}

export function reworded<Tables>(tool: WorldTool<Tables>, description: string): WorldTool<Tables> {
  return { ...tool, listed: { ...tool.listed, description } };
}

export function withRequired<Tables>(tool: WorldTool<Tables>, name: string, schema: JsonObject): WorldTool<Tables> {
  const input = inputOf(tool);
  const inputSchema = {
    ...input.schema,
    properties: { ...input.properties, [name]: schema },
    required: [...input.required, name],
  };
  return { ...tool, listed: { ...tool.listed, inputSchema } };
}

/** Several tools as one with an `action`; what only some of them require becomes optional. */
export function merged<Tables>(options: {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly actionDescription: string;
  readonly tools: Readonly<Record<string, WorldTool<Tables>>>;
}): WorldTool<Tables> {
  const members = Object.entries(options.tools);
  const [first] = members;
  if (first === undefined) throw new Error("a merge needs tools");
  const inputs = members.map(([, tool]) => inputOf(tool));
  const properties = Object.assign({}, ...inputs.map((input) => input.properties)) as JsonObject;
  const required = Object.keys(properties).filter((name) => inputs.every((input) => input.required.includes(name)));
  const action = words(options.actionDescription, Object.keys(options.tools));
  const listed: ListedTool = {
    ...first[1].listed,
    name: options.name,
    title: options.title,
    description: options.description,
    inputSchema: {
      type: "object",
      properties: { action, ...properties },
      required: ["action", ...required],
      additionalProperties: false,
    },
  };
  return {
    listed,
    base: [...new Set(members.flatMap(([, tool]) => tool.base))],
    run: (tables, args) => {
      const { action: chosen, ...rest } = args;
      const tool = options.tools[String(chosen)];
      return tool === undefined ? no(`There is no action ${String(chosen)}.`) : tool.run(tables, rest);
    },
  };
}

function inputOf<Tables>(tool: WorldTool<Tables>): { schema: JsonObject; properties: JsonObject; required: readonly string[] } {
  const schema = tool.listed["inputSchema"];
  const object = isJsonObject(schema) ? schema : {};
  const properties = object["properties"];
  const required: JsonValue | undefined = object["required"];
  return {
    schema: object,
    properties: isJsonObject(properties) ? properties : {},
    required: Array.isArray(required) ? required.filter((name): name is string => typeof name === "string") : [],
  };
}

/**
 * What is wrong with the arguments, in one sentence, or undefined. Checks what the shop's own schemas use:
 * closed objects of strings, numbers and words.
 */
export function argumentFault<Tables>(tool: WorldTool<Tables>, args: JsonObject): string | undefined {
  const { properties, required } = inputOf(tool);
  const known = Object.keys(properties);
  const missing = required.filter((name) => args[name] === undefined || args[name] === null);
  if (missing.length > 0)
    return `Missing: ${missing.join(", ")}. ${tool.listed.name} takes ${known.join(", ") || "no arguments"}.`;
  const unknown = Object.keys(args).filter((name) => !Object.hasOwn(properties, name));
  if (unknown.length > 0)
    return `Unknown: ${unknown.join(", ")}. ${tool.listed.name} takes ${known.join(", ") || "no arguments"}.`;
  for (const [name, value] of Object.entries(args)) {
    const schema = properties[name];
    const wrong = isJsonObject(schema) ? valueFault(schema, value) : undefined;
    if (wrong !== undefined) return `${name} ${wrong}.`;
  }
  return undefined;
}

function valueFault(schema: JsonObject, value: JsonValue): string | undefined {
  const { type, enum: values, minimum, exclusiveMinimum } = schema;
  if (Array.isArray(values) && !values.includes(value)) return `must be one of ${values.join(", ")}`;
  if (type === "string" && typeof value !== "string") return "must be text";
  if (type === "string" && value === "") return "must not be empty";
  if (type === "integer" && !Number.isInteger(value)) return "must be a whole number";
  if (type === "number" && typeof value !== "number") return "must be a number";
  if (typeof minimum === "number" && typeof value === "number" && value < minimum) return `must be at least ${minimum}`;
  if (typeof exclusiveMinimum === "number" && typeof value === "number" && value <= exclusiveMinimum)
    return `must be more than ${exclusiveMinimum}`;
  return undefined;
}
