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

const SUM = /,"sum":"([0-9a-f]{8})"\}$/;
const SUM_CHARS = ',"sum":"00000000"}'.length;
const BATCH = /,"batch":\[(\d+),(\d+)\]$/;
const BATCH_CHARS_MAX = 48;

/** The mark of a line that is whole, without parsing its document; undefined for any other. */
export function markOf(line: string): Mark | undefined {
  const body = checkedBody(line);
  const batch = body === undefined ? null : BATCH.exec(body.slice(-BATCH_CHARS_MAX));
  return batch === null ? undefined : { number: Number(batch[1]), left: Number(batch[2]) };
}

/** The document of a line that is whole, without the line's own members; undefined for any other. */
export function parseLine(line: string): unknown {
  const body = checkedBody(line);
  if (body === undefined) return undefined;
  const batch = BATCH.exec(body.slice(-BATCH_CHARS_MAX));
  if (batch === null) return undefined;
  try {
    return JSON.parse(`${body.slice(0, body.length - batch[0].length)}}`);
  } catch {
    return undefined;
  }
}

function checkedBody(line: string): string | undefined {
  const sum = SUM.exec(line.slice(-SUM_CHARS));
  if (sum === null) return undefined;
  const body = line.slice(0, line.length - SUM_CHARS);
  return sumOf(body) === sum[1] ? body : undefined;
}

function sumOf(body: string): string {
  return crc32(body).toString(16).padStart(8, "0");
}
