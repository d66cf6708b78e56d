/**
 * How much work one schema, or one pair of them, may be: an upstream decides what stands in them, and everybody waits meanwhile.
 *
 * Owns: the counts, and the end of work that passes them.
 * Speaks: steps and levels; never time, so that the same schema is always answered alike.
 * Never: what the answer is then (normalise.ts, walk.ts).
 */

/** Steps of one piece of work. The costliest pair of versions of a real tool takes 600. */
const STEP_LIMIT = 20_000;
/** Places inside one another, references followed. Written without references, no real schema passes 40. */
export const LEVEL_LIMIT = 300;

/** Thrown where a piece of work takes more than it may; caught where it began. */
export class Exhausted extends Error {}

export interface Effort {
  /** Counts steps. Throws Exhausted beyond the limit. */
  spend(steps: number): void;
  /** Does something one level further in. Throws Exhausted beyond the limit. */
  within<T>(work: () => T): T;
}

export function effort(): Effort {
  let spent = 0;
  let level = 0;
  return {
    spend(steps) {
      spent += steps;
      if (spent > STEP_LIMIT) throw new Exhausted();
    },
    within(work) {
      level += 1;
      if (level > LEVEL_LIMIT) throw new Exhausted();
      const done = work();
      level -= 1;
      return done;
    },
  };
}
