/** CPU time from the system's own books: a process with everything it started, user and system, in milliseconds. Linux only. */
import { readFileSync, readdirSync } from "node:fs";

const TICK_MS = 10;

/** NaN where the system does not tell. Children that ended and were waited for are in their parent's account. */
export function cpuOfTrees(pids: readonly number[]): number {
  if (process.platform !== "linux") return NaN;
  const children = new Map<number, number[]>();
  const spent = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const fields = statOf(name);
    if (fields === undefined) continue;
    const parent = Number(fields[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    spent.set(Number(name), [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) * TICK_MS);
  }
  const sum = (pid: number): number => (children.get(pid) ?? []).reduce((all, child) => all + sum(child), spent.get(pid) ?? 0);
  return pids.reduce((all, pid) => all + sum(pid), 0);
}

/** Fields behind the command's name: state, parent, …; undefined where the process just ended. */
function statOf(pid: string): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(") ") + 2).split(" ");
  } catch {
    return undefined;
  }
}
