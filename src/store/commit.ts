/**
 * The commit of one batch: whole or not at all, whatever happens in between.
 *
 *   objects ─► one file or one log to move? ─ yes ─► write it: that write is the commit
 *                        │ no
 *                        ▼
 *        state/pending.json (the commit) ─► documents, log lines, skill folders ─► pending.json removed
 *
 * Until the commit nothing refers to what was written; a failure takes it back and rejects. After it the batch is durable: what
 * cannot be written just now is written before the next batch, or by the next start. Applying twice is applying once.
 */
import { dirname, join } from "node:path";
import { ensureFolder, writeAtomic, type Files } from "../host/files.js";
import type { Log } from "../host/log.js";
import { pathProblem } from "../host/paths.js";
import type { Problem } from "../model/problem.js";
import type { Bulk } from "./bulk.js";
import {
  damaged,
  Damage,
  isWritten,
  parseDocument,
  readText,
  renderDocument,
  setAside,
  type DocumentShelf,
} from "./documents.js";
import { assertWritable, moveFolders } from "./folders.js";
import { pendingFormat, type Pending } from "./formats.js";
import type { Logs } from "./logs.js";
import { places } from "./places.js";
import type { Batch, SmallName, Smalls } from "./plan.js";
import type { SmallDocument } from "./small.js";

export type SmallDocuments = { readonly [Name in SmallName]: SmallDocument<Smalls[Name]> };

export interface Committer {
  /** Finishes a batch that an earlier process committed. To be called once, after the logs were opened and before smalls are loaded. */
  recover(): Promise<readonly Problem[]>;
  /** Makes good what earlier failures left: to be called before a batch is planned, since that looks at the small documents. */
  finish(): Promise<void>;
  /** Rejects where nothing of the batch was kept, with the system's error. */
  commit(batch: Batch): Promise<void>;
}

export function createCommitter(options: {
  readonly shelf: DocumentShelf;
  readonly bulk: Bulk;
  readonly logs: Logs;
  readonly smalls: SmallDocuments;
  readonly log: Log;
}): Committer {
  const { shelf, bulk, logs, smalls, log } = options;
  const { home, files } = shelf;
  const pendingPath = join(home, places.pending);
  const byPlace = new Map<string, SmallDocument<object>>(
    Object.values(smalls).map((small) => [small.place, small as SmallDocument<object>]),
  );
  /** Committed, and not written everywhere. */
  let unfinished: Pending | undefined;
  /** Takes back what a rejected batch may have left. */
  let takeBack: (() => Promise<void>) | undefined;

  async function apply(pending: Pending, again: boolean): Promise<void> {
    // People take the whole folder away and put it back; what is written into it must not wait for that.
    await ensureFolder(files, join(home, places.skills), home);
    for (const { place, document } of pending.documents) {
      const small = byPlace.get(place);
      if (small !== undefined) await small.settle(document);
      else await writeDocument(files, home, place, document);
    }
    if (pending.lines.calls.length + pending.lines.episodes.length > 0) {
      await (again ? logs.redo(pending.lines, pending.number) : logs.append(pending.lines, pending.number));
    }
    const problems: Problem[] = [];
    const moves = Object.entries(pending.skills).map(([name, move]) => ({ name, ...move }));
    await moveFolders(home, files, moves, problems);
    for (const problem of problems) log.warn(`${problem.where}: ${problem.text}`);
  }

  async function dropPending(): Promise<void> {
    await files.unlink(pendingPath);
    // Without this a power failure could bring the batch back after later ones.
    await files.syncFolder(dirname(pendingPath));
  }

  async function finish(): Promise<void> {
    if (takeBack !== undefined) {
      await takeBack();
      takeBack = undefined;
    }
    await logs.repair();
    if (unfinished === undefined) return;
    await apply(unfinished, true);
    await dropPending();
    unfinished = undefined;
  }

  /** Runs a write that is a commit by itself; where it fails, it is undone now or before the next batch. */
  async function orTakeBack(write: () => Promise<void>, undo: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      // The rename may have happened before the failure.
      takeBack = undo;
      await finish().catch(() => undefined);
      throw error;
    }
  }

  async function commitPending(pending: Pending): Promise<void> {
    await orTakeBack(() => writeAtomic(files, pendingPath, renderDocument(pending)), dropPending);
    unfinished = pending;
    try {
      await apply(pending, false);
      await dropPending();
      unfinished = undefined;
    } catch (error) {
      for (const { place, document } of pending.documents) byPlace.get(place)?.adopt(document);
      log.warn("a decision is safe in state/pending.json and could not be written everywhere yet", { error });
    }
  }

  async function writeOne(place: string, document: object): Promise<void> {
    const small = byPlace.get(place);
    if (small !== undefined) {
      const before = small.value;
      await orTakeBack(
        () => small.replace(document),
        () => small.settle(before),
      );
      return;
    }
    const before = readText(home, place);
    const undo = async (): Promise<void> => {
      if (before !== undefined) return writeAtomic(files, join(home, place), before);
      await files.unlink(join(home, place));
      await files.syncFolder(dirname(join(home, place)));
    };
    await orTakeBack(() => writeDocument(files, home, place, document), undo);
  }

  return {
    finish,
    async recover() {
      const text = readText(home, places.pending);
      if (text === undefined) return [];
      try {
        unfinished = parseDocument(pendingFormat, text, places.pending, shelf.migrations).value;
        checkPlaces(unfinished);
      } catch (error) {
        if (!(error instanceof Damage)) throw error;
        unfinished = undefined;
        return [damaged(places.pending, error.message, await setAside(shelf, places.pending), "The decision it held is lost.")];
      }
      await finish();
      return [
        {
          code: "batch-finished",
          where: places.pending,
          text: "A decision was being written when the process ended; it was finished.",
        },
      ];
    },
    async commit(batch) {
      await finish();
      await bulk.write(batch.objects);
      const moved = documentsOf(batch, smalls);
      const hasLines = batch.lines.calls.length + batch.lines.episodes.length > 0;
      const parts = moved.length + (hasLines ? 1 : 0) + (Object.keys(batch.skills).length > 0 ? 1 : 0);
      const [only] = moved;
      if (parts === 0) return;
      if (parts === 1 && hasLines) await logs.append(batch.lines, logs.nextNumber());
      else if (parts === 1 && only !== undefined) await writeOne(only.place, only.document);
      else await commitPending(pendingOf(batch, moved, logs.nextNumber()));
    },
  };
}

