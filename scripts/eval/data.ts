/**
 * Data of others at the door: files that are read for a measure, and what is wrong with one in words.
 *
 * Owns: reading JSON and JSON Lines (plain or gzipped), the one error that names file, line, field and the way out.
 * Speaks: paths in, checked values out.
 * Never: what the values mean.
 */
import { isUtf8 } from "node:buffer";
import { existsSync, readFileSync, statSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/model/json.js";

/** Something given to a measure cannot be used; told as it stands, without a stack. */
export class DataFault extends Error {
  override readonly name = "DataFault";
}

/** One row of a file and where it stands, `file:line`. */
export interface Placed {
  readonly at: string;
  readonly row: JsonObject;
}

/** `<path>` or `<path>.gz`, whichever is there. */
export function plainOrPacked(path: string): string | undefined {
  return [path, `${path}.gz`].find((one) => existsSync(one));
}

/** The text of a file; a name ending in `.gz` is unpacked. */
export function readText(path: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
    if (path.endsWith(".gz")) bytes = gunzipSync(bytes);
  } catch (error) {
    throw new DataFault(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  const line = lineWithoutText(bytes);
  if (line !== undefined) throw new DataFault(`${path}:${line} is no UTF-8; write the file anew in that encoding.`);
  return bytes.toString("utf8");
}

/** The first line whose bytes are no UTF-8, counted from 1; undefined where all are. */
function lineWithoutText(bytes: Buffer): number | undefined {
  if (isUtf8(bytes)) return undefined;
  for (let line = 1, start = 0; ; line++) {
    const stop = bytes.indexOf(0x0a, start);
    if (stop < 0 || !isUtf8(bytes.subarray(start, stop))) return line;
    start = stop + 1;
  }
}

/** A folder that is there. */
export function folderGiven(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return path;
  throw new DataFault(
    `${path} is ${found === undefined ? "not there" : "a file"}; give the folder of the data with --data <dir>.`,
  );
}

export function readJson(path: string): JsonValue {
  try {
    return JSON.parse(readText(path)) as JsonValue;
  } catch (error) {
    if (error instanceof DataFault) throw error;
    throw new DataFault(`${path} is no JSON: ${String(error)}`);
  }
}

/** Rows of a JSON Lines file with their places; blank lines are passed over. */
export function readPlaced(path: string): Placed[] {
  return readText(path)
    .replace(/^\uFEFF/, "")
    .split("\n")
    .flatMap((line, i): Placed[] => {
      if (line.trim() === "") return [];
      const at = `${path}:${i + 1}`;
      let row: unknown;
      try {
        row = JSON.parse(line);
      } catch (error) {
        throw new DataFault(`${at} is no JSON (${String(error)}); write one object a line.`);
      }
      if (!isJsonObject(row)) throw new DataFault(`${at} is no object; write one object a line.`);
      return [{ at, row }];
    });
}

/** Rows of a file whose shape is known to be right. */
export function readRows<Row>(path: string): Row[] {
  return readPlaced(path).map(({ row }) => row as Row);
}

/** A text that is there and not blank. */
export function textIn({ at, row }: Placed, field: string, what: string): string {
  const value = row[field];
  if (typeof value === "string" && value.trim() !== "") return value;
  throw new DataFault(`${at}: ${field} is ${said(value)}; it has to be ${what}.`);
}

/** How a wrong value is named. */
export function said(value: JsonValue | undefined): string {
  return value === undefined ? "missing" : JSON.stringify(value).slice(0, 60);
}

/** A whole number above 0 given to an option. */
export function countGiven(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new DataFault(`--${option} ${text}: it has to be a whole number above 0.`);
}
