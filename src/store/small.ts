/**
 * Small documents that move: one JSON file each, kept in memory by lowdb and written through an adapter that survives anything.
 *
 * lowdb's own file adapter writes without fsync, under one fixed temporary name, and throws on an empty file. Ours replaces the
 * file atomically, keeps the copy before it as `.bak`, and reads that one where the file is damaged or gone.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Low, type Adapter } from "lowdb";
import type { z } from "zod";
import { writeAtomic } from "../host/files.js";
import type { StoredFormat } from "../model/format.js";
import type { Problem } from "../model/problem.js";
import {
  Damage,
  damaged,
  keepOldFormat,
  migrated,
  parseDocument,
  isWritten,
  readText,
  renderDocument,
  setAside,
  type DocumentShelf,
} from "./documents.js";

export interface SmallDocument<Value extends object> {
  readonly place: string;
  /** The document in memory. Never changed in place. */
  readonly value: Value;
  /** Reads it from disc and answers what was wrong with it. Throws Fault `format-newer`. */
  load(): Promise<readonly Problem[]>;
  /** Puts `next` in force and on disc; where writing fails the value before stays in force. Nothing is written if no byte moved. */
  replace(next: Value): Promise<void>;
  /** The same for a batch that is committed already: `next` stays in force whatever the disc says. */
  settle(next: Value): Promise<void>;
  /** Puts `next` in force only. */
  adopt(next: Value): void;
}

export interface SmallOptions {
  /** False for a document that can be told from elsewhere: no `.bak` is kept. */
  readonly keepPrevious?: boolean;
}

export function smallDocument<Schema extends z.ZodType<object>>(
  shelf: DocumentShelf,
  format: StoredFormat<Schema>,
  place: string,
  empty: z.infer<Schema>,
  options: SmallOptions = {},
): SmallDocument<z.infer<Schema>> {
  type Value = z.infer<Schema>;
  const path = join(shelf.home, place);
  const problems: Problem[] = [];
  let onDisc: string | undefined;

  const adapter: Adapter<Value> = {
    async read() {
      const found = await readRecovering(shelf, format, place, problems);
      onDisc = found?.text;
      return found?.value ?? null;
    },
    async write(value) {
      const text = renderDocument(value);
      if (text === onDisc) return;
      if (onDisc === undefined && (await isWritten(shelf, place, text))) {
        onDisc = text;
        return;
      }
      // Until it is known how this ends, nothing is known of the disc: the rename may happen and the fsync after it fail.
      onDisc = undefined;
      await writeAtomic(shelf.files, path, text, { keepPrevious: true, ...options });
      onDisc = text;
    },
  };
  const low = new Low<Value>(adapter, empty);

  return {
    place,
    get value() {
      return low.data;
    },
    async load() {
      low.data = empty;
      await low.read();
      return problems.splice(0);
    },
    async replace(next) {
      const before = low.data;
      low.data = next;
      try {
        await low.write();
      } catch (error) {
        low.data = before;
        throw error;
      }
    },
    async settle(next) {
      low.data = next;
      await low.write();
    },
    adopt(next) {
      low.data = next;
    },
  };
}

interface Found<Value> {
  readonly value: Value;
  /** The text on disc; undefined where it has to be written again. */
  readonly text: string | undefined;
}

async function readRecovering<Schema extends z.ZodType>(
  shelf: DocumentShelf,
  format: StoredFormat<Schema>,
  place: string,
  problems: Problem[],
): Promise<Found<z.infer<Schema>> | undefined> {
  const previous = `${place}.bak`;
  const text = readText(shelf.home, place);
  if (text !== undefined) {
    try {
      return await migrating(shelf, format, place, text, problems);
    } catch (error) {
      if (!(error instanceof Damage)) throw error;
      const instead = existsSync(join(shelf.home, previous)) ? "The copy before it is used." : "It starts empty.";
      problems.push(damaged(place, error.message, await setAside(shelf, place), instead));
    }
  }
  const older = readText(shelf.home, previous);
  if (older === undefined) return undefined;
  if (text === undefined)
    problems.push({ code: "document-missing", where: place, text: "The file is gone; the copy before it is used." });
  try {
    return { value: (await migrating(shelf, format, previous, older, problems)).value, text: undefined };
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    problems.push(damaged(previous, error.message, await setAside(shelf, previous), "It starts empty."));
    return undefined;
  }
}

async function migrating<Schema extends z.ZodType>(
  shelf: DocumentShelf,
  format: StoredFormat<Schema>,
  place: string,
  text: string,
  problems: Problem[],
): Promise<Found<z.infer<Schema>>> {
  const { value, migratedFrom } = parseDocument(format, text, place, shelf.migrations);
  if (migratedFrom === undefined) return { value, text };
  await keepOldFormat(shelf, place, migratedFrom);
  problems.push(migrated(place, format, migratedFrom));
  return { value, text: undefined };
}
