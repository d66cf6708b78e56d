/**
 * How faults are spelt in HTTP.
 *
 * Owns: the HTTP status of every fault, problem documents (RFC 9457), which of the two error forms a route answers in.
 * Speaks: Fault in; status, headers and JSON out.
 * Never: decides whether something is a fault; JSON-RPC codes are mcp/translate.ts.
 */
import type { ServerResponse } from "node:http";
import { FAULTS } from "../../model/fault.js";
import type { Fault, FaultCode } from "../../model/fault.js";
import type { JsonObject } from "../../model/json.js";
import { faultMessage, SESSION_UNKNOWN_STATUS } from "../mcp/translate.js";

/** HTTP status of every fault. */
export const HTTP_STATUS: Readonly<Record<FaultCode, number>> = Object.freeze({
  "input-invalid": 400,
  "input-too-large": 413,
  "tool-unknown": 404,
  "tool-held": 409,
  "tool-unavailable": 503,
  "tool-not-offered": 409,
  "arguments-invalid": 422,
  "call-timeout": 504,
  "call-interrupted": 502,
  "answer-too-large": 502,
  "answer-unreadable": 502,
  "call-cancelled": 499,
  "skill-unknown": 404,
  "episode-unknown": 404,
  "episode-finished": 409,
  "view-unknown": 404,
  "version-unknown": 404,
  "version-damaged": 500,
  "revision-unknown": 404,
  "lineage-unknown": 404,
  "lineage-settled": 409,
  "report-unknown": 404,
  "result-unknown": 404,
  "approval-stale": 409,
  "edit-refused": 409,
  "skill-pinned": 409,
  unauthorized: 401,
  forbidden: 403,
  "host-refused": 403,
  "route-unknown": 404,
  "home-locked": 503,
  "home-damaged": 500,
  "home-unwritable": 503,
  "format-newer": 500,
  "config-invalid": 500,
  "bind-refused": 500,
  "upstream-failed": 502,
  "upstream-busy": 503,
  "login-refused": 403,
  "login-needed": 502,
  "daemon-unreachable": 503,
  "shutting-down": 503,
  busy: 429,
  bug: 500,
});

/** Statuses of the Streamable HTTP transport itself. */
export const TRANSPORT_STATUS = Object.freeze({
  ok: 200,
  accepted: 202,
  noContent: 204,
  badRequest: 400,
  notFound: SESSION_UNKNOWN_STATUS,
  methodNotAllowed: 405,
  unsupportedMedia: 415,
  unavailable: 503,
  closedByClient: 499,
});

/** A problem document for REST callers. */
export function problemOf(fault: Fault): JsonObject {
  return {
    type: `urn:steward:fault:${fault.code}`,
    title: FAULTS[fault.code].sentence,
    status: HTTP_STATUS[fault.code],
    ...(fault.detail === "" ? {} : { detail: fault.detail }),
    code: fault.code,
    blame: fault.blame,
    retryable: fault.retryable,
    ...(fault.data === undefined ? {} : { data: fault.data }),
  };
}

/** Routes of MCP answer in JSON-RPC, all others in problem documents. */
export function isMcpPath(path: string | undefined): boolean {
  return path === "/mcp" || path === "/mcp/direct" || path?.startsWith("/mcp?") === true || path?.startsWith("/mcp/") === true;
}

/** Faults that are over soon: their answer says when to ask again. */
const LATER: ReadonlySet<FaultCode> = new Set(["busy", "upstream-busy", "shutting-down"]);

/** Answers a request with a fault, in the form of its route. Does nothing where the answer has begun. */
export function sendFault(path: string | undefined, res: ServerResponse, fault: Fault): void {
  if (res.writableEnded) return;
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const status = HTTP_STATUS[fault.code];
  if (fault.code === "unauthorized") res.setHeader("WWW-Authenticate", 'Bearer realm="steward"');
  if (LATER.has(fault.code)) res.setHeader("Retry-After", "1");
  if (isMcpPath(path)) sendJson(res, status, faultMessage(fault));
  else sendJson(res, status, problemOf(fault), "application/problem+json");
}

/** The last word on a request whose answer will not come: as its answer, or as the last event of a stream that has begun. */
export function sendLast(path: string, res: ServerResponse, fault: Fault, id: string | number | null): void {
  if (res.writableEnded || res.destroyed) return;
  const mcp = isMcpPath(path);
  // It is this daemon that goes away, whatever becomes of the upstream.
  const status = TRANSPORT_STATUS.unavailable;
  const body = mcp ? faultMessage(fault, id) : { ...problemOf(fault), status };
  if (!res.headersSent) return sendJson(res, status, body, mcp ? "application/json" : "application/problem+json");
  res.end(`event: ${mcp ? "message" : "problem"}\ndata: ${JSON.stringify(body)}\n\n`);
}

/** One JSON answer, whole. */
export function sendJson(res: ServerResponse, status: number, body: unknown, type = "application/json"): void {
  sendText(res, status, JSON.stringify(body), type);
}

export function sendText(res: ServerResponse, status: number, text: string, type: string): void {
  res.statusCode = status;
  res.setHeader("Content-Type", type);
  res.setHeader("Content-Length", Buffer.byteLength(text));
  res.end(text);
}
