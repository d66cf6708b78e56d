/**
 * Calls that stay open while a modern agent thinks about a question of an older upstream.
 *
 * Owns: each held call, its open questions, the signed state by which the agent's retry finds it, its end.
 * Speaks: AgentCall and Run in; results and `input_required` results out.
 * Never: lets a state be used twice, by somebody else, or after its time.
 *
 *   begin ─▶ running ──question──▶ asked (the agent has `input_required` and a state) ──retry──▶ running ─▶ … ─▶ result
 *               └── the agent goes away ──▶ given up ◀── no answer in time ──┘
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { ProtocolError } from "@modelcontextprotocol/server";
import { Fault } from "../../model/fault.js";
import { isJsonObject } from "../../model/json.js";
import type { JsonObject } from "../../model/json.js";
import type { CallOptions } from "../../model/ports.js";
import { assertAskable } from "./agent-call.js";
import type { AgentCall } from "./agent-call.js";
import { invalidParams, RPC } from "./translate.js";

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

export interface HeldCalls {
  readonly size: number;
  /** Does this state name a call held here? */
  isOurs(state: string | undefined): state is string;
  /** Runs a call that may be held. Throws Fault `busy` where too many are. */
  begin(call: AgentCall, run: (options: CallOptions) => Promise<JsonObject>, options: CallOptions): Promise<JsonObject>;
  /** Goes on with a held call, given the agent's answers. Throws for a state that is forged, used, foreign or expired. */
  resume(state: string, call: AgentCall): Promise<JsonObject>;
  close(): void;
}

const STATE = "steward1.";

export function createHeldCalls(limits: { answerMs: number; heldMax: number }): HeldCalls {
  const held = new Map<string, HeldCall>();
  const states = createStates();

  function giveUp(call: HeldCall, why: string): void {
    drop(held, call);
    call.abort.abort(new Fault("call-cancelled", why));
    for (const question of call.open.values()) question.reject(new ProtocolError(RPC.internal, why));
    call.open.clear();
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
      mine.timer = setTimeout(() => giveUp(mine, "The agent did not answer in time."), limits.answerMs);
      mine.timer.unref();
      mine.round += 1;
      return asInputRequired(mine, states.sign(mine));
    }
    drop(held, mine);
    if ("error" in mine.outcome) throw mine.outcome.error;
    return mine.outcome.result;
  }

  return {
    get size() {
      return held.size;
    },
    isOurs: (state): state is string => state?.startsWith(STATE) === true,
    begin(call, run, options) {
      if (held.size >= limits.heldMax) throw new Fault("busy", "Too many calls wait for answers of their agents.");
      const mine = newHeldCall(call);
      held.set(mine.id, mine);
      launch(mine, call, run, options);
      return next(mine, call);
    },
    resume(state, call) {
      const mine = states.find(state, call.caller.principal, held);
      if (mine.timer !== undefined) clearTimeout(mine.timer);
      mine.attached = call;
      for (const [name, question] of mine.open) {
        const answer = call.inputResponses?.[name];
        if (!isJsonObject(answer)) continue;
        mine.open.delete(name);
        question.resolve(answer);
      }
      return next(mine, call);
    },
    close() {
      for (const call of [...held.values()]) giveUp(call, "The daemon is shutting down.");
    },
  };
}

function newHeldCall(call: AgentCall): HeldCall {
  return {
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
}

function drop(held: Map<string, HeldCall>, call: HeldCall): void {
  if (call.timer !== undefined) clearTimeout(call.timer);
  held.delete(call.id);
}

/** Runs the call on its own signal, so that it outlives the exchange it began in; what it reports goes to the exchange that is attached. */
function launch(mine: HeldCall, call: AgentCall, run: (options: CallOptions) => Promise<JsonObject>, options: CallOptions): void {
  const settle = (outcome: HeldCall["outcome"]): void => {
    mine.outcome = outcome;
    mine.wake();
  };
  run({
    ...options,
    signal: mine.abort.signal,
    onProgress: (progress) => mine.attached?.progress?.(progress),
    onNotification: (method, params) => mine.attached?.tell(method, params),
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
}

/** States are signed with a key of this process and bound to call, round and caller: held calls end with the process anyway. */
function createStates() {
  const key = randomBytes(32);
  const mac = (id: string, round: string, principal: string): Buffer =>
    createHmac("sha256", key).update(`${id}\n${round}\n${principal}`).digest();
  return {
    sign: ({ id, round, principal }: HeldCall): string =>
      `${STATE}${id}.${round}.${mac(id, String(round), principal).toString("base64url")}`,
    find(state: string, principal: string, held: ReadonlyMap<string, HeldCall>): HeldCall {
      const [id = "", round = "", given = ""] = state.slice(STATE.length).split(".");
      const theirs = Buffer.from(given, "base64url");
      const ours = mac(id, round, principal);
      const call = theirs.length === ours.length && timingSafeEqual(theirs, ours) ? held.get(id) : undefined;
      if (call === undefined || round !== String(call.round)) {
        throw invalidParams("Invalid or expired requestState", { reason: "invalid_request_state" });
      }
      if (call.attached !== undefined) throw invalidParams("This requestState is being answered already.");
      return call;
    },
  };
}

function asInputRequired(call: HeldCall, requestState: string): JsonObject {
  const inputRequests: JsonObject = {};
  for (const [name, { method, params }] of call.open) inputRequests[name] = { method, params };
  return { resultType: "input_required", inputRequests, requestState };
}
