/**
 * The calls of one upstream: passed through as they are, sent again at most once, and never where a tool might run twice.
 *
 * Owns: what is added to a request (limits, the agent's allowed headers, answers to questions) and when it is resent.
 * Speaks: the Upstreams port's calls; faults.
 * Never: connecting (it is handed a session); looking into results, except for an upstream's questions.
 */
import type { UpstreamConfig } from "../model/config.js";
import { Refusal } from "../model/fault.js";
import type { JsonObject } from "../model/json.js";
import type { Policy } from "../model/policy.js";
import type { CallOptions, UpstreamCall } from "../model/ports.js";
import { requestWithRounds } from "./bridge.js";
import { toFault } from "./faults.js";
import { forwardedHeaders, markedHeaders } from "./headers.js";
import type { Lister } from "./lister.js";
import { textOf, Unanswered } from "./session.js";
import type { Session, SessionRequest, UpstreamLog } from "./session.js";
import type { Subscriptions } from "./subscriptions.js";
import { callParams, CODE, METHOD, onlyReads, uriOf, withInput, withMeta } from "./translate.js";

export interface Calls {
  call(asked: UpstreamCall): Promise<JsonObject>;
  request(method: string, params: JsonObject, options: CallOptions): Promise<JsonObject>;
  busy(): number;
  readonly counters: { readonly calls: number; readonly failures: number };
}
export interface CallsOptions {
  readonly label: string;
  readonly config: () => UpstreamConfig;
  readonly policy: Policy;
  /** A session, connecting where there is none; rejects early where the signal aborts. */
  readonly connected: (signal: AbortSignal) => Promise<Session>;
  readonly lister: Lister;
  readonly subscriptions: Subscriptions;
  readonly stderr: () => string;
  readonly log: UpstreamLog;
  readonly onAnswer: () => void;
  readonly onUnanswered: (session: Session, error: Unanswered) => void;
  readonly onSettled: (session: Session) => void;
  readonly onBusy: () => void;
  readonly onIdle: () => void;
}

export function createCalls(options: CallsOptions): Calls {
  const { label, lister, subscriptions } = options;
  const counters = { calls: 0, failures: 0 };
  let busy = 0;

  /** One request with what every request has: a session, at most one resend, counters, a fault in the end. */
  async function ask(
    build: (session: Session) => SessionRequest,
    about: { signal: AbortSignal; repeatable: boolean; tool: string | undefined },
  ): Promise<JsonObject> {
    if (busy === 0) options.onBusy();
    busy += 1;
    counters.calls += 1;
    try {
      for (let sent = 1; ; sent += 1) {
        const session = await options.connected(about.signal);
        try {
          const result = await session.request(build(session));
          options.onAnswer();
          return result;
        } catch (error) {
          if (error instanceof Refusal) options.onAnswer();
          else if (error instanceof Unanswered) options.onUnanswered(session, error);
          if (sent > 1 || !mayResend(error, about.repeatable)) throw error;
          options.log("info", `upstream ${label}: a request is sent once more`, { why: textOf(error) });
        } finally {
          options.onSettled(session);
        }
      }
    } catch (error) {
      if (!(error instanceof Refusal)) counters.failures += 1;
      throw toFault(error, { label, tool: about.tool, stderr: options.stderr() });
    } finally {
      busy -= 1;
      if (busy === 0) options.onIdle();
    }
  }

  function passing(request: { method: string; params: JsonObject }, from: CallOptions): SessionRequest {
    const { signal, onProgress, onRequest, onNotification, origin, capabilities } = from;
    const timeoutMs = options.config().callTimeoutMs;
    const capMs = Math.max(options.policy.callCapMs, timeoutMs);
    return { ...request, timeoutMs, capMs, signal, onProgress, onRequest, onNotification, origin, capabilities };
  }

  function headersFor(
    session: Session,
    from: CallOptions,
    tool: string | undefined,
    args: JsonObject,
  ): Record<string, string> | undefined {
    const config = options.config();
    if (config.kind !== "http") return undefined;
    const marked = session.greeting.era === "modern" && tool !== undefined ? markedHeaders(lister.marks(tool), args) : {};
    return { ...forwardedHeaders(config, from.headers), ...marked };
  }

  function sender(from: CallOptions, repeatable: boolean, tool?: string, args: JsonObject = {}) {
    return (request: SessionRequest): Promise<JsonObject> =>
      ask((session) => ({ ...request, headers: headersFor(session, from, tool, args) }), {
        signal: from.signal,
        repeatable,
        tool,
      });
  }

  async function call(asked: UpstreamCall): Promise<JsonObject> {
    const params = withInput(callParams(asked.name, asked.args, asked.meta), asked.inputResponses, asked.requestState);
    const send = sender(asked, asked.repeatable === true, asked.name, asked.args);
    const request = passing({ method: METHOD.callTool, params }, asked);
    const agent = asked.passInputRequired === true ? undefined : asked.onRequest;
    try {
      return await requestWithRounds(send, request, agent);
    } catch (error) {
      // The tool's marks moved since we listed it, and the server refused before running anything.
      if (!(error instanceof Refusal) || error.code !== CODE.headerMismatch) throw error;
      await lister.now("list_changed").catch(() => undefined);
      return requestWithRounds(send, request, agent);
    }
  }

  async function request(method: string, params: JsonObject, from: CallOptions): Promise<JsonObject> {
    const uri = uriOf(params);
    if (uri !== undefined && method === METHOD.subscribe) return subscribe(uri, from);
    if (uri !== undefined && method === METHOD.unsubscribe) return unsubscribe(uri, from);
    const full = withInput(withMeta(params, from.meta), from.inputResponses, from.requestState);
    const agent = from.passInputRequired === true ? undefined : from.onRequest;
    return requestWithRounds(
      sender(from, from.repeatable === true || onlyReads(method)),
      passing({ method, params: full }, from),
      agent,
    );
  }

  async function subscribe(uri: string, from: CallOptions): Promise<JsonObject> {
    // A session that comes up subscribes to what is counted: this one is counted once there is a session to tell.
    await session(from);
    if (!subscriptions.add(uri)) return {};
    try {
      return await tell(METHOD.subscribe, uri, from);
    } catch (error) {
      subscriptions.remove(uri);
      throw error;
    }
  }
  async function unsubscribe(uri: string, from: CallOptions): Promise<JsonObject> {
    return subscriptions.remove(uri) ? tell(METHOD.unsubscribe, uri, from) : {};
  }
  /** Modern upstreams know subscriptions only as part of the stream of changes. */
  async function tell(method: string, uri: string, from: CallOptions): Promise<JsonObject> {
    const current = await session(from);
    if (current.greeting.era === "legacy") {
      return ask(() => passing({ method, params: { uri } }, from), { signal: from.signal, repeatable: true, tool: undefined });
    }
    current.watch(subscriptions.uris());
    return {};
  }
  function session(from: CallOptions): Promise<Session> {
    return options.connected(from.signal).catch((error: unknown) => {
      throw toFault(error, { label, tool: undefined, stderr: options.stderr() });
    });
  }

  return { call, request, busy: () => busy, counters };
}

/** May this be sent once more? Where it surely has not run, or where running twice does no harm. */
function mayResend(error: unknown, repeatable: boolean): boolean {
  if (!(error instanceof Unanswered)) return false;
  if (error.kind === "expired") return true;
  if (error.kind !== "lost") return false;
  const refused = error.status !== undefined && error.status < 500;
  return !refused && (error.notRun || repeatable);
}
