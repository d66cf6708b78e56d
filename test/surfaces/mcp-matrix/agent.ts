/**
 * An agent of either protocol era, as a real client of the SDK line that speaks it.
 *
 * What it answers is what came over the wire: the SDKs' clients drop, refuse and repair on their side, and what they make of an
 * answer says nothing about the proxy.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../../src/model/json.js";
import { anything } from "../../../src/surfaces/mcp/agent-call.js";

export type Era = "legacy" | "modern";

/** The proxy's JSON-RPC error. */
export class Refused extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data: unknown,
    readonly status: number,
  ) {
    super(`${code}: ${message}`);
  }
}

export interface AskOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: () => void;
}

export interface Agent {
  readonly era: Era;
  readonly capabilities: JsonObject;
  readonly instructions: string;
  /** Notifications and requests that came, as they came. */
  readonly heard: JsonObject[];
  /** Methods of the questions that were put to this agent. */
  readonly asked: string[];
  /** The result as it came. Throws Refused, or whatever the client throws where nothing came. */
  ask(method: string, params?: JsonObject, options?: AskOptions): Promise<JsonObject>;
  /** A request of the newer revision past the client, which refuses to send some. */
  bare(method: string): Promise<JsonObject>;
  /** Follows a resource in the way of this era; the answer ends it. */
  follow(uri: string): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** What the agent answers to questions, by method. */
export const ANSWERS: Readonly<Record<string, JsonObject>> = {
  "elicitation/create": { action: "accept", content: { name: "Ada" } },
  "sampling/createMessage": { role: "assistant", model: "m", content: { type: "text", text: "Paris" } },
  "roots/list": { roots: [{ uri: "file:///work", name: "work" }] },
};

const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

interface Tap {
  readonly fetch: typeof fetch;
  readonly heard: JsonObject[];
  /** Runs one request; `answer` then resolves with what came for it, with the HTTP status. */
  run<T>(work: () => Promise<T>): {
    done: Promise<T>;
    answer: () => Promise<{ message: JsonObject; status: number } | undefined>;
  };
}

/** Reads along on everything that comes. */
function createTap(): Tap {
  const heard: JsonObject[] = [];
  type Exchange = Promise<{ message: JsonObject; status: number } | undefined>;
  const running = new AsyncLocalStorage<{ last: Exchange | undefined }>();

  async function readAlong(response: Response, id: unknown): Exchange {
    let answer: { message: JsonObject; status: number } | undefined;
    for await (const message of messagesOf(response)) {
      if (message["method"] === undefined && message["id"] === id) answer = { message, status: response.status };
      else heard.push(message);
    }
    return answer;
  }
  return {
    heard,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      const sent: unknown = typeof init?.body === "string" ? JSON.parse(init.body) : undefined;
      const id = isJsonObject(sent) && sent["method"] !== undefined ? sent["id"] : undefined;
      if (response.body === null) return response;
      const [mine, theirs] = response.body.tee();
      const along = readAlong(new Response(mine, response), id);
      along.catch(() => undefined);
      const exchange = running.getStore();
      if (exchange !== undefined && id !== undefined) exchange.last = along;
      return new Response(theirs, response);
    },
    run(work) {
      const exchange: { last: Exchange | undefined } = { last: undefined };
      return { done: running.run(exchange, work), answer: async () => exchange.last };
    },
  };
}

/** JSON-RPC messages of a response, from JSON or from an event stream. */
async function* messagesOf(response: Response): AsyncGenerator<JsonObject> {
  if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true) {
    const text = await response.text();
    const message: unknown = text === "" ? undefined : JSON.parse(text);
    if (isJsonObject(message)) yield message;
    return;
  }
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    rest += decoder.decode(chunk, { stream: true });
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const data = /^data: ?(.+)$/m.exec(rest.slice(0, end))?.[1];
      rest = rest.slice(end + 2);
      if (data !== undefined) yield JSON.parse(data) as JsonObject;
    }
  }
}

export async function connectAgent(era: Era, url: string): Promise<Agent> {
  const tap = createTap();
  const asked: string[] = [];
  const answer = (method: string): never => {
    asked.push(method);
    return ANSWERS[method] as never;
  };
  const client = era === "legacy" ? await connectLegacy(url, tap, answer) : await connectModern(url, tap, answer);
  const send = (method: string, params: JsonObject, options: AskOptions): Promise<unknown> =>
    client instanceof LegacyClient
      ? client.request({ method, params }, z.any(), options)
      : client.request({ method, params }, anything, options);
  return {
    era,
    capabilities: client.getServerCapabilities() as JsonObject,
    instructions: client.getInstructions() ?? "",
    heard: tap.heard,
    asked,
    async ask(method, params = {}, options = {}) {
      const { done, answer: came } = tap.run(() => send(method, params, options));
      const failure = await done.then(
        () => undefined,
        (error: unknown) => error,
      );
      if (options.signal?.aborted === true) throw failure;
      const wire = await came();
      if (wire === undefined) throw failure ?? new Error(`nothing came for ${method}`);
      const { result, error } = wire.message;
      if (isJsonObject(error)) throw new Refused(Number(error["code"]), String(error["message"]), error["data"], wire.status);
      return result as JsonObject;
    },
    bare: (method) => askBare(url, method),
    async follow(uri) {
      if (client instanceof LegacyClient) {
        await client.subscribeResource({ uri });
        return async () => void (await client.unsubscribeResource({ uri }));
      }
      const subscription = await client.listen({ resourceSubscriptions: [uri] });
      return () => subscription.close();
    },
    close: () => client.close(),
  };
}

async function askBare(url: string, method: string): Promise<JsonObject> {
  const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { _meta: meta } }),
  });
  const { result, error } = (await response.json()) as JsonObject;
  if (!isJsonObject(error)) return result as JsonObject;
  throw new Refused(Number(error["code"]), String(error["message"]), error["data"], response.status);
}

async function connectLegacy(url: string, tap: Tap, answer: (method: string) => never): Promise<LegacyClient> {
  const client = new LegacyClient({ name: "matrix-legacy", version: "1" }, { capabilities: CAPABILITIES });
  client.setRequestHandler(ElicitRequestSchema, async () => answer("elicitation/create"));
  client.setRequestHandler(CreateMessageRequestSchema, async () => answer("sampling/createMessage"));
  client.setRequestHandler(ListRootsRequestSchema, async () => answer("roots/list"));
  await client.connect(new LegacyHttp(new URL(url), { fetch: tap.fetch }) as Transport);
  return client;
}

async function connectModern(url: string, tap: Tap, answer: (method: string) => never): Promise<ModernClient> {
  const client = new ModernClient(
    { name: "matrix-modern", version: "1" },
    { capabilities: CAPABILITIES, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  for (const method of Object.keys(ANSWERS)) client.setRequestHandler(method as "elicitation/create", async () => answer(method));
  await client.connect(new ModernHttp(new URL(url), { fetch: tap.fetch }));
  await client.listen({ toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true });
  return client;
}
