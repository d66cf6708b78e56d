/**
 * The two logs, calls and episodes, as one: a decision's lines are in both or in neither.
 *
 * The lines of a decision carry its number and are appended calls first, episodes last; the line with nothing left after it is
 * the commit. At the start, a decision without it is cut off again. Decisions that also move documents go through
 * state/pending.json (commit.ts), which brings these lines itself.
 *
 * Compaction of episodes: of each episode only the last line counts, so segments are rewritten with last lines only, in their
 * order, each in its own segment or an earlier one. New segments replace old ones from the first to the last: until the
 * segment with an episode's last line is replaced, that line still stands behind every older one; when it is, the line stands
 * in this segment or in an earlier one already. So every moment of it reads the same.
 */
import { isAscii } from "node:buffer";
import type { z } from "zod";
import type { Files } from "../host/files.js";
import type { Log } from "../host/log.js";
import type { Problem } from "../model/problem.js";
import { callLineFormat, episodeFormat, type CallLine, type Episode } from "../model/episode.js";
import type { StoredFormat } from "../model/format.js";
import { checkDocument, Damage, type Migrations } from "./documents.js";
import { wholeLine, type WholeLine } from "./lines.js";
import { places } from "./places.js";
import { episodesNamed, forgetRetired } from "./retention.js";
import { openSegments, type Segments } from "./segments.js";

export interface Lines {
  readonly calls: readonly object[];
  readonly episodes: readonly object[];
}

export interface Logs {
  /** Opens both logs; torn ends are cut. */
  open(): Promise<readonly Problem[]>;
  /** Cuts a decision that was never committed. After `redo`, where a batch is pending. */
  settle(): Promise<readonly Problem[]>;
  /** Number for the next decision. */
  nextNumber(): number;
  /** Takes back what a failed append left, where that was not possible at once. */
  repair(): Promise<void>;
  /** Appends the lines of one decision: durable and whole, or rejected and taken back. */
  append(lines: Lines, number: number): Promise<void>;
  /** The same for a decision that is committed elsewhere: what a first try left is replaced. */
  redo(lines: Lines, number: number): Promise<void>;
  /** Every episode as its last line says, in the order they were opened. */
  readEpisodes(): Promise<{ episodes: readonly Episode[]; problems: readonly Problem[] }>;
  /** Views and calls that only retired episodes have go for good. Does nothing while the log of episodes has lines it cannot read. */
  forget(): Promise<void>;
  readCalls(episode: string): { calls: readonly CallLine[]; problems: readonly Problem[] };
}

export interface LogsOptions {
  readonly home: string;
  readonly files: Files;
  readonly migrations: Migrations;
  readonly log: Log;
  readonly segmentBytes?: number;
  /** Dead episode lines beyond the living ones from which compaction pays. */
  readonly compactionSlack?: number;
}

/** A segment is read whole: this is what one read costs at most. */
const SEGMENT_BYTES = 4 * 1024 * 1024;
const COMPACTION_SLACK = 20_000;

