import { toTool } from "../../src/catalog/intake.js";
import type { LineageInput } from "../../src/catalog/lineage.js";
import { splitToolKey } from "../../src/model/ids.js";
import type { JsonObject } from "../../src/model/json.js";
import type { Tool } from "../../src/model/tool.js";

/**
 * A tool in one line: `tool("desk/close_case", "Closes a case.", { "case_id!": "string Number of the case." })`.
 * `!` = required; `string(a|b)` = enum; further members of the listing in `more`.
 */
export function tool(key: string, description: string, parameters: Record<string, string> = {}, more: JsonObject = {}): Tool {
  const { label, name } = splitToolKey(key);
  return toTool(label, { name, description, inputSchema: schema(parameters), ...more });
}

export function schema(fields: Record<string, string>): JsonObject {
  const properties: JsonObject = {};
  const required: string[] = [];
  for (const [spelt, spec] of Object.entries(fields)) {
    const name = spelt.replace(/!$/, "");
    if (spelt.endsWith("!")) required.push(name);
    const [, type = "string", values, description = ""] = /^(\w+)(?:\(([^)]*)\))?\s*(.*)$/s.exec(spec) ?? [];
    properties[name] = { type, ...(values === undefined ? {} : { enum: values.split("|") }), description };
  }
  return { type: "object", properties, ...(required.length === 0 ? {} : { required }) };
}

/** The same tool under another name, otherwise as it was. */
export function renamed(of: Tool, name: string): Tool {
  return toTool(of.label, { ...of.document, name });
}

/** What moved between two catalogs, as lineage takes it. */
export function movement(before: readonly Tool[], after: readonly Tool[], atVersion = 2): LineageInput {
  const [was, is] = [new Map(before.map((one) => [one.key, one])), new Map(after.map((one) => [one.key, one]))];
  return {
    removed: before.filter((one) => !is.has(one.key)),
    added: after.filter((one) => !was.has(one.key)),
    kept: before.flatMap((one) => {
      const now = is.get(one.key);
      return now === undefined ? [] : [{ before: one, after: now }];
    }),
    atVersion,
  };
}
