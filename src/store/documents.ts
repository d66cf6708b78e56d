/**
 * Documents: a formatted JSON text and the value it stands for.
 *
 * Rendering is stable: the same value gives the same bytes, one line per entry of its tables. Reading checks the format first:
 * a newer one is a Fault that names the file, an older one goes through its migrations, anything else is Damage.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { z } from "zod";
import { Fault } from "../model/fault.js";
import type { StoredFormat } from "../model/format.js";
import { isJsonObject, type JsonObject } from "../model/json.js";
import type { Problem } from "../model/problem.js";
import { errorCode, writeAtomic, type Files } from "../host/files.js";
import { fits } from "./fits.js";

/** A text that is not the document it should be; `message` says why. */
export class Damage extends Error {}

/** One step forward per format id: `"holds/1"` → the document as `holds/2`. */
export type Migrations = Readonly<Record<string, (document: JsonObject) => JsonObject>>;

/** Tables are spread to this depth; below it an entry is one line. */
const SPREAD = 2;

/** `format` first, the rest in the order given; undefined members are left out. */
export function renderDocument(document: object): string {
  const { format, ...rest } = document as Record<string, unknown>;
  return `${render({ format, ...rest }, 0)}\n`;
}

function render(value: unknown, depth: number): string {
  if (depth >= SPREAD || typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const pad = "  ".repeat(depth + 1);
  const items = Array.isArray(value)
    ? value.map((item) => pad + render(item, depth + 1))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => `${pad}${JSON.stringify(key)}: ${render(item, depth + 1)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return items.length === 0 ? open + close : `${open}\n${items.join(",\n")}\n${"  ".repeat(depth)}${close}`;
}

export interface Parsed<Value> {
  readonly value: Value;
  /** The version it was written in, where that is an older one. */
  readonly migratedFrom: number | undefined;
}

/** The document of a text. Throws Damage, or Fault `format-newer` naming `where`. Unknown members survive. */
export function parseDocument<Schema extends z.ZodType>(
  format: StoredFormat<Schema>,
  text: string,
  where: string,
  migrations: Migrations,
): Parsed<z.infer<Schema>> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Damage(text.trim() === "" || /^\0+$/.test(text) ? "it is empty" : `it is not JSON (${(error as Error).message})`);
  }
  return checkDocument(format, json, where, migrations);
}

export function checkDocument<Schema extends z.ZodType>(
  format: StoredFormat<Schema>,
  json: unknown,
  where: string,
  migrations: Migrations,
): Parsed<z.infer<Schema>> {
  if (!isJsonObject(json)) throw new Damage("it is not a JSON object");
  const version = versionOf(format, json, where);
  let document = json;
  for (let at = version; at < format.version; at += 1) {
    const step = migrations[`${format.kind}/${at}`];
    if (step === undefined) throw new Damage(`it has format ${format.kind}/${at}, which nothing leads on from`);
    document = step(document);
  }
  if (!fits(format.schema, document)) {
    const checked = format.schema.safeParse(document);
    const issue = checked.error?.issues[0];
    if (!checked.success) throw new Damage(`${issue?.path.join(".") ?? ""}: ${issue?.message ?? "it does not fit its format"}`);
  }
  // The schemas change nothing; keeping the value as read keeps members they do not know, in their order.
  return { value: document as z.infer<Schema>, migratedFrom: version < format.version ? version : undefined };
}

function versionOf(format: StoredFormat, json: JsonObject, where: string): number {
  const id = json["format"];
  const match = typeof id === "string" ? /^(.+)\/(\d+)$/.exec(id) : null;
  if (match === null || match[1] !== format.kind) {
    throw new Damage(`its format is ${JSON.stringify(id ?? null)} instead of "${format.id}"`);
  }
  const version = Number(match[2]);
  if (version > format.version) {
    throw new Fault(
      "format-newer",
      `${where} has format ${String(id)}; this version reads up to ${format.id}. Use a newer STEWARD.`,
      {
        file: where,
        format: String(id),
        reads: format.id,
      },
    );
  }
  return version;
}

/** Text of a file below the home, or undefined where there is none. */
export function readText(home: string, place: string): string | undefined {
  try {
    return readFileSync(join(home, place), "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "EISDIR") return undefined;
    throw error;
  }
}

/**
 * Does the file hold exactly this text? Then it is made durable: a write that failed, or a process that was killed, may have come as
 * far as the rename and no further.
 */
export async function isWritten(shelf: Pick<DocumentShelf, "home" | "files">, place: string, text: string): Promise<boolean> {
  if (readText(shelf.home, place) !== text) return false;
  const path = join(shelf.home, place);
  await shelf.files.syncWritten(path);
  await shelf.files.syncFolder(dirname(path));
  return true;
}

export interface DocumentShelf {
  readonly home: string;
  readonly files: Files;
  readonly migrations: Migrations;
  /** The home is only looked at: what is damaged stays where it lies. */
  readonly looksOnly?: true;
}

/**
 * Reads a document that is written once. A damaged one is set aside and told to `problems`; an older format is rewritten in
 * the present one and its old copy kept beside it.
 */
export async function readWrittenOnce<Schema extends z.ZodType>(
  shelf: DocumentShelf,
  format: StoredFormat<Schema>,
  place: string,
  problems: Problem[],
): Promise<z.infer<Schema> | undefined> {
  const text = readText(shelf.home, place);
  if (text === undefined) return undefined;
  try {
    const { value, migratedFrom } = parseDocument(format, text, place, shelf.migrations);
    if (migratedFrom !== undefined) {
      await keepOldFormat(shelf, place, migratedFrom);
      await writeAtomic(shelf.files, join(shelf.home, place), renderDocument(value as object));
      problems.push(migrated(place, format, migratedFrom));
    }
    return value;
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    problems.push(damaged(place, error.message, await setAside(shelf, place), "It is left out."));
    return undefined;
  }
}

/** Keeps the old copy as `<file>.v<n>`, once. */
export async function keepOldFormat(shelf: Pick<DocumentShelf, "home" | "files">, place: string, version: number): Promise<void> {
  const path = join(shelf.home, place);
  await shelf.files.link(path, `${path}.v${version}`).catch((error: unknown) => {
    if (errorCode(error) !== "EEXIST") throw error;
  });
}

/** Renames a damaged file to the first free `<file>.damaged-<n>` and answers its new place; undefined where it was left. */
export async function setAside(
  shelf: Pick<DocumentShelf, "home" | "files" | "looksOnly">,
  place: string,
): Promise<string | undefined> {
  if (shelf.looksOnly === true) return undefined;
  for (let n = 1; ; n += 1) {
    const aside = `${place}.damaged-${n}`;
    try {
      // A link fails where the name is taken, a rename would overwrite it.
      await shelf.files.link(join(shelf.home, place), join(shelf.home, aside));
    } catch (error) {
      if (errorCode(error) === "EEXIST") continue;
      throw error;
    }
    await shelf.files.unlink(join(shelf.home, place));
    return aside;
  }
}

export function damaged(place: string, why: string, aside: string | undefined, instead: string): Problem {
  const where = aside === undefined ? "" : ` It was set aside as ${aside}.`;
  return { code: "document-damaged", where: place, text: `The file is damaged: ${why}.${where} ${instead}` };
}

export function migrated(place: string, format: StoredFormat, from: number): Problem {
  return {
    code: "document-migrated",
    where: place,
    text: `It was in format ${format.kind}/${from} and is now in ${format.id}; the old copy is ${place}.v${from}.`,
  };
}
