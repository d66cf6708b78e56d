/**
 * `/mcp` for clients of protocol 2026-07-28: no sessions, one exchange at a time, subscriptions by `subscriptions/listen`.
 *
 * Owns: which requests are of the newer revision, the way between Node's request and response and the SDK's handler.
 * Speaks: createMcpHandler; parsed bodies are handed over as they are, nothing is parsed or serialised twice.
 * Never: sessions (legacy.ts), meaning of methods (mcp/agents.ts).
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { classifyInboundRequest, createMcpHandler } from "@modelcontextprotocol/server";
import type { McpHttpHandler } from "@modelcontextprotocol/server";
import { isJsonObject } from "../../model/json.js";
import type { JsonObject } from "../../model/json.js";
import type { Caller } from "../../model/operations.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import type { Headers } from "../mcp/agent-call.js";
import { followedUris } from "../mcp/agents.js";
import type { Agents, Log } from "../mcp/agents.js";
import type { Exposure } from "../mcp/tools.js";
import { errorMessage, META, RPC } from "../mcp/translate.js";
import { agentCaller } from "./legacy.js";
import { keepAlive } from "./exchange.js";
import type { CallerBasics } from "./tokens.js";
import { sendJson, TRANSPORT_STATUS } from "./translate.js";

export interface ModernEndpoint {
  post(exposure: Exposure, req: IncomingMessage, res: ServerResponse, body: unknown, basics: CallerBasics): Promise<void>;
  close(): Promise<void>;
}

/** What one exchange brings to its server object. Travels in the SDK's authentication slot, the one that it passes on. */
interface Exchange {
  readonly caller: Caller;
  readonly method: string | undefined;
  readonly headers: Headers;
  [key: string]: unknown;
}

/** The first protocol revision without sessions; revisions are dates and compare as text. */
const FIRST_MODERN = "2026-07-28";

/**
 * Is this POST for the newer revision? The common cases are told by two lookups; a claim is then classified by the SDK's
 * own rules, so that this and its handler cannot disagree.
 */
export function isModern(req: IncomingMessage, body: unknown): boolean {
  const version = header(req, "mcp-protocol-version");
  if (!claims(body) && (version === undefined || version < FIRST_MODERN)) return false;
  const route = classifyInboundRequest({
    httpMethod: "POST",
    ...(version === undefined ? {} : { protocolVersionHeader: version }),
    body,
  });
  return route.kind !== "legacy";
}

function claims(body: unknown): boolean {
  if (Array.isArray(body)) return body.some(claims);
  const meta = isJsonObject(body) && isJsonObject(body["params"]) ? body["params"]["_meta"] : undefined;
  return isJsonObject(meta) && META.protocolVersion in meta;
}

function header(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return typeof value === "string" ? value.trim() : undefined;
}

