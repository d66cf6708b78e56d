/**
 * Steward: the one writer.
 *
 * Owns: the inbox, the current world, the order in which events become changes on disc and changes move the world.
 * Speaks: events in; worlds and answers out; effects are handed to listeners and never awaited.
 * Never: knows what an event means (world/decide.ts), how bytes are written (store/), or who asked (surfaces).
 *
 *   post(event) ─► inbox ─► decide(world, event) ─► store.persist(changes) ─► advance(world, changes) ─► effects launched
 *                    one at a time; a failure of one event rejects its poster and leaves the rest of the inbox going
 */
import type { Effect } from "./model/change.js";
import type { Event } from "./model/event.js";
import { Fault } from "./model/fault.js";
import type { Store } from "./model/ports.js";
import { advance } from "./world/advance.js";
import { decide } from "./world/decide.js";
import type { Answer } from "./world/draft.js";
import type { World } from "./world/world.js";

export interface Steward {
  /** The current world: immutable for its readers, see world.ts for what that means across an `await`. */
  world(): World;
  /** Resolves when the event's changes are on disc and the world has moved. Rejects with the Fault of a refused request. */
  post(event: Event): Promise<Answer>;
  onEffect(listener: (effect: Effect) => void): () => void;
  /** Resolves when the inbox is empty. */
  settled(): Promise<void>;
  /** Takes no more events, finishes those in the inbox. */
  close(): Promise<void>;
}

export function createSteward(options: {
  readonly world: World;
  readonly store: Pick<Store, "persist">;
  readonly log: (level: "info" | "warn" | "error", text: string, data?: Record<string, unknown>) => void;
}): Steward {
  let world = options.world;
  let tail: Promise<unknown> = Promise.resolve();
  let closed = false;
  const listeners = new Set<(effect: Effect) => void>();

  async function handle(event: Event): Promise<Answer> {
    const decision = decide(world, event);
    await options.store.persist(decision.changes);
    world = advance(world, decision.changes);
    for (const effect of decision.effects) launch(effect);
    return decision.answer;
  }

  function launch(effect: Effect): void {
    for (const listener of listeners) {
      try {
        listener(effect);
      } catch (error) {
        options.log("error", `an effect's listener failed: ${String(error)}`, { effect: effect.kind });
      }
    }
  }

  return {
    world: () => world,
    post(event) {
      if (closed) return Promise.reject(new Fault("shutting-down", "The inbox is closed."));
      const result = tail.then(() => handle(event));
      tail = result.catch((error: unknown) => {
        if (!(error instanceof Fault))
          options.log("error", `event ${event.kind} failed: ${String(error)}`, {
            stack: error instanceof Error ? error.stack : undefined,
          });
      });
      return result;
    },
    onEffect(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async settled() {
      await tail;
    },
    async close() {
      closed = true;
      await tail;
    },
  };
}
