/**
 * When an upstream's list is read again: coalesced, never lost, calmer the less it brings.
 *
 * Owns: at most one refresh running and one waiting; the trailing edge of a burst; the interval that grows while refreshes
 * bring nothing and falls back when one does; telling that a list flaps.
 * Speaks: causes; milliseconds.
 * Never: listing itself; how long a list that flaps stays unread (flapping.ts).
 *
 *   ask ──▶ waiting ──(delay, interval)──▶ running ──▶ calm
 *             ▲ └ further asks are absorbed   │ an ask meanwhile
 *             └───────────────────────────────┘
 */
import { UPSTREAM_LIMITS } from "../model/policy.js";
import { createFlapping } from "./flapping.js";

export type RefreshCause = "start" | "list_changed" | "poll" | "sync";

export interface Refresher {
  /** Asks for a refresh soon. */
  ask(cause: RefreshCause): void;
  /** Refreshes now (joining none that runs already: it may have read too early); resolves with its outcome. */
  now(cause: RefreshCause): Promise<void>;
  /** How long the list stays unread between two refreshes, where it changes over and over; undefined where it does not. */
  slowedMs(): number | undefined;
  stop(): void;
}
export interface RefresherOptions {
  /** Reads the list; resolves with whether it brought anything new. */
  readonly refresh: (cause: RefreshCause) => Promise<boolean>;
  readonly elapsedMs: () => number;
  /** The list begins to flap (with the wait that it has by then), or is calm again. */
  readonly onFlapping: (slowedMs: number | undefined) => void;
}

const { refreshDelayMs, refreshIntervalMs, refreshIntervalMaxMs } = UPSTREAM_LIMITS;

export function createRefresher(options: RefresherOptions): Refresher {
  const { elapsedMs } = options;
  const flapping = createFlapping(elapsedMs);
  let waiting: { cause: RefreshCause; timer: NodeJS.Timeout } | undefined;
  let running: Promise<void> | undefined;
  let askedWhileRunning: RefreshCause | undefined;
  /** Grown by refreshes that brought nothing. */
  let vainMs: number = refreshIntervalMs;
  let endedMs = Number.NEGATIVE_INFINITY;
  let toldFlapping = false;
  let stopped = false;

  function run(cause: RefreshCause): Promise<void> {
    clearTimeout(waiting?.timer);
    waiting = undefined;
    const mine = options
      .refresh(cause)
      .then(
        (news) => {
          if (news) vainMs = refreshIntervalMs;
          // An upstream that announces changes which are none is listened to less and less.
          else if (cause === "list_changed") grow();
          // What a new session begins with is no change of its list.
          if (news && cause !== "start") flapping.changed();
          tellFlapping();
        },
        (error: unknown) => {
          grow();
          throw error;
        },
      )
      .finally(() => {
        endedMs = elapsedMs();
        running = undefined;
        const asked = askedWhileRunning;
        askedWhileRunning = undefined;
        if (asked !== undefined) schedule(asked);
      });
    running = mine.catch(() => undefined);
    return mine;
  }

  function intervalMs(): number {
    return Math.max(vainMs, flapping.waitMs());
  }

  function grow(): void {
    vainMs = Math.min(intervalMs() * 2, refreshIntervalMaxMs);
  }

  function tellFlapping(): void {
    const slowedMs = flapping.slowedMs();
    if ((slowedMs !== undefined) === toldFlapping) return;
    toldFlapping = !toldFlapping;
    options.onFlapping(slowedMs);
  }

  function schedule(cause: RefreshCause): void {
    if (stopped || waiting !== undefined) return;
    const dueMs = Math.max(refreshDelayMs, endedMs + intervalMs() - elapsedMs());
    const timer = setTimeout(() => void run(cause).catch(() => undefined), dueMs);
    timer.unref();
    waiting = { cause, timer };
  }

  return {
    ask(cause) {
      if (stopped) return;
      if (running !== undefined) askedWhileRunning = cause;
      else schedule(cause);
    },
    async now(cause) {
      // What was asked for while one runs is answered by this one, which starts after it.
      while (running !== undefined) await running;
      if (stopped) throw new Error("the upstream is no longer configured");
      return run(cause);
    },
    slowedMs: flapping.slowedMs,
    stop() {
      stopped = true;
      clearTimeout(waiting?.timer);
      waiting = undefined;
      askedWhileRunning = undefined;
    },
  };
}
