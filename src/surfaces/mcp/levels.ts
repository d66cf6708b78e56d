/**
 * Log levels that sessions asked for.
 *
 * Owns: each session's level, the one level that upstreams are told.
 * Speaks: Operations.passThrough.
 * Never: filters messages (agent-call.ts does, by the level kept here).
 */
import type { Server } from "@modelcontextprotocol/server";
import type { Operations } from "../../model/operations.js";
import { lowerLevel } from "./agent-call.js";
import type { AgentCall } from "./agent-call.js";
import type { Gatherer } from "./gather.js";

export interface Levels {
  of(server: Server): string | undefined;
  set(server: Server, level: string, call: AgentCall): void;
  drop(server: Server): void;
}

/** Upstreams are told the most talkative level that any session wants; each session then gets its own share. */
export function createLevels(operations: Operations, gatherer: Gatherer): Levels {
  const wanted = new Map<Server, string>();
  let told: string | undefined;
  return {
    of: (server) => wanted.get(server),
    set(server, level, call) {
      wanted.set(server, level);
      const lowest = [...wanted.values()].reduce(lowerLevel);
      if (lowest === told) return;
      told = lowest;
      for (const status of gatherer.having("logging", call.caller)) {
        if (status.presence.state !== "up") continue;
        const options = { signal: new AbortController().signal };
        operations.passThrough(status.label, "logging/setLevel", { level: lowest }, call.caller, options).catch(() => undefined);
      }
    },
    drop: (server) => void wanted.delete(server),
  };
}
