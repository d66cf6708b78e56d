/**
 * Streamable HTTP as a carrier: each request is an exchange of its own, on its own SDK transport.
 *
 * Owns: one transport object per request (so that what arrives on its stream is known to belong to it, and cutting one
 * cuts no other), the end of replies without an answer, what a status means.
 * Speaks: HTTP statuses, JSON-RPC messages as opaque objects.
 * Never: handshakes, sessions' ends (http.ts); resuming (the SDK's, which is not shown the messages: its schemas would
 * drop what they do not know, and whoever waits would wait on).
 */
import type { JsonObject } from "../model/json.js";
import { UPSTREAM_LIMITS } from "../model/policy.js";
import { emptied, mediaType, NO_CONTENT_YET, readWhole, rewritten } from "./bodies.js";
import { createEventReader } from "./events.js";
import type { EventReader } from "./events.js";
import { tooLarge } from "./intake.js";
import type { Intake } from "./intake.js";
import { ADDRESS_REFUSED, readNetError } from "./net-guard.js";
import type { Fetch } from "./net-guard.js";
import type { Carrier, Peer } from "./peer.js";
import { Unanswered } from "./session.js";
import type { SessionRequest } from "./session.js";
import { refusalInBody } from "./text.js";
import { answerMessage } from "./translate.js";

