/**
 * Peek: a home read as it lies on disc, without its lock and without a byte written.
 *
 * For questions about a home that somebody else may be working on, or that must not change (a checkout in CI). What recovery would
 * finish, heal or set aside is left to the next one who opens the home; a decision that is being written meanwhile is waited for.
 * Episodes and calls are not read.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Files } from "../host/files.js";
import type { Log } from "../host/log.js";
import type { Ground, Store } from "../model/ports.js";
import type { Problem } from "../model/problem.js";
import type { ListedTool } from "../model/tool.js";
import { readDefinitions } from "./catalogs.js";
import { numbersIn } from "./names.js";
import type { DocumentShelf } from "./documents.js";
import { readGround } from "./ground.js";
import { places } from "./places.js";
import { createReading } from "./reading.js";
import { openSmalls } from "./store.js";

export interface Peek extends Pick<
  Store,
  "readHandEdits" | "readManifest" | "keptVersions" | "readDocuments" | "listEvidence" | "readEvidence" | "readCalls"
> {
  readonly ground: Ground;
}

/** A decision is on disc within moments; one that stays pending was interrupted and waits for the next start. */
const MOVING_WAIT_MS = 100;
const MOVING_TRIES = 20;

export async function peekHome(options: { readonly home: string; readonly log: Log }): Promise<Peek> {
  const { home, log } = options;
  const shelf: DocumentShelf = { home, files: readOnly(), migrations: {}, looksOnly: true };
  const noLogs = {
    readEpisodes: () => Promise.resolve({ episodes: [], problems: [] }),
    readCalls: () => ({ calls: [], problems: [] }),
  };
  for (let tries = 0; ; tries += 1) {
    const smalls = openSmalls(shelf);
    const before = positionOf(home);
    const problems: Problem[] = [];
    for (const small of Object.values(smalls)) problems.push(...(await small.load()));
    const { ground } = await readGround({ shelf, smalls, logs: noLogs, problems, useCaches: true });
    const still = before === positionOf(home) && !existsSync(join(home, places.pending));
    if (still || tries >= MOVING_TRIES) {
      const lock = () => smalls.lock.value;
      const { readHandEdits, readManifest, keptVersions, readDocuments, listEvidence, readEvidence, readCalls } = createReading({
        shelf,
        logs: noLogs,
        log,
        lock,
        recover: () => Promise.resolve(),
      });
      return { ground, readHandEdits, readManifest, keptVersions, readDocuments, listEvidence, readEvidence, readCalls };
    }
    await new Promise((next) => setTimeout(next, MOVING_WAIT_MS));
  }
}

/** Definitions by document digest, as many as lie there whole. */
export async function definitionsIn(home: string, digests: Iterable<string>): Promise<ReadonlyMap<string, ListedTool>> {
  return (await readDefinitions({ home, files: readOnly(), looksOnly: true }, digests, [], { usePack: false })).documents;
}

/** Moves with every decision on the catalog or the library. */
function positionOf(home: string): string {
  return [places.versions, places.revisions].map((place) => numbersIn(home, place).at(-1) ?? 0).join("/");
}

/** Takes every write and does none. */
function readOnly(): Files {
  const nothing = (): Promise<void> => Promise.resolve();
  return {
    create: nothing,
    append: nothing,
    truncate: nothing,
    sync: nothing,
    syncWritten: nothing,
    rename: nothing,
    link: nothing,
    unlink: nothing,
    makeFolder: nothing,
    removeFolder: nothing,
    syncFolder: nothing,
    close: nothing,
  };
}
