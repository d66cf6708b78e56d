/**
 * Change notifications of a modern upstream: one open `listen` request, renewed when it ends or its uris change.
 *
 * Owns: keeping the stream open, with growing pauses; never two where one does.
 * Speaks: uris, list names.
 * Never: what a change means.
 */
import { Refusal } from "../model/fault.js";
import type { JsonObject } from "../model/json.js";
import { UPSTREAM_LIMITS } from "../model/policy.js";
import type { SessionEvents, SessionRequest } from "./session.js";
import { changedList, listenParams, listensToSomething, METHOD } from "./translate.js";

export interface Watcher {
  /** Puts these resource uris in force. */
  set(uris: readonly string[]): void;
  stop(): void;
}
export interface WatcherOptions {
  readonly capabilities: JsonObject;
  readonly request: (request: SessionRequest) => Promise<JsonObject>;
  readonly events: Pick<SessionEvents, "onChanged" | "onNotification">;
}

/** No end by time: the longest that a timer holds. */
const FOR_EVER_MS = 2 ** 31 - 1;

export function createWatcher({ capabilities, request, events }: WatcherOptions): Watcher {
  let current: AbortController | undefined;
  let retry: NodeJS.Timeout | undefined;
  let failures = 0;

  function onNotification(method: string, params: JsonObject): void {
    failures = 0;
    // What changed before the stream stood was not told: look once.
    if (method === METHOD.acknowledged) return events.onChanged("tools");
    const list = changedList(method);
    if (list !== undefined) events.onChanged(list);
    if (list !== "tools") events.onNotification(method, params);
  }

  function open(uris: readonly string[]): void {
    const params = listenParams(capabilities, uris);
    const previous = current;
    current = undefined;
    clearTimeout(retry);
    if (listensToSomething(params)) {
      const mine = new AbortController();
      current = mine;
      const again = (error?: unknown): void => {
        // A refusal is final: this upstream does not do it, and polling remains.
        if (current !== mine || error instanceof Refusal) return;
        const pauseMs = Math.min(UPSTREAM_LIMITS.backoffMs * 2 ** failures, UPSTREAM_LIMITS.backoffMaxMs);
        failures += 1;
        retry = setTimeout(() => open(uris), pauseMs);
        retry.unref();
      };
      request({
        method: METHOD.listen,
        params,
        timeoutMs: FOR_EVER_MS,
        capMs: FOR_EVER_MS,
        signal: mine.signal,
        internal: true,
        onNotification,
      }).then(() => again(), again);
    }
    // The old stream goes after the new one was asked for, so that nothing falls between.
    previous?.abort();
  }

  return {
    set: open,
    stop() {
      const last = current;
      current = undefined;
      clearTimeout(retry);
      last?.abort();
    },
  };
}
