/**
 * A peer: pairs answers with requests over any carrier that delivers messages.
 *
 * Owns: request ids and progress tokens, timeouts renewed by progress, cancellation with the upstream's own ids, the
 * upstream's requests on their way to the right agent.
 * Speaks: parsed messages; how they look stands in translate.ts.
 * Never: sockets or processes (the carrier's), reconnecting, resending.
 *
 * Why not a protocol client of an SDK: the maintained line checks every listed method's result against the
 * specification before it hands it over, so one odd tool or an unknown content kind loses the whole answer, and both
 * lines cost 0.1–0.2 ms a call. What passes here is what the upstream wrote.
 */
import type { JsonObject, JsonValue } from "../model/json.js";
import { Unanswered, textOf } from "./session.js";
import type { SessionRequest } from "./session.js";
import {
  answerMessage,
  cancelMessage,
  CODE,
  errorMessage,
  METHOD,
  NO_ROOTS,
  notificationMessage,
  readMessage,
  requestMessage,
  withProgressToken,
} from "./translate.js";
import type { Incoming } from "./translate.js";
import { createUnaddressed } from "./unaddressed.js";

/** Delivers messages. `call` is the id of the request a message belongs to, for carriers with one stream per request. */
export interface Carrier {
  /** Sends a request. Throws or rejects with Unanswered where it could not be sent. */
  sendRequest(message: JsonObject, id: number, request: SessionRequest): void | Promise<void>;
  /** Sends an answer or a notification; failures are the carrier's to report by closing. */
  send(message: JsonObject): void;
  /** The request is settled: its own stream, if it has one, may end by itself where `answered`, and is cut otherwise. */
  release?(id: number, answered: boolean): void;
  /** Cancelling by notification; false where releasing the stream is the cancellation. */
  readonly notifiesCancel: boolean;
}

export interface Peer {
  request(request: SessionRequest): Promise<JsonObject>;
  notify(method: string, params: JsonObject): void;
  /** Takes one parsed message; false where it is none. `stream` = the request whose own stream brought it, `bytes` what it came in. */
  receive(message: unknown, stream?: number, bytes?: number): boolean;
  /** Settles one request without an answer. */
  fail(id: number, error: Error): void;
  failAll(error: Error): void;
  /** Requests of agents without an answer yet; our own housekeeping does not count. */
  inFlight(): number;
  /** Something came that is, or becomes, a message. */
  heard(): void;
  /** When that was last (monotonic); now, while an agent is being asked. */
  heardMs(): number;
}

interface Pending {
  readonly id: number;
  readonly request: SessionRequest;
  readonly startedMs: number;
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: Error) => void;
  timer: NodeJS.Timeout;
  /** Questions to the agent that are open: its time is not the upstream's. */
  asked: number;
  /** The timer runs to the cap, not to the renewable limit. */
  capped: boolean;
  /** A subscription that was acknowledged: it stays open, and nothing that comes without an id is about it. */
  stands: boolean;
  onAbort: (() => void) | undefined;
}

export interface PeerOptions {
  readonly carrier: Carrier;
  readonly elapsedMs: () => number;
  /** A notification that no call in flight accounts for. */
  readonly onNotification: (method: string, params: JsonObject) => void;
  /** An answer came that names no request; with what became of it, as a sentence. */
  readonly onUnaddressed: (sentence: string) => void;
}

