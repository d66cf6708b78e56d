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

const HIDDEN = "[redacted]";
/** Shorter values would blank out ordinary words. */
const SECRET_CHARS_MIN = 6;

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
      const newline = text.indexOf("\n");
      if (cut && newline >= 0) text = text.slice(newline + 1);
      return cleanText(redact(text)).text.trimEnd();
    },
  };
}

/** Replaces every given secret, longest first. */
export function createRedactor(secrets: Iterable<string>): (text: string) => string {
  const known = [...new Set(secrets)].filter((secret) => secret.length >= SECRET_CHARS_MIN).sort((a, b) => b.length - a.length);
  return (text) => known.reduce((sofar, secret) => sofar.split(secret).join(HIDDEN), text);
}
