/**
 * Words of a need that nothing in the index knows, and known words that may have been meant.
 *
 * Owns: which words count as unknown (unmatched-names.ts names them), which names resemble them by a slip of typing.
 * Speaks: words of the need.
 * Never: scores or ranks.
 */
import type { Tool } from "../model/tool.js";
import type { Bm25fIndex } from "./bm25f.js";
import { isKnown, payloadOf } from "./bm25f.js";
import { toolTexts, type IndexedTool } from "./fields.js";
import type { ParsedQuery, TermGroup } from "./query.js";
import { stem } from "./stem.js";
import { tokenise } from "./tokens.js";
import { namesOf, WRITTEN } from "./unmatched-names.js";
import { EVERYDAY_TERMS, STOP_WORDS } from "./words.js";

/**
 * Words of the need that no accepted document has, not even by a synonym; one that merely looks like a known word is unknown. Named as
 * they were written, in that order, each once. Bare numbers and everyday words are not named.
 */
export function unmatchedWords(
  index: Bm25fIndex<unknown>,
  need: string,
  query: ParsedQuery,
  accept: (slot: number) => boolean,
): string[] {
  const unknown = new Set(
    query.groups
      .filter(({ joined, term, word }) => !joined && !/^\p{N}+$/u.test(word) && !EVERYDAY_TERMS.has(term))
      .filter((group) => isUnknown(index, group, accept))
      .map(({ term }) => term),
  );
  return unknown.size === 0 ? [] : namesOf(need, unknown);
}

/** No accepted document has the word, not even by a synonym. */
export function isUnknown(index: Bm25fIndex<unknown>, group: TermGroup, accept: (slot: number) => boolean): boolean {
  return !group.alternatives.some((one) => !one.guessed && isKnown(index, one.term, accept));
}

/** Words that are looked at, and what is proposed for each. */
const WORDS_MAX = 4;
const PROPOSED_MAX = 2;
const LETTERS_LEAST = 4;
/** From so many letters on a word may have two slips, otherwise one. */
const LONG_WORD = 8;
const PLAIN = /^\p{L}+$/u;

export interface Proposal {
  readonly word: string;
  readonly meant: readonly string[];
}

/** For unknown words the nearest words of names, titles and parameters: one slip of typing away, two in a long word. */
export function proposeWords(
  index: Bm25fIndex<IndexedTool>,
  words: readonly string[],
  accept: (slot: number) => boolean,
): Proposal[] {
  const typed = words
    .map((word) => ({ word, plain: tokenise(word)[0] ?? "" }))
    .filter(({ plain }) => [...plain].length >= LETTERS_LEAST && PLAIN.test(plain))
    .slice(0, WORDS_MAX);
  if (typed.length === 0) return [];
  const known = knownWords(index);
  return typed.flatMap(({ word, plain }) => {
    const most = plain.length >= LONG_WORD ? 2 : 1;
    const near: { other: string; slips: number }[] = [];
    const letters = lettersOf(plain);
    for (let i = 0; i < known.words.length; i++) {
      const other = known.words[i] ?? "";
      if (Math.abs(other.length - plain.length) > most) continue;
      if (bitsIn(letters ^ (known.letters[i] ?? 0)) > 2 * most) continue;
      const slips = slipsBetween(plain, other, most);
      if (slips <= most) near.push({ other, slips });
    }
    near.sort((a, b) => a.slips - b.slips || (a.other < b.other ? -1 : 1));
    const meant: string[] = [];
    for (const { other } of near) {
      if (meant.length === PROPOSED_MAX) break;
      if (isKnown(index, stem(other), accept)) meant.push(other);
    }
    return meant.length === 0 ? [] : [{ word, meant }];
  });
}

const wordsOfTool = new WeakMap<Tool, readonly string[]>();
const knownOf = new WeakMap<Bm25fIndex<IndexedTool>, KnownWords>();

/** What is asked for with each unknown word put right; undefined where one of them has no or more than one proposal. */
export function corrected(need: string, words: readonly string[], proposed: readonly Proposal[]): string | undefined {
  if (words.length === 0) return undefined;
  const meant = new Map<string, string>();
  for (const { word, meant: found } of proposed) {
    const [first] = found;
    if (first !== undefined && new Set(found.map(stem)).size === 1) meant.set(word.toLowerCase(), first);
  }
  if (!words.every((word) => meant.has(word.toLowerCase()))) return undefined;
  return need.replace(WRITTEN, (run) => meant.get(run.toLowerCase()) ?? run);
}

interface KnownWords {
  readonly words: readonly string[];
  /** Of the same place: see lettersOf. */
  readonly letters: Int32Array;
}

/** Whole words of live tools' names, titles, servers and parameters; worked out when something is asked for in vain. */
function knownWords(index: Bm25fIndex<IndexedTool>): KnownWords {
  let known = knownOf.get(index);
  if (known !== undefined) return known;
  const all = new Set<string>();
  for (let slot = 0; slot < index.alive.length; slot++) {
    if (index.alive[slot] !== 1) continue;
    const { tool } = payloadOf(index, slot);
    let words = wordsOfTool.get(tool);
    if (words === undefined) {
      const [name = "", title = "", server = "", , , parameters = ""] = toolTexts(tool, undefined);
      words = [...new Set(tokenise([name, title, server, parameters].join("\n")))].filter(
        (word) => word.length >= LETTERS_LEAST && PLAIN.test(word) && !STOP_WORDS.has(word),
      );
      wordsOfTool.set(tool, words);
    }
    for (const word of words) all.add(word);
  }
  const words = [...all];
  known = { words, letters: Int32Array.from(words, lettersOf) };
  knownOf.set(index, known);
  return known;
}

/**
 * Which letters a word has, a bit for each (letters of other scripts share bits). A slip of typing moves two bits at most, so that
 * nearly all words can be passed over without counting slips.
 */
export function lettersOf(word: string): number {
  let letters = 0;
  for (let i = 0; i < word.length; i++) letters |= 1 << (word.charCodeAt(i) & 31);
  return letters;
}

/** How many bits are set. */
export function bitsIn(letters: number): number {
  let count = 0;
  for (let rest = letters; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

/** Letters left out, put in, changed, or two neighbours exchanged, as few as will do; more than `most` is told as `most` + 1. */
export function slipsBetween(a: string, b: string, most: number): number {
  let before: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = a[i - 1] === b[j - 1] ? 0 : 1;
      const exchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const ways = [(last[j - 1] ?? 0) + changed, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1];
      row.push(Math.min(...ways, exchanged ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY));
    }
    // Two rows in a row beyond it: an exchange reaches back no further.
    if (Math.min(...row) > most && Math.min(...last) > most) return most + 1;
    [before, last] = [last, row];
  }
  return Math.min(most + 1, last[b.length] ?? 0);
}
