/**
 * Exact names: a need that is a tool's name, or spells one out, finds that tool first.
 *
 * Each tool is indexed under its bare name and its bare key by terms that no word equals, in a field that weighs nothing.
 */
import type { Tool } from "../model/tool.js";
import type { Bm25fIndex } from "./bm25f.js";
import { payloadOf, slotsWith } from "./bm25f.js";
import type { IndexedTool } from "./fields.js";
import type { ParsedQuery, TermGroup } from "./query.js";

/** Names spelt out in one need that are followed. */
const MENTIONS_MAX = 8;
// In code marks, or words joined by underscores or slashes: no one writes prose like that. Looked for at the beginning of a run alone: within
// a long word without a joint each letter would be tried, and each time to the end.
const MENTION = /`([^`\s]{2,200})`|(?<![\p{L}\p{N}.-])([\p{L}\p{N}.-]+(?:[_/]+[\p{L}\p{N}.-]+)+)/gu;

/** Terms of the field of exact names. */
export function exactTerms(tool: Pick<Tool, "name" | "key">): string[] {
  const name = exactTerm(tool.name);
  const key = exactTerm(tool.key);
  return name === key ? [name] : [name, key];
}

/** A name without separators and case; `=` marks it as a whole name. */
function exactTerm(name: string): string {
  const bare = name.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, "");
  return `=${bare === "" ? name : bare}`;
}

/** Live tools that the need names: all of it, or a name within it. */
export function exactSlots(index: Bm25fIndex<unknown>, query: string): number[] {
  return [...new Set([...namedIn(query)].flatMap((name) => slotsWith(index, name)))];
}

/** Names that a need is or spells out, as `exactTerms` gives them. */
export function namedIn(query: string): ReadonlySet<string> {
  const names = new Set([exactTerm(query.trim())]);
  for (const match of query.matchAll(MENTION)) {
    if (names.size > MENTIONS_MAX) break;
    names.add(exactTerm(match[1] ?? match[2] ?? ""));
  }
  return names;
}

/** A longer need has the words of a name by chance. */
const NAMING_WORDS_MAX = 3;

/**
 * The need is nothing but words of one tool's name, beside numbers, ids and what `besides` says of: however common they are in the
 * catalog, that tool is an answer.
 */
export function isNamedBy(
  index: Bm25fIndex<IndexedTool>,
  { groups }: ParsedQuery,
  nameField: number,
  accept: (slot: number) => boolean,
  besides: (group: TermGroup) => boolean = () => false,
): boolean {
  const words = groups.filter((group) => !group.joined && !isId(group));
  const terms = words.filter((group) => !besides(group)).map(({ term }) => term);
  const [first] = terms;
  if (first === undefined || words.length > NAMING_WORDS_MAX) return false;
  return slotsWith(index, first, nameField).some((slot) => {
    const { nameTerms } = payloadOf(index, slot);
    return accept(slot) && terms.every((term) => nameTerms.includes(term));
  });
}

/** A number, a part of an id, a single letter: a value of the need, nothing of what it is about. */
function isId({ word }: TermGroup): boolean {
  return /\p{N}/u.test(word) || /^[\p{Script=Latin}]$/u.test(word);
}
