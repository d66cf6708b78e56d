/**
 * Which log messages older upstreams are told to send. Newer ones are told with each request (translate.ts).
 *
 * Owns: what each session was told last; the most talkative agent counts, since one session serves them all.
 * Speaks: sessions.
 * Never: filters messages (each agent gets its own share on the surfaces' side).
 */
import { UPSTREAM_LIMITS } from "../model/policy.js";
import { isSevere } from "../model/severity.js";
import type { Session } from "./session.js";
import { METHOD } from "./translate.js";

export interface Levels {
  /** Before a call whose agent wants messages from `level` on. Resolves when the upstream took note, or refused to. */
  tell(session: Session, level: string): Promise<void>;
}

export function createLevels(): Levels {
  const told = new WeakMap<Session, string>();
  return {
    async tell(session, level) {
      const { era, capabilities } = session.greeting;
      if (era === "modern" || capabilities["logging"] === undefined) return;
      const last = told.get(session);
      if (last !== undefined && isSevere(level, last)) return;
      told.set(session, level);
      const waitMs = UPSTREAM_LIMITS.pingMs;
      const request = { method: METHOD.setLevel, params: { level }, timeoutMs: waitMs, capMs: waitMs, internal: true };
      await session.request(request).catch(() => undefined);
    },
  };
}
