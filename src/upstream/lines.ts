/**
 * Lines out of a byte stream, within bounds.
 *
 * Owns: framing by newline, what is skipped unread (lines that cannot be a message), what is too long to be kept.
 * Speaks: bytes.
 * Never: parsing.
 */
import { StringDecoder } from "node:string_decoder";

export interface LineOptions {
  readonly maxBytes: number;
  /** A line that may be a message, and its bytes: from its brace or bracket on, without its newline. */
  readonly onLine: (text: string, bytes: number) => void;
  /** A line that cannot be one, skipped without being kept; `head` and `tail` are its first and last kilobyte. */
  readonly onNoise: (line: { readonly head: string; readonly tail: string }) => void;
  /** A line above the bound, taken; `head` and `tail` are its first and last kilobyte. */
  readonly onTooLong: (line: { readonly head: string; readonly tail: string; readonly bytes: number }) => void;
}

const NEWLINE = 0x0a;
const BRACE = 0x7b;
const BRACKET = 0x5b;
const SHOWN_BYTES = 1_024;
const NOTHING = Buffer.alloc(0);

/** Takes chunks; calls back for each whole line. Linear in the bytes, whatever the chunking. */
export function createLineReader({ maxBytes, onLine, onNoise, onTooLong }: LineOptions): {
  /** Answers with the number of lines that ended in it. */
  push(chunk: Buffer): number;
  /** Part of what may be a message was taken, and its end has not come. */
  withinMessage(): boolean;
} {
  /** What is kept of a line is decoded as it comes: tens of megabytes at once would have everybody wait. */
  let parts: string[] = [];
  let decoder = new StringDecoder("utf8");
  let kept = 0;
  let skipping: "noise" | "long" | undefined;
  let head = NOTHING;
  let tail = NOTHING;
  let taken = 0;

  function endLine(): void {
    if (skipping !== undefined) {
      const remains = { head: head.toString("utf8"), tail: tail.toString("utf8") };
      if (skipping === "noise") onNoise(remains);
      else onTooLong({ ...remains, bytes: taken });
      skipping = undefined;
    }
    forget();
    taken = 0;
    head = NOTHING;
    tail = NOTHING;
  }

  function forget(): void {
    if (kept === 0) return;
    parts = [];
    decoder = new StringDecoder("utf8");
    kept = 0;
  }

  function note(bytes: Buffer): void {
    taken += bytes.length;
    // Copies: a view would keep the whole chunk.
    if (head.length < SHOWN_BYTES) head = Buffer.concat([head, bytes.subarray(0, SHOWN_BYTES - head.length)]);
    const end = bytes.subarray(-SHOWN_BYTES);
    tail = end.length === SHOWN_BYTES ? Buffer.from(end) : Buffer.from(Buffer.concat([tail, end]).subarray(-SHOWN_BYTES));
  }

  function takePart(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (skipping !== undefined) return note(bytes);
    const first = kept === 0 ? beginOf(bytes) : 0;
    if (first === BLANK) return;
    if (first === NO_MESSAGE) {
      skipping = "noise";
      return note(bytes);
    }
    if (first > 0) return takePart(bytes.subarray(first));
    note(bytes);
    if (kept + bytes.length > maxBytes) {
      skipping = "long";
      forget();
      return;
    }
    parts.push(decoder.write(bytes));
    kept += bytes.length;
  }

  return {
    push(chunk) {
      let from = 0;
      let ended = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
        // The usual case: a whole line within one chunk, nothing kept from before.
        const first = kept === 0 && skipping === undefined && at - from <= maxBytes ? beginOf(chunk, from, at) : NO_MESSAGE;
        if (first >= 0) {
          onLine(chunk.toString("utf8", first, at), at - first);
        } else {
          takePart(chunk.subarray(from, at));
          if (skipping === undefined && kept > 0) onLine(parts.join("") + decoder.end(), kept);
          endLine();
        }
        ended += 1;
        from = at + 1;
      }
      if (from < chunk.length) takePart(chunk.subarray(from));
      return ended;
    },
    withinMessage: () => kept > 0 || skipping === "long",
  };
}

const BLANK = -1;
const NO_MESSAGE = -2;
/** Where a message begins in the first bytes of a line; BLANK where nothing but space was seen yet. */
function beginOf(bytes: Buffer, from = 0, to = bytes.length): number {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === BRACE || byte === BRACKET) return at;
    if (!LEADING.has(byte)) return NO_MESSAGE;
  }
  return BLANK;
}
/** Space, and the bytes of a byte order mark, which some programs put before all they write. */
const LEADING: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d, 0xef, 0xbb, 0xbf]);
