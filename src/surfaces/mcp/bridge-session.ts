/**
 * The bridge's session with the daemon, for agents of the older revisions.
 *
 * Owns: the session id, the agent's own handshake kept for replay, the stream of announcements, one re-initialisation at a
 *       time when the daemon does not know the session any more.
 * Speaks: JSON-RPC messages of the agent; Streamable HTTP by bridge-http.ts.
 * Never: lets the agent notice that its session is another one, except that it is told to look at its lists again; starts a
 *        daemon only to hear announcements.
 */
import { isJsonObject } from "../../model/json.js";
import type { JsonObject } from "../../model/json.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import type { Log } from "./agents.js";
import type { Daemon } from "./bridge-finder.js";
import { NotSent } from "./bridge-http.js";
import type { Exchange, Head, Wire } from "./bridge-http.js";
import { SESSION_UNKNOWN_STATUS } from "./translate.js";

export interface SessionParts {
  readonly wire: Wire;
  readonly path: string;
  readonly daemon: Daemon;
  readonly write: (message: JsonObject) => void;
  readonly log: Log;
  readonly ending: AbortSignal;
}
type OnText = (text: string, head: Head) => void;

export interface BridgeSession {
  /** Is there a session that the agent opened? */
  readonly open: boolean;
  send(message: JsonObject, method: string | undefined, signal: AbortSignal, onText: OnText): Promise<void>;
  sendBatch(messages: readonly unknown[], signal: AbortSignal, onText: OnText): Promise<void>;
  /** Ends the session at the daemon, as far as that works in a short time. */
  close(): Promise<void>;
}

const LISTS = ["tools", "prompts", "resources"] as const;
const nothing = (): void => undefined;

export function createBridgeSession(parts: SessionParts): BridgeSession {
  const { write, log, ending } = parts;
  const memory = createMemory();
  const link = createLink(parts);
  const announcements = createAnnouncements(parts, link, reopen);
  let opening: Promise<void> | undefined;

  /** A session in the place of one that the daemon does not know: the same handshake, level and followed resources. */
  function reopen(): Promise<void> {
    opening ??= (async () => {
      log("info", "the daemon does not know this session any more; opening another");
      announcements.stop();
      await link.open(
        { jsonrpc: "2.0", id: "steward-bridge", method: "initialize", params: memory.handshake ?? {} },
        ending,
        nothing,
      );
      for (const message of memory.replay()) await link.post(message, ending, nothing);
      announcements.start();
      for (const list of LISTS) write({ jsonrpc: "2.0", method: `notifications/${list}/list_changed` });
    })().finally(() => (opening = undefined));
    return opening;
  }

  async function send(message: unknown, method: string | undefined, signal: AbortSignal, onText: OnText): Promise<void> {
    await opening;
    const used = link.id;
    const head = await link.post(message, signal, onText);
    if (head.status !== SESSION_UNKNOWN_STATUS || used === undefined || memory.handshake === undefined) {
      if (method === "notifications/initialized") announcements.start();
      else announcements.resume();
      return;
    }
    // The daemon never looked at the message: sending it again in another session is the first time.
    if (link.id === used) await reopen();
    else await opening;
    const again = await link.post(message, signal, onText);
    if (again.status === SESSION_UNKNOWN_STATUS) throw new Error("The daemon does not keep the session.");
  }

  return {
    get open() {
      return link.id !== undefined;
    },
    send(message, method, signal, onText) {
      memory.take(message, method);
      if (method !== "initialize") return send(message, method, signal, onText);
      const done = link.open(message, signal, onText);
      // What the agent sends before it has its answer waits for the session.
      opening = done.catch(nothing).finally(() => (opening = undefined));
      return done;
    },
    sendBatch: (messages, signal, onText) => send(messages, undefined, signal, onText),
    async close() {
      announcements.stop();
      await link.end();
    },
  };
}

