import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanText, escapeText, hasHiddenCharacters } from "../../src/catalog/clean.js";

describe("cleaning of texts", () => {
  const removed: readonly [string, string, string][] = [
    [
      "tag characters that spell an instruction",
      "List files.\u{e0049}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}",
      "List files.",
    ],
    ["a flag's tag sequence", "🏴\u{e0067}\u{e0062}\u{e007f}", "🏴"],
    ["bidirectional controls", "safe\u202eevil\u2066x\u2069", "safeevilx"],
    ["zero width spaces and joiners out of place", "a\u200bb\u200cc\u200dd\u2060e\ufefff", "abcdef"],
    ["variation selectors that select nothing", "a\ufe0fb\u{e0101}c\u{e01ef}", "abc"],
    ["soft hyphens, grapheme joiners and fillers", "a\u00ad\u034fb\u3164c\u115fd", "abcd"],
    ["lone surrogates", "a\ud800b", "ab"],
    ["line separators", "a\u2028b\u2029c", "abc"],
  ];
  it.each(removed)("removes %s [S03]", (_title, raw, shown) => {
    expect(cleanText(raw)).toEqual({ text: shown, removed: raw.length - shown.length });
    expect(hasHiddenCharacters(raw)).toBe(true);
  });

  const kept: readonly [string, string][] = [
    ["plain text with newlines and tabs", "a\n\tb"],
    ["emoji joined by ZWJ", "👩‍💻 👨‍👩‍👧"],
    ["emoji with skin tone, with and without joiner", "👍🏽 👩🏽‍💻"],
    ["a heart joined behind a selector", "❤️‍🔥"],
    ["keycaps and selected symbols", "1️⃣ ❤️ ☎︎"],
    ["flags of regional indicators", "🇩🇪"],
    ["ZWNJ in Persian", "می‌خواهم"],
    ["ZWJ and ZWNJ in Devanagari", "क्‍ष क्‌ष"],
    ["accents, CJK and right-to-left letters", "é é 日本語 עברית العربية"],
  ];
  it.each(kept)("keeps %s [S03]", (_title, text) => {
    expect(cleanText(text)).toEqual({ text, removed: 0 });
  });

  const ansi: readonly [string, string, string][] = [
    ["colours", "\x1b[31mred\x1b[0m", "red"],
    ["a hyperlink", "\x1b]8;;https://example.org\x07text\x1b]8;;\x1b\\", "text"],
    ["a title that is set", "\x1b]0;owned\x07x", "x"],
    ["eight-bit sequences", "\x9b2Jx\x9d0;owned\x9cy", "xy"],
    ["an unfinished sequence", "x\x1b", "x"],
    ["bell, backspace and carriage return", "a\x07b\x08c\rd", "abcd"],
    ["NUL and DEL", "a\0b\x7fc", "abc"],
  ];
  it.each(ansi)("removes %s that a terminal would obey [S04]", (_title, raw, shown) => {
    expect(cleanText(raw).text).toBe(shown);
  });

  it("takes a CRLF for a newline and does not count it", () => {
    expect(cleanText("a\r\nb")).toEqual({ text: "a\nb", removed: 0 });
  });

  it("never leaves a control character, cleans once and for all, and touches nothing in printable ASCII", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (raw) => {
        const { text } = cleanText(raw);
        expect(text).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
        expect(cleanText(text).removed).toBe(0);
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-ascii" }), (raw) => {
        expect(cleanText(raw)).toEqual({ text: raw, removed: 0 });
      }),
    );
  });

  it("spells hidden characters out where a refused name has to be quoted [S04]", () => {
    expect(escapeText("a\u200b\x1b[31mb日🙂")).toBe("a\\u{200b}\\u{1b}[31mb日🙂");
  });
});
