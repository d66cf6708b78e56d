/**
 * Modern upstream, legacy agent: questions inside an answer become requests to the agent, and its answers a retry.
 *
 * Owns: the rounds of one call.
 * Speaks: results and asks as translate.ts reads them.
 * Never: answering a question itself.
 */
import { Refusal } from "../model/fault.js";
import type { JsonObject } from "../model/json.js";
import { UPSTREAM_LIMITS } from "../model/policy.js";
import type { SessionRequest } from "./session.js";
import { CODE, readInputRequired, withInput } from "./translate.js";

/** Sends the request, and again with the agent's answers while the upstream asks for more. */
export async function requestWithRounds(
  send: (request: SessionRequest) => Promise<JsonObject>,
  request: SessionRequest,
  ask: SessionRequest["onRequest"],
): Promise<JsonObject> {
  let result = await send(request);
  for (let round = 1; ask !== undefined; round += 1) {
    const required = readInputRequired(result);
    if (required === undefined) return result;
    if (round > UPSTREAM_LIMITS.inputRounds)
      throw new Refusal(
        CODE.internal,
        `The upstream asked for input more than ${UPSTREAM_LIMITS.inputRounds} times within one call.`,
      );
    const responses: JsonObject = {};
    // One after the other: people answer them.
    for (const { key, method, params } of required.asks) responses[key] = await ask(method, params);
    result = await send({ ...request, params: withInput(request.params, responses, required.state) });
  }
  return result;
}
