/**
 * What every request must pass before anything of it is read: Host, Origin, and CORS for the origins that may.
 *
 * Owns: which Host and Origin values are allowed.
 * Speaks: request headers; Fault `host-refused`.
 * Never: bodies, tokens, routes.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault } from "../../model/fault.js";
import { TRANSPORT_STATUS } from "./translate.js";
import { isLoopbackHost } from "./tokens.js";

export interface GuardOptions {
  /** Names beyond loopback under which this daemon may be addressed, in lower case; may grow. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Origins (`https://host`) or host names of pages that may use it. */
  readonly allowedOrigins: readonly string[];
}

/** Throws Fault `host-refused`. Returns true where the request was a CORS preflight and is answered. */
export function createGuard(options: GuardOptions): (req: IncomingMessage, res: ServerResponse) => boolean {
  const hosts = options.allowedHosts;
  const origins = new Set(options.allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, "")));
  // An address cannot be rebound: who writes the very address that the connection came to means this daemon.
  const hostAllowed = (name: string, req: IncomingMessage): boolean =>
    isLoopbackHost(name) || hosts.has(name) || name === boundAddress(req);

  return (req, res) => {
    const host = hostName(req.headers.host);
    if (host === undefined || !hostAllowed(host, req)) {
      throw new Fault("host-refused", `Host "${printable(req.headers.host)}" is not one of this daemon's names.`);
    }
    const origin = req.headers.origin;
    if (origin === undefined) return false;
    if (!originAllowed(origin, origins, hosts)) {
      throw new Fault("host-refused", `Pages of "${printable(origin)}" may not use this daemon.`);
    }
    res.setHeader("Access-Control-Allow-Origin", origin);
    res.setHeader("Vary", "Origin");
    res.setHeader("Access-Control-Expose-Headers", "Mcp-Session-Id, Steward-Episode, WWW-Authenticate");
    if (req.method !== "OPTIONS" || req.headers["access-control-request-method"] === undefined) return false;
    res.setHeader("Access-Control-Allow-Methods", "GET, POST, DELETE");
    res.setHeader("Access-Control-Allow-Headers", String(req.headers["access-control-request-headers"] ?? "content-type"));
    res.statusCode = TRANSPORT_STATUS.noContent;
    res.end();
    return true;
  };
}

/** Name part of a Host header, lower case, brackets of IPv6 kept; undefined where it cannot be read. */
function hostName(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const match = /^(\[[0-9a-f:.]+\]|[^:/?#@\s]+)(?::\d{1,5})?$/i.exec(header);
  return match?.[1]?.toLowerCase();
}

/** The local address of the connection, as a Host header would write it. */
function boundAddress(req: IncomingMessage): string {
  const address = req.socket.localAddress ?? "";
  const plain = address.startsWith("::ffff:") ? address.slice(7) : address;
  return plain.includes(":") ? `[${plain}]` : plain;
}

function originAllowed(origin: string, origins: ReadonlySet<string>, hosts: ReadonlySet<string>): boolean {
  const lower = origin.toLowerCase();
  if (origins.has(lower)) return true;
  let url: URL;
  try {
    url = new URL(lower);
  } catch {
    return false;
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return false;
  return isLoopbackHost(url.hostname) || origins.has(url.hostname) || hosts.has(url.hostname);
}

function printable(text: string | undefined): string {
  return (text ?? "").slice(0, 100).replace(/[^\x20-\x7e]/g, "?");
}
