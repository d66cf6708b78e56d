/**
 * Leftovers of a daemon that crashed: found by what it recorded, ended if they are still the same processes.
 *
 * Owns: the record of a spawned upstream and the proof that a process is still that one (start time, or our mark in
 * its environment).
 * Speaks: process ids, labels.
 * Never: ending a process that merely has a recorded number.
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

/** Ends what is left of recorded groups. Answers with the records whose processes were found and ended. */
export async function reapLeftovers(records: readonly ProcessRecord[], log: UpstreamLog): Promise<readonly ProcessRecord[]> {
  if (records.length === 0) return [];
  const found: ProcessRecord[] = [];
  const all = await readProcesses();
  for (const record of records) if (await isStillOurs(record, all)) found.push(record);
  for (const record of found) {
    log("warn", `ending what a daemon that did not stop cleanly left behind of upstream ${record.label}`, { pid: record.pid });
    signal(record.pid, "SIGTERM");
  }
  await untilGone(found, UPSTREAM_LIMITS.exitTermMs);
  for (const record of found) signal(record.pid, "SIGKILL");
  await untilGone(found, UPSTREAM_LIMITS.exitKillMs);
  return found;
}

async function isStillOurs(record: ProcessRecord, all: readonly SeenProcess[]): Promise<boolean> {
  if (record.pid <= 1) return false;
  const members = all.filter((one) => one.group === record.pid && !one.zombie);
  const leader = members.find((one) => one.pid === record.pid);
  if (leader !== undefined && record.startTime !== undefined) return leader.startTime === record.startTime;
  // The leader is gone: its group lives on in its children, which carry the mark.
  for (const member of members) if ((await readEnvOf(member.pid, MARK_VARIABLE)) === record.mark) return true;
  return false;
}

async function untilGone(records: readonly ProcessRecord[], boundMs: number): Promise<void> {
  const until = performance.now() + boundMs;
  while (performance.now() < until) {
    const all = await readProcesses();
    if (!records.some((record) => all.some((one) => one.group === record.pid && !one.zombie))) return;
    await sleep(20);
  }
}
