import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach } from "vitest";
import { isJsonObject } from "../../src/model/json.js";
import type { JsonObject, JsonValue } from "../../src/model/json.js";

/** Raw HTTP servers in this process: no SDK, so that they can be odd. */
export interface HttpFixture {
  readonly url: string;
  readonly port: number;
  /** Headers of each POST, in order. */
  readonly posts: { readonly method: string; readonly headers: IncomingHttpHeaders; readonly body: JsonObject }[];
  count(method: string): number;
  close(): Promise<void>;
}

const running: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.close()));
});

export async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  port = 0,
): Promise<{ url: string; port: number; close(): Promise<void> }> {
  const server: Server = createServer(handle);
  await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  const used = (server.address() as AddressInfo).port;
  const close = (): Promise<void> =>
    new Promise((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  const made = { url: `http://127.0.0.1:${used}/mcp`, port: used, close };
  running.push(made);
  return made;
}

export async function readBody(request: IncomingMessage): Promise<JsonObject> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString() || "{}");
  return isJsonObject(body) ? body : {};
}

export function json(response: ServerResponse, status: number, body: JsonValue, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}
const event = (message: JsonObject, id?: string): string =>
  `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;

export interface LegacyHttp extends HttpFixture {
  /** All sessions are unknown from now on, as after a restart. */
  forget(): void;
  /** Cuts the idle streams, as load balancers do. */
  dropStreams(): void;
  announce(method: string, params?: JsonObject): void;
  /** Answers a request on the idle streams. */
  answer(id: number, result: JsonObject): void;
  streams(): number;
  tools: string[];
  readonly deleted: string[];
}

/** A sessionful Streamable HTTP server of the legacy era. */
export async function legacyHttp(
  options: {
    deadStatus?: number;
    stream?: boolean;
    events?: boolean;
    port?: number;
    refuse?: (method: string, headers: IncomingHttpHeaders) => number | undefined;
  } = {},
): Promise<LegacyHttp> {
  const sessions = new Set<string>();
  const streams = new Set<ServerResponse>();
  const posts: HttpFixture["posts"] = [];
  const deleted: string[] = [];
  const waiting = new Map<string, (answer: JsonObject) => void>();
  const tools = ["echo", "ask", "drop", "sleep", "headers", "progress", "unfinished", "huge"];

  async function onPost(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const method = typeof body["method"] === "string" ? body["method"] : "answer";
    const status = options.refuse?.(method, request.headers);
    if (status !== undefined) return void response.writeHead(status).end(status < 300 ? "" : "refused");
    posts.push({ method, headers: request.headers, body });
    const session = request.headers["mcp-session-id"];
    if (method === "initialize") {
      const id = randomUUID();
      sessions.add(id);
      const result = {
        protocolVersion: "2025-11-25",
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "legacy-http", version: "1" },
      };
      return json(response, 200, { jsonrpc: "2.0", id: body["id"] ?? null, result }, { "mcp-session-id": id });
    }
    if (typeof session !== "string" || !sessions.has(session)) {
      return json(response, options.deadStatus ?? 404, {
        jsonrpc: "2.0",
        id: null,
        error: { code: -32000, message: "Bad Request: No valid session ID provided" },
      });
    }
    if (method === "answer") waiting.get(String(body["id"]))?.(body);
    if (body["id"] === undefined || method === "answer") return void response.writeHead(202).end();
    if (method === "tools/list")
      return json(response, 200, {
        jsonrpc: "2.0",
        id: body["id"],
        result: { tools: tools.map((name) => ({ name, inputSchema: { type: "object" } })) },
      });
    if (method === "ping") return json(response, 200, { jsonrpc: "2.0", id: body["id"], result: {} });
    return onCall(body["id"], body["params"] as JsonObject, request, response);
  }

  async function onCall(id: JsonValue, params: JsonObject, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const args = params["arguments"] as JsonObject;
    const text = (value: string): JsonObject => ({ id, result: { content: [{ type: "text", text: value }] } });
    const stream = (): void => void response.writeHead(200, { "content-type": "text/event-stream" });
    switch (String(params["name"])) {
      case "headers":
        return json(response, 200, {
          jsonrpc: "2.0",
          id,
          result: { content: [], structuredContent: request.headers as JsonObject },
        });
      case "drop":
        if (args["afterHeaders"] === true) stream();
        if (args["afterHeaders"] === true) response.write(": hello\n\n");
        await sleep(20);
        return void response.socket?.destroy();
      case "unfinished":
        stream();
        return void response.end();
      case "huge":
        response.writeHead(200, { "content-type": "application/json", "content-length": String(80 * 1024 * 1024) });
        return void response.write("{");
      case "sleep":
        await sleep(Number(args["ms"]));
        break;
      case "progress":
        stream();
        for (let step = 1; step <= 3; step += 1) {
          response.write(
            event({
              method: "notifications/progress",
              params: { progressToken: (params["_meta"] as JsonObject)["progressToken"] ?? null, progress: step },
            }),
          );
        }
        return void response.end(event(text("done")));
      case "ask": {
        stream();
        const asked = `ask-${randomUUID()}`;
        const answer = new Promise<JsonObject>((done) => waiting.set(asked, done));
        response.write(event({ id: asked, method: "elicitation/create", params: { message: args["message"] ?? "" } }));
        return void response.end(
          event({
            id,
            result: { content: [], structuredContent: { answer: (await answer)["result"] ?? (await answer)["error"] ?? null } },
          }),
        );
      }
    }
    if (options.events !== true) return json(response, 200, { jsonrpc: "2.0", ...text(String(args["text"] ?? "")) });
    stream();
    response.end(event(text(String(args["text"] ?? ""))));
  }

  const served = await listen((request, response) => {
    if (request.method === "POST") return void onPost(request, response);
    const session = String(request.headers["mcp-session-id"]);
    if (request.method === "DELETE") {
      deleted.push(session);
      sessions.delete(session);
      return void response.writeHead(200).end();
    }
    if (options.stream !== true) return void response.writeHead(405).end();
    if (!sessions.has(session)) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/event-stream" }).write("retry: 50\n\n");
    streams.add(response);
    response.on("close", () => streams.delete(response));
  }, options.port);
  return {
    ...served,
    posts,
    deleted,
    tools,
    count: (method) => posts.filter((post) => post.method === method).length,
    forget: () => sessions.clear(),
    dropStreams: () => {
      streams.forEach((one) => one.destroy());
      streams.clear();
    },
    answer: (id, result) => streams.forEach((one) => one.write(event({ id, result }))),
    announce: (method, params = {}) => streams.forEach((one) => one.write(event({ method, params }))),
    streams: () => streams.size,
  };
}

/** A server of the modern era, raw: checks headers against bodies as the revision demands. */
export async function modernHttp(
  options: { marked?: boolean; refuse?: (method: string) => number | undefined } = {},
): Promise<HttpFixture & { cut: number; header: string; grow(): void }> {
  const posts: HttpFixture["posts"] = [];
  const listening = new Map<JsonValue, ServerResponse>();
  const state = { cut: 0, header: "Region", tools: 1 };
  const reply = (response: ServerResponse, id: JsonValue, result: JsonObject): void =>
    json(response, 200, { jsonrpc: "2.0", id, result: { resultType: "complete", ...result } });
  const refuse = (response: ServerResponse, id: JsonValue, status: number, code: number, message: string): void =>
    json(response, status, { jsonrpc: "2.0", id, error: { code, message } });

  const served = await listen((request, response) => void onPost(request, response));
  async function onPost(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const body = await readBody(request);
    const method = String(body["method"]);
    const id = body["id"] ?? null;
    const params = (body["params"] ?? {}) as JsonObject;
    const meta = (params["_meta"] ?? {}) as JsonObject;
    posts.push({ method, headers: request.headers, body });
    if (method === "initialize") return refuse(response, id, 400, -32022, "Unsupported protocol version");
    const status = options.refuse?.(method);
    if (status !== undefined) return void response.writeHead(status).end();
    if (
      request.headers["mcp-method"] !== method ||
      request.headers["mcp-protocol-version"] !== meta["io.modelcontextprotocol/protocolVersion"]
    ) {
      return refuse(response, id, 400, -32020, "Header mismatch");
    }
    switch (method) {
      case "server/discover":
        return reply(response, id, {
          supportedVersions: ["2026-07-28"],
          capabilities: { tools: { listChanged: true } },
          _meta: { "io.modelcontextprotocol/serverInfo": { name: "modern-http", version: "1" } },
        });
      case "tools/list": {
        const properties: JsonObject = {
          region: { type: "string", ...(options.marked === true ? { "x-mcp-header": state.header } : {}) },
        };
        const bad = {
          name: "badly-marked",
          inputSchema: {
            type: "object",
            properties: { list: { type: "array", items: { type: "string", "x-mcp-header": "X" } } },
          },
        };
        const more = Array.from({ length: state.tools - 1 }, (_, at) => ({
          name: `extra-${at}`,
          inputSchema: { type: "object" },
        }));
        return reply(response, id, {
          tools: [
            { name: "where", inputSchema: { type: "object", properties } },
            { name: "sleep", inputSchema: { type: "object" } },
            ...more,
            ...(options.marked === true ? [bad] : []),
          ],
        });
      }
      case "subscriptions/listen":
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(
          event({
            method: "notifications/subscriptions/acknowledged",
            params: { notifications: params["notifications"] ?? {}, _meta: { "io.modelcontextprotocol/subscriptionId": id } },
          }),
        );
        listening.set(id, response);
        return void response.on("close", () => listening.delete(id));
      case "tools/call": {
        if (params["name"] === "sleep") {
          response.writeHead(200, { "content-type": "text/event-stream" }).write(": working\n\n");
          return void response.on("close", () => (state.cut += 1));
        }
        const args = params["arguments"] as JsonObject;
        if (options.marked === true && request.headers[`mcp-param-${state.header.toLowerCase()}`] !== args["region"]) {
          return refuse(response, id, 400, -32020, "Header mismatch: Mcp-Param");
        }
        return reply(response, id, { content: [], structuredContent: { headers: request.headers as JsonObject, meta } });
      }
      default:
        return refuse(response, id, 404, -32601, "Method not found");
    }
  }
  return Object.assign(state, {
    ...served,
    posts,
    count: (method: string) => posts.filter((post) => post.method === method).length,
    grow: () => {
      state.tools += 1;
      for (const [id, response] of listening)
        response.write(
          event({
            method: "notifications/tools/list_changed",
            params: { _meta: { "io.modelcontextprotocol/subscriptionId": id } },
          }),
        );
    },
  });
}

/** The old transport: one event stream for all answers, POSTs to the address it announces. */
export async function sseServer(): Promise<HttpFixture & { dropStreams(): void }> {
  const posts: HttpFixture["posts"] = [];
  const streams = new Map<string, ServerResponse>();
  const served = await listen((request, response) => void handle(request, response));
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", "http://x");
    if (request.method === "GET" && path.pathname === "/mcp") {
      const id = randomUUID();
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`event: endpoint\ndata: /messages?session=${id}\n\n`);
      streams.set(id, response);
      return void response.on("close", () => streams.delete(id));
    }
    const stream = streams.get(path.searchParams.get("session") ?? "");
    if (request.method !== "POST" || path.pathname !== "/messages") return void response.writeHead(405).end();
    if (stream === undefined) return void response.writeHead(404).end();
    const body = await readBody(request);
    posts.push({ method: String(body["method"]), headers: request.headers, body });
    response.writeHead(202).end();
    const params = (body["params"] ?? {}) as JsonObject;
    const id = body["id"];
    if (id === undefined) return;
    const answers: Record<string, JsonObject> = {
      initialize: { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo: { name: "sse", version: "1" } },
      "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
      "tools/call": { content: [{ type: "text", text: String((params["arguments"] as JsonObject | undefined)?.["text"]) }] },
    };
    stream.write(
      `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result: answers[String(body["method"])] ?? {} })}\n\n`,
    );
  }
  return {
    ...served,
    posts,
    count: (method) => posts.filter((post) => post.method === method).length,
    dropStreams: () => streams.forEach((one) => one.destroy()),
  };
}
