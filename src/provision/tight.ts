/**
 * Telling under a tight budget: plan, notices and substitutions as far as a draft has room for them.
 *
 * What is told is told in whole words and sentences. The plan names no tool and no skill but those that the view shows or that its
 * left_out names, and a notice says that the budget was too small and what would have sufficed.
 */
import type { View } from "../model/view.js";
import { cutFrom, type Draft, type Notice, type Tight } from "./draft.js";
import { sayCut, type LeftOut } from "./left-out.js";
import type { Material, ToolMaterial } from "./material.js";
import { shortNotice } from "./shorten.js";
import type { Told } from "./terse.js";

/** Characters of a goal told in short. */
export const SHORT_GOAL = 40;
/** Characters of the one goal of the smallest views. */
const BARE_GOAL = 20;
/** That a model's part in a view was not used, where there is no room for why. */
const FELL_BACK = "yes";
const STEP_WHY = "over the budget; a larger budget_tokens shows it";
const TOOL_WHY = "over the budget; ask describe_tools";

export function tellTightly(material: Material, draft: Draft, tight: Tight): Told {
  const { found, decisions } = material.input;
  const shown = new Set<string>([...draft.tools].map((tool) => tool.entry.tool));
  for (const skill of draft.skills.keys()) shown.add(skill.name);
  const { entries, names } = sayCut(leftOf(material, draft, tight, shown), tight.named, draft.leftOut);
  const isTold = (name: string): boolean => shown.has(name) || names.has(name);
  return {
    plan: planTold(material, tight, isTold),
    notices: noticesTold(material, tight),
    substitutions: found.substitutions.filter((row) => tight.substitutions.has(row)),
    leftOut: entries,
    unmatched: found.unmatched.slice(0, tight.unmatched),
    fellBack: decisions.fellBack === undefined || tight.fellBack ? decisions.fellBack : FELL_BACK,
  };
}

function planTold(material: Material, tight: Tight, isTold: (name: string) => boolean): View["plan"] {
  const { plan } = material;
  return plan === undefined
    ? undefined
    : {
        ...plan,
        from: plan.from.filter(isTold),
        steps: plan.steps.slice(0, tight.steps).map((step) => ({
          ...step,
          goal: tight.wholeGoals ? step.goal : material.cuts.firstWords(step.goal, tight.bare ? BARE_GOAL : SHORT_GOAL),
          skills: step.skills.filter(isTold),
          tools: step.tools.filter(isTold),
        })),
      };
}

/** What the plan needs first, so that it is named before anything else is. */
function leftOf(material: Material, draft: Draft, tight: Tight, shown: ReadonlySet<string>): LeftOut[] {
  const ofPlan = planTools(material).filter(({ entry }) => !shown.has(entry.tool));
  const keys = new Set(ofPlan.map(({ entry }) => entry.tool));
  const steps = material.plan?.steps.slice(tight.steps) ?? [];
  const rows = material.input.found.substitutions.filter((row) => !tight.substitutions.has(row));
  return [
    // Those that steps name are named first.
    ...[...ofPlan.filter(isNamed), ...ofPlan.filter((tool) => !isNamed(tool))].map(({ entry }): LeftOut => ({
      kind: "tool",
      id: entry.tool,
      why: TOOL_WHY,
    })),
    ...steps.map((step): LeftOut => ({
      kind: "plan",
      id: `step ${step.n}: ${material.cuts.firstWords(step.goal, SHORT_GOAL)}`,
      why: STEP_WHY,
    })),
    ...rows.map((row): LeftOut => ({ kind: "tool", id: row.asked, why: "it is gone; what took over is over the token budget" })),
    ...cutFrom(material, draft)
      .filter(({ id }) => !keys.has(id))
      .map((one) => (one.kind === "tool" && one.why === "over the token budget" ? { ...one, why: TOOL_WHY } : one)),
    ...material.left,
  ];
  function isNamed({ entry }: ToolMaterial): boolean {
    return tight.named.has(entry.tool);
  }
}

/** Tools that steps of the plan name, in the order of the steps. */
export function planTools(material: Material): ToolMaterial[] {
  const byKey = new Map(material.tools.map((tool) => [tool.entry.tool, tool]));
  const keys = new Set(material.plan?.steps.flatMap((step) => step.tools) ?? []);
  return [...keys].flatMap((key) => byKey.get(key) ?? []);
}

function noticesTold(material: Material, tight: Tight): NonNullable<View["notices"]> {
  const told = material.notices.flatMap((notice) => {
    const form = tight.notices.get(notice);
    return form === undefined ? [] : [noticeIn(notice, form)];
  });
  return [budgetNotice(material, tight, material.notices.length - told.length), ...told];
}

export function noticeIn(notice: Notice, form: "short" | "whole"): Notice {
  return form === "whole" ? notice : { code: notice.code, text: shortNotice(notice) ?? notice.text };
}

/** That the budget was too small, what would have sufficed, and, where there is room, the ways to what is not shown. */
export function budgetNotice(material: Material, tight: Tight, untold: number): Notice {
  const { limits, input } = material;
  const { need } = tight;
  const silent = untold === 0 ? "" : ` ${untold} ${untold === 1 ? "notice is" : "notices are"} left out.`;
  const code = "budget";
  if (tight.bare) return { code, text: `All takes ${need}.${silent}` };
  if (!tight.explains) return { code, text: `Budget too small; all takes ${need}.${silent}` };
  const wider =
    input.request.kind !== "start"
      ? "ask for less at once"
      : need <= limits.tokensMost
        ? "set budget_tokens"
        : `the largest budget is ${limits.tokensMost}; ask for the next step alone`;
  const text = `The whole view takes ${need} tokens: ${wider}. describe_tools shows what left_out names, retrieve_tools finds what it counts.${silent}`;
  return { code, text };
}