export function createModernEndpoint(agents: Agents, log: Log): ModernEndpoint {
  const handlers: Readonly<Record<Exposure, McpHttpHandler>> = { facade: handlerOf("facade"), direct: handlerOf("direct") };

  function handlerOf(exposure: Exposure): McpHttpHandler {
    return createMcpHandler(
      (context) => {
        const exchange = context.authInfo?.extra as Exchange | undefined;
        if (exchange === undefined) throw new Error("an exchange came without its caller");
        return agents.serve({
          exposure,
          era: "modern",
          lives: "exchange",
          caller: () => exchange.caller,
          headers: () => exchange.headers,
          ...(exchange.method === undefined ? {} : { method: exchange.method }),
        });
      },
      {
        legacy: "reject",
        keepAliveMs: SURFACE_LIMITS.keepAliveMs,
        onerror: (error) => log("debug", "modern exchange", { error: error.message }),
      },
    );
  }

  agents.onListMoved((exposure, list) => {
    const { notify } = handlers[exposure];
    if (list === "tools") notify.toolsChanged();
    else if (list === "prompts") notify.promptsChanged();
    else notify.resourcesChanged();
  });
  agents.onResourceMoved((uris) => {
    for (const uri of uris) {
      handlers.facade.notify.resourceUpdated(uri);
      handlers.direct.notify.resourceUpdated(uri);
    }
  });

  return {
    async post(exposure, req, res, body, basics) {
      const caller = agentCaller(basics, undefined);
      const method = isJsonObject(body) && typeof body["method"] === "string" ? body["method"] : undefined;
      if (exposure === "direct" && method === "tools/call") {
        const wrong = agents.headerMismatch(paramsOf(body), req.headers, caller);
        if (wrong !== undefined) {
          const id = isJsonObject(body) ? (body["id"] as string | number | undefined) : undefined;
          return sendJson(res, TRANSPORT_STATUS.badRequest, errorMessage(id ?? null, RPC.headerMismatch, wrong));
        }
      }
      const gone = new AbortController();
      res.once("close", () => {
        if (!res.writableFinished) gone.abort();
      });
      if (method === "subscriptions/listen") res.once("close", agents.followAll(followedUris(paramsOf(body)), caller));
      const exchange: Exchange = { caller, method, headers: req.headers };
      const patience = createPatience(res, header(req, "accept"));
      try {
        const response = await handlers[exposure].fetch(requestHead(req, gone.signal), {
          parsedBody: body,
          authInfo: { token: "", clientId: caller.principal, scopes: [], extra: exchange },
        });
        patience.stop();
        await writeResponse(response, res, patience.streaming);
      } finally {
        patience.stop();
      }
    },
    async close() {
      await Promise.all([handlers.facade.close(), handlers.direct.close()]);
    },
  };
}

function paramsOf(body: unknown): JsonObject {
  return isJsonObject(body) && isJsonObject(body["params"]) ? body["params"] : {};
}

/**
 * Head of the request as the SDK's handler reads it. It asks for method, headers and signal and is given the body parsed;
 * a whole web Request costs more than all the rest of an exchange's way through here.
 */
function requestHead(req: IncomingMessage, signal: AbortSignal): Request {
  const headers = { get: (name: string): string | null => header(req, name.toLowerCase()) ?? null };
  return { method: "POST", url: req.url ?? "/", headers, signal } as unknown as Request;
}

const STREAM_HEAD = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
};

/**
 * A call that takes long is answered by nothing at first, and what is silent for a minute gets cut off on the way. After
 * one keep-alive interval the answer is begun as an event stream, where the client takes one.
 */
function createPatience(res: ServerResponse, accept: string | undefined) {
  const patience = { streaming: false, stop: (): void => clearInterval(timer) };
  const timer = setInterval(() => {
    if (!patience.streaming) {
      if (accept?.includes("text/event-stream") !== true || res.headersSent) return;
      patience.streaming = true;
      res.writeHead(TRANSPORT_STATUS.ok, STREAM_HEAD);
    }
    keepAlive(res);
  }, SURFACE_LIMITS.keepAliveMs);
  timer.unref();
  return patience;
}

async function writeResponse(response: Response, res: ServerResponse, streaming: boolean): Promise<void> {
  if (res.destroyed || res.writableEnded) {
    await response.body?.cancel();
    return;
  }
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith("text/event-stream")) {
    const text = response.body === null ? "" : await response.text();
    if (streaming) {
      res.end(`event: message\ndata: ${text}\n\n`);
      return;
    }
    const head: Record<string, string> = { "Content-Length": String(Buffer.byteLength(text)) };
    if (type !== "") head["Content-Type"] = type;
    const allow = response.headers.get("allow");
    if (allow !== null) head["Allow"] = allow;
    res.writeHead(response.status, head);
    res.end(text);
    return;
  }
  if (!streaming) {
    res.writeHead(response.status, STREAM_HEAD);
    res.flushHeaders();
  }
  const reader = response.body?.getReader();
  res.once("close", () => void reader?.cancel().catch(() => undefined));
  for (;;) {
    const chunk = await reader?.read();
    if (chunk === undefined || chunk.done || res.destroyed || res.writableEnded) break;
    if (!res.write(chunk.value)) await drained(res);
  }
  if (!res.writableEnded) res.end();
}

function drained(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      res.off("drain", done);
      res.off("close", done);
      resolve();
    };
    res.once("drain", done);
    res.once("close", done);
  });
}
