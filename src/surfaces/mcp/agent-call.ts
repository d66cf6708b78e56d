/**
 * One request of an agent, with everything its protocol era offers around it, in one shape.
 *
 * Owns: what handlers may do while a request runs: notify, report progress, ask the agent back, know its capabilities.
 * Speaks: the what surrounds the request in; AgentCall out.
 * Never: decides what a method means (answers.ts) or how questions are bridged between eras (questions.ts).
 */
import { ProtocolError } from "@modelcontextprotocol/server";
import type { Server } from "@modelcontextprotocol/server";
import { Fault } from "../../model/fault.js";
import { isJsonObject } from "../../model/json.js";
import type { JsonObject, JsonValue } from "../../model/json.js";
import type { Caller } from "../../model/operations.js";
import { isSevere, isSeverity } from "../../model/severity.js";
import { META, RPC } from "./translate.js";

export type Era = "legacy" | "modern";

export interface AgentCall {
  readonly era: Era;
  readonly method: string;
  readonly caller: Caller;
  /** Aborted when the agent cancels, disconnects or its session ends. */
  readonly signal: AbortSignal;
  /** Request `_meta` without progress token, protocol keys and our own; with trace headers where the body had none. */
  readonly meta: JsonObject | undefined;
  /** Headers of the agent's own request without what belongs to its connection with us: credentials, protocol, transport. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Least severe log messages that the agent wants; undefined where it did not say. */
  readonly logLevel: string | undefined;
  /** The episode named in `_meta`, where there is one. */
  readonly episode: string | undefined;
  /** What the agent declared that it can answer. */
  readonly capabilities: JsonObject;
  readonly inputResponses: JsonObject | undefined;
  readonly requestState: string | undefined;
  /** Sends a notification that belongs to this request; never throws, late ones are dropped. */
  readonly notify: (method: string, params: JsonObject) => void;
  /** Reports progress under the agent's own token; undefined where the agent did not ask for it. */
  readonly progress: ((progress: JsonObject) => void) | undefined;
  /** A notification of an upstream about this call: as it is, log messages only from the level the agent wants. */
  readonly tell: (method: string, params: JsonObject) => void;
  /** A request to the agent (legacy only: modern agents are asked by `input_required`). */
  readonly ask: (method: string, params: JsonObject) => Promise<JsonObject>;
}

/** Headers as Node has them: lower case. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface CallFrame {
  readonly era: Era;
  readonly server: Server;
  readonly caller: Caller;
  /** Least severe level that a legacy session wants; undefined = all. */
  readonly logLevel: string | undefined;
  /** Time for an agent's answer, in milliseconds. */
  readonly answerMs: number;
  /** Headers of the HTTP request that carried this message. */
  readonly headers: Headers | undefined;
}

interface PassThrough {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { value: JsonObject };
    readonly types?: { readonly input: unknown; readonly output: JsonObject } | undefined;
  };
}
/** A Standard Schema that takes everything as it is: params and results pass without loss. */
export const anything: PassThrough = {
  "~standard": { version: 1, vendor: "steward", validate: (value) => ({ value: value as JsonObject }) },
};

/** What surrounds one request: the SDK's `mcpReq` context, or what stands in for it (short-way.ts). */
export interface Asking {
  readonly id: string | number;
  readonly _meta?: unknown;
  readonly envelope?: unknown;
  readonly inputResponses?: unknown;
  readonly signal: AbortSignal;
  requestState(): unknown;
  notify(notification: { method: string; params: JsonObject }): Promise<void>;
  send(
    request: { method: string; params: JsonObject },
    schema: PassThrough,
    options: { timeout: number; signal: AbortSignal },
  ): Promise<JsonObject>;
}

