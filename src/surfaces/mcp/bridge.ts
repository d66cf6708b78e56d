/**
 * `steward stdio`: an agent's stdin and stdout, carried to a daemon's HTTP endpoint.
 *
 * Owns: the agent's lines in and out, what a request needs around it in each era, finding the daemon again.
 * Speaks: JSON-RPC lines; Streamable HTTP by bridge-http.ts; sessions by bridge-session.ts.
 * Never: writes anything but JSON-RPC to stdout, or sends a call twice that may have run.
 */
import { setMaxListeners } from "node:events";
import type { EventEmitter } from "node:events";
import type { Readable, Writable } from "node:stream";
import { watchParent } from "../../host/signals.js";
import { isJsonObject } from "../../model/json.js";
import type { JsonObject } from "../../model/json.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import type { Log } from "./agents.js";
import { createWire, Lost, NotSent } from "./bridge-http.js";
import type { Endpoint, Head } from "./bridge-http.js";
import { createBridgeSession } from "./bridge-session.js";
import { errorMessage, META, RPC, SESSION_UNKNOWN_STATUS } from "./translate.js";

export interface BridgeOptions {
  /** Where the daemon is. Called again when it was lost; may start one, and may take its time for that. */
  readonly endpoint: (lost: boolean) => Promise<Endpoint>;
  readonly path?: "/mcp" | "/mcp/direct";
  readonly log: Log;
  readonly stdin?: Readable;
  readonly stdout?: Writable;
  /** Where signals come from. */
  readonly signals?: EventEmitter;
  /** End when the parent process does. Default true. */
  readonly watchParent?: boolean;
}

export interface Bridge {
  /** Resolves when the bridge is done: stdin ended, a signal came, the parent died, stdout broke or close() was called. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

type Id = string | number;
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export function runBridge(options: BridgeOptions): Bridge {
  const { log } = options;
  const path = options.path ?? "/mcp";
  const stdin = options.stdin ?? process.stdin;
  const stdout = options.stdout ?? process.stdout;
  const wire = createWire();
  const ending = new AbortController();
  // One listener for each request in flight: there may be many.
  setMaxListeners(0, ending.signal);
  const inFlight = new Map<Id, { readonly id: Id; readonly abort: AbortController; cancelled: boolean }>();
  const cleanups: (() => void)[] = [];
  let closing: Promise<void> | undefined;
  let markClosed: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => (markClosed = resolve));

  const write = (message: JsonObject | readonly unknown[]): void => {
    if (!ending.signal.aborted) stdout.write(`${JSON.stringify(message)}\n`);
  };
  const daemon = createFinder(options.endpoint, ending.signal);
  const session = createBridgeSession({ wire, path, daemon, write, log, ending: ending.signal });

  /** A text of the daemon as a line for the agent; what is not JSON-RPC stays here. */
  function pass(text: string, id: Id | undefined): void {
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
    } else if (id !== undefined)
      write(errorMessage(id, RPC.internal, "The daemon answered with something that is no JSON-RPC message."));
  }

  async function forward(message: JsonObject): Promise<void> {
    const id = idOf(message);
    const method = typeof message["method"] === "string" ? message["method"] : undefined;
    if (method === "notifications/cancelled") return cancel(message);
    const abort = new AbortController();
    const onEnd = (): void => abort.abort();
    ending.signal.addEventListener("abort", onEnd, { once: true });
    const request = id !== undefined && method !== undefined ? { id, abort, cancelled: false } : undefined;
    if (request !== undefined) inFlight.set(request.id, request);
    try {
      const answered = await deliver(message, id, method, abort.signal);
      if (request !== undefined && !answered && !request.cancelled && !abort.signal.aborted) {
        write(errorMessage(request.id, RPC.internal, "The daemon gave no answer."));
      }
    } catch (error) {
      if (request !== undefined && !request.cancelled && !abort.signal.aborted) write(failure(request.id, error));
    } finally {
      ending.signal.removeEventListener("abort", onEnd);
      if (request !== undefined && inFlight.get(request.id) === request) inFlight.delete(request.id);
    }
  }

  /** Sends a message and passes its answers on; looks for the daemon again where that cannot do anything twice. */
  async function deliver(
    message: JsonObject,
    id: Id | undefined,
    method: string | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const version = modernVersion(message);
    const listens = method === "subscriptions/listen";
    let answered = false;
    const onText = (text: string, head: Head): void => {
      // "No such session" is ours to mend; the agent never hears of it.
      if (head.status === SESSION_UNKNOWN_STATUS && version === undefined) return;
      answered = true;
      pass(text, id);
    };
    const send = async (): Promise<void> => {
      if (method === "tools/call") await settledConnections();
      if (version === undefined) return session.send(message, method, signal, onText);
      const body = JSON.stringify(message);
      await wire.send(await daemon.at(), {
        method: "POST",
        path,
        headers: modernHeaders(message, version),
        body,
        signal,
        onText,
      });
    };
    for (let again = 0; ; again += 1) {
      try {
        if (again > 0 && listens && answered) lookAgain(message, id);
        await send();
        return answered;
      } catch (error) {
        const lost = error instanceof Lost && (listens || (again === 0 && !answered && method !== "tools/call"));
        if (signal.aborted || !(error instanceof NotSent || lost)) throw error;
        await daemon.findAgain();
      }
    }
  }

  /** What a subscription missed while the daemon was away: the agent looks at its lists again. */
  function lookAgain(message: JsonObject, id: Id | undefined): void {
    const params = isJsonObject(message["params"]) ? message["params"] : {};
    const wanted = isJsonObject(params["notifications"]) ? params["notifications"] : {};
    for (const list of ["tools", "prompts", "resources"]) {
      if (wanted[`${list}ListChanged`] !== true) continue;
      const _meta = { [META.subscriptionId]: id ?? null };
      write({ jsonrpc: "2.0", method: `notifications/${list}/list_changed`, params: { _meta } });
    }
  }

  /** Modern agents cancel by closing the exchange; for older ones the daemon is told, and then nobody waits for an answer. */
  async function cancel(message: JsonObject): Promise<void> {
    const params = isJsonObject(message["params"]) ? message["params"] : {};
    const target = params["requestId"];
    const running = typeof target === "string" || typeof target === "number" ? inFlight.get(target) : undefined;
    if (running === undefined) return;
    running.cancelled = true;
    if (session.open) {
      await session.send(message, "notifications/cancelled", ending.signal, () => undefined).catch(() => undefined);
    }
    running.abort.abort();
  }

  function onLine(line: string): void {
    if (line.trim() === "") return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      write(errorMessage(null, RPC.parse, "This line is not JSON."));
      return;
    }
    if (Array.isArray(message))
      void session.sendBatch(message, ending.signal, (text) => pass(text, undefined)).catch(() => undefined);
    else if (isJsonObject(message)) void forward(message);
    else write(errorMessage(null, RPC.invalidRequest, "This is not a JSON-RPC message."));
  }

  async function close(): Promise<void> {
    closing ??= (async () => {
      for (const cleanup of cleanups) cleanup();
      ending.abort();
      await session.close();
      wire.close();
      stdin.destroy();
      markClosed();
    })();
    return closing;
  }
  const end = (why: string): void => {
    log("debug", `the bridge ends: ${why}`);
    void close();
  };
  const onStdinEnd = (): void => {
    // Answers that are about to come still have a reader if stdin was a file or pipe.
    const until = performance.now() + SURFACE_LIMITS.bridgeLastMs;
    const look = (): void => {
      if (inFlight.size === 0 || performance.now() > until) end("stdin ended");
      else setTimeout(look, 10);
    };
    look();
  };

  cleanups.push(readLines(stdin, onLine, onStdinEnd));
  stdout.once("error", () => end("stdout broke"));
  const signals = options.signals ?? process;
  for (const signal of SIGNALS) {
    const onSignal = (): void => end(signal);
    signals.on(signal, onSignal);
    cleanups.push(() => signals.off(signal, onSignal));
  }
  if (options.watchParent !== false) cleanups.push(watchParent(() => end("the parent process ended")));
  return { closed, close };
}

