/**
 * Event streams of HTTP upstreams: the messages in them are taken out, what keeps the stream alive goes on.
 *
 * Owns: fields and events out of bytes, the bound on one message.
 * Speaks: bytes in; texts of messages, and the stream as its transport has to see it (ids, pauses, events of its own).
 * Never: parsing of messages; resuming (the SDK's, which would drop every message that its schemas do not know).
 *
 *   bytes ──▶ lines ──▶ event ──▶ message: onMessage, and its stand-in goes on
 *                            └──▶ any other: goes on as it is
 */
import type { Remains } from "./intake.js";
import { REMAINS_CHARS } from "./text.js";

export interface EventReaderOptions {
  readonly maxBytes: number;
  /** The data of one message. What it answers with goes on in its place, if anything. */
  readonly onMessage: (text: string, bytes: number) => string | undefined;
  /** A message above the bound. Nothing more is read then. */
  readonly onTooLong: (remains: Remains & { readonly bytes: number }) => void;
}
export interface EventReader {
  /** Takes bytes; answers with those that go on, or undefined after a message above the bound. */
  push(chunk: Uint8Array): Buffer | undefined;
}

const LF = 0x0a;
const CR = 0x0d;

/** Linear in the bytes, whatever the chunking. */
export function createEventReader({ maxBytes, onMessage, onTooLong }: EventReaderOptions): EventReader {
  let parts: Buffer[] = [];
  let pending = 0;
  let afterCr = false;
  let first = true;
  let over = false;
  let event = newEvent();
  let out: Buffer[] = [];

  function endLine(): void {
    const line = parts.length === 1 ? (parts[0] ?? EMPTY) : Buffer.concat(parts, pending);
    parts = [];
    pending = 0;
    const bytes = first && line.subarray(0, 3).equals(BOM) ? line.subarray(3) : line;
    first = false;
    if (bytes.length === 0) return dispatch();
    const colon = bytes.indexOf(COLON);
    const name = bytes.toString("latin1", 0, colon < 0 ? bytes.length : colon);
    const from = colon < 0 ? bytes.length : colon + (bytes[colon + 1] === SPACE ? 2 : 1);
    if (name === "data") {
      event.data.push(bytes.subarray(from));
      event.bytes += bytes.length;
    } else if (name === "event") event.type = bytes.toString("utf8", from);
    else event.others.push(bytes);
  }

  function dispatch(): void {
    const { data, type, others } = event;
    event = newEvent();
    for (const line of others) out.push(line, NEWLINE);
    if (data.length > 0 && (type === "" || type === "message")) {
      const bytes = joined(data);
      const standIn = bytes.length === 0 ? "" : onMessage(bytes.toString("utf8"), bytes.length);
      if (standIn !== undefined) out.push(Buffer.from(`data: ${standIn}\n`));
    } else if (data.length > 0) {
      out.push(Buffer.from(`event: ${type}\n`));
      for (const line of data) out.push(Buffer.from("data: "), line, NEWLINE);
    }
    out.push(NEWLINE);
  }

  function keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    parts.push(bytes);
    pending += bytes.length;
    const held = pending + event.bytes;
    if (held <= maxBytes) return;
    over = true;
    const whole = [...event.data, ...parts];
    const head = Buffer.concat(whole.map((part) => part.subarray(0, REMAINS_CHARS))).toString("utf8", 0, REMAINS_CHARS);
    const tail = (whole.at(-1) ?? EMPTY).subarray(-REMAINS_CHARS).toString("utf8");
    onTooLong({ head: head.replace(/^data: ?/, ""), tail, bytes: held });
  }

  return {
    push(chunk) {
      if (over) return undefined;
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      out = [];
      let from = 0;
      let lf = bytes.indexOf(LF);
      let cr = bytes.indexOf(CR);
      while (lf >= 0 || cr >= 0) {
        const at = cr < 0 || (lf >= 0 && lf < cr) ? lf : cr;
        const isTail = afterCr && at === from && bytes[at] === LF;
        afterCr = bytes[at] === CR;
        if (!isTail) {
          keep(bytes.subarray(from, at));
          if (over) return undefined;
          endLine();
        }
        from = at + 1;
        if (lf >= 0 && lf < from) lf = bytes.indexOf(LF, from);
        if (cr >= 0 && cr < from) cr = bytes.indexOf(CR, from);
      }
      if (from < bytes.length) afterCr = false;
      keep(bytes.subarray(from));
      return over ? undefined : Buffer.concat(out);
    },
  };
}

const EMPTY = Buffer.alloc(0);
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const COLON = 0x3a;
const SPACE = 0x20;
const NEWLINE = Buffer.from("\n");

function newEvent(): { type: string; data: Buffer[]; bytes: number; others: Buffer[] } {
  return { type: "", data: [], bytes: 0, others: [] };
}

function joined(lines: readonly Buffer[]): Buffer {
  if (lines.length === 1) return lines[0] ?? EMPTY;
  return Buffer.concat(lines.flatMap((line, at) => (at === 0 ? [line] : [NEWLINE, line])));
}
