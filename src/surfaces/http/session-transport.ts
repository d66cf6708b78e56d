/**
 * One legacy session's transport: Streamable HTTP of the older protocol revisions, straight on Node's requests.
 *
 * Owns: which response belongs to which exchange, JSON or stream, keep-alive comments, what happens when a client goes.
 * Speaks: the SDK's Transport on one side, IncomingMessage and ServerResponse on the other.
 * Never: knows methods beyond cancellation, checks sessions or tokens (legacy.ts).
 *
 *   An answer that comes before anything else goes out as plain JSON, the cheapest form. A message that belongs to the
 *   request (progress, log, question), or a long silence, turns the exchange into an event stream first.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { isJsonObject } from "../../model/json.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import type { Headers } from "../mcp/agent-call.js";
import { errorMessage, RPC } from "../mcp/translate.js";
import { TRANSPORT_STATUS } from "./translate.js";

type Id = string | number;

export interface SessionTransport extends Transport {
  readonly sessionId: string;
  /** Requests that are not answered yet. */
  readonly inFlight: number;
  isWaiting(id: Id): boolean;
  /** Delivers one POST. `requests` are the ids that want an answer; the response is written when all have one. */
  post(post: Post): void;
  /** Opens the session's own stream; an older one gives way, since its client is gone or moved. */
  stream(res: ServerResponse): void;
  /** Ends the session's own stream: nothing more is announced. */
  endStream(): void;
  /** Headers of the request that carries `id`. */
  headersOf(id: Id): Headers | undefined;
  /** A keep-alive on every open stream; an exchange that waited since the last tick becomes one. */
  tick(): void;
}

export interface Post {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly messages: readonly JSONRPCMessage[];
  readonly requests: readonly Id[];
  readonly batch: boolean;
}

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly waiting: Set<Id>;
  readonly batch: boolean;
  readonly answers: JSONRPCMessage[];
  readonly json: boolean;
  readonly events: boolean;
  streaming: boolean;
  ticks: number;
}

/** Notifications that are worth keeping for a client whose stream is not open yet: they say "look again", once. */
const KEPT = new Set([
  "notifications/tools/list_changed",
  "notifications/prompts/list_changed",
  "notifications/resources/list_changed",
]);

