/**
 * How long a list that is another again and again stays unread between two readings.
 *
 * Owns: the count of changes that were seen, which cools with time, and the wait that follows from it.
 * Speaks: milliseconds.
 * Never: reading (refresher.ts).
 *
 * Two waits, of which the longer holds. Of a flurry: it doubles with each change that soon follows another, up to seconds. Of a
 * day: each change counts one, one is gone after each `flapCoolMs`, and beyond the first `flapFew` the wait doubles with each,
 * up to minutes. The longest wait is no shorter than one cooling, so whatever the spacing of changes, of a time only one for
 * each cooling in it is seen, and a few dozen at its beginning.
 */
import { UPSTREAM_LIMITS } from "../model/policy.js";
import type { UpstreamLog } from "./session.js";

export interface Flapping {
  /** A reading found another list than the one before it. */
  changed(): void;
  /** From the end of one reading to the next. */
  waitMs(): number;
  /** That wait, where the list flaps: it was another so often lately that changes are seen minutes late. */
  slowedMs(): number | undefined;
}

/** Changes within this many waits belong to one flurry: looks between them may happen to find the same list again. */
const SOON = 4;

export function createFlapping(elapsedMs: () => number): Flapping {
  const { refreshIntervalMs, refreshFlapMaxMs, flapFew, flapCoolMs, flapSlowMaxMs } = UPSTREAM_LIMITS;
  /** None is counted above it, so that calm takes a bounded time; one less still has the longest wait. */
  const most = flapFew + Math.ceil(Math.log2(flapSlowMaxMs / refreshIntervalMs)) + 1;
  let flurry: { readonly atMs: number; readonly waitMs: number } = { atMs: Number.NEGATIVE_INFINITY, waitMs: refreshIntervalMs };
  let seen = { atMs: elapsedMs(), count: 0 };
  let slowed = false;

  function isSoon(): boolean {
    return elapsedMs() - flurry.atMs < flurry.waitMs * SOON;
  }
  function count(): number {
    return Math.max(0, seen.count - (elapsedMs() - seen.atMs) / flapCoolMs);
  }
  function slowMs(): number {
    const beyond = count() - flapFew;
    return beyond <= 0 ? refreshIntervalMs : Math.min(refreshIntervalMs * 2 ** beyond, flapSlowMaxMs);
  }
  function waitMs(): number {
    return Math.max(isSoon() ? flurry.waitMs : refreshIntervalMs, slowMs());
  }

  return {
    changed() {
      flurry = { atMs: elapsedMs(), waitMs: isSoon() ? Math.min(flurry.waitMs * 2, refreshFlapMaxMs) : refreshIntervalMs };
      seen = { atMs: elapsedMs(), count: Math.min(count() + 1, most) };
    },
    waitMs,
    slowedMs() {
      // Slow from where a flurry's wait ends, until nothing of it is left: what lies near one bound is not told over and over.
      slowed = slowed ? count() > flapFew : slowMs() > refreshFlapMaxMs;
      return slowed ? Math.round(waitMs()) : undefined;
    },
  };
}

/** Tells that a list begins to flap, or is calm again; `whose` as in "upstream shop: its tools". */
export function flapTeller(whose: string, log: UpstreamLog): (slowedMs: number | undefined) => void {
  return (slowedMs) => {
    if (slowedMs === undefined) return log("info", `${whose} no longer change all the time; they are read at each change again`);
    const most = `${UPSTREAM_LIMITS.flapSlowMaxMs / 60_000} min`;
    log("warn", `${whose} change over and over; they are read less and less often, down to every ${most}, until that ends`, {
      readEveryMs: slowedMs,
    });
  };
}
