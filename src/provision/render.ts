/**
 * Rendering: a draft of a view as its body, told as tersely as the draft says.
 */
import type { View } from "../model/view.js";
import { sayLeftOut, type LeftOut } from "./left-out.js";
import type { Material, SkillMaterial, ToolMaterial } from "./material.js";
import { cutAtWord } from "./signature.js";
import { countTokens } from "./tokens.js";

/** Characters a token has in the JSON of a view: rarely fewer, hardly ever more. Only used to skip work; what counts is counted. */
const CHARS_AT_LEAST = 2.5;
const CHARS_AT_MOST = 16;
/** What a sum of parts may be too high by. */
const ESTIMATE_OFF = 40;

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
  const view = body(material, draft);
  view.budgets.tokens.used = usedOf(view);
  return view;
}

/** Tokens of a draft by the sum of its parts, each counted once: a few off, and cheap enough to try many drafts. */
export function estimate(material: Material, draft: Draft): number {
  let sum = 4;
  for (const [key, value] of Object.entries(body(material, draft))) {
    if ((key === "tools" || key === "skills") && Array.isArray(value)) {
      sum += value.reduce((all: number, entry: unknown) => all + countOnce(material, JSON.stringify(entry)) + 1, 4);
    } else {
      sum += countOnce(material, JSON.stringify(value)) + 3;
    }
  }
  return sum;
}

/** Counts a text once for all drafts of one view. */
export function countOnce(material: Material, text: string): number {
  const known = material.counts.get(text);
  if (known !== undefined) return known;
  const count = countTokens(text);
  material.counts.set(text, count);
  return count;
}

function body(material: Material, draft: Draft): View {
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
  return {
    name: skill.name,
    tier: skill.tier,
    text: form === "full" ? skill.full : skill.brief,
    form: skill.full === skill.brief ? "full" : form,
  };
}

/** The definition stands behind the signature. */
function withDefinition(tool: ToolMaterial): View["tools"][number] {
  const { tool: key, name, signature, ...rest } = tool.entry;
  return { tool: key, name, signature, ...(tool.definition === undefined ? {} : { definition: tool.definition }), ...rest };
}

/** What the draft does not show of the material. */
function cutFrom(material: Material, draft: Draft): LeftOut[] {
  const chars = material.input.request.kind === "explore" ? " or the episode's limit on skill text" : "";
  const whole = material.tools.filter(
    (tool) => tool.definition !== undefined && draft.tools.has(tool) && !draft.definitions.has(tool),
  );
  return [
    ...material.skills
      .filter((skill) => !draft.skills.has(skill))
      .map((skill): LeftOut => ({ kind: "skill", id: skill.name, why: `over the token budget${chars}` })),
    ...material.tools
      .filter((tool) => !draft.tools.has(tool))
      .map((tool): LeftOut => ({ kind: "tool", id: tool.entry.tool, why: "over the token budget" })),
    ...whole.map((tool): LeftOut => ({
      kind: "tool",
      id: tool.entry.tool,
      why: "its definition is over the token budget; ask describe_tools",
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
  const why = "over the token budget";
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
  const why = "it is gone; what took over is over the token budget";
  return {
    rows: rows.slice(0, count).map((row) => ({ ...row, why: cutAtWord(row.why, terse < 4 ? 60 : 12) })),
    untold: rows.slice(count).map((row): LeftOut => ({ kind: "tool", id: row.asked, why })),
  };
}

/** Characters of a skill's text that count against the episode: only what explore shows does. */
export function countedChars(material: Material, text: string): number {
  return material.input.request.kind === "explore" ? text.length : 0;
}

/** Does what the draft leaves out take at most that many tokens to tell? A text has no more tokens than half its characters, as a rule. */
export function tellsWithin(material: Material, draft: Draft, tokens: number): boolean {
  const { left_out: left } = body(material, draft);
  if (left === undefined) return true;
  const text = JSON.stringify(left);
  return text.length <= tokens * CHARS_AT_LEAST || countOnce(material, text) <= tokens;
}

/** False where the draft is surely above so many tokens; true where it may be within. */
export function mayFit(material: Material, draft: Draft, tokens: number): boolean {
  const { length } = JSON.stringify(body(material, draft));
  if (length <= tokens * CHARS_AT_LEAST) return true;
  return length <= tokens * CHARS_AT_MOST && estimate(material, draft) - ESTIMATE_OFF <= tokens;
}