export function agentCall(method: string, asking: Asking, frame: CallFrame): AgentCall {
  const received = isJsonObject(asking._meta as JsonValue | undefined) ? (asking._meta as JsonObject) : undefined;
  const envelope = asking.envelope as JsonObject | undefined;
  const token = received?.[META.progressToken];
  const notify = (method: string, params: JsonObject): void => {
    if (asking.signal.aborted) return;
    asking.notify({ method, params }).catch(() => undefined);
  };
  const asked = frame.era === "modern" ? envelope?.[META.logLevel] : frame.logLevel;
  const wanted = isSeverity(asked) ? asked : undefined;
  // Without a wish, older agents are told everything and newer ones nothing.
  const silent = frame.era === "modern" && wanted === undefined;
  const episode = received?.[META.episode];
  const state: unknown = asking.requestState();
  return {
    era: frame.era,
    method,
    caller: frame.caller,
    signal: asking.signal,
    meta: passedMeta(received, frame.headers),
    logLevel: wanted,
    headers: frame.headers === undefined ? undefined : passedHeaders(frame.headers),
    episode: typeof episode === "string" ? episode : undefined,
    capabilities: declaredCapabilities(frame, envelope),
    inputResponses: asking.inputResponses as JsonObject | undefined,
    requestState: typeof state === "string" ? state : undefined,
    notify,
    progress:
      token === undefined
        ? undefined
        : (progress) => notify("notifications/progress", { ...progress, [META.progressToken]: token }),
    tell: (method, params) => {
      const log = method === "notifications/message";
      if (!log || (!silent && (wanted === undefined || isSevere(params["level"], wanted)))) notify(method, params);
    },
    ask: async (method, params) => {
      try {
        return await asking.send({ method, params }, anything, { timeout: frame.answerMs, signal: asking.signal });
      } catch (error) {
        if (error instanceof ProtocolError) throw error;
        throw new Fault("call-cancelled", `The agent did not answer ${method}: ${String((error as Error).message)}`);
      }
    },
  };
}

function declaredCapabilities(frame: CallFrame, envelope: JsonObject | undefined): JsonObject {
  const declared = frame.era === "modern" ? envelope?.[META.clientCapabilities] : frame.server.getClientCapabilities();
  return isJsonObject(declared) ? declared : {};
}

/** What of the request's `_meta` goes on to the upstream. */
function passedMeta(received: JsonObject | undefined, headers: Headers | undefined): JsonObject | undefined {
  let meta: JsonObject | undefined;
  if (received !== undefined) {
    for (const key of Object.keys(received)) {
      if (key === META.progressToken || key.startsWith(META.reserved) || key.startsWith(META.own)) continue;
      meta ??= {};
      meta[key] = received[key] ?? null;
    }
  }
  for (const name of META.trace) {
    const value = headers?.[name];
    if (typeof value === "string" && meta?.[name] === undefined) meta = { ...meta, [name]: value };
  }
  return meta;
}

/** What never goes on to an upstream, whatever an upstream's allow list says: the token for this daemon, and what describes this very request. */
const KEPT_HERE = new Set([
  "authorization",
  "proxy-authorization",
  "cookie",
  "host",
  "connection",
  "accept",
  "origin",
  "transfer-encoding",
]);

export function passedHeaders(headers: Headers): Readonly<Record<string, string>> {
  const passed: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    if (KEPT_HERE.has(name) || name.startsWith("content-") || name.startsWith("mcp-")) continue;
    const value = headers[name];
    if (typeof value === "string") passed[name] = value;
  }
  return passed;
}

/** The capability that a request to the agent needs, in the shape of client capabilities; undefined = no such request. */
export function neededCapability(method: string, params: JsonObject): JsonObject | undefined {
  switch (method) {
    case "elicitation/create":
      return { elicitation: params["mode"] === "url" ? { url: {} } : { form: {} } };
    case "sampling/createMessage":
      return { sampling: params["tools"] !== undefined || params["toolChoice"] !== undefined ? { tools: {} } : {} };
    case "roots/list":
      return { roots: {} };
    default:
      return undefined;
  }
}

/** The part of `needed` that was not declared, or undefined. A bare `elicitation: {}` means forms. */
export function missingCapability(needed: JsonObject, declared: JsonObject): JsonObject | undefined {
  for (const [name, members] of Object.entries(needed)) {
    const has = declared[name];
    if (!isJsonObject(has)) return { [name]: members };
    for (const member of Object.keys(members as JsonObject)) {
      const implied = name === "elicitation" && member === "form" && has["url"] === undefined;
      if (has[member] === undefined && !implied) return { [name]: { [member]: {} } };
    }
  }
  return undefined;
}

/** May an upstream ask this agent anything at all? Without, calls run without a way back. */
export function canBeAsked(capabilities: JsonObject): boolean {
  return ["elicitation", "sampling", "roots"].some((name) => isJsonObject(capabilities[name]));
}

/** Refuses a question that the agent cannot answer, in the form its upstream understands. */
export function assertAskable(call: AgentCall, method: string, params: JsonObject): void {
  const needed = neededCapability(method, params);
  if (needed === undefined) throw new ProtocolError(RPC.methodNotFound, `The agent takes no ${method} requests.`);
  const missing = missingCapability(needed, call.capabilities);
  if (missing === undefined) return;
  const message = `The agent did not declare the capability that ${method} needs.`;
  if (call.era === "modern") throw new ProtocolError(RPC.missingCapability, message, { requiredCapabilities: missing });
  throw new ProtocolError(RPC.methodNotFound, message, { requiredCapabilities: missing });
}
