/**
 * Prompts, resources and completions: STEWARD's own and those of upstreams, under one roof.
 *
 * Owns: where a prompt name or URI leads, own prompts (planning skills) and resources (kept results), subscriptions.
 * Speaks: AgentCall and MCP params in; MCP results out, the upstream's own except for qualified URIs.
 * Never: tools (tools.ts), the Skills extension.
 */
import { Fault } from "../../model/fault.js";
import { isJsonObject } from "../../model/json.js";
import type { JsonObject } from "../../model/json.js";
import type { Caller, Operations } from "../../model/operations.js";
import type { CallOptions } from "../../model/ports.js";
import type { AgentCall } from "./agent-call.js";
import { createGatherer } from "./gather.js";
import type { Gathered, Gatherer } from "./gather.js";
import { qualifyUri, RESULT_TEMPLATE, resultId, splitName, splitUri } from "./qualify.js";
import type { Place } from "./qualify.js";
import type { Questions } from "./questions.js";
import { plainOptions } from "./questions.js";
import { invalidParams, META } from "./translate.js";

export interface Passing {
  listResources(call: AgentCall): Promise<JsonObject>;
  listTemplates(call: AgentCall): Promise<JsonObject>;
  readResource(params: JsonObject, call: AgentCall): Promise<JsonObject>;
  listPrompts(call: AgentCall): Promise<JsonObject>;
  getPrompt(params: JsonObject, call: AgentCall): Promise<JsonObject>;
  complete(params: JsonObject, call: AgentCall): Promise<JsonObject>;
  /** Follows a resource for `follower` until unfollow or `unfollowAll`. */
  follow(uri: string, follower: object, caller: Caller, options: CallOptions): Promise<void>;
  unfollow(uri: string, follower: object): void;
  unfollowAll(follower: object): void;
  followersOf(uri: string): Iterable<object>;
  /** The URIs by which agents may follow a resource that its upstream spells `uri`. */
  followedAs(label: string, uri: string): readonly string[];
  readonly gatherer: Gatherer;
}

export function createPassing(operations: Operations, questions: Questions): Passing {
  const gatherer = createGatherer(operations);
  const follow = createFollowing(operations, (uri, caller) => placeOfUri(uri, caller));

  const prefixOf = (label: string): string | undefined => operations.upstreams().find((status) => status.label === label)?.prefix;
  const bare = (capability: string, caller: Caller): string | undefined =>
    gatherer.having(capability, caller).find((status) => status.prefix === "")?.label;
  const usable = (place: Place, caller: Caller): Place => {
    const known = operations.upstreams().some((status) => status.label === place.label);
    if (known && (caller.upstreams === undefined || caller.upstreams.has(place.label))) return place;
    throw invalidParams(`No upstream "${place.label}" is known.`);
  };

  /** Where a URI leads: under its label, or as an upstream spelt it (in a tool's result), by the lists that are known. */
  function placeOfUri(uri: string, caller: Caller): Place | undefined {
    const qualified = splitUri(uri);
    if (qualified !== undefined) return usable(qualified, caller);
    const label = gatherer.ownerOf(uri, caller) ?? bare("resources", caller);
    return label === undefined ? undefined : { label, own: uri };
  }

  const pass = (place: Place, method: string, params: JsonObject, call: AgentCall): Promise<JsonObject> =>
    questions.run(call, (options) => operations.passThrough(place.label, method, params, call.caller, options));

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
    async listResources(call) {
      return listed("resources", await gatherer.list("resources", call.caller, call.signal));
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
        const { mimeType, text } = operations.keptResult(id);
        return { contents: [{ uri, mimeType, text }] };
      }
      const place = placeOfUri(uri, call.caller);
      if (place === undefined) return readUnknown(uri, params, call);
      const result = await pass(place, "resources/read", { ...params, uri: place.own }, call);
      return place.own === uri ? result : withQualifiedContents(result, place.label, prefixOf(place.label));
    },
    async listPrompts(call) {
      const own = await ownPrompts(operations);
      return listed("prompts", await gatherer.list("prompts", call.caller, call.signal), own);
    },
    async getPrompt(params, call) {
      const name = params["name"];
      if (typeof name !== "string") throw invalidParams("prompts/get needs a name.");
      const split = splitName(name);
      if (split !== undefined && operations.upstreams().some((status) => status.label === split.label)) {
        return pass(usable(split, call.caller), "prompts/get", { ...params, name: split.own }, call);
      }
      const own = await ownPrompt(operations, name, params["arguments"]);
      if (own !== undefined) return own;
      const label = bare("prompts", call.caller);
      if (label === undefined) throw invalidParams(`No prompt "${name}" is known.`);
      return pass({ label, own: name }, "prompts/get", params, call);
    },
    async complete(params, call) {
      const ref = params["ref"];
      if (!isJsonObject(ref)) throw invalidParams("completion/complete needs a ref.");
      const byName = typeof ref["name"] === "string";
      const asked = byName ? ref["name"] : ref["uri"];
      if (typeof asked !== "string") throw invalidParams("completion/complete needs a ref with a name or uri.");
      const split = byName ? splitName(asked) : splitUri(asked);
      const label = bare("completions", call.caller);
      const place = split === undefined ? (label === undefined ? undefined : { label, own: asked }) : usable(split, call.caller);
      // Our own prompts and templates have nothing to complete.
      if (place === undefined) return { completion: { values: [], total: 0, hasMore: false } };
      const own = byName ? { ...ref, name: place.own } : { ...ref, uri: place.own };
      return pass(place, "completion/complete", { ...params, ref: own }, call);
    },
    ...follow,
    followedAs: (label, uri) => [...new Set([qualifyUri(label, prefixOf(label), uri), uri])],
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

