/**
 * The session port: one live connection to one upstream, whatever the transport and the protocol era.
 *
 * Owns: what the supervisor may ask of a connection, and why a request may stay without an answer.
 * Speaks: requests, answers, streams of a call; milliseconds, bytes.
 * Never: message syntax (translate.ts), reconnecting or resending (supervisor.ts), catalog or presence.
 */
import type { JsonObject } from "../model/json.js";

export type Era = "legacy" | "modern";

/** What an upstream said of itself when the connection was opened. */
export interface Greeting {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly server: { readonly name: string; readonly version: string } | undefined;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
}

export interface SessionRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** Renewed by progress and while the agent is being asked, never beyond `capMs` in all. */
  readonly timeoutMs: number;
  readonly capMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Our own housekeeping (listing, ping): requests of the upstream are never routed to it. */
  readonly internal?: boolean | undefined;
  readonly onProgress?: ((progress: JsonObject) => void) | undefined;
  /** Told of the bytes of the message that is the answer. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  readonly onRequest?: ((method: string, params: JsonObject) => Promise<JsonObject>) | undefined;
  readonly onNotification?: ((method: string, params: JsonObject) => void) | undefined;
  readonly origin?: string | undefined;
  /** Sent with this request where the transport has headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The agent's log level, for upstreams that are told with each request. */
  readonly logLevel?: string | undefined;
  /** The agent's client capabilities, for upstreams that are told with each request. */
  readonly capabilities?: JsonObject | undefined;
}

export interface Session {
  readonly greeting: Greeting;
  readonly transport: "stdio" | "http" | "sse";
  readonly pid: number | undefined;
  /** Throws Refusal (the upstream said no) or Unanswered. */
  request(request: SessionRequest): Promise<JsonObject>;
  notify(method: string, params: JsonObject): void;
  /** Modern era: (re)opens the stream of change notifications for lists and these resource URIs. Legacy: nothing to do. */
  watch(uris: readonly string[]): void;
  /** Requests of agents without an answer yet. */
  inFlight(): number;
  /** When a message, or a part of one, came last (monotonic); now, while an agent is being asked: it is not the upstream's turn. */
  heardMs(): number;
  /** Ends the connection and whatever was started for it; bounded; never rejects. `why` is told to whoever waits, as a clause. */
  close(why?: string): Promise<void>;
}

/** What a session tells its owner. */
export interface SessionEvents {
  /** The lists named by a notification moved. */
  readonly onChanged: (list: "tools" | "prompts" | "resources") => void;
  /** A notification that belongs to no call in flight. */
  readonly onNotification: (method: string, params: JsonObject) => void;
  /** The connection is gone; once, and not after close(). `misbehaved`: we ended it, and a new one may fare no better. */
  readonly onClosed: (reason: string, misbehaved?: boolean) => void;
  readonly log: UpstreamLog;
}

export type UpstreamLog = (level: "debug" | "info" | "warn" | "error", text: string, data?: Record<string, unknown>) => void;

export type UnansweredKind = "timeout" | "cancelled" | "lost" | "expired" | "too-large" | "unreadable" | "busy" | "login";

/**
 * A request stayed without an answer.
 *
 * `notRun` is true only where the upstream cannot have begun: nothing was sent, or it refused before looking at it.
 * `expired`: the transport session is dead (a restarted server); a new one may take the request.
 */
export class Unanswered extends Error {
  readonly kind: UnansweredKind;
  readonly notRun: boolean;
  /** Status of the transport's reply, where it had one. */
  readonly status: number | undefined;
  /** When the request was sent (monotonic), where it was given up for its time. */
  readonly sentMs: number | undefined;
  /** What came instead of an answer, where it can be shown. */
  readonly data: JsonObject | undefined;

  constructor(
    kind: UnansweredKind,
    text: string,
    notRun: boolean,
    options?: { cause?: unknown; status?: number; sentMs?: number; data?: JsonObject | undefined },
  ) {
    super(text, options);
    this.name = "Unanswered";
    this.kind = kind;
    this.notRun = notRun;
    this.status = options?.status;
    this.sentMs = options?.sentMs;
    this.data = options?.data;
  }
}

/** A connection could not be opened. `phase` says how far it came; `needsPerson` that trying again alone cannot help. */
export class ConnectFailed extends Error {
  readonly phase: string;
  readonly needsPerson: "login" | "configuration" | undefined;

  constructor(phase: string, text: string, needsPerson?: "login" | "configuration", options?: { cause?: unknown }) {
    super(`${phase}: ${text}`, options);
    this.name = "ConnectFailed";
    this.phase = phase;
    this.needsPerson = needsPerson;
  }
}

/** The sentence of an unknown throw. */
export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
