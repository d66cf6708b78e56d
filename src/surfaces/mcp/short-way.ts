/**
 * The short way of a tool call on a connection of the older revisions: past the SDK's protocol object.
 *
 * Owns: calls in flight on this way, their cancellation.
 * Speaks: JSON-RPC messages of the agent in, answers and notifications out by `send`.
 * Never: another method, the newer revision, or an answer that the protocol object would not have given: params, result, errors and
 *        what surrounds a call are made by the same handlers.
 *
 * Why: the protocol object checks each message against a dozen schemas and builds a context of closures; for a call that is only
 * passed on, that was more work than all the rest.
 */
import type { JSONRPCMessage, Server } from "@modelcontextprotocol/server";
import { isJsonObject } from "../../model/json.js";
import type { JsonObject } from "../../model/json.js";
import type { Asking } from "./agent-call.js";
import { errorMessage, RPC } from "./translate.js";

export interface ShortWay {
  /** True where the message was taken: nobody else may see it. */
  take(message: JSONRPCMessage): boolean;
  /** Aborts what is in flight; nothing is answered any more. */
  close(): void;
}

export interface ShortWayOptions {
  readonly server: Server;
  readonly send: (message: JsonObject) => void;
  /** The handler that the protocol object would have called. Rejects with errors that have a code. */
  readonly answer: (params: JsonObject, asking: Asking) => Promise<JsonObject>;
}

type Id = string | number;

export function createShortWay({ server, send, answer }: ShortWayOptions): ShortWay {
  const inFlight = new Map<Id, AbortController>();

  function asking(id: Id, params: JsonObject, signal: AbortSignal): Asking {
    return {
      id,
      _meta: isJsonObject(params["_meta"]) ? params["_meta"] : undefined,
      envelope: undefined,
      inputResponses: undefined,
      requestState: () => undefined,
      signal,
      async notify({ method, params: told }) {
        send({ jsonrpc: "2.0", method, params: told });
      },
      send: (request, schema, options) => server.request(request, schema, { ...options, relatedRequestId: id }),
    };
  }

  async function run(id: Id, params: JsonObject, abort: AbortController): Promise<void> {
    let message: JsonObject;
    try {
      message = { jsonrpc: "2.0", id, result: await answer(params, asking(id, params, abort.signal)) };
    } catch (error) {
      message = errorOf(id, error);
    }
    if (inFlight.get(id) !== abort) return;
    inFlight.delete(id);
    send(message);
  }

  return {
    take(message) {
      if (!("method" in message)) return false;
      const params = isJsonObject(message.params) ? message.params : {};
      if (message.method === "notifications/cancelled") {
        const id = params["requestId"] as Id;
        const abort = inFlight.get(id);
        if (abort === undefined) return false;
        // Nobody waits for an answer any more.
        inFlight.delete(id);
        abort.abort(params["reason"]);
        return true;
      }
      if (message.method !== "tools/call" || !("id" in message) || !isId(message.id) || inFlight.has(message.id)) return false;
      const abort = new AbortController();
      inFlight.set(message.id, abort);
      void run(message.id, params, abort);
      return true;
    },
    close() {
      const open = [...inFlight.values()];
      inFlight.clear();
      for (const abort of open) abort.abort();
    },
  };
}

function isId(id: unknown): id is Id {
  return typeof id === "string" || Number.isInteger(id);
}

function errorOf(id: Id, error: unknown): JsonObject {
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: JsonObject };
  return errorMessage(
    id,
    Number.isSafeInteger(code) ? (code as number) : RPC.internal,
    typeof message === "string" ? message : "Internal error",
    data,
  );
}
