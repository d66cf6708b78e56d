/**
 * How unknown words of a need are named: as they were written.
 *
 * Owns: what of a need is one word for people: runs between spaces; in scripts without spaces the words of the dictionary, and neighbours
 * among them together.
 * Speaks: the need, stems of unknown words.
 * Never: which words are unknown.
 */
import { QUERY_WORDS_MAX } from "./query.js";
import { stem } from "./stem.js";
import { isAscii, tokenise } from "./tokens.js";

/**
 * Letters with their marks, and what joins letters without being seen (soft hyphen, zero-width space, joiners); flags; an emoji with all
 * that belongs to it.
 */
export const WRITTEN =
  /[\p{L}\p{N}\u30fc\u3005][\p{L}\p{M}\p{N}\u30fc\u3005\u00ad\u200b-\u200d]*(?:['\u2019][\p{L}\p{N}][\p{L}\p{M}\p{N}\u00ad\u200b-\u200d]*)*|\p{Regional_Indicator}{2}|\p{Extended_Pictographic}[\p{M}\p{Emoji_Modifier}\u{e0020}-\u{e007f}]*(?:\u200d\p{Extended_Pictographic}[\p{M}\p{Emoji_Modifier}]*)*\u200d*/gu;
/** These end no letter: they are no part of the word they stand behind. */
const UNSEEN = new Set(["\u00ad", "\u200b"]);
/** Written without spaces between words: such a run is more than one word. */
const SPACELESS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Hangul}]/u;

// One locale for every machine: what a word is follows from the script.
const wordsIn = new Intl.Segmenter("en", { granularity: "word" });
const lettersIn = new Intl.Segmenter("en", { granularity: "grapheme" });
/** A letter with its marks. */
const LETTER = /\P{M}\p{M}*|^\p{M}+/gu;

/** Where a name begins in the need, and where it ends. */
interface Place {
  readonly start: number;
  readonly end: number;
}

/**
 * The words of a need whose stems are unknown, in the order of the need, each once (case aside): pieces of it that do not overlap, begin
 * with no mark and cut no letter from its marks.
 */
export function namesOf(need: string, unknown: ReadonlySet<string>): string[] {
  const places: Place[] = [];
  let words = 0;
  for (const match of need.matchAll(WRITTEN)) {
    // What follows was not looked at.
    if (words >= QUERY_WORDS_MAX) break;
    const run = withoutUnseenEnd(match[0]);
    if (SPACELESS.test(run)) {
      const found = piecesOf(run, unknown, QUERY_WORDS_MAX - words);
      words += found.words;
      for (const { start, end } of found.pieces) places.push({ start: match.index + start, end: match.index + end });
      continue;
    }
    const own = tokenise(run);
    words += own.length;
    if (own.some((word) => unknown.has(stem(word)))) places.push({ start: match.index, end: match.index + run.length });
  }
  const named = new Map<string, string>();
  for (const name of wholeLetters(need, places)) if (!named.has(name.toLowerCase())) named.set(name.toLowerCase(), name);
  return [...named.values()];
}

function withoutUnseenEnd(run: string): string {
  let end = run.length;
  while (UNSEEN.has(run.charAt(end - 1))) end--;
  return run.slice(0, end);
}

/** What stands there, with all that belongs to its first and last letter. */
function wholeLetters(need: string, places: readonly Place[]): string[] {
  if (isAscii(need)) return places.map(({ start, end }) => need.slice(start, end));
  const letters = lettersIn.segment(need);
  return places.map(({ start, end }) => {
    const [first, last] = [letters.containing(start), letters.containing(end - 1)];
    return need.slice(first?.index ?? start, last === undefined ? end : last.index + last.segment.length);
  });
}

/** Unknown words of a run without spaces, those side by side as one; `most`: words of the index that are looked at. */
function piecesOf(run: string, unknown: ReadonlySet<string>, most: number): { pieces: Place[]; words: number } {
  const segments: string[] = [];
  let words = 0;
  for (const { segment } of wordsIn.segment(run)) {
    if (words >= most) break;
    segments.push(segment);
    words += [...segment].length;
  }
  const pieces: Place[] = [];
  let open: Place | undefined;
  let start = 0;
  segments.forEach((segment, i) => {
    const end = start + segment.length;
    if (isMostlyUnknown(segment, [segments[i - 1], segments[i + 1]], unknown)) {
      if (open !== undefined) pieces.pop();
      open = { start: open?.start ?? start, end };
      pieces.push(open);
    } else open = undefined;
    start = end;
  });
  return { pieces, words };
}

/**
 * Such a word is indexed by its pairs of neighbouring letters. More than half of them are unknown: an ending may be, and a pair that other words
 * have too may not. A word of one letter is unknown with the pairs that it makes with its neighbours.
 */
function isMostlyUnknown(
  segment: string,
  [before, after]: readonly [string | undefined, string | undefined],
  unknown: ReadonlySet<string>,
): boolean {
  const letters = lettersOf(segment);
  const pairs =
    letters.length > 1 || (before ?? after) === undefined
      ? tokenise(segment)
      : [
          ...(before === undefined ? [] : tokenise((lettersOf(before).at(-1) ?? "") + segment)),
          ...(after === undefined ? [] : tokenise(segment + (lettersOf(after)[0] ?? ""))),
        ];
  const missing = pairs.filter((pair) => unknown.has(stem(pair))).length;
  return missing > 0 && 2 * missing > pairs.length;
}

function lettersOf(text: string): readonly string[] {
  return text.match(LETTER) ?? [];
}
