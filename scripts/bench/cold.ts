/** A cold start as a person has it: the built daemon on a home, until it answers; an empty home beside it as the baseline. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuOfTrees } from "./cpu.js";

const MAIN = resolve(import.meta.dirname, "../../dist/main.js");
const PATIENCE_MS = 120_000;

export interface Start {
  /** From the spawn to the first answer of `/healthz`. */
  readonly wallMs: number;
  /** Processor time until then, ours and the system's. */
  readonly cpuMs: number;
  /** Memory in use at that moment, and the most until then. */
  readonly mb: number;
  readonly peakMb: number;
  readonly tools: number;
  readonly skills: number;
}

/** Starts the daemon `times` times, one after the other, and answers the start of median processor time. */
export async function medianStart(home: string, times: number): Promise<Start> {
  const starts: Start[] = [];
  for (let n = 0; n < times; n += 1) starts.push(await startOnce(home));
  const [middle] = starts.sort((a, b) => a.cpuMs - b.cpuMs).slice(Math.floor(times / 2));
  if (middle === undefined) throw new Error("nothing was started");
  return middle;
}

/** A home with nothing in it: what any start costs. */
export async function emptyStart(times: number): Promise<Start> {
  const home = mkdtempSync(join(tmpdir(), "steward-empty-"));
  try {
    configure(home, []);
    return await medianStart(home, times);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Upstreams that never answer: their last good tools stand, as after any start. */
export function configure(home: string, labels: readonly string[]): void {
  mkdirSync(join(home, "config"), { recursive: true });
  const mcpServers = Object.fromEntries(labels.map((label) => [label, { command: "sleep", args: ["600"] }]));
  writeFileSync(join(home, "config/steward.json"), JSON.stringify({ mcpServers }));
}

async function startOnce(home: string): Promise<Start> {
  const announced = join(home, "state/daemon.json");
  rmSync(announced, { force: true });
  const before = performance.now();
  const daemon = spawn(process.execPath, [MAIN, "serve", "--port", "0", "--home", home], { stdio: "ignore" });
  try {
    for (;;) {
      if (daemon.exitCode !== null) throw new Error(`the daemon ended with ${daemon.exitCode}`);
      if (performance.now() - before > PATIENCE_MS) throw new Error(`the daemon did not answer within ${PATIENCE_MS} ms`);
      const answer = existsSync(announced) ? await ask(announced) : undefined;
      if (answer !== undefined) {
        const wallMs = performance.now() - before;
        const pid = daemon.pid ?? 0;
        return { wallMs, cpuMs: cpuOfTrees([pid]), ...memoryOf(pid), ...answer };
      }
      await sleep(5);
    }
  } finally {
    await ended(daemon);
  }
}

async function ask(announced: string): Promise<Pick<Start, "tools" | "skills"> | undefined> {
  try {
    const { url } = JSON.parse(readFileSync(announced, "utf8")) as { url: string };
    const response = await fetch(`${url}/v1/health`).catch(() => undefined);
    const health = response?.ok === true ? ((await response.json()) as Health) : undefined;
    if (health !== undefined) return { tools: health.tools, skills: health.skills.active + health.skills.inactive };
    return (await fetch(`${url}/healthz`)).ok ? { tools: NaN, skills: NaN } : undefined;
  } catch {
    return undefined;
  }
}
interface Health {
  readonly tools: number;
  readonly skills: { readonly active: number; readonly inactive: number };
}

function memoryOf(pid: number): { mb: number; peakMb: number } {
  if (process.platform !== "linux") return { mb: NaN, peakMb: NaN };
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const of = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? NaN) / 1024;
  return { mb: of("VmRSS"), peakMb: of("VmHWM") };
}

function ended(daemon: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (daemon.exitCode !== null) return resolve();
    daemon.once("exit", () => resolve());
    daemon.kill("SIGTERM");
  });
}
