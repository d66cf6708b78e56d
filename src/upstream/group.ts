/**
 * A spawned upstream as a process group: started apart, ended as a whole.
 *
 * Owns: the group, its pipes, the order of its end (stdin closed, SIGTERM, SIGKILL, each within a bound).
 * Speaks: chunks in, chunks out, one line how it ended.
 * Never: messages.
 *
 *   running ──stop()──▶ stdin ended ──1.5 s──▶ SIGTERM to the groups ──1.5 s──▶ SIGKILL ──1 s──▶ gone
 *      └──exits by itself──▶ last output read ──▶ what is left of its group is ended the same way ──▶ gone
 *                            and then all that carries its mark, wherever it went (marks.ts)
 */
import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { UPSTREAM_LIMITS } from "../model/policy.js";
import type { Resolution } from "./command.js";
import { watchFamily } from "./family.js";
import type { Family } from "./family.js";
import { endMarked, MARK_VARIABLE, signal } from "./marks.js";
import { readProcesses, startTimeOf } from "./processes.js";

export interface GroupOptions {
  readonly program: Resolution;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly mark: string;
  readonly onStdout: (chunk: Buffer) => void;
  readonly onStderr: (chunk: Buffer) => void;
  /** The process is gone by itself; its last output was delivered. Not called after stop(). */
  readonly onExit: (how: string) => void;
  /** Nothing of it is left, or it resisted to the end of the bound. */
  readonly onGone: () => void;
}
export interface Group {
  readonly pid: number;
  readonly startTime: string | undefined;
  /** `done` is told whether the text reached the pipe; `alone` that nothing else was waiting to be written. */
  write(text: string, done: (error: Error | undefined, alone: boolean) => void): void;
  unsentBytes(): number;
  /** Nothing that it writes is read any more; it notices when it writes on. */
  mute(): void;
  stop(): Promise<void>;
}

const live = new Set<number>();
let hooked = false;

/** Starts the program; rejects where the system refuses. */
export function startGroup(options: GroupOptions): Promise<Group> {
  return new Promise((resolve, reject) => {
    const windows = process.platform === "win32";
    const child = spawn(options.program.file, [...options.program.args], {
      cwd: options.cwd,
      env: { ...options.env, [MARK_VARIABLE]: options.mark },
      stdio: ["pipe", "pipe", "pipe"],
      // A group of its own. Windows has none; there a detached child would open a window.
      detached: !windows,
      windowsHide: true,
      windowsVerbatimArguments: options.program.verbatim,
    });
    child.once("error", reject);
    child.once("spawn", () => {
      child.off("error", reject);
      child.on("error", () => undefined);
      resolve(superviseGroup(child, child.pid ?? 0, options));
    });
  });
}

