/**
 * The legacy sessions that are open.
 *
 * Owns: their number, their age, which one gives way, how fast new ones may come.
 * Speaks: sessions; Fault `busy`.
 * Never: closes a session with a call in flight to make room, speaks HTTP.
 */
import type { Server } from "@modelcontextprotocol/server";
import { Fault } from "../../model/fault.js";
import type { Caller } from "../../model/operations.js";
import type { Exposure } from "../mcp/tools.js";
import type { SessionTransport } from "./session-transport.js";

export interface Session {
  readonly id: string;
  readonly exposure: Exposure;
  readonly server: Server;
  readonly transport: SessionTransport;
  /** Who opened it: nobody else may use it. Narrowed when the token was. */
  caller: Caller;
  usedAtMs: number;
}

export interface Sessions {
  readonly size: number;
  /** Takes a place for a new session of `address`, closing the longest unused one where all are taken. Throws Fault `busy`. */
  admit(address: string): void;
  add(session: Session): void;
  /** The session, marked as used now. */
  use(id: string): Session | undefined;
  remove(session: Session): Promise<void>;
  /** Closes what was idle for too long. */
  sweep(): void;
  all(): Iterable<Session>;
  closeAll(): Promise<void>;
}

export interface SessionLimits {
  readonly max: number;
  readonly idleMs: number;
  /** New sessions a minute from one address. */
  readonly perMinute: number;
  readonly now: () => number;
}

export function createSessions(limits: SessionLimits): Sessions {
  // Least recently used first: a used session moves to the end.
  const open = new Map<string, Session>();
  const rates = createRates(limits.perMinute, limits.now);

  async function remove(session: Session): Promise<void> {
    open.delete(session.id);
    await session.server.close();
  }
  return {
    get size() {
      return open.size;
    },
    admit(address) {
      if (!rates.take(address)) throw new Fault("busy", "Too many new sessions from this address in a short time.");
      if (open.size < limits.max) return;
      for (const session of open.values()) {
        if (session.transport.inFlight > 0) continue;
        void remove(session);
        return;
      }
      throw new Fault("busy", `All ${limits.max} sessions have calls in flight.`);
    },
    add: (session) => void open.set(session.id, session),
    use(id) {
      const session = open.get(id);
      if (session === undefined) return undefined;
      session.usedAtMs = limits.now();
      open.delete(id);
      open.set(id, session);
      return session;
    },
    remove,
    sweep() {
      const old = limits.now() - limits.idleMs;
      for (const session of open.values()) {
        if (session.usedAtMs > old) break;
        if (session.transport.inFlight === 0) void remove(session);
      }
      rates.forget();
    },
    all: () => open.values(),
    async closeAll() {
      await Promise.all([...open.values()].map(remove));
    },
  };
}

/** Token buckets by address: a burst of one minute's share, refilled evenly. */
function createRates(perMinute: number, now: () => number) {
  const buckets = new Map<string, { left: number; atMs: number }>();
  return {
    take(address: string): boolean {
      const at = now();
      const bucket = buckets.get(address) ?? { left: perMinute, atMs: at };
      bucket.left = Math.min(perMinute, bucket.left + ((at - bucket.atMs) * perMinute) / 60_000);
      bucket.atMs = at;
      buckets.set(address, bucket);
      if (bucket.left < 1) return false;
      bucket.left -= 1;
      return true;
    },
    /** Full buckets need no memory. */
    forget(): void {
      const at = now();
      for (const [address, bucket] of buckets) if (at - bucket.atMs > 60_000) buckets.delete(address);
    },
  };
}
