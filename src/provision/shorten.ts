/**
 * Shortening: notices told in fewer words, whole ones.
 *
 * Owns: what a notice says at the least.
 * Speaks: strings.
 * Never: when something is to be told shorter (squeeze.ts).
 */
import { firstSentence } from "./signature.js";

/** Characters of a notice told in short. */
const SHORT_NOTICE = 70;

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
