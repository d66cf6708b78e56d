/**
 * The last bytes of a stream that must always be drained, and what of it may be shown.
 *
 * Owns: the bound (bytes, not lines) and the removal of secrets and control characters.
 * Speaks: text.
 * Never: storing more than the bound.
 */
import { cleanText } from "../catalog/clean.js";

export interface Tail {
  push(chunk: Buffer): void;
  /** What is left, from a line's start where a cut was made; secrets and control characters removed. */
  text(): string;
}

export function createTail(maxBytes: number, redact: (text: string) => string): Tail {
  let kept = Buffer.alloc(0);
  let cut = false;
  return {
    push(chunk) {
      cut ||= kept.length + chunk.length > maxBytes;
      kept =
        chunk.length >= maxBytes
          ? Buffer.from(chunk.subarray(-maxBytes))
          : Buffer.concat([kept.subarray(-(maxBytes - chunk.length)), chunk]);
    },
    text() {
      let text = kept.toString("utf8");
      // A cut may have left the end of a secret: the first line goes, or the first word where there is no other line.
      if (cut) text = text.replace(/^[^\n]*\n|^\S*\s*/, "");
      return cleanText(redact(text)).text.trimEnd();
    },
  };
}
