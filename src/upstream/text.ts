/**
 * Texts of upstreams that should be messages: from text to JSON, and what can be told from a text that is none.
 *
 * Owns: parsing, whose answer a broken or over-long text was, protocol errors in the bodies of refused requests.
 * Speaks: text in; parsed JSON, request ids, Refusal out.
 * Never: what a message means (translate.ts); where texts come from (intake.ts, exchanges.ts).
 */
import type { Refusal } from "../model/fault.js";
import { isJsonObject } from "../model/json.js";
import { JSONRPC, readRefusal } from "./translate.js";

/** Characters at the beginning and at the end of a text that are looked at. */
export const REMAINS_CHARS = 1_024;

/** The JSON of a text, or undefined where it is none. A byte order mark in front is no part of it. */
export function parseText(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text) as unknown;
  } catch {
    return undefined;
  }
}
const BYTE_ORDER_MARK = 0xfeff;

/**
 * The id of the request that an unreadable text answered, from its first and last characters, where it can be told.
 * Undefined also where the text was a request or notification of the upstream's own: its ids are not ours.
 */
export function idInRemains(head: string, tail: string): number | undefined {
  const first = firstMembers(head);
  if (first.own) return undefined;
  return first.id ?? idAtEnd(tail);
}

/** May a text that cannot be read have been an answer, as far as its first characters tell? */
export function mayBeAnswer(head: string): boolean {
  return /^[\s\ufeff]*[[{]/.test(head) && !firstMembers(head).own;
}

/** The members in front of the first one that is no single value. */
function firstMembers(head: string): { id: number | undefined; own: boolean } {
  let id: number | undefined;
  let rest = head.replace(/^[\s\ufeff]*\[?\s*\{/, "");
  if (rest === head) return { id: undefined, own: false };
  for (;;) {
    const key = /^\s*"([^"\\]*)"\s*:/.exec(rest);
    if (key?.[1] === undefined) return { id, own: false };
    if (OF_THEIR_OWN.has(key[1])) return { id, own: true };
    const value = /^\s*("(?:[^"\\]|\\.)*"|[-\w.+]+)\s*[,}]/.exec(rest.slice(key[0].length));
    if (value?.[1] === undefined) return { id, own: false };
    if (key[1] === "id") id = numberOf(value[1]);
    rest = rest.slice(key[0].length + value[0].length);
  }
}
/** What requests and notifications have and answers have not. */
const OF_THEIR_OWN = new Set(["method", "params"]);

/** Beside the version, so that an id within a result that breaks off is not taken for the message's. */
function idAtEnd(tail: string): number | undefined {
  const found =
    /"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*("?\d+"?)\s*\}\s*\]?\s*$/.exec(tail) ??
    /"id"\s*:\s*("?\d+"?)\s*,\s*"jsonrpc"\s*:\s*"2\.0"\s*\}\s*\]?\s*$/.exec(tail);
  return found?.[1] === undefined ? undefined : numberOf(found[1]);
}

function numberOf(written: string): number | undefined {
  const digits = /^"?(\d+)"?$/.exec(written)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Does a line that is no message show one within it, as logs do? */
export function quotesMessage(line: string): boolean {
  return /\{\s*"(?:jsonrpc|id|result|error|method)"\s*:/.test(line);
}

/** HTTP bodies of a refused request that carry a protocol error all the same. */
export function refusalInBody(text: string | null | undefined): Refusal | undefined {
  if (text === null || text === undefined || text === "") return undefined;
  const body = parseText(text);
  if (!isJsonObject(body) || body["error"] === undefined || body["error"] === null) return undefined;
  const error = body["error"];
  // Many an API has a member "error" of its own: with a code or the protocol's version it is the protocol's.
  const ofProtocol = body["jsonrpc"] === JSONRPC || (isJsonObject(error) && typeof error["code"] === "number");
  return ofProtocol ? readRefusal(error) : undefined;
}
