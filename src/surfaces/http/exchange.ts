/**
 * One POST of a legacy session: the requests in it, and the one HTTP answer they share.
 *
 * Owns: JSON or event stream, what was answered so far, the last word.
 * Speaks: JSON-RPC messages in; the response out.
 * Never: knows the session's other exchanges (session-transport.ts).
 *
 *   waiting ──last answer──▶ done (JSON)
 *      │ related message, long silence, client takes streams only
 *      ▼
 *   streaming ──last answer──▶ done (event stream)
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { SURFACE_LIMITS } from "../../model/policy.js";
import { TRANSPORT_STATUS } from "./translate.js";

export type Id = string | number;

export interface Exchange {
  readonly req: IncomingMessage;
  /** Requests without an answer yet. */
  readonly waiting: ReadonlySet<Id>;
  /** An answer, or undefined where there will be none (cancelled). The last one ends the exchange. */
  settle(id: Id, answer: JSONRPCMessage | undefined): void;
  /** A message that belongs to one of the requests; false where the client takes no stream. */
  tell(message: JSONRPCMessage): boolean;
  /** Forgets the requests: the client is gone. */
  drop(): readonly Id[];
  /** One keep-alive interval has passed. */
  tick(): void;
}

export function createExchange(
  req: IncomingMessage,
  res: ServerResponse,
  requests: readonly Id[],
  session: { readonly id: string; readonly batch: boolean },
): Exchange {
  const waiting = new Set(requests);
  const answers: JSONRPCMessage[] = [];
  const takes = accepted(req.headers.accept);
  let streaming = false;
  let ticks = 0;

  function becomeStream(): void {
    if (streaming) return;
    streaming = true;
    beginStream(res, session.id);
    for (const answer of answers.splice(0)) writeEvent(res, answer);
  }
  function finish(): void {
    if (streaming) res.end();
    else if (answers.length > 0) sendAnswers(res, session.id, session.batch ? answers : answers[0]);
    else if (takes.events) {
      // Cancelled: there is nothing to say, and that must be said in a form the client waits for.
      beginStream(res, session.id);
      res.end();
    } else sendNothing(res, session.id);
  }
  return {
    req,
    waiting,
    settle(id, answer) {
      waiting.delete(id);
      if (answer !== undefined) {
        if (!takes.json) becomeStream();
        if (streaming) writeEvent(res, answer);
        else answers.push(answer);
      }
      if (waiting.size === 0) finish();
    },
    tell(message) {
      if (!streaming && !takes.events) return false;
      becomeStream();
      writeEvent(res, message);
      return true;
    },
    drop() {
      const left = [...waiting];
      waiting.clear();
      return left;
    },
    tick() {
      if (streaming) keepAlive(res);
      else if (ticks > 0 && takes.events) becomeStream();
      ticks += 1;
    },
  };
}

/** Either type alone is taken; a wildcard or anything else counts as both, a missing header as JSON. */
function accepted(header: string | undefined): { readonly json: boolean; readonly events: boolean } {
  const json = header?.includes("application/json") === true;
  const events = header?.includes("text/event-stream") === true;
  if (header === undefined || json === events || header.includes("*/*")) return { json: true, events: header !== undefined };
  return { json, events };
}

export function beginStream(res: ServerResponse, session: string): void {
  res.writeHead(TRANSPORT_STATUS.ok, {
    "Content-Type": "text/event-stream",
    "Mcp-Session-Id": session,
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
  });
  res.flushHeaders();
}

function sendAnswers(res: ServerResponse, session: string, body: unknown): void {
  // As bytes, once: a text would be gone through for its length and again for its bytes.
  const bytes = Buffer.from(JSON.stringify(body));
  res.writeHead(TRANSPORT_STATUS.ok, {
    "Content-Type": "application/json",
    "Mcp-Session-Id": session,
    "Content-Length": String(bytes.length),
  });
  res.end(bytes);
}

/** Accepted, and no answer follows: notifications, answers of the client, cancelled requests. */
export function sendNothing(res: ServerResponse, session: string): void {
  res.writeHead(TRANSPORT_STATUS.accepted, { "Mcp-Session-Id": session, "Content-Length": "0" });
  res.end();
}

/** With an id, a client that lost the stream can say which event it saw last. */
export function writeEvent(res: ServerResponse, message: unknown, id?: string): void {
  if (res.destroyed || res.writableEnded) return;
  // A reader that is this far behind is not reading. One message may be larger: what was just written nobody can have read.
  if (res.writableLength > SURFACE_LIMITS.streamBacklogBytes) return void res.destroy();
  res.write(`${id === undefined ? "" : `id: ${id}\n`}event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

export function keepAlive(res: ServerResponse): void {
  if (!res.destroyed && !res.writableEnded) res.write(": keep-alive\n\n");
}
