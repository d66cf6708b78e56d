/**
 * Calibrating: finds in idle moments how far experience can be trusted, whenever memories or the catalog moved.
 *
 * Level-triggered: whether it is due is asked of the present world, before and after. What comes of it is an event like any other.
 */
import type { Clock } from "../model/ports.js";
import type { Steward } from "../steward.js";
import { beginCalibration, isCalibrationDue } from "../world/experience.js";

export interface Calibrating {
  /** It may be due. */
  wake(): void;
  /** Resolves when nothing is under way; afterwards nothing is begun. */
  stop(): Promise<void>;
}

/** Remembered tasks tried at a time: a few milliseconds, between which requests have their turn. */
const TRIED_AT_ONCE = 1;

export function createCalibrating(
  steward: Steward,
  clock: Pick<Clock, "now">,
  log: (level: "warn", text: string) => void,
): Calibrating {
  let working: Promise<void> | undefined;
  let stopped = false;

  async function work(): Promise<void> {
    for (;;) {
      const world = steward.world();
      const { experience, calibration, catalog } = world;
      if (stopped || !isCalibrationDue(experience, calibration, catalog)) return;
      const found = beginCalibration(world);
      while (!stopped && !found.advance(TRIED_AT_ONCE)) await new Promise((resolve) => setImmediate(resolve));
      if (stopped) return;
      const next = { ...found.trust(), memories: experience.memories.size, catalog: catalog.version };
      await steward.post({ kind: "experience-calibrated", at: clock.now(), calibration: next });
    }
  }

  return {
    wake() {
      if (stopped) return;
      working ??= work()
        .catch((error: unknown) => log("warn", `experience could not be weighed; it stays trusted as before: ${String(error)}`))
        .finally(() => {
          working = undefined;
        });
    },
    async stop() {
      stopped = true;
      await working;
    },
  };
}
