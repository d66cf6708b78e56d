/** Keeping what a start would work out again: when the world is calm, and when the house stops. */
import type { Prepared } from "../model/ports.js";
import { preparationsOf } from "../world/prepared.js";
import type { World } from "../world/world.js";

export interface PreparedKeeper {
  /** Keeps what is worth it if nothing moved since it was asked last. */
  whenCalm(): Promise<void>;
  now(): Promise<void>;
}

/** `taken`: names of what lies there already. */
export function keepPrepared(
  world: () => World,
  store: { keepPrepared(prepared: Prepared): Promise<void> },
  taken: readonly string[],
): PreparedKeeper {
  let kept = nameOf(taken);
  let seen = "";

  async function keep(wanted: string): Promise<void> {
    const parts = new Map<string, Uint8Array>();
    for (let at = 0; ; at += 1) {
      // Asked anew each time: the world may move on between two parts, and then the names say so. They are worked out once for a world.
      const preparation = preparationsOf(world())[at];
      if (preparation === undefined) break;
      const bytes = preparation[1]();
      if (bytes !== undefined) parts.set(preparation[0], bytes);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await store.keepPrepared(parts);
    kept = wanted;
  }
  const wanted = (): string => nameOf(preparationsOf(world()).map(([name]) => name));

  return {
    async whenCalm() {
      const now = wanted();
      if (now === seen && now !== kept) await keep(now);
      seen = now;
    },
    async now() {
      const now = wanted();
      if (now !== kept) await keep(now);
    },
  };
}

function nameOf(names: readonly string[]): string {
  return [...names].sort().join("\n");
}