export interface Daemon {
  at(): Promise<Endpoint>;
  /** After a failed connection: waits a little, asks where the daemon is now. Shared by all who ask at the same time. */
  findAgain(): Promise<void>;
}

function createFinder(endpoint: (lost: boolean) => Promise<Endpoint>, ending: AbortSignal): Daemon {
  let known: Promise<Endpoint> | undefined;
  let finding: Promise<void> | undefined;
  let failing = { sinceMs: 0, pauseMs: 0 };
  const ask = (lost: boolean): Promise<Endpoint> => {
    const asked = endpoint(lost);
    known = asked;
    asked.catch(() => (known = undefined));
    return asked;
  };
  async function search(): Promise<void> {
    const now = performance.now();
    // A failure long after the last one is a new one.
    if (now - failing.sinceMs > SURFACE_LIMITS.bridgeGiveUpMs * 2) failing = { sinceMs: now, pauseMs: 0 };
    else if (now - failing.sinceMs > SURFACE_LIMITS.bridgeGiveUpMs) {
      failing = { sinceMs: 0, pauseMs: 0 };
      throw new Error("No daemon answers.");
    }
    if (failing.pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, failing.pauseMs));
    if (ending.aborted) throw new Error("The bridge ends.");
    failing.pauseMs = Math.min(SURFACE_LIMITS.bridgeRetryAtMostMs, Math.max(SURFACE_LIMITS.bridgeRetryMs, failing.pauseMs * 2));
    await ask(true);
  }
  return {
    at: () => known ?? ask(false),
    findAgain() {
      finding ??= search().finally(() => (finding = undefined));
      return finding;
    },
  };
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

/** Lines of a stream; the returned function stops reading. */
function readLines(input: Readable, onLine: (line: string) => void, onEnd: () => void): () => void {
  let parts: Buffer[] = [];
  const onData = (given: Buffer | string): void => {
    let chunk = typeof given === "string" ? Buffer.from(given, "utf8") : given;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10)) {
      const line = parts.length === 0 ? chunk.subarray(0, end) : Buffer.concat([...parts, chunk.subarray(0, end)]);
      parts = [];
      chunk = chunk.subarray(end + 1);
      onLine(line.toString("utf8"));
    }
    if (chunk.length > 0) parts.push(chunk);
  };
  let ended = false;
  const end = (): void => {
    if (ended) return;
    ended = true;
    if (parts.length > 0) onLine(Buffer.concat(parts).toString("utf8"));
    onEnd();
  };
  input.on("data", onData);
  input.once("end", end);
  input.once("close", end);
  input.once("error", end);
  return () => {
    ended = true;
    input.off("data", onData);
  };
}
