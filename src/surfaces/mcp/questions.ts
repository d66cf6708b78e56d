/**
 * Questions of upstreams to agents (elicitation, sampling, roots), bridged between the protocol eras.
 *
 * Owns: the four ways a question travels, the calls that are held open meanwhile, their signed state.
 * Speaks: AgentCall and one `run` of an operation; results and `input_required` results.
 * Never: knows which operation runs, or how the upstream put its question.
 *
 *   upstream asks by request (legacy)        upstream answers `input_required` (modern)
 *   ─ legacy agent: asked by request         ─ legacy agent: asked by request, then the call is made again
 *   ─ modern agent: the call stays open,     ─ modern agent: passed through; its retry carries answers and
 *     the agent gets `input_required` and      the upstream's own state
 *     its retry is joined to the open call
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { ProtocolError } from "@modelcontextprotocol/server";
import { Fault } from "../../model/fault.js";
import { isJsonObject } from "../../model/json.js";
import type { JsonObject } from "../../model/json.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import type { CallOptions } from "../../model/ports.js";
import { assertAskable, canBeAsked } from "./agent-call.js";
import type { AgentCall } from "./agent-call.js";
import { invalidParams, RPC } from "./translate.js";

/** One run of an operation that may reach an upstream. Called again where an `input_required` was answered. */
export type Run = (options: CallOptions) => Promise<JsonObject>;

export interface Questions {
  run(call: AgentCall, run: Run): Promise<JsonObject>;
  /** Calls that wait for an agent's answer now. */
  readonly held: number;
  close(): void;
}

interface Question {
  readonly method: string;
  readonly params: JsonObject;
  readonly resolve: (answer: JsonObject) => void;
  readonly reject: (error: Error) => void;
}
interface HeldCall {
  readonly id: string;
  readonly principal: string;
  readonly abort: AbortController;
  readonly open: Map<string, Question>;
  outcome: { readonly result: JsonObject } | { readonly error: unknown } | undefined;
  /** Wakes whoever waits for the next question or the outcome. */
  wake: () => void;
  /** The exchange that is attached now; undefined while the agent thinks. */
  attached: AgentCall | undefined;
  asked: number;
  /** Counts the times the agent was told of questions: a state is good for one answer. */
  round: number;
  timer: NodeJS.Timeout | undefined;
}

const STATE = "steward1.";

