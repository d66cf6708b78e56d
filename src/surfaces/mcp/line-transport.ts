/**
 * JSON-RPC lines on a pair of pipes, as a transport of the SDK.
 *
 * Owns: framing, one write for all that is said in one turn of the loop, the end of the connection.
 * Speaks: parsed messages; the SDK's Transport.
 * Never: checks what a message says (the protocol object does), or writes anything but messages.
 *
 * Why not the SDK's own: it checks every message against a schema that the protocol object checks again, and makes one system call
 * an answer. On the way of a call through STEWARD that was a fifth of the time.
 */
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { isDeeperThan, isJsonObject, JSON_LEVELS, type JsonObject } from "../../model/json.js";
import { readLines } from "./line-reader.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import { RPC } from "./translate.js";

export function createLineTransport(stdin: Readable, stdout: Writable, options: { readonly maxBytes: number }): Transport {
  let unsaid: string[] = [];
  let closed = false;
  let stopReading: (() => void) | undefined;
  /** Requests without an answer yet; a subscription has none to wait for. */
  const waiting = new Set<unknown>();
  let last: NodeJS.Timeout | undefined;

  function note(message: JsonObject): void {
    const { id, method, params } = message;
    if (method === "notifications/cancelled" && isJsonObject(params)) waiting.delete(params["requestId"]);
    else if (id !== undefined && typeof method === "string" && method !== "subscriptions/listen") waiting.add(id);
  }
  /** stdin ended: what it asked is still answered, up to a bound, since a pipe that says all at once has a reader. */
  function endWhenIdle(): void {
    if (waiting.size === 0) return close();
    last ??= setTimeout(close, SURFACE_LIMITS.bridgeLastMs);
  }

  function take(line: string): void {
    if (line.trim() === "") return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch (error) {
      transport.onerror?.(error as Error);
      return;
    }
    if (isDeeperThan(message, JSON_LEVELS)) refuseDeep(message);
    else if (isJsonObject(message)) {
      note(message);
      transport.onmessage?.(message as unknown as JSONRPCMessage);
      // A cancelled call has no answer: it may have been the last that was waited for.
      answered();
    } else transport.onerror?.(new Error("A line is not a JSON-RPC message."));
  }

  /** Whoever asked gets the reason as an answer; what asks nothing is only noted. */
  function refuseDeep(message: unknown): void {
    const reason = `A message is nested deeper than ${JSON_LEVELS} levels.`;
    transport.onerror?.(new Error(reason));
    const id = isJsonObject(message) ? message["id"] : undefined;
    const asks =
      isJsonObject(message) && typeof message["method"] === "string" && (typeof id === "string" || typeof id === "number");
    if (asks) void transport.send({ jsonrpc: "2.0", id, error: { code: RPC.invalidRequest, message: reason } });
  }

  /** Ends the connection behind the last answer that stdin's end left to be waited for. */
  function answered(): void {
    if (last !== undefined && waiting.size === 0) setImmediate(close);
  }

  function say(): void {
    const text = unsaid.join("");
    unsaid = [];
    if (!closed) stdout.write(text);
  }

  function onBroken(error: Error): void {
    if (closed) return;
    transport.onerror?.(error);
    close();
  }

  function close(): void {
    if (closed) return;
    // What is said already has a reader still, where stdin ended before it.
    if (unsaid.length > 0) say();
    closed = true;
    clearTimeout(last);
    stopReading?.();
    stdin.pause();
    transport.onclose?.();
  }

  const transport: Transport = {
    async start() {
      stdout.on("error", onBroken);
      stopReading = readLines(stdin, {
        onLine: take,
        onEnd: endWhenIdle,
        maxBytes: options.maxBytes,
        onTooLong: () => onBroken(new Error(`A message is larger than ${options.maxBytes} bytes.`)),
      });
      if (stdin.readableEnded || stdin.destroyed) setImmediate(endWhenIdle);
    },
    async send(message) {
      if (closed) throw new Error("The connection is closed.");
      unsaid.push(JSON.stringify(message), "\n");
      if (!("method" in message)) waiting.delete(message.id);
      // After the promises that this turn of the loop settles: their answers go out in the same write.
      if (unsaid.length === 2) process.nextTick(say);
      answered();
      if (stdout.writableNeedDrain) await drained(stdout);
    },
    async close() {
      close();
    },
  };
  return transport;
}

/** Resolves when a slow reader has caught up, or is gone. */
function drained(stdout: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stdout.off("drain", done);
      stdout.off("close", done);
      stdout.off("error", done);
      resolve();
    };
    stdout.on("drain", done);
    stdout.on("close", done);
    stdout.on("error", done);
  });
}
