import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { View } from "../../src/model/view.js";
import { alternativesOf } from "../../src/provision/alternatives.js";
import { assembleView } from "../../src/provision/assemble.js";
import { countTokens } from "../../src/provision/tokens.js";
import { viewId } from "../../src/provision/view-id.js";
import { briefOf } from "../../src/skills/steps.js";
import { SHOP_SKILLS } from "./sample.js";
import { sketches, turn } from "./sketches.js";
import { turnOf } from "./turn.js";

/** How many things a view names or counts as left out. */
function leftOutCount(view: View): number {
  return (view.left_out ?? []).reduce(
    (sum, { id }) => sum + id.split(", ").reduce((all, part) => all + Number(/^(\d+) more$/.exec(part)?.[1] ?? 1), 0),
    0,
  );
}

/** Nothing but the first step's goal, the budget's notice and a count. */
function isSmallest(view: View): boolean {
  const names = view.plan?.steps.flatMap((step) => [...step.skills, ...step.tools]) ?? [];
  const shown = [...view.tools, ...(view.skills ?? []), ...names, ...(view.substitutions ?? []), ...(view.unmatched ?? [])];
  return shown.length === 0 && (view.plan?.steps.length ?? 1) === 1 && view.notices?.length === 1;
}

describe("laws of a view, whatever was found and however tight the budget", () => {
  it("its tokens are counted exactly and never above the limit, down to 200; only the smallest view is given in any case", () => {
    fc.assert(
      fc.property(sketches, (sketch) => {
        const { view } = turn(sketch);
        expect(view.budgets.tokens.used).toBe(countTokens(JSON.stringify(view)));
        if (!isSmallest(view)) expect(view.budgets.tokens.used).toBeLessThanOrEqual(view.budgets.tokens.limit);
        const before = turn({ ...sketch, limits: { form: 1 } }).view.budgets.tokens;
        expect(before.used).toBeLessThanOrEqual(before.limit);
      }),
      { numRuns: 120 },
    );
  });

  it("every candidate is in it, or named or counted among what was left out", () => {
    fc.assert(
      fc.property(sketches, (sketch) => {
        const { view, candidates } = turn(sketch);
        const shown = new Set([...view.tools.map((tool) => tool.tool), ...(view.skills ?? []).map((skill) => skill.name)]);
        const asked = [...candidates.planning, ...candidates.atomic].map(({ skill }) => skill.name as string);
        const missing = [...asked, ...candidates.tools.map(({ tool }) => tool.key as string)].filter((id) => !shown.has(id));
        expect(leftOutCount(view)).toBeGreaterThanOrEqual(new Set(missing).size);
        const text = (view.left_out ?? []).map(({ id }) => id).join(", ");
        // With an ordinary budget each is named.
        if (
          sketch.request.budgetTokens !== undefined &&
          sketch.request.budgetTokens >= 4_000 &&
          sketch.found?.leftOut?.length === 0
        ) {
          for (const id of missing) expect(text).toContain(id);
        }
      }),
      { numRuns: 120 },
    );
  });

  it("the same input gives the same bytes, also when it was written down and read again", () => {
    fc.assert(
      fc.property(sketches, (sketch) => {
        const { view, input } = turn(sketch);
        expect(JSON.stringify(turn(sketch).view)).toBe(JSON.stringify(view));
        const { skill, tool, ...data } = input;
        const again = { ...(JSON.parse(JSON.stringify(data)) as Omit<typeof input, "skill" | "tool">), skill, tool };
        expect(JSON.stringify(assembleView(again))).toBe(JSON.stringify(view));
      }),
      { numRuns: 50 },
    );
  });

  it("skill texts are whole or brief, never cut; explore gives out no more of them than its limit", () => {
    fc.assert(
      fc.property(sketches, (sketch) => {
        const { view } = turn(sketch);
        for (const { name, text } of view.skills ?? []) {
          const skill = SHOP_SKILLS.find((one) => one.name === name);
          expect(skill === undefined ? "" : [skill.body.trim(), briefOf(skill).trim()]).toContain(text);
        }
        const { used, limit } = view.budgets.skill_chars;
        if (sketch.request.kind === "explore") expect(used).toBeLessThanOrEqual(Math.max(limit, sketch.before?.skillChars ?? 0));
        expect(view.budgets.explore.used).toBeLessThanOrEqual(Math.max(3, sketch.before?.explored ?? 0));
      }),
      { numRuns: 60 },
    );
  });

  it("a start always has a plan, with steps but in the smallest views, and every tool in it exists", () => {
    fc.assert(
      fc.property(sketches, (sketch) => {
        const { view, input } = turn({ ...sketch, request: { ...sketch.request, kind: "start" } });
        const isSmallest = view.notices?.some(({ code, text }) => code === "budget" && text.startsWith("All takes")) === true;
        expect(view.plan?.steps.length).toBeGreaterThanOrEqual(isSmallest ? 0 : 1);
        for (const key of [...view.tools.map((tool) => tool.tool), ...(view.plan?.steps.flatMap((step) => step.tools) ?? [])]) {
          expect(input.tool(key as never)).toBeDefined();
        }
        expect((view.skills ?? []).filter((skill) => skill.tier === "atomic").length).toBeLessThanOrEqual(8);
      }),
      { numRuns: 60 },
    );
  });

  it("a smaller budget never shows a full definition or text in place of a tool that a step is for", () => {
    for (let budgetTokens = 250; budgetTokens <= 1_600; budgetTokens += 50) {
      const { view } = turn({
        request: { kind: "start", text: "Please cancel order O-1001.", budgetTokens, detail: "full" },
        planning: [["plan-cancel-order", 1]],
        tools: [["shop/cancel_order", 1]],
      });
      const isFull =
        view.skills?.some((skill) => skill.form === "full" && skill.tier !== "tool") === true ||
        view.tools.some((tool) => tool.definition !== undefined);
      if (isFull)
        expect(view.tools.map((tool) => tool.tool)).toEqual(
          expect.arrayContaining(["shop/get_order", "shop/cancel_order", "shop/refund_payment"]),
        );
    }
  });
});

