/**
 * What the bridge does with each message of its agent.
 *
 * Owns: requests in flight, what surrounds a request in each era, when one may be sent again, cancellation.
 * Speaks: JSON-RPC messages of the agent in; messages for the agent out by `write`.
 * Never: lines and processes (bridge.ts), sessions (bridge-session.ts).
 */
import { isJsonObject } from "../../model/json.js";
import type { JsonObject } from "../../model/json.js";
import { Lost, NotSent } from "./bridge-http.js";
import type { Head, Wire } from "./bridge-http.js";
import type { Daemon } from "./bridge-finder.js";
import type { BridgeSession } from "./bridge-session.js";
import { BRIDGED, errorMessage, META, RPC, SESSION_UNKNOWN_STATUS } from "./translate.js";

type Id = string | number;

export interface ForwardParts {
  readonly wire: Wire;
  readonly path: string;
  readonly daemon: Daemon;
  readonly session: BridgeSession;
  readonly write: (message: JsonObject | readonly unknown[]) => void;
  readonly ending: AbortSignal;
}

export interface Forward {
  /** Carries a message to the daemon and its answers back. Never throws. */
  message(message: JsonObject): Promise<void>;
  batch(messages: readonly unknown[]): Promise<void>;
  /** Requests and batches whose answers are to come; a subscription has none. */
  readonly inFlight: number;
}

interface Request {
  readonly id: Id;
  readonly abort: AbortController;
  cancelled: boolean;
}

export function createForward(parts: ForwardParts): Forward {
  const { session, write, ending } = parts;
  const inFlight = new Map<Id, Request>();
  /** Messages under way that somebody waits for: also those that share an id. */
  let awaited = 0;

  async function forward(message: JsonObject): Promise<void> {
    const method = typeof message["method"] === "string" ? message["method"] : undefined;
    if (method === "notifications/cancelled") return cancel(message);
    const id = idOf(message);
    const abort = new AbortController();
    const onEnd = (): void => abort.abort();
    ending.addEventListener("abort", onEnd, { once: true });
    const request = id !== undefined && method !== undefined ? { id, abort, cancelled: false } : undefined;
    if (request !== undefined) inFlight.set(request.id, request);
    const counts = method !== "subscriptions/listen" ? 1 : 0;
    awaited += counts;
    const silent = (): boolean => request === undefined || request.cancelled || abort.signal.aborted;
    try {
      const answered = await deliver(parts, { message, id, method, signal: abort.signal });
      if (request !== undefined && !answered && !silent()) {
        write(errorMessage(request.id, RPC.internal, "The daemon gave no answer."));
      }
    } catch (error) {
      if (request !== undefined && !silent()) write(failure(request.id, error));
    } finally {
      awaited -= counts;
      ending.removeEventListener("abort", onEnd);
      if (request !== undefined && inFlight.get(request.id) === request) inFlight.delete(request.id);
    }
  }

  /** Modern agents cancel by closing the exchange; for older ones the daemon is told, and then nobody waits for an answer. */
  async function cancel(message: JsonObject): Promise<void> {
    const params = isJsonObject(message["params"]) ? message["params"] : {};
    const target = params["requestId"];
    const running = typeof target === "string" || typeof target === "number" ? inFlight.get(target) : undefined;
    if (running === undefined) return;
    running.cancelled = true;
    if (session.open) await session.send(message, "notifications/cancelled", ending, () => undefined).catch(() => undefined);
    running.abort.abort();
  }

  return {
    message: forward,
    async batch(messages) {
      awaited += 1;
      try {
        await session.sendBatch(messages, ending, (text) => pass(write, text, undefined));
      } catch {
        // Whose answers are missing is not known here: a batch has no id of its own.
      } finally {
        awaited -= 1;
      }
    },
    get inFlight() {
      return awaited;
    },
  };
}

interface Delivery {
  readonly message: JsonObject;
  readonly id: Id | undefined;
  readonly method: string | undefined;
  readonly signal: AbortSignal;
}

