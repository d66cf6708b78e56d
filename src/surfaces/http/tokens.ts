/**
 * Who a request comes from: tokens by hash, and people at this machine.
 *
 * Owns: the comparison (constant time, on hashes), what loopback means, what a caller without a token may do.
 * Speaks: the Authorization header in; principal, rights and upstreams out.
 * Never: reads or writes tokens.json, keeps or prints a token.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Right, Tokens } from "../../model/home.js";

/** What is known of a caller before its transport adds a session. */
export interface CallerBasics {
  readonly principal: string;
  readonly rights: ReadonlySet<Right>;
  /** Labels this caller may use; undefined = all. */
  readonly upstreams: ReadonlySet<string> | undefined;
}

/** Undefined = not authorised: missing and wrong are not told apart. */
export interface TokenCheck {
  (authorization: string | undefined, remoteIsLoopback: boolean): CallerBasics | undefined;
  /** Is there a token that somebody beyond this machine could have? */
  readonly configured: boolean;
}

const ALL: ReadonlySet<Right> = new Set<Right>(["agent", "operate", "verify", "approve"]);
const LOCAL: CallerBasics = { principal: "local", rights: ALL, upstreams: undefined };
export const LOCAL_PRINCIPAL = LOCAL.principal;

/**
 * Check against the home's tokens and the local operator's (a file only its owner can read; all rights). Loopback without
 * any configured token is the local person. A token that is given and wrong is refused everywhere.
 */
export function checkTokens(tokens: Tokens, localOperatorTokenSha256: string | undefined): TokenCheck {
  const known: { readonly hash: Buffer; readonly basics: CallerBasics }[] = tokens.tokens.map((token) => ({
    hash: Buffer.from(token.sha256, "hex"),
    basics: {
      principal: token.name,
      rights: new Set<Right>(token.rights),
      upstreams: token.upstreams.includes("*") ? undefined : new Set(token.upstreams),
    },
  }));
  if (localOperatorTokenSha256 !== undefined) known.push({ hash: Buffer.from(localOperatorTokenSha256, "hex"), basics: LOCAL });
  const configured = tokens.tokens.length > 0;

  const check = (authorization: string | undefined, remoteIsLoopback: boolean): CallerBasics | undefined => {
    if (authorization === undefined) return remoteIsLoopback && !configured ? LOCAL : undefined;
    const given = createHash("sha256").update(bearer(authorization)).digest();
    let found: CallerBasics | undefined;
    // Every hash is compared: the time taken does not tell which token was close.
    for (const { hash, basics } of known) {
      if (hash.length === given.length && timingSafeEqual(hash, given)) found = basics;
    }
    return found;
  };
  return Object.defineProperty(check, "configured", { value: configured }) as TokenCheck;
}

function bearer(authorization: string): string {
  return authorization.slice(0, 7).toLowerCase() === "bearer " ? authorization.slice(7).trim() : "";
}

const FORWARDED = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/** Does the request come from this machine? What a reverse proxy forwards does not, wherever the proxy runs. */
export function isLoopbackRequest(req: IncomingMessage): boolean {
  if (FORWARDED.some((name) => req.headers[name] !== undefined)) return false;
  return isLoopbackAddress(req.socket.remoteAddress);
}

export function isLoopbackAddress(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.startsWith("::ffff:") ? address.slice(7) : address;
  return plain === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(plain);
}

/** Is this a name or address that only this machine answers to? */
export function isLoopbackHost(host: string): boolean {
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
  return bare.toLowerCase() === "localhost" || isLoopbackAddress(bare);
}
