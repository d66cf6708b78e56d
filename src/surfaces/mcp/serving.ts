/**
 * One protocol object of the SDK: made for a session, a connection or a single exchange, never shared.
 *
 * Owns: capabilities, the way of a request into its handler, what only older sessions have.
 * Speaks: the SDK's low-level Server with a fallback handler, so that params and results pass without loss.
 * Never: transports (whoever asks for a server connects it).
 */
import { ProtocolError, Server } from "@modelcontextprotocol/server";
import type { ServerContext } from "@modelcontextprotocol/server";
import type { Fault, Refusal } from "../../model/fault.js";
import { isJsonObject } from "../../model/json.js";
import type { JsonObject } from "../../model/json.js";
import type { Caller } from "../../model/operations.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import { isSeverity } from "../../model/severity.js";
import { agentCall, anything } from "./agent-call.js";
import type { AgentCall, Asking, Era, Headers } from "./agent-call.js";
import type { Announcer } from "./announce.js";
import { INSTRUCTIONS } from "./facade-list.js";
import type { Levels } from "./levels.js";
import type { Handler, Methods } from "./methods.js";
import type { Passing } from "./passing.js";
import { plainOptions } from "./questions.js";
import type { Exposure } from "./tools.js";
import { invalidParams, protocolError, RPC, SKILLS } from "./translate.js";

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

/** What all protocol objects share. */
export interface ServingCore {
  readonly version: string;
  readonly methods: Readonly<Record<Exposure, Methods>>;
  readonly passing: Passing;
  readonly levels: Levels;
  readonly announcer: Announcer;
  /** What upstreams that this caller may use say of their own tools. */
  readonly directInstructions: (caller: Caller) => string | undefined;
  readonly blame: (error: unknown, where: string) => Fault | Refusal;
}

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
  extensions: { [SKILLS.extension]: { directoryRead: true } },
};

/** Validators of the SDK are never asked: nothing that passes is validated by it. */
const noValidator = {
  getValidator: () => {
    throw new Error("schemas are not validated here");
  },
};

export function createServer(core: ServingCore, serving: ServeOptions): Server {
  const { levels, passing, announcer } = core;
  // An exchange that is no greeting tells nothing, and gathering what upstreams say would cost each call.
  const greets = serving.lives === "connection" || serving.method === "server/discover";
  const direct = greets && serving.exposure === "direct" ? core.directInstructions(serving.caller()) : undefined;
  const instructions = serving.exposure === "facade" ? INSTRUCTIONS : direct;
  const server = new Server(
    { name: "steward", title: "STEWARD", version: core.version },
    {
      capabilities: CAPABILITIES,
      jsonSchemaValidator: noValidator,
      ...(instructions === undefined ? {} : { instructions }),
      cacheHints: { "server/discover": { ttlMs: SURFACE_LIMITS.facadeTtlMs, cacheScope: "private" } },
    },
  );
  const call = (method: string, ctx: ServerContext): AgentCall => callOf(core, serving, server, method, ctx.mcpReq);
  const methods = core.methods[serving.exposure];
  if (serving.method === undefined || methods.has(serving.method)) {
    server.fallbackRequestHandler = (request, ctx) => answer(core, methods, request, () => call(request.method, ctx)) as never;
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

function callOf(core: ServingCore, serving: ServeOptions, server: Server, method: string, asking: Asking): AgentCall {
  return agentCall(method, asking, {
    era: serving.era,
    server,
    caller: serving.caller(),
    logLevel: core.levels.of(server),
    answerMs: SURFACE_LIMITS.answerMs,
    headers: serving.headers?.(asking.id),
  });
}

/** Answers a request as the protocol object `server` would have, for those that pass it by. Rejects with ProtocolError. */
export function answerBeside(
  core: ServingCore,
  serving: ServeOptions,
  server: Server,
  request: { readonly method: string; readonly params: JsonObject },
  asking: Asking,
): Promise<JsonObject> {
  return answer(core, core.methods[serving.exposure], request, () => callOf(core, serving, server, request.method, asking));
}

async function answer(
  core: ServingCore,
  methods: Methods,
  request: { readonly method: string; readonly params?: unknown },
  call: () => AgentCall,
): Promise<JsonObject> {
  const handler = methods.get(request.method);
  if (handler === undefined) throw new ProtocolError(RPC.methodNotFound, `Method not found: ${request.method}`);
  try {
    return await handler(paramsOf(request.params), call());
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    throw protocolError(core.blame(error, request.method));
  }
}

/** What only older sessions have: a log level and followed resources, both ended with the session. */
function legacyHandlers(
  server: Server,
  call: (method: string, ctx: ServerContext) => AgentCall,
  passing: Passing,
  levels: Levels,
): void {
  const handle = (method: string, run: Handler): void => {
    server.setRequestHandler(
      method,
      { params: anything },
      async (params, ctx) => (await run(params, call(method, ctx))) as never,
    );
  };
  handle("logging/setLevel", (params) => {
    if (!isSeverity(params["level"])) throw invalidParams(`Unknown log level "${String(params["level"])}".`);
    levels.set(server, params["level"]);
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

function paramsOf(params: unknown): JsonObject {
  return isJsonObject(params as JsonObject | undefined) ? (params as JsonObject) : {};
}

function uriOf(params: JsonObject): string {
  if (typeof params["uri"] !== "string") throw invalidParams("A uri is needed.");
  return params["uri"];
}