export function openLogs(options: LogsOptions): Logs {
  const { home, files, migrations } = options;
  const segmentBytes = options.segmentBytes ?? SEGMENT_BYTES;
  const slack = options.compactionSlack ?? COMPACTION_SLACK;
  const calls = openSegments({ home, files, folder: places.calls, segmentBytes });
  const episodes = openSegments({ home, files, folder: places.episodes, segmentBytes });
  const index = callIndex(calls);
  /** Ids seen and lines written: what compaction would save. Known after the first reading. */
  let living = new Set<string>();
  let lines = 0;
  /** Retired episodes whose views and calls may still be there. */
  let retired = 0;
  let number = 0;
  /** A decision that failed and could not be taken back yet. */
  let failed: number | undefined;

  async function repair(): Promise<void> {
    if (failed === undefined) return;
    await calls.cut(failed);
    await episodes.cut(failed);
    failed = undefined;
  }

  async function write(batch: Lines, of: number): Promise<void> {
    if (batch.calls.length > 0) {
      const segment = await calls.append(batch.calls, of, batch.episodes.length);
      for (const call of batch.calls as readonly CallLine[]) index.note(call.episode, segment);
    }
    if (batch.episodes.length > 0) await episodes.append(batch.episodes, of, 0);
    for (const episode of batch.episodes as readonly Episode[]) {
      if (episode.retired !== true) living.add(episode.episode);
      else if (living.delete(episode.episode)) retired += 1;
    }
    lines += batch.episodes.length;
    number = Math.max(number, of);
  }

  async function forget(): Promise<void> {
    if (retired === 0) return;
    const { byId, problems } = readLast(episodes, migrations);
    // A line that cannot be read may be of an episode that stands.
    if (problems.length > 0) return;
    await forgetRetired({ home, files, episodes: [...byId.values()], calls });
    retired = 0;
  }

  async function compact(): Promise<void> {
    if (lines < 2 * living.size + slack) return;
    try {
      // Afterwards nobody knows what retired ones had.
      await forget();
      const kept = lastLines(episodes);
      living = new Set(kept.map((line) => line.id));
      lines = kept.length;
      await episodes.replaceAll(packed(kept, episodes.numbers().length, segmentBytes));
    } catch (error) {
      // Nothing is lost by it: it is tried again when as many lines were added.
      options.log.warn("the log of episodes could not be compacted", { error });
    }
  }

  return {
    async open() {
      const problems = [...(await calls.open()), ...(await episodes.open())];
      number = Math.max(calls.lastMark()?.number ?? 0, episodes.lastMark()?.number ?? 0);
      return problems;
    },
    async settle() {
      const marks = [calls.lastMark(), episodes.lastMark()].filter((mark) => mark !== undefined);
      const newest = Math.max(0, ...marks.map((mark) => mark.number));
      if (marks.length === 0 || marks.some((mark) => mark.number === newest && mark.left === 0)) return [];
      await calls.cut(newest);
      await episodes.cut(newest);
      return [
        {
          code: "log-unfinished",
          where: places.state,
          text: "A call or episode was being written when the process ended; it was never acknowledged and is cut off.",
        },
      ];
    },
    repair,
    nextNumber: () => number + 1,
    async append(batch, of) {
      await repair();
      if (episodes.isFull()) await compact();
      try {
        await write(batch, of);
      } catch (error) {
        failed = of;
        number = Math.max(number, of);
        await repair().catch(() => undefined);
        throw error;
      }
    },
    async redo(batch, of) {
      await repair();
      await calls.cut(of);
      await episodes.cut(of);
      await write(batch, of);
    },
    async readEpisodes() {
      const found = readLast(episodes, migrations);
      const standing = [...found.byId.values()].filter((episode) => episode.retired !== true);
      living = new Set(standing.map((episode) => episode.episode));
      lines = found.lines;
      retired = found.byId.size - standing.length;
      await compact();
      const all = standing.sort((a, b) => (a.opened < b.opened ? -1 : a.opened > b.opened ? 1 : 0));
      return { episodes: all, problems: found.problems };
    },
    forget,
    readCalls: (episode) => readCallsOf(calls, index.segments(episode), episode, migrations),
  };
}

function readLast(log: Segments, migrations: Migrations): { byId: Map<string, Episode>; lines: number; problems: Problem[] } {
  const byId = new Map<string, Episode>();
  const problems: Problem[] = [];
  let lines = 0;
  for (const n of log.numbers()) {
    const where = places.segment(places.episodes, n);
    lines += eachLine(log.bytes(n), where, problems, (line) => {
      const document = line.document();
      // Fifty thousand lines at a start: what the checksum and the format vouch for is looked at but lightly.
      const episode = isSoundEpisode(document) ? document : checked(episodeFormat, document, where, migrations);
      if (episode !== undefined) byId.set(episode.episode, episode);
      return episode !== undefined;
    });
  }
  return { byId, lines, problems };
}

function isSoundEpisode(document: unknown): document is Episode {
  const episode = document as Partial<Episode> | undefined;
  return (
    episode?.format === episodeFormat.id &&
    typeof episode.episode === "string" &&
    typeof episode.opened === "string" &&
    typeof episode.calls === "number" &&
    Array.isArray(episode.views) &&
    Array.isArray(episode.tools)
  );
}

