/**
 * `/mcp` for clients of the older protocol revisions: sessions over Streamable HTTP.
 *
 * Owns: opening, finding and ending sessions; which POST bodies are messages at all.
 * Speaks: Node requests and parsed bodies in; the session's transport takes over.
 * Never: the newer revision (modern.ts), how answers are written (session-transport.ts).
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { isJsonObject } from "../../model/json.js";
import type { Caller } from "../../model/operations.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import type { Agents } from "../mcp/agents.js";
import type { Exposure } from "../mcp/tools.js";
import { errorMessage, RPC } from "../mcp/translate.js";
import { createSessionTransport } from "./session-transport.js";
import type { Session, Sessions } from "./sessions.js";
import { LOCAL_PRINCIPAL } from "./tokens.js";
import type { CallerBasics } from "./tokens.js";
import { sendJson, TRANSPORT_STATUS } from "./translate.js";

export interface LegacyEndpoint {
  post(exposure: Exposure, req: IncomingMessage, res: ServerResponse, body: unknown, basics: CallerBasics): Promise<void>;
  /** The session's own stream. */
  get(exposure: Exposure, req: IncomingMessage, res: ServerResponse, basics: CallerBasics): void;
  delete(exposure: Exposure, req: IncomingMessage, res: ServerResponse, basics: CallerBasics): Promise<void>;
}

/** An agent's caller: whatever else its token may do, by MCP it is an agent. */
export function agentCaller(basics: CallerBasics, session: string | undefined): Caller {
  return {
    principal: basics.principal === LOCAL_PRINCIPAL ? "mcp" : basics.principal,
    rights: new Set(["agent"]),
    upstreams: basics.upstreams,
    session,
  };
}

export function createLegacyEndpoint(agents: Agents, sessions: Sessions, now: () => number): LegacyEndpoint {
  async function openSession(exposure: Exposure, req: IncomingMessage, basics: CallerBasics): Promise<Session> {
    sessions.admit(req.socket.remoteAddress ?? "");
    const id = randomUUID();
    const transport = createSessionTransport(id);
    const opener = agentCaller(basics, id);
    let session = undefined as Session | undefined;
    const server = agents.serve({
      exposure,
      era: "legacy",
      lives: "connection",
      caller: () => session?.caller ?? opener,
      headers: (message) => transport.headersOf(message),
    });
    session = { id, exposure, server, transport, caller: opener, usedAtMs: now() };
    await server.connect(transport);
    sessions.add(session);
    return session;
  }

  const find = (exposure: Exposure, req: IncomingMessage, res: ServerResponse, basics: CallerBasics): Session | undefined =>
    findSession(sessions, exposure, req, res, basics);

  return {
    async post(exposure, req, res, body, basics) {
      const read = readMessages(body);
      if (typeof read === "string") {
        refuse(res, TRANSPORT_STATUS.badRequest, RPC.invalidRequest, read, idOf(body));
        return;
      }
      const opens = read.messages.some((message) => "method" in message && "id" in message && message.method === "initialize");
      if (opens && read.messages.length > 1) {
        refuse(res, TRANSPORT_STATUS.badRequest, RPC.invalidRequest, "initialize comes alone.");
        return;
      }
      const session = opens ? await openSession(exposure, req, basics) : find(exposure, req, res, basics);
      if (session === undefined) return;
      const { transport } = session;
      for (const id of read.requests) {
        if (!transport.isWaiting(id)) continue;
        refuse(res, TRANSPORT_STATUS.badRequest, RPC.invalidRequest, "A request with this id is still in flight.", id);
        return;
      }
      transport.post({ req, res, ...read });
    },
    get(exposure, req, res, basics) {
      const last = req.headers["last-event-id"];
      find(exposure, req, res, basics)?.transport.stream(res, typeof last === "string" ? last : undefined);
    },
    async delete(exposure, req, res, basics) {
      const session = find(exposure, req, res, basics);
      if (session === undefined) return;
      await sessions.remove(session);
      res.statusCode = TRANSPORT_STATUS.ok;
      res.end();
    },
  };
}

/** The session that a request names, or undefined after an error was answered. */
function findSession(
  sessions: Sessions,
  exposure: Exposure,
  req: IncomingMessage,
  res: ServerResponse,
  basics: CallerBasics,
): Session | undefined {
  const id = req.headers["mcp-session-id"];
  if (typeof id !== "string" || id === "") {
    refuse(res, TRANSPORT_STATUS.badRequest, RPC.transport, "An Mcp-Session-Id header is needed; begin with initialize.");
    return undefined;
  }
  const caller = agentCaller(basics, id);
  const session = sessions.use(id);
  // Somebody else's session looks exactly like none. Clients answer 404 by opening a new one.
  if (session === undefined || session.exposure !== exposure || session.caller.principal !== caller.principal) {
    refuse(res, TRANSPORT_STATUS.notFound, RPC.sessionUnknown, "Session not found. Initialize again.");
    return undefined;
  }
  const version = req.headers["mcp-protocol-version"];
  if (typeof version === "string" && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
    const known = SUPPORTED_PROTOCOL_VERSIONS.join(", ");
    refuse(res, TRANSPORT_STATUS.badRequest, RPC.transport, `Unsupported MCP-Protocol-Version; supported are ${known}.`);
    return undefined;
  }
  session.caller = caller;
  return session;
}

function refuse(res: ServerResponse, status: number, code: number, message: string, id: string | number | null = null): void {
  sendJson(res, status, errorMessage(id, code, message));
}

interface Messages {
  readonly messages: readonly JSONRPCMessage[];
  readonly requests: readonly (string | number)[];
  readonly batch: boolean;
}

/** The messages of a body, as they are: checked, never rebuilt. A text says what is wrong. */
function readMessages(body: unknown): Messages | string {
  const batch = Array.isArray(body);
  const given: readonly unknown[] = batch ? body : [body];
  if (given.length === 0) return "The batch is empty.";
  if (given.length > SURFACE_LIMITS.batchMessages) return `A batch has at most ${SURFACE_LIMITS.batchMessages} messages.`;
  const requests: (string | number)[] = [];
  for (const message of given) {
    if (isJSONRPCRequest(message)) requests.push(message.id);
    else if (!isJSONRPCNotification(message) && !isJSONRPCResponse(message)) return "This is not a JSON-RPC 2.0 message.";
  }
  if (new Set(requests).size !== requests.length) return "Two requests of the batch have the same id.";
  return { messages: given as readonly JSONRPCMessage[], requests, batch };
}

function idOf(body: unknown): string | number | null {
  const id = isJsonObject(body) ? body["id"] : null;
  return typeof id === "string" || typeof id === "number" ? id : null;
}
