/**
 * Log levels that sessions asked for.
 *
 * Owns: each session's level, until it ends.
 * Speaks: severities (model/severity.ts).
 * Never: tells upstreams (each call carries its agent's level there) or filters messages (agent-call.ts does).
 */
import type { Server } from "@modelcontextprotocol/server";

export interface Levels {
  of(server: Server): string | undefined;
  set(server: Server, level: string): void;
  drop(server: Server): void;
}

export function createLevels(): Levels {
  const wanted = new Map<Server, string>();
  return {
    of: (server) => wanted.get(server),
    set: (server, level) => void wanted.set(server, level),
    drop: (server) => void wanted.delete(server),
  };
}
