import { describe, expect, it } from "vitest";
import { DRIFT_RULES } from "../../src/catalog/drift.js";
import { CATALOG_RULE_CASES, catalogRuleFaults } from "./catalog-rule-cases.js";
import { faults, OWN_TOOLS, realTools, without } from "./mutation-check.js";
import { MUTATIONS } from "./mutations.js";

/** A few of them here; all of them in the long tests. */
const real = realTools(40);

const rulesOfTools = [...new Set([...DRIFT_RULES.schema, ...DRIFT_RULES.tool].map((entry) => entry.rule))].sort();

describe("every rule is needed", () => {
  it.each(rulesOfTools)("a differ without %s is caught", (rule) => {
    const found = MUTATIONS.flatMap((kind) => OWN_TOOLS.flatMap((tool) => faults(kind, tool, without(rule))));
    expect(found.filter((fault) => fault.includes(rule) || fault.includes("unclassified"))).not.toEqual([]);
  });
});

describe("every rule about tools that are on one side only is needed", () => {
  it("has a case of its own", () => {
    expect(Object.keys(CATALOG_RULE_CASES).sort()).toEqual(DRIFT_RULES.catalog.map((entry) => entry.rule).sort());
  });

  it.each(DRIFT_RULES.catalog.map((entry) => [entry.rule, CATALOG_RULE_CASES[entry.rule]?.says ?? ""] as const))(
    "%s: %s",
    (rule) => {
      expect(catalogRuleFaults(rule)).toEqual([]);
      expect(catalogRuleFaults(rule, without(rule))).not.toEqual([]);
    },
  );
});

describe("changes of tools, one kind at a time, get the level they must", () => {
  it.each(MUTATIONS)("$name", (kind) => {
    expect(OWN_TOOLS.flatMap((tool) => faults(kind, tool))).toEqual([]);
    expect(OWN_TOOLS.some((tool) => kind.apply(tool) !== undefined)).toBe(true);
  });

  it.each(MUTATIONS)("on real tools: $name", (kind) => {
    expect(real.flatMap((tool) => faults(kind, tool))).toEqual([]);
  });
});
