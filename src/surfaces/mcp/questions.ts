/**
 * Questions of upstreams to agents (elicitation, sampling, roots), bridged between the protocol eras.
 *
 * Owns: the four ways a question travels.
 * Speaks: AgentCall and one `run` of an operation; results and `input_required` results.
 * Never: knows which operation runs, or how the upstream put its question.
 *
 *   upstream asks by request (legacy)        upstream answers `input_required` (modern)
 *   ─ legacy agent: asked by request         ─ legacy agent: asked by request, then the call is made again
 *   ─ modern agent: the call stays open,     ─ modern agent: passed through; its retry carries answers and
 *     the agent gets `input_required` and      the upstream's own state
 *     its retry is joined to the open call
 */
import { randomBytes } from "node:crypto";
import { ProtocolError } from "@modelcontextprotocol/server";
import { Fault } from "../../model/fault.js";
import { isJsonObject } from "../../model/json.js";
import type { JsonObject } from "../../model/json.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import type { CallOptions } from "../../model/ports.js";
import { assertAskable, canBeAsked } from "./agent-call.js";
import type { AgentCall } from "./agent-call.js";
import { createHeldCalls } from "./held-calls.js";
import type { HeldCalls } from "./held-calls.js";

/** One run of an operation that may reach an upstream. Called again where an `input_required` was answered. */
export type Run = (options: CallOptions) => Promise<JsonObject>;

export interface Questions {
  run(call: AgentCall, run: Run): Promise<JsonObject>;
  /** Calls that wait for an agent's answer now. */
  readonly held: number;
  close(): void;
}

export function createQuestions(limits: { answerMs: number; heldMax: number }): Questions {
  const held = createHeldCalls(limits);
  return {
    run: (call, run) => (call.era === "modern" ? runModern(call, run, held) : runLegacy(call, run)),
    get held() {
      return held.size;
    },
    close: held.close,
  };
}

async function runModern(call: AgentCall, run: Run, held: HeldCalls): Promise<JsonObject> {
  if (held.isOurs(call.requestState)) return held.resume(call.requestState, call);
  const options = plainOptions(call);
  const result = canBeAsked(call.capabilities) ? await held.begin(call, run, options) : await run(options);
  return checkedQuestions(call, result);
}

/** Options of a call without questions. */
export function plainOptions(call: AgentCall): CallOptions {
  return {
    signal: call.signal,
    meta: call.meta,
    onProgress: call.progress,
    onNotification: call.tell,
    inputResponses: call.inputResponses,
    requestState: call.requestState,
    // An upstream that is told with each request learns what this very agent can answer, not what we could.
    capabilities: call.capabilities,
    logLevel: call.logLevel,
    origin: call.caller.session ?? call.caller.principal,
    headers: call.headers,
  };
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
    if (Object.keys(asked).length === 0) await new Promise((resolve) => setTimeout(resolve, SURFACE_LIMITS.questionPauseMs));
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
