/** Chance: the one place that draws random numbers, always from the system's cryptographic source. */
import { randomBytes } from "node:crypto";
import type { Chance } from "../model/ports.js";

/** Without i, l, o, u: ids are read aloud and typed by people (Crockford's base32, lower case). */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
/** 20 characters of 5 bits: 100 bits, so that nobody meets another's id by guessing. */
const CHARACTERS = 20;

export function systemChance(): Chance {
  return {
    /** `ep` and `ep_` both give `ep_…`. */
    id: (prefix) => `${prefix === "" || /[_-]$/.test(prefix) ? prefix : `${prefix}_`}${base32(CHARACTERS)}`,
  };
}

/** Random lower-case base32 characters. */
export function base32(characters: number): string {
  let text = "";
  for (const byte of randomBytes(characters)) text += ALPHABET[byte & 31] ?? "";
  return text;
}
