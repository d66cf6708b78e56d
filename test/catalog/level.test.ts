import { describe, expect, it } from "vitest";
import { toTool } from "../../src/catalog/intake.js";
import { judge, levelOf } from "../../src/catalog/level.js";
import { diffTool } from "../../src/catalog/drift.js";
import { bearingOf, validates, valuesAt } from "../../src/catalog/usage.js";
import type { Level, Usage } from "../../src/model/drift.js";
import type { UpstreamLabel } from "../../src/model/ids.js";
import type { JsonObject, JsonValue } from "../../src/model/json.js";
import type { Tool } from "../../src/model/tool.js";

const shop = "shop" as UpstreamLabel;
const string: JsonObject = { type: "string" };
const number: JsonObject = { type: "number" };

function tool(input: JsonObject, output?: JsonObject, more: JsonObject = {}): Tool {
  return toTool(shop, {
    name: "t",
    inputSchema: { type: "object", ...input },
    ...(output === undefined ? {} : { outputSchema: { type: "object", ...output } }),
    ...more,
  });
}
const usage = (params: string[], reads: string[] = [], recorded: JsonValue[] = []): Usage => ({ params, reads, recorded });
const input = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ properties, ...more });
const worst = (before: Tool, after: Tool, how: Usage): Level => judge(before, after, how).level;