/** Active planning skills, as prompts that a person can pick. */
async function ownPrompts(operations: Operations): Promise<JsonObject[]> {
  const skills = await operations.skills({ tier: "planning", standing: "active" });
  return skills.map((skill) => ({
    name: skill.name,
    description: skill.description,
    arguments: [{ name: "task", description: "What is to be done with this plan.", required: false }],
  }));
}

async function ownPrompt(operations: Operations, name: string, args: unknown): Promise<JsonObject | undefined> {
  try {
    const skill = await operations.skill(name);
    if (skill.standing.standing !== "active") {
      const why = skill.standing.reasons.map((reason) => reason.text).join("; ");
      throw invalidParams(`The skill "${name}" rests: ${why === "" ? (skill.standing.because ?? "inactive") : why}`);
    }
    const task = isJsonObject(args) && typeof args["task"] === "string" ? `\n\nTask: ${args["task"]}` : "";
    return {
      description: skill.description,
      messages: [{ role: "user", content: { type: "text", text: `${skill.text}${task}` } }],
    };
  } catch (error) {
    if (error instanceof Fault && error.code === "skill-unknown") return undefined;
    throw error;
  }
}

/** Who follows which resource: one subscription at the upstream for all followers. */
function createFollowing(operations: Operations, placeOf: (uri: string, caller: Caller) => Place | undefined) {
  interface Followed {
    readonly place: Place;
    readonly caller: Caller;
    readonly followers: Set<object>;
  }
  const followed = new Map<string, Followed>();
  const leave = (uri: string, entry: Followed, follower: object): void => {
    if (!entry.followers.delete(follower) || entry.followers.size > 0) return;
    followed.delete(uri);
    const { place, caller } = entry;
    operations
      .passThrough(place.label, "resources/unsubscribe", { uri: place.own }, caller, { signal: new AbortController().signal })
      .catch(() => undefined);
  };
  return {
    async follow(uri: string, follower: object, caller: Caller, options: CallOptions): Promise<void> {
      const known = followed.get(uri);
      if (known !== undefined) {
        known.followers.add(follower);
        return;
      }
      const place = placeOf(uri, caller);
      if (place === undefined) throw invalidParams("Resource not found", { uri });
      await operations.passThrough(place.label, "resources/subscribe", { uri: place.own }, caller, options);
      const now = followed.get(uri);
      if (now === undefined) followed.set(uri, { place, caller, followers: new Set([follower]) });
      else now.followers.add(follower);
    },
    unfollow(uri: string, follower: object): void {
      const entry = followed.get(uri);
      if (entry !== undefined) leave(uri, entry, follower);
    },
    followersOf: (uri: string): Iterable<object> => followed.get(uri)?.followers ?? [],
    unfollowAll(follower: object): void {
      for (const [uri, entry] of [...followed]) leave(uri, entry, follower);
    },
  };
}
