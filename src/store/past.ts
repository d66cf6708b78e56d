/**
 * Earlier states of skills: what a returning tool may revive.
 *
 * Derived from the revisions, each step alike: a skill that a revision wrote again leaves the state it had. Kept in a cache so that
 * a start reads the revisions since, not all of them.
 */
import type { LibraryRevisionRecord, Lock, LockEntry } from "../model/skill.js";

/** Earlier states kept per skill: enough to go back several catalog versions. */
export const PAST_KEPT = 8;

/** skill → lock entries of its earlier states, newest first */
export type Past = ReadonlyMap<string, readonly LockEntry[]>;

/** The past after a revision, given the lock before it. */
export function advancePast(past: Past, before: Lock | undefined, record: LibraryRevisionRecord): Past {
  const next = new Map(past);
  for (const [name, entry] of Object.entries(before?.skills ?? {})) {
    const now = record.lock.skills[name];
    if (now === undefined) next.delete(name);
    else if (now.revision !== entry.revision) next.set(name, [entry, ...(past.get(name) ?? [])].slice(0, PAST_KEPT));
  }
  return next;
}

export interface PastKeeper {
  /** From what was read: the past up to a lock, and whether the cache knows it. */
  start(states: Past, lock: Lock, cached: boolean): void;
  note(revisions: readonly LibraryRevisionRecord[]): void;
  /** Writes the cache where it is behind. */
  save(): Promise<void>;
}

export function keepPast(write: (states: Past, revision: number) => Promise<void>): PastKeeper {
  let now: { states: Past; lock: Lock; cached: boolean } | undefined;
  return {
    start(states, lock, cached) {
      now = { states, lock, cached };
    },
    note(revisions) {
      for (const record of revisions) {
        if (now !== undefined) now = { states: advancePast(now.states, now.lock, record), lock: record.lock, cached: false };
      }
    },
    async save() {
      if (now === undefined || now.cached) return;
      await write(now.states, now.lock.revision);
      now.cached = true;
    },
  };
}
