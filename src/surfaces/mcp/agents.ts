/**
 * The MCP surface: one protocol object for each session, connection or exchange, over one shared core.
 *
 * Owns: the table of methods, the server objects and their capabilities.
 * Speaks: Operations on one side, the SDK's low-level Server on the other.
 * Never: HTTP or stdio (transports connect the servers that this makes), wire spellings (translate.ts).
 */
import { randomBytes } from "node:crypto";
import { ProtocolError, Server } from "@modelcontextprotocol/server";
import type { JSONRPCRequest, ServerContext } from "@modelcontextprotocol/server";
import type { Fault, Refusal } from "../../model/fault.js";
import { isJsonObject } from "../../model/json.js";
import type { JsonObject } from "../../model/json.js";
import type { Caller, Operations } from "../../model/operations.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import { agentCall, anything, isLogLevel, lowerLevel } from "./agent-call.js";
import type { AgentCall, Era, Headers } from "./agent-call.js";
import { createAnnouncer } from "./announce.js";
import type { ListName } from "./announce.js";
import { createFacadeList, INSTRUCTIONS } from "./facade-list.js";
import { createPassing } from "./passing.js";
import type { Passing } from "./passing.js";
import { createQuestions, plainOptions } from "./questions.js";
import { createDirectCalls, createFacadeCalls } from "./tools.js";
import type { Exposure, Outcome, ToolCalls } from "./tools.js";
import { blameOf, invalidParams, protocolError, RPC } from "./translate.js";

export type Log = (level: "debug" | "info" | "warn" | "error", text: string, data?: Record<string, unknown>) => void;

export interface AgentsOptions {
  readonly operations: Operations;
  readonly version: string;
  readonly log: Log;
  readonly count?: (exposure: Exposure, operation: string, outcome: Outcome, seconds: number) => void;
}

export interface ServeOptions {
  readonly exposure: Exposure;
  readonly era: Era;
  /** Asked again for each request: a session's caller may have been narrowed meanwhile. */
  readonly caller: () => Caller;
  /** Headers of the HTTP request that carried a message, by its id. */
  readonly headers?: (id: string | number) => Headers | undefined;
  /** An object that lives for a connection is told of moves; one that lives for an exchange is not. */
  readonly lives: "connection" | "exchange";
  /** The one method this object will serve, where that is known: others are then left to the SDK's own refusal. */
  readonly method?: string;
}

export interface Agents {
  /** A fresh protocol object, not connected yet. Never shared between connections. */
  serve(options: ServeOptions): Server;
  /** Tells of lists that moved, once per move; the facade's tools only when its list really did. */
  onListMoved(listener: (exposure: Exposure, list: ListName) => void): () => void;
  /** Tells of a followed resource that changed, under each URI it may be followed by. */
  onResourceMoved(listener: (uris: readonly string[]) => void): () => void;
  /** Follows the resources of a modern subscription; the returned function ends it. */
  followAll(uris: readonly string[], caller: Caller): () => void;
  readonly heldCalls: number;
  close(): void;
}

type Handler = (params: JsonObject, call: AgentCall) => Promise<JsonObject> | JsonObject;

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
};

/** Validators of the SDK are never asked: nothing that passes is validated by it. */
const noValidator = {
  getValidator: () => {
    throw new Error("schemas are not validated here");
  },
};