function superviseGroup(child: ChildProcessWithoutNullStreams, pid: number, options: GroupOptions): Group {
  let exited = false;
  let ended: Promise<void> | undefined;
  let stopping = false;
  const family = watchFamily(pid);
  remember(pid);

  // An unhandled stream error would end the daemon; what it means is told by the exit.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => undefined);
  child.stdout.on("data", options.onStdout);
  child.stderr.on("data", options.onStderr);

  const closed = new Promise<void>((done) => child.once("close", () => done()));
  child.once("exit", (code, signal) => {
    exited = true;
    const how = signal === null ? `it exited with code ${code ?? "unknown"}` : `it was ended by ${signal}`;
    // A grandchild may hold the pipes open for ever: wait for the last output, but not for the pipes.
    void Promise.race([closed, sleep(UPSTREAM_LIMITS.drainMs)]).then(() => {
      if (!stopping) options.onExit(how);
      return end();
    });
  });

  async function endAll(): Promise<void> {
    await endGroup(child, pid, family, () => exited);
    await endMarked(options.mark);
  }

  function end(): Promise<void> {
    ended ??= endAll().finally(() => {
      child.stdin.destroy();
      child.stdout.destroy();
      child.stderr.destroy();
      live.delete(pid);
      family.forget();
      options.onGone();
    });
    return ended;
  }

  /** Texts of one turn go out in one write: it wakes the child once for all of them. */
  let batch: { text: string; done: (error: Error | undefined, alone: boolean) => void }[] = [];
  function flush(): void {
    const sent = batch;
    batch = [];
    const alone = sent.length === 1 && child.stdin.writableLength === 0;
    const text = sent.length === 1 ? (sent[0]?.text ?? "") : sent.map((one) => one.text).join("");
    child.stdin.write(text, (error) => {
      for (const one of sent) one.done(error ?? undefined, alone);
    });
  }

  return {
    pid,
    startTime: startTimeOf(pid),
    write(text, done) {
      if (exited || stopping || child.stdin.destroyed || child.stdin.writableEnded) {
        done(new Error("the pipe is closed"), true);
        return;
      }
      // After the promise jobs of this turn: what they write joins.
      if (batch.push({ text, done }) === 1) process.nextTick(flush);
    },
    unsentBytes: () => child.stdin.writableLength,
    mute() {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    stop() {
      stopping = true;
      return end();
    },
  };
}

const POLL_MS = 10;
const POLL_MAX_MS = 80;

async function endGroup(
  child: ChildProcessWithoutNullStreams,
  pid: number,
  family: Family,
  hasExited: () => boolean,
): Promise<void> {
  if (process.platform === "win32") return endTree(child, pid, hasExited);
  const before = hasExited() ? undefined : await family.groups();
  child.stdin.end();
  const until = performance.now() + UPSTREAM_LIMITS.exitCleanMs;
  while (!hasExited() && performance.now() < until) await sleep(POLL_MS);
  // Who joined meanwhile belongs to it as well; who was there before may have lost the chain of parents.
  const groups = new Set([...(before ?? []), ...(await family.groups())]);
  // Children of a server that went get a moment to notice; a server that stays is told.
  if (hasExited() && (await gone(groups, UPSTREAM_LIMITS.drainMs, hasExited))) return;
  signalAll(groups, "SIGTERM");
  if (await gone(groups, UPSTREAM_LIMITS.exitTermMs, hasExited)) return;
  signalAll(groups, "SIGKILL");
  await gone(groups, UPSTREAM_LIMITS.exitKillMs, hasExited);
}

/** Waits until no process of these groups is left (zombies do not count), at most `boundMs`. */
async function gone(groups: ReadonlySet<number>, boundMs: number, hasExited: () => boolean): Promise<boolean> {
  const until = performance.now() + boundMs;
  for (let pauseMs = POLL_MS; ; pauseMs = Math.min(pauseMs * 2, POLL_MAX_MS)) {
    if (hasExited() && !(await anyAlive(groups))) return true;
    if (performance.now() >= until) return false;
    await sleep(pauseMs);
  }
}

async function anyAlive(groups: ReadonlySet<number>): Promise<boolean> {
  const answering = [...groups].filter((group) => signal(group, 0));
  if (answering.length === 0) return false;
  const all = await readProcesses();
  return all.length === 0 || all.some((one) => groups.has(one.group) && !one.zombie);
}

function signalAll(groups: ReadonlySet<number>, name: NodeJS.Signals): void {
  for (const group of groups) signal(group, name);
}
/** Windows has no groups: the tree is ended by its root. */
async function endTree(child: ChildProcessWithoutNullStreams, pid: number, hasExited: () => boolean): Promise<void> {
  child.stdin.end();
  const until = performance.now() + UPSTREAM_LIMITS.exitCleanMs;
  while (!hasExited() && performance.now() < until) await sleep(POLL_MS);
  if (hasExited()) return;
  await new Promise<void>((done) => {
    const killer = spawn("taskkill", ["/pid", String(pid), "/t", "/f"], { stdio: "ignore", windowsHide: true });
    killer.once("error", () => done());
    killer.once("close", () => done());
  });
}

/** Should the daemon end without stopping its upstreams, their groups are told on the way out. */
function remember(pid: number): void {
  live.add(pid);
  if (hooked) return;
  hooked = true;
  process.once("exit", () => {
    for (const group of live) signal(group, "SIGTERM");
  });
}
