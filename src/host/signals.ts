/**
 * Signals: how the process ends.
 *
 * Running ──signal or fatal error──▶ stopping (what is under way is finished and flushed, within a bound) ──▶ exit
 *                                      └──another signal a moment later, or the bound is over──▶ exit at once
 *
 * Nothing in the house calls `process.exit` after a write; it asks for a stop.
 */
import type { Log } from "./log.js";

export interface StopOptions {
  /** Bound on the stop, in milliseconds, asked for when it begins. */
  readonly stopMs: () => number;
  readonly log: Log;
  /** Ends the process; a test passes its own. */
  readonly exit?: (code: number) => void;
  /** Where signals come from; a test passes its own. */
  readonly source?: NodeJS.EventEmitter;
  /** Monotonic milliseconds; a test passes its own. */
  readonly elapsedMs?: () => number;
}

export interface Stopping {
  /** Asks for the stop from inside; resolves when it is over and `exit` was called. */
  request(why: string, code?: number): Promise<void>;
  /** Listens no longer. */
  dispose(): void;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * Signals this soon after the first are the same wish, said by several: a terminal sends one to all of its programs and `npm` passes it
 * on; one that closes sends SIGHUP and its shell SIGTERM.
 */
const SAME_WISH_MS = 500;

/** Calls `stop` once, on the first signal or fatal error, and exits when it is done: 0, or 1 after a fatal error or too long a stop. */
export function onStop(stop: (why: string) => Promise<void>, options: StopOptions): Stopping {
  const { log } = options;
  const exit = options.exit ?? ((code: number) => process.exit(code));
  const source = options.source ?? process;
  const elapsedMs = options.elapsedMs ?? (() => performance.now());
  let stopping: Promise<void> | undefined;
  let beganMs = 0;

  const request = (why: string, code = 0): Promise<void> => {
    if (stopping === undefined) beganMs = elapsedMs();
    stopping ??= run(why, code);
    return stopping;
  };
  async function run(why: string, code: number): Promise<void> {
    log.info(`stopping: ${why}`);
    const stopMs = options.stopMs();
    const over = await Promise.race([
      stop(why).then(
        () => code,
        (error: unknown) => {
          log.error("stopping failed", { error });
          return 1;
        },
      ),
      after(stopMs),
    ]);
    if (over === undefined) log.error(`stopping took longer than ${stopMs} ms; leaving now`);
    exit(over ?? 1);
  }

  const listeners = SIGNALS.map((signal) => {
    const listener = (): void => {
      if (stopping === undefined) void request(signal);
      else if (elapsedMs() - beganMs >= SAME_WISH_MS) exit(EXIT_CODES[signal]);
    };
    source.on(signal, listener);
    return [signal, listener] as const;
  });
  const fatal = (error: unknown): void => {
    log.error("fatal error", { error });
    void request("fatal error", 1);
  };
  source.on("uncaughtException", fatal);
  source.on("unhandledRejection", fatal);

  return {
    request,
    dispose() {
      for (const [signal, listener] of listeners) source.off(signal, listener);
      source.off("uncaughtException", fatal);
      source.off("unhandledRejection", fatal);
    },
  };
}

/** Resolves with undefined after a time, without keeping the process alive for it. */
function after(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms).unref();
  });
}

/** How often a child looks whether its parent is still there. */
const PARENT_MS = 2_000;

/** Calls `gone` once when the parent process ends: for programs that live for the client that spawned them. */
export function watchParent(gone: () => void, everyMs: number = PARENT_MS): () => void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    gone();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
