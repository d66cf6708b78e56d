/**
 * The net as upstreams are reached through it: no address that only a machine's own host should see.
 *
 * Owns: the refused addresses, checked where the connection is made (after name resolution, so that a name cannot be
 * bent in between), the connection pool of one upstream, proxies.
 * Speaks: fetch.
 * Never: following redirects beyond an upstream's origin (the transports ask for manual redirects and follow within it).
 *
 * Loopback and private networks are allowed: only an operator configures upstreams, agents cannot.
 */
import { lookup } from "node:dns";
import type { LookupAddress } from "node:dns";
import { BlockList, isIP } from "node:net";
import type { LookupFunction } from "node:net";
import { Agent, EnvHttpProxyAgent, fetch as undiciFetch } from "undici";
import type { Dispatcher } from "undici";
import { envValue } from "./env.js";

const REFUSED = new BlockList();
// Link-local: cloud metadata services live here.
REFUSED.addSubnet("169.254.0.0", 16, "ipv4");
REFUSED.addSubnet("fe80::", 10, "ipv6");
// Metadata services of single clouds at other addresses.
REFUSED.addAddress("fd00:ec2::254", "ipv6");
REFUSED.addAddress("100.100.100.200", "ipv4");
REFUSED.addAddress("168.63.129.16", "ipv4");
REFUSED.addAddress("192.0.0.192", "ipv4");

/** True for link-local and metadata addresses, also in their IPv6-mapped form. Not an address = false. */
export function isRefusedAddress(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  const family = isIP(bare);
  return family !== 0 && REFUSED.check(bare, family === 4 ? "ipv4" : "ipv6");
}

export const ADDRESS_REFUSED = "ADDRESS_REFUSED";
function refusal(host: string, address: string): Error {
  const shown = host === address ? address : `${host} (${address})`;
  return Object.assign(new Error(`${shown} is a link-local or metadata address; upstreams there are refused.`), {
    code: ADDRESS_REFUSED,
  });
}

/** Name resolution that knows no refused address. */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const first = addresses?.[0];
    if (error !== null || first === undefined) return callback(error ?? new Error(`${hostname} has no address`), "", 4);
    const refused = addresses.find((one) => isRefusedAddress(one.address));
    if (refused !== undefined) return callback(refusal(hostname, refused.address), "", 4);
    if (options.all === true) return callback(null, addresses);
    callback(null, first.address, first.family);
  });
};

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface Net {
  readonly fetch: Fetch;
  /** Cuts all connections. */
  close(): Promise<void>;
}

/** A pool for one upstream. No timeouts of its own for answers: a tool may take as long as its call may. */
export function createNet(options: { connectTimeoutMs: number; env: Readonly<Record<string, string>> }): Net {
  const connect = { timeout: options.connectTimeoutMs, lookup: guardedLookup };
  const direct = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect });
  const proxied = proxyAgent(options.env);
  return {
    async fetch(url, init) {
      const target = new URL(url);
      if (isRefusedAddress(target.hostname)) throw refusal(target.hostname, target.hostname);
      const dispatcher = proxied === undefined || isLoopback(target.hostname) ? direct : proxied;
      // Two declarations of the same web standard: undici's types and the ones of the SDKs do not know each other.
      const response: unknown = await undiciFetch(target, { ...(init as object), dispatcher });
      return response as Response;
    },
    async close() {
      await Promise.all([direct.destroy(), proxied?.destroy()]);
    },
  };
}

function proxyAgent(env: Readonly<Record<string, string>>): Dispatcher | undefined {
  const value = (name: string): string | undefined => env[name.toLowerCase()] ?? envValue(env, name, process.platform);
  const httpProxy = value("HTTP_PROXY");
  const httpsProxy = value("HTTPS_PROXY");
  if (httpProxy === undefined && httpsProxy === undefined) return undefined;
  return new EnvHttpProxyAgent({
    ...(httpProxy === undefined ? {} : { httpProxy }),
    ...(httpsProxy === undefined ? {} : { httpsProxy }),
    noProxy: value("NO_PROXY") ?? "",
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
}

/** Errors of a connection that never stood: nothing of the request was sent. */
const NEVER_SENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|ERR_TLS_\w+|ERR_SSL_\w+|ADDRESS_REFUSED)$/;

/** What a failed fetch means: its code, a sentence, and whether the request certainly was not sent. */
export function readNetError(error: unknown): { code: string; text: string; neverSent: boolean } {
  let code = "";
  let text = error instanceof Error ? error.message : String(error);
  for (let one: unknown = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth += 1) {
    if ("code" in one && typeof one.code === "string" && code === "") code = one.code;
    if (one.message !== "" && one.message !== "fetch failed") text = one.message;
    if (one instanceof AggregateError && one.errors[0] instanceof Error && one.message === "") text = one.errors[0].message;
  }
  return { code, text: code === "" || text.includes(code) ? text : `${text} (${code})`, neverSent: NEVER_SENT.test(code) };
}
