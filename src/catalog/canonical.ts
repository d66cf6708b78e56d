/**
 * Canonical JSON and the digests made of it.
 *
 * Owns: one spelling of a JSON value (RFC 8785) and the hash of a text.
 * Speaks: JSON values, strings.
 * Never: what is hashed (digest.ts) or how a schema is normalised (normalise.ts).
 */
import { hash } from "node:crypto";
import type { Digest } from "../model/ids.js";
import type { JsonValue } from "../model/json.js";

/**
 * The value as RFC 8785 spells it: members sorted by UTF-16 code units, numbers as ECMAScript prints them, no space.
 * Members whose value is `undefined` are left out, as `JSON.stringify` does. A lone surrogate is written as its escape:
 * the RFC has no spelling for it, and one bad string must not make a whole listing unreadable.
 */
export function canonicalJson(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    let text = "[";
    for (let index = 0; index < value.length; index += 1) {
      if (index > 0) text += ",";
      text += canonicalJson(value[index] ?? null);
    }
    return `${text}]`;
  }
  const keys = Object.keys(value).sort();
  let text = "{";
  for (const key of keys) {
    const member: JsonValue | undefined = value[key];
    if (member === undefined) continue;
    if (text.length > 1) text += ",";
    text += `${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return `${text}}`;
}

/** Lower-case hex sha256 of the text's UTF-8 bytes. */
export function sha256(text: string): Digest {
  return hash("sha256", text, "hex") as Digest;
}

/** Order of code points: the order of tool keys in a catalog. (`<` compares UTF-16 units, which differs above U+FFFF.) */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const x = a.charCodeAt(index);
    const y = b.charCodeAt(index);
    if (x !== y) return aboveSurrogates(x) - aboveSurrogates(y);
  }
  return a.length - b.length;
}

/** Moves surrogate units above U+E000…U+FFFF, where the code points they stand for belong. */
function aboveSurrogates(unit: number): number {
  return unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
