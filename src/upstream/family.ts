/**
 * What belongs to a spawned upstream beyond its own group: descendants that lead groups of their own (browsers that a
 * server drives, for one).
 *
 * Owns: remembering them while the chain of parents stands, so that they are known when the server dies in between.
 * Speaks: group ids, each with the start time of its leader: a number alone proves nothing.
 * Never: processes that made themselves independent before anybody looked: those are known by their mark (marks.ts).
 */
import { UPSTREAM_LIMITS } from "../model/policy.js";
import { readProcesses, withDescendants } from "./processes.js";
import type { SeenProcess } from "./processes.js";

export interface Family {
  /** Groups to end with this process: its own, and those its descendants lead or were seen to lead. */
  groups(): Promise<Set<number>>;
  forget(): void;
}

/** root pid → groups seen below it → start time of the leader */
const families = new Map<number, Map<number, string>>();
let timer: NodeJS.Timeout | undefined;

export function watchFamily(root: number): Family {
  families.set(root, new Map());
  schedule(UPSTREAM_LIMITS.familyFirstMs);
  return {
    async groups() {
      const all = await readProcesses();
      see(root, all);
      const known = families.get(root) ?? new Map<number, string>();
      const still = all.filter((one) => known.get(one.pid) === one.startTime).map((one) => one.pid);
      return new Set([root, ...still]);
    },
    forget() {
      families.delete(root);
      if (families.size > 0) return;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

function see(root: number, all: readonly SeenProcess[]): void {
  const known = families.get(root);
  if (known === undefined) return;
  const family = withDescendants(root, all);
  for (const one of all) if (one.pid !== root && one.group === one.pid && family.has(one.pid)) known.set(one.pid, one.startTime);
}

/** One look for all upstreams now and then; rarer where looking is expensive. */
function schedule(inMs: number): void {
  if (timer !== undefined) return;
  timer = setTimeout(() => void look(), inMs);
  timer.unref();
}

async function look(): Promise<void> {
  const startedMs = performance.now();
  const all = await readProcesses();
  for (const root of families.keys()) see(root, all);
  timer = undefined;
  if (families.size > 0) schedule(Math.max(UPSTREAM_LIMITS.familyMs, (performance.now() - startedMs) * LOOK_SHARE));
}

/** Looking may take one part in this of the time. */
const LOOK_SHARE = 200;
