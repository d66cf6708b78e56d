/**
 * The bridge's session with the daemon, for agents of the older revisions.
 *
 * Owns: the session id, the agent's own handshake kept for replay, the stream of announcements, one re-initialisation at a
 *       time when the daemon does not know the session any more.
 * Speaks: JSON-RPC messages of the agent; Streamable HTTP by bridge-http.ts.
 * Never: lets the agent notice that its session is another one, except that it is told to look at its lists again.
 */
import { isJsonObject } from "../../model/json.js";
import type { JsonObject } from "../../model/json.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import type { Log } from "./agents.js";
import { NotSent } from "./bridge-http.js";
import type { Head, Wire } from "./bridge-http.js";
import type { Daemon } from "./bridge.js";
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

const ACCEPT = { Accept: "application/json, text/event-stream" };
const LISTS = ["tools", "prompts", "resources"] as const;

export function createBridgeSession(parts: SessionParts): BridgeSession {
  const { wire, path, daemon, write, log, ending } = parts;
  /** What the agent said when it opened its session, and what must hold again in the next one. */
  let handshake: JsonObject | undefined;
  let level: JsonObject | undefined;
  const followed = new Map<string, JsonObject>();
  let id: string | undefined;
  let version = "";
  let opening: Promise<void> | undefined;
  let stream: AbortController | undefined;

  const headers = (): Record<string, string> => ({
    ...ACCEPT,
    ...(id === undefined ? {} : { "Mcp-Session-Id": id }),
    ...(version === "" ? {} : { "MCP-Protocol-Version": version }),
  });
  const post = async (body: unknown, signal: AbortSignal, onText: OnText, onHead?: (head: Head) => void): Promise<Head> =>
    wire.send(await daemon.at(), {
      method: "POST",
      path,
      headers: headers(),
      body: JSON.stringify(body),
      signal,
      onText,
      ...(onHead === undefined ? {} : { onHead }),
    });

  /** The agent's own initialize: its answer passes, its session is kept. */
  async function initialize(message: JsonObject, signal: AbortSignal, onText: OnText): Promise<void> {
    handshake = isJsonObject(message["params"]) ? message["params"] : {};
    id = undefined;
    version = "";
    await post(
      message,
      signal,
      (text, head) => {
        learn(text, head);
        onText(text, head);
      },
      (head) => (id = head.session),
    );
  }
  function learn(text: string, head: Head): void {
    if (head.session !== undefined) id = head.session;
    try {
      const answer = JSON.parse(text) as { result?: { protocolVersion?: unknown } };
      if (typeof answer.result?.protocolVersion === "string") version = answer.result.protocolVersion;
    } catch {
      // What is not JSON is told to the agent by the bridge.
    }
  }

  /** A session in the place of one that the daemon does not know: the same handshake, level and followed resources. */
  function reopen(): Promise<void> {
    opening ??= (async () => {
      log("info", "the daemon does not know this session any more; opening another");
      stream?.abort();
      id = undefined;
      version = "";
      const nothing = (): void => undefined;
      const hello = { jsonrpc: "2.0", id: "steward-bridge", method: "initialize", params: handshake ?? {} };
      await post(hello, ending, learn, (head) => (id = head.session));
      if (id === undefined) throw new Error("The daemon opened no session.");
      await post({ jsonrpc: "2.0", method: "notifications/initialized" }, ending, nothing);
      for (const params of [level, ...followed.values()]) {
        if (params === undefined) continue;
        const method = params === level ? "logging/setLevel" : "resources/subscribe";
        await post({ jsonrpc: "2.0", id: `steward-bridge-${method}`, method, params }, ending, nothing);
      }
      listen();
      for (const list of LISTS) write({ jsonrpc: "2.0", method: `notifications/${list}/list_changed` });
    })().finally(() => (opening = undefined));
    return opening;
  }

  /** The session's own stream, opened again whenever it ends. */
  function listen(): void {
    stream?.abort();
    const mine = new AbortController();
    stream = mine;
    ending.addEventListener("abort", () => mine.abort(), { once: true });
    void (async () => {
      let pauseMs: number = SURFACE_LIMITS.bridgeRetryMs;
      while (!mine.signal.aborted) {
        try {
          const head = await wire.send(await daemon.at(), {
            method: "GET",
            path,
            headers: { ...headers(), Accept: "text/event-stream" },
            signal: mine.signal,
            onText: (text) => {
              pauseMs = SURFACE_LIMITS.bridgeRetryMs;
              const message = JSON.parse(text) as JsonObject;
              write(message);
            },
          });
          if (head.status === SESSION_UNKNOWN_STATUS) {
            await reopen();
            return;
          }
        } catch (error) {
          if (error instanceof NotSent) await daemon.findAgain().catch(() => undefined);
        }
        await pause(pauseMs, mine.signal);
        pauseMs = Math.min(SURFACE_LIMITS.bridgeRetryAtMostMs, pauseMs * 2);
      }
    })().catch((error: unknown) => log("debug", "announcements ended", { error: String(error) }));
  }

  function remember(message: JsonObject, method: string | undefined): void {
    const params = isJsonObject(message["params"]) ? message["params"] : {};
    const uri = params["uri"];
    if (method === "logging/setLevel") level = params;
    else if (method === "resources/subscribe" && typeof uri === "string") followed.set(uri, params);
    else if (method === "resources/unsubscribe" && typeof uri === "string") followed.delete(uri);
  }

  async function send(message: unknown, method: string | undefined, signal: AbortSignal, onText: OnText): Promise<void> {
    await opening;
    const used = id;
    const head = await post(message, signal, onText);
    if (method === "notifications/initialized") listen();
    if (head.status !== SESSION_UNKNOWN_STATUS || used === undefined || handshake === undefined) return;
    // The daemon never looked at the message: sending it again in another session is the first time.
    if (id === used) await reopen();
    else await opening;
    const again = await post(message, signal, onText);
    if (again.status === SESSION_UNKNOWN_STATUS) throw new Error("The daemon does not keep the session.");
  }

  return {
    get open() {
      return id !== undefined;
    },
    send(message, method, signal, onText) {
      remember(message, method);
      if (method !== "initialize") return send(message, method, signal, onText);
      const done = initialize(message, signal, onText);
      // What the agent sends before it has its answer waits for the session.
      opening = done.catch(() => undefined).finally(() => (opening = undefined));
      return done;
    },
    sendBatch: (messages, signal, onText) => send(messages, undefined, signal, onText),
    async close() {
      stream?.abort();
      if (id === undefined) return;
      const bound = AbortSignal.timeout(SURFACE_LIMITS.bridgeLastMs);
      const endpoint = await Promise.race([daemon.at(), pause(SURFACE_LIMITS.bridgeLastMs, bound)]).catch(() => undefined);
      if (endpoint === undefined) return;
      await wire
        .send(endpoint, { method: "DELETE", path, headers: headers(), signal: bound, onText: () => undefined })
        .catch(() => undefined);
    },
  };
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
