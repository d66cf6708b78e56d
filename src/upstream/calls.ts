/**
 * The calls of one upstream: passed through as they are, sent again at most once, and never where a tool might run twice.
 *
 * Owns: what is added to a request (limits, the agent's allowed headers, answers to questions) and when it is resent.
 * Speaks: the Upstreams port's calls; faults.
 * Never: connecting (it is handed a session); looking into results (a modern upstream's questions are one).
 */
import { markedHeaders } from "../catalog/header-marks.js";
import type { UpstreamConfig } from "../model/config.js";
import { Refusal } from "../model/fault.js";
import { isJsonObject } from "../model/json.js";
import type { JsonObject } from "../model/json.js";
import type { Policy } from "../model/policy.js";
import type { CallOptions, UpstreamCall } from "../model/ports.js";
import { toFault } from "./faults.js";
import { createLevels } from "./levels.js";
import { forwardedHeaders } from "./headers.js";
import type { Lister } from "./lister.js";
import { isOurOwn } from "./login.js";
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
  /** The session, if there is one. */
  readonly current: () => Session | undefined;
  /** A session, connecting where there is none; rejects early where the signal aborts. */
  readonly connected: (signal: AbortSignal) => Promise<Session>;
  readonly lister: Lister;
  readonly subscriptions: Subscriptions;
  readonly stderr: () => string;
  readonly log: UpstreamLog;
  readonly onAnswer: () => void;
  /** `own`: nothing of the agent's headers went along. */
  readonly onUnanswered: (session: Session, error: Unanswered, own: boolean) => void;
  /** Our own credentials were refused: are others in force by now, so that the request may be sent once more? */
  readonly readmitted: (session: Session) => Promise<boolean>;
  readonly onSettled: (session: Session) => void;
  readonly onIdle: () => void;
}

interface About {
  readonly from: CallOptions;
  readonly repeatable: boolean;
  /** The tool that is called; undefined for any other request. */
  readonly tool: string | undefined;
  readonly args: JsonObject;
}

export function createCalls(options: CallsOptions): Calls {
  const { label, lister, subscriptions } = options;
  const counters = { calls: 0, failures: 0 };
  const levels = createLevels();
  let busy = 0;

  /**
   * One request with what every request has: a session, at most one resend, counters, a fault in the end. The path of every
   * call: nothing is allocated or awaited here that a plain call does not need.
   */
  async function ask(request: SessionRequest, about: About): Promise<JsonObject> {
    busy += 1;
    counters.calls += 1;
    try {
      for (let sent = 1; ; sent += 1) {
        const session = options.current() ?? (await options.connected(about.from.signal));
        try {
          if (about.from.logLevel !== undefined) await levels.tell(session, about.from.logLevel);
          const result = await session.request(dressed(request, session, about));
          options.onAnswer();
          return result;
        } catch (error) {
          if (error instanceof Refusal) options.onAnswer();
          else if (error instanceof Unanswered)
            options.onUnanswered(session, error, isOurOwn(options.config(), about.from.headers));
          if (sent > 1 || !(mayResend(error, about.repeatable) || (await mayByNow(error, session, about)))) throw error;
          options.log("info", `upstream ${label}: a request is sent once more`, { why: textOf(error) });
        } finally {
          options.onSettled(session);
        }
      }
    } catch (error) {
      if (!(error instanceof Refusal)) counters.failures += 1;
      throw asFault(error, about.tool, about.from);
    } finally {
      busy -= 1;
      if (busy === 0) options.onIdle();
    }
  }

  function asFault(error: unknown, tool: string | undefined, { headers }: CallOptions): unknown {
    return toFault(error, { label, tool, stderr: options.stderr(), config: options.config(), headers });
  }

  function passing(method: string, params: JsonObject, from: CallOptions): SessionRequest {
    const timeoutMs = options.config().callTimeoutMs;
    return {
      method,
      params,
      timeoutMs,
      capMs: Math.max(options.policy.callCapMs, timeoutMs),
      signal: from.signal,
      onProgress: from.onProgress,
      onBytes: from.onBytes,
      onRequest: from.onRequest,
      onNotification: from.onNotification,
      origin: from.origin,
      capabilities: from.capabilities,
      logLevel: from.logLevel,
    };
  }

  function dressed(request: SessionRequest, session: Session, { from, tool, args }: About): SessionRequest {
    const config = options.config();
    if (config.kind !== "http") return request;
    const marked = session.greeting.era === "modern" && tool !== undefined ? markedHeaders(lister.marks(tool), args) : {};
    return { ...request, headers: { ...forwardedHeaders(config, from.headers), ...marked } };
  }

  /** Refused before anything ran, for a reason that may be gone: an old listing, or credentials that were replaced. */
  async function mayByNow(error: unknown, session: Session, about: About): Promise<boolean> {
    if (error instanceof Unanswered && error.kind === "login")
      return isOurOwn(options.config(), about.from.headers) && (await options.readmitted(session));
    return marksMoved(error, about);
  }

  /** A modern server refused before running anything because the tool's marks moved: with a new listing it may take the call. */
  async function marksMoved(error: unknown, about: About): Promise<boolean> {
    if (!(error instanceof Refusal) || error.code !== CODE.headerMismatch || about.tool === undefined) return false;
    await lister.now("list_changed").catch(() => undefined);
    return true;
  }

  function call(asked: UpstreamCall): Promise<JsonObject> {
    const params = withInput(callParams(asked.name, asked.args, asked.meta), asked.inputResponses, asked.requestState);
    const about: About = { from: asked, repeatable: asked.repeatable === true, tool: asked.name, args: asked.args };
    return ask(passing(METHOD.callTool, params, asked), about);
  }

  async function request(method: string, params: JsonObject, from: CallOptions): Promise<JsonObject> {
    const uri = uriOf(params);
    if (uri !== undefined && method === METHOD.subscribe) return subscribe(uri, from);
    if (uri !== undefined && method === METHOD.unsubscribe) return unsubscribe(uri, from);
    const full = withInput(withMeta(params, from.meta), from.inputResponses, from.requestState);
    const repeatable = from.repeatable === true || onlyReads(method);
    return ask(passing(method, full, from), { from, repeatable, tool: undefined, args: {} });
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
      return ask(passing(method, { uri }, from), { from, repeatable: true, tool: undefined, args: {} });
    }
    const resources = current.greeting.capabilities["resources"];
    if (!isJsonObject(resources) || resources["subscribe"] !== true)
      throw new Refusal(CODE.methodNotFound, "The upstream has no resource subscriptions.");
    current.watch(subscriptions.uris());
    return {};
  }
  function session(from: CallOptions): Promise<Session> {
    return options.connected(from.signal).catch((error: unknown) => {
      throw asFault(error, undefined, from);
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