export function createSessionTransport(sessionId: string): SessionTransport {
  const exchanges = new Map<Id, Exchange>();
  const kept = new Map<string, JSONRPCMessage>();
  let own: ServerResponse | undefined;
  let closed = false;

  const headers = (type: string): Record<string, string> => ({ "Content-Type": type, "Mcp-Session-Id": sessionId });

  function beginStream(res: ServerResponse): void {
    res.writeHead(TRANSPORT_STATUS.ok, {
      ...headers("text/event-stream"),
      "Cache-Control": "no-cache, no-transform",
      "X-Accel-Buffering": "no",
    });
    res.flushHeaders();
  }
  function becomeStream(exchange: Exchange): void {
    exchange.streaming = true;
    beginStream(exchange.res);
    for (const answer of exchange.answers.splice(0)) writeEvent(exchange.res, answer);
  }

  /** Writes the last word of an exchange whose requests are all answered or gone. */
  function finish(exchange: Exchange): void {
    const { res, answers } = exchange;
    if (exchange.streaming) {
      res.end();
      return;
    }
    if (answers.length === 0) {
      // Cancelled: there is nothing to say, and that must be said in a form the client waits for.
      if (exchange.events) beginStream(res);
      else res.writeHead(TRANSPORT_STATUS.accepted, { "Mcp-Session-Id": sessionId });
      res.end();
      return;
    }
    const text = JSON.stringify(exchange.batch ? answers : answers[0]);
    res.writeHead(TRANSPORT_STATUS.ok, { ...headers("application/json"), "Content-Length": String(Buffer.byteLength(text)) });
    res.end(text);
  }

  function settle(id: Id, answer: JSONRPCMessage | undefined): void {
    const exchange = exchanges.get(id);
    if (exchange === undefined) return;
    exchanges.delete(id);
    exchange.waiting.delete(id);
    if (answer !== undefined) {
      if (!exchange.streaming && !exchange.json) becomeStream(exchange);
      if (exchange.streaming) writeEvent(exchange.res, answer);
      else exchange.answers.push(answer);
    }
    if (exchange.waiting.size === 0) finish(exchange);
  }

  /** The client went away: what it asked for is cancelled, since no answer could reach it. */
  function abandoned(exchange: Exchange): void {
    for (const id of [...exchange.waiting]) {
      exchanges.delete(id);
      exchange.waiting.delete(id);
      transport.onmessage?.({
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: id, reason: "the client disconnected" },
      });
    }
  }

  function related(message: JSONRPCMessage, id: Id): void {
    const exchange = exchanges.get(id);
    if (exchange !== undefined && (exchange.streaming || exchange.events)) {
      if (!exchange.streaming) becomeStream(exchange);
      writeEvent(exchange.res, message);
      return;
    }
    if (own !== undefined) writeEvent(own, message);
    else if ("id" in message) throw new Error("the client accepts no stream, so it cannot be asked");
  }

  const transport: SessionTransport = {
    sessionId,
    get inFlight() {
      return exchanges.size;
    },
    isWaiting: (id) => exchanges.has(id),
    start: () => Promise.resolve(),
    send(message, options) {
      if (closed) return Promise.resolve();
      if (!("method" in message)) {
        if (message.id !== undefined) settle(message.id, message);
      } else if (options?.relatedRequestId !== undefined) related(message, options.relatedRequestId);
      else if (own !== undefined) writeEvent(own, message);
      else if (KEPT.has(message.method)) kept.set(message.method, message);
      return Promise.resolve();
    },
    post({ req, res, messages, requests, batch }) {
      if (requests.length === 0) {
        res.writeHead(TRANSPORT_STATUS.accepted, { "Mcp-Session-Id": sessionId, "Content-Length": "0" });
        res.end();
      } else {
        const accept = accepted(req.headers.accept);
        const exchange: Exchange = {
          req,
          res,
          waiting: new Set(requests),
          batch,
          answers: [],
          ...accept,
          streaming: false,
          ticks: 0,
        };
        for (const id of requests) exchanges.set(id, exchange);
        res.once("close", () => {
          if (exchange.waiting.size > 0) abandoned(exchange);
        });
      }
      for (const message of messages) {
        transport.onmessage?.(message);
        const cancelled = cancelledId(message);
        if (cancelled !== undefined) settle(cancelled, undefined);
      }
    },
    stream(res) {
      own?.end();
      own = res;
      beginStream(res);
      res.once("close", () => {
        if (own === res) own = undefined;
      });
      for (const message of kept.values()) writeEvent(res, message);
      kept.clear();
    },
    endStream() {
      own?.end();
      own = undefined;
    },
    headersOf: (id) => exchanges.get(id)?.req.headers,
    tick() {
      if (own !== undefined) keepAlive(own);
      for (const exchange of new Set(exchanges.values())) {
        if (exchange.streaming) keepAlive(exchange.res);
        else if (exchange.ticks > 0 && exchange.events) becomeStream(exchange);
        exchange.ticks += 1;
      }
    },
    close() {
      if (closed) return Promise.resolve();
      for (const id of [...exchanges.keys()]) {
        settle(id, errorMessage(id, RPC.internal, "The session was closed.") as unknown as JSONRPCMessage);
      }
      closed = true;
      transport.endStream();
      transport.onclose?.();
      return Promise.resolve();
    },
  };
  return transport;
}

export function writeEvent(res: ServerResponse, message: unknown): void {
  if (res.destroyed || res.writableEnded) return;
  res.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  // A reader that is this far behind is not reading.
  if (res.writableLength > SURFACE_LIMITS.streamBacklogBytes) res.destroy();
}

export function keepAlive(res: ServerResponse): void {
  if (!res.destroyed && !res.writableEnded) res.write(": keep-alive\n\n");
}

/** Either type alone is taken; a missing header, a wildcard or anything else counts as both. */
function accepted(header: string | undefined): { readonly json: boolean; readonly events: boolean } {
  const json = header?.includes("application/json") === true;
  const events = header?.includes("text/event-stream") === true;
  if (header === undefined || json === events || header.includes("*/*")) return { json: true, events: header !== undefined };
  return { json, events };
}

function cancelledId(message: JSONRPCMessage): Id | undefined {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  const id = isJsonObject(message.params) ? message.params["requestId"] : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
