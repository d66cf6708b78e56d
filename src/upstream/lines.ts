/**
 * Lines out of a byte stream, within bounds.
 *
 * Owns: framing by newline, what is skipped unread (lines that cannot be a message), what is too long to be kept.
 * Speaks: bytes.
 * Never: parsing.
 */
export interface LineOptions {
  readonly maxBytes: number;
  /** A line that may be a message: it begins with a brace or bracket. Without its newline. */
  readonly onLine: (text: string) => void;
  /** A line that cannot be one, skipped without being kept; `head` are its first characters. */
  readonly onNoise: (head: string) => void;
  /** A line above the bound, dropped; `head` and `tail` are its first and last kilobyte. */
  readonly onTooLong: (line: { readonly head: string; readonly tail: string; readonly bytes: number }) => void;
}

const NEWLINE = 0x0a;
const BRACE = 0x7b;
const BRACKET = 0x5b;
const SHOWN_BYTES = 1_024;

/** Takes chunks; calls back for each whole line. Linear in the bytes, whatever the chunking. */
export function createLineReader({ maxBytes, onLine, onNoise, onTooLong }: LineOptions): { push(chunk: Buffer): void } {
  let parts: Buffer[] = [];
  let kept = 0;
  let skipping: "noise" | "long" | undefined;
  let head = "";
  let tail = Buffer.alloc(0);
  let dropped = 0;

  function endLine(): void {
    if (skipping === "noise") onNoise(head);
    else if (skipping === "long") onTooLong({ head, tail: tail.toString("utf8"), bytes: dropped });
    skipping = undefined;
    parts = [];
    kept = 0;
    dropped = 0;
    tail = Buffer.alloc(0);
  }

  function skip(bytes: Buffer): void {
    dropped += bytes.length;
    tail =
      bytes.length >= SHOWN_BYTES
        ? Buffer.from(bytes.subarray(-SHOWN_BYTES))
        : Buffer.concat([tail, bytes]).subarray(-SHOWN_BYTES);
  }

  function takePart(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (skipping !== undefined) return skip(bytes);
    if (kept === 0 && !mayBeMessage(bytes)) {
      head = bytes.toString("utf8", 0, Math.min(bytes.length, SHOWN_BYTES));
      skipping = head.trim() === "" && bytes.length < SHOWN_BYTES ? undefined : "noise";
      if (skipping === undefined) return;
      return skip(bytes);
    }
    if (kept + bytes.length > maxBytes) {
      const whole = parts.length === 0 ? bytes : (parts[0] ?? bytes);
      head = whole.toString("utf8", 0, Math.min(whole.length, SHOWN_BYTES));
      dropped = kept;
      parts = [];
      kept = 0;
      skipping = "long";
      return skip(bytes);
    }
    parts.push(bytes);
    kept += bytes.length;
  }

  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
        // The usual case: a whole line within one chunk, nothing kept from before.
        if (kept === 0 && skipping === undefined && at - from <= maxBytes && mayBeMessage(chunk, from)) {
          onLine(chunk.toString("utf8", from, at));
        } else {
          takePart(chunk.subarray(from, at));
          if (skipping === undefined && kept > 0)
            onLine((parts.length === 1 ? parts[0] : Buffer.concat(parts, kept))?.toString("utf8") ?? "");
          endLine();
        }
        from = at + 1;
      }
      if (from < chunk.length) takePart(chunk.subarray(from));
    },
  };
}

function mayBeMessage(bytes: Buffer, from = 0): boolean {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === BRACE || byte === BRACKET) return true;
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return false;
}
