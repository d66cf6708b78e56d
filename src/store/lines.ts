/**
 * Lines of append-only logs: one JSON document a line, marked with its batch and closed by a checksum.
 *
 *   {"format":"call/1", … ,"batch":[17,1],"sum":"9f3a01c2"}
 *
 * `batch` is the number of the decision the line belongs to and how many of its lines follow; a decision whose last line (0) is
 * missing was never acknowledged. `sum` is the CRC-32 of everything before it, so that a torn or rotten line is seen for what it is.
 */
import { crc32 } from "node:zlib";

export interface Mark {
  readonly number: number;
  readonly left: number;
}

/** A line with its newline. */
export function renderLine(value: object, mark: Mark): string {
  const body = `${JSON.stringify(value).slice(0, -1)},"batch":[${mark.number},${mark.left}]`;
  return `${body},"sum":"${sumOf(body)}"}\n`;
}

const SUM_CHARS = ',"sum":"00000000"}'.length;
const SUM = /^,"sum":"([0-9a-f]{8})"\}$/;
const BATCH = ',"batch":[';
const BATCH_TEXT = /^,"batch":\[(\d+),(\d+)\]$/;

export interface WholeLine {
  readonly mark: Mark;
  /** The document, without the line's own members. Undefined where it is no JSON. */
  document(): unknown;
}

/**
 * The line in `bytes` from `start` to `end` (without its newline), if it is whole: nothing is parsed before it is asked for. `ascii`:
 * all of `bytes` is, which is quicker to read.
 */
export function wholeLine(bytes: Buffer, start = 0, end = bytes.length, ascii = false): WholeLine | undefined {
  const body = end - SUM_CHARS;
  if (body <= start) return undefined;
  const sum = SUM.exec(bytes.toString("latin1", body, end))?.[1];
  if (sum === undefined || crc32(bytes.subarray(start, body)) !== Number.parseInt(sum, 16)) return undefined;
  const at = bytes.lastIndexOf(BATCH, body);
  const batch = at <= start ? null : BATCH_TEXT.exec(bytes.toString("latin1", at, body));
  if (batch === null) return undefined;
  return {
    mark: { number: Number(batch[1]), left: Number(batch[2]) },
    document() {
      try {
        return JSON.parse(`${bytes.toString(ascii ? "latin1" : "utf8", start, at)}}`);
      } catch {
        return undefined;
      }
    },
  };
}

function sumOf(body: string): string {
  return crc32(body).toString(16).padStart(8, "0");
}