describe("levels by use, without recorded calls", () => {
  const a = { a: string };
  const cases: readonly [string, Tool, Tool, Usage, Level][] = [
    [
      "I1 for who does not set it",
      tool(input(a)),
      tool(input({ ...a, b: string }, { required: ["b"] })),
      usage(["a"]),
      "breaking",
    ],
    [
      "I1 for who sets it already",
      tool(input(a)),
      tool(input({ ...a, b: string }, { required: ["b"] })),
      usage(["a", "b"]),
      "compatible",
    ],
    [
      "I1 inside an object that is not used",
      tool(input({ f: input({}, { type: "object" }) })),
      tool(input({ f: input({ x: string }, { type: "object", required: ["x"] }) })),
      usage(["a"]),
      "compatible",
    ],
    [
      "I1 inside an object that is set",
      tool(input({ f: input({}, { type: "object" }) })),
      tool(input({ f: input({ x: string }, { type: "object", required: ["x"] }) })),
      usage(["f"]),
      "breaking",
    ],
    [
      "I2: a default does not help who cannot rely on it",
      tool(input(a)),
      tool(input({ ...a, b: { ...string, default: "x" } }, { required: ["b"] })),
      usage(["a"]),
      "breaking",
    ],
    ["I3", tool(input(a)), tool(input({ ...a, b: string })), usage(["a"]), "compatible"],
    ["I4 for who does not set it", tool(input(a)), tool(input(a, { required: ["a"] })), usage([]), "breaking"],
    ["I4 for who sets it", tool(input(a)), tool(input(a, { required: ["a"] })), usage(["a"]), "compatible"],
    ["I5", tool(input(a, { required: ["a"] })), tool(input(a)), usage(["a"]), "compatible"],
    [
      "I6 used",
      tool(input(a, { additionalProperties: false })),
      tool(input({}, { additionalProperties: false })),
      usage(["a"]),
      "breaking",
    ],
    [
      "I6 not used",
      tool(input(a, { additionalProperties: false })),
      tool(input({}, { additionalProperties: false })),
      usage([]),
      "compatible",
    ],
    ["I7 used: silently ignored is broken", tool(input({ ...a, b: string })), tool(input(a)), usage(["b"]), "breaking"],
    ["I7 not used", tool(input({ ...a, b: string })), tool(input(a)), usage(["a"]), "compatible"],
    ["I8 used", tool(input({ orderId: string })), tool(input({ order_id: string })), usage(["orderId"]), "breaking"],
    ["I8 not used", tool(input({ ...a, orderId: string })), tool(input({ ...a, order_id: string })), usage(["a"]), "compatible"],
    ["I9", tool(input(a)), tool(input({ a: { type: ["string", "null"] } })), usage(["a"]), "compatible"],
    ["I10 used", tool(input(a)), tool(input({ a: number })), usage(["a"]), "breaking"],
    ["I10 not used", tool(input(a)), tool(input({ a: number })), usage([]), "compatible"],
    ["I10 at the edge", tool(input({ a: number })), tool(input({ a: { type: "integer" } })), usage(["a"]), "dangerous"],
    [
      "I10 inside what is set as a whole",
      tool(input({ f: input({ x: string }, { type: "object" }) })),
      tool(input({ f: input({ x: number }, { type: "object" }) })),
      usage(["f"]),
      "dangerous",
    ],
    [
      "I11 used, values unknown",
      tool(input({ a: { enum: ["x", "y"] } })),
      tool(input({ a: { enum: ["x"] } })),
      usage(["a"]),
      "dangerous",
    ],
    ["I12", tool(input({ a: { enum: ["x"] } })), tool(input({ a: { enum: ["x", "y"] } })), usage(["a"]), "compatible"],
    [
      "I13 used, values unknown",
      tool(input({ a: { ...number, maximum: 9 } })),
      tool(input({ a: { ...number, maximum: 5 } })),
      usage(["a"]),
      "dangerous",
    ],
    [
      "I13 not used",
      tool(input({ a: { ...number, maximum: 9 } })),
      tool(input({ a: { ...number, maximum: 5 } })),
      usage([]),
      "compatible",
    ],
    [
      "I14",
      tool(input({ a: { ...number, maximum: 5 } })),
      tool(input({ a: { ...number, maximum: 9 } })),
      usage(["a"]),
      "compatible",
    ],
    [
      "I15 used",
      tool(input({ a: { ...string, format: "date" } })),
      tool(input({ a: { ...string, format: "date-time" } })),
      usage(["a"]),
      "dangerous",
    ],
    [
      "I15 not used",
      tool(input({ a: { ...string, format: "date" } })),
      tool(input({ a: { ...string, format: "date-time" } })),
      usage([]),
      "compatible",
    ],
    [
      "I16 for who leaves it out",
      tool(input({ a: { ...number, default: 1 } })),
      tool(input({ a: { ...number, default: 2 } })),
      usage([]),
      "dangerous",
    ],
    [
      "I16 for who sets it",
      tool(input({ a: { ...number, default: 1 } })),
      tool(input({ a: { ...number, default: 2 } })),
      usage(["a"]),
      "compatible",
    ],
    [
      "I17 with undeclared keys",
      tool(input(a)),
      tool(input(a, { additionalProperties: false })),
      usage(["a", "extra"]),
      "breaking",
    ],
    ["I17 with declared keys", tool(input(a)), tool(input(a, { additionalProperties: false })), usage(["a"]), "compatible"],
    [
      "I17 inside, with undeclared keys",
      tool(input({ f: input(a, { type: "object" }) })),
      tool(input({ f: input(a, { type: "object", additionalProperties: false }) })),
      usage(["f.extra"]),
      "breaking",
    ],
    [
      "I17 of a map that is set, while no call shows its keys",
      tool(input({ m: { type: "object" } })),
      tool(input({ m: { type: "object", additionalProperties: { enum: [1] } } })),
      usage(["m"]),
      "dangerous",
    ],
    [
      "I17 of a map whose keys are shown by a call and fit",
      tool(input({ m: { type: "object" } })),
      tool(input({ m: { type: "object", additionalProperties: { enum: [1] } } })),
      usage(["m"], [], [{ m: { a: 1 } }]),
      "compatible",
    ],
    [
      "I17 of a map whose keys are shown by a call and do not fit",
      tool(input({ m: { type: "object" } })),
      tool(input({ m: { type: "object", additionalProperties: { enum: [1] } } })),
      usage(["m"], [], [{ m: { a: 2 } }]),
      "breaking",
    ],
    ["X2 where nothing can be said", tool(input(a)), tool(input(a, { not: { required: ["z"] } })), usage(["a"]), "unknown"],
    [
      "X2 inside what is not used",
      tool(input({ f: string })),
      tool(input({ f: { ...string, not: { const: "x" } } })),
      usage(["a"]),
      "compatible",
    ],
    [
      "X2: parameters published for the first time",
      toTool(shop, { name: "t", inputSchema: {} }),
      tool(input(a)),
      usage([]),
      "dangerous",
    ],
  ];
  it.each(cases)("%s", (_title, before, after, how, level) => {
    expect(worst(before, after, how)).toBe(level);
  });

  const out = (properties: JsonObject, more: JsonObject = {}): Tool => tool({}, input(properties, more));
  const outputs: readonly [string, Tool, Tool, Usage, Level][] = [
    ["O1", tool({}), out({ id: string }), usage([], ["id"]), "compatible"],
    ["O2 read", out({ id: string }), tool({}), usage([], ["id"]), "dangerous"],
    ["O2 not read", out({ id: string }), tool({}), usage([]), "compatible"],
    ["O3 read", out({ id: string }, { required: ["id"] }), out({ id: string }), usage([], ["id"]), "breaking"],
    [
      "O3 read inside a list",
      out({ items: { type: "array", items: { type: "object", properties: { id: string } } } }),
      out({ items: { type: "array", items: { type: "object" } } }),
      usage([], ["items[].id"]),
      "breaking",
    ],
    [
      "O3 of a part of what is read as a whole",
      out({ order: { type: "object", properties: { id: string } } }),
      out({ order: { type: "object" } }),
      usage([], ["order"]),
      "dangerous",
    ],
    [
      "O3 of what holds the field that is read",
      out({ order: { type: "object", properties: { id: string } } }),
      out({}),
      usage([], ["order.id"]),
      "breaking",
    ],
    ["O3 not read", out({ id: string, x: string }), out({ id: string }), usage([], ["id"]), "compatible"],
    ["O4", out({ id: string }), out({ id: string, x: string }), usage([], ["id"]), "compatible"],
    ["O5 read", out({ total: string }), out({ total: number }), usage([], ["total"]), "dangerous"],
    ["O5 of an id that is passed on", out({ order_id: string }), out({ order_id: number }), usage([], ["order_id"]), "breaking"],
    [
      "O5: an id that may be null",
      out({ order_id: string }),
      out({ order_id: { type: ["string", "null"] } }),
      usage([], ["order_id"]),
      "dangerous",
    ],
    ["O5 not read", out({ total: string }), out({ total: number }), usage([], ["id"]), "compatible"],
    ["O6 read", out({ state: { enum: ["x"] } }), out({ state: { enum: ["x", "y"] } }), usage([], ["state"]), "dangerous"],
    ["O7", out({ state: string }), out({ state: { enum: ["x"] } }), usage([], ["state"]), "compatible"],
    ["A1", tool({}, undefined, { annotations: { readOnlyHint: true } }), tool({}), usage([]), "safety"],
    ["A2", tool({}, undefined, { annotations: { idempotentHint: true } }), tool({}), usage([]), "review"],
    ["A3", tool({}, undefined, { annotations: { openWorldHint: false } }), tool({}), usage([]), "review"],
    ["A4", tool({}), tool({}, undefined, { annotations: { readOnlyHint: true } }), usage([]), "compatible"],
    ["D1", tool({}), tool({}, undefined, { description: "New." }), usage([]), "review"],
    ["D3", tool({}), tool({}, undefined, { icons: [] }), usage([]), "compatible"],
    ["X1", tool({}), tool({}, undefined, { execution: { taskSupport: "required" } }), usage([]), "dangerous"],
  ];
  it.each(outputs)("%s", (_title, before, after, how, level) => {
    expect(worst(before, after, how)).toBe(level);
  });

  it("a tool that left breaks, and the same tool is compatible", () => {
    const before = tool({});
    expect(judge(before, undefined, usage([]))).toMatchObject({
      level: "breaking",
      reasons: [{ rule: "T1" }],
      safeByUsage: false,
    });
    expect(judge(before, tool({}), usage([]))).toEqual({ level: "compatible", reasons: [], safeByUsage: false, overruled: [] });
  });

  it("T2 is unknown, T4 and N1 touch nobody", () => {
    const change = { tool: "shop/t" as Tool["key"], verdict: "compatible", path: "", text: "" } as const;
    expect(levelOf({ ...change, rule: "T2" }, usage([]))).toBe("unknown");
    expect(levelOf({ ...change, rule: "T4" }, usage([]))).toBe("compatible");
    expect(levelOf({ ...change, rule: "N1" }, usage([]))).toBe("compatible");
    expect(levelOf({ ...change, rule: "T3", verdict: "breaking" }, usage([]))).toBe("breaking");
  });

  it("reasons come worst first, and compatible ones not at all", () => {
    const before = tool(input({ a: string, b: { ...number, default: 1 } }));
    const after = tool(input({ a: number, b: { ...number, default: 2 }, c: string }), undefined, { description: "New." });
    expect(judge(before, after, usage(["a"])).reasons.map((reason) => [reason.rule, reason.level])).toEqual([
      ["I10", "breaking"],
      ["I16", "dangerous"],
      ["D1", "review"],
    ]);
  });
});

