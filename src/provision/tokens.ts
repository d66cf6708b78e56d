/**
 * Tokens: what a text costs an agent's context, counted as o200k tokens.
 *
 * The encoder's tables take about 0.2 s and 50 MB to set up, so they are loaded when the first text is counted (or when the daemon
 * warms up after it is ready) and never by a process that shows no view. The load is synchronous and pure: the same text has the
 * same count for ever.
 */
import { createRequire } from "node:module";

type Count = (text: string, options: { readonly disallowedSpecial: ReadonlySet<string> }) => number;

let encoder: Count | undefined;
const NOTHING: ReadonlySet<string> = new Set();

/**
 * The encoder splits a run of letters in time that grows with the square of its length: 20,000 CJK characters without a stop take
 * seconds. Runs longer than this are counted in pieces, which adds at most about one token a piece; texts people write have none.
 */
const RUN_CHARS = 400;
const LONG_RUN = new RegExp(`[\\p{L}\\p{M}]{${RUN_CHARS},}|[^\\S\\r\\n]{${RUN_CHARS},}|[^\\s\\p{L}\\p{N}]{${RUN_CHARS},}`, "gu");

/** Loads the encoder now rather than with the first count. */
export function warmTokens(): void {
  countTokens("");
}

/** o200k tokens of a text. Marks that are special to a model (`<|endoftext|>`) are counted as the plain text they are. */
export function countTokens(text: string): number {
  encoder ??= loadEncoder();
  if (text.length < RUN_CHARS) return encoder(text, { disallowedSpecial: NOTHING });
  let count = 0;
  let from = 0;
  for (const run of text.matchAll(LONG_RUN)) {
    count += encoder(text.slice(from, run.index), { disallowedSpecial: NOTHING });
    for (let at = 0; at < run[0].length; at += RUN_CHARS) {
      count += encoder(run[0].slice(at, at + RUN_CHARS), { disallowedSpecial: NOTHING });
    }
    from = run.index + run[0].length;
  }
  return count + encoder(from === 0 ? text : text.slice(from), { disallowedSpecial: NOTHING });
}

/**
 * A bound from above in no time: a token is at least one byte of UTF-8. Good for telling that something surely fits, never for
 * telling that it does not.
 */
export function tokensAtMost(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // A surrogate pair has four bytes: two for each half.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3;
  }
  return bytes;
}

function loadEncoder(): Count {
  const require = createRequire(import.meta.url);
  const { countTokens: count } = require("gpt-tokenizer/encoding/o200k_base") as { countTokens: Count };
  return count;
}
