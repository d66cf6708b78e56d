/**
 * Tokens: text of any script and identifiers of any style, as words.
 *
 * Owns: folding, splitting of identifiers, bigrams for scripts without spaces, emoji.
 * Speaks: strings; lower-case words, not stems.
 * Never: what a word means or weighs (words.ts, score.ts).
 */

/**
 * Words of a text in order of appearance, lower-case and folded, duplicates kept.
 *
 * Compatibility forms and accents are folded; `aB`, `ABc`, `snake_case`, `dotted.path` are split; `ab12` gives `ab12`, `ab` and
 * `12`; scripts written without spaces give pairs of neighbouring characters; a change of script ends a word; each emoji is a
 * word. Words of one Latin, Greek or Cyrillic letter are dropped, as is a possessive `'s`.
 */
export function tokenise(text: string): string[] {
  const tokens: string[] = [];
  if (isAscii(text)) scanRuns(text, tokens);
  else scanFolded(fold(text), tokens);
  return tokens;
}

/** Splits one run of ASCII letters and digits, as `tokenise` does within a text. */
export function splitRun(run: string): string[] {
  const tokens: string[] = [];
  splitAscii(run, tokens);
  return tokens;
}

export function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}

const isLower = (code: number): boolean => code >= 97 && code <= 122;
const isUpper = (code: number): boolean => code >= 65 && code <= 90;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/**
 * Calls `each` with every run of ASCII letters and digits, possessive `'s` left out. Where a single letter is tied to the run by a
 * hyphen (`e-mail`, `t-shirt`), `letter` is that letter in lower case: the two are one word as well.
 */
export function eachRun(text: string, each: (run: string, letter: string) => void): void {
  const length = text.length;
  let at = 0;
  let letter = "";
  while (at < length) {
    let code = text.charCodeAt(at);
    if (!isLower(code) && !isUpper(code) && !isDigit(code)) {
      if (code !== 45) letter = "";
      at++;
      continue;
    }
    const start = at;
    do {
      at++;
      code = at < length ? text.charCodeAt(at) : 0;
    } while (isLower(code) || isUpper(code) || isDigit(code));
    each(text.slice(start, at), letter);
    letter = code === 45 && at - start === 1 && !isDigit(text.charCodeAt(start)) ? text.slice(start, at).toLowerCase() : "";
    if (code === 39 && isPossessive(text, at)) at += 2;
  }
}

/** An apostrophe, an `s`, and then the end of the word. */
function isPossessive(text: string, at: number): boolean {
  const s = text.charCodeAt(at + 1);
  if (s !== 115 && s !== 83) return false;
  const after = at + 2 < text.length ? text.charCodeAt(at + 2) : 32;
  return !isLower(after) && !isUpper(after) && !isDigit(after);
}

function scanRuns(text: string, into: string[]): void {
  eachRun(text, (run, letter) => {
    splitAscii(run, into);
    if (letter !== "") into.push(letter + run.toLowerCase());
  });
}

/** Cuts an ASCII run at `aB` and `ABc`, then at digits. */
function splitAscii(run: string, into: string[]): void {
  let start = 0;
  for (let i = 1; i < run.length; i++) {
    const code = run.charCodeAt(i);
    if (!isUpper(code)) continue;
    const before = run.charCodeAt(i - 1);
    const after = i + 1 < run.length ? run.charCodeAt(i + 1) : 0;
    if (!isUpper(before) || isLower(after)) {
      // A plural of capitals is one word: `IDs`, `APIs`, `URLs`.
      if (isUpper(before) && after === 115 && isPluralEnd(run, i + 2)) continue;
      pushWord(run.slice(start, i), into);
      start = i;
    }
  }
  pushWord(start === 0 ? run : run.slice(start), into);
}

function isPluralEnd(run: string, at: number): boolean {
  return at >= run.length || !isLower(run.charCodeAt(at));
}