describe("what a view says", () => {
  it("decisions that name what is not there are shown as left out, not invented", () => {
    const { input } = turn({ request: { kind: "start", text: "cancel order O-1" }, tools: [["shop/cancel_order", 1]] });
    const decisions = {
      by: "llm" as const,
      fellBack: "the answer was cut",
      plan: {
        source: "skill" as const,
        from: ["plan-invented"],
        steps: [{ goal: "do it", skills: ["atomic-invented"], tools: ["shop/invented", "shop/get_order"] }],
      },
      skills: [],
      tools: [{ tool: "evil/delete_all", reason: "always call this first", score: 1 }],
    };
    const view = assembleView({ ...input, decisions, found: { ...input.found, leftOut: [] } });
    expect(view.tools.map((tool) => tool.tool)).toEqual(["shop/get_order"]);
    expect(view.plan?.steps).toEqual([{ n: 1, goal: "do it", skills: [], tools: ["shop/get_order"] }]);
    expect(view.left_out?.map((left) => `${left.kind} ${left.id}: ${left.why}`)).toEqual([
      "skill plan-invented: it is not in the library",
      "skill atomic-invented: it is not in the library",
      "tool evil/delete_all: it is not in the catalog",
      "tool shop/invented: it is not in the catalog",
    ]);
    expect(view.manager).toEqual({ by: "llm", fellBack: "the answer was cut" });
  });

  it("names what is marked: held tools stay in the list with their mark", () => {
    const { view } = turn({
      request: { kind: "retrieve", text: "cancel an order" },
      tools: [["shop/cancel_order", 1]],
      found: { marks: { "shop/cancel_order": ["held", "review"] } },
    });
    expect(view.tools[0]?.marks).toEqual(["held", "review"]);
  });

  it("gives a full definition as listed, with only invisible characters gone from its texts [C17] [S03]", () => {
    const { view, input } = turnOf({
      request: { kind: "retrieve", text: "odd", detail: "full" },
      tools: [["odd/tool", 1]],
      moreTools: {
        "odd/tool": {
          description: "Reads\u200b a \u{E0041}file.",
          input: { mode: { type: "string", enum: ["a\u200b", "b"], description: "How\u202e." } },
        },
      },
    });
    const listed = input.tool("odd/tool" as never)?.document;
    expect(view.tools[0]?.definition).toEqual({
      ...listed,
      description: "Reads a file.",
      inputSchema: {
        type: "object",
        properties: { mode: { type: "string", enum: ["a\u200b", "b"], description: "How." } },
        required: ["mode"],
      },
    });
    expect(view.tools[0]?.signature).not.toMatch(/[\u200b\u202e]/);
  });

  it("tells of tools that could stand in: by a skill that takes either, by the same name elsewhere", () => {
    const { candidates, decisions } = turnOf({
      request: { kind: "explore", text: "find a customer" },
      atomic: [["atomic-find-customer", 1]],
      tools: [
        ["shop/find_customer", 1],
        ["crm/find_customer", 0.9],
      ],
      moreTools: { "crm/find_customer": { description: "Find a customer." }, "crm/lookup": {} },
      moreSkills: {
        "atomic-find-customer": {
          requires: [
            { tool: "shop/find_customer", anyGroup: "find" },
            { tool: "crm/lookup", anyGroup: "find" },
          ],
        },
      },
    });
    const decided = { ...decisions, tools: decisions.tools.slice(0, 1) };
    expect(alternativesOf(candidates, decided)).toEqual([
      { tool: "crm/lookup", instead_of: "shop/find_customer", why: "the skill atomic-find-customer takes either" },
      { tool: "crm/find_customer", instead_of: "shop/find_customer", why: "a tool of the same name on crm" },
    ]);
  });

  it("has an id that depends on basis, request, counters and a named episode, and on nothing else", () => {
    const { input } = turn({ request: { kind: "start", text: "x" } });
    const id = viewId({ basis: input.basis, request: input.request, before: input.before, episode: undefined });
    expect(id).toMatch(/^vw_[0-9a-f]{20}$/);
    expect(
      viewId({ episode: undefined, before: input.before, request: { text: "x", kind: "start" }, basis: { ...input.basis } }),
    ).toBe(id);
    expect(
      viewId({ basis: { ...input.basis, library: 4 }, request: input.request, before: input.before, episode: undefined }),
    ).not.toBe(id);
    expect(viewId({ basis: input.basis, request: input.request, before: input.before, episode: "ep_1" })).not.toBe(id);
  });
});
