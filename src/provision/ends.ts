/**
 * Ends: where a text that is too long may end.
 *
 * Owns: what is within a word, and within a character that is written as several.
 * Speaks: strings; lengths in code points, the `~` that says there is more included.
 * Never: changes how it ends where a view was recorded so (Cuts); a recorded view is told again to the byte.
 */

/** What may follow directly on a character without the two being one word: scripts that put no space between words. */
const STANDS_ALONE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const IN_WORD = /[\p{L}\p{N}\p{M}_'’-]/u;
/** Marks, joiners, skin tones, tags of flags, vowels and finals of Hangul: part of the character before them. */
const CONTINUES = /\p{M}|\p{Emoji_Modifier}|[\u200d\u{e0020}-\u{e007f}\u1160-\u11ff]/u;
/** Two of them are one flag. */
const HALF_FLAG = /[\u{1f1e6}-\u{1f1ff}]/u;

/** How texts of a view are cut. */
export interface Cuts {
  /** At a word where that leaves the better half, else wherever a text may end at all. */
  atWord(text: string, most: number): string;
  /** Whole words alone, if need be none. */
  firstWords(text: string, most: number): string;
}

export const cuts: Cuts = {
  atWord(text, most) {
    const points = Array.from(text);
    if (points.length <= most) return text;
    const room = Math.max(0, most - 1);
    const space = points.lastIndexOf(" ", room - 1);
    const ends = [space, endAt(points, room, isWithinWordOrCharacter)];
    const end = ends.find((one) => one > most / 2) ?? endAt(points, room, isWithinCharacter);
    return marked(points, end);
  },
  firstWords: (text, most) => firstWordsBy(text, most, isWithinWordOrCharacter),
};

/** As views were cut up to form 2, which went through long words and through some characters of several parts. */
export const formerCuts: Cuts = {
  atWord(text, most) {
    const points = Array.from(text);
    if (points.length <= most) return text;
    const cut = points.slice(0, most - 1).join("");
    const space = cut.lastIndexOf(" ");
    return `${(space > most / 2 ? cut.slice(0, space) : cut).trimEnd()}~`;
  },
  firstWords: (text, most) => firstWordsBy(text, most, isWithinWord),
};

function firstWordsBy(text: string, most: number, isWithin: Within): string {
  const points = Array.from(text);
  return points.length <= most ? text : marked(points, endAt(points, Math.max(0, most - 1), isWithin));
}

type Within = (before: string, after: string) => boolean;

/** The last place at or before `from` that is within nothing; 0 where there is none. */
function endAt(points: readonly string[], from: number, isWithin: Within): number {
  let end = from;
  while (end > 0 && isWithin(points[end - 1] ?? "", points[end] ?? "")) end--;
  return end;
}

function marked(points: readonly string[], end: number): string {
  return `${points.slice(0, end).join("").trimEnd()}~`;
}

/** Would a cut between the two go through a word? Marks belong to the character before them in any script. */
export function isWithinWord(before: string, after: string): boolean {
  if (/[\p{M}\u200d]/u.test(after) || before === "\u200d") return true;
  if (STANDS_ALONE.test(before) || STANDS_ALONE.test(after)) return false;
  return IN_WORD.test(before) && IN_WORD.test(after);
}

/** Would a cut between the two go through one character? Of a row of flags none is told from its neighbours. */
export function isWithinCharacter(before: string, after: string): boolean {
  return CONTINUES.test(after) || before === "\u200d" || (HALF_FLAG.test(before) && HALF_FLAG.test(after));
}

const isWithinWordOrCharacter: Within = (before, after) => isWithinWord(before, after) || isWithinCharacter(before, after);
