/**
 * Cleaning of texts that agents, managers and terminals are shown.
 *
 * Owns: which characters are noise or carry hidden instructions, and their removal.
 * Speaks: strings.
 * Never: digests (they are made of the raw text) and results of calls (they stay raw).
 */

/** Cheap test that lets nearly every text pass untouched: anything that might have to go. */
const SUSPECT =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\uffff\ud800-\udfff]|\u034f|[\u17b4-\u17b5]|[\u180b-\u180f]|[\ufe00-\ufe0f]/;

/** Terminal control strings, whole: CSI, OSC and the other string kinds, two-character escapes. */
const ANSI =
  /\x1b\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]|[\x1b][\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)|[\x9d\x90\x98\x9e\x9f][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]/g;

const PICTOGRAPH = /^[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}]$/u;
/** Characters that U+FE0E and U+FE0F may follow: pictographs and the bases of keycaps. */
const SELECTABLE = /^[\p{Extended_Pictographic}\p{Emoji}]$/u;
/** Scripts in which ZWNJ and ZWJ decide how a word is written. */
const JOINING =
  /^[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]$/u;

const ZWNJ = 0x200c;
const ZWJ = 0x200d;

/**
 * The text without terminal escapes, control characters (newline and tab stay), the tag block, bidirectional controls, variation
 * selectors that select nothing, and zero-width noise. Joiners stay where they are spelling: in emoji and in scripts that use them.
 * `removed` counts UTF-16 units that went; a CRLF that became a newline is not counted.
 */
export function cleanText(text: string): { text: string; removed: number } {
  if (!SUSPECT.test(text)) return { text, removed: 0 };
  const unix = text.replace(/\r\n/g, "\n");
  const plain = unix.replace(ANSI, "");
  const characters = Array.from(plain);
  let kept = "";
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] ?? "";
    if (stays(characters, index)) kept += character;
  }
  return { text: kept, removed: unix.length - kept.length };
}

/** True where the text has a character that `cleanText` would remove: such a name is refused at intake. */
export function hasHiddenCharacters(text: string): boolean {
  return cleanText(text).removed > 0;
}

/** The text with every control or invisible character spelt as an escape: for messages that quote what was refused. */
export function escapeText(text: string): string {
  let shown = "";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const plain = code >= 0x20 && !SUSPECT.test(character) && !isNoise(code);
    shown += plain || (character.length === 2 && !isNoise(code)) ? character : `\\u{${code.toString(16)}}`;
  }
  return shown;
}

function stays(characters: readonly string[], index: number): boolean {
  const character = characters[index] ?? "";
  const code = character.codePointAt(0) ?? 0;
  if (code === ZWJ) {
    const before = pictographBefore(characters, index - 1);
    if (before && PICTOGRAPH.test(characters[index + 1] ?? "")) return true;
    return JOINING.test(characters[index - 1] ?? "");
  }
  if (code === ZWNJ) return JOINING.test(characters[index - 1] ?? "") && JOINING.test(characters[index + 1] ?? "");
  if (code === 0xfe0e || code === 0xfe0f) return SELECTABLE.test(characters[index - 1] ?? "");
  return !isNoise(code);
}

function pictographBefore(characters: readonly string[], index: number): boolean {
  const before = characters[index] ?? "";
  return PICTOGRAPH.test(before) || (before === "\ufe0f" && SELECTABLE.test(characters[index - 1] ?? ""));
}

/** Ranges [from, to] of code points that are never shown, in order. */
const NOISE: readonly (readonly [number, number])[] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad], // soft hyphen
  [0x34f, 0x34f], // combining grapheme joiner
  [0x61c, 0x61c], // Arabic letter mark
  [0x115f, 0x1160], // Hangul fillers
  [0x17b4, 0x17b5], // Khmer inherent vowels, invisible
  [0x180b, 0x180f], // Mongolian selectors and vowel separator
  [0x200b, 0x200f], // zero width space, joiners out of place, marks of direction
  [0x2028, 0x202e], // separators that break lines unseen, bidirectional embeddings
  [0x2060, 0x206f], // word joiner, invisible operators, isolates, deprecated controls
  [0x3164, 0x3164], // Hangul filler
  [0xd800, 0xdfff], // lone surrogates
  [0xfe00, 0xfe0f], // variation selectors out of place
  [0xfeff, 0xfeff], // byte order mark
  [0xffa0, 0xffa0], // half-width Hangul filler
  [0xfff0, 0xfffb], // specials, interlinear annotation
  [0xfffe, 0xffff],
  [0x1bca0, 0x1bca3], // shorthand format controls
  [0x1d173, 0x1d17a], // musical format controls
  [0xe0000, 0xe0fff], // tag block, variation selectors supplement
];

function isNoise(code: number): boolean {
  for (const [from, to] of NOISE) {
    if (code < from) return false;
    if (code <= to) return true;
  }
  return false;
}
