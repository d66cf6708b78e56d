/**
 * How STEWARD's answers and faults are spelt in MCP.
 *
 * Owns: JSON-RPC codes, our `_meta` keys, the MCP form of every fault, tool results of Views and of faults.
 * Speaks: Fault, Refusal, View on one side; JSON-RPC and MCP objects on the other.
 * Never: decides anything; HTTP statuses are http/translate.ts.
 */
import { ProtocolError } from "@modelcontextprotocol/server";
import { Fault, FAULTS, Refusal } from "../../model/fault.js";
import type { FaultCode } from "../../model/fault.js";
import type { Counted } from "../../model/facade.js";
import { isJsonObject } from "../../model/json.js";
import type { JsonObject, JsonValue } from "../../model/json.js";

/** JSON-RPC and MCP error codes. */
export const RPC = Object.freeze({
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Old servers' "resource not found"; today it is invalid params. */
  resourceNotFound: -32002,
  /** General server error of the HTTP transport (no session, bad header). */
  transport: -32000,
  sessionUnknown: -32001,
  headerMismatch: -32020,
  missingCapability: -32021,
});

/** HTTP status by which a daemon says that it does not know a session. */
export const SESSION_UNKNOWN_STATUS = 404;

/** `_meta` keys. `steward/…` are ours; the others are the protocol's. */
export const META = Object.freeze({
  episode: "steward/episode",
  fault: "steward/fault",
  leftOut: "steward/left_out",
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  reserved: "io.modelcontextprotocol/",
  own: "steward/",
  progressToken: "progressToken",
  trace: ["traceparent", "tracestate", "baggage"] as const,
});

/** Header (lower case) by which our own bridge says that its agent is on a pipe and has no headers to repeat arguments in. */
export const BRIDGED = "steward-bridge";

/** The Skills extension. */
export const SKILLS = Object.freeze({
  extension: "io.modelcontextprotocol/skills",
  list: "skills/list",
  get: "skills/get",
  directory: "resources/directory/read",
  directoryType: "inode/directory",
  file: "SKILL.md",
  digest: "sha256:",
});

interface McpForm {
  /** JSON-RPC code where the fault answers a request that has no tool result. */
  readonly code: number;
  /** What a direct tool call is answered with: an `isError` result a model can read, or a protocol error. */
  readonly direct: "result" | "error";
}
const asked: McpForm = { code: RPC.invalidParams, direct: "error" };
const readable: McpForm = { code: RPC.invalidParams, direct: "result" };
const ours: McpForm = { code: RPC.internal, direct: "result" };

/** MCP form of every fault. `call_tool` always answers with an `isError` result. */
export const MCP_FORMS: Readonly<Record<FaultCode, McpForm>> = Object.freeze({
  "input-invalid": readable,
  "input-too-large": readable,
  "tool-unknown": asked,
  "tool-held": ours,
  "tool-unavailable": ours,
  "tool-not-offered": ours,
  "arguments-invalid": readable,
  "call-timeout": ours,
  "call-interrupted": ours,
  "answer-too-large": ours,
  "answer-unreadable": ours,
  "call-cancelled": ours,
  "skill-unknown": asked,
  "episode-unknown": readable,
  "episode-finished": readable,
  "view-unknown": asked,
  "version-unknown": asked,
  "version-damaged": ours,
  "revision-unknown": asked,
  "lineage-unknown": asked,
  "lineage-settled": asked,
  "report-unknown": asked,
  "result-unknown": asked,
  "approval-stale": readable,
  "edit-refused": readable,
  "skill-pinned": readable,
  unauthorized: { code: RPC.transport, direct: "error" },
  forbidden: { code: RPC.transport, direct: "result" },
  "host-refused": { code: RPC.transport, direct: "error" },
  "route-unknown": { code: RPC.methodNotFound, direct: "error" },
  "home-locked": ours,
  "home-damaged": ours,
  "home-unwritable": ours,
  "format-newer": ours,
  "config-invalid": ours,
  "bind-refused": ours,
  "upstream-failed": ours,
  "upstream-busy": ours,
  "login-refused": ours,
  "login-needed": ours,
  "daemon-unreachable": ours,
  "shutting-down": ours,
  busy: ours,
  bug: ours,
});

