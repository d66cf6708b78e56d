/**
 * One legacy session's transport: Streamable HTTP of the older protocol revisions, straight on Node's requests.
 *
 * Owns: which exchange a message belongs to, the session's own stream, what happens when a client goes.
 * Speaks: the SDK's Transport on one side, IncomingMessage and ServerResponse on the other.
 * Never: knows methods beyond cancellation, checks sessions or tokens (legacy.ts), writes answers (exchange.ts).
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { isJsonObject } from "../../model/json.js";
import type { Headers } from "../mcp/agent-call.js";
import { Fault } from "../../model/fault.js";
import { faultMessage } from "../mcp/translate.js";
import { createExchange, sendNothing } from "./exchange.js";
import type { Exchange, Id } from "./exchange.js";
import { createOwnStream } from "./own-stream.js";

export interface SessionTransport extends Transport {
  readonly sessionId: string;
  /** Requests that are not answered yet. */
  readonly inFlight: number;
  isWaiting(id: Id): boolean;
  /** Delivers one POST. `requests` are the ids that want an answer; the response is written when all have one. */
  post(post: Post): void;
  /** Opens the session's own stream; an older one gives way, since its client is gone or moved. */
  stream(res: ServerResponse, lastEventId?: string | undefined): void;
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

export function createSessionTransport(sessionId: string): SessionTransport {
  const exchanges = new Map<Id, Exchange>();
  const own = createOwnStream(sessionId);
  let closed = false;

  function settle(id: Id, answer: JSONRPCMessage | undefined): void {
    const exchange = exchanges.get(id);
    exchanges.delete(id);
    exchange?.settle(id, answer);
  }
  /** The client went away: what it asked for is cancelled, since no answer could reach it. */
  function abandoned(exchange: Exchange): void {
    for (const id of exchange.drop()) {
      exchanges.delete(id);
      const params = { requestId: id, reason: "the client disconnected" };
      transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    }
  }
  function tell(message: JSONRPCMessage, about: Id | undefined): void {
    const exchange = about === undefined ? undefined : exchanges.get(about);
    if (exchange?.tell(message) === true || own.tell(message)) return;
    if ("id" in message) throw new Error("the client has no stream open, so it cannot be asked");
  }

  const transport: SessionTransport = {
    sessionId,
    get inFlight() {
      return exchanges.size;
    },
    isWaiting: (id) => exchanges.has(id),
    start: () => Promise.resolve(),
    async send(message, options) {
      if (closed) return;
      if ("method" in message) tell(message, options?.relatedRequestId);
      else if (message.id !== undefined) settle(message.id, message);
    },
    post({ req, res, messages, requests, batch }) {
      if (requests.length === 0) sendNothing(res, sessionId);
      else {
        const exchange = createExchange(req, res, requests, { id: sessionId, batch });
        for (const id of requests) exchanges.set(id, exchange);
        res.once("close", () => exchange.waiting.size > 0 && abandoned(exchange));
      }
      for (const message of messages) {
        transport.onmessage?.(message);
        const cancelled = cancelledId(message);
        if (cancelled !== undefined) settle(cancelled, undefined);
      }
    },
    stream: own.open,
    endStream: own.end,
    headersOf: (id) => exchanges.get(id)?.req.headers,
    tick() {
      own.tick();
      for (const exchange of new Set(exchanges.values())) exchange.tick();
    },
    async close() {
      if (closed) return;
      for (const id of [...exchanges.keys()]) {
        const fault = new Fault("call-interrupted", "The session was closed, or the daemon is shutting down.");
        settle(id, faultMessage(fault, id) as unknown as JSONRPCMessage);
      }
      closed = true;
      own.end();
      transport.onclose?.();
    },
  };
  return transport;
}

function cancelledId(message: JSONRPCMessage): Id | undefined {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  const id = isJsonObject(message.params) ? message.params["requestId"] : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
