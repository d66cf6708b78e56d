/**
 * The methods of MCP that STEWARD answers in both protocol eras.
 *
 * Owns: the table from method to handler, how long modern clients may keep a list.
 * Speaks: MCP params and AgentCall in, MCP results out.
 * Never: what only one era has (serving.ts).
 */
import type { JsonObject } from "../../model/json.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import type { AgentCall } from "./agent-call.js";
import type { Passing } from "./passing.js";
import type { ToolCalls } from "./tools.js";
import { invalidParams, SKILLS } from "./translate.js";

export type Handler = (params: JsonObject, call: AgentCall) => Promise<JsonObject> | JsonObject;
export type Methods = ReadonlyMap<string, Handler>;

/** What is not here does not exist. */
export function createMethods(tools: ToolCalls, passing: Passing, toolsTtlMs: number): Methods {
  const ttlMs = SURFACE_LIMITS.listTtlMs;
  return new Map<string, Handler>([
    ["tools/list", (params, call) => kept(call, toolsTtlMs, whole(params, tools.list(call) as unknown as JsonObject))],
    ["tools/call", (params, call) => tools.call(params, call)],
    ["resources/list", async (params, call) => kept(call, ttlMs, whole(params, await passing.listResources(call)))],
    ["resources/templates/list", async (params, call) => kept(call, ttlMs, whole(params, await passing.listTemplates(call)))],
    ["resources/read", (params, call) => passing.readResource(params, call)],
    ["prompts/list", async (params, call) => kept(call, ttlMs, whole(params, await passing.listPrompts(call)))],
    ["prompts/get", (params, call) => passing.getPrompt(params, call)],
    [SKILLS.list, async (params, call) => kept(call, ttlMs, await passing.skills.list(params, call))],
    [SKILLS.get, async (params, call) => kept(call, ttlMs, await passing.skills.get(params, call))],
    [SKILLS.directory, async (params, call) => kept(call, ttlMs, await passing.skills.readDirectory(params, call))],
    ["completion/complete", (params, call) => passing.complete(params, call)],
  ]);
}

/** A list that has one page: no cursor was ever given out for it. Clients that mean "from the beginning" send none, null or nothing. */
function whole(params: JsonObject, list: JsonObject): JsonObject {
  const cursor = params["cursor"];
  if (cursor === undefined || cursor === null || cursor === "") return list;
  throw invalidParams("This cursor was not given out here: the list comes whole, so ask for it without one.");
}

/** How long a modern client may keep a list. What a token may see is its own: never shared. */
function kept(call: AgentCall, ttlMs: number, list: JsonObject): JsonObject {
  return call.era === "modern" ? { ...list, ttlMs, cacheScope: "private" } : list;
}
