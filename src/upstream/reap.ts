/**
 * Leftovers of a daemon that crashed: found by what it recorded, ended if they are still the same processes.
 *
 * Owns: the record of a spawned upstream and the proof that a process is still that one, or was started by it (start time,
 * or our mark in its environment: processes inherit it, also those that lead groups and sessions of their own).
 * Speaks: process ids, labels.
 * Never: ending a process that merely has a recorded number. Where the system shows no environments (all but Linux), what
 * left its upstream's group is not found after a crash; a daemon that stops ends it (family.ts).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { UPSTREAM_LIMITS } from "../model/policy.js";
import { MARK_VARIABLE, signal } from "./group.js";
import { readEnvOf, readProcesses } from "./processes.js";
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
  const found = left.flatMap(({ processes }) => processes);
  if (await signalled(found, "SIGTERM", UPSTREAM_LIMITS.exitTermMs)) return left.map(({ record }) => record);
  await signalled(found, "SIGKILL", UPSTREAM_LIMITS.exitKillMs);
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

/** Marks by process id, of all whose environment can be seen. */
async function readMarks(all: readonly SeenProcess[]): Promise<ReadonlyMap<number, string>> {
  const marks = new Map<number, string>();
  for (const { pid } of all) {
    const mark = await readEnvOf(pid, MARK_VARIABLE);
    if (mark !== undefined) marks.set(pid, mark);
  }
  return marks;
}

/** Sends to those that are still the same, and to whole groups where their leader is. True where none of them is left in time. */
async function signalled(found: readonly SeenProcess[], name: NodeJS.Signals, boundMs: number): Promise<boolean> {
  for (const one of await still(found)) {
    if (one.group === one.pid) signal(one.pid, name);
    else signalOne(one.pid, name);
  }
  const until = performance.now() + boundMs;
  for (;;) {
    if ((await still(found)).length === 0) return true;
    if (performance.now() >= until) return false;
    await sleep(POLL_MS);
  }
}
const POLL_MS = 20;

async function still(found: readonly SeenProcess[]): Promise<readonly SeenProcess[]> {
  const known = new Map(found.map((one) => [one.pid, one.startTime]));
  return (await readProcesses()).filter((one) => !one.zombie && known.get(one.pid) === one.startTime);
}

function signalOne(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone.
  }
}
