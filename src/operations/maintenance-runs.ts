/**
 * Maintenance runs under way: how far they are, for whoever asks meanwhile.
 *
 * A run is known from its first moment until its report is there; a listener that comes late hears the last word first.
 */
import { Fault } from "../model/fault.js";
import type { MaintenanceMode, MaintenanceProgress, MaintenanceRun } from "../model/maintenance.js";

export type Tell = (progress: MaintenanceProgress) => void;
export type Phase = MaintenanceProgress["phase"];

export interface Running {
  readonly last: MaintenanceProgress;
  readonly listeners: Set<Tell>;
  readonly ended: Promise<MaintenanceRun>;
}

/** Tells where the run is; `skill` where one is being looked at. */
export type Step = (phase: Phase, done: number, of: number, skill?: string) => void;

/** Carries out `work` under `id`; everybody who listens hears its steps. */
export function runWatched(
  runs: Map<string, Running>,
  { id, mode, tell }: { readonly id: string; readonly mode: MaintenanceMode; readonly tell: Tell | undefined },
  work: (step: Step) => Promise<MaintenanceRun>,
): Promise<MaintenanceRun> {
  const listeners = new Set<Tell>(tell === undefined ? [] : [tell]);
  let last: MaintenanceProgress = { run: id, mode, phase: "evidence", done: 0, of: 0 };
  const step: Step = (phase, done, of, skill) => {
    last = { run: id, mode, phase, done, of, ...(skill === undefined ? {} : { skill }) };
    for (const listener of listeners) listener(last);
  };
  step("evidence", 0, 0);
  const ended = work(step).finally(() => runs.delete(id));
  // Whoever listens is told of a failure; nobody listening is no reason to end the process.
  ended.catch(() => undefined);
  runs.set(id, {
    get last() {
      return last;
    },
    listeners,
    ended,
  });
  return ended;
}

/** The run under way of that id, `current` for the newest; undefined where there is none. */
export function runUnderWay(runs: ReadonlyMap<string, Running>, id: string): Running | undefined {
  if (id !== CURRENT) return runs.get(id);
  const newest = [...runs.values()].at(-1);
  if (newest === undefined) throw new Fault("report-unknown", "No maintenance run is under way.");
  return newest;
}

const CURRENT = "current";

/** Listens to a run until it ends. */
export async function follow(running: Running, tell: Tell | undefined): Promise<MaintenanceRun> {
  if (tell === undefined) return running.ended;
  tell(running.last);
  running.listeners.add(tell);
  try {
    return await running.ended;
  } finally {
    running.listeners.delete(tell);
  }
}
