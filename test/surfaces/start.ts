/** A surface that listens on a free loopback port, and clients of both SDK lines for it. */
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import type { Policy } from "../../src/model/policy.js";
import type { Tokens } from "../../src/model/home.js";
import { createHttpApp } from "../../src/surfaces/http/app.js";
import type { HttpSurface } from "../../src/surfaces/http/app.js";
import { checkTokens } from "../../src/surfaces/http/tokens.js";
import { fakeOperations } from "./fake.js";
import type { Fake } from "./fake.js";

export const NO_TOKENS: Tokens = { format: "tokens/1", tokens: [] };

/** Tokens that do not move. */
export const fixed = (tokens: Tokens) => () => ({ tokens, needed: tokens.tokens.length > 0 });

export interface Started {
  readonly surface: HttpSurface;
  readonly operations: Fake;
  readonly url: string;
  readonly logs: { level: string; text: string; data: Record<string, unknown> | undefined }[];
  stop(boundMs?: number): Promise<void>;
}

export function makeSurface(
  options: {
    operations?: Fake;
    policy?: Partial<Policy>;
    tokens?: Tokens;
    operatorSha256?: string;
    allowedHosts?: string[];
  } = {},
): { surface: HttpSurface; operations: Fake; logs: Started["logs"] } {
  const operations = options.operations ?? fakeOperations();
  const logs: Started["logs"] = [];
  const surface = createHttpApp({
    operations,
    policy: { ...DEFAULT_POLICY, ...options.policy },
    http: { host: "127.0.0.1", port: 0, allowedHosts: options.allowedHosts ?? [], allowedOrigins: [] },
    tokens: checkTokens(fixed(options.tokens ?? NO_TOKENS), options.operatorSha256),
    log: (level, text, data) => logs.push({ level, text, data }),
    version: "0.0.0",
  });
  return { surface, operations, logs };
}

const open: Started[] = [];

export async function start(options: Parameters<typeof makeSurface>[0] = {}): Promise<Started> {
  const { surface, operations, logs } = makeSurface(options);
  const listening = await surface.listen("127.0.0.1", 0);
  const started: Started = {
    surface,
    operations,
    logs,
    url: listening.url,
    stop: (boundMs = 1_000) => listening.close(boundMs),
  };
  open.push(started);
  return started;
}

const clients: { close(): Promise<void> }[] = [];

/** Closes every client and surface that a test opened. */
export async function closeAll(): Promise<void> {
  for (const client of clients.splice(0)) await client.close().catch(() => undefined);
  for (const started of open.splice(0)) await started.stop(0);
}

export async function legacyClient(
  url: string,
  path = "/mcp",
  capabilities: Record<string, object> = {},
  headers: Record<string, string> = {},
): Promise<LegacyClient> {
  const client = new LegacyClient({ name: "legacy-test", version: "1" }, { capabilities });
  const transport = new LegacyHttp(new URL(`${url}${path}`), { requestInit: { headers } });
  await client.connect(transport as Transport);
  clients.push(client);
  return client;
}

/** A client of the maintained line: `legacy` by the handshake, `modern` without any session. */
export async function currentClient(
  url: string,
  era: "legacy" | "modern",
  path = "/mcp",
  capabilities: Record<string, object> = {},
): Promise<ModernClient> {
  const client = new ModernClient(
    { name: `${era}-test`, version: "1" },
    { capabilities, versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" } },
  );
  await client.connect(new ModernHttp(new URL(`${url}${path}`)));
  clients.push(client);
  return client;
}

/** A bare JSON-RPC POST. */
export async function post(
  url: string,
  message: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; body: string; json: () => Record<string, unknown> }> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: typeof message === "string" ? message : JSON.stringify(message),
  });
  const body = await response.text();
  return { status: response.status, headers: response.headers, body, json: () => JSON.parse(body) as Record<string, unknown> };
}

export const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bare", version: "1" } },
};

/** Opens a bare legacy session; returns the headers that later requests need. */
export async function bareSession(url: string, path = "/mcp"): Promise<Record<string, string>> {
  const opened = await post(`${url}${path}`, INITIALIZE);
  return { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-11-25" };
}

/** Calls a tool with request options; the older line has a schema between them and the params. */
export function callWith(
  client: LegacyClient | ModernClient,
  params: { name: string; arguments?: Record<string, unknown>; _meta?: Record<string, unknown> },
  options: { signal?: AbortSignal; onprogress?: (progress: unknown) => void; timeout?: number } = {},
): Promise<Record<string, unknown>> {
  const answer =
    client instanceof LegacyClient
      ? client.callTool(params, undefined, options as never)
      : client.callTool(params as never, options as never);
  return answer as unknown as Promise<Record<string, unknown>>;
}
