/**
 * Evidence from elsewhere: logs of other programs, read into recorded episodes.
 *
 * Owns: telling which program wrote a log, lines that are torn, the list of formats that can be read.
 * Speaks: text in, recorded episodes and problems out. Nothing that cannot be read is dropped in silence.
 * Never: files, catalogs, or deciding which tool a name means (names.ts).
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { Problem } from "../model/problem.js";
import type { RecordedEpisode } from "../model/recorded.js";
import type { LogContext, LogFormat } from "./format.js";
import { claudeCode } from "./claude-code.js";
import { codex } from "./codex.js";
import { liveMcpBench } from "./live-mcp-bench.js";
import { openAiChat } from "./openai-chat.js";
import { own } from "./own.js";
import { tau2Bench, tauBench } from "./tau.js";

/** The first that recognises a log reads it: the narrow ones stand before the wide. */
export const LOG_FORMATS: readonly LogFormat[] = [own, tau2Bench, tauBench, liveMcpBench, claudeCode, codex, openAiChat];

export interface Reading {
  /** Undefined where nobody knows the log. */
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
  const { documents, torn } = documentsOf(text);
  const lines = { read: documents.length, torn };
  if (torn > 0) {
    const total = documents.length + torn;
    problems.push({ code: "log-lines-torn", where, text: `${torn} of ${total} lines are no JSON and are left out.` });
  }
  const known = LOG_FORMATS.map(({ name }) => name).join(", ");
  const format =
    options.format === undefined
      ? LOG_FORMATS.find((one) => documents.length > 0 && one.recognises(documents))
      : LOG_FORMATS.find((one) => one.name === options.format);
  if (format === undefined) {
    const text =
      options.format !== undefined
        ? `There is no log format "${options.format}"; there are ${known}.`
        : documents.length === 0
          ? "It has no JSON in it: neither one document nor one a line."
          : `It is not known which program wrote it; name one of ${known} (--format).`;
    return { format: undefined, episodes: [], problems: [...problems, { code: "log-unknown", where, text }], lines };
  }
  const context: LogContext = { where, verdicts: options.verdicts ?? new Map(), note: (problem) => void problems.push(problem) };
  const episodes = format.read(documents, context);
  if (episodes.length === 0)
    problems.push({ code: "log-empty", where, text: `It was read as ${format.wrote} and has no task with a call in it.` });
  return { format: format.name, episodes, problems, lines };
}

/** One JSON document, an array of them, or one a line. Lines that are no object are torn. */
function documentsOf(text: string): { documents: JsonObject[]; torn: number } {
  const plain = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const whole = parsed(plain);
  if (isJsonObject(whole)) return { documents: [whole], torn: 0 };
  if (Array.isArray(whole)) {
    const documents = whole.filter(isJsonObject);
    return { documents, torn: whole.length - documents.length };
  }
  const documents: JsonObject[] = [];
  let torn = 0;
  for (const line of plain.split("\n")) {
    if (line.trim() === "") continue;
    const value = parsed(line);
    if (isJsonObject(value)) documents.push(value);
    else torn += 1;
  }
  return { documents, torn };
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