export function createAgents(options: AgentsOptions): Agents {
  const { operations, log } = options;
  const questions = createQuestions({ answerMs: SURFACE_LIMITS.answerMs, heldMax: SURFACE_LIMITS.heldCallsMax });
  const passing = createPassing(operations, questions);
  const facadeList = createFacadeList(() => operations.facadeFacts());
  const levels = createLevels(operations, passing);

  const blame = (error: unknown, where: string): Fault | Refusal =>
    blameOf(error, () => {
      const incident = randomBytes(6).toString("hex");
      log("error", `bug in ${where}`, {
        incident,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
      return incident;
    });
  const partsOf = (exposure: Exposure) => ({
    operations,
    questions,
    blame,
    count: (operation: string, outcome: Outcome, seconds: number) => options.count?.(exposure, operation, outcome, seconds),
    elapsedMs: () => performance.now(),
  });
  const tools: Readonly<Record<Exposure, ToolCalls>> = {
    facade: createFacadeCalls(partsOf("facade"), facadeList),
    direct: createDirectCalls(partsOf("direct")),
  };
  const handlers: Readonly<Record<Exposure, ReadonlyMap<string, Handler>>> = {
    facade: methods(tools.facade, passing, SURFACE_LIMITS.facadeTtlMs),
    direct: methods(tools.direct, passing, SURFACE_LIMITS.listTtlMs),
  };
  const announcer = createAnnouncer(operations, () => facadeList().tools, passing);

  function serve(serving: ServeOptions): Server {
    const server = new Server(
      { name: "steward", title: "STEWARD", version: options.version },
      {
        capabilities: CAPABILITIES,
        jsonSchemaValidator: noValidator,
        ...(serving.exposure === "facade" ? { instructions: INSTRUCTIONS } : {}),
        cacheHints: { "server/discover": { ttlMs: SURFACE_LIMITS.facadeTtlMs, cacheScope: "private" } },
      },
    );
    const table = handlers[serving.exposure];
    const call = (request: JSONRPCRequest, ctx: ServerContext): AgentCall =>
      agentCall(request, ctx, {
        era: serving.era,
        server,
        caller: serving.caller(),
        logLevel: levels.of(server),
        answerMs: SURFACE_LIMITS.answerMs,
        headers: serving.headers?.(ctx.mcpReq.id),
      });
    if (serving.method === undefined || table.has(serving.method)) {
      server.fallbackRequestHandler = async (request, ctx) => {
        const handler = table.get(request.method);
        if (handler === undefined) throw new ProtocolError(RPC.methodNotFound, `Method not found: ${request.method}`);
        try {
          return (await handler(isJsonObject(request.params) ? request.params : {}, call(request, ctx))) as never;
        } catch (error) {
          if (error instanceof ProtocolError) throw error;
          throw protocolError(blame(error, request.method));
        }
      };
    }
    if (serving.era === "legacy") legacyHandlers(server, call, passing, levels);
    if (serving.lives === "connection") {
      announcer.join(server, serving.exposure);
      server.onclose = () => {
        announcer.leave(server);
        levels.drop(server);
        passing.unfollowAll(server);
      };
    }
    return server;
  }

  return {
    serve,
    onListMoved: announcer.onList,
    onResourceMoved: announcer.onResource,
    followAll(uris, caller) {
      const follower = {};
      const stop = new AbortController();
      for (const uri of uris) passing.follow(uri, follower, caller, { signal: stop.signal }).catch(() => undefined);
      return () => {
        stop.abort();
        passing.unfollowAll(follower);
      };
    },
    get heldCalls() {
      return questions.held;
    },
    close() {
      announcer.close();
      questions.close();
    },
  };
}

/** The methods of both eras. What is not here does not exist. */
function methods(tools: ToolCalls, passing: Passing, toolsTtlMs: number): ReadonlyMap<string, Handler> {
  const ttlMs = SURFACE_LIMITS.listTtlMs;
  return new Map<string, Handler>([
    ["tools/list", (_params, call) => kept(call, toolsTtlMs, tools.list(call) as unknown as JsonObject)],
    ["tools/call", (params, call) => tools.call(params, call)],
    ["resources/list", async (_params, call) => kept(call, ttlMs, await passing.listResources(call))],
    ["resources/templates/list", async (_params, call) => kept(call, ttlMs, await passing.listTemplates(call))],
    ["resources/read", (params, call) => passing.readResource(params, call)],
    ["prompts/list", async (_params, call) => kept(call, ttlMs, await passing.listPrompts(call))],
    ["prompts/get", (params, call) => passing.getPrompt(params, call)],
    ["completion/complete", (params, call) => passing.complete(params, call)],
  ]);
}

/** How long a modern client may keep a list. What a token may see is its own: never shared. */
function kept(call: AgentCall, ttlMs: number, list: JsonObject): JsonObject {
  return call.era === "modern" ? { ...list, ttlMs, cacheScope: "private" } : list;
}

/** What only older sessions have: a log level and followed resources, both ended with the session. */
function legacyHandlers(
  server: Server,
  call: (request: JSONRPCRequest, ctx: ServerContext) => AgentCall,
  passing: Passing,
  levels: Levels,
): void {
  const handle = (method: string, run: Handler): void => {
    server.setRequestHandler(
      method,
      { params: anything },
      async (params, ctx) => (await run(params, call({ jsonrpc: "2.0", id: ctx.mcpReq.id, method }, ctx))) as never,
    );
  };
  handle("logging/setLevel", (params, of) => {
    if (!isLogLevel(params["level"])) throw invalidParams(`Unknown log level "${String(params["level"])}".`);
    levels.set(server, params["level"], of);
    return {};
  });
  handle("resources/subscribe", async (params, of) => {
    await passing.follow(uriOf(params), server, of.caller, plainOptions(of));
    return {};
  });
  handle("resources/unsubscribe", (params) => {
    passing.unfollow(uriOf(params), server);
    return {};
  });
}

function uriOf(params: JsonObject): string {
  if (typeof params["uri"] !== "string") throw invalidParams("A uri is needed.");
  return params["uri"];
}

interface Levels {
  of(server: Server): string | undefined;
  set(server: Server, level: string, call: AgentCall): void;
  drop(server: Server): void;
}

/** Upstreams are told the most talkative level that any session wants; each session then gets its own share. */
function createLevels(operations: Operations, passing: Passing): Levels {
  const wanted = new Map<Server, string>();
  let told: string | undefined;
  return {
    of: (server) => wanted.get(server),
    set(server, level, call) {
      wanted.set(server, level);
      const lowest = [...wanted.values()].reduce(lowerLevel);
      if (lowest === told) return;
      told = lowest;
      for (const status of passing.gatherer.having("logging", call.caller)) {
        if (status.presence.state !== "up") continue;
        const options = { signal: new AbortController().signal };
        operations.passThrough(status.label, "logging/setLevel", { level: lowest }, call.caller, options).catch(() => undefined);
      }
    },
    drop: (server) => void wanted.delete(server),
  };
}

/** Resources that the params of a `subscriptions/listen` ask to follow. */
export function followedUris(params: JsonObject): readonly string[] {
  const filter = isJsonObject(params["notifications"]) ? params["notifications"]["resourceSubscriptions"] : undefined;
  return Array.isArray(filter) ? filter.filter((uri): uri is string => typeof uri === "string") : [];
}
