/**
 * Leftovers of a daemon that crashed: found by what it recorded, ended if they are still the same processes.
 *
 * Owns: the record of a spawned upstream and the proof that a process is still that one, or was started by it (start time,
 * or our mark in its environment: processes inherit it, also those that lead groups and sessions of their own).
 * Speaks: process ids, labels.
 * Never: ending a process that merely has a recorded number. Where the system shows no environments (all but Linux), what
 * left its upstream's group is not found after a crash; a daemon that stops ends it (family.ts, marks.ts).
 */
import { endProcesses, readMarks } from "./marks.js";
import { readProcesses } from "./processes.js";
import type { SeenProcess } from "./processes.js";
import type { UpstreamLog } from "./session.js";

/** What has to be on disc while an upstream's process lives. */
export interface ProcessRecord {
  readonly label: string;
  /** Also the id of its group. */
  readonly pid: number;
  /** Opaque; undefined where the system does not tell. */
  readonly startTime: string | undefined;
  /** Random; stands in the environment of the process and of everything it started. */
  readonly mark: string;
  readonly command: string;
}

/** What a record's upstream left: processes, each with the start time by which it is known again. */
interface Left {
  readonly record: ProcessRecord;
  readonly processes: readonly SeenProcess[];
}

/** Ends what is left of recorded upstreams. Answers with the records of which something was found and ended. */
export async function reapLeftovers(records: readonly ProcessRecord[], log: UpstreamLog): Promise<readonly ProcessRecord[]> {
  if (records.length === 0) return [];
  const all = await readProcesses();
  const marks = await readMarks(all);
  const left = records.map((record) => ({ record, processes: leftOf(record, all, marks) })).filter(isSomething);
  for (const { record, processes } of left) {
    log("warn", `ending what a daemon that did not stop cleanly left behind of upstream ${record.label}`, {
      pid: record.pid,
      pids: processes.map((one) => one.pid),
    });
  }
  await endProcesses(left.flatMap(({ processes }) => processes));
  return left.map(({ record }) => record);
}

function isSomething(left: Left): boolean {
  return left.processes.length > 0;
}

function leftOf(record: ProcessRecord, all: readonly SeenProcess[], marks: ReadonlyMap<number, string>): readonly SeenProcess[] {
  const carriesMark = (one: SeenProcess): boolean => marks.get(one.pid) === record.mark;
  const members = all.filter((one) => record.pid > 1 && one.group === record.pid && !one.zombie);
  const leader = members.find((one) => one.pid === record.pid);
  // Where the leader is gone, its group lives on in its children, which carry the mark.
  const ours =
    leader !== undefined && record.startTime !== undefined
      ? leader.startTime === record.startTime
      : members.some((one) => carriesMark(one));
  const strays = all.filter((one) => one.group !== record.pid && !one.zombie && carriesMark(one));
  return ours ? [...members, ...strays] : strays;
}
