/**
 * The stream that a legacy session opens by GET, for what belongs to no request.
 *
 * Owns: which client holds it (the newest: an older one is gone or moved), the numbers of its events, those kept for a client that
 * comes back and names the last one it saw (`Last-Event-ID`).
 * Speaks: JSON-RPC messages in; an event stream out.
 * Never: streams of single requests; those end with their client, and what it asked for is cancelled.
 */
import type { ServerResponse } from "node:http";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { SURFACE_LIMITS } from "../../model/policy.js";
import { beginStream, keepAlive, writeEvent } from "./exchange.js";

export interface OwnStream {
  /** Opens it for a client that saw everything up to `lastEventId`; undefined for one that saw nothing. */
  open(res: ServerResponse, lastEventId: string | undefined): void;
  /** True where the message was written, or kept until the stream is open. */
  tell(message: JSONRPCMessage): boolean;
  end(): void;
  tick(): void;
}

/** Notifications that say "look again": for a client that missed some of them, one of each is as good as all. */
const LISTS = ["tools", "prompts", "resources"].map((list) => `notifications/${list}/list_changed`);

interface Told {
  readonly at: number;
  readonly message: JSONRPCMessage;
}

export function createOwnStream(sessionId: string): OwnStream {
  /** The last events, in order; what a client does not get here it cannot get any more. */
  let told: Told[] = [];
  let count = 0;
  /** List moves that came while nobody listened. */
  const missed = new Map<string, Told>();
  let open: ServerResponse | undefined;

  const write = (res: ServerResponse, { at, message }: Told): void => writeEvent(res, message, `${at}`);

  function remember(message: JSONRPCMessage): Told {
    count += 1;
    const entry = { at: count, message };
    told.push(entry);
    if (told.length > 2 * SURFACE_LIMITS.resumableEvents) told = told.slice(-SURFACE_LIMITS.resumableEvents);
    return entry;
  }

  function resume(res: ServerResponse, lastEventId: string): void {
    const seen = Number(lastEventId);
    const oldest = told[0]?.at ?? count + 1;
    const known = Number.isInteger(seen) && seen >= oldest - 1 && seen <= count;
    if (known) {
      for (const entry of told) if (entry.at > seen) write(res, entry);
      return;
    }
    // Too long ago, or never told here: whatever moved meanwhile, the client is to look again.
    for (const method of LISTS) write(res, remember({ jsonrpc: "2.0", method }));
  }

  return {
    open(res, lastEventId) {
      open?.end();
      open = res;
      beginStream(res, sessionId);
      res.once("close", () => {
        if (open === res) open = undefined;
      });
      if (lastEventId !== undefined) resume(res, lastEventId);
      else for (const entry of missed.values()) write(res, entry);
      missed.clear();
    },
    tell(message) {
      const keeps = "method" in message && LISTS.includes(message.method);
      // A question needs somebody who can answer it now.
      if (open === undefined && !("method" in message && !("id" in message))) return false;
      const entry = remember(message);
      if (open !== undefined) write(open, entry);
      else if (keeps) missed.set(message.method, entry);
      return open !== undefined || keeps;
    },
    end() {
      open?.end();
      open = undefined;
    },
    tick() {
      if (open !== undefined) keepAlive(open);
    },
  };
}
