/**
 * A decision in the making: changes are collected and their consequence for the ground state is seen at once.
 */
import type { Change, Effect } from "../model/change.js";
import type { Instant } from "../model/ids.js";
import type { JsonValue } from "../model/json.js";
import { applyChange } from "./known.js";
import type { Known, World } from "./world.js";

/** What the poster of an event gets back beside the fact that it is on disc. */
export type Answer = Readonly<Record<string, JsonValue>>;

export interface Decision {
  readonly changes: readonly Change[];
  readonly effects: readonly Effect[];
  readonly answer: Answer;
}

export interface Draft {
  /** The world before this event; its indexes and graph belong to that moment. */
  readonly world: World;
  /** The ground state with the draft's changes applied. */
  known: Known;
  readonly changes: Change[];
  readonly effects: Effect[];
  answer: Answer;
}

export function openDraft(world: World, at: Instant): Draft {
  const draft: Draft = { world, known: world, changes: [], effects: [], answer: {} };
  put(draft, { kind: "clock", at });
  return draft;
}

export function put(draft: Draft, change: Change): void {
  draft.known = applyChange(draft.known, change);
  draft.changes.push(change);
}
