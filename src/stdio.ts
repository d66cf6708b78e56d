/**
 * stdio: the proxy for clients that spawn their servers.
 *
 * Owns: finding the home's daemon or starting it (once, by the home's lock), and being the daemon itself with `--own`.
 * Speaks: the bridge and the stdio surface.
 * Never: writes anything but protocol lines to stdout.
 */
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "./host/env.js";
import type { Log } from "./host/log.js";
import { compose } from "./compose.js";
import { Fault } from "./model/fault.js";
import { portOf, readDaemon, readLastDaemon, readOperatorToken } from "./store/daemon.js";
import { isTaken } from "./store/lock.js";
import { runBridge } from "./surfaces/mcp/bridge.js";
import { serveStdio } from "./surfaces/mcp/stdio.js";

export interface StdioSurroundings {
  readonly main: string;
  readonly env: Environment;
  readonly log: Log;
  readonly version: string;
}

/** How long a daemon may take to come up, and how often it is looked for, in milliseconds. */
const START_MS = 30_000;
const LOOK_MS = 50;
/** Of what a daemon said before it ended. */
const SAID_CHARS = 500;

/** Resolves with the exit code when the client is gone. */
export async function runStdio(
  around: StdioSurroundings,
  home: string,
  flags: { own: boolean; direct: boolean },
): Promise<number> {
  return flags.own ? await runOwn(around, home, flags.direct) : await runBridged(around, home, flags.direct);
}

async function runBridged(around: StdioSurroundings, home: string, direct: boolean): Promise<number> {
  const { log } = around;
  const bridge = runBridge({
    endpoint: async () => {
      const url = readDaemon(home)?.url ?? (await startDaemon(around, home));
      const token = readOperatorToken(home);
      return { url, ...(token === undefined ? {} : { token }) };
    },
    path: direct ? "/mcp/direct" : "/mcp",
    log: (level, text, data) => log[level](text, data),
  });
  await bridge.closed;
  return 0;
}

/**
 * Starts the home's daemon apart from this process. Several bridges may try: the home's lock lets one through, all find that one.
 * It comes back where a daemon that died was, else where the configuration says: others than this bridge know that address.
 */
async function startDaemon(around: StdioSurroundings, home: string): Promise<string> {
  mkdirSync(join(home, "state"), { recursive: true });
  const told = join(home, "state/daemon.log");
  const former = readLastDaemon(home);
  const port = former === undefined ? undefined : portOf(former);
  const where = port === undefined ? [] : ["--port", String(port)];
  const errors = openSync(told, "a");
  const child = spawn(process.execPath, [around.main, "serve", "--home", home, ...where, "--any-port", "--starter"], {
    detached: true,
    stdio: ["ignore", "ignore", errors],
    env: { ...around.env } as NodeJS.ProcessEnv,
  });
  closeSync(errors);
  let ended = false;
  child.once("exit", () => (ended = true));
  child.once("error", () => (ended = true));
  child.unref();
  const until = performance.now() + START_MS;
  while (performance.now() < until) {
    const daemon = readDaemon(home);
    if (daemon !== undefined) {
      // Another bridge's came first: this one would be a second, should that be stopped before it has seen it.
      if (daemon.pid !== child.pid) child.kill();
      return daemon.url;
    }
    // It may have given way to another bridge's, which is still coming up.
    if (ended && !isTaken(home))
      throw new Fault("daemon-unreachable", `The daemon ended while it was starting: ${lastLine(told)} (${told}).`);
    await new Promise((next) => setTimeout(next, LOOK_MS));
  }
  throw new Fault("daemon-unreachable", `The daemon did not come up within ${START_MS / 1_000} s; see ${told}.`);
}

/** The last a daemon said, shortened. */
function lastLine(path: string): string {
  const text = readFileSync(path, "utf8").trimEnd();
  return text.slice(text.lastIndexOf("\n") + 1).slice(0, SAID_CHARS) || "it did not say why";
}

async function runOwn(around: StdioSurroundings, home: string, direct: boolean): Promise<number> {
  const { log } = around;
  const house = await compose({ home, env: around.env, main: around.main, log, upstreams: true, watch: true });
  const surface = serveStdio({
    operations: house.operations,
    policy: house.config.policy,
    version: house.version,
    log: (level, text, data) => log[level](text, data),
    exposure: direct ? "direct" : "facade",
  });
  house.warm();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, () => void surface.close());
  await surface.closed;
  await house.stop();
  return 0;
}
