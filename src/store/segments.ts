/**
 * One append-only log: numbered segments of bounded size, one after the other.
 *
 * The last segment takes what is appended. An append that fails is cut back; if even that fails, nothing is appended until the
 * cut succeeded. A segment that does not end in a newline was torn by a crash and is cut at the last one when it is opened.
 */
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { errorCode, writeAtomic, type Files } from "../host/files.js";
import type { Problem } from "../model/problem.js";
import { renderLine, wholeLine, type Mark } from "./lines.js";
import { numberOf, places } from "./places.js";

export interface LogOptions {
  readonly home: string;
  readonly files: Files;
  /** Folder of the segments, relative to the home. */
  readonly folder: string;
  /** A segment is full from here on, in bytes. A batch is never spread over two. */
  readonly segmentBytes: number;
}

export interface Segments {
  /** Finds the segments and cuts a torn end. */
  open(): Promise<readonly Problem[]>;
  /** Mark of the last whole line of the last segment. */
  lastMark(): Mark | undefined;
  /** Takes the lines of a batch off the end, where there are any. */
  cut(number: number): Promise<void>;
  /** Appends documents durably, all or none. `leftAfter` lines of the batch follow in another log. Returns the segment. */
  append(documents: readonly object[], number: number, leftAfter: number): Promise<number>;
  /** Makes good what a failed append left behind; append and cut do it by themselves. */
  repair(): Promise<void>;
  /** Will appending this much begin a new segment? */
  isFull(): boolean;
  numbers(): readonly number[];
  /** Bytes of a segment, up to the end of its last acknowledged line. */
  bytes(number: number): Buffer;
  /** Removes a segment that is not the last one. */
  drop(number: number): Promise<void>;
  /**
   * Puts the first of these texts in the place of the first segment and so on, and removes the segments that remain. A crash
   * leaves new segments before old ones (see logs.ts for why no line is lost).
   */
  replaceAll(texts: readonly string[]): Promise<void>;
}

export function openSegments(options: LogOptions): Segments {
  const { home, files, folder } = options;
  const path = (n: number): string => join(home, places.segment(folder, n));
  let numbers: number[] = [];
  /** Length in bytes of the last segment up to which everything is acknowledged. */
  let length = 0;
  /** The last segment may be longer than `length`: it is cut before anything else happens. */
  let dirty = false;
  /** The name of the last segment is not durable yet. */
  let unnamed = false;

  const last = (): number => numbers.at(-1) ?? 0;
  const bytesOf = (n: number): Buffer => {
    const whole = readOrEmpty(path(n));
    return n === last() ? whole.subarray(0, length) : whole;
  };

  async function repair(): Promise<void> {
    if (!dirty) return;
    const size = sizeOf(path(last()));
    if (size > length) await files.truncate(path(last()), length);
    if (size >= 0) await files.sync(path(last()));
    dirty = false;
  }

  async function append(documents: readonly object[], number: number, leftAfter: number): Promise<number> {
    await repair();
    const lines = documents.map((document, at) => renderLine(document, { number, left: documents.length - 1 - at + leftAfter }));
    const bytes = lines.join("");
    if (numbers.length === 0 || length >= options.segmentBytes) {
      numbers.push(last() + 1);
      length = 0;
      unnamed = true;
    }
    dirty = true;
    await files.append(path(last()), bytes);
    await files.sync(path(last()));
    if (unnamed) await files.syncFolder(join(home, folder));
    unnamed = false;
    length += Buffer.byteLength(bytes);
    dirty = false;
    return last();
  }

  return {
    numbers: () => numbers,
    bytes: bytesOf,
    repair,
    append,
    isFull: () => length >= options.segmentBytes,
    async open() {
      numbers = readdirSync(join(home, folder))
        .map((name) => numberOf(name, ".jsonl"))
        .filter((n) => n !== undefined)
        .sort((a, b) => a - b);
      const bytes = numbers.length === 0 ? Buffer.alloc(0) : readOrEmpty(path(last()));
      length = bytes.lastIndexOf(0x0a) + 1;
      const torn = bytes.length - length;
      dirty = torn > 0;
      await repair();
      if (torn === 0) return [];
      const where = places.segment(folder, last());
      return [
        {
          code: "log-torn",
          where,
          text: `The last line was not finished (${torn} bytes); it was never acknowledged and is cut off.`,
        },
      ];
    },
    lastMark() {
      const bytes = bytesOf(last());
      for (let end = bytes.length; end > 0;) {
        const start = startOfLine(bytes, end);
        const line = wholeLine(bytes, start, end - 1);
        if (line !== undefined) return line.mark;
        end = start;
      }
      return undefined;
    },
    async cut(number) {
      await repair();
      const bytes = bytesOf(last());
      let end = bytes.length;
      while (end > 0) {
        const start = startOfLine(bytes, end);
        if (wholeLine(bytes, start, end - 1)?.mark.number !== number) break;
        end = start;
      }
      if (end === bytes.length) return;
      length = end;
      dirty = true;
      await repair();
    },
    async drop(n) {
      if (n === last()) throw new Error("the last segment takes what comes next");
      await files.unlink(path(n));
      await files.syncFolder(join(home, folder));
      numbers = numbers.filter((other) => other !== n);
    },
    async replaceAll(texts) {
      await repair();
      const old = [...numbers];
      for (const [at, content] of texts.entries()) {
        const n = old[at];
        if (n === undefined) throw new Error("a compacted log is never longer than before");
        await writeAtomic(files, path(n), content, { mode: 0o600 });
        if (n === last()) length = Buffer.byteLength(content);
      }
      for (const n of old.slice(texts.length)) {
        await files.unlink(path(n));
        numbers = numbers.filter((other) => other !== n);
        length = Math.max(0, sizeOf(path(last())));
        await files.syncFolder(join(home, folder));
      }
    },
  };
}

/** Start of the line that ends with the newline at `end - 1`. */
function startOfLine(bytes: Buffer, end: number): number {
  return end < 2 ? 0 : bytes.lastIndexOf(0x0a, end - 2) + 1;
}

function readOrEmpty(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}

/** −1 where there is no file. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? -1;
}
