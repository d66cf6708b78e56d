/**
 * Records of living upstream processes, on disc while they live.
 *
 * Owns: state/processes.json: read at start for what a crashed daemon left, rewritten as processes come and go.
 * Speaks: ProcessRecord, host/files.
 * Never: ending anything (reap.ts); failing a start because the file is damaged.
 */
import { readFileSync } from "node:fs";
import { writeAtomic, type Files } from "../host/files.js";
import { processesFormat } from "../model/home.js";
import type { ProcessRecord } from "./reap.js";
import type { UpstreamLog } from "./session.js";

export interface ProcessRecords {
  /** What an earlier daemon had recorded. */
  readonly leftovers: readonly ProcessRecord[];
  add(record: ProcessRecord): void;
  remove(record: ProcessRecord): void;
  /** Resolves when the last change is on disc. */
  settled(): Promise<void>;
}

export function openProcessRecords(path: string, files: Files, log: UpstreamLog): ProcessRecords {
  const living = new Map<string, ProcessRecord>();
  let writing = Promise.resolve();
  let queued = false;

  /** Writes are joined: several starts in a moment make one file. */
  function save(): void {
    if (queued) return;
    queued = true;
    writing = writing.then(async () => {
      queued = false;
      const document = { format: processesFormat.id, processes: [...living.values()] };
      try {
        await writeAtomic(files, path, `${JSON.stringify(document, null, 2)}\n`);
      } catch (error) {
        log("warn", `the list of upstream processes could not be written: ${String(error)}`);
      }
    });
  }

  return {
    leftovers: readRecords(path, log),
    add(record) {
      living.set(record.mark, record);
      save();
    },
    remove(record) {
      living.delete(record.mark);
      save();
    },
    settled: () => writing,
  };
}

function readRecords(path: string, log: UpstreamLog): readonly ProcessRecord[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return [];
  }
  try {
    const { processes } = processesFormat.schema.parse(JSON.parse(text));
    return processes.map((record) => ({ ...record, startTime: record.startTime }));
  } catch (error) {
    log(
      "warn",
      `the list of upstream processes cannot be read, so what a crash may have left is not looked for: ${String(error)}`,
    );
    return [];
  }
}
