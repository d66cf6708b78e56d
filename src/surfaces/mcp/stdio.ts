/**
 * MCP on this process's own stdin and stdout: `steward stdio --own`.
 *
 * Owns: the one connection, its announcements, its end when stdin ends.
 * Speaks: the SDK's stdio entry (both protocol eras), over the same protocol objects as HTTP.
 * Never: writes anything but JSON-RPC lines to stdout; leaves the process (its caller decides that when `closed` resolves).
 */
import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Server, Transport } from "@modelcontextprotocol/server";
import { serveStdio as serveSdkStdio } from "@modelcontextprotocol/server/stdio";
import { isJsonObject } from "../../model/json.js";
import type { Caller, Operations } from "../../model/operations.js";
import type { Policy } from "../../model/policy.js";
import { createAgents, followedUris } from "./agents.js";
import type { Agents, AgentsOptions, Log } from "./agents.js";
import { createLineTransport } from "./line-transport.js";
import type { ServeOptions } from "./serving.js";
import { createShortWay } from "./short-way.js";
import type { ShortWay } from "./short-way.js";
import type { Exposure } from "./tools.js";

export interface StdioOptions {
  readonly operations: Operations;
  readonly policy: Policy;
  readonly version: string;
  readonly log: Log;
  readonly exposure?: Exposure;
  readonly stdin?: Readable;
  readonly stdout?: Writable;
  readonly count?: NonNullable<AgentsOptions["count"]>;
}

export interface StdioSurface {
  /** Resolves when the client is gone (stdin ended) or close() was called. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Serves one agent over stdio. A message may be as large as an HTTP request may. */
export function serveStdio(options: StdioOptions): StdioSurface {
  const exposure = options.exposure ?? "facade";
  const agents = createAgents({
    operations: options.operations,
    version: options.version,
    log: options.log,
    ...(options.count === undefined ? {} : { count: options.count }),
  });
  const caller: Caller = {
    principal: "mcp",
    rights: new Set(["agent"]),
    upstreams: undefined,
    session: `stdio-${randomUUID()}`,
  };
  const transport = createLineTransport(options.stdin ?? process.stdin, options.stdout ?? process.stdout, {
    maxBytes: Math.max(options.policy.requestBytes, 10 * 1024 * 1024),
  });
  let markClosed: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => (markClosed = resolve));
  let modern: Server | undefined;
  let older: ShortWay | undefined;
  const handle = serveSdkStdio(
    ({ era }) => {
      const serving: ServeOptions = { exposure, era, lives: "connection", caller: () => caller };
      const server = agents.serve(serving);
      modern = era === "modern" ? server : undefined;
      if (era === "legacy") older = shortWay(agents, serving, server, transport);
      return server;
    },
    { transport, onerror: (error) => options.log("debug", "stdio", { error: error.message }) },
  );
  followSubscriptions(transport, agents, caller);
  takeShortWay(transport, () => older);
  // The SDK passes on to each subscription what it asked for; older sessions are told of what they follow anyway.
  agents.onResourceMoved((uris) => {
    for (const uri of uris) void modern?.sendResourceUpdated({ uri }).catch(() => undefined);
  });
  const inner = transport.onclose;
  transport.onclose = () => {
    older?.close();
    inner?.();
    agents.close();
    markClosed();
  };
  return {
    closed,
    async close() {
      await handle.close();
      await closed;
    },
  };
}

/** The SDK serves `subscriptions/listen` itself; what a subscription follows must be followed at its upstream too. */
function followSubscriptions(transport: Transport, agents: Agents, caller: Caller): void {
  const stops = new Map<string | number, () => void>();
  const inner = transport.onmessage;
  transport.onmessage = (message) => {
    inner?.(message);
    if (!("method" in message)) return;
    const params = isJsonObject(message.params) ? message.params : {};
    if (message.method === "subscriptions/listen" && "id" in message) {
      stops.set(message.id, agents.followAll(followedUris(params), caller));
    } else if (message.method === "notifications/cancelled") {
      const id = params["requestId"] as string | number;
      stops.get(id)?.();
      stops.delete(id);
    }
  };
}

function shortWay(agents: Agents, serving: ServeOptions, server: Server, transport: Transport): ShortWay {
  return createShortWay({
    server,
    send: (message) => void transport.send(message as unknown as JSONRPCMessage).catch(() => undefined),
    answer: (params, asking) => agents.answer(serving, server, { method: "tools/call", params }, asking),
  });
}

/** Calls take the short way once the agent has said that it is ready: before, the protocol object knows what is in order. */
function takeShortWay(transport: Transport, older: () => ShortWay | undefined): void {
  const inner = transport.onmessage;
  let ready = false;
  transport.onmessage = (message, extra) => {
    if (ready && older()?.take(message) === true) return;
    if ("method" in message && message.method === "notifications/initialized") ready = true;
    inner?.(message, extra);
  };
}
