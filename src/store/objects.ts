/**
 * Files that are written once: content-addressed objects, and documents under an id that nobody had before.
 *
 * They are written before the commit of the batch that refers to them; without it they are garbage that nothing names.
 */
import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { canonicalJson, sha256 } from "../catalog/canonical.js";
import { errorCode, writeAtomic, type Files } from "../host/files.js";
import { isJsonObject, type JsonValue } from "../model/json.js";
import type { ListedTool } from "../model/tool.js";
import { readText } from "./documents.js";
import { isDigest, places } from "./places.js";

export interface WrittenOnce {
  readonly place: string;
  readonly text: string;
  /** Is a text found in its place as good as this one? Absent: what is there is replaced. */
  readonly isGood?: (found: string) => boolean;
}

/** fsyncs under way at once: the file system gathers them. */
const AT_ONCE = 16;

/** Those that are not there, or not as good. */
export function missingOf(home: string, objects: readonly WrittenOnce[]): WrittenOnce[] {
  return objects.filter(({ place, isGood }) => {
    const found = isGood === undefined ? undefined : readText(home, place);
    return found === undefined || isGood?.(found) === false;
  });
}

/** Writes all, durably. On failure some may be there already. See bulk.ts for many. */
export async function writeOnce(home: string, files: Files, missing: readonly WrittenOnce[]): Promise<void> {
  await atOnce(missing, ({ place, text }) => writeAtomic(files, join(home, place), text, { folderLater: true }));
  for (const folder of new Set(missing.map(({ place }) => dirname(join(home, place))))) await files.syncFolder(folder);
}

/** Runs over all items, several at a time; rejects with the first failure when all have come to rest. */
export async function atOnce<Item>(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const hands = Array.from({ length: Math.min(AT_ONCE, items.length) }, async () => {
    for (const item of waiting) await run(item);
  });
  // Nothing is written behind the caller's back after a failure was told.
  const results = await Promise.allSettled(hands);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

/** A definition as it is stored: members in the order the upstream gave them. */
export function toolObject(digest: string, document: ListedTool): WrittenOnce {
  return {
    place: places.tool(digest),
    text: `${JSON.stringify(document)}\n`,
    isGood: (found) => toolOf(digest, found) !== undefined,
  };
}

/** The definition, if it is the one that the digest names. */
export function toolOf(digest: string, text: string): ListedTool | undefined {
  try {
    const json = JSON.parse(text) as JsonValue;
    if (!isJsonObject(json) || typeof json["name"] !== "string" || sha256(canonicalJson(json)) !== digest) return undefined;
    return json as ListedTool;
  } catch {
    return undefined;
  }
}

/** Bytes of a skill file, as text. */
export function fileObject(digest: string, text: string): WrittenOnce {
  return { place: places.object(digest), text, isGood: (found) => sha256(found) === digest };
}

/** Undefined where it is missing or does not hash to its name. */
export function readFileObject(home: string, digest: string): string | undefined {
  const bytes = isDigest(digest) ? readBytes(join(home, places.object(digest))) : undefined;
  return bytes !== undefined && digestOfBytes(bytes) === digest ? textOf(bytes) : undefined;
}

/** Undefined where there is no such file. */
export function readBytes(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR" || errorCode(error) === "EISDIR") return undefined;
    throw error;
  }
}

/** The text whose UTF-8 bytes are exactly these, a byte order mark included; undefined where there is none. */
export function textOf(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString("utf8") : undefined;
}

/** Lower-case hex sha256. */
export function digestOfBytes(bytes: Buffer): string {
  return hash("sha256", bytes, "hex");
}

/** Lets other work in between: reading thousands of files must not keep a call waiting. */
export async function breathe(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
