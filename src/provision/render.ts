/**
 * Rendering: a draft of a view as its body, told as tersely as the draft says.
 */
import type { View } from "../model/view.js";
import { sayLeftOut, type LeftOut } from "./left-out.js";
import type { Material, SkillMaterial, ToolMaterial } from "./material.js";
import { cutAtWord } from "./signature.js";
import { countTokens } from "./tokens.js";

/** What of the material is shown. */
export interface Draft {
  readonly tools: Set<ToolMaterial>;
  readonly definitions: Set<ToolMaterial>;
  readonly skills: Map<SkillMaterial, "full" | "brief">;
  alternatives: number;
  /** How tersely plan, notices, substitutions and unmatched words are told: 0 = as they are, TERSEST = hardly. */
  terse: number;
  /** Form of left_out (left-out.ts). */
  leftOut: number;
}
/** Terseness at which nothing more can be said with fewer words. */
export const TERSEST = 6;

/** The body with its tokens counted: `budgets.tokens.used` is the exact o200k count of the JSON of all of it. */
export function render(material: Material, draft: Draft): View {
  const { input, limits, isSpent } = material;
  const { request, before, found, decisions } = input;
  const tools = material.tools.filter((tool) => draft.tools.has(tool));
  const skills = material.skills.flatMap((skill) => {
    const form = draft.skills.get(skill);
    return form === undefined ? [] : [skillEntry(skill, form)];
  });
  const { plan, cut } = tersePlan(material.plan, draft.terse);
  const { rows, untold } = terseSubstitutions(found.substitutions, draft.terse);
  const left = [...cut, ...untold, ...cutFrom(material, draft), ...material.left];
  const view: View = {
    view: material.id,
    ...(input.episode === undefined ? {} : { episode: input.episode, ...(input.turn === undefined ? {} : { turn: input.turn }) }),
    basis: input.basis,
    ...(plan === undefined ? {} : { plan }),
    ...(request.kind === "retrieve" ? {} : { skills }),
    tools: tools.map((tool) => (draft.definitions.has(tool) ? withDefinition(tool) : tool.entry)),
    ...(draft.alternatives > 0 ? { alternatives: found.alternatives.slice(0, draft.alternatives) } : {}),
    ...present("notices", terseNotices(material.notices, draft.terse)),
    ...present("substitutions", rows),
    ...present("left_out", sayLeftOut(left, draft.leftOut)),
    ...present("unmatched", found.unmatched.slice(0, [20, 10, 5, 3, 0][draft.terse] ?? 0)),
    budgets: {
      tokens: { used: 0, limit: limits.tokens },
      explore: { used: before.explored + (request.kind === "explore" && !isSpent ? 1 : 0), limit: limits.explore },
      skill_chars: {
        used: before.skillChars + skills.reduce((sum, skill) => sum + countedChars(material, skill.text), 0),
        limit: limits.skillChars,
      },
    },
    manager: { by: decisions.by, ...(decisions.fellBack === undefined ? {} : { fellBack: decisions.fellBack }) },
  };
  view.budgets.tokens.used = usedOf(view);
  return view;
}

/**
 * The number counts itself: written as 0 it is one token, and digits are tokens by threes, so from 1,000 on it adds one.
 */
function usedOf(view: View): number {
  const count = countTokens(JSON.stringify(view));
  return count < 1_000 ? count : count + 1;
}

function present<Key extends string, Item>(key: Key, items: readonly Item[]): { [K in Key]?: Item[] } {
  return (items.length === 0 ? {} : { [key]: [...items] }) as { [K in Key]?: Item[] };
}

export function skillEntry(skill: SkillMaterial, form: "full" | "brief"): NonNullable<View["skills"]>[number] {
  return { name: skill.name, tier: skill.tier, text: form === "full" ? skill.full : skill.brief, form };
}

/** The definition stands behind the signature. */
function withDefinition(tool: ToolMaterial): View["tools"][number] {
  const { tool: key, name, signature, ...rest } = tool.entry;
  return { tool: key, name, signature, ...(tool.definition === undefined ? {} : { definition: tool.definition }), ...rest };
}

/** What the draft does not show of the material. */
function cutFrom(material: Material, draft: Draft): LeftOut[] {
  const why = `it did not fit the budget of ${material.limits.tokens} tokens`;
  const isTold = material.input.request.kind === "explore";
  const skillWhy = isTold ? `${why} or the episode's ${material.limits.skillChars} characters of skill text` : why;
  return [
    ...material.skills
      .filter((skill) => !draft.skills.has(skill))
      .map((skill): LeftOut => ({ kind: "skill", id: skill.name, why: skillWhy })),
    ...material.tools
      .filter((tool) => !draft.tools.has(tool))
      .map((tool): LeftOut => ({ kind: "tool", id: tool.entry.tool, why })),
    ...material.tools
      .filter((tool) => tool.definition !== undefined && draft.tools.has(tool) && !draft.definitions.has(tool))
      .map((tool): LeftOut => ({
        kind: "tool",
        id: tool.entry.tool,
        why: `its full definition did not fit the budget of ${material.limits.tokens} tokens; ask describe_tools`,
      })),
  ];
}

/** Goals get shorter, then steps are dropped from the end; the first step stays, at last without its names. */
function tersePlan(plan: View["plan"], terse: number): { plan: View["plan"]; cut: LeftOut[] } {
  if (plan === undefined || terse === 0) return { plan, cut: [] };
  const goalChars = [160, 80, 60, 40, 40, 30, 16][terse] ?? 16;
  const count = [12, 12, 6, 3, 2, 1, 1][terse] ?? 1;
  const kept = plan.steps.slice(0, count).map((step) => ({
    ...step,
    goal: cutAtWord(step.goal, goalChars),
    ...(terse >= 5 ? { skills: [], tools: step.tools.slice(-1) } : {}),
    ...(terse >= TERSEST ? { tools: [] } : {}),
  }));
  const why = "it did not fit the token budget";
  const cut = plan.steps
    .slice(count)
    .map((step): LeftOut => ({ kind: "plan", id: `step ${step.n}: ${cutAtWord(step.goal, 40)}`, why }));
  return { plan: { ...plan, from: terse >= TERSEST ? [] : plan.from, steps: kept }, cut };
}

function terseNotices(notices: NonNullable<View["notices"]>, terse: number): NonNullable<View["notices"]> {
  if (terse >= TERSEST) return [];
  return terse < 2
    ? notices
    : notices.map((notice) => ({ code: notice.code, text: cutAtWord(notice.text, terse < 4 ? 60 : 12) }));
}

function terseSubstitutions(
  rows: NonNullable<View["substitutions"]>,
  terse: number,
): { rows: NonNullable<View["substitutions"]>; untold: LeftOut[] } {
  if (terse < 2) return { rows, untold: [] };
  const count = [0, 0, 8, 4, 2, 1, 0][terse] ?? 0;
  const why = "it is gone; what took over did not fit the token budget";
  return {
    rows: rows.slice(0, count).map((row) => ({ ...row, why: cutAtWord(row.why, terse < 4 ? 60 : 12) })),
    untold: rows.slice(count).map((row): LeftOut => ({ kind: "tool", id: row.asked, why })),
  };
}

/** Characters of a skill's text that count against the episode: only what explore shows does. */
export function countedChars(material: Material, text: string): number {
  return material.input.request.kind === "explore" ? text.length : 0;
}

/** Tokens of what was left out, as a view says it. */
export function leftOutTokens(view: View): number {
  return view.left_out === undefined ? 0 : countTokens(JSON.stringify(view.left_out));
}
