/**
 * Maintenance by itself: after a settled version, and on a schedule, where the policy says so.
 *
 * Owns: when a run starts that nobody asked for; attempts and their backoff.
 * Speaks: the steward's present world and its effects.
 * Never: remembers what became due. What to do is asked of the present standings each time it wakes, so that a lost wake-up, a crash or
 *        a restart leaves nothing undone; what it remembers is only which basis was worked on already.
 */
import type { MaintenanceRun } from "../model/maintenance.js";
import { AUTO_MAINTENANCE } from "../model/policy.js";
import type { Clock } from "../model/ports.js";
import type { Steward } from "../steward.js";
import { dueSkills } from "../world/due.js";
import type { World } from "../world/world.js";

export interface AutoMaintenance {
  /** Looks whether something is due; called at effects and ticks. */
  wake(): void;
  /** No run starts any more; the one under way ends. */
  stop(): Promise<void>;
}

export function keepMaintained(options: {
  readonly steward: Steward;
  readonly clock: Clock;
  readonly log: (level: "info" | "warn" | "error", text: string, data?: Record<string, unknown>) => void;
  readonly run: () => Promise<MaintenanceRun>;
}): AutoMaintenance {
  const { steward, clock, log } = options;
  /** The basis on which a run was made that succeeded: nothing new is to be had from it. */
  let done: string | undefined;
  let waiting: { readonly basis: string; readonly sinceMs: number; movedMs: number } | undefined;
  let failures = 0;
  let notBeforeMs = 0;
  let lastRunMs = clock.elapsedMs();
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function wake(): void {
    clearTimeout(timer);
    if (stopped || running !== undefined) return;
    const afterMs = dueInMs(steward.world());
    if (afterMs === undefined) return;
    if (afterMs > 0) timer = setTimeout(wake, afterMs).unref();
    else running = run();
  }

  /** Milliseconds until a run should start; undefined where none is due. */
  function dueInMs(world: World): number | undefined {
    const nowMs = clock.elapsedMs();
    const { maintainAuto, maintainEveryMs, settledMs, settledAtMostMs } = world.policy;
    const due: number[] = [];
    if (maintainEveryMs > 0) due.push(lastRunMs + maintainEveryMs - nowMs);
    const basis = maintainAuto ? basisOf(world) : undefined;
    if (basis === undefined || basis === done) waiting = undefined;
    else {
      if (waiting === undefined) waiting = { basis, sinceMs: nowMs, movedMs: nowMs };
      else if (waiting.basis !== basis) waiting = { basis, sinceMs: waiting.sinceMs, movedMs: nowMs };
      due.push(Math.min(waiting.movedMs + settledMs, waiting.sinceMs + settledAtMostMs) - nowMs);
    }
    return due.length === 0 ? undefined : Math.max(0, Math.min(...due), notBeforeMs - nowMs);
  }

  async function run(): Promise<void> {
    lastRunMs = clock.elapsedMs();
    try {
      const report = await options.run();
      failures = 0;
      // What is still due after a run that succeeded waits for a person, or for the ground to move: unless it moved under the run.
      done = isOfNow(report, steward.world()) ? basisOf(steward.world()) : undefined;
      const { applied, skipped = [], proposed, refused } = report;
      log(
        "info",
        `maintenance ran by itself: ${applied.length} applied, ${skipped.length} skipped, ${proposed.length} proposed, ${refused.length} refused`,
        {
          report: report.id,
        },
      );
    } catch (error) {
      failures += 1;
      const pauseMs = Math.min(AUTO_MAINTENANCE.backoffMs * 2 ** (failures - 1), AUTO_MAINTENANCE.backoffMaxMs);
      notBeforeMs = clock.elapsedMs() + pauseMs;
      log("warn", `maintenance by itself failed (attempt ${failures}); the next is in ${pauseMs / 1_000} s: ${String(error)}`);
    } finally {
      running = undefined;
      waiting = undefined;
      if (!stopped) wake();
    }
  }

  return {
    wake,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/**
 * Was the run's work of the ground that is there now? What moved while it was worked out refused it, and what moved since nobody looked
 * at yet; a basis marked as done for either would leave what is due undone until the next move.
 */
function isOfNow({ basis, applied, library }: MaintenanceRun, world: World): boolean {
  const isUndisturbed = applied.length > 0 || library === basis.library;
  return basis.catalog === world.catalog.version && library === world.library.revision && isUndisturbed;
}

/** What a run would work on; undefined where no skill is due. */
function basisOf(world: World): string | undefined {
  const due = dueSkills(world, "incremental").map(({ skill }) => skill.name);
  return due.length === 0 ? undefined : `${world.catalog.version} ${world.library.revision} ${due.join(" ")}`;
}
