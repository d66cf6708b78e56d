import { toTool } from "../../src/catalog/intake.js";
import { splitToolKey, type ToolKey } from "../../src/model/ids.js";
import type { JsonObject } from "../../src/model/json.js";
import type { Tool } from "../../src/model/tool.js";

/** A tool by key with these parameters (a trailing `?` makes one optional) and output fields. */
export function tool(key: string, params: readonly string[] = [], outputs?: readonly string[]): Tool {
  const { label, name } = splitToolKey(key);
  const schema = (names: readonly string[]): JsonObject => ({
    type: "object",
    properties: Object.fromEntries(names.map((one) => [one.replace("?", ""), { type: "string" }])),
    required: names.filter((one) => !one.endsWith("?")),
  });
  return toTool(label, {
    name,
    description: `Does ${name}.`,
    inputSchema: schema(params),
    ...(outputs === undefined ? {} : { outputSchema: schema(outputs) }),
  });
}

export const toolMap = (...tools: readonly Tool[]): ReadonlyMap<ToolKey, Tool> => new Map(tools.map((one) => [one.key, one]));