describe("usage before schema", () => {
  const before = tool(input({ a: { enum: ["x", "y"] }, n: number, s: string }));
  const recorded = [{ a: "x", n: 3, s: "abc" }];

  const safe: readonly [string, Tool, string[]][] = [
    ["values that nobody sent are gone", tool(input({ a: { enum: ["x"] }, n: number, s: string })), ["a", "n", "s"]],
    [
      "a bound that no call meets",
      tool(input({ a: { enum: ["x", "y"] }, n: { ...number, maximum: 5 }, s: string })),
      ["a", "n", "s"],
    ],
    [
      "whole numbers, and only such were sent",
      tool(input({ a: { enum: ["x", "y"] }, n: { type: "integer" }, s: string })),
      ["a", "n", "s"],
    ],
    [
      "values listed that include the ones sent",
      tool(input({ a: { enum: ["x", "y"] }, n: number, s: { enum: ["abc"] } })),
      ["a", "n", "s"],
    ],
  ];
  it.each(safe)("keeps a skill as it is: %s", (_title, after, params) => {
    expect(judge(before, after, usage(params, [], recorded))).toMatchObject({
      level: "compatible",
      reasons: [],
      safeByUsage: true,
    });
    expect(judge(before, after, usage(params)).level).not.toBe("compatible");
  });

  const hit: readonly [string, Tool][] = [
    ["a value that was sent is gone", tool(input({ a: { enum: ["y"] }, n: number, s: string }))],
    ["a bound that a call meets", tool(input({ a: { enum: ["x", "y"] }, n: { ...number, maximum: 2 }, s: string }))],
    [
      "a required parameter that no call had",
      tool(input({ a: { enum: ["x", "y"] }, n: number, s: string, z: string }, { required: ["z"] })),
    ],
    ["another type", tool(input({ a: { enum: ["x", "y"] }, n: string, s: string }))],
    [
      "a closed object and an undeclared key",
      tool(input({ a: { enum: ["x", "y"] }, n: number }, { additionalProperties: false })),
    ],
  ];
  it.each(hit)("rests a skill where a recorded call shows the harm: %s", (_title, after) => {
    expect(judge(before, after, usage([], [], recorded)).level).toBe("breaking");
  });

  it("does not take a silently ignored argument for a safe one", () => {
    const judgment = judge(before, tool(input({ a: { enum: ["x", "y"] }, n: number })), usage(["s"], [], recorded));
    expect(judgment).toMatchObject({ level: "breaking", safeByUsage: false, reasons: [{ rule: "I7" }] });
  });

  it("does not take a moved default for a safe one where calls leave the parameter out", () => {
    const [old, now] = [1, 2].map((fallback) => tool(input({ a: string, n: { ...number, default: fallback } })));
    if (old === undefined || now === undefined) throw new Error("no tools");
    expect(judge(old, now, usage(["a"], [], [{ a: "x" }]))).toMatchObject({ level: "dangerous", safeByUsage: false });
    expect(judge(old, now, usage(["a"], [], [{ a: "x", n: 1 }])).level).toBe("compatible");
  });

  it("keeps what texts need: safe by usage and still to be reviewed", () => {
    const after = tool(input({ a: { enum: ["x"] }, n: number, s: string }), undefined, { description: "New." });
    expect(judge(before, after, usage(["a"], [], recorded))).toMatchObject({ level: "review", safeByUsage: true });
  });

  it("says nothing for results: a read field that left rests the skill whatever was sent", () => {
    const [old, now] = [{ id: string }, {}].map((fields) => tool(input({ a: { enum: ["x", "y"] } }), input(fields)));
    if (old === undefined || now === undefined) throw new Error("no tools");
    expect(judge(old, now, usage(["a"], ["id"], [{ a: "x" }]))).toMatchObject({ level: "breaking", safeByUsage: false });
  });

  it("a safety change is one whatever was sent", () => {
    const safeTool = tool(input({ a: { enum: ["x", "y"] } }), undefined, { annotations: { readOnlyHint: true } });
    expect(judge(safeTool, tool(input({ a: { enum: ["x"] } })), usage(["a"], [], [{ a: "x" }]))).toMatchObject({
      level: "safety",
      safeByUsage: false,
    });
  });

  it("redacted values that a skill is known to set count as given", () => {
    const old = tool(input({ token: string, n: number }, { required: ["token"] }));
    const now = tool(input({ token: string, n: { ...number, maximum: 5 } }, { required: ["token"] }));
    expect(judge(old, now, usage(["token", "n"], [], [{ n: 3 }]))).toMatchObject({ level: "compatible", safeByUsage: true });
    expect(judge(old, now, usage(["n"], [], [{ n: 3 }])).safeByUsage).toBe(false);
  });

  it("calls that did not fit the old schema either prove nothing", () => {
    const old = tool(input({ n: number }));
    const now = tool(input({ n: { ...number, maximum: 5 } }));
    expect(judge(old, now, usage(["n"], [], [{ n: "three" }]))).toMatchObject({ level: "dangerous", safeByUsage: false });
  });

  it("leaves patterns undecided, unless somebody who may run them says otherwise", () => {
    const [old, now] = [tool(input({ s: string })), tool(input({ s: { ...string, pattern: "^a" } }))];
    const how = usage(["s"], [], [{ s: "abc" }]);
    expect(judge(old, now, how)).toMatchObject({ level: "dangerous", safeByUsage: false });
    expect(judge(old, now, how, () => true)).toMatchObject({ level: "compatible", safeByUsage: true });
    expect(judge(old, now, how, (schema) => schema !== now.inputSchema).level).toBe("breaking");
  });

  it("an unchanged pattern elsewhere does not spoil what can be decided", () => {
    const [old, now] = [9, 5].map((maximum) => tool(input({ s: { ...string, pattern: "^a" }, n: { ...number, maximum } })));
    if (old === undefined || now === undefined) throw new Error("no tools");
    expect(judge(old, now, usage(["s", "n"], [], [{ s: "abc", n: 3 }]))).toMatchObject({
      level: "compatible",
      safeByUsage: true,
    });
  });
});

