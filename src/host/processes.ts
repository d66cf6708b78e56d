/**
 * Processes: is this pid still the process that wrote it down?
 *
 * A pid alone says little: it is used again after a while, and always again in containers. With the time the process started
 * (and on Linux the boot it belongs to) it is an identity.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** How long asking another program for a start time may take. */
const ASK_MS = 5_000;

/** True while the process runs. A zombie does not run; a process of another user does. */
export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const state = linuxStat(pid)?.[0];
  return state !== "Z" && state !== "X";
}

/** When a process started, as an opaque text that two askers agree on. Undefined where the system does not say. */
export function startTimeOf(pid: number): string | undefined {
  if (process.platform === "linux") {
    const ticks = linuxStat(pid)?.[19];
    return ticks === undefined ? undefined : `${ticks}@${bootId()}`;
  }
  try {
    if (process.platform === "win32") {
      const script = `(Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`;
      return ask("powershell.exe", ["-NoProfile", "-NonInteractive", "-Command", script]);
    }
    return ask("ps", ["-o", "lstart=", "-p", String(pid)]);
  } catch {
    return undefined;
  }
}

/** Is the process that was `pid` and started at `startTime` still running? Unknown start times count as the same. */
export function isSameProcess(pid: number, startTime: string): boolean {
  if (!isAlive(pid)) return false;
  if (startTime === "") return true;
  const now = startTimeOf(pid);
  return now === undefined || now === startTime;
}

let own: string | undefined;

/** This process's start time; empty where the system does not say. */
export function ownStartTime(): string {
  own ??= startTimeOf(process.pid) ?? "";
  return own;
}

export function hostName(): string {
  return hostname();
}

/** Fields of /proc/<pid>/stat from the state on (field 3), so that a program's name with spaces or brackets does no harm. */
function linuxStat(pid: number): string[] | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

let boot: string | undefined;
function bootId(): string {
  if (boot === undefined) {
    try {
      boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim().slice(0, 8);
    } catch {
      boot = "";
    }
  }
  return boot;
}

function ask(command: string, args: readonly string[]): string | undefined {
  const env = { ...process.env, LC_ALL: "C" };
  const answer = execFileSync(command, args, {
    timeout: ASK_MS,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    env,
  }).trim();
  return answer === "" ? undefined : answer;
}
