/**
 * The wire towards upstreams: the only place here where JSON-RPC and MCP spellings stand.
 *
 * Owns: message shapes, method and metadata names, error codes, protocol versions, capability declarations.
 * Speaks: JSON-RPC 2.0; MCP up to 2025-11-25 (legacy) and 2026-07-28 (modern).
 * Never: sockets, processes, timers; never looks into results except for the fields named here.
 */
import { isDeeperThan, isJsonObject, JSON_LEVELS } from "../model/json.js";
import type { UpstreamAnnouncement } from "../model/operations.js";
import type { JsonObject, JsonValue } from "../model/json.js";
import { Refusal } from "../model/fault.js";
import type { Era, Greeting } from "./session.js";

export const JSONRPC = "2.0";
export const LEGACY_VERSION = "2025-11-25";
export const MODERN_VERSION = "2026-07-28";

const META_VERSION = "io.modelcontextprotocol/protocolVersion";
const META_CLIENT = "io.modelcontextprotocol/clientInfo";
const META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const META_LOG_LEVEL = "io.modelcontextprotocol/logLevel";
const META_SERVER = "io.modelcontextprotocol/serverInfo";
const META_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

export const METHOD = Object.freeze({
  initialize: "initialize",
  initialized: "notifications/initialized",
  discover: "server/discover",
  ping: "ping",
  listTools: "tools/list",
  callTool: "tools/call",
  listen: "subscriptions/listen",
  subscribe: "resources/subscribe",
  unsubscribe: "resources/unsubscribe",
  roots: "roots/list",
  setLevel: "logging/setLevel",
  progress: "notifications/progress",
  cancelled: "notifications/cancelled",
  acknowledged: "notifications/subscriptions/acknowledged",
  log: "notifications/message",
});

export const CODE = Object.freeze({
  invalidRequest: -32600,
  methodNotFound: -32601,
  internal: -32603,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
});

/** Methods that only read: an answer lost on the way may be asked for again. */
const READING = new Set([
  "ping",
  "server/discover",
  "tools/list",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "resources/directory/read",
  "skills/list",
  "skills/get",
  "completion/complete",
]);
export function onlyReads(method: string): boolean {
  return READING.has(method);
}

/** Who STEWARD is towards upstreams. */
export interface ClientIdentity {
  readonly name: string;
  readonly version: string;
}

/**
 * Everything an agent behind us might answer. A session serves many agents, so all is declared; a request that the
 * agent at hand cannot answer is refused when it comes.
 */
export const DECLARED_CAPABILITIES: JsonObject = Object.freeze({
  roots: {},
  sampling: {},
  elicitation: { form: {}, url: {} },
});

export type Incoming =
  | { readonly kind: "answer"; readonly id: number; readonly result: JsonObject }
  | { readonly kind: "refusal"; readonly id: number; readonly refusal: Refusal }
  /** An answer that cannot be handed on; `reason` is a sentence of ours, `data` what came instead. */
  | { readonly kind: "unusable"; readonly id: number; readonly reason: string; readonly data: JsonObject | undefined }
  /** An answer whose id is null, missing or none of the kind we send; an error with what was written, or a result. */
  | { readonly kind: "unaddressed"; readonly error: JsonValue | undefined }
  | { readonly kind: "request"; readonly id: string | number; readonly method: string; readonly params: JsonObject }
  /** A request that nobody can be asked: it is answered with the reason. */
  | { readonly kind: "unfit"; readonly id: string | number; readonly reason: string }
  | { readonly kind: "progress"; readonly token: number; readonly progress: JsonObject }
  | { readonly kind: "cancelled"; readonly id: string | number }
  | {
      readonly kind: "notification";
      readonly method: string;
      readonly params: JsonObject;
      readonly subscription: number | undefined;
    }
  | { readonly kind: "noise" };

const NOISE: Incoming = { kind: "noise" };

/** Reads one message; `noise` where it is none. Ids come back as numbers (some servers return ours as text). */
export function readMessage(value: unknown): Incoming {
  if (!isJsonObject(value)) return NOISE;
  const method = value["method"];
  const id = value["id"];
  const tooDeep = !listsTools(value) && isDeeperThan(value, JSON_LEVELS);
  if (typeof method === "string") {
    if (tooDeep) {
      const reason = `The message is nested deeper than ${JSON_LEVELS} levels.`;
      return typeof id === "string" || typeof id === "number" ? { kind: "unfit", id, reason } : NOISE;
    }
    const params = isJsonObject(value["params"]) ? value["params"] : {};
    if (typeof id === "string" || typeof id === "number") return { kind: "request", id, method, params };
    return readNotification(method, params);
  }
  const ours = numeric(id);
  if (ours === undefined) return tooDeep ? NOISE : unaddressed(value);
  if (tooDeep) return unusable(ours, `with something that is nested deeper than ${JSON_LEVELS} levels`);
  const { result, error } = value;
  if (error !== undefined && error !== null) return { kind: "refusal", id: ours, refusal: readRefusal(error) };
  if (isJsonObject(result)) return { kind: "answer", id: ours, result };
  if (result === undefined) return unusable(ours, "with neither a result nor an error");
  return unusable(ours, "with something that is no result object", { result });
}

