/**
 * Rendering: a draft of a view as its body, told as tersely as the draft says.
 */
import type { View } from "../model/view.js";
import type { Draft } from "./draft.js";
import type { Material, SkillMaterial, ToolMaterial } from "./material.js";
import { tellTersely } from "./terse.js";
import { tellTightly } from "./tight.js";
import { countTokens } from "./tokens.js";

/** Characters a token has in the JSON of a view: rarely fewer, hardly ever more. Only used to skip work; what counts is counted. */
const CHARS_AT_LEAST = 2.5;
const CHARS_AT_MOST = 16;
/** What a sum of parts may be off by. */
export const ESTIMATE_OFF = 40;

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
  const told = draft.tight === undefined ? tellTersely(material, draft) : tellTightly(material, draft, draft.tight);
  const { plan, fellBack } = told;
  const view: View = {
    view: material.id,
    ...(input.episode === undefined ? {} : { episode: input.episode, ...(input.turn === undefined ? {} : { turn: input.turn }) }),
    basis: input.basis,
    ...(plan === undefined ? {} : { plan }),
    ...(request.kind === "retrieve" || (draft.tight?.bare === true && skills.length === 0) ? {} : { skills }),
    tools: tools.map((tool) => (draft.definitions.has(tool) ? withDefinition(tool) : tool.entry)),
    ...(draft.alternatives > 0 ? { alternatives: found.alternatives.slice(0, draft.alternatives) } : {}),
    ...present("notices", told.notices),
    ...present("substitutions", told.substitutions),
    ...present("left_out", told.leftOut),
    ...present("unmatched", told.unmatched),
    budgets: {
      tokens: { used: 0, limit: limits.tokens },
      explore: { used: before.explored + (request.kind === "explore" && !isSpent ? 1 : 0), limit: limits.explore },
      skill_chars: {
        used: before.skillChars + skills.reduce((sum, skill) => sum + countedChars(material, skill.text), 0),
        limit: limits.skillChars,
      },
    },
    manager: { by: decisions.by, ...(fellBack === undefined ? {} : { fellBack }) },
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

/** Is the draft so short that it hardly takes the budget? Texts without spaces may all the same. */
export function seemsShort(material: Material, draft: Draft): boolean {
  return JSON.stringify(body(material, draft)).length <= material.limits.tokens * CHARS_AT_LEAST;
}

/** False where the draft is surely above so many tokens; true where it may be within. */
export function mayFit(material: Material, draft: Draft, tokens: number): boolean {
  const { length } = JSON.stringify(body(material, draft));
  if (length <= tokens * CHARS_AT_LEAST) return true;
  return length <= tokens * CHARS_AT_MOST && estimate(material, draft) - ESTIMATE_OFF <= tokens;
}
