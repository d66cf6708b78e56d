import { describe, expect, it } from "vitest";
import { DRIFT_RULES, type DriftRules } from "../../src/catalog/drift.js";
import type { RuleId } from "../../src/model/drift.js";
import type { ListedTool } from "../../src/model/tool.js";
import { faults, realTools } from "./mutation-check.js";
import { MUTATIONS } from "./mutations.js";

/** A few tools of every shape that the kinds need, for machines without the public data. */
const OWN: readonly ListedTool[] = [
  {
    name: "list_issues",
    description: "Lists issues.",
    inputSchema: {
      type: "object",
      properties: {
        owner: { type: "string", description: "Owner" },
        state: { type: "string", enum: ["open", "closed", "all"] },
        page: { type: "number", minimum: 1 },
        per_page: { type: "integer", minimum: 1, maximum: 100, default: 30 },
        labels: { type: "array", items: { type: "string" } },
      },
      required: ["owner"],
    },
  },
  {
    name: "set_mode",
    inputSchema: {
      type: "object",
      properties: { mode: { type: "string", enum: ["fast", "slow"] } },
      additionalProperties: false,
    },
  },
  {
    name: "find",
    inputSchema: { type: "object", properties: { query: { type: "string" }, limit: { type: "number" } }, required: ["query"] },
  },
];

/** A few of them here; all of them in the long tests. */
const real = realTools(40);

/** The tables without one rule. */
function without(rule: RuleId): DriftRules {
  return {
    schema: DRIFT_RULES.schema.filter((entry) => entry.rule !== rule),
    tool: DRIFT_RULES.tool.filter((entry) => entry.rule !== rule),
    catalog: DRIFT_RULES.catalog.filter((entry) => entry.rule !== rule),
  };
}

const rulesOfTools = [...new Set([...DRIFT_RULES.schema, ...DRIFT_RULES.tool].map((entry) => entry.rule))].sort();

describe("every rule is needed", () => {
  it.each(rulesOfTools)("a differ without %s is caught", (rule) => {
    const found = MUTATIONS.flatMap((kind) => OWN.flatMap((tool) => faults(kind, tool, without(rule))));
    expect(found.filter((fault) => fault.includes(rule) || fault.includes("unclassified"))).not.toEqual([]);
  });
});

describe("changes of tools, one kind at a time, get the level they must", () => {
  it.each(MUTATIONS)("$name", (kind) => {
    expect(OWN.flatMap((tool) => faults(kind, tool))).toEqual([]);
    expect(OWN.some((tool) => kind.apply(tool) !== undefined)).toBe(true);
  });

  it.skipIf(real.length === 0).each(MUTATIONS)("on real tools: $name", (kind) => {
    expect(real.flatMap((tool) => faults(kind, tool))).toEqual([]);
    expect(real.filter((tool) => kind.apply(tool) !== undefined).length).toBeGreaterThan(0);
  });
});
