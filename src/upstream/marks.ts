/**
 * Our mark in the environment of what an upstream starts, and the end of processes that are known by it.
 *
 * Owns: the variable; the proof that a process is still the one that was seen (start time), each time it is signalled.
 * Speaks: process ids, signals.
 * Never: ending a process that merely has a number. Where the system shows no environments (all but Linux), none is found.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { UPSTREAM_LIMITS } from "../model/policy.js";
import { readEnvOf, readProcesses } from "./processes.js";
import type { SeenProcess } from "./processes.js";

/** Marks every process that an upstream starts, so that what it leaves behind is told from strangers. */
export const MARK_VARIABLE = "STEWARD_UPSTREAM_PROCESS";

/** Marks by process id, of all whose environment can be seen. */
export async function readMarks(all: readonly SeenProcess[]): Promise<ReadonlyMap<number, string>> {
  const marks = new Map<number, string>();
  for (const { pid } of all) {
    const mark = await readEnvOf(pid, MARK_VARIABLE);
    if (mark !== undefined) marks.set(pid, mark);
  }
  return marks;
}

/** Ends all that carry this mark: what an upstream daemonised is nobody's once it is gone, and would be met by its successor. */
export async function endMarked(mark: string): Promise<void> {
  if (process.platform !== "linux") return;
  const all = (await readProcesses()).filter((one) => !one.zombie);
  const marks = await readMarks(all);
  await endProcesses(all.filter((one) => marks.get(one.pid) === mark));
}

/** SIGTERM, then SIGKILL to what is left of these processes, each within its bound. */
export async function endProcesses(found: readonly SeenProcess[]): Promise<void> {
  if (found.length === 0 || (await signalled(found, "SIGTERM", UPSTREAM_LIMITS.exitTermMs))) return;
  await signalled(found, "SIGKILL", UPSTREAM_LIMITS.exitKillMs);
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

/** Sends to a whole group; false where nobody is there. */
export function signal(group: number, name: NodeJS.Signals | 0): boolean {
  if (group <= 1) return false;
  try {
    process.kill(-group, name);
    return true;
  } catch {
    return false;
  }
}

function signalOne(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone.
  }
}
