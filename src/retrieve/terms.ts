/**
 * Terms: what documents are indexed by and needs are searched by, made from words.
 *
 * A term is the stem of a word. Runs of ASCII letters and digits repeat endlessly in tool definitions, so an analyser
 * remembers what each became.
 */
import { stem } from "./stem.js";
import { eachRun, isAscii, splitRun, tokenise } from "./tokens.js";
import { STOP_WORDS } from "./words.js";

export type Analyse = (text: string, into: string[]) => void;

/** Remembered runs of one analyser; beyond this many they are worked out each time. */
const MEMORY_MAX = 200_000;

/** An analyser for documents: stop words are left out, words of asking stay (a tool may be called `help`). */
export function documentAnalyser(): Analyse {
  const memory = new Map<string, readonly string[]>();
  return (text, into) => {
    if (!isAscii(text)) {
      for (const word of tokenise(text)) if (!STOP_WORDS.has(word)) into.push(stem(word));
      return;
    }
    eachRun(text, (run, letter) => {
      let terms = memory.get(run);
      if (terms === undefined) {
        terms = splitRun(run)
          .filter((word) => !STOP_WORDS.has(word))
          .map(stem);
        if (memory.size < MEMORY_MAX) memory.set(run, terms);
      }
      for (const term of terms) into.push(term);
      if (letter !== "") into.push(stem(letter + run.toLowerCase()));
    });
  };
}
