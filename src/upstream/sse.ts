/**
 * Sessions over the old HTTP+SSE transport: one event stream for everything that comes, POSTs for what goes.
 *
 * Owns: that stream as one session: when it drops, the server has forgotten us, and the session is over.
 * Speaks: the session port; the SDK's SSE transport under our own peer.
 * Never: reconnecting by itself (a new stream is a new session: supervisor.ts).
 */
import { SseError, SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { UPSTREAM_LIMITS } from "../model/policy.js";
import { mediaType, rewritten } from "./bodies.js";
import { readSendError } from "./exchanges.js";
import { greet } from "./handshake.js";
import { createAsk, httpIntake, once, ownHeaders, ownStream, route } from "./opening.js";
import type { HttpOpening } from "./opening.js";
import { createPeer } from "./peer.js";
import type { Peer } from "./peer.js";
import { ConnectFailed, textOf, Unanswered } from "./session.js";
import type { Session } from "./session.js";

export async function openSse(opening: HttpOpening): Promise<Session> {
  const { events, net, url } = opening;
  const intake = httpIntake(opening, () => peer);
  // One stream carries all answers; the transport is shown of it what is no message.
  const transport = new SSEClientTransport(url, {
    fetch: async (target, init) => {
      const response = await net.fetch(target, init);
      return mediaType(response) === "text/event-stream" ? rewritten(response, ownStream(intake), () => undefined) : response;
    },
    requestInit: { headers: ownHeaders(opening) },
  });
  let greeted = false;
  const dead = once((reason: string) => {
    void transport.close();
    peer.failAll(new Unanswered("lost", `The upstream's event stream ended: ${reason}.`, false));
    if (greeted) events.onClosed(reason);
  });
  dead.on();
  const sendError = (error: unknown): Error => readSendError(withStatus(error), { hasSession: () => true, onDead: dead });
  const peer: Peer = createPeer({
    elapsedMs: opening.elapsedMs,
    onNotification: (method, params) => route(events, method, params),
    onUnaddressed: opening.onUnaddressed,
    carrier: {
      notifiesCancel: true,
      send: (message) => void transport.send(message as never).catch(() => undefined),
      sendRequest: async (message) => {
        try {
          await transport.send(message as never);
        } catch (error) {
          throw sendError(error);
        }
      },
    },
  });
  try {
    await openStream(transport, opening);
    transport.onerror = (error) => {
      if (error instanceof SseError) dead(error.message);
    };
    const greeting = await greet({
      client: opening.client,
      preferred: "legacy",
      only: true,
      notify: peer.notify,
      ask: createAsk(peer, opening),
    });
    transport.setProtocolVersion(greeting.protocolVersion);
    greeted = true;
    return {
      greeting,
      transport: "sse",
      pid: undefined,
      request: (asked) => peer.request({ ...asked, headers: undefined }),
      notify: peer.notify,
      watch: () => undefined,
      inFlight: () => peer.inFlight(),
      heardMs: () => peer.heardMs(),
      async close() {
        greeted = false;
        dead("the session was ended");
        await net.close();
      },
    };
  } catch (error) {
    dead.off();
    await transport.close();
    throw error;
  }
}

/** Waits for the stream and the address that the server announces on it. */
async function openStream(transport: SSEClientTransport, opening: HttpOpening): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<never>((_, reject) => {
    const late = (why: string) => (): void => reject(new ConnectFailed("event stream", why));
    timer = setTimeout(
      late(`no endpoint was announced within ${opening.timeoutMs} ms`),
      Math.min(opening.timeoutMs, UPSTREAM_LIMITS.listMs),
    );
    opening.signal.addEventListener("abort", late("the attempt was given up"), { once: true });
  });
  try {
    await Promise.race([transport.start(), bound]);
  } catch (error) {
    if (error instanceof ConnectFailed) throw error;
    const status = error instanceof SseError ? error.code : undefined;
    throw new ConnectFailed("event stream", textOf(error), undefined, {
      cause: status === undefined ? error : new Unanswered("lost", textOf(error), true, { status, cause: error }),
    });
  } finally {
    clearTimeout(timer);
  }
}

/** This transport of the SDK keeps the status in its sentence only. */
function withStatus(error: unknown): unknown {
  const found = /\(HTTP (\d{3})\)/.exec(textOf(error));
  return found?.[1] === undefined ? error : Object.assign(new Error(textOf(error)), { status: Number(found[1]) });
}
