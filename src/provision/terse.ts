/**
 * Telling in fewer words, as views were cut before limits had a form: kept so that they replay byte for byte (tight.ts is the present way).
 */
import type { View } from "../model/view.js";
import { cutFrom, TERSEST, type Draft } from "./draft.js";
import { sayLeftOut, type LeftOut } from "./left-out.js";
import type { Material } from "./material.js";
import { formerCuts } from "./ends.js";

/** Parts of a view that can be told in more or fewer words. */
export interface Told {
  readonly plan: View["plan"];
  readonly notices: NonNullable<View["notices"]>;
  readonly substitutions: NonNullable<View["substitutions"]>;
  readonly leftOut: readonly LeftOut[];
  readonly unmatched: readonly string[];
  readonly fellBack: string | undefined;
}

export function tellTersely(material: Material, draft: Draft): Told {
  const { found, decisions } = material.input;
  const { plan, cut } = tersePlan(material.plan, draft.terse);
  const { rows, untold } = terseSubstitutions(found.substitutions, draft.terse);
  return {
    plan,
    notices: terseNotices(material.notices, draft.terse),
    substitutions: rows,
    leftOut: sayLeftOut([...cut, ...untold, ...cutFrom(material, draft), ...material.left], draft.leftOut),
    unmatched: found.unmatched.slice(0, [20, 10, 5, 3, 0][draft.terse] ?? 0),
    fellBack: decisions.fellBack,
  };
}

/** Goals get shorter, then steps are dropped from the end; the first step stays, at last without its names. */
function tersePlan(plan: View["plan"], terse: number): { plan: View["plan"]; cut: LeftOut[] } {
  if (plan === undefined || terse === 0) return { plan, cut: [] };
  const goalChars = [160, 80, 60, 40, 40, 30, 16][terse] ?? 16;
  const count = [12, 12, 6, 3, 2, 1, 1][terse] ?? 1;
  const kept = plan.steps.slice(0, count).map((step) => ({
    ...step,
    goal: formerCuts.atWord(step.goal, goalChars),
    ...(terse >= 5 ? { skills: [], tools: step.tools.slice(-1) } : {}),
    ...(terse >= TERSEST ? { tools: [] } : {}),
  }));
  const why = "over the token budget";
  const cut = plan.steps
    .slice(count)
    .map((step): LeftOut => ({ kind: "plan", id: `step ${step.n}: ${formerCuts.atWord(step.goal, 40)}`, why }));
  return { plan: { ...plan, from: terse >= TERSEST ? [] : plan.from, steps: kept }, cut };
}

function terseNotices(notices: NonNullable<View["notices"]>, terse: number): NonNullable<View["notices"]> {
  if (terse >= TERSEST) return [];
  return terse < 2
    ? notices
    : notices.map((notice) => ({ code: notice.code, text: formerCuts.atWord(notice.text, terse < 4 ? 60 : 12) }));
}

function terseSubstitutions(
  rows: NonNullable<View["substitutions"]>,
  terse: number,
): { rows: NonNullable<View["substitutions"]>; untold: LeftOut[] } {
  if (terse < 2) return { rows, untold: [] };
  const count = [0, 0, 8, 4, 2, 1, 0][terse] ?? 0;
  const why = "it is gone; what took over is over the token budget";
  return {
    rows: rows.slice(0, count).map((row) => ({ ...row, why: formerCuts.atWord(row.why, terse < 4 ? 60 : 12) })),
    untold: rows.slice(count).map((row): LeftOut => ({ kind: "tool", id: row.asked, why })),
  };
}