/** One camel part: as a whole, and where it mixes letters and digits, its parts too. */
function pushWord(part: string, into: string[]): void {
  if (part.length < 2) return;
  const word = part.toLowerCase();
  into.push(word);
  let mixed = false;
  for (let i = 1; i < word.length && !mixed; i++) mixed = isDigit(word.charCodeAt(i)) !== isDigit(word.charCodeAt(i - 1));
  if (!mixed) return;
  let start = 0;
  for (let i = 1; i <= word.length; i++) {
    if (i < word.length && isDigit(word.charCodeAt(i)) === isDigit(word.charCodeAt(i - 1))) continue;
    if (i - start > 1) into.push(word.slice(start, i));
    start = i;
  }
}

// Letters that no decomposition takes apart.
const SPECIAL: Readonly<Record<string, string>> = {
  ß: "ss",
  ẞ: "SS",
  æ: "ae",
  Æ: "AE",
  œ: "oe",
  Œ: "OE",
  ø: "o",
  Ø: "O",
  đ: "d",
  Đ: "D",
  ð: "d",
  Ð: "D",
  þ: "th",
  Þ: "TH",
  ł: "l",
  Ł: "L",
  ı: "i",
  "\u2019": "'",
  ʼ: "'",
};
const SPECIAL_LETTERS = /[ßẞæÆœŒøØđĐðÐþÞłŁı\u2019ʼ]/g;
// Accents of Latin, Greek and Cyrillic; points of Hebrew and Arabic, the Arabic stretch mark; joiners and variation selectors.
// Marks of other scripts are vowels and stay.
const DROPPED_MARKS =
  /[\u0300-\u036f]|[\u0591-\u05bd]|\u05bf|[\u05c1-\u05c2]|[\u0610-\u061a]|\u0640|[\u064b-\u065f]|\u0670|\u00ad|[\u200b-\u200c]|[\ufe00-\ufe0f]/gu;

/** Compatibility forms (NFKC) without accents. */
function fold(text: string): string {
  return text
    .normalize("NFKD")
    .replace(DROPPED_MARKS, "")
    .normalize("NFC")
    .replace(SPECIAL_LETTERS, (letter) => SPECIAL[letter] ?? letter);
}

// One alternative for each way of writing: scripts without spaces between words, Hangul, words of spaced scripts
// (one script at a time), numbers, flags, emoji.
const SEGMENT =
  /(?<pairs>(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30fc\u3005]|[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}])+)|(?<hangul>\p{Script=Hangul}+)|(?<latin>[\p{Script=Latin}\p{Nd}]+(?:'s(?![\p{L}\p{N}]))?)|(?<word>\p{Script=Cyrillic}+|\p{Script=Greek}+|(?:(?![\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Hangul}\p{Nd}])[\p{L}\p{M}\p{N}])+)|(?<emoji>\p{Regional_Indicator}{2}|\p{Extended_Pictographic})/gu;
const PAIR_UNIT = /[\p{L}\p{N}\u30fc\u3005]\p{M}*/gu;

function scanFolded(text: string, into: string[]): void {
  for (const match of text.matchAll(SEGMENT)) {
    const groups = match.groups ?? {};
    const [segment] = match;
    if (groups["latin"] !== undefined) splitLatin(segment.replace(/'s$/i, ""), into);
    else if (groups["pairs"] !== undefined || groups["hangul"] !== undefined) pushPairs(segment, into);
    else if (groups["emoji"] !== undefined) into.push(segment);
    else splitCased(segment, into);
  }
}

function splitLatin(segment: string, into: string[]): void {
  const plain = segment.replace(/\p{Nd}/gu, (digit) => toAsciiDigit(digit));
  if (isAscii(plain)) splitAscii(plain, into);
  else splitCased(plain, into);
}

/** Digits of other scripts stand in blocks of ten that begin at a multiple of their own zero. */
function toAsciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 48;
  if (code < 128) return digit;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return String(code - zero);
}

function splitCased(segment: string, into: string[]): void {
  for (const part of segment.split(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u)) {
    const word = part.toLowerCase().normalize("NFC");
    if (word.length > 1) into.push(word);
  }
}

/** Neighbouring pairs of characters (marks stay with their letter); a single character stands alone. */
function pushPairs(segment: string, into: string[]): void {
  const units = segment.match(PAIR_UNIT) ?? [];
  if (units.length === 1 && units[0] !== undefined) into.push(units[0]);
  for (let i = 1; i < units.length; i++) into.push(`${units[i - 1] ?? ""}${units[i] ?? ""}`);
}
