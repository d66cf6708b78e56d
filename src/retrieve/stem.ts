/**
 * English stemming: the suffix-stripping algorithm of M. F. Porter (1980), with his later revisions of step 2.
 *
 * Words that are not plain a–z come back unchanged, so other scripts pass through untouched.
 */

const LOWER_A = 97;
const LOWER_Y = 121;

/** The stem of a lower-case word. Words of one or two letters and words with anything but a–z are returned as they are. */
export function stem(word: string): string {
  if (word.length < 3 || !isPlain(word)) return word;
  let w = plurals(word);
  w = pastAndProgressive(w);
  w = finalY(w);
  w = replaceBySuffix(w, STEP_2, 0);
  w = replaceBySuffix(w, STEP_3, 0);
  w = dropSuffix(w);
  return finalEAndL(w);
}

function isPlain(word: string): boolean {
  for (let i = 0; i < word.length; i++) {
    const code = word.charCodeAt(i);
    if (code < LOWER_A || code > 122) return false;
  }
  return true;
}

/** A `y` after a consonant counts as a vowel. */
function isConsonant(word: string, at: number): boolean {
  const code = word.charCodeAt(at);
  if (code === LOWER_A || code === 101 || code === 105 || code === 111 || code === 117) return false;
  if (code === LOWER_Y) return at === 0 || !isConsonant(word, at - 1);
  return true;
}

/** Porter's m: the number of vowel→consonant turns in the first `length` letters. */
function measure(word: string, length: number): number {
  let turns = 0;
  let inVowel = false;
  for (let i = 0; i < length; i++) {
    const consonant = isConsonant(word, i);
    if (consonant && inVowel) turns++;
    inVowel = !consonant;
  }
  return turns;
}

function hasVowel(word: string, length: number): boolean {
  for (let i = 0; i < length; i++) if (!isConsonant(word, i)) return true;
  return false;
}

function endsInDouble(word: string): boolean {
  const last = word.length - 1;
  return last > 0 && word[last] === word[last - 1] && isConsonant(word, last);
}

/** Consonant, vowel, consonant at the end, the last one not w, x or y: `hop`, not `snow`. */
function endsShort(word: string, length: number): boolean {
  const last = length - 1;
  if (last < 2) return false;
  if (!isConsonant(word, last) || isConsonant(word, last - 1) || !isConsonant(word, last - 2)) return false;
  const letter = word[last];
  return letter !== "w" && letter !== "x" && letter !== "y";
}

function plurals(word: string): string {
  if (!word.endsWith("s")) return word;
  if (word.endsWith("sses") || word.endsWith("ies")) return word.slice(0, -2);
  return word.endsWith("ss") ? word : word.slice(0, -1);
}

function pastAndProgressive(word: string): string {
  if (word.endsWith("eed")) return measure(word, word.length - 3) > 0 ? word.slice(0, -1) : word;
  const cut = word.endsWith("ed") ? 2 : word.endsWith("ing") ? 3 : 0;
  if (cut === 0 || !hasVowel(word, word.length - cut)) return word;
  const rest = word.slice(0, -cut);
  if (rest.endsWith("at") || rest.endsWith("bl") || rest.endsWith("iz")) return `${rest}e`;
  if (endsInDouble(rest) && !/[lsz]$/.test(rest)) return rest.slice(0, -1);
  return measure(rest, rest.length) === 1 && endsShort(rest, rest.length) ? `${rest}e` : rest;
}

function finalY(word: string): string {
  return word.endsWith("y") && hasVowel(word, word.length - 1) ? `${word.slice(0, -1)}i` : word;
}

type Rules = readonly (readonly [suffix: string, instead: string])[];

// Longer suffixes stand before those they end in: the first that fits decides.
const STEP_2: Rules = [
  ["ational", "ate"],
  ["ization", "ize"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["iveness", "ive"],
  ["tional", "tion"],
  ["biliti", "ble"],
  ["entli", "ent"],
  ["ousli", "ous"],
  ["ation", "ate"],
  ["alism", "al"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["alli", "al"],
  ["ator", "ate"],
  ["logi", "log"],
  ["bli", "ble"],
  ["eli", "e"],
];
const STEP_3: Rules = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ness", ""],
  ["ful", ""],
];
const STEP_4: readonly string[] = [
  "ement",
  "ance",
  "ence",
  "able",
  "ible",
  "ment",
  "ant",
  "ent",
  "ion",
  "ism",
  "ate",
  "iti",
  "ous",
  "ive",
  "ize",
  "al",
  "er",
  "ic",
  "ou",
];

function replaceBySuffix(word: string, rules: Rules, above: number): string {
  for (const [suffix, instead] of rules) {
    if (!word.endsWith(suffix)) continue;
    const rest = word.length - suffix.length;
    return measure(word, rest) > above ? word.slice(0, rest) + instead : word;
  }
  return word;
}

function dropSuffix(word: string): string {
  for (const suffix of STEP_4) {
    if (!word.endsWith(suffix)) continue;
    const rest = word.length - suffix.length;
    if (measure(word, rest) <= 1) return word;
    if (suffix === "ion" && word[rest - 1] !== "s" && word[rest - 1] !== "t") return word;
    return word.slice(0, rest);
  }
  return word;
}

function finalEAndL(word: string): string {
  let w = word;
  if (w.endsWith("e")) {
    const rest = w.length - 1;
    const m = measure(w, rest);
    if (m > 1 || (m === 1 && !endsShort(w, rest))) w = w.slice(0, -1);
  }
  return w.endsWith("ll") && measure(w, w.length - 1) > 1 ? w.slice(0, -1) : w;
}
