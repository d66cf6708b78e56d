/**
 * Prompts, resources and completions: STEWARD's own and those of upstreams, under one roof.
 *
 * Owns: where a prompt name or URI leads, own prompts (planning skills) and resources (kept results), subscriptions.
 * Speaks: AgentCall and MCP params in; MCP results out, the upstream's own except for qualified URIs.
 * Never: tools (tools.ts), what the Skills extension means (skills.ts).
 */
import { isJsonObject } from "../../model/json.js";
import type { JsonObject } from "../../model/json.js";
import type { Caller, Operations } from "../../model/operations.js";
import type { AgentCall } from "./agent-call.js";
import { createFollowing } from "./following.js";
import type { Following } from "./following.js";
import { createGatherer } from "./gather.js";
import type { Gathered, Gatherer } from "./gather.js";
import { qualifyUri, RESULT_TEMPLATE, resultId, splitName, splitUri } from "./qualify.js";
import type { Place } from "./qualify.js";
import type { Questions } from "./questions.js";
import { plainOptions } from "./questions.js";
import { skillPrompt, skillPrompts } from "./skill-prompts.js";
import { createSkills } from "./skills.js";
import type { Skills } from "./skills.js";
import { invalidParams, META } from "./translate.js";

export interface Passing extends Following {
  listResources(call: AgentCall): Promise<JsonObject>;
  listTemplates(call: AgentCall): Promise<JsonObject>;
  readResource(params: JsonObject, call: AgentCall): Promise<JsonObject>;
  listPrompts(call: AgentCall): Promise<JsonObject>;
  getPrompt(params: JsonObject, call: AgentCall): Promise<JsonObject>;
  complete(params: JsonObject, call: AgentCall): Promise<JsonObject>;
  /** The URIs by which agents may follow a resource that its upstream spells `uri`. */
  followedAs(label: string, uri: string): readonly string[];
  readonly gatherer: Gatherer;
  readonly skills: Skills;
}

/** Where the names that agents use lead. */
function createPlaces(operations: Operations, gatherer: Gatherer) {
  const known = (label: string): boolean => operations.upstreams().some((status) => status.label === label);
  /** A place that this caller may use. */
  function usable(place: Place, caller: Caller): Place {
    if (known(place.label) && (caller.upstreams === undefined || caller.upstreams.has(place.label))) return place;
    throw invalidParams(`No upstream "${place.label}" is known.`);
  }
  /** The upstream whose names are shown as they are, if it has the capability. */
  const bare = (capability: string, caller: Caller): string | undefined =>
    gatherer.having(capability, caller).find((status) => status.prefix === "")?.label;
  return {
    known,
    usable,
    bare,
    prefixOf: (label: string): string | undefined => operations.upstreams().find((status) => status.label === label)?.prefix,
    /** Under its label, or as an upstream spelt it (in a tool's result), by the lists that are known. */
    ofUri(uri: string, caller: Caller): Place | undefined {
      const qualified = splitUri(uri);
      if (qualified !== undefined) return usable(qualified, caller);
      const label = gatherer.ownerOf(uri, caller) ?? bare("resources", caller);
      return label === undefined ? undefined : { label, own: uri };
    },
    /** A prompt or resource template that a completion is asked for. */
    ofRef(ref: JsonObject, caller: Caller): Place | undefined {
      const asked = ref["name"] ?? ref["uri"];
      if (typeof asked !== "string") throw invalidParams("completion/complete needs a ref with a name or uri.");
      const split = "name" in ref ? splitName(asked) : splitUri(asked);
      if (split !== undefined && known(split.label)) return usable(split, caller);
      const label = bare("completions", caller);
      return label === undefined ? undefined : { label, own: asked };
    },
  };
}

