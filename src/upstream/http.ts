/**
 * Sessions over HTTP: Streamable HTTP in both eras, and the old HTTP+SSE transport where a server has nothing newer.
 *
 * Owns: which of the three it is, the session id, the stream of what belongs to no call, a polite end.
 * Speaks: the session port; SDK transports (`@modelcontextprotocol/sdk` for legacy servers, `@modelcontextprotocol/client`
 * for modern ones) under our own peer.
 * Never: credentials but the configured headers and the agent headers that the configuration allows by name.
 */
import { StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import {
  StreamableHTTPClientTransport as LegacyTransport,
  StreamableHTTPError,
} from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Refusal } from "../model/fault.js";
import type { JsonObject } from "../model/json.js";
import { UPSTREAM_LIMITS } from "../model/policy.js";
import { mediaType, rewritten } from "./bodies.js";
import { createExchanges, RESUME_TRIES } from "./exchanges.js";
import type { HttpTransport } from "./exchanges.js";
import { greet } from "./handshake.js";
import { loginNeeded } from "./login.js";
import { ADDRESS_REFUSED, createNet, readNetError } from "./net-guard.js";
import type { Fetch } from "./net-guard.js";
import { createAsk, httpIntake, once, ownHeaders, ownStream, route } from "./opening.js";
import type { HttpOpening, HttpOptions } from "./opening.js";
import { createPeer } from "./peer.js";
import type { Peer } from "./peer.js";
import { ConnectFailed, textOf, Unanswered } from "./session.js";
import type { Greeting, Session } from "./session.js";
import { openSse } from "./sse.js";
import { DECLARED_CAPABILITIES, METHOD, withEnvelope } from "./translate.js";
import { createWatcher } from "./watcher.js";

/** Connects and greets. Rejects with ConnectFailed; no connection is left then. */
export async function openHttp(options: HttpOptions): Promise<Session> {
  const url = readUrl(options.config.url);
  const net = createNet({ connectTimeoutMs: options.timeoutMs, env: options.baseEnv });
  const opening: HttpOpening = { ...options, url, net };
  try {
    if (options.config.transport === "sse") return await openSse(opening);
    return await openStreamable(opening).catch((error: unknown) => {
      // Servers of the first transport answer a POST at this address with a refusal of the method or the path.
      if (!refusesPost(error)) throw error;
      return openSse(opening).catch(() => {
        throw error;
      });
    });
  } catch (error) {
    await net.close();
    throw explain(error, options.config);
  }
}

function refusesPost(error: unknown): boolean {
  const status = error instanceof ConnectFailed && error.cause instanceof Unanswered ? error.cause.status : undefined;
  return status === 400 || status === 404 || status === 405 || status === 406;
}

async function openStreamable(opening: HttpOpening): Promise<Session> {
  const legacy = createLegacyPipe(opening);
  const modern = createModernPipe(opening);
  const askLegacy = createAsk(legacy.peer, opening);
  const askModern = createAsk(modern.peer, opening);
  try {
    const greeting = await greet({
      client: opening.client,
      preferred: opening.preferred,
      only: opening.only,
      notify: legacy.peer.notify,
      ask: async (method, params) => {
        if (method === METHOD.discover) return askModern(method, params);
        const result = await askLegacy(method, params);
        legacy.greeted(result);
        return result;
      },
    });
    const better =
      greeting.era === "legacy" && !opening.only && !legacy.hasSession() ? await preferModern(modern.peer, opening) : undefined;
    if (better !== undefined) {
      legacy.closeAll();
      return modern.session(better);
    }
    return greeting.era === "modern" ? modern.session(greeting) : legacy.session(greeting);
  } catch (error) {
    legacy.closeAll();
    modern.closeAll();
    throw error;
  }
}

/**
 * A legacy greeting without a session is a server that keeps nothing between requests: it can neither announce changes
 * nor ask questions. If it speaks the modern revision too, that is the fuller of the two.
 */
async function preferModern(peer: Peer, opening: HttpOpening): Promise<Greeting | undefined> {
  const ask = createAsk(peer, { ...opening, timeoutMs: Math.min(opening.timeoutMs, UPSTREAM_LIMITS.pingMs) });
  try {
    return await greet({ ask, notify: () => undefined, client: opening.client, preferred: "modern", only: true });
  } catch {
    return undefined;
  }
}

