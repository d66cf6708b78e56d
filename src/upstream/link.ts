/**
 * The link to one upstream: at most one session, opened by whoever needs it first, opened again when it is lost.
 *
 * Owns: single-flight connecting, growing pauses with jitter, what forgives earlier failures, the end of the old session
 * before the new one begins.
 * Speaks: sessions.
 * Never: presence, listings, calls (supervisor.ts).
 *
 *           ready()/wake()                 lost
 *   none ───────────────▶ connecting ──▶ up ────▶ none ──(pause)──▶ connecting …
 *     ▲                        └─ failed ─▶ none ──(longer pause)──▶ connecting …
 *     └──────────── rest() (no retry) ──────┘                        stop(): none, for good
 */
import { setTimeout as sleep } from "node:timers/promises";
import { UPSTREAM_LIMITS } from "../model/policy.js";
import { ConnectFailed, textOf } from "./session.js";
import type { Session, SessionEvents } from "./session.js";
import type { createStarts, Lane, Place } from "./starts.js";

export interface LinkOptions {
  /** Opens a session; `closed` is called when it ends by itself. */
  readonly open: (attempt: { readonly signal: AbortSignal; readonly closed: SessionEvents["onClosed"] }) => Promise<Session>;
  readonly starts: ReturnType<typeof createStarts>;
  readonly elapsedMs: () => number;
  readonly onUp: (session: Session) => void;
  /** Lost; `again` counts losses and failures in a row: 0 = it had worked well. What misbehaved did not, and counts twice at least. */
  readonly onLost: (reason: string, again: number) => void;
  readonly onFailed: (error: Error) => void;
}

export interface Link {
  current(): Session | undefined;
  /** The session, connecting if there is none; shared by all who wait. Rejects at once shortly after a failure. */
  ready(lane: Lane): Promise<Session>;
  /** Connects in the background unless connected, connecting or stopped. */
  wake(): void;
  /** An answer came: the session works. */
  prove(): void;
  /** This session is of no use any more. `misbehaved`: a new one may fare no better. */
  drop(session: Session, reason: string, misbehaved?: boolean): void;
  /** What it is opened with moved: another session begins at once, and this one ends once its requests are answered. */
  renew(): void;
  /** Ends the session on purpose; the next ready() starts anew. */
  rest(): Promise<void>;
  /** Ends everything, attempts under way too. */
  stop(): Promise<void>;
}

const RETIRE_POLL_MS = 50;

interface Attempt {
  readonly promise: Promise<Session>;
  readonly place: Place;
  readonly controller: AbortController;
}