/** What both SDK lines' Streamable HTTP transports have in common. */
export interface HttpTransport {
  onmessage?: ((message: never) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  start(): Promise<void>;
  send(message: never, options?: { onresumptiontoken?: (token: string) => void }): Promise<void>;
  close(): Promise<void>;
}
export interface ExchangesOptions {
  readonly fetch: Fetch;
  /** A fresh transport that uses this fetch; `headers` go with its requests. */
  readonly transport: (fetch: Fetch, headers: Readonly<Record<string, string>>) => HttpTransport;
  readonly peer: () => Peer;
  readonly hasSession: () => boolean;
  /** A stream stands on which an answer may come that its own reply did not bring. */
  readonly hearsElsewhere: () => boolean;
  /** Takes what upstreams write. */
  readonly intake: Intake;
  /** A request is being answered: the headers may name the session. */
  readonly onOpened: (headers: Headers) => void;
  /** Sends what belongs to no request of ours (answers, notifications). */
  readonly send: (message: JsonObject) => void;
  readonly notifiesCancel: boolean;
  /** The session is dead or the server is not there. */
  readonly onDead: (reason: string) => void;
}

interface Exchange {
  readonly transport: HttpTransport;
  /** The upstream gave its stream positions: the transport resumes it after a drop. */
  resumable: boolean;
  ended: boolean;
  failedResumes: number;
}

/** Attempts of the transport to resume a dropped stream before its request counts as lost. */
export const RESUME_TRIES = 3;
/** Events that were read before a stream ended may still be on their way through the parser. */
const SETTLE_MS = 50;
/** A stream that goes on after its answer is cut after this. */
const LINGER_MS = 2_000;

export function createExchanges(options: ExchangesOptions): Carrier & { closeAll(): void } {
  const exchanges = new Map<number, Exchange>();

  function open(id: number, request: SessionRequest): Exchange {
    const exchange: Exchange = {
      transport: options.transport((url, init) => fetchFor(id, exchange, url, init), request.headers ?? {}),
      resumable: false,
      ended: true,
      failedResumes: 0,
    };
    // What the transport itself makes a message of: a modern server's refusal with its own status, and our stand-ins.
    exchange.transport.onmessage = (message) => void options.peer().receive(message, id);
    exchanges.set(id, exchange);
    return exchange;
  }

  async function fetchFor(id: number, exchange: Exchange, url: string | URL, init: RequestInit | undefined): Promise<Response> {
    const resuming = init?.method === "GET";
    const lost = (text: string): void => {
      exchange.failedResumes += 1;
      if (exchange.failedResumes > RESUME_TRIES) options.peer().fail(id, new Unanswered("lost", text, false));
    };
    let response: Response;
    try {
      response = await options.fetch(url, init);
    } catch (error) {
      if (resuming) lost(`The stream with the answer broke and could not be resumed: ${readNetError(error).text}.`);
      throw error;
    }
    options.peer().heard();
    if (resuming && !response.ok) {
      if (response.status === 404 || response.status === 405) exchange.failedResumes = RESUME_TRIES;
      lost(`The stream with the answer broke and could not be resumed: HTTP ${response.status}.`);
    }
    if (!response.ok) return response;
    if (response.status === NO_CONTENT_YET || response.body === null) {
      // Some servers answer on their own stream instead; where none stands, nothing more can come.
      if (!resuming && !options.hearsElsewhere())
        options
          .peer()
          .fail(id, notAnAnswer(`The upstream took the request with HTTP ${response.status} and gave no answer to it.`));
      return response;
    }
    options.onOpened(response.headers);
    const type = mediaType(response);
    if (type === "text/event-stream") {
      exchange.ended = false;
      const reader = eventsOf(id);
      return rewritten(response, reader, () => onStreamEnd(id, exchange));
    }
    if (resuming) return response;
    if (type === "application/json") await takeBody(id, response);
    else
      options
        .peer()
        .fail(id, notAnAnswer(`The upstream replied with ${type === "" ? "no content type" : type} instead of JSON.`));
    return emptied(response);
  }

  /** Messages are handed over as they were written; the transport is shown that there was an answer, and nothing of it. */
  function eventsOf(id: number): EventReader {
    const reader = createEventReader({
      maxBytes: UPSTREAM_LIMITS.messageBytes,
      onMessage(text, bytes) {
        options.intake.text(text, bytes, id);
        return exchanges.has(id) ? "" : JSON.stringify(answerMessage(id, {}));
      },
      onTooLong: (remains) => options.intake.tooLong(remains, id),
    });
    return {
      push(chunk) {
        options.peer().heard();
        return reader.push(chunk);
      },
    };
  }

  async function takeBody(id: number, response: Response): Promise<void> {
    const body = await readWhole(response, (bytes) => options.peer().fail(id, tooLarge(bytes)));
    if (body === undefined) return;
    const text = body.toString("utf8");
    options.intake.text(text, body.length, id);
    // The whole reply was read: what it did not answer stays unanswered.
    if (exchanges.has(id))
      options.peer().fail(id, refusalInBody(text) ?? notAnAnswer("What the upstream replied holds no answer to the request."));
  }

  function onStreamEnd(id: number, exchange: Exchange): void {
    exchange.ended = true;
    if (exchange.resumable) return;
    setTimeout(
      () => options.peer().fail(id, new Unanswered("lost", "The stream ended before the answer came.", false)),
      SETTLE_MS,
    ).unref();
  }

  return {
    notifiesCancel: options.notifiesCancel,
    send: options.send,
    async sendRequest(message, id, request) {
      const exchange = open(id, request);
      try {
        await exchange.transport.start();
        await exchange.transport.send(message as never, { onresumptiontoken: () => void (exchange.resumable = true) });
      } catch (error) {
        throw readSendError(error, options);
      }
    },
    release(id, answered) {
      const exchange = exchanges.get(id);
      exchanges.delete(id);
      if (exchange === undefined) return;
      // An answered stream is about to end; cutting it would cost its connection.
      if (!answered) void exchange.transport.close();
      else if (!exchange.ended) setTimeout(() => void exchange.transport.close(), LINGER_MS).unref();
    },
    closeAll() {
      for (const exchange of exchanges.values()) void exchange.transport.close();
      exchanges.clear();
    },
  };
}

function notAnAnswer(text: string): Unanswered {
  return new Unanswered("unreadable", text, false);
}

/** What a failed send means. Statuses alone decide, but for a protocol error in the body: that is the upstream's answer. */
export function readSendError(error: unknown, session: Pick<ExchangesOptions, "hasSession" | "onDead">): Error {
  if (error instanceof Unanswered) return error;
  const status = statusOf(error);
  if (status === undefined) return readBrokenSend(error, session);
  const text = bodyOf(error);
  if (status === 404 && session.hasSession()) {
    session.onDead("the upstream does not know the session any more (HTTP 404)");
    return new Unanswered("expired", "The upstream does not know the session any more (HTTP 404).", true, { status });
  }
  const said = refusalInBody(text);
  const shown = said?.message ?? (text === undefined || text === "" ? undefined : text.slice(0, 300));
  const words = shown === undefined ? "" : `: ${shown}`;
  // Who is not known is refused by the transport, whatever body goes along.
  if (status === 401 || (status === 403 && said === undefined))
    return new Unanswered("login", `The upstream does not let this request in (HTTP ${status}${words}).`, true, { status });
  if (said !== undefined && !(status === 400 && session.hasSession())) return said;
  if (status === 429) return new Unanswered("busy", "The upstream takes no more requests now (HTTP 429).", true, { status });
  return new Unanswered("lost", `The upstream refused the request with HTTP ${status}${words}.`, status < 500, {
    status,
    cause: said ?? error,
  });
}

function readBrokenSend(error: unknown, session: Pick<ExchangesOptions, "onDead">): Error {
  const { code, text, neverSent } = readNetError(error);
  if (neverSent && code !== ADDRESS_REFUSED) session.onDead(text);
  return new Unanswered("lost", `The upstream cannot be reached: ${text}.`, neverSent, { cause: error });
}

/** Both SDK lines put the status into their errors, each in its own place. */
function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const found = ("status" in error && error.status) || ("code" in error && error.code);
  return typeof found === "number" && found >= 100 && found < 600 ? found : undefined;
}
function bodyOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const data: unknown = "data" in error ? error.data : undefined;
  if (typeof data === "object" && data !== null && "text" in data && typeof data.text === "string") return data.text;
  return /Error POSTing to endpoint: ([\s\S]*)$/.exec(error.message)?.[1];
}