/** A fault as data: what `_meta["steward/fault"]`, error data and problem documents have in common. */
export function faultData(fault: Fault): JsonObject {
  return {
    code: fault.code,
    blame: fault.blame,
    retryable: fault.retryable,
    ...(fault.detail === "" ? {} : { detail: fault.detail }),
    ...(fault.data === undefined ? {} : { data: fault.data }),
  };
}

/** The sentence of a fault and its machine part, readable by a model. */
export function faultResult(fault: Fault): JsonObject {
  const data = faultData(fault);
  const tail = fault.data === undefined ? "" : `\n${JSON.stringify(fault.data)}`;
  return {
    content: [{ type: "text", text: `${fault.message} [${fault.code}]${tail}` }],
    structuredContent: { error: { message: fault.message, ...data } },
    isError: true,
    _meta: { [META.fault]: data },
  };
}

/** An upstream's protocol error inside a tool result: code, message and data stay readable. */
export function refusalResult(refusal: Refusal): JsonObject {
  const error: JsonObject = {
    code: refusal.code,
    message: refusal.message,
    ...(refusal.data === undefined ? {} : { data: refusal.data }),
  };
  const tail = refusal.data === undefined ? "" : `\n${JSON.stringify(refusal.data)}`;
  return {
    content: [{ type: "text", text: `The tool's server answered with error ${refusal.code}: ${refusal.message}${tail}` }],
    structuredContent: { error },
    isError: true,
  };
}

/** The JSON-RPC error of a fault or refusal. */
export function protocolError(error: Fault | Refusal): ProtocolError {
  if (error instanceof Refusal) return new ProtocolError(error.code, error.message, error.data);
  return new ProtocolError(MCP_FORMS[error.code].code, error.message, faultData(error));
}

export function invalidParams(message: string, data?: JsonValue): ProtocolError {
  return new ProtocolError(RPC.invalidParams, message, data);
}

/** Answer of an endpoint with a body of our own: structured, and the same JSON as text for old clients. */
export function bodyResult(counted: Counted<unknown>): JsonObject {
  const body = counted.body as JsonObject;
  return {
    content: [{ type: "text", text: JSON.stringify(body) }],
    structuredContent: body,
    _meta: { [META.episode]: counted.episode },
  };
}

/** An upstream's result with our one key merged into its `_meta`; everything else is the upstream's own object. */
export function withEpisode(result: JsonObject, episode: string): JsonObject {
  const meta = result["_meta"];
  if (meta !== undefined && !isJsonObject(meta)) return result;
  return { ...result, _meta: { ...meta, [META.episode]: episode } };
}

/** A JSON-RPC error message that answers no request of ours to the SDK (transport level). */
export function errorMessage(id: string | number | null, code: number, message: string, data?: JsonValue): JsonObject {
  return { jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

/** A fault at transport level (before any protocol object), as a JSON-RPC error without request id. */
export function faultMessage(fault: Fault, id: string | number | null = null): JsonObject {
  return errorMessage(id, MCP_FORMS[fault.code].code, fault.message, faultData(fault));
}

/** Anything thrown, as a Fault or Refusal; what is neither is a bug, logged by the caller under its incident id. */
export function blameOf(error: unknown, incident: () => string): Fault | Refusal {
  if (error instanceof Fault || error instanceof Refusal) return error;
  if (error instanceof ProtocolError) return new Refusal(error.code, error.message, error.data as JsonValue);
  return new Fault("bug", `Incident ${incident()}.`);
}

/** Sentence of a fault code, for the descriptions generated from the table. */
export function faultSentence(code: FaultCode): string {
  return FAULTS[code].sentence;
}
