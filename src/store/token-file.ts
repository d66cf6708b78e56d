/**
 * The token file while a daemon runs: `state/tokens.json`, which people write by hand.
 *
 * Owns: reading it again when it moved, what is in force where it cannot be read.
 * Speaks: the file's text in; Tokens and problems out.
 * Never: writes it or sets it aside (it is a person's, and may be half written at the moment), checks a token (surfaces/http/tokens.ts).
 *
 *   no file at the start ──▶ no tokens: this machine is let in without one
 *   a good file          ──▶ its tokens, from the next request on
 *   broken, or gone      ──▶ the last good tokens stay; at the start there are none, and nobody is let in without one either
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../model/fault.js";
import { tokensFormat, type Tokens } from "../model/home.js";
import type { Problem } from "../model/problem.js";
import { Damage, parseDocument, readText } from "./documents.js";
import { places } from "./places.js";

export interface TokensInForce {
  readonly tokens: Tokens;
  /** Somebody meant tokens to be needed: there are some, or there is a file that cannot be read. */
  readonly needed: boolean;
}

export interface TokenFile {
  /** As of now: one look at the file's times and size, in microseconds. The same object while nothing moved. */
  inForce(): TokensInForce;
  /** What is wrong with the file as it lies there. */
  problems(): readonly Problem[];
  /** Called with the tokens of each further reading that is in force. */
  onRead(listener: (tokens: Tokens) => void): void;
}

/** Names under which callers without a token go. */
const TAKEN_NAMES: ReadonlySet<string> = new Set(["local", "mcp"]);
const NONE: Tokens = { format: tokensFormat.id, tokens: [] };

export function openTokenFile(home: string, log: (level: "info" | "warn" | "error", text: string) => void): TokenFile {
  const listeners = new Set<(tokens: Tokens) => void>();
  let problems: Problem[] = [];
  let seen = markOf(home);
  let inForce: TokensInForce = { tokens: NONE, needed: false };
  let everRead = false;

  function fail(why: string): void {
    const stays = everRead
      ? "The last good tokens stay in force."
      : "No token but the local operator's is valid, and none is let in without.";
    problems = [{ code: "tokens-unreadable", where: places.tokens, text: `The token file cannot be used: ${why}. ${stays}` }];
    log("error", `${places.tokens}: ${problems[0]?.text ?? ""}`);
    if (!everRead) inForce = { tokens: NONE, needed: true };
  }
  function read(): void {
    let tokens: Tokens;
    try {
      const text = readText(home, places.tokens);
      if (text === undefined) return fail('it is gone; `"tokens": []` in it says that there are none');
      tokens = parseDocument(tokensFormat, text, places.tokens, {}).value;
      refuseAmbiguous(tokens);
    } catch (error) {
      return fail(error instanceof Fault ? error.detail : error instanceof Error ? error.message : String(error));
    }
    problems = [];
    if (everRead) log("info", `${places.tokens} was read again: ${named(tokens)} in force`);
    everRead = true;
    inForce = { tokens, needed: tokens.tokens.length > 0 };
    for (const listener of listeners) listener(tokens);
  }
  if (seen !== undefined) read();
  else everRead = true;

  return {
    inForce() {
      const now = markOf(home);
      if (now !== seen) {
        seen = now;
        read();
      }
      return inForce;
    },
    problems: () => problems,
    onRead: (listener) => void listeners.add(listener),
  };
}

/** What moves whenever the file does; undefined where there is none. */
function markOf(home: string): string | undefined {
  const stat = statSync(join(home, places.tokens), { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.mtimeNs}:${stat.ctimeNs}:${stat.size}:${stat.ino}`;
}

/** Throws Damage. A name is who a caller is: what one token keeps, another of the same name would have. */
function refuseAmbiguous({ tokens }: Tokens): void {
  const names = new Set<string>();
  for (const [at, { name, sha256 }] of tokens.entries()) {
    if (name === "" || TAKEN_NAMES.has(name))
      throw new Damage(`tokens.${at}.name: "${name}" is not a name that a token may have`);
    if (names.has(name)) throw new Damage(`tokens.${at}.name: "${name}" is there twice`);
    if (!/^[0-9a-f]{64}$/i.test(sha256)) throw new Damage(`tokens.${at}.sha256: it is not the SHA-256 of a token in hex`);
    names.add(name);
  }
}

function named({ tokens }: Tokens): string {
  return tokens.length === 0 ? "no token" : tokens.map(({ name }) => name).join(", ");
}
