/**
 * Text made visible: what comes from servers and files is shown to people without being able to steer their terminal.
 *
 * Control characters, bidirectional overrides, zero-width noise, the tag block and lone surrogates become escapes that can be
 * read; joiners that scripts and emoji need stay. Results for agents never pass through here.
 */

/** Zero width joiner and non-joiner (200C, 200D) are left alone. */
const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]|[\ud800-\udfff]/gu;

/** For one line: newlines are escaped too. */
export function visible(text: string): string {
  return text.replace(HIDDEN, escaped);
}

/** For several lines: newlines and tabs stay, carriage returns before a newline go. */
export function visibleLines(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(HIDDEN, (char) => (char === "\n" || char === "\t" ? char : escaped(char)));
}

/** For JSON text: the same JSON value, spelt so that a terminal sees nothing but print. */
export function visibleJson(json: string): string {
  return json.replace(HIDDEN, (char) => {
    if (char === "\n") return char;
    let units = "";
    for (let at = 0; at < char.length; at += 1) units += `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`;
    return units;
  });
}

function escaped(char: string): string {
  const named = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[char];
  if (named !== undefined) return named;
  const code = char.codePointAt(0) ?? 0;
  if (code > 0xffff) return `\\u{${code.toString(16)}}`;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}