/** Sends a message and passes its answers on; looks for the daemon again where that cannot do anything twice. True where it was answered. */
async function deliver(parts: ForwardParts, { message, id, method, signal }: Delivery): Promise<boolean> {
  const version = modernVersion(message);
  const listens = method === "subscriptions/listen";
  let answered = false;
  const onText = (text: string, head: Head): void => {
    // "No such session" is ours to mend; the agent never hears of it.
    if (head.status === SESSION_UNKNOWN_STATUS && version === undefined) return;
    answered = true;
    pass(parts.write, text, id);
  };
  const send = async (): Promise<void> => {
    if (method === "tools/call") await settledConnections();
    if (version === undefined) return parts.session.send(message, method, signal, onText);
    const headers = modernHeaders(message, version);
    const exchange = { method: "POST", path: parts.path, headers, body: JSON.stringify(message), signal, onText } as const;
    await parts.wire.send(await parts.daemon.at(), exchange);
  };
  for (let again = 0; ; again += 1) {
    try {
      if (again > 0 && listens && answered) lookAgain(parts.write, message, id);
      await send();
      return answered;
    } catch (error) {
      const lost = error instanceof Lost && (listens || (again === 0 && !answered && method !== "tools/call"));
      if (signal.aborted || !(error instanceof NotSent || lost)) throw error;
      await parts.daemon.findAgain();
    }
  }
}

/** A text of the daemon as a message for the agent; what is not JSON-RPC stays here. */
function pass(write: ForwardParts["write"], text: string, id: Id | undefined): void {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    message = undefined;
  }
  if (Array.isArray(message)) write(message);
  else if (isJsonObject(message) && message["jsonrpc"] === "2.0") {
    // An error of the transport itself answers no id; for the agent it answers its request.
    write(message["id"] === null && id !== undefined ? { ...message, id } : message);
  } else if (id !== undefined) {
    write(errorMessage(id, RPC.internal, "The daemon answered with something that is no JSON-RPC message."));
  }
}

/** What a subscription missed while the daemon was away: the agent looks at its lists again. */
function lookAgain(write: ForwardParts["write"], message: JsonObject, id: Id | undefined): void {
  const params = isJsonObject(message["params"]) ? message["params"] : {};
  const wanted = isJsonObject(params["notifications"]) ? params["notifications"] : {};
  for (const list of ["tools", "prompts", "resources"]) {
    if (wanted[`${list}ListChanged`] !== true) continue;
    const _meta = { [META.subscriptionId]: id ?? null };
    write({ jsonrpc: "2.0", method: `notifications/${list}/list_changed`, params: { _meta } });
  }
}

/**
 * A connection that the daemon closed just now is still in the pool until the loop has seen its end. A call that is sent
 * on it is lost and cannot be sent again; one whole turn of the loop later it goes out on a connection that lives.
 */
async function settledConnections(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}

function failure(id: Id, error: unknown): JsonObject {
  if (error instanceof Lost) {
    return errorMessage(id, RPC.internal, "The connection to the daemon was lost during the call; its outcome is unknown.", {
      code: "call-interrupted",
      retryable: false,
    });
  }
  const reason = error instanceof Error ? error.message : String(error);
  return errorMessage(id, RPC.internal, `The daemon cannot be reached: ${reason}`, {
    code: "daemon-unreachable",
    retryable: true,
  });
}

function idOf(message: JsonObject): Id | undefined {
  const id = message["id"];
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

/** The newer revision that a message claims for itself, or undefined for a message of a session. */
function modernVersion(message: JsonObject): string | undefined {
  const meta = isJsonObject(message["params"]) ? message["params"]["_meta"] : undefined;
  const claim = isJsonObject(meta) ? meta[META.protocolVersion] : undefined;
  return typeof claim === "string" ? claim : undefined;
}

const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/** Headers that mirror the body, as the newer revision demands them. */
function modernHeaders(message: JsonObject, version: string): Record<string, string> {
  const method = String(message["method"]);
  const field = NAMED_BY[method];
  const name = field !== undefined && isJsonObject(message["params"]) ? message["params"][field] : undefined;
  return {
    Accept: "application/json, text/event-stream",
    [BRIDGED]: "1",
    "MCP-Protocol-Version": version,
    "Mcp-Method": method,
    ...(typeof name === "string" ? { "Mcp-Name": headerValue(name) } : {}),
  };
}

/** Values that a header cannot carry as they are travel in base64, marked as such. */
function headerValue(text: string): string {
  const plain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !(text.startsWith("=?base64?") && text.endsWith("?="));
  return plain ? text : `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`;
}