/** A way to a server: its peer, and the session once it has been greeted. */
interface Pipe {
  readonly peer: Peer;
  readonly closeAll: () => void;
  readonly session: (greeting: Greeting) => Session;
}

function createLegacyPipe(opening: HttpOpening): Pipe & { greeted: (result: JsonObject) => void; hasSession: () => boolean } {
  const { config, events, net, url } = opening;
  let sessionId: string | undefined;
  let version: string | undefined;
  let main: LegacyTransport | undefined;
  let ownStreams = 0;
  const dead = once((reason: string) => events.onClosed(reason));

  const transport = (fetch: Fetch, headers: Readonly<Record<string, string>>, tries: number): LegacyTransport => {
    const made = new LegacyTransport(url, {
      fetch,
      requestInit: { headers: { ...ownHeaders(opening), ...headers } },
      reconnectionOptions: {
        initialReconnectionDelay: 1_000,
        maxReconnectionDelay: 30_000,
        reconnectionDelayGrowFactor: 2,
        maxRetries: tries,
      },
      ...(sessionId === undefined ? {} : { sessionId }),
    });
    if (version !== undefined) made.setProtocolVersion(version);
    return made;
  };

  /** Carries notifications, answers, and the stream of what belongs to no call. */
  function openMain(): LegacyTransport {
    let unreachable = 0;
    let streams = 0;
    ownStreams = 0;
    const made = transport(
      async (target, init) => {
        try {
          const response = await net.fetch(target, init);
          unreachable = 0;
          // What changed while the stream was down was not told: look once.
          if (init?.method === "GET" && response.ok && streams++ > 0) events.onChanged("tools");
          if (mediaType(response) !== "text/event-stream") return response;
          if (init?.method === "GET") ownStreams += 1;
          return rewritten(response, ownStream(intake), () => (ownStreams -= init?.method === "GET" ? 1 : 0));
        } catch (error) {
          // An idle stream that dropped is normal and reconnects; a server that stays away is an outage.
          if (init?.method === "GET" && !closed() && ++unreachable > 1) dead(`unreachable: ${readNetError(error).text}`);
          throw error;
        }
      },
      {},
      Number.MAX_SAFE_INTEGER,
    );
    made.onerror = (error) => {
      if (error instanceof StreamableHTTPError && error.code === 404 && sessionId !== undefined && !closed()) {
        dead("the upstream does not know the session any more (HTTP 404)");
      }
    };
    void made.start();
    return made;
  }
  let ended = false;
  const closed = (): boolean => ended;

  const intake = httpIntake(opening, () => peer);
  const exchanges = createExchanges({
    fetch: net.fetch,
    transport: (fetch, headers) => transport(fetch, headers, RESUME_TRIES) as HttpTransport,
    peer: () => peer,
    hasSession: () => sessionId !== undefined,
    hearsElsewhere: () => ownStreams > 0,
    intake,
    onOpened: (headers) => {
      sessionId ??= headers.get("mcp-session-id") ?? undefined;
    },
    send: (message) => {
      main ??= openMain();
      main
        .send(message as never)
        .catch((error: unknown) =>
          events.log("debug", `upstream ${config.label}: a notification was not delivered`, { why: textOf(error) }),
        );
    },
    notifiesCancel: true,
    onDead: dead,
  });
  const peer: Peer = createPeer({
    carrier: exchanges,
    elapsedMs: opening.elapsedMs,
    onNotification: (method, params) => route(events, method, params),
    onUnaddressed: opening.onUnaddressed,
  });

  return {
    peer,
    closeAll() {
      exchanges.closeAll();
      void main?.close();
    },
    hasSession: () => sessionId !== undefined,
    greeted: (result) => {
      version = typeof result["protocolVersion"] === "string" ? result["protocolVersion"] : undefined;
    },
    session: (greeting) => (
      dead.on(),
      {
        greeting,
        transport: "http",
        pid: undefined,
        request: (asked) => peer.request(asked).catch((error: unknown) => checkSession(error, peer, dead)),
        notify: peer.notify,
        watch: () => undefined,
        inFlight: () => peer.inFlight(),
        heardMs: () => peer.heardMs(),
        async close() {
          ended = true;
          dead.off();
          peer.failAll(new Unanswered("lost", "The session was ended.", false));
          exchanges.closeAll();
          await farewell(main);
          await net.close();
        },
      }
    ),
  };
}

