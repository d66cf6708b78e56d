/**
 * Many objects at once: one fsync instead of thousands.
 *
 *   state/bulk/NNNNNN.json (all of them, one fsync) ─► the files, not fsynced ─► the batch's commit
 *        … a minute later, when the system has written the files by itself: fsync of each, quickly ─► the record goes
 *
 * Until the record goes, whatever a power failure takes of the files is written again from it by the next start, before anything
 * reads them. A record is never taken back: files that exist count as written for later batches, so it answers for them even
 * where its own batch was never committed.
 */
import { dirname, join } from "node:path";
import { errorCode, writeAtomic } from "../host/files.js";
import { pathProblem } from "../host/paths.js";
import type { Problem } from "../model/problem.js";
import { damaged, Damage, parseDocument, readText, renderDocument, setAside, type DocumentShelf } from "./documents.js";
import { bulkFormat } from "./formats.js";
import { atOnce, breathe, missingOf, writeOnce, type WrittenOnce } from "./objects.js";
import { numbersIn } from "./names.js";
import { places } from "./places.js";

export interface Bulk {
  /** Writes objects before the commit of the batch that refers to them: they survive anything once it resolves. */
  write(objects: readonly WrittenOnce[]): Promise<void>;
  /** Writes again what a power failure took. Once, at the start, before anything is read. */
  recover(): Promise<readonly Problem[]>;
  /** Makes a few more files durable by themselves, and drops a record that is not needed any more. True while some are left. */
  settleSome(): Promise<boolean>;
  readonly unsettled: boolean;
}

/** Objects of one batch from which on a record costs less than an fsync each. */
const BULK_FROM = 64;
/** Files made durable between other work. */
const SETTLED_AT_ONCE = 64;
/** Files looked at by recovery before other work may come in between. */
const BETWEEN_BREATHS = 256;

interface Unsettled {
  readonly record: string;
  readonly folders: ReadonlySet<string>;
  /** Files not fsynced yet. */
  readonly files: string[];
}

export function createBulk(shelf: DocumentShelf, options: { readonly from?: number | undefined } = {}): Bulk {
  const { home, files } = shelf;
  const from = options.from ?? BULK_FROM;
  const waiting: Unsettled[] = [];
  let last = 0;

  const writeLater = ({ place, text }: Pick<WrittenOnce, "place" | "text">): Promise<void> =>
    writeAtomic(files, join(home, place), text, { folderLater: true, syncLater: true });

  function remember(record: string, objects: readonly { readonly place: string }[]): void {
    const paths = objects.map(({ place }) => join(home, place));
    waiting.push({ record: join(home, record), folders: new Set(paths.map(dirname)), files: paths });
  }

  async function restore(record: string): Promise<void> {
    const { objects } = parseDocument(bulkFormat, readText(home, record) ?? "", record, shelf.migrations).value;
    for (const { place } of objects) checkPlace(place);
    for (const [at, object] of objects.entries()) {
      if (at % BETWEEN_BREATHS === BETWEEN_BREATHS - 1) await breathe();
      if (readText(home, object.place) !== object.text) await writeLater(object);
    }
    remember(record, objects);
  }

  return {
    get unsettled() {
      return waiting.length > 0;
    },
    async write(objects) {
      const missing = missingOf(home, objects);
      if (missing.length < from) return writeOnce(home, files, missing);
      last += 1;
      const record = places.bulkOf(last);
      const document = { format: bulkFormat.id, objects: missing.map(({ place, text }) => ({ place, text })) };
      await writeAtomic(files, join(home, record), renderDocument(document));
      remember(record, missing);
      await atOnce(missing, writeLater);
    },
    async recover() {
      const problems: Problem[] = [];
      waiting.length = 0;
      for (const n of numbersIn(home, places.bulk)) {
        last = Math.max(last, n);
        const record = places.bulkOf(n);
        try {
          await restore(record);
        } catch (error) {
          if (!(error instanceof Damage)) throw error;
          problems.push(
            damaged(record, error.message, await setAside(shelf, record), "The files it answers for are read as they are."),
          );
        }
      }
      return problems;
    },
    async settleSome() {
      const [oldest] = waiting;
      if (oldest === undefined) return false;
      const some = oldest.files.slice(0, SETTLED_AT_ONCE);
      await atOnce(some, (path) => files.syncWritten(path).catch(unlessGone));
      oldest.files.splice(0, some.length);
      if (oldest.files.length > 0) return true;
      for (const folder of oldest.folders) await files.syncFolder(folder);
      await files.unlink(oldest.record);
      waiting.shift();
      return waiting.length > 0;
    },
  };
}

/** A file that was set aside since is somebody else's concern. */
function unlessGone(error: unknown): void {
  if (errorCode(error) !== "ENOENT") throw error;
}

/** A record on disc names files: only such as hold objects. */
function checkPlace(place: string): void {
  const isObject = [places.tools, places.objects, places.views].some((folder) => dirname(place) === folder);
  const problem = pathProblem(place) ?? (isObject ? undefined : "no object lies there");
  if (problem !== undefined) throw new Damage(`it names ${JSON.stringify(place)}: ${problem}`);
}
