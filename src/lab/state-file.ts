/**
 * Files of a served world: the switch it watches and the tables it keeps.
 *
 * Owns: atomic writes, what happens with a damaged or newer file.
 * Speaks: the formats of model/lab.ts.
 * Never: what the tables mean.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { Fault } from "../model/fault.js";
import { isJsonObject, type JsonObject } from "../model/json.js";
import { demoFormat, labStateFormat } from "../model/lab.js";

export interface TablesReading {
  /** Undefined where there is nothing to go on from. */
  readonly tables: JsonObject | undefined;
  readonly note: string | undefined;
}

/** Reads kept tables. A damaged file is set aside and named; a newer format is refused (Fault `format-newer`). */
export function readTables(path: string, world: string, part: string): TablesReading {
  const text = readText(path);
  if (text === undefined) return { tables: undefined, note: undefined };
  const json = parse(text);
  const format = isJsonObject(json) ? json["format"] : undefined;
  if (typeof format === "string" && format.startsWith(`${labStateFormat.kind}/`) && format !== labStateFormat.id) {
    throw new Fault("format-newer", `${path} has format ${format}; this version reads ${labStateFormat.id}.`);
  }
  const parsed = labStateFormat.schema.safeParse(json);
  if (parsed.success && parsed.data.world === world && parsed.data.part === part) {
    return { tables: parsed.data.tables as JsonObject, note: undefined };
  }
  const aside = `${path}.damaged-${randomBytes(4).toString("hex")}`;
  renameSync(path, aside);
  return {
    tables: undefined,
    note: `${path} is not the state of ${world} ${part}; it was set aside as ${aside} and the world starts afresh.`,
  };
}

/** Writes the tables whole or not at all: unique temporary file, fsync, rename, fsync of the folder. */
export function writeTables(path: string, world: string, part: string, tables: JsonObject): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true });
  const text = `${JSON.stringify({ format: labStateFormat.id, world, part, tables })}\n`;
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString("hex")}.tmp`;
  const file = openSync(temporary, "wx", 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } catch (error) {
    closeSync(file);
    unlinkSync(temporary);
    throw error;
  }
  closeSync(file);
  renameSync(temporary, path);
  const directory = openSync(folder, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** A change of the switch file is a change of this text; empty where there is no file. */
export function switchStamp(path: string): string {
  try {
    const { mtimeMs, ino, size } = statSync(path);
    return `${mtimeMs}:${ino}:${size}`;
  } catch {
    return "";
  }
}

/** The catalog version the switch names; undefined where it is absent or cannot be read. */
export function readSwitch(path: string): number | undefined {
  const parsed = demoFormat.schema.safeParse(parse(readText(path) ?? ""));
  return parsed.success ? parsed.data.version : undefined;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
