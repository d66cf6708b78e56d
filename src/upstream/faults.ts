/**
 * From "no answer came" to a fault that says who is to blame, what is known, and what the upstream last said.
 *
 * Owns: the choice of fault codes; what of stderr is shown in an error.
 * Speaks: Fault, Refusal.
 * Never: catching bugs: what is neither Unanswered nor ConnectFailed passes unchanged.
 */
import { Fault } from "../model/fault.js";
import { UPSTREAM_LIMITS } from "../model/policy.js";
import { ConnectFailed, Unanswered } from "./session.js";

export interface FaultContext {
  readonly label: string;
  /** A tool is asked for (else any other request). */
  readonly tool: string | undefined;
  readonly stderr: string;
}

export function toFault(error: unknown, context: FaultContext): unknown {
  if (error instanceof ConnectFailed) return connectFault(error, context);
  if (!(error instanceof Unanswered)) return error;
  const about = context.tool === undefined ? `upstream ${context.label}` : `${context.label}/${context.tool}`;
  const detail = `${about}: ${error.message}`;
  switch (error.kind) {
    case "timeout":
      return new Fault("call-timeout", detail + shown(context.stderr), undefined, { cause: error });
    case "cancelled":
      return new Fault("call-cancelled", detail, undefined, { cause: error });
    case "too-large":
      return new Fault("answer-too-large", detail, undefined, { cause: error });
    case "unreadable":
      return new Fault("answer-unreadable", detail, undefined, { cause: error });
    case "busy":
      return new Fault("upstream-busy", detail + shown(context.stderr), undefined, { cause: error });
    case "login":
      return new Fault("tool-not-offered", detail, undefined, { cause: error });
    case "lost":
    case "expired": {
      const code = !error.notRun ? "call-interrupted" : context.tool === undefined ? "upstream-failed" : "tool-unavailable";
      return new Fault(code, detail + shown(context.stderr), undefined, { cause: error });
    }
  }
}

function connectFault(error: ConnectFailed, { label, tool, stderr }: FaultContext): Fault {
  const code = error.needsPerson !== undefined ? "tool-not-offered" : tool === undefined ? "upstream-failed" : "tool-unavailable";
  return new Fault(code, `upstream ${label}: ${error.message}${shown(stderr)}`, undefined, { cause: error });
}

/** The end of stderr as a clause, or nothing. */
export function shown(stderr: string, maxChars: number = UPSTREAM_LIMITS.stderrShownChars): string {
  const text = stderr.trim();
  if (text === "") return "";
  return ` Its stderr ends with: ${text.length > maxChars ? `…${text.slice(-maxChars)}` : text}`;
}

/** What a person can do where an upstream wants to know who calls. Nobody logs in here by themselves. */
export function loginNeeded(label: string, status: number): string {
  const header = '"Authorization": "Bearer ${TOKEN}"';
  return (
    `the upstream asks for a login (HTTP ${status}): add ${header} under mcpServers.${label}.headers in config/steward.json, ` +
    "with TOKEN in the environment of the daemon"
  );
}
