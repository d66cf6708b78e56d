/**
 * Configuration files as text: what editors and shells really write.
 *
 * A byte order mark and CRLF are taken, UTF-16 is named for what it is. JSON may have comments and trailing commas, as in the
 * clients' own files; a mistake is told with line and column, a name given twice with its path.
 */
import { Fault } from "../model/fault.js";
import type { JsonObject, JsonValue } from "../model/json.js";

/** The text of a configuration file. Throws Fault `config-invalid` for bytes that are no UTF-8. */
export function decodeText(bytes: Uint8Array, where: string): string {
  const utf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff) || looksLikeUtf16(bytes);
  if (utf16) {
    throw new Fault("config-invalid", `${where} is encoded as UTF-16. Save it as UTF-8 (PowerShell: Out-File -Encoding utf8).`, {
      file: where,
    });
  }
  try {
    // TextDecoder takes a byte order mark away.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Fault("config-invalid", `${where} is not UTF-8 text. Save it as UTF-8.`, { file: where });
  }
}

/** Every other byte of the beginning is zero: UTF-16 without a mark. */
function looksLikeUtf16(bytes: Uint8Array): boolean {
  const start = bytes.subarray(0, 64);
  const zeros = start.filter((byte) => byte === 0).length;
  return start.length >= 4 && zeros * 2 >= start.length - 1;
}

/** A mistake in a text, where it stands. Lines and columns count from 1. */
export class SyntaxMistake extends Error {
  readonly line: number;
  readonly column: number;

  constructor(text: string, offset: number, message: string) {
    const before = text.slice(0, offset).split("\n");
    const line = before.length;
    const column = (before.at(-1)?.length ?? 0) + 1;
    super(`line ${line}, column ${column}: ${message}`);
    this.line = line;
    this.column = column;
  }
}

export interface JsoncReading {
  readonly value: JsonValue;
  /** Names given twice in one object, as paths; the last one counts. */
  readonly twice: readonly string[];
}

/** Levels that a configuration may have. */
const CONFIG_LEVELS = 100;

/** Reads JSON with comments and trailing commas, up to so many levels. Throws SyntaxMistake. */
export function parseJsonc(text: string, levels = CONFIG_LEVELS): JsoncReading {
  const twice: string[] = [];
  let at = 0;

  const mistake = (message: string, offset = at): SyntaxMistake => new SyntaxMistake(text, offset, message);

  function space(): void {
    for (;;) {
      const gap = /[\s\ufeff]*/y;
      gap.lastIndex = at;
      at += gap.exec(text)?.[0].length ?? 0;
      if (text.startsWith("//", at)) {
        const end = text.indexOf("\n", at);
        at = end < 0 ? text.length : end;
      } else if (text.startsWith("/*", at)) {
        const end = text.indexOf("*/", at + 2);
        if (end < 0) throw mistake("this comment does not end");
        at = end + 2;
      } else return;
    }
  }

  function value(path: string, depth: number): JsonValue {
    if (depth > levels) throw mistake(`nested deeper than ${levels} levels`);
    const char = text[at];
    if (char === "{") return object(path, depth);
    if (char === "[") return list(path, depth);
    if (char === '"') return string();
    const word = /-?[A-Za-z0-9.+-]+/y;
    word.lastIndex = at;
    const found = word.exec(text)?.[0];
    if (found === undefined)
      throw mistake(
        at >= text.length ? "the file ends where a value should be" : `a value should be here, not ${JSON.stringify(char)}`,
      );
    if (!/^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/.test(found)) {
      throw mistake(`${JSON.stringify(found)} is not a value; texts stand in double quotes`);
    }
    at += found.length;
    return JSON.parse(found) as JsonValue;
  }

  function string(): string {
    const quoted = /"(?:[^"\\\n]|\\.)*"/y;
    quoted.lastIndex = at;
    const found = quoted.exec(text)?.[0];
    if (found === undefined) throw mistake("this text has no closing quote on its line");
    try {
      const read = JSON.parse(found.replaceAll("\t", "\\t").replaceAll("\r", "")) as string;
      at += found.length;
      return read;
    } catch {
      const backslash = found.search(/\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})/);
      const hint =
        backslash < 0
          ? "this text has a character that JSON does not take"
          : "a backslash has to be written twice (Windows paths: C:\\\\dir)";
      throw mistake(hint, at + Math.max(0, backslash));
    }
  }

  function object(path: string, depth: number): JsonObject {
    const members = new Map<string, JsonValue>();
    at += 1;
    for (space(); text[at] !== "}"; space()) {
      if (text[at] !== '"')
        throw mistake(
          at >= text.length ? "the file ends inside an object: a } is missing" : "a name in double quotes or a } should be here",
        );
      const name = string();
      space();
      if (text[at] !== ":") throw mistake(`a colon should follow ${JSON.stringify(name)}`);
      at += 1;
      space();
      const below = path === "" ? name : `${path}.${name}`;
      if (members.has(name)) twice.push(below);
      members.set(name, value(below, depth + 1));
      comma("}", `the value of ${JSON.stringify(name)}`);
    }
    at += 1;
    return Object.fromEntries(members);
  }

  function list(path: string, depth: number): JsonValue[] {
    const items: JsonValue[] = [];
    at += 1;
    for (space(); text[at] !== "]"; space()) {
      if (at >= text.length) throw mistake("the file ends inside a list: a ] is missing");
      items.push(value(`${path}[${items.length}]`, depth + 1));
      comma("]", "this item");
    }
    at += 1;
    return items;
  }

  function comma(close: string, after: string): void {
    space();
    if (text[at] === ",") at += 1;
    else if (text[at] !== close)
      throw mistake(at >= text.length ? `the file ends: a ${close} is missing` : `a comma or ${close} should follow ${after}`);
  }

  space();
  const read = value("", 0);
  space();
  if (at < text.length) throw mistake("there is more after the end of the document");
  return { value: read, twice };
}
