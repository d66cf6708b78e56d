/**
 * Reading single documents of a home: what surfaces ask for by number or id.
 *
 * Damage is told to the log and to whoever keeps what was found, since nobody here asks for problems; the document is then as if it
 * were not there.
 */
import { statSync } from "node:fs";
import type { z } from "zod";
import type { Log } from "../host/log.js";
import { catalogManifestFormat } from "../model/catalog.js";
import { evidenceFormat } from "../model/episode.js";
import type { StoredFormat } from "../model/format.js";
import type { SkillName } from "../model/ids.js";
import { reportFormat, type MaintenanceReport } from "../model/maintenance.js";
import type { Store } from "../model/ports.js";
import type { Problem } from "../model/problem.js";
import { libraryRevisionFormat, type Lock } from "../model/skill.js";
import { viewRecordFormat } from "../model/view.js";
import { join } from "node:path";
import { keptVersions, requireDefinitions } from "./catalogs.js";
import { idsIn, numbersIn } from "./names.js";
import { readWrittenOnce, type DocumentShelf } from "./documents.js";
import { findHandEdits, type FileDigests } from "./folders.js";
import { readTexts } from "./library.js";
import type { Logs } from "./logs.js";
import { isDigest, isPlainId, places } from "./places.js";

export type Reading = Omit<Store, "read" | "persist" | "close">;

export function createReading(options: {
  readonly shelf: DocumentShelf;
  readonly logs: Pick<Logs, "readCalls">;
  readonly log: Log;
  /** The lock in force. */
  readonly lock: () => Lock;
  /** Hears of each problem that a reading found. */
  readonly found?: (problem: Problem) => void;
  /** Resolves when an interrupted batch is finished. */
  readonly recover: () => Promise<unknown>;
}): Reading {
  const { shelf, logs, log, recover } = options;
  const { home } = shelf;

  function tell(problems: readonly Problem[]): void {
    for (const problem of problems) {
      log.warn(`${problem.where}: ${problem.text}`, { code: problem.code });
      options.found?.(problem);
    }
  }

  async function readOne<Schema extends z.ZodType>(
    format: StoredFormat<Schema>,
    place: string,
  ): Promise<z.infer<Schema> | undefined> {
    await recover();
    const problems: Problem[] = [];
    const value = await readWrittenOnce(shelf, format, place, problems);
    tell(problems);
    return value;
  }

  async function readAll<Schema extends z.ZodType>(
    format: StoredFormat<Schema>,
    all: readonly string[],
  ): Promise<z.infer<Schema>[]> {
    const values: z.infer<Schema>[] = [];
    for (const place of all) {
      const value = await readOne(format, place);
      if (value !== undefined) values.push(value);
    }
    return values;
  }

  return {
    async readHandEdits() {
      await recover();
      // Before the first revision no skill is ours yet, whatever a lock that came with a copied folder says.
      const expected = numbersIn(home, places.revisions).length === 0 ? {} : filesOf(options.lock());
      const found = await findHandEdits(home, expected);
      return { ...found, missing: found.missing as SkillName[] };
    },
    readManifest: (version) => readOne(catalogManifestFormat, places.version(version)),
    async keptVersions(asked) {
      await recover();
      return keptVersions(shelf, asked);
    },
    listManifests: () => readAll(catalogManifestFormat, numbersIn(home, places.versions).map(places.version)),
    readDocuments: (digests) => requireDefinitions(shelf, digests),
    readRevision: (revision) => readOne(libraryRevisionFormat, places.revision(revision)),
    listRevisions: () => readAll(libraryRevisionFormat, numbersIn(home, places.revisions).map(places.revision)),
    readSkillFiles(record, skill) {
      const digests = record.skills[skill];
      return Promise.resolve(digests === undefined ? undefined : readTexts(home, digests));
    },
    readView: async (view) => (isPlainId(view) ? readOne(viewRecordFormat, places.view(view)) : undefined),
    readReport: async (id) => (isPlainId(id) ? readOne(reportFormat, places.report(id)) : undefined),
    async listReports(): Promise<MaintenanceReport[]> {
      const reports = await readAll(reportFormat, idsIn(home, places.maintenance).map(places.report));
      return reports.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
    },
    async readCalls(episode) {
      await recover();
      const { calls, problems } = logs.readCalls(episode);
      tell(problems);
      return calls;
    },
    async listEvidence() {
      await recover();
      const folder = join(home, places.evidence);
      return idsIn(home, places.evidence)
        .filter(isDigest)
        .map((digest) => ({ digest, writtenMs: statSync(join(folder, `${digest}.json`)).mtimeMs }))
        .sort((a, b) => a.writtenMs - b.writtenMs || (a.digest < b.digest ? -1 : 1))
        .map(({ digest }) => digest);
    },
    readEvidence: async (digest) => (isDigest(digest) ? readOne(evidenceFormat, places.evidenceOf(digest)) : undefined),
  };
}

function filesOf(lock: Lock): Record<string, FileDigests> {
  return Object.fromEntries(Object.entries(lock.skills).map(([name, entry]) => [name, entry.files]));
}
