/**
 * Cutting texts: by the bytes that their JSON takes, and never inside a code point.
 *
 * Owns: beginnings and ends of a text within so many bytes, the pages of a text, what the parts of a result weigh.
 * Speaks: strings, JSON values.
 * Never: what is cut and why (excerpt.ts).
 */
import type { JsonObject, JsonValue } from "../model/json.js";

/** Shares of what there is that go to the beginning of a cut text; the rest is its end's. */
const HEAD_SHARE = 0.75;
/** UTF-16 units of one page behind a handle, give or take the half of a pair. */
const PAGE_UNITS = 50_000;

/** Bytes of a value's JSON in UTF-8. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** A result's JSON text, what it takes, and what a member or a block of its content takes of that. */
export interface Printed {
  readonly text: string;
  readonly bytes: number;
  readonly bytesOf: (value: JsonValue) => number;
}

/** Prints and weighs a result in one go: at tens of megabytes each further one would have everybody wait. */
export function printInParts(result: JsonObject): Printed {
  const weights = new Map<JsonValue, number>();
  let bytes = 0;
  const weighed = (text: string): string => {
    bytes += Buffer.byteLength(text);
    return text;
  };
  const part = (value: JsonValue): string => {
    const before = bytes;
    const text = weighed(JSON.stringify(value));
    // By what it is, not by what it says: other values are short, or are looked at only here.
    if (typeof value === "object") weights.set(value, bytes - before);
    return text;
  };
  const members = Object.entries(result).map(([key, value]) => {
    const name = weighed(`${JSON.stringify(key)}:`);
    if (key !== "content" || !Array.isArray(value)) return name + part(value);
    const blocks = value.map(part).join(",");
    bytes += 2 + Math.max(0, value.length - 1);
    return `${name}[${blocks}]`;
  });
  bytes += 2 + Math.max(0, members.length - 1);
  return { text: `{${members.join(",")}}`, bytes, bytesOf: (value) => weights.get(value) ?? jsonBytes(value) };
}

/** How many pages a text has: at least one, all of them together the whole text. */
export function pagesOf(text: string): number {
  return Math.max(1, Math.ceil(text.length / PAGE_UNITS));
}

/** Page n (from 1) of a text; undefined where there is none. */
export function pageOf(text: string, page: number): string | undefined {
  if (!Number.isSafeInteger(page) || page < 1 || page > pagesOf(text)) return undefined;
  return text.slice(between(text, (page - 1) * PAGE_UNITS), between(text, page * PAGE_UNITS));
}

/** The text with its middle left out, so that its JSON takes no more than `bytes` without the quotes; whole where it fits. */
export function headAndTail(text: string, bytes: number): string {
  // No unit takes fewer bytes than one.
  if (text.length <= bytes && jsonBytes(text) - 2 <= bytes) return text;
  const free = Math.max(0, bytes - jsonBytes(leftOut(text.length)) + 2);
  const end = endOfHead(text, free * HEAD_SHARE);
  const start = Math.max(end, startOfTail(text, free - jsonBytes(text.slice(0, end)) + 2));
  return `${text.slice(0, end)}${leftOut(start - end)}${text.slice(start)}`;
}

function leftOut(characters: number): string {
  return `\n[… ${characters} characters left out …]\n`;
}

/** The place itself, or the one before it where it lies inside a surrogate pair. */
function between(text: string, place: number): number {
  return isHigh(text.charCodeAt(place - 1)) && isLow(text.charCodeAt(place)) ? place - 1 : place;
}

function endOfHead(text: string, bytes: number): number {
  let used = 0;
  let end = 0;
  while (end < text.length) {
    const width = isHigh(text.charCodeAt(end)) && isLow(text.charCodeAt(end + 1)) ? 2 : 1;
    used += bytesOf(text.charCodeAt(end), width);
    if (used > bytes) break;
    end += width;
  }
  return end;
}

function startOfTail(text: string, bytes: number): number {
  let used = 0;
  let start = text.length;
  while (start > 0) {
    const width = isLow(text.charCodeAt(start - 1)) && isHigh(text.charCodeAt(start - 2)) ? 2 : 1;
    used += bytesOf(text.charCodeAt(start - 1), width);
    if (used > bytes) break;
    start -= width;
  }
  return start;
}

/** Bytes of a code point in a JSON text: quotes and control characters are escaped, and so is half a pair. */
function bytesOf(unit: number, width: 1 | 2): number {
  if (width === 2) return 4;
  if (unit < 0x20) return (unit >= 0x08 && unit <= 0x0a) || unit === 0x0c || unit === 0x0d ? 2 : 6;
  if (unit < 0x80) return unit === 0x22 || unit === 0x5c ? 2 : 1;
  if (unit < 0x800) return 2;
  return isHigh(unit) || isLow(unit) ? 6 : 3;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