/** Documents whose bytes move. */
function documentsOf(batch: Batch, smalls: SmallDocuments): { place: string; document: object }[] {
  const moved: { place: string; document: object }[] = [...batch.documents];
  for (const name of Object.keys(batch.smalls) as SmallName[]) {
    const next = batch.smalls[name];
    const small = smalls[name];
    if (next !== undefined && renderDocument(next) !== renderDocument(small.value))
      moved.push({ place: small.place, document: next });
  }
  return moved;
}

function pendingOf(batch: Batch, documents: readonly { place: string; document: object }[], number: number): Pending {
  return {
    format: pendingFormat.id,
    number,
    documents: documents.map(({ place, document }) => ({ place, document: document as Record<string, unknown> })),
    lines: { calls: batch.lines.calls as Record<string, unknown>[], episodes: batch.lines.episodes as Record<string, unknown>[] },
    skills: batch.skills as Pending["skills"],
  };
}

async function writeDocument(files: Files, home: string, place: string, document: object): Promise<void> {
  const path = join(home, place);
  const text = renderDocument(document);
  if (await isWritten({ home, files }, place, text)) return;
  await ensureFolder(files, dirname(path), home);
  await writeAtomic(files, path, text);
}

/** A batch on disc names files: only such as this store writes. */
function checkPlaces(pending: Pending): void {
  for (const { place } of pending.documents) {
    const problem =
      pathProblem(place) ??
      (/^(catalog|skills|state)\//.test(place) && place.endsWith(".json") ? undefined : "it is no document of a home");
    if (problem !== undefined) throw new Damage(`it names ${JSON.stringify(place)}: ${problem}`);
  }
  for (const [name, move] of Object.entries(pending.skills)) {
    try {
      assertWritable(name, [...Object.keys(move.after)]);
      assertWritable(name, [...Object.keys(move.before)]);
    } catch (error) {
      throw new Damage((error as Error).message);
    }
  }
}