export function createPeer({ carrier, elapsedMs, onNotification, onUnaddressed }: PeerOptions): Peer {
  const pending = new Map<number, Pending>();
  /** Requests of the upstream that it withdrew before they were answered. */
  const withdrawn = new Set<string | number>();
  const answering = new Set<string | number>();
  let nextId = 1;
  const unaddressed = createUnaddressed({ pending, settle: (entry) => settle(entry, true), tell: onUnaddressed });
  let lastHeardMs = elapsedMs();

  function settle(entry: Pending, answered: boolean): void {
    pending.delete(entry.id);
    clearTimeout(entry.timer);
    if (entry.onAbort !== undefined) entry.request.signal?.removeEventListener("abort", entry.onAbort);
    carrier.release?.(entry.id, answered);
  }

  /** Says what is no request. */
  function say(message: JsonObject): void {
    unaddressed.said(nextId);
    carrier.send(message);
  }

  function giveUp(entry: Pending, error: Unanswered, reason: string): void {
    // The handshake may not be cancelled; everything else is, by the id that the upstream knows.
    if (carrier.notifiesCancel && entry.request.method !== METHOD.initialize) say(cancelMessage(entry.id, reason));
    settle(entry, false);
    entry.reject(error);
  }

  function arm(entry: Pending, first: boolean): void {
    const leftMs = entry.request.capMs - (elapsedMs() - entry.startedMs);
    entry.capped = entry.asked > 0 || leftMs < entry.request.timeoutMs;
    const waitMs = Math.max(0, entry.capped ? leftMs : entry.request.timeoutMs);
    if (!first) clearTimeout(entry.timer);
    entry.timer = setTimeout(() => expire(entry), waitMs);
  }

  function expire(entry: Pending): void {
    const tookMs = Math.round(elapsedMs() - entry.startedMs);
    const limit = entry.capped
      ? `the cap of ${entry.request.capMs} ms`
      : `the limit of ${entry.request.timeoutMs} ms without progress`;
    giveUp(
      entry,
      new Unanswered(
        "timeout",
        `No answer after ${tookMs} ms: ${limit} was reached and the upstream was told to cancel.`,
        false,
        {
          sentMs: entry.startedMs,
        },
      ),
      "timeout",
    );
  }

  function request(request: SessionRequest): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      if (request.signal?.aborted === true) {
        reject(new Unanswered("cancelled", "Cancelled before it was sent.", true));
        return;
      }
      const id = nextId++;
      const entry: Pending = {
        id,
        request,
        startedMs: elapsedMs(),
        resolve,
        reject,
        timer: undefined as unknown as NodeJS.Timeout,
        asked: 0,
        capped: false,
        stands: false,
        onAbort: undefined,
      };
      arm(entry, true);
      if (request.signal !== undefined) {
        entry.onAbort = () =>
          giveUp(entry, new Unanswered("cancelled", "Cancelled; the upstream was told.", false), "cancelled by the agent");
        request.signal.addEventListener("abort", entry.onAbort, { once: true });
      }
      pending.set(id, entry);
      const failed = (error: unknown): void => fail(id, error instanceof Error ? error : new Error(textOf(error)));
      try {
        const sent = carrier.sendRequest(requestMessage(id, request.method, withProgressToken(request.params, id)), id, request);
        if (sent !== undefined) sent.catch(failed);
      } catch (error) {
        failed(error);
      }
    });
  }

  function heard(): void {
    lastHeardMs = elapsedMs();
  }

  function fail(id: number, error: Error): void {
    const entry = pending.get(id);
    if (entry === undefined) return;
    settle(entry, false);
    entry.reject(error);
  }

  /**
   * Whose question is it? The call whose stream brought it; else the only agent with calls in flight. A pipe does not
   * say which call an upstream's question belongs to, and a wrong guess would put one agent's question to another.
   */
  function askedCall(stream: number | undefined): Pending | "nobody" | "unclear" {
    if (stream !== undefined) {
      const entry = pending.get(stream);
      if (entry !== undefined && entry.request.internal !== true) return entry;
    }
    const candidates = [...pending.values()].filter(isOfAgent);
    const last = candidates.at(-1);
    if (last === undefined) return "nobody";
    if (candidates.length === 1) return last;
    const same = last.request.origin !== undefined && candidates.every((entry) => entry.request.origin === last.request.origin);
    return same ? last : "unclear";
  }

  function onAsked(message: Extract<Incoming, { kind: "request" }>, stream: number | undefined): void {
    const { id, method, params } = message;
    if (method === METHOD.ping) return say(answerMessage(id, {}));
    const call = askedCall(stream);
    if (call === "nobody" && method === METHOD.roots) return say(answerMessage(id, NO_ROOTS));
    if (call === "nobody")
      return say(errorMessage(id, CODE.methodNotFound, "No agent is behind this request: it came outside of any call."));
    if (call === "unclear") {
      return say(
        errorMessage(
          id,
          CODE.internal,
          "Several agents have calls in flight and the request does not say which one it belongs to.",
        ),
      );
    }
    if (call.request.onRequest === undefined) {
      return say(errorMessage(id, CODE.methodNotFound, `The agent behind this call cannot answer ${method}.`));
    }
    passOn(call, call.request.onRequest, id, method, params);
  }

  function passOn(
    call: Pending,
    ask: NonNullable<SessionRequest["onRequest"]>,
    id: string | number,
    method: string,
    params: JsonObject,
  ): void {
    answering.add(id);
    call.asked += 1;
    arm(call, false);
    const done = (message: JsonObject): void => {
      call.asked -= 1;
      if (pending.has(call.id)) arm(call, false);
      answering.delete(id);
      heard();
      if (!withdrawn.delete(id)) say(message);
    };
    ask(method, params).then(
      (result) => done(answerMessage(id, result)),
      (error: unknown) => done(refusalOf(id, error)),
    );
  }

  function onNoted(message: Extract<Incoming, { kind: "notification" }>, stream: number | undefined): void {
    const { method, params, subscription } = message;
    const owner = stream ?? subscription;
    const named = owner === undefined ? undefined : pending.get(owner);
    if (named !== undefined && method === METHOD.acknowledged) named.stands = true;
    const call = named ?? (method === METHOD.log ? askedCall(undefined) : undefined);
    if (typeof call === "object" && call.request.onNotification !== undefined) call.request.onNotification(method, params);
    else onNotification(method, params);
  }

  function receiveOne(message: unknown, stream: number | undefined, bytes: number | undefined): boolean {
    const incoming = readMessage(message);
    if (incoming.kind !== "noise") heard();
    switch (incoming.kind) {
      case "answer":
      case "unusable":
      case "refusal": {
        const entry = pending.get(incoming.id);
        // An answer to what was cancelled or timed out comes late: it is dropped quietly.
        if (entry === undefined) return Number.isInteger(incoming.id) && incoming.id > 0 && incoming.id < nextId;
        settle(entry, true);
        unaddressed.answered(entry.id);
        if (bytes !== undefined) entry.request.onBytes?.(bytes);
        if (incoming.kind === "answer") entry.resolve(incoming.result);
        else if (incoming.kind === "refusal") entry.reject(incoming.refusal);
        else entry.reject(new Unanswered("unreadable", incoming.reason, false, { data: incoming.data }));
        return true;
      }
      case "unaddressed":
        return unaddressed.take(incoming.error, stream);
      case "progress": {
        const entry = pending.get(incoming.token);
        if (entry === undefined) return true;
        arm(entry, false);
        entry.request.onProgress?.(incoming.progress);
        return true;
      }
      case "request":
        onAsked(incoming, stream);
        return true;
      case "unfit":
        say(errorMessage(incoming.id, CODE.invalidRequest, incoming.reason));
        return true;
      case "cancelled":
        if (answering.has(incoming.id)) withdrawn.add(incoming.id);
        return true;
      case "notification":
        onNoted(incoming, stream);
        return true;
      case "noise":
        return false;
    }
  }

  return {
    request,
    notify: (method, params) => say(notificationMessage(method, params)),
    receive: (message, stream, bytes) =>
      Array.isArray(message)
        ? message.length > 0 && message.map((one) => receiveOne(one, stream, undefined)).every(Boolean)
        : receiveOne(message, stream, bytes),
    fail,
    failAll: (error) => {
      for (const entry of [...pending.values()]) fail(entry.id, error);
    },
    inFlight: () => {
      let count = 0;
      for (const entry of pending.values()) if (entry.request.internal !== true) count += 1;
      return count;
    },
    heard,
    heardMs: () => (answering.size > 0 ? elapsedMs() : lastHeardMs),
  };
}

/** May the upstream be talking about this request? Lists that are gathered and the like have no agent behind them. */
function isOfAgent({ request }: Pending): boolean {
  if (request.internal === true) return false;
  return request.origin !== undefined || request.onRequest !== undefined || request.onNotification !== undefined;
}

/** The agent's refusal in the protocol's words: whatever carries a code and perhaps data keeps them. */
function refusalOf(id: string | number, error: unknown): JsonObject {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  if (typeof code !== "number" || !(error instanceof Error)) return errorMessage(id, CODE.internal, textOf(error));
  return errorMessage(id, code, error.message, "data" in error ? (error.data as JsonValue | undefined) : undefined);
}
