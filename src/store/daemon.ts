/**
 * Who runs on a home, and how local programs may talk to it.
 */
import { join } from "node:path";
import { base32 } from "../host/chance.js";
import { writeAtomic, type Files } from "../host/files.js";
import { isSameProcess } from "../host/processes.js";
import { daemonFormat, type DaemonRecord } from "../model/home.js";
import { Damage, parseDocument, readText, renderDocument } from "./documents.js";
import { places } from "./places.js";

/** The daemon of a home, if it lives: its record and the process it names. A record left by a dead one is no daemon. */
export function readDaemon(home: string): DaemonRecord | undefined {
  const daemon = readLastDaemon(home);
  return daemon !== undefined && isSameProcess(daemon.pid, daemon.startTime) ? daemon : undefined;
}

/** What the last daemon wrote down that has not been stopped: it lives, or it died without a stop. */
export function readLastDaemon(home: string): DaemonRecord | undefined {
  const text = readText(home, places.daemon);
  if (text === undefined) return undefined;
  try {
    return parseDocument(daemonFormat, text, places.daemon, {}).value;
  } catch (error) {
    if (error instanceof Damage) return undefined;
    throw error;
  }
}

/** The port of a record's address; undefined where it names none. */
export function portOf({ url }: Pick<DaemonRecord, "url">): number | undefined {
  const port = URL.canParse(url) ? Number(new URL(url).port) : 0;
  return port > 0 ? port : undefined;
}

export async function writeDaemon(home: string, files: Files, daemon: Omit<DaemonRecord, "format">): Promise<void> {
  await writeAtomic(files, join(home, places.daemon), renderDocument({ format: daemonFormat.id, ...daemon }));
}

const TOKEN_CHARS = 52;
const OWNER_ONLY = 0o600;

/** The local operator's token, if one was made. */
export function readOperatorToken(home: string): string | undefined {
  const token = readText(home, places.operatorToken)?.trim();
  return token === undefined || token === "" ? undefined : token;
}

/** The local operator's token, made on first use: a file that only its owner may read. */
export async function ensureOperatorToken(home: string, files: Files): Promise<string> {
  const known = readOperatorToken(home);
  if (known !== undefined) return known;
  const token = base32(TOKEN_CHARS);
  await writeAtomic(files, join(home, places.operatorToken), `${token}\n`, { mode: OWNER_ONLY });
  return token;
}