/** Servers that answer 400 to a dead session: one ping tells a dead session from a refused request. */
async function checkSession(error: unknown, peer: Peer, dead: (reason: string) => void): Promise<never> {
  if (!(error instanceof Unanswered) || error.status !== 400) throw error;
  try {
    await peer.request({
      method: METHOD.ping,
      params: {},
      timeoutMs: UPSTREAM_LIMITS.pingMs,
      capMs: UPSTREAM_LIMITS.pingMs,
      internal: true,
    });
  } catch (second) {
    if (second instanceof Unanswered && second.status === 400) {
      dead("the upstream refuses the session (HTTP 400)");
      throw new Unanswered("expired", "The upstream does not know the session any more (HTTP 400 to a ping as well).", true, {
        status: 400,
      });
    }
  }
  throw error.cause instanceof Refusal ? error.cause : error;
}

async function farewell(main: LegacyTransport | undefined): Promise<void> {
  if (main === undefined) return;
  const polite = main.terminateSession().catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<void>((done) => (timer = setTimeout(done, UPSTREAM_LIMITS.farewellMs)));
  await Promise.race([polite, bound]);
  clearTimeout(timer);
  await main.close();
}

function createModernPipe(opening: HttpOpening): Pipe {
  const { events, net, url } = opening;
  const dead = once((reason: string) => events.onClosed(reason));
  const intake = httpIntake(opening, () => peer);
  const exchanges = createExchanges({
    fetch: net.fetch,
    transport: (fetch, headers) =>
      new ModernTransport(url, {
        fetch: fetch as never,
        requestInit: { headers: { ...ownHeaders(opening), ...headers } },
        reconnectionOptions: {
          initialReconnectionDelay: 1_000,
          maxReconnectionDelay: 30_000,
          reconnectionDelayGrowFactor: 2,
          maxRetries: RESUME_TRIES,
        },
      }) as HttpTransport,
    peer: () => peer,
    hasSession: () => false,
    hearsElsewhere: () => false,
    intake,
    onOpened: () => undefined,
    // There is nothing to say outside of requests: cutting a stream is the cancellation.
    send: () => undefined,
    notifiesCancel: false,
    onDead: dead,
  });
  const peer: Peer = createPeer({
    carrier: exchanges,
    elapsedMs: opening.elapsedMs,
    onNotification: (method, params) => route(events, method, params),
    onUnaddressed: opening.onUnaddressed,
  });
  return {
    peer,
    closeAll: exchanges.closeAll,
    session: (greeting) => {
      const request: Session["request"] = (asked) => {
        const capabilities = asked.capabilities ?? (asked.onRequest === undefined ? {} : DECLARED_CAPABILITIES);
        return peer.request({
          ...asked,
          params: withEnvelope(asked.params, opening.client, capabilities, asked.logLevel),
        });
      };
      const watcher = createWatcher({ capabilities: greeting.capabilities, request, events });
      dead.on();
      return {
        greeting,
        transport: "http",
        pid: undefined,
        request,
        notify: () => undefined,
        watch: (uris) => watcher.set(uris),
        inFlight: () => peer.inFlight(),
        heardMs: () => peer.heardMs(),
        async close() {
          dead.off();
          watcher.stop();
          peer.failAll(new Unanswered("lost", "The session was ended.", false));
          exchanges.closeAll();
          await net.close();
        },
      };
    },
  };
}

function readUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new ConnectFailed("address", `"${text}" is no URL`, "configuration");
  }
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new ConnectFailed("address", `"${text}" is not an http or https URL`, "configuration");
  return url;
}

/** Adds what a person can do about it, where only a person can. */
function explain(error: unknown, config: HttpOptions["config"]): ConnectFailed {
  const failed =
    error instanceof ConnectFailed ? error : new ConnectFailed("connect", textOf(error), undefined, { cause: error });
  const cause = failed.cause;
  if (cause instanceof Unanswered && (cause.kind === "login" || cause.status === 401 || cause.status === 403)) {
    return new ConnectFailed(failed.phase, loginNeeded(config, cause.status ?? 401), "login", { cause });
  }
  if (readNetError(cause instanceof Unanswered ? cause.cause : cause).code === ADDRESS_REFUSED) {
    return new ConnectFailed("address", readNetError(cause).text, "configuration", { cause });
  }
  return failed;
}
