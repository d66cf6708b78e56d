/**
 * How many upstreams start at the same time.
 *
 * Owns: two lanes of places. Cold starts in the background share one; a start that a call waits for has its own, so that
 * no agent waits behind servers that nobody asked for.
 * Speaks: places.
 * Never: starting anything.
 */
export type Lane = "background" | "call";

export interface Place {
  /** Resolves with the release of the place once there is one. */
  readonly granted: Promise<() => void>;
  /** A call now waits for this start too. */
  promote(): void;
  /** Gives the place up, granted or not. */
  leave(): void;
}

interface Waiter {
  lane: Lane;
  holds: Lane | undefined;
  left: boolean;
  grant: () => void;
}

export function createStarts(atOnce: number): { take(lane: Lane): Place } {
  const free: Record<Lane, number> = { background: atOnce, call: atOnce };
  let waiting: Waiter[] = [];

  function pump(): void {
    const still: Waiter[] = [];
    for (const waiter of waiting) {
      if (waiter.left) continue;
      if (free[waiter.lane] > 0) {
        free[waiter.lane] -= 1;
        waiter.holds = waiter.lane;
        waiter.grant();
      } else still.push(waiter);
    }
    waiting = still;
  }

  return {
    take(lane) {
      const waiter: Waiter = { lane, holds: undefined, left: false, grant: () => undefined };
      const leave = (): void => {
        if (waiter.left) return;
        waiter.left = true;
        if (waiter.holds !== undefined) free[waiter.holds] += 1;
        pump();
      };
      const granted = new Promise<() => void>((resolve) => {
        waiter.grant = () => resolve(leave);
      });
      waiting.push(waiter);
      pump();
      return {
        granted,
        leave,
        promote() {
          if (waiter.holds !== undefined || waiter.left || waiter.lane === "call") return;
          waiter.lane = "call";
          waiting = [waiter, ...waiting.filter((one) => one !== waiter)];
          pump();
        },
      };
    },
  };
}