/** What the agent said when it opened its session, and what must hold again in the next one. */
function createMemory() {
  let level: JsonObject | undefined;
  const followed = new Map<string, JsonObject>();
  const memory = {
    handshake: undefined as JsonObject | undefined,
    take(message: JsonObject, method: string | undefined): void {
      const params = isJsonObject(message["params"]) ? message["params"] : {};
      const uri = params["uri"];
      if (method === "initialize") memory.handshake = params;
      else if (method === "logging/setLevel") level = params;
      else if (method === "resources/subscribe" && typeof uri === "string") followed.set(uri, params);
      else if (method === "resources/unsubscribe" && typeof uri === "string") followed.delete(uri);
    },
    /** Messages that make a fresh session what the old one was. */
    replay(): JsonObject[] {
      const request = (method: string, params: JsonObject, at: number): JsonObject => ({
        jsonrpc: "2.0",
        id: `steward-bridge-${at}`,
        method,
        params,
      });
      return [
        { jsonrpc: "2.0", method: "notifications/initialized" },
        ...(level === undefined ? [] : [request("logging/setLevel", level, 0)]),
        ...[...followed.values()].map((params, at) => request("resources/subscribe", params, at + 1)),
      ];
    },
  };
  return memory;
}

type Link = ReturnType<typeof createLink>;

/** The session as the daemon knows it: its id, its revision, requests under both. */
function createLink({ wire, daemon, path }: SessionParts) {
  let version = "";
  const send = async (exchange: Omit<Exchange, "path" | "headers">, accept: string): Promise<Head> => {
    const headers = {
      Accept: accept,
      ...(link.id === undefined ? {} : { "Mcp-Session-Id": link.id }),
      ...(version === "" ? {} : { "MCP-Protocol-Version": version }),
    };
    return wire.send(await daemon.at(), { ...exchange, path, headers });
  };
  function learn(text: string): void {
    try {
      const answer = JSON.parse(text) as { result?: { protocolVersion?: unknown } };
      if (typeof answer.result?.protocolVersion === "string") version = answer.result.protocolVersion;
    } catch {
      // What is not JSON is told to the agent by the bridge.
    }
  }
  const link = {
    id: undefined as string | undefined,
    post: (body: unknown, signal: AbortSignal, onText: OnText, onHead: (head: Head) => void = nothing): Promise<Head> =>
      send({ method: "POST", body: JSON.stringify(body), signal, onText, onHead }, "application/json, text/event-stream"),
    /** Opens a session with an initialize of the agent or in its name. */
    async open(hello: JsonObject, signal: AbortSignal, onText: OnText): Promise<void> {
      link.id = undefined;
      version = "";
      const onAnswer: OnText = (text, head) => {
        learn(text);
        onText(text, head);
      };
      await link.post(hello, signal, onAnswer, (head) => (link.id = head.session));
    },
    stream: (signal: AbortSignal, onText: OnText): Promise<Head> => send({ method: "GET", signal, onText }, "text/event-stream"),
    async end(): Promise<void> {
      if (link.id === undefined) return;
      const bound = AbortSignal.timeout(SURFACE_LIMITS.bridgeByeMs);
      const ended = send({ method: "DELETE", signal: bound, onText: nothing }, "application/json").catch(nothing);
      await Promise.race([ended, pause(SURFACE_LIMITS.bridgeByeMs, bound)]);
    },
  };
  return link;
}

/** The session's own stream, opened again whenever it ends: an idle stream that is dropped is normal. It rests while no daemon is there. */
function createAnnouncements(parts: SessionParts, link: Link, reopen: () => Promise<void>) {
  let present: AbortController | undefined;
  let rests = false;

  async function read(signal: AbortSignal): Promise<void> {
    let pauseMs: number = SURFACE_LIMITS.bridgeRetryMs;
    const onText = (text: string): void => {
      pauseMs = SURFACE_LIMITS.bridgeRetryMs;
      parts.write(JSON.parse(text) as JsonObject);
    };
    while (!signal.aborted) {
      try {
        const head = await link.stream(signal, onText);
        if (head.status === SESSION_UNKNOWN_STATUS) return await reopen();
      } catch (error) {
        rests = error instanceof NotSent && !signal.aborted;
        if (rests) return;
      }
      await pause(pauseMs, signal);
      pauseMs = Math.min(SURFACE_LIMITS.bridgeRetryAtMostMs, pauseMs * 2);
    }
  }
  const stop = (): void => present?.abort();
  function start(): void {
    stop();
    const mine = new AbortController();
    present = mine;
    rests = false;
    parts.ending.addEventListener("abort", () => mine.abort(), { once: true });
    read(mine.signal).catch((error: unknown) => parts.log("debug", "announcements ended", { error: String(error) }));
  }
  return { stop, start, resume: (): void => (rests ? start() : undefined) };
}

function pause(ms: number, signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve(undefined);
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
    if (signal.aborted) done();
  });
}
