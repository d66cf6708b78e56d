/**
 * The log: what the daemon tells its operator, on stderr only (stdout belongs to the protocol and to the CLI's answers).
 *
 * Every line is redacted and has its control characters escaped before it leaves. JSON by default; readable lines on a terminal.
 */
import { inspect } from "node:util";
import { pino } from "pino";
import { redact } from "./redact.js";
import { visible, visibleJson } from "./visible.js";

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";
export type LogData = Readonly<Record<string, unknown>>;

export interface Log {
  debug(text: string, data?: LogData): void;
  info(text: string, data?: LogData): void;
  warn(text: string, data?: LogData): void;
  error(text: string, data?: LogData): void;
  /** The same log with `data` on every line. */
  with(data: LogData): Log;
}

export interface LogOptions {
  readonly level?: LogLevel;
  /** `text` for people, `json` for collectors. Default: `text` where stderr is a terminal. */
  readonly form?: "text" | "json";
  /** Values that must never be printed; asked for at each line, since configurations move. */
  readonly secrets?: () => readonly string[];
  /** Takes a finished line, newline included; a test passes its own. */
  readonly write?: (line: string) => void;
  readonly colour?: boolean;
}

export function createLog(options: LogOptions = {}): Log {
  const form = options.form ?? (process.stderr.isTTY ? "text" : "json");
  const colour = options.colour ?? (form === "text" && process.stderr.isTTY && !process.env["NO_COLOR"]);
  const secrets = options.secrets ?? (() => []);
  const write = options.write ?? stderrWriter();
  const stream = {
    write(line: string): void {
      const clean = redact(line.trimEnd(), secrets());
      write(`${form === "json" ? visibleJson(clean) : readable(clean, colour)}\n`);
    },
  };
  const level = options.level ?? "info";
  const logger = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
    stream,
  );
  return wrap(logger);
}

/** A log that says nothing. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silentLog,
};

type Lines = Pick<ReturnType<typeof pino>, "debug" | "info" | "warn" | "error" | "child">;

function wrap(logger: Lines): Log {
  return {
    debug: (text, data) => logger.debug(plain(data), text),
    info: (text, data) => logger.info(plain(data), text),
    warn: (text, data) => logger.warn(plain(data), text),
    error: (text, data) => logger.error(plain(data), text),
    with: (data) => wrap(logger.child(plain(data))),
  };
}

/** Errors become data; the log's own fields are not overwritten by a caller's. */
function plain(data: LogData | undefined): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(data ?? {})) {
    const name = ["level", "time", "msg", "pid", "hostname"].includes(key) ? `${key}_` : key;
    out[name] = value instanceof Error ? shownError(value) : value;
  }
  return out;
}

function shownError(error: Error): Record<string, unknown> {
  const { code } = error as { code?: unknown };
  return {
    name: error.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    stack: error.stack,
    ...(error.cause === undefined
      ? {}
      : { cause: error.cause instanceof Error ? shownError(error.cause) : inspect(error.cause) }),
  };
}

function stderrWriter(): (line: string) => void {
  // Synchronous: what is said before the process ends is on the terminal.
  const destination = pino.destination({ dest: 2, sync: true });
  // A closed stderr (the client that spawned us is gone) must not end the daemon.
  destination.on("error", () => undefined);
  return (line) => void destination.write(line);
}

const COLOURS: Readonly<Record<string, string>> = { debug: "\x1b[2m", info: "\x1b[36m", warn: "\x1b[33m", error: "\x1b[31m" };

function readable(json: string, colour: boolean): string {
  const { level, time, msg, ...data } = JSON.parse(json) as Record<string, unknown>;
  const name = String(level);
  const paint = (code: string, text: string): string => (colour ? `${code}${text}\x1b[0m` : text);
  const parts = [String(time).slice(11, 19), paint(COLOURS[name] ?? "", name.padEnd(5)), visible(String(msg))];
  const shown = Object.entries(data).map(([key, value]) => {
    return `${key}=${visible(typeof value === "string" ? value : (JSON.stringify(value) ?? ""))}`;
  });
  if (shown.length > 0) parts.push(paint("\x1b[2m", shown.join(" ")));
  return parts.join(" ");
}
