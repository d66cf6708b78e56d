/**
 * When an upstream's list is read again: coalesced, never lost, calmer the less it brings.
 *
 * Owns: at most one refresh running and one waiting; the trailing edge of a burst; the interval that grows while refreshes
 * bring nothing and falls back when one does, and grows, less far, while each that follows on another brings news.
 * Speaks: causes; milliseconds.
 * Never: listing itself.
 *
 *   ask ──▶ waiting ──(delay, interval)──▶ running ──▶ calm
 *             ▲ └ further asks are absorbed   │ an ask meanwhile
 *             └───────────────────────────────┘
 */
export type RefreshCause = "start" | "list_changed" | "poll" | "sync";

export interface Refresher {
  /** Asks for a refresh soon. */
  ask(cause: RefreshCause): void;
  /** Refreshes now (joining none that runs already: it may have read too early); resolves with its outcome. */
  now(cause: RefreshCause): Promise<void>;
  stop(): void;
}
export interface RefresherOptions {
  /** Reads the list; resolves with whether it brought anything new. */
  readonly refresh: (cause: RefreshCause) => Promise<boolean>;
  readonly elapsedMs: () => number;
  readonly delayMs: number;
  readonly intervalMs: number;
  readonly intervalMaxMs: number;
  /** How far the interval grows for a list that is another each time it is read. */
  readonly flapIntervalMaxMs: number;
}

/** Changes within this many intervals belong to one flapping: looks between them may happen to find the same list again. */
const SOON = 4;

export function createRefresher(options: RefresherOptions): Refresher {
  const { elapsedMs, delayMs, intervalMs, intervalMaxMs, flapIntervalMaxMs } = options;
  let waiting: { cause: RefreshCause; timer: NodeJS.Timeout } | undefined;
  let running: Promise<void> | undefined;
  let askedWhileRunning: RefreshCause | undefined;
  let currentIntervalMs = intervalMs;
  let endedMs = Number.NEGATIVE_INFINITY;
  /** Of announced changes that were some: when the last one was seen, and the interval that it left. */
  let flap = { atMs: Number.NEGATIVE_INFINITY, intervalMs };
  let stopped = false;

  function run(cause: RefreshCause): Promise<void> {
    clearTimeout(waiting?.timer);
    waiting = undefined;
    const mine = options
      .refresh(cause)
      .then(
        (news) => {
          // An upstream that announces changes which are none is listened to less and less.
          if (news) currentIntervalMs = cause === "list_changed" ? afterChange() : intervalMs;
          else if (cause === "list_changed") currentIntervalMs = Math.min(currentIntervalMs * 2, intervalMaxMs);
        },
        (error: unknown) => {
          currentIntervalMs = Math.min(currentIntervalMs * 2, intervalMaxMs);
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

  /** A list that is another at each look would make a version of each: it is looked at less often, its last word always. */
  function afterChange(): number {
    const soon = elapsedMs() - flap.atMs < flap.intervalMs * SOON;
    flap = { atMs: elapsedMs(), intervalMs: soon ? Math.min(flap.intervalMs * 2, flapIntervalMaxMs) : intervalMs };
    return flap.intervalMs;
  }

  function schedule(cause: RefreshCause): void {
    if (stopped || waiting !== undefined) return;
    const dueMs = Math.max(delayMs, endedMs + currentIntervalMs - elapsedMs());
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
    stop() {
      stopped = true;
      clearTimeout(waiting?.timer);
      waiting = undefined;
      askedWhileRunning = undefined;
    },
  };
}