export function createLink(options: LinkOptions): Link {
  const { elapsedMs } = options;
  let session: Session | undefined;
  let attempt: Attempt | undefined;
  /** Ends of earlier sessions: a new process must not meet the old one. */
  let closing: Promise<void> = Promise.resolve();
  /** Lost and replaced sessions whose requests still have streams of their own that may bring an answer. */
  const retiring = new Set<Session>();
  let retry: NodeJS.Timeout | undefined;
  let failures = 0;
  let failed: { readonly atMs: number; readonly error: Error } | undefined;
  let upAtMs = 0;
  let proven = false;
  let stopped = false;
  /** Counts renewals: what an attempt from before comes to is of no interest. */
  let generation = 0;

  function begin(lane: Lane): Promise<Session> {
    clearTimeout(retry);
    const place = options.starts.take(lane);
    const controller = new AbortController();
    const promise = connect(place, controller).finally(() => {
      attempt = undefined;
      place.leave();
    });
    // Whoever waits sees the failure; the background has seen it in onFailed.
    promise.catch(() => undefined);
    attempt = { promise, place, controller };
    return promise;
  }

  async function connect(place: Place, controller: AbortController): Promise<Session> {
    let opened: Session | undefined;
    let early: Parameters<SessionEvents["onClosed"]> | undefined;
    const begun = generation;
    try {
      await Promise.race([place.granted, aborted(controller.signal)]);
      await closing;
      opened = await options.open({
        signal: controller.signal,
        closed: (...how) => {
          if (opened === undefined) early = how;
          else lose(opened, ...how);
        },
      });
      if (stopped) throw new ConnectFailed("start", "it is being stopped");
      if (begun !== generation) throw new ConnectFailed("start", "its settings moved meanwhile");
    } catch (error) {
      if (opened !== undefined) await opened.close();
      const known = error instanceof Error ? error : new Error(textOf(error));
      if (!stopped && begun === generation) fail(known);
      throw known;
    }
    session = opened;
    upAtMs = elapsedMs();
    proven = false;
    failed = undefined;
    options.onUp(opened);
    if (early !== undefined) lose(opened, ...early);
    return opened;
  }

  function fail(error: Error): void {
    failures += 1;
    failed = { atMs: elapsedMs(), error };
    const person = error instanceof ConnectFailed && error.needsPerson !== undefined;
    plan(person ? UPSTREAM_LIMITS.backoffMaxMs : pauseMs());
    options.onFailed(error);
  }

  function lose(lost: Session, reason: string, misbehaved = false): void {
    if (session !== lost) return;
    session = undefined;
    if (lost.transport === "http") void retire(lost, UPSTREAM_LIMITS.retireMs);
    else closing = Promise.all([closing, lost.close(reason)]).then(() => undefined);
    const worked = proven || elapsedMs() - upAtMs >= UPSTREAM_LIMITS.backoffForgivenMs;
    if (misbehaved) failures = Math.max(2, failures + 1);
    else failures = worked ? 0 : failures + 1;
    if (!stopped) plan(pauseMs());
    options.onLost(reason, failures);
  }

  /** Each request of a dead session is told so by the server itself: only then it is known that it did not run. */
  async function retire(lost: Session, atMostMs: number): Promise<void> {
    retiring.add(lost);
    const untilMs = elapsedMs() + atMostMs;
    while (retiring.has(lost) && lost.inFlight() > 0 && elapsedMs() < untilMs)
      await sleep(RETIRE_POLL_MS, undefined, { ref: false });
    if (retiring.delete(lost)) await lost.close();
  }

  /** Half to whole of a pause that doubles; nothing the first time after it had worked. */
  function pauseMs(): number {
    if (failures === 0) return 0;
    const wholeMs = Math.min(UPSTREAM_LIMITS.backoffMs * 2 ** (failures - 1), UPSTREAM_LIMITS.backoffMaxMs);
    return wholeMs * (0.5 + Math.random() / 2);
  }

  function plan(inMs: number): void {
    clearTimeout(retry);
    retry = setTimeout(wake, inMs);
    retry.unref();
  }

  function wake(): void {
    if (stopped || session !== undefined || attempt !== undefined) return;
    void begin("background");
  }

  async function reach(lane: Lane): Promise<Session> {
    if (session !== undefined) return session;
    if (stopped) throw new ConnectFailed("start", "the upstream is being stopped");
    if (attempt !== undefined) {
      if (lane === "call") attempt.place.promote();
      return attempt.promise;
    }
    // Many calls in a row to an upstream that is down must not start it over and over.
    if (failed !== undefined && elapsedMs() - failed.atMs < UPSTREAM_LIMITS.attemptGapMs) throw failed.error;
    return begin(lane);
  }

  return {
    current: () => session,
    async ready(lane) {
      for (;;) {
        const asked = generation;
        try {
          return await reach(lane);
        } catch (error) {
          if (asked === generation || stopped) throw error;
        }
      }
    },
    wake,
    prove() {
      proven = true;
      failures = 0;
    },
    drop: lose,
    renew() {
      if (stopped) return;
      generation += 1;
      failures = 0;
      failed = undefined;
      const old = session;
      session = undefined;
      // Its requests have limits of their own.
      if (old !== undefined) void retire(old, Number.POSITIVE_INFINITY);
      clearTimeout(retry);
      attempt?.controller.abort();
      if (attempt === undefined) wake();
      else attempt.promise.catch(() => undefined).finally(wake);
    },
    async rest() {
      const resting = session;
      if (resting === undefined) return;
      session = undefined;
      clearTimeout(retry);
      closing = Promise.all([closing, resting.close()]).then(() => undefined);
      await closing;
    },
    async stop() {
      stopped = true;
      clearTimeout(retry);
      const open = session;
      session = undefined;
      attempt?.controller.abort();
      const left = [...retiring];
      retiring.clear();
      await Promise.all([open?.close(), ...left.map((one) => one.close()), attempt?.promise.catch(() => undefined), closing]);
    },
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const late = (): void => reject(new ConnectFailed("start", "it is being stopped"));
    if (signal.aborted) late();
    else signal.addEventListener("abort", late, { once: true });
  });
}