export function createPassing(operations: Operations, questions: Questions): Passing {
  const gatherer = createGatherer(operations);
  const places = createPlaces(operations, gatherer);
  const following = createFollowing(operations, places.ofUri);

  const pass = (place: Place, method: string, params: JsonObject, call: AgentCall): Promise<JsonObject> =>
    questions.run(call, (options) => operations.passThrough(place.label, method, params, call.caller, options));

  const skills = createSkills(operations, {
    gatherer,
    placeOf: (uri, call) => places.ofUri(uri, call.caller),
    prefixOf: places.prefixOf,
    pass,
  });

  async function readUnknown(uri: string, params: JsonObject, call: AgentCall): Promise<JsonObject> {
    // A link in a tool's result names its resource as the upstream does: whoever has it answers.
    for (const status of gatherer.having("resources", call.caller)) {
      if (status.presence.state !== "up") continue;
      try {
        return await operations.passThrough(status.label, "resources/read", params, call.caller, plainOptions(call));
      } catch (error) {
        if (call.signal.aborted) throw error;
      }
    }
    throw invalidParams("Resource not found", { uri });
  }

  return {
    gatherer,
    skills,
    async listResources(call) {
      return listed("resources", await gatherer.list("resources", call.caller, call.signal), skills.resources(call));
    },
    async listTemplates(call) {
      const gathered = await gatherer.list("templates", call.caller, call.signal);
      return listed("resourceTemplates", gathered, [KEPT_RESULTS]);
    },
    async readResource(params, call) {
      const uri = params["uri"];
      if (typeof uri !== "string") throw invalidParams("resources/read needs a uri.");
      const id = resultId(uri);
      if (id !== undefined) {
        const { mimeType, text } = operations.keptResult(id, call.caller);
        return { contents: [{ uri, mimeType, text }] };
      }
      const ofSkill = skills.read(uri, call);
      if (ofSkill !== undefined) return ofSkill;
      const place = places.ofUri(uri, call.caller);
      if (place === undefined) return readUnknown(uri, params, call);
      const result = await pass(place, "resources/read", { ...params, uri: place.own }, call);
      return place.own === uri ? result : withQualifiedContents(result, place.label, places.prefixOf(place.label));
    },
    async listPrompts(call) {
      const own = await skillPrompts(operations, call.caller);
      return listed("prompts", await gatherer.list("prompts", call.caller, call.signal), own);
    },
    async getPrompt(params, call) {
      const name = params["name"];
      if (typeof name !== "string") throw invalidParams("prompts/get needs a name.");
      const split = splitName(name);
      if (split !== undefined && places.known(split.label)) {
        return pass(places.usable(split, call.caller), "prompts/get", { ...params, name: split.own }, call);
      }
      const own = await skillPrompt(operations, name, params["arguments"], call.caller);
      if (own !== undefined) return own;
      const label = places.bare("prompts", call.caller);
      if (label === undefined) throw invalidParams(`No prompt "${name}" is known.`);
      return pass({ label, own: name }, "prompts/get", params, call);
    },
    async complete(params, call) {
      const ref = params["ref"];
      if (!isJsonObject(ref)) throw invalidParams("completion/complete needs a ref.");
      const place = places.ofRef(ref, call.caller);
      // Our own prompts and templates have nothing to complete.
      if (place === undefined) return { completion: { values: [], total: 0, hasMore: false } };
      const own = "name" in ref ? { ...ref, name: place.own } : { ...ref, uri: place.own };
      return pass(place, "completion/complete", { ...params, ref: own }, call);
    },
    ...following,
    followedAs: (label, uri) => [...new Set([qualifyUri(label, places.prefixOf(label), uri), uri])],
  };
}

const KEPT_RESULTS: JsonObject = {
  uriTemplate: RESULT_TEMPLATE,
  name: "kept-results",
  title: "The rest of a large result",
  description: "Results of call_tool that were above the byte cap: whole, or one page, by the id that the cut answer names.",
};

function listed(field: string, gathered: Gathered, own: readonly JsonObject[] = []): JsonObject {
  const items = [...own, ...gathered.items];
  if (gathered.leftOut.length === 0) return { [field]: items };
  return { [field]: items, _meta: { [META.leftOut]: gathered.leftOut as unknown as JsonObject[] } };
}

function withQualifiedContents(result: JsonObject, label: string, prefix: string | undefined): JsonObject {
  if (!Array.isArray(result["contents"])) return result;
  return {
    ...result,
    contents: result["contents"].map((part) =>
      isJsonObject(part) && typeof part["uri"] === "string" ? { ...part, uri: qualifyUri(label, prefix, part["uri"]) } : part,
    ),
  };
}
