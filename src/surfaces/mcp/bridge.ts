/**
 * `steward stdio`: an agent's stdin and stdout, carried to a daemon's HTTP endpoint.
 *
 * Owns: the agent's lines in and out, and when the bridge ends.
 * Speaks: JSON-RPC lines; messages go on by bridge-forward.ts.
 * Never: writes anything but JSON-RPC to stdout, or sends a call twice that may have run.
 */
import { setMaxListeners } from "node:events";
import type { EventEmitter } from "node:events";
import type { Readable, Writable } from "node:stream";
import { watchParent } from "../../host/signals.js";
import { isDeeperThan, isJsonObject, JSON_LEVELS } from "../../model/json.js";
import type { JsonObject } from "../../model/json.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import type { Log } from "./agents.js";
import { createFinder } from "./bridge-finder.js";
import { createForward } from "./bridge-forward.js";
import type { Forward } from "./bridge-forward.js";
import { createWire } from "./bridge-http.js";
import type { Endpoint } from "./bridge-http.js";
import { createBridgeSession } from "./bridge-session.js";
import { readLines } from "./line-reader.js";
import { errorMessage, RPC } from "./translate.js";

export interface BridgeOptions {
  /** Where the daemon is. Called again when it was lost; may start one, and may take its time for that. */
  readonly endpoint: (lost: boolean) => Promise<Endpoint>;
  readonly path?: "/mcp" | "/mcp/direct";
  readonly log: Log;
  readonly stdin?: Readable;
  readonly stdout?: Writable;
  /** Where signals come from. */
  readonly signals?: EventEmitter;
  /** End when the parent process does. Default true. */
  readonly watchParent?: boolean;
}

export interface Bridge {
  /** Resolves when the bridge is done: stdin ended, a signal came, the parent died, stdout broke or close() was called. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export function runBridge(options: BridgeOptions): Bridge {
  const { log } = options;
  const stdin = options.stdin ?? process.stdin;
  const stdout = options.stdout ?? process.stdout;
  const ending = new AbortController();
  // One listener for each request in flight: there may be many.
  setMaxListeners(0, ending.signal);
  const write = (message: JsonObject | readonly unknown[]): void => {
    if (!ending.signal.aborted) stdout.write(`${JSON.stringify(message)}\n`);
  };
  const shared = {
    wire: createWire(),
    path: options.path ?? "/mcp",
    daemon: createFinder(options.endpoint, ending.signal),
    write,
    log,
    ending: ending.signal,
  };
  const session = createBridgeSession(shared);
  const forward = createForward({ ...shared, session });

  const cleanups: (() => void)[] = [];
  let closing: Promise<void> | undefined;
  let markClosed: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => (markClosed = resolve));
  const close = (): Promise<void> => {
    closing ??= (async () => {
      for (const cleanup of cleanups) cleanup();
      ending.abort();
      await session.close();
      shared.wire.close();
      stdin.destroy();
      markClosed();
    })();
    return closing;
  };
  const end = (why: string): void => {
    log("debug", `the bridge ends: ${why}`);
    void close();
  };

  cleanups.push(
    readLines(stdin, {
      onLine: (line) => takeLine(line, forward, write),
      onEnd: () => whenIdle(forward, () => end("stdin ended")),
    }),
  );
  stdout.once("error", () => end("stdout broke"));
  const signals = options.signals ?? process;
  for (const signal of SIGNALS) {
    const onSignal = (): void => end(signal);
    signals.on(signal, onSignal);
    cleanups.push(() => signals.off(signal, onSignal));
  }
  if (options.watchParent !== false) cleanups.push(watchParent(() => end("the parent process ended")));
  return { closed, close };
}

function takeLine(line: string, forward: Forward, write: (message: JsonObject) => void): void {
  if (line.trim() === "") return;
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    write(errorMessage(null, RPC.parse, "This line is not JSON."));
    return;
  }
  if (isDeeperThan(message, JSON_LEVELS)) {
    const id = isJsonObject(message) ? message["id"] : undefined;
    const asked = typeof id === "string" || typeof id === "number" ? id : null;
    write(errorMessage(asked, RPC.invalidRequest, `This message is nested deeper than ${JSON_LEVELS} levels.`));
  } else if (Array.isArray(message)) void forward.batch(message);
  else if (isJsonObject(message)) void forward.message(message);
  else write(errorMessage(null, RPC.invalidRequest, "This is not a JSON-RPC message."));
}

/** Answers that are to come still have a reader where stdin was a file or a pipe: they are waited for, up to a bound. */
function whenIdle(forward: Forward, done: () => void): void {
  const until = performance.now() + SURFACE_LIMITS.bridgeLastMs;
  const look = (): void => {
    if (forward.inFlight === 0 || performance.now() > until) done();
    else setTimeout(look, 10);
  };
  look();
}
