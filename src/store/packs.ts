/**
 * Packs: what ten thousand files hold, in one, so that a start reads one file instead of them all. There are two: the definitions of
 * the present catalog, and the files of the present skills.
 *
 * Derived and safe to delete. Its first line says what it is and the sha256 of the rest; a pack that does not agree with itself is
 * ignored. What it holds was checked against its digest when it was packed.
 */
import { join } from "node:path";
import { writeAtomic, type Files } from "../host/files.js";
import type { JsonObject } from "../model/json.js";
import { digestOfBytes, readBytes } from "./objects.js";
import { places } from "./places.js";

export interface Pack {
  readonly place: string;
  readonly format: string;
}
export const TOOL_PACK: Pack = { place: places.toolPack, format: "tool-pack/1" };
export const SKILL_PACK: Pack = { place: places.skillPack, format: "skill-pack/1" };

/** digest → what was packed. Empty where there is no pack, or none that can be trusted. */
export function readPack<Value>(home: string, { place, format }: Pack): Map<string, Value> {
  const rest = readSealed(home, place, { format });
  try {
    return rest === undefined ? new Map() : new Map(JSON.parse(rest.toString("utf8")) as [string, Value][]);
  } catch {
    return new Map();
  }
}

export async function writePack(
  home: string,
  files: Files,
  { place, format }: Pack,
  packed: ReadonlyMap<string, unknown>,
): Promise<void> {
  await writeSealed(home, files, place, { format }, Buffer.from(JSON.stringify([...packed])));
}

/** The bytes below the head of a file that says what `expected` says and has the digest it names; undefined otherwise. */
export function readSealed(home: string, place: string, expected: JsonObject): Buffer | undefined {
  const bytes = readBytes(join(home, place));
  const end = bytes?.indexOf(0x0a) ?? -1;
  if (bytes === undefined || end < 0) return undefined;
  const rest = bytes.subarray(end + 1);
  try {
    const head = JSON.parse(bytes.toString("utf8", 0, end)) as JsonObject;
    const isExpected = Object.entries(expected).every(([key, value]) => head[key] === value);
    return isExpected && head["sha256"] === digestOfBytes(rest) ? rest : undefined;
  } catch {
    return undefined;
  }
}

/** The rest begins at a multiple of eight bytes, so that numbers in it can be read where they lie. */
export async function writeSealed(home: string, files: Files, place: string, head: JsonObject, rest: Buffer): Promise<void> {
  const text = JSON.stringify({ ...head, sha256: digestOfBytes(rest) });
  const first = Buffer.from(`${text}${" ".repeat(7 - (Buffer.byteLength(text) % 8))}\n`);
  await writeAtomic(files, join(home, place), Buffer.concat([first, rest]));
}
