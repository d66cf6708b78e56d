/**
 * From "no answer came" to a fault that says who is to blame, what is known, and what the upstream last said.
 *
 * Owns: the choice of fault codes; what of stderr is shown in an error.
 * Speaks: Fault, Refusal.
 * Never: catching bugs: what is neither Unanswered nor ConnectFailed passes unchanged.
 */
import type { UpstreamConfig } from "../model/config.js";
import { Fault } from "../model/fault.js";
import { UPSTREAM_LIMITS } from "../model/policy.js";
import { callRefused } from "./login.js";
import { ConnectFailed, Unanswered } from "./session.js";

export interface FaultContext {
  readonly label: string;
  /** A tool is asked for (else any other request). */
  readonly tool: string | undefined;
  readonly stderr: string;
  readonly config: UpstreamConfig;
  /** Headers of the agent's request. */
  readonly headers: Readonly<Record<string, string>> | undefined;
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
      return new Fault("answer-unreadable", detail, error.data, { cause: error });
    case "busy":
      return new Fault("upstream-busy", detail + shown(context.stderr), undefined, { cause: error });
    case "login":
      return callRefused(error, about, context.config, context.headers);
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
