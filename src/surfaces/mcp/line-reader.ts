/**
 * Lines of a byte stream, whatever its chunks are; a line without an end is given when the stream ends. A byte order mark that the
 * stream begins with is no part of its first line.
 */
import type { Readable } from "node:stream";

export interface LineReader {
  readonly onLine: (line: string) => void;
  /** Once, when the stream ended, closed or broke. */
  readonly onEnd: () => void;
  /** A line above this many bytes ends the reading: `onTooLong` once, nothing after it. */
  readonly maxBytes?: number;
  readonly onTooLong?: () => void;
}

/** Begins to read; the returned function stops it. */
export function readLines(input: Readable, { onLine, onEnd, maxBytes = Infinity, onTooLong }: LineReader): () => void {
  let parts: Buffer[] = [];
  let kept = 0;
  let ended = false;
  let first = true;
  const give = (line: string): void => {
    const begins = first && line.startsWith("\ufeff");
    first = false;
    onLine(begins ? line.slice(1) : line);
  };
  const stop = (): void => {
    ended = true;
    input.off("data", onData);
  };
  function onData(given: Buffer | string): void {
    const chunk = typeof given === "string" ? Buffer.from(given, "utf8") : given;
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0 && !ended; end = chunk.indexOf(10, from)) {
      // The usual case: a whole line in one chunk.
      const line =
        parts.length === 0
          ? chunk.toString("utf8", from, end)
          : Buffer.concat([...parts, chunk.subarray(from, end)]).toString("utf8");
      parts = [];
      kept = 0;
      from = end + 1;
      give(line);
    }
    if (ended || from >= chunk.length) return;
    parts.push(from === 0 ? chunk : chunk.subarray(from));
    kept += chunk.length - from;
    if (kept > maxBytes) {
      stop();
      onTooLong?.();
    }
  }
  const end = (): void => {
    if (ended) return;
    ended = true;
    if (parts.length > 0) give(Buffer.concat(parts).toString("utf8"));
    onEnd();
  };
  input.on("data", onData);
  input.once("end", end);
  input.once("close", end);
  input.once("error", end);
  return stop;
}
