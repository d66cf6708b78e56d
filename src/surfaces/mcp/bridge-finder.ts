/**
 * The bridge's knowledge of where the daemon is.
 *
 * Owns: asking for it once for all who need it, pauses between attempts, giving up.
 * Speaks: endpoints.
 * Never: sends anything.
 */
import { SURFACE_LIMITS } from "../../model/policy.js";
import type { Endpoint } from "./bridge-http.js";

export interface Daemon {
  at(): Promise<Endpoint>;
  /** After a failed connection: waits a little, asks where the daemon is now. Shared by all who ask at the same time. */
  findAgain(): Promise<void>;
}

export function createFinder(endpoint: (lost: boolean) => Promise<Endpoint>, ending: AbortSignal): Daemon {
  let known: Promise<Endpoint> | undefined;
  let finding: Promise<void> | undefined;
  let failing = { sinceMs: 0, pauseMs: 0 };
  const ask = (lost: boolean): Promise<Endpoint> => {
    const asked = endpoint(lost);
    known = asked;
    asked.catch(() => (known = undefined));
    return asked;
  };
  async function search(): Promise<void> {
    const now = performance.now();
    // A failure long after the last one is a new one.
    if (now - failing.sinceMs > SURFACE_LIMITS.bridgeGiveUpMs * 2) failing = { sinceMs: now, pauseMs: 0 };
    else if (now - failing.sinceMs > SURFACE_LIMITS.bridgeGiveUpMs) {
      failing = { sinceMs: 0, pauseMs: 0 };
      throw new Error("No daemon answers.");
    }
    if (failing.pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, failing.pauseMs));
    if (ending.aborted) throw new Error("The bridge ends.");
    failing.pauseMs = Math.min(SURFACE_LIMITS.bridgeRetryAtMostMs, Math.max(SURFACE_LIMITS.bridgeRetryMs, failing.pauseMs * 2));
    await ask(true);
  }
  return {
    at: () => known ?? ask(false),
    findAgain() {
      finding ??= search().finally(() => (finding = undefined));
      return finding;
    },
  };
}
