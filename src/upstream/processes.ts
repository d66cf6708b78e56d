/**
 * What the system knows about processes: who is there, whose child, in which group, since when.
 *
 * Owns: reading /proc on Linux and `ps` elsewhere.
 * Speaks: process ids, group ids, opaque start times (equal = the same process).
 * Never: signals.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface SeenProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Ended, and only waits for its parent to notice. */
  readonly zombie: boolean;
  readonly startTime: string;
}

let reading: Promise<readonly SeenProcess[]> | undefined;

/** All processes that can be seen. Where the system gives no list (Windows), an empty one. Who asks meanwhile shares the answer. */
export function readProcesses(): Promise<readonly SeenProcess[]> {
  reading ??= readAll().finally(() => {
    reading = undefined;
  });
  return reading;
}

async function readAll(): Promise<readonly SeenProcess[]> {
  if (process.platform === "linux") return readProcFolders();
  if (process.platform === "win32") return [];
  try {
    const { stdout } = await run("ps", ["-A", "-o", "pid=,ppid=,pgid=,stat=,lstart="], { maxBuffer: 16 * 1024 * 1024 });
    return stdout.split("\n").flatMap((line) => {
      const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line);
      if (match === null) return [];
      const [, pid, parent, group, stat = "", startTime = ""] = match;
      return [{ pid: Number(pid), parent: Number(parent), group: Number(group), zombie: stat.startsWith("Z"), startTime }];
    });
  } catch {
    return [];
  }
}

async function readProcFolders(): Promise<readonly SeenProcess[]> {
  const folders = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const seen = await Promise.all(
    folders.map(async (name) => {
      try {
        return parseStat(await readFile(`/proc/${name}/stat`, "utf8"));
      } catch {
        // It ended while we were reading.
        return undefined;
      }
    }),
  );
  return seen.filter((entry) => entry !== undefined);
}

/** Fields of /proc/<pid>/stat; the second is a name in parentheses that may contain anything. */
function parseStat(stat: string): SeenProcess | undefined {
  const open = stat.indexOf("(");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group] = fields;
  const ticks = fields[19];
  if (open < 0 || state === undefined || ticks === undefined) return undefined;
  return {
    pid: Number(stat.slice(0, open)),
    parent: Number(parent),
    group: Number(group),
    zombie: state === "Z",
    startTime: `${bootId()}:${ticks}`,
  };
}

let boot: string | undefined;
/** Start times count from boot: the boot belongs to them. */
function bootId(): string {
  if (boot === undefined) {
    try {
      boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    } catch {
      boot = "";
    }
  }
  return boot;
}

/** Start time of a process that was just started, or undefined where the system does not tell at once. */
export function startTimeOf(pid: number): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"))?.startTime;
  } catch {
    return undefined;
  }
}

/** One variable of a process's environment at its start; undefined where it has none or may not be read. */
export async function readEnvOf(pid: number, name: string): Promise<string | undefined> {
  if (process.platform !== "linux") return undefined;
  try {
    const entry = (await readFile(`/proc/${pid}/environ`, "utf8")).split("\0").find((line) => line.startsWith(`${name}=`));
    return entry?.slice(name.length + 1);
  } catch {
    return undefined;
  }
}

/** A process, its descendants, and the groups that these lead: what has to go with it. */
export function withDescendants(root: number, all: readonly SeenProcess[]): ReadonlySet<number> {
  const family = new Set([root]);
  for (let grew = true; grew;) {
    grew = false;
    for (const one of all) {
      if (!family.has(one.pid) && family.has(one.parent)) {
        family.add(one.pid);
        grew = true;
      }
    }
  }
  return family;
}