/** With the version beside it: a log in JSON may well have a member "error" or "result". */
function unaddressed({ jsonrpc, result, error }: JsonObject): Incoming {
  if (jsonrpc !== JSONRPC) return NOISE;
  if (error !== undefined && error !== null) return { kind: "unaddressed", error };
  return isJsonObject(result) ? { kind: "unaddressed", error: undefined } : NOISE;
}

/** An answer that cannot be handed on: whoever waits for it hears why, at once. */
function unusable(id: number, how: string, data?: JsonObject): Incoming {
  return { kind: "unusable", id, reason: `The upstream answered ${how}.`, data };
}

/** Listings are judged tool by tool (catalog/intake.ts): one tool that is too deep takes no other with it. */
function listsTools(message: JsonObject): boolean {
  return isJsonObject(message["result"]) && Array.isArray(message["result"]["tools"]);
}

function readNotification(method: string, params: JsonObject): Incoming {
  if (method === METHOD.progress) {
    const { progressToken, ...progress } = params;
    const token = numeric(progressToken);
    return token === undefined ? NOISE : { kind: "progress", token, progress };
  }
  if (method === METHOD.cancelled) {
    const id = params["requestId"];
    if (typeof id === "string" || typeof id === "number") return { kind: "cancelled", id };
  }
  const meta = params["_meta"];
  const subscription = isJsonObject(meta) ? numeric(meta[META_SUBSCRIPTION]) : undefined;
  return { kind: "notification", method, params, subscription };
}

/**
 * An upstream's error as it can be passed on. What the protocol does not allow (a code that is no integer, a message that is no
 * text) is made readable, and the error as it was written goes along as data.
 */
export function readRefusal(error: JsonValue): Refusal {
  if (typeof error === "string" && error !== "") return new Refusal(CODE.internal, error);
  if (!isJsonObject(error)) return new Refusal(CODE.internal, asMessage(error), error);
  const code = asCode(error["code"]);
  const message = error["message"];
  if (code !== undefined && code === error["code"] && typeof message === "string" && message !== "")
    return new Refusal(code, message, error["data"]);
  return new Refusal(code ?? CODE.internal, asMessage(message === undefined || message === "" ? error : message), error);
}

function asCode(code: JsonValue | undefined): number | undefined {
  const number = typeof code === "string" && /^-?\d+$/.test(code) ? Number(code) : code;
  return typeof number === "number" && Number.isSafeInteger(number) ? number : undefined;
}

/** Of an error without a proper message, characters that are shown as one; the whole error is in the data. */
const MESSAGE_CHARS = 1_000;
function asMessage(said: JsonValue): string {
  if (typeof said === "string" && said !== "") return said;
  const written = JSON.stringify(said);
  return `The upstream reported an error without a message: ${written.length > MESSAGE_CHARS ? `${written.slice(0, MESSAGE_CHARS)}…` : written}`;
}

function numeric(id: unknown): number | undefined {
  if (typeof id === "number") return id;
  if (typeof id !== "string" || id === "") return undefined;
  const value = Number(id);
  return Number.isFinite(value) ? value : undefined;
}

export function requestMessage(id: number, method: string, params: JsonObject): JsonObject {
  return { jsonrpc: JSONRPC, id, method, params };
}
export function notificationMessage(method: string, params: JsonObject): JsonObject {
  return Object.keys(params).length === 0 ? { jsonrpc: JSONRPC, method } : { jsonrpc: JSONRPC, method, params };
}
export function answerMessage(id: string | number, result: JsonObject): JsonObject {
  return { jsonrpc: JSONRPC, id, result };
}
export function errorMessage(id: string | number, code: number, message: string, data?: JsonValue): JsonObject {
  return { jsonrpc: JSONRPC, id, error: data === undefined ? { code, message } : { code, message, data } };
}
export function cancelMessage(id: number, reason: string): JsonObject {
  return notificationMessage(METHOD.cancelled, { requestId: id, reason });
}

/** Adds our progress token, so that progress renews the timeout even where nobody else listens. */
export function withProgressToken(params: JsonObject, token: number): JsonObject {
  const meta = params["_meta"];
  return { ...params, _meta: isJsonObject(meta) ? { ...meta, progressToken: token } : { progressToken: token } };
}

/** Params of a call: arguments are always an object, agent metadata passes on without the keys that belong to a hop. */
export function callParams(name: string, args: unknown, meta: JsonObject | undefined): JsonObject {
  return withMeta({ name, arguments: isJsonObject(args) ? args : {} }, meta);
}
export function withMeta(params: JsonObject, meta: JsonObject | undefined): JsonObject {
  if (meta === undefined) return params;
  const own = { ...meta };
  for (const key of ["progressToken", META_VERSION, META_CLIENT, META_CAPABILITIES, META_LOG_LEVEL]) delete own[key];
  if (Object.keys(own).length === 0) return params;
  return { ...params, _meta: isJsonObject(params["_meta"]) ? { ...params["_meta"], ...own } : own };
}
export function withInput(params: JsonObject, responses: JsonObject | undefined, state: string | undefined): JsonObject {
  if (responses === undefined && state === undefined) return params;
  return {
    ...params,
    ...(responses === undefined ? {} : { inputResponses: responses }),
    ...(state === undefined ? {} : { requestState: state }),
  };
}

