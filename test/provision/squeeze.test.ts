import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../src/catalog/canonical.js";
import type { View } from "../../src/model/view.js";
import { assembleView } from "../../src/provision/assemble.js";
import { cuts, isWithinCharacter, isWithinWord } from "../../src/provision/ends.js";
import { sketches, turn } from "./sketches.js";
import type { TurnSketch } from "./turn.js";

const starts = sketches.map((sketch): TurnSketch => ({ ...sketch, request: { ...sketch.request, kind: "start" } }));
const budgeted = (sketch: TurnSketch, budgetTokens: number): View =>
  turn({ ...sketch, request: { ...sketch.request, budgetTokens } }).view;
const budgets = fc.integer({ min: 200, max: 2_500 });

/** Tasks with words, and characters of several parts, that are longer than there is room for. */
const AWKWARD = [
  "Please cancel order O-1001.",
  "x".repeat(500),
  `Open https://example.org/${"very/long/path-".repeat(30)} and look`,
  "\u{1f469}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}".repeat(60),
  "\u{1f44d}\u{1f3fd}".repeat(150),
  `a${"\u{1f1e9}\u{1f1ea}".repeat(150)}`,
  `a${"e\u0301".repeat(150)}`,
  "\u6ce8\u6587".repeat(200),
  "\u1112\u1161\u11ab".repeat(100),
];

/** What a view shows or names as left out. */
function told(view: View): Set<string> {
  return new Set([
    ...view.tools.map((tool) => tool.tool),
    ...(view.skills ?? []).map((skill) => skill.name),
    ...(view.left_out ?? []).flatMap(({ id }) => [id, ...id.split(", ")]),
  ]);
}

const named = (view: View): string[] => [
  ...(view.plan?.from ?? []),
  ...(view.plan?.steps.flatMap((step) => [...step.skills, ...step.tools]) ?? []),
];

/** The need that a view's notice of the budget states; undefined without such a notice. */
function needOf(view: View): number | undefined {
  const notice = view.notices?.find(({ code }) => code === "budget");
  return notice === undefined ? undefined : Number(/takes (\d+)/.exec(notice.text)?.[1]);
}

/** Is the text the other, or its beginning in whole words with the mark of a cut? */
function isWholeWords(text: string, of: string): boolean {
  if (text === of) return true;
  const cut = text.slice(0, -1);
  const rest = of.slice(cut.length);
  return text.endsWith("~") && of.startsWith(cut) && !isWithinWord(Array.from(cut).at(-1) ?? "", Array.from(rest)[0] ?? "");
}

describe("a text that is too long", () => {
  it("ends within no character, and within no word where that leaves the better half of it", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "grapheme", maxLength: 80 }), fc.constantFrom(...AWKWARD)),
        fc.integer({ min: 4, max: 60 }),
        (text, most) => {
          const [at, whole] = [cuts.atWord(text, most), cuts.firstWords(text, most)];
          for (const cut of [at, whole]) {
            expect(Array.from(cut).length).toBeLessThanOrEqual(Math.max(most, 1));
            if (cut === text) continue;
            const end = text.slice(cut.length - 1);
            expect(text.startsWith(cut.slice(0, -1)) && cut.endsWith("~")).toBe(true);
            expect(isWithinCharacter(Array.from(cut).at(-2) ?? " ", Array.from(end)[0] ?? " ")).toBe(false);
          }
          if (Array.from(whole).length > most / 2 + 2) expect(isWithinWordAt(text, at)).toBe(false);
        },
      ),
      { numRuns: 300 },
    );
  });
});

/** Does the cut text end where a word of the whole goes on? */
function isWithinWordAt(text: string, cut: string): boolean {
  if (cut === text) return false;
  return isWithinWord(Array.from(cut).at(-2) ?? " ", Array.from(text.slice(cut.length - 1))[0] ?? " ");
}

