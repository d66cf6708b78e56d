/**
 * What every kind of session is opened with, and the two small things they all do.
 *
 * Owns: the options of an attempt to connect; the routing of notifications that belong to no call.
 * Speaks: the session port.
 * Never: a transport of its own.
 */
import type { HttpUpstream } from "../model/config.js";
import type { JsonObject } from "../model/json.js";
import { UPSTREAM_LIMITS } from "../model/policy.js";
import { createEventReader } from "./events.js";
import type { EventReader } from "./events.js";
import { createIntake } from "./intake.js";
import type { Intake } from "./intake.js";
import type { Net } from "./net-guard.js";
import type { Peer } from "./peer.js";
import { ConnectFailed, Unanswered } from "./session.js";
import type { Era, SessionEvents } from "./session.js";
import { changedList } from "./translate.js";
import type { ClientIdentity } from "./translate.js";

export interface OpenOptions {
  readonly client: ClientIdentity;
  readonly events: SessionEvents;
  readonly elapsedMs: () => number;
  /** For everything up to the greeting. */
  readonly timeoutMs: number;
  readonly preferred: Era | undefined;
  readonly only: boolean;
  /** Gives the attempt up. */
  readonly signal: AbortSignal;
  /** A text where a message should be; with its first characters. */
  readonly onNoise: (head: string) => void;
  /** An answer that names no request; with what became of it. */
  readonly onUnaddressed: (sentence: string) => void;
}
export interface HttpOptions extends OpenOptions {
  readonly config: HttpUpstream;
  readonly baseEnv: Readonly<Record<string, string>>;
}
/** What the kinds of HTTP sessions share while they are opened. */
export interface HttpOpening extends HttpOptions {
  readonly url: URL;
  readonly net: Net;
}

/** Headers of every request of an upstream: the configured ones, and who we are. */
export function ownHeaders({ client, config }: HttpOptions): Record<string, string> {
  return { "user-agent": `${client.name}/${client.version}`, ...config.headers };
}

/** Asks during the handshake, within what is left of the connect timeout; silence is told as the phase's. */
export function createAsk(
  peer: Peer,
  { timeoutMs, elapsedMs, signal }: Pick<OpenOptions, "timeoutMs" | "elapsedMs" | "signal">,
): (method: string, params: JsonObject) => Promise<JsonObject> {
  const startedMs = elapsedMs();
  return async (method, params) => {
    const leftMs = Math.max(1, timeoutMs - (elapsedMs() - startedMs));
    try {
      return await peer.request({ method, params, timeoutMs: leftMs, capMs: leftMs, internal: true, signal });
    } catch (error) {
      if (!(error instanceof Unanswered) || error.kind !== "timeout") throw error;
      throw new ConnectFailed(method, `no answer within the connect timeout of ${timeoutMs} ms`, undefined, { cause: error });
    }
  };
}

/** A notification that no call accounts for. Moved tool lists are ours to follow; the rest may concern agents. */
export function route(events: SessionEvents, method: string, params: JsonObject): void {
  const list = changedList(method);
  if (list !== undefined) events.onChanged(list);
  if (list !== "tools") events.onNotification(method, params);
}

/** Takes what an HTTP upstream writes. */
export function httpIntake({ config, events, onNoise }: HttpOptions, peer: () => Peer): Intake {
  return createIntake({
    peer,
    onNoise,
    onLost: (sentence) => events.log("warn", `upstream ${config.label}: ${sentence}`),
  });
}

/** Reads the event stream of what belongs to no request of its own. */
export function ownStream(intake: Intake): EventReader {
  return createEventReader({
    maxBytes: UPSTREAM_LIMITS.messageBytes,
    onMessage: (text, bytes) => (intake.text(text, bytes), ""),
    onTooLong: (remains) => intake.tooLong(remains),
  });
}

/** Calls through once while armed; starts unarmed. */
export function once(call: (reason: string) => void): ((reason: string) => void) & { on: () => void; off: () => void } {
  let armed = false;
  const first = (reason: string): void => {
    if (!armed) return;
    armed = false;
    call(reason);
  };
  return Object.assign(first, { on: () => void (armed = true), off: () => void (armed = false) });
}
