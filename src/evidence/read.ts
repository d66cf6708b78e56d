/**
 * Evidence from elsewhere: logs of other programs, read into recorded episodes.
 *
 * Owns: telling which program wrote a log, lines that are torn, the list of formats that can be read.
 * Speaks: text in, recorded episodes and problems out. Nothing that cannot be read is dropped in silence.
 * Never: files, catalogs, or deciding which tool a name means (names.ts).
 */
import { isJsonObject, kindInWords, type JsonObject, type JsonValue } from "../model/json.js";
import type { Problem } from "../model/problem.js";
import type { RecordedEpisode } from "../model/recorded.js";
import type { LogContext, LogFormat } from "./format.js";
import { claudeCode } from "./claude-code.js";
import { codex } from "./codex.js";
import { liveMcpBench } from "./live-mcp-bench.js";
import { openAiChat } from "./openai-chat.js";
import { own } from "./own.js";
import { sharesInWords, sharesOf } from "./shares.js";
import { tau2Bench, tauBench } from "./tau.js";

/** The first that recognises a log reads it: the narrow ones stand before the wide. */
export const LOG_FORMATS: readonly LogFormat[] = [own, tau2Bench, tauBench, liveMcpBench, claudeCode, codex, openAiChat];

export interface Reading {
  /** Undefined where nobody knows the log; the names of several where it has entries of several programs. */
  readonly format: string | undefined;
  readonly episodes: readonly RecordedEpisode[];
  readonly problems: readonly Problem[];
  /** Lines (or documents) read, and those that were torn. */
  readonly lines: { readonly read: number; readonly torn: number };
}

export function readLog(
  text: string,
  options: {
    readonly where: string;
    /** Name of a format, where it need not be found out. */
    readonly format?: string | undefined;
    readonly verdicts?: ReadonlyMap<string, "success" | "failure"> | undefined;
  },
): Reading {
  const { where } = options;
  const problems: Problem[] = [];
  const { documents, torn, others } = documentsOf(text);
  const lines = { read: documents.length, torn: torn.length + others.length };
  const total = documents.length + lines.torn;
  if (torn.length > 0) {
    const said = `${torn.length} of ${total} lines are no JSON and are left out (${placesOf(torn)}).`;
    problems.push({ code: "log-lines-torn", where, text: said });
  }
  if (others.length > 0) {
    const [{ kind, at }] = others as [Other];
    const said = `${others.length} of ${total} entries are no JSON object and are left out: ${at} is ${kind}.`;
    problems.push({ code: "log-entries-odd", where, text: said });
  }
  const known = LOG_FORMATS.map(({ name }) => name).join(", ");
  const format =
    options.format === undefined
      ? LOG_FORMATS.find((one) => documents.length > 0 && one.recognises(documents))
      : LOG_FORMATS.find((one) => one.name === options.format);
  if (format === undefined) {
    const why =
      options.format !== undefined
        ? `There is no log format "${options.format}"; there are ${known}.`
        : documents.length === 0
          ? emptyText(text, others)
          : `It is not known which program wrote it; name one of ${known} (--format).`;
    return { format: undefined, episodes: [], problems: [...problems, { code: "log-unknown", where, text: why }], lines };
  }
  const context: LogContext = { where, verdicts: options.verdicts ?? new Map(), note: (problem) => void problems.push(problem) };
  const found = sharesOf(documents, format, LOG_FORMATS);
  const shares = options.format === undefined ? found : [{ format, documents }];
  if (found.length > 1) {
    const read = options.format === undefined ? "each is read as its own" : `all are read as ${format.wrote}, as was asked`;
    problems.push({ code: "log-mixed", where, text: `It has entries of several programs (${sharesInWords(found)}); ${read}.` });
  }
  const episodes = shares.flatMap((share) => {
    const read = share.format.read(share.documents, context);
    if (read.length === 0)
      problems.push({
        code: "log-empty",
        where,
        text: `It was read as ${share.format.wrote} and has no task with a call in it.`,
      });
    return read;
  });
  return { format: shares.map((share) => share.format.name).join(" and "), episodes, problems, lines };
}

/** JSON that is no object, and where it stands. */
interface Other {
  readonly kind: string;
  readonly at: string;
}

/** One JSON document, an array of them, or one a line. `torn`: numbers of the lines that are no JSON. */
function documentsOf(text: string): { documents: JsonObject[]; torn: number[]; others: Other[] } {
  const plain = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const whole = parsed(plain);
  if (isJsonObject(whole)) return { documents: [whole], torn: [], others: [] };
  const documents: JsonObject[] = [];
  const torn: number[] = [];
  const others: Other[] = [];
  const take = (value: JsonValue, at: string): void => {
    if (isJsonObject(value)) documents.push(value);
    else others.push({ kind: kindInWords(value), at });
  };
  if (Array.isArray(whole)) whole.forEach((value, n) => take(value, `entry ${n + 1}`));
  else if (whole !== undefined) take(whole, "the whole of it");
  else
    for (const [n, line] of plain.split("\n").entries()) {
      if (line.trim() === "") continue;
      const value = parsed(line);
      if (value === undefined) torn.push(n + 1);
      else take(value, `line ${n + 1}`);
    }
  return { documents, torn, others };
}

/** Line numbers told of; the rest are counted by the sentence. */
const LINES_TOLD = 5;

function placesOf(lines: readonly number[]): string {
  return `line ${lines.slice(0, LINES_TOLD).join(", ")}${lines.length > LINES_TOLD ? ", …" : ""}`;
}

/** Nothing that could be an episode is in it: what was expected, and what came. */
function emptyText(text: string, others: readonly Other[]): string {
  const expected = "Expected is a JSON object, a list of objects, or one object a line";
  if (text.trim() === "") return `${expected}; it is empty.`;
  const [other] = others;
  if (other !== undefined) return `${expected}; ${other.at} is ${other.kind}.`;
  return /^\uFEFF?\s*\[\s*\]\s*$/.test(text) ? `${expected}; it is an empty list.` : `${expected}; no line of it is JSON.`;
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
