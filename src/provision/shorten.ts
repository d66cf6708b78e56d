/**
 * Shortening: texts told in fewer words, whole ones.
 *
 * Owns: where a text may end without a word being cut, and what a notice says at the least.
 * Speaks: strings.
 * Never: when something is to be told shorter (squeeze.ts).
 */
import { firstSentence } from "./signature.js";

/** What may follow directly on a character without the two being one word: scripts that put no space between words. */
const STANDS_ALONE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const IN_WORD = /[\p{L}\p{N}\p{M}_'’-]/u;
/** Characters of a notice told in short. */
const SHORT_NOTICE = 70;

/** The first words of a text, at most `most` characters with the `~` that says there is more; a text that fits is given as it is. */
export function firstWords(text: string, most: number): string {
  const points = Array.from(text);
  if (points.length <= most) return text;
  let end = Math.max(0, most - 1);
  while (end > 0 && isWithinWord(points[end - 1] ?? "", points[end] ?? "")) end--;
  return `${points.slice(0, end).join("").trimEnd()}~`;
}

/** Would a cut between the two go through a word? Marks belong to the character before them in any script. */
export function isWithinWord(before: string, after: string): boolean {
  if (/[\p{M}\u200d]/u.test(after) || before === "\u200d") return true;
  if (STANDS_ALONE.test(before) || STANDS_ALONE.test(after)) return false;
  return IN_WORD.test(before) && IN_WORD.test(after);
}

/** What the notices of a view say at the least. */
const LEAST: Readonly<Record<string, string>> = {
  "catalog-pinned": "Pinned to an earlier catalog version.",
  connecting: "Some upstreams are not listed yet.",
  "did-you-mean": "A word of the need is unknown.",
  "explore-limit": "The episode's explore calls are used up.",
  "lexical-only": "Searched by words alone.",
  "limit-cut": "The limit was cut.",
  "nothing-fits": "Nothing fits well enough.",
  "weak-match": "The best match is weak.",
};

/** A whole sentence that takes few tokens; undefined where the notice has none. */
export function shortNotice({ code, text }: { readonly code: string; readonly text: string }): string | undefined {
  const least = Object.hasOwn(LEAST, code) ? LEAST[code] : firstSentence(text);
  if (text.length <= SHORT_NOTICE) return text;
  return least === undefined || least === "" || least.length > SHORT_NOTICE ? undefined : least;
}
