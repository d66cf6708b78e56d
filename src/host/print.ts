/**
 * Print: what the CLI answers on stdout: aligned, coloured only on a terminal, unable to steer it.
 *
 * Texts of servers and files come in as they are and leave escaped; colour is added here and nowhere else.
 */
import type { Environment } from "./env.js";
import { visible, visibleJson, visibleLines } from "./visible.js";

export type Colour = "bold" | "dim" | "red" | "green" | "yellow" | "blue" | "cyan";
const CODES: Readonly<Record<Colour, string>> = {
  bold: "1",
  dim: "2",
  red: "31",
  green: "32",
  yellow: "33",
  blue: "34",
  cyan: "36",
};

/** A text with the colour it is shown in; plain strings have none. */
export type Shown = string | { readonly text: string; readonly colour: Colour };

export interface Column {
  readonly title: string;
  readonly align?: "left" | "right";
}

export interface Print {
  /** One line, whatever names and texts are in it: a newline of theirs is escaped like all that steers a terminal. */
  line(...parts: readonly Shown[]): void;
  /** A text as it is in lines; escaped but for these. */
  block(text: string): void;
  /** Rows under their titles, aligned by what a terminal shows. Without rows nothing but the titles. */
  table(columns: readonly Column[], rows: readonly (readonly Shown[])[]): void;
  /** A value for programs. */
  json(value: unknown): void;
  /** A remark for people, on stderr, so that stdout stays the answer: one line. */
  note(...parts: readonly Shown[]): void;
  /**
   * How far long work is, on stderr: on a terminal one line that is written over, elsewhere a line where `milestone` moved. An empty text
   * takes the line away.
   */
  progress(text: string, milestone: string): void;
  readonly colour: boolean;
}

export interface Out {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export interface PrintOptions {
  readonly out?: Out;
  readonly err?: Out;
  readonly env?: Environment;
}

export function createPrint(options: PrintOptions = {}): Print {
  const out = options.out ?? process.stdout;
  const err = options.err ?? process.stderr;
  const env = options.env ?? process.env;
  const colour = wantsColour(out, env);
  let milestone = "";
  let isShown = false;
  const clear = (): void => {
    if (isShown) err.write("\r\x1b[K");
    isShown = false;
  };

  return {
    colour,
    line: (...parts) => void out.write(`${joined(parts, colour)}\n`),
    block: (text) => void out.write(`${visibleLines(text)}\n`),
    note: (...parts) => {
      clear();
      err.write(`${joined(parts, wantsColour(err, env))}\n`);
    },
    progress: (text, at) => {
      if (err.isTTY === true && env["TERM"] !== "dumb") {
        clear();
        if (text === "") return;
        err.write(shortened(visible(text), Math.max(LAST_MIN, (err.columns ?? 80) - 1)));
        isShown = true;
      } else if (text !== "" && at !== milestone) err.write(`${visible(text)}\n`);
      milestone = at;
    },
    json: (value) => void out.write(`${visibleJson(JSON.stringify(value, null, 2) ?? "null")}\n`),
    table: (columns, rows) => {
      const limit = out.isTTY === true ? out.columns : undefined;
      for (const text of tableLines(columns, rows, colour, limit)) out.write(`${text}\n`);
    },
  };
}

function wantsColour(out: Out, env: Environment): boolean {
  if (env["NO_COLOR"] !== undefined && env["NO_COLOR"] !== "") return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined && forced !== "" && forced !== "0") return true;
  return out.isTTY === true && env["TERM"] !== "dumb";
}

function joined(parts: readonly Shown[], colour: boolean): string {
  return parts.map((part) => paint(part, visible(textOf(part)), colour)).join("");
}

function textOf(shown: Shown): string {
  return typeof shown === "string" ? shown : shown.text;
}

function paint(shown: Shown, text: string, colour: boolean): string {
  return colour && typeof shown !== "string" && text !== "" ? `\x1b[${CODES[shown.colour]}m${text}\x1b[0m` : text;
}

const GAP = "  ";
/** A last column narrower than this is not cut to the terminal: wrapping reads better than one word a line. */
const LAST_MIN = 16;

function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly Shown[])[],
  colour: boolean,
  limit: number | undefined,
): string[] {
  const head: Shown[] = columns.map(({ title }) => ({ text: title, colour: "dim" }));
  const all = [head, ...rows];
  const widths = columns.map((_, at) => Math.max(...all.map((row) => widthOf(visible(textOf(row[at] ?? ""))))));
  const last = columns.length - 1;
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0);
  const room = limit !== undefined && limit - before >= LAST_MIN ? limit - before : undefined;
  return all.map((row) => {
    const cells = columns.map((column, at) => {
      const shown = row[at] ?? "";
      const whole = visible(textOf(shown));
      const text = at === last && room !== undefined ? shortened(whole, room) : whole;
      const space = " ".repeat(Math.max(0, (widths[at] ?? 0) - widthOf(text)));
      const painted = paint(shown, text, colour);
      return column.align === "right" ? space + painted : at === last ? painted : painted + space;
    });
    return cells.join(GAP).trimEnd();
  });
}

function shortened(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let out = "";
  let used = 0;
  for (const char of text) {
    used += charWidth(char);
    if (used > width - 1) break;
    out += char;
  }
  return `${out}…`;
}

/** Columns a terminal needs for a text: 2 for East Asian wide characters and emoji, 0 for marks that combine. */
export function widthOf(text: string): number {
  let width = 0;
  for (const char of text) width += charWidth(char);
  return width;
}

const ZERO = /^(?:\p{Mn}|\p{Me}|\u200c|\u200d)$/u;
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|^\p{Emoji_Presentation}|^[\u{20000}-\u{3fffd}]/u;

function charWidth(char: string): number {
  if (char < "\u0300") return 1;
  return ZERO.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
}
