/** The clock: the one place that asks what time it is. */
import type { Clock } from "../model/ports.js";

export function systemClock(): Clock {
  return {
    now: () => new Date().toISOString(),
    elapsedMs: () => performance.now(),
  };
}
