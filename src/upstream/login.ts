/**
 * Upstreams that want to know who calls: who is told what, and what helps.
 *
 * Owns: the difference between the daemon's own credentials (configured: a person is needed) and those that an agent's call carried
 * (that agent's alone to put right).
 * Speaks: header names, never values; sentences.
 * Never: advice that is followed already; presence (supervisor.ts). Nobody logs in here by themselves.
 */
import type { HttpUpstream, UpstreamConfig } from "../model/config.js";
import { Fault } from "../model/fault.js";
import { forwardedHeaders } from "./headers.js";
import type { Unanswered } from "./session.js";

/** What a person can do where the daemon's own requests are refused, as a clause. */
export function loginNeeded(config: UpstreamConfig, status: number): string {
  const where = `mcpServers.${config.label}.headers in config/steward.json`;
  const asked = `the upstream asks for a login (HTTP ${status})`;
  const sent = config.kind === "http" ? credentialsIn(config.headers) : [];
  if (sent.length > 0)
    return `${asked} although ${listed(sent)} went along: the value under ${where} (or in the environment it comes from) is not accepted (any more)`;
  const header = '"Authorization": "Bearer ${TOKEN}"';
  return `${asked}: add ${header} under ${where}, with TOKEN in the environment of the daemon`;
}

/** Did this call go out with nothing but what the daemon itself sends? */
export function isOurOwn(config: UpstreamConfig, agentHeaders: Readonly<Record<string, string>> | undefined): boolean {
  return config.kind !== "http" || Object.keys(forwardedHeaders(config, agentHeaders)).length === 0;
}

/** The fault of one call whose credentials were refused; others are not concerned. `about` = what was called. */
export function callRefused(
  error: Unanswered,
  about: string,
  config: UpstreamConfig,
  agentHeaders: Readonly<Record<string, string>> | undefined,
): Fault {
  const said = `${about}: ${error.message}`;
  if (config.kind === "http" && config.forwardHeaders.length > 0)
    return new Fault("login-refused", `${said} ${callersPart(config, agentHeaders)}`, undefined, { cause: error });
  return new Fault("login-needed", `${said} ${sentence(loginNeeded(config, error.status ?? 401))}`, undefined, { cause: error });
}

function callersPart(config: HttpUpstream, agentHeaders: Readonly<Record<string, string>> | undefined): string {
  const sent = Object.keys(forwardedHeaders(config, agentHeaders));
  if (sent.length > 0)
    return `Your ${listed(sent)} went along and did not suffice; send another value with your requests to STEWARD.`;
  return `Your request carried none of the headers that are passed on to it: send ${listed(config.forwardHeaders)} with your requests to STEWARD.`;
}

/** Configured headers that say who calls; where none has a telling name, all of them may. */
function credentialsIn(headers: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(headers);
  const telling = names.filter((name) => /auth|token|key|secret|cookie|session|credential/i.test(name));
  return telling.length > 0 ? telling : names;
}

function listed(names: readonly string[]): string {
  return `${names.length === 1 ? "header" : "headers"} ${names.join(", ")}`;
}

function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}