export function createQuestions(options: { answerMs: number; heldMax: number }): Questions {
  const key = randomBytes(32);
  const held = new Map<string, HeldCall>();

  const sign = (id: string, round: string, principal: string): Buffer =>
    createHmac("sha256", key).update(`${id}\n${round}\n${principal}`).digest();

  function nextState(call: HeldCall): string {
    call.round += 1;
    return `${STATE}${call.id}.${call.round}.${sign(call.id, String(call.round), call.principal).toString("base64url")}`;
  }

  function find(state: string, principal: string): HeldCall {
    const [id = "", round = "", mac = ""] = state.slice(STATE.length).split(".");
    const given = Buffer.from(mac, "base64url");
    const right = sign(id, round, principal);
    const call = given.length === right.length && timingSafeEqual(given, right) ? held.get(id) : undefined;
    if (call === undefined || round !== String(call.round))
      throw invalidParams("Invalid or expired requestState", { reason: "invalid_request_state" });
    if (call.attached !== undefined) throw invalidParams("This requestState is being answered already.");
    return call;
  }

  function drop(call: HeldCall): void {
    if (call.timer !== undefined) clearTimeout(call.timer);
    held.delete(call.id);
  }

  function giveUp(call: HeldCall, why: string): void {
    drop(call);
    call.abort.abort(new Fault("call-cancelled", why));
    for (const question of call.open.values()) question.reject(new ProtocolError(RPC.internal, why));
    call.open.clear();
  }

  /** Starts a call that may be held: it runs on its own signal, so that it outlives the exchange it began in. */
  function start(call: AgentCall, run: Run): HeldCall {
    if (held.size >= options.heldMax) throw new Fault("busy", "Too many calls wait for answers of their agents.");
    const mine: HeldCall = {
      id: randomBytes(16).toString("hex"),
      principal: call.caller.principal,
      abort: new AbortController(),
      open: new Map(),
      outcome: undefined,
      wake: () => undefined,
      attached: call,
      asked: 0,
      round: 0,
      timer: undefined,
    };
    held.set(mine.id, mine);
    const settle = (outcome: HeldCall["outcome"]): void => {
      mine.outcome = outcome;
      mine.wake();
    };
    run({
      ...plainOptions(call),
      signal: mine.abort.signal,
      onProgress: (progress) => mine.attached?.progress?.(progress),
      onNotification: (method, params) => mine.attached !== undefined && deliver(mine.attached, method, params),
      onRequest: async (method, params) => {
        assertAskable(mine.attached ?? call, method, params);
        return new Promise((resolve, reject) => {
          mine.asked += 1;
          mine.open.set(`q${mine.asked}`, { method, params, resolve, reject });
          mine.wake();
        });
      },
    }).then(
      (result) => settle({ result }),
      (error: unknown) => settle({ error }),
    );
    return mine;
  }

  /** The next thing the agent is told: the outcome, or the questions that are open. */
  async function next(mine: HeldCall, call: AgentCall): Promise<JsonObject> {
    const onAbort = (): void => giveUp(mine, "The agent cancelled or disconnected.");
    if (call.signal.aborted) onAbort();
    call.signal.addEventListener("abort", onAbort, { once: true });
    try {
      while (mine.outcome === undefined && mine.open.size === 0) {
        await new Promise<void>((resolve) => (mine.wake = resolve));
        // Questions put in the same breath are asked together.
        if (mine.outcome === undefined) await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      call.signal.removeEventListener("abort", onAbort);
    }
    mine.wake = () => undefined;
    mine.attached = undefined;
    if (mine.outcome === undefined) {
      mine.timer = setTimeout(() => giveUp(mine, "The agent did not answer in time."), options.answerMs);
      mine.timer.unref();
      return asInputRequired(mine, nextState(mine));
    }
    drop(mine);
    if ("error" in mine.outcome) throw mine.outcome.error;
    return mine.outcome.result;
  }

  async function runModern(call: AgentCall, run: Run): Promise<JsonObject> {
    if (call.requestState?.startsWith(STATE) === true) {
      const mine = find(call.requestState, call.caller.principal);
      if (mine.timer !== undefined) clearTimeout(mine.timer);
      mine.attached = call;
      for (const [name, question] of mine.open) {
        const answer = call.inputResponses?.[name];
        if (!isJsonObject(answer)) continue;
        mine.open.delete(name);
        question.resolve(answer);
      }
      return next(mine, call);
    }
    if (!canBeAsked(call.capabilities)) return checkedQuestions(call, await run(plainOptions(call)));
    return checkedQuestions(call, await next(start(call, run), call));
  }

  return {
    run: (call, run) => (call.era === "modern" ? runModern(call, run) : runLegacy(call, run)),
    get held() {
      return held.size;
    },
    close() {
      for (const call of [...held.values()]) giveUp(call, "The daemon is shutting down.");
    },
  };
}

/** Options of a call without questions. */
export function plainOptions(call: AgentCall): CallOptions {
  return {
    signal: call.signal,
    meta: call.meta,
    onProgress: call.progress,
    onNotification: (method, params) => deliver(call, method, params),
    inputResponses: call.inputResponses,
    requestState: call.requestState,
    // An upstream that is told with each request learns what this very agent can answer, not what we could.
    capabilities: call.capabilities,
    origin: call.caller.session ?? call.caller.principal,
    headers: call.headers,
  };
}

function deliver(call: AgentCall, method: string, params: JsonObject): void {
  if (method === "notifications/message") call.logMessage(params);
  else call.notify(method, params);
}

function asInputRequired(call: HeldCall, requestState: string): JsonObject {
  const inputRequests: JsonObject = {};
  for (const [name, { method, params }] of call.open) inputRequests[name] = { method, params };
  return { resultType: "input_required", inputRequests, requestState };
}

function isInputRequired(result: JsonObject): boolean {
  return result["resultType"] === "input_required";
}

/** An upstream's own questions may only go to an agent that declared that it can answer them. */
function checkedQuestions(call: AgentCall, result: JsonObject): JsonObject {
  if (!isInputRequired(result) || !isJsonObject(result["inputRequests"])) return result;
  for (const asked of Object.values(result["inputRequests"])) {
    if (isJsonObject(asked)) assertAskable(call, String(asked["method"]), paramsOf(asked));
  }
  return result;
}

function paramsOf(asked: JsonObject): JsonObject {
  return isJsonObject(asked["params"]) ? asked["params"] : {};
}

/** A legacy agent is asked by requests, whatever way its upstream put the question. */
async function runLegacy(call: AgentCall, run: Run): Promise<JsonObject> {
  const ask = async (method: string, params: JsonObject): Promise<JsonObject> => {
    assertAskable(call, method, params);
    return call.ask(method, params);
  };
  let options: CallOptions = canBeAsked(call.capabilities) ? { ...plainOptions(call), onRequest: ask } : plainOptions(call);
  for (let round = 0; ; round += 1) {
    const result = await run(options);
    if (!isInputRequired(result)) return result;
    if (round >= SURFACE_LIMITS.questionRounds) {
      throw new Fault("upstream-failed", `The upstream asked more than ${SURFACE_LIMITS.questionRounds} times in one call.`);
    }
    const asked = isJsonObject(result["inputRequests"]) ? result["inputRequests"] : {};
    const answers = await Promise.all(
      Object.entries(asked).map(async ([name, question]) => {
        if (!isJsonObject(question)) throw new Fault("upstream-failed", "The upstream asked in a form that cannot be read.");
        return [name, await answered(ask, String(question["method"]), legacyParams(question))] as const;
      }),
    );
    const state = result["requestState"];
    options = {
      ...options,
      inputResponses: Object.fromEntries(answers),
      requestState: typeof state === "string" ? state : undefined,
    };
  }
}

/** An agent that cannot or will not answer ends the call: the upstream waits for nothing, so nobody else is told. */
async function answered(
  ask: (method: string, params: JsonObject) => Promise<JsonObject>,
  method: string,
  params: JsonObject,
): Promise<JsonObject> {
  try {
    return await ask(method, params);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    const reason = `The tool needs an answer to ${method} and got none: ${error.message}`;
    throw new Fault("call-cancelled", reason, { code: error.code, ...(isJsonObject(error.data) ? error.data : {}) });
  }
}

/** The older wire form of URL elicitation has an id, the newer has none. */
function legacyParams(question: JsonObject): JsonObject {
  const params = paramsOf(question);
  if (question["method"] !== "elicitation/create" || params["mode"] !== "url" || params["elicitationId"] !== undefined) {
    return params;
  }
  return { ...params, elicitationId: randomBytes(16).toString("hex") };
}
