import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const main = resolve(import.meta.dirname, "../../dist/main.js");

export interface Daemon {
  readonly url: string;
  readonly home: string;
  readonly child: ChildProcess;
  /** Everything on stderr so far. */
  stderr(): string;
  /** Polite stop; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** kill -9, as a crash would. */
  kill(): Promise<void>;
  /** Resolves when every upstream was listed. */
  ready(): Promise<void>;
}

export function newHome(): string {
  return mkdtempSync(join(tmpdir(), "steward-home-"));
}

export function dropHome(home: string): void {
  rmSync(home, { recursive: true, force: true });
}

/** Starts the built daemon on a home, on any free port; `node`: flags of the runtime itself. */
export async function startDaemon(
  home: string,
  flags: readonly string[] = ["--starter"],
  node: readonly string[] = [],
): Promise<Daemon> {
  const child = spawn(process.execPath, [...node, main, "serve", "--home", home, "--port", "0", ...flags], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", STEWARD_LOG: "info" },
  });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const exited = new Promise<number | null>((done) => child.once("exit", (code) => done(code)));
  const url = await new Promise<string>((found, failed) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const match = /on (http:\/\/\S+)/.exec(line);
      if (match?.[1] !== undefined) found(match[1]);
    });
    void exited.then((code) => failed(new Error(`the daemon ended with ${code}: ${errors}`)));
  });
  return {
    url,
    home,
    child,
    stderr: () => errors,
    async stop() {
      child.kill("SIGTERM");
      return await exited;
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    async ready() {
      await until(async () => {
        const get = async <T>(path: string): Promise<T> => (await (await fetch(`${url}${path}`)).json()) as T;
        const rows = await get<{ label: string; presence: { state: string } }[]>("/v1/upstreams");
        const { tools } = await get<{ tools: { tool: string }[] }>("/v1/catalog");
        // Up is not enough: its listing has to be in the catalog.
        return rows.every(
          (row) => ["up", "idle"].includes(row.presence.state) && tools.some((one) => one.tool.startsWith(`${row.label}/`)),
        );
      }, "the upstreams are up");
    },
  };
}

/** Waits until something holds, at most 20 s. */
export async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  const end = Date.now() + 20_000;
  while (Date.now() < end) {
    if (await holds()) return;
    await new Promise((next) => setTimeout(next, 50));
  }
  throw new Error(`waited in vain until ${what}`);
}

/** Runs one CLI verb on a home. */
export async function cli(home: string, ...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [main, ...args, "--home", home], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1" },
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const code = await new Promise<number | null>((done) => child.once("close", (exit) => done(exit)));
  return { code, out, err };
}