describe("validation without patterns", () => {
  const schema: JsonObject = {
    type: "object",
    properties: {
      a: { type: "string", maxLength: 3 },
      n: { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }] },
      list: { type: "array", items: { type: "object", properties: { sku: string }, required: ["sku"] }, uniqueItems: true },
      p: { type: "string", pattern: "^(a+)+$" },
    },
    required: ["a"],
    additionalProperties: false,
  };
  const cases: readonly [JsonValue, boolean | "undecided"][] = [
    [{ a: "abc" }, true],
    [{ a: "abcd" }, false],
    [{ a: "🙂🙂🙂" }, true],
    [{}, false],
    [{ a: "a", n: null }, true],
    [{ a: "a", n: 0 }, false],
    [{ a: "a", n: 1.5 }, false],
    [{ a: "a", list: [{ sku: "x" }] }, true],
    [{ a: "a", list: [{}] }, false],
    [{ a: "a", list: [{ sku: "x" }, { sku: "x" }] }, false],
    [{ a: "a", x: 1 }, false],
    [{ a: "a", p: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!" }, "undecided"],
    ["text", false],
  ];
  it.each(cases)("%j: %s", (args, expected) => {
    expect(validates(schema, args)).toBe(expected);
  });

  it("finds the values at a field, items one by one", () => {
    const recorded: JsonValue[] = [{ list: [{ sku: "x" }, { sku: "y" }] }, { list: [] }, {}];
    expect(valuesAt(recorded, "list[].sku")).toEqual(["x", "y"]);
    expect(valuesAt(recorded, "list")).toEqual([[{ sku: "x" }, { sku: "y" }], []]);
    expect(valuesAt([{ m: { k: 1, l: 2 } }], "m.*")).toEqual([1, 2]);
  });

  it("knows how far a path bears on a field", () => {
    expect(bearingOf(["list[].sku"], "list")).toBe("whole");
    expect(bearingOf(["list"], "list[].sku")).toBe("around");
    expect(bearingOf(["items.0.sku"], "items[].sku")).toBe("whole");
    expect(bearingOf(["lists"], "list")).toBe("no");
    expect(bearingOf(["m.key.x"], "m.*.x")).toBe("whole");
  });
});

describe("every change of a tool has a level", () => {
  it("for any usage, and none of them is worse than its rule allows", () => {
    const before = tool(input({ a: { enum: ["x", "y"] }, b: string }, { required: ["a"] }), input({ id: string }));
    const after = tool(input({ a: { enum: ["x"] }, c: string }, { required: ["a", "c"] }), input({ id: number }), {
      annotations: { readOnlyHint: true },
    });
    for (const change of diffTool(before, after).changes)
      for (const how of [usage([]), usage(["a", "b"], ["id"]), usage([], [], [{ a: "y" }])])
        expect(["compatible", "review", "dangerous", "unknown", "breaking"]).toContain(levelOf(change, how));
  });
});