/** Calls `read` for every whole line and reports how many lines could not be read. Returns the count of all lines. */
function eachLine(
  bytes: Buffer,
  where: string,
  problems: Problem[],
  read: (line: WholeLine, start: number, end: number) => boolean,
): number {
  let count = 0;
  let bad = 0;
  const ascii = isAscii(bytes);
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline < 0 ? bytes.length : newline;
    if (end > start) {
      count += 1;
      const line = wholeLine(bytes, start, end, ascii);
      if (line === undefined || !read(line, start, end)) bad += 1;
    }
    start = end + 1;
  }
  if (bad > 0)
    problems.push({ code: "log-lines-damaged", where, text: `${bad} of ${count} lines cannot be read and are left out.` });
  return count;
}

/** Undefined for a document that does not fit its format. Throws Fault `format-newer`. */
function checked<Schema extends z.ZodType>(
  format: StoredFormat<Schema>,
  document: unknown,
  where: string,
  migrations: Migrations,
): z.infer<Schema> | undefined {
  try {
    return checkDocument(format, document, where, migrations).value;
  } catch (error) {
    if (error instanceof Damage) return undefined;
    throw error;
  }
}

interface KeptLine {
  readonly id: string;
  readonly line: string;
  /** Position of its segment among the segments. */
  readonly at: number;
}

/** The last whole line of every episode, in the order in which they stand. */
function lastLines(log: Segments): KeptLine[] {
  const kept = new Map<string, KeptLine>();
  for (const [at, n] of log.numbers().entries()) {
    const bytes = log.bytes(n);
    eachLine(bytes, "", [], (whole, start, end) => {
      const { episode: id, retired } = (whole.document() ?? {}) as { episode?: unknown; retired?: unknown };
      if (typeof id !== "string") return false;
      kept.delete(id);
      // Its older lines stand in this segment or in earlier ones, which were replaced before it.
      if (retired !== true) kept.set(id, { id, line: bytes.toString("utf8", start, end), at });
      return true;
    });
  }
  return [...kept.values()];
}

/** Spreads lines over at most `count` texts; a line never stands later than its segment did. */
function packed(lines: readonly KeptLine[], count: number, segmentBytes: number): string[] {
  const texts: string[][] = [[]];
  let size = 0;
  for (const { line, at } of lines) {
    if (size >= segmentBytes && texts.length <= at && texts.length < count) {
      texts.push([]);
      size = 0;
    }
    texts.at(-1)?.push(line, "\n");
    size += Buffer.byteLength(line) + 1;
  }
  return texts.map((parts) => parts.join(""));
}

/** Which segments hold calls of an episode: built by one pass over all segments, when it is first asked for. */
function callIndex(log: Segments): {
  note(episode: string, segment: number): void;
  segments(episode: string): readonly number[];
} {
  let known: Map<string, number[]> | undefined;
  const note = (episode: string, segment: number): void => {
    const segments = known?.get(episode);
    if (segments === undefined) known?.set(episode, [segment]);
    else if (segments.at(-1) !== segment) segments.push(segment);
  };
  return {
    note,
    segments(episode) {
      if (known === undefined) {
        known = new Map();
        for (const n of log.numbers()) {
          for (const id of episodesNamed(log.bytes(n))) note(id, n);
        }
      }
      return known.get(episode) ?? [];
    },
  };
}

/** Calls of an episode by their number; where one was written twice (a batch that was finished later), the last counts. */
function readCallsOf(
  log: Segments,
  segments: readonly number[],
  episode: string,
  migrations: Migrations,
): { calls: readonly CallLine[]; problems: readonly Problem[] } {
  const bySeq = new Map<number, CallLine>();
  const problems: Problem[] = [];
  const needle = `"episode":${JSON.stringify(episode)}`;
  for (const n of segments) {
    const where = places.segment(places.calls, n);
    const bytes = log.bytes(n);
    eachLine(bytes, where, problems, (line, start, end) => {
      if (!bytes.subarray(start, end).includes(needle)) return true;
      const call = checked(callLineFormat, line.document(), where, migrations);
      if (call?.episode === episode) bySeq.set(call.seq, call);
      return call !== undefined;
    });
  }
  return { calls: [...bySeq.values()].sort((a, b) => a.seq - b.seq), problems };
}
