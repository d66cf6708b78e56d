/**
 * A small reader of TOML, for the one client that keeps its servers in it. It reads tables, dotted keys, strings, numbers, booleans,
 * lists and inline tables; a line it does not understand is passed over and named, and the rest is read.
 */
import type { JsonObject, JsonValue } from "../model/json.js";
import { isJsonObject } from "../model/json.js";

export interface TomlReading {
  readonly value: JsonObject;
  /** Lines that were not understood, counted from 1. */
  readonly unread: readonly number[];
}

/** Names that would reach an object's prototype are no names of settings. */
const REFUSED = new Set(["__proto__", "constructor", "prototype"]);

export function parseToml(text: string): TomlReading {
  const root: JsonObject = {};
  const unread: number[] = [];
  let table: JsonObject | undefined = root;
  const cursor = { text, at: 0 };
  while (cursor.at < text.length) {
    const start = cursor.at;
    try {
      skipBlank(cursor);
      if (cursor.at >= text.length) break;
      if (text[cursor.at] === "[") {
        table = undefined;
        table = readHeader(cursor, root);
      } else {
        const path = readKey(cursor);
        expect(cursor, "=");
        const value = readValue(cursor);
        endOfLine(cursor);
        if (table !== undefined) put(table, path, value);
      }
    } catch (error) {
      if (!(error instanceof Unread)) throw error;
      unread.push(text.slice(0, Math.max(start, Math.min(cursor.at, text.length))).split("\n").length);
      const end = text.indexOf("\n", Math.max(start, cursor.at));
      cursor.at = end < 0 ? text.length : end + 1;
    }
  }
  return { value: root, unread };
}

class Unread extends Error {}

interface Cursor {
  readonly text: string;
  at: number;
}

function take(cursor: Cursor, pattern: RegExp): string | undefined {
  const sticky = new RegExp(pattern.source, `${pattern.flags}y`);
  sticky.lastIndex = cursor.at;
  const found = sticky.exec(cursor.text)?.[0];
  if (found !== undefined) cursor.at += found.length;
  return found;
}

function skipBlank(cursor: Cursor): void {
  take(cursor, /(?:\s|#[^\n]*)*/);
}

function endOfLine(cursor: Cursor): void {
  if (take(cursor, /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/) === undefined) throw new Unread();
}

function expect(cursor: Cursor, text: string): void {
  take(cursor, /[ \t]*/);
  if (!cursor.text.startsWith(text, cursor.at)) throw new Unread();
  cursor.at += text.length;
  take(cursor, /[ \t]*/);
}

function readHeader(cursor: Cursor, root: JsonObject): JsonObject {
  const isList = take(cursor, /\[\[?/) === "[[";
  const path = readKey(cursor);
  expect(cursor, isList ? "]]" : "]");
  endOfLine(cursor);
  const parent = descend(root, path.slice(0, -1));
  const name = path.at(-1) ?? "";
  const there = parent[name];
  if (isList) {
    const items = Array.isArray(there) ? there : [];
    parent[name] = items;
    const item: JsonObject = {};
    items.push(item);
    return item;
  }
  if (there === undefined) parent[name] = {};
  return descend(root, path);
}

function readKey(cursor: Cursor): string[] {
  const path: string[] = [];
  do {
    take(cursor, /[ \t]*/);
    const quoted = cursor.text[cursor.at] === '"' || cursor.text[cursor.at] === "'";
    const part = quoted ? readString(cursor) : take(cursor, /[A-Za-z0-9_-]+/);
    if (part === undefined || REFUSED.has(part)) throw new Unread();
    path.push(part);
    take(cursor, /[ \t]*/);
  } while (take(cursor, /\./) !== undefined);
  return path;
}

function descend(from: JsonObject, path: readonly string[]): JsonObject {
  let at = from;
  for (const part of path) {
    at[part] ??= {};
    const below: JsonValue | undefined = at[part];
    const next: JsonValue | undefined = Array.isArray(below) ? below.at(-1) : below;
    if (!isJsonObject(next)) throw new Unread();
    at = next;
  }
  return at;
}

function put(table: JsonObject, path: readonly string[], value: JsonValue): void {
  descend(table, path.slice(0, -1))[path.at(-1) ?? ""] = value;
}

function readValue(cursor: Cursor): JsonValue {
  const char = cursor.text[cursor.at];
  if (char === '"' || char === "'") return readString(cursor);
  if (char === "[") return readList(cursor);
  if (char === "{") return readInlineTable(cursor);
  const word = take(cursor, /[A-Za-z0-9_.+:-]+/) ?? "";
  if (word === "true" || word === "false") return word === "true";
  const number = word.replaceAll("_", "");
  if (/^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(number)) return Number(number);
  // Dates, hexadecimal numbers and the like are kept as their text.
  if (/^[+-]?[0-9]/.test(word)) return word;
  throw new Unread();
}

function readList(cursor: Cursor): JsonValue[] {
  const items: JsonValue[] = [];
  cursor.at += 1;
  for (skipBlank(cursor); cursor.text[cursor.at] !== "]"; skipBlank(cursor)) {
    items.push(readValue(cursor));
    skipBlank(cursor);
    if (take(cursor, /,/) === undefined && cursor.text[cursor.at] !== "]") throw new Unread();
  }
  cursor.at += 1;
  return items;
}

function readInlineTable(cursor: Cursor): JsonObject {
  const table: JsonObject = {};
  cursor.at += 1;
  for (skipBlank(cursor); cursor.text[cursor.at] !== "}"; skipBlank(cursor)) {
    const path = readKey(cursor);
    expect(cursor, "=");
    put(table, path, readValue(cursor));
    skipBlank(cursor);
    if (take(cursor, /,/) === undefined && cursor.text[cursor.at] !== "}") throw new Unread();
  }
  cursor.at += 1;
  return table;
}

function readString(cursor: Cursor): string {
  const literal = take(cursor, /'''[\s\S]*?'''/) ?? take(cursor, /'[^'\n]*'/);
  if (literal !== undefined) {
    return literal.startsWith("'''") ? literal.slice(3, -3).replace(/^\r?\n/, "") : literal.slice(1, -1);
  }
  const block = take(cursor, /"""(?:[^\\]|\\[\s\S])*?"""/);
  if (block !== undefined)
    return unescaped(
      block
        .slice(3, -3)
        .replace(/^\r?\n/, "")
        .replace(/\\\r?\n\s*/g, ""),
    );
  const quoted = take(cursor, /"(?:[^"\\\n]|\\.)*"/);
  if (quoted === undefined) throw new Unread();
  return unescaped(quoted.slice(1, -1));
}

const ESCAPES: Readonly<Record<string, string>> = {
  b: "\b",
  t: "\t",
  n: "\n",
  f: "\f",
  r: "\r",
  e: "\u001b",
  '"': '"',
  "\\": "\\",
};

function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/g, (all, short?: string, long?: string, char?: string) => {
    if (char !== undefined) return ESCAPES[char] ?? all;
    const code = Number.parseInt(short ?? long ?? "", 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}