describe("a view that is cut to a tight budget, whatever was found", () => {
  it("has a plan that names no tool and no skill but those it shows or names as left out", () => {
    fc.assert(
      fc.property(starts, budgets, (sketch, budget) => {
        const view = budgeted(sketch, budget);
        const known = told(view);
        expect(named(view).filter((name) => !known.has(name))).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it("shows with a larger budget every tool of the plan that a smaller one showed, and tells no fewer steps", () => {
    fc.assert(
      fc.property(starts, fc.array(budgets, { minLength: 2, maxLength: 6 }), (sketch, sizes) => {
        const plan = new Set(budgeted(sketch, 32_000).plan?.steps.flatMap((step) => step.tools));
        let shown: string[] = [];
        let steps = 0;
        for (const budget of [...sizes].sort((a, b) => a - b)) {
          const view = budgeted(sketch, budget);
          const now = view.tools.map((tool) => tool.tool).filter((key) => plan.has(key));
          expect(now).toEqual(expect.arrayContaining(shown));
          expect(view.plan?.steps.length).toBeGreaterThanOrEqual(steps);
          shown = now;
          steps = view.plan?.steps.length ?? 0;
        }
      }),
      { numRuns: 30 },
    );
  });

  it("says that the budget was too small and what suffices, and with that much it is whole", () => {
    fc.assert(
      fc.property(sketches, budgets, (sketch, budget) => {
        const view = budgeted(sketch, budget);
        const need = needOf(view);
        if (need === undefined) {
          expect((view.left_out ?? []).map(({ why }) => why).filter((why) => /over the budget|^budget/.test(why))).toEqual([]);
          return;
        }
        expect(need).toBeGreaterThan(budget);
        expect(needOf(budgeted(sketch, need))).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  it("cuts no text within a word: goals end at words, notices are whole sentences or not there and counted", () => {
    fc.assert(
      fc.property(starts, budgets, (sketch, budget) => {
        const { plan } = budgeted(sketch, 32_000);
        const view = budgeted(sketch, budget);
        for (const [n, step] of (view.plan?.steps ?? []).entries()) {
          expect(isWholeWords(step.goal, plan?.steps[n]?.goal ?? "")).toBe(true);
        }
        const given = new Map((sketch.found?.notices ?? []).map((notice) => [`${notice.code} ${notice.text}`, notice]));
        const shown = (view.notices ?? []).filter(({ code }) => code !== "budget");
        for (const { code, text } of shown) {
          const from = [...given.values()].filter((one) => one.code === code);
          expect(text === "The limit was cut." || from.some((one) => one.text.replaceAll("\n", " ").includes(text.trim()))).toBe(
            true,
          );
        }
        const untold = given.size - shown.length;
        if (untold > 0) {
          const notice = view.notices?.find(({ code }) => code === "budget");
          expect(notice?.text).toMatch(untold === 1 ? /1 notice is left out/ : new RegExp(`${untold} notices are left out`));
        }
      }),
      { numRuns: 60 },
    );
  });

  it("names the tools of the plan before anything else it leaves out, with how to get them", () => {
    const view = budgeted(
      {
        request: { kind: "start", text: "Please cancel order O-1001, I ordered it by mistake." },
        planning: [["plan-cancel-order", 1]],
        tools: [["shop/cancel_order", 1]],
      },
      380,
    );
    const plan = view.plan?.steps.flatMap((step) => step.tools) ?? [];
    const shown = view.tools.map((tool) => tool.tool);
    const missing = [...new Set(plan)].filter((key) => !shown.includes(key));
    expect(missing.length).toBeGreaterThan(0);
    const [first] = view.left_out ?? [];
    expect(first?.id.split(", ").sort()).toEqual(missing.sort());
    expect(first?.why).toContain("describe_tools");
  });

  it("has room for the tools of the plan before anything that no step needs", () => {
    for (let budget = 300; budget <= 1_000; budget += 20) {
      const sketch: TurnSketch = {
        request: { kind: "start", text: "Please cancel order O-1001, I ordered it by mistake.", detail: "full" },
        planning: [["plan-cancel-order", 1]],
        atomic: [["atomic-open-return", 0.5]],
        tools: [["shop/cancel_order", 1]],
      };
      const view = budgeted(sketch, budget);
      const plan = new Set(budgeted(sketch, 32_000).plan?.steps.flatMap((step) => step.tools));
      const shown = view.tools.map((tool) => tool.tool);
      const isWhole = [...plan].every((key) => shown.includes(key));
      if (!isWhole) expect(shown.filter((key) => !plan.has(key))).toEqual([]);
    }
  });

  it("keeps to every budget that can be asked for, in an episode as it is named here and with any task in any script", () => {
    const latin = fc
      .array(fc.stringMatching(/^[A-Za-z]{1,12}$/), { minLength: 1, maxLength: 40 })
      .map((parts) => parts.join(" "));
    const task = fc.oneof(latin, fc.string({ unit: "grapheme", minLength: 1, maxLength: 300 }), fc.constantFrom(...AWKWARD));
    fc.assert(
      fc.property(task, fc.integer({ min: 200, max: 400 }), (text, budgetTokens) => {
        const { view } = turn({
          request: { kind: "start", text, budgetTokens },
          tools: [["shop/cancel_order", 1]],
          found: { leftOut: [{ kind: "tool", id: "shop/list_orders", why: "no step of the plan needs it" }] },
          episode: "ep_0b5e2a1c9f7d4e6a8b3c",
          turn: 1,
        });
        expect(view.budgets.tokens.used).toBeLessThanOrEqual(budgetTokens);
      }),
      { numRuns: 60 },
    );
  });

  it("is the smallest there is where the budget is below it, and says so", () => {
    const view = turn({
      request: { kind: "start", text: "cancel order O-1001", budgetTokens: 200 },
      planning: [["plan-cancel-order", 1]],
      tools: [["shop/cancel_order", 1]],
      episode: "\u6ce8\u6587".repeat(50),
      turn: 1,
    }).view;
    expect(view.budgets.tokens.used).toBeGreaterThan(200);
    expect(view.plan?.steps).toEqual([]);
    expect(view.left_out).toEqual([{ kind: "tool", id: expect.stringMatching(/^\d+ more$/) as string, why: "budget" }]);
    expect(view.notices?.[0]?.text).toMatch(/^All takes \d+\.$/);
  });

  it("is cut as it was before forms where its record has none", () => {
    fc.assert(
      fc.property(sketches, budgets, (sketch, budget) => {
        const { input } = turn({ ...sketch, limits: { form: 1 }, request: { ...sketch.request, budgetTokens: budget } });
        const { form, tokensMost, ...limits } = input.found.limits;
        expect([form, tokensMost]).toEqual([1, 32_000]);
        const view = assembleView({ ...input, found: { ...input.found, limits } });
        expect(JSON.stringify(view)).toBe(JSON.stringify(assembleView(input)));
      }),
      { numRuns: 20 },
    );
  });

  it("is told and cut as form 2 did where its record says so, to the byte", () => {
    const step = (goal: string) => ({ goal, skills: [], tools: ["shop/cancel_order"] });
    const views = AWKWARD.flatMap((text) =>
      [200, 260, 400, 900, 4_000].flatMap((budgetTokens) => {
        const request = { kind: "start", text, budgetTokens } as const;
        const { input } = turn({ request, tools: [["shop/cancel_order", 1]], limits: { form: 2 } });
        const plan = { source: "derived" as const, from: [], steps: [step(text), step("Look"), step(text)] };
        return [undefined, plan].map((decided) => assembleView({ ...input, decisions: { ...input.decisions, plan: decided } }));
      }),
    );
    expect(sha256(JSON.stringify(views))).toBe("b27318252c279b6ef051d3a8e34de751e190cca770fb8fc0eeb87a7a66a31ce4");
  });

  it("keeps why a model's part was not used where there is room, and in any case that it was not", () => {
    const sketch: TurnSketch = {
      request: { kind: "start", text: "Please cancel order O-1001." },
      planning: [["plan-cancel-order", 1]],
      tools: [["shop/cancel_order", 1]],
    };
    const { input } = turn({ ...sketch, request: { ...sketch.request, budgetTokens: 200 } });
    const fellBack = "the model's endpoint did not answer within 20 s and rests until the next turn ".repeat(4);
    const at = (tokens: number): View =>
      assembleView({
        ...input,
        decisions: { ...input.decisions, fellBack },
        found: { ...input.found, limits: { ...input.found.limits, tokens } },
      });
    expect(at(200).manager.fellBack).toBe("yes");
    expect(at(1_500).manager.fellBack).toBe(fellBack);
  });
});
