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
import type { Reach } from "../../model/reach.js";

/** What is known of a caller before its transport adds a session. */
export interface CallerBasics {
  readonly principal: string;
  readonly rights: ReadonlySet<Right>;
  readonly upstreams: Reach;
}

/** Tokens as they are in force at a moment; the same object while nothing moved. */
export interface InForce {
  readonly tokens: Tokens;
  /** Nobody is let in without one. */
  readonly needed: boolean;
}

/** Undefined = not authorised: missing and wrong are not told apart. */
export interface TokenCheck {
  (authorization: string | undefined, remoteIsLoopback: boolean): CallerBasics | undefined;
  /** Is a token needed now? */
  readonly configured: boolean;
}

const ALL: ReadonlySet<Right> = new Set<Right>(["agent", "operate", "verify", "approve"]);
const LOCAL: CallerBasics = { principal: "local", rights: ALL, upstreams: undefined };
export const LOCAL_PRINCIPAL = LOCAL.principal;

interface Known {
  readonly hash: Buffer;
  readonly basics: CallerBasics;
}

/**
 * Check against the home's tokens and the local operator's (a file only its owner can read; all rights). Loopback is the local
 * person while no token is needed. A token that is given and wrong is refused everywhere. `inForce` is asked for each request: a
 * token that was taken out opens nothing more.
 */
export function checkTokens(inForce: () => InForce, localOperatorTokenSha256: string | undefined): TokenCheck {
  const operator =
    localOperatorTokenSha256 === undefined ? [] : [{ hash: Buffer.from(localOperatorTokenSha256, "hex"), basics: LOCAL }];
  let of: Tokens | undefined;
  let known: readonly Known[] = [];

  const check = (authorization: string | undefined, remoteIsLoopback: boolean): CallerBasics | undefined => {
    const { tokens, needed } = inForce();
    if (authorization === undefined) return remoteIsLoopback && !needed ? LOCAL : undefined;
    if (tokens !== of) known = [...knownOf(tokens), ...operator];
    of = tokens;
    const given = createHash("sha256").update(bearer(authorization)).digest();
    let found: CallerBasics | undefined;
    // Every hash is compared: the time taken does not tell which token was close.
    for (const { hash, basics } of known) {
      if (hash.length === given.length && timingSafeEqual(hash, given)) found = basics;
    }
    return found;
  };
  return Object.defineProperty(check, "configured", { get: () => inForce().needed }) as TokenCheck;
}

function knownOf({ tokens }: Tokens): Known[] {
  return tokens.map((token) => ({
    hash: Buffer.from(token.sha256, "hex"),
    basics: {
      principal: token.name,
      rights: new Set<Right>(token.rights),
      upstreams: token.upstreams.includes("*") ? undefined : new Set(token.upstreams),
    },
  }));
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