/** The modern era says with each request who asks, what it can answer and which log messages it wants. */
export function withEnvelope(
  params: JsonObject,
  client: ClientIdentity,
  capabilities: JsonObject,
  logLevel?: string | undefined,
): JsonObject {
  const meta = isJsonObject(params["_meta"]) ? params["_meta"] : {};
  return {
    ...params,
    _meta: {
      ...meta,
      [META_VERSION]: MODERN_VERSION,
      [META_CLIENT]: { ...client },
      [META_CAPABILITIES]: capabilities,
      ...(logLevel === undefined ? {} : { [META_LOG_LEVEL]: logLevel }),
    },
  };
}

export function initializeParams(client: ClientIdentity): JsonObject {
  return { protocolVersion: LEGACY_VERSION, capabilities: DECLARED_CAPABILITIES, clientInfo: { ...client } };
}

export function readGreeting(era: Era, result: JsonObject): Greeting {
  const meta = isJsonObject(result["_meta"]) ? result["_meta"] : {};
  const server = era === "legacy" ? result["serverInfo"] : (meta[META_SERVER] ?? result["serverInfo"]);
  const version = result["protocolVersion"];
  const instructions = result["instructions"];
  return {
    era,
    protocolVersion: era === "modern" ? MODERN_VERSION : typeof version === "string" ? version : LEGACY_VERSION,
    server: isJsonObject(server) ? { name: String(server["name"] ?? ""), version: String(server["version"] ?? "") } : undefined,
    capabilities: isJsonObject(result["capabilities"]) ? result["capabilities"] : {},
    instructions: typeof instructions === "string" ? instructions : undefined,
  };
}

/** Does this discovery answer offer the modern revision that we speak? */
export function offersModern(result: JsonObject): boolean {
  const versions = result["supportedVersions"];
  return Array.isArray(versions) && versions.includes(MODERN_VERSION);
}

/** Does a refusal of the protocol version name ours among the supported ones? */
export function supportsModern(data: JsonValue | undefined): boolean {
  return isJsonObject(data) && Array.isArray(data["supported"]) && data["supported"].includes(MODERN_VERSION);
}

export function listenParams(capabilities: JsonObject, uris: readonly string[]): JsonObject {
  const announces = (list: string): boolean => {
    const entry = capabilities[list];
    return isJsonObject(entry) && entry["listChanged"] === true;
  };
  return {
    notifications: {
      ...(announces("tools") ? { toolsListChanged: true } : {}),
      ...(announces("prompts") ? { promptsListChanged: true } : {}),
      ...(announces("resources") ? { resourcesListChanged: true } : {}),
      ...(uris.length > 0 ? { resourceSubscriptions: [...uris] } : {}),
    },
  };
}
export function listensToSomething(params: JsonObject): boolean {
  const wanted = params["notifications"];
  return isJsonObject(wanted) && Object.keys(wanted).length > 0;
}

/** Which list a notification says has moved. */
export function changedList(method: string): "tools" | "prompts" | "resources" | undefined {
  const match = /^notifications\/(tools|prompts|resources)\/list_changed$/.exec(method);
  return match?.[1] as "tools" | "prompts" | "resources" | undefined;
}

/** One page of tools/list. An empty or null cursor means the end: both are in the wild. */
export function readToolsPage(result: JsonObject): {
  tools: readonly unknown[] | undefined;
  next: string | undefined;
  ttlMs: number | undefined;
} {
  const cursor = result["nextCursor"];
  const ttl = result["ttlMs"];
  return {
    tools: Array.isArray(result["tools"]) ? result["tools"] : undefined,
    next: typeof cursor === "string" && cursor !== "" ? cursor : undefined,
    ttlMs: typeof ttl === "number" && ttl >= 0 ? ttl : undefined,
  };
}

/** The uri of a subscription request. */
export function uriOf(params: JsonObject): string | undefined {
  return typeof params["uri"] === "string" ? params["uri"] : undefined;
}

/** An empty list of roots: what an upstream is told while no agent is behind its question. */
export const NO_ROOTS: JsonObject = Object.freeze({ roots: [] });

/**
 * What an upstream's notification that belongs to no call announces, in words of the house. Undefined for notifications that nobody follows (moved
 * tools come as listings).
 */
export function announcementOf(method: string, params: JsonObject): UpstreamAnnouncement | undefined {
  if (method === "notifications/resources/updated") {
    const uri = params["uri"];
    return typeof uri === "string" ? { kind: "resource", uri } : undefined;
  }
  if (method === "notifications/prompts/list_changed") return { kind: "prompts" };
  if (method === "notifications/resources/list_changed") return { kind: "resources" };
  return undefined;
}
