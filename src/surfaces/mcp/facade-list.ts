/**
 * The facade as agents see it listed: six tools, in stable order, the same for all who may use the same upstreams.
 *
 * Owns: names, descriptions, input schemas and instructions of the facade; the one line that names what is behind it.
 * Speaks: FacadeFacts in; MCP tool definitions out.
 * Never: connections, sessions or anything else that would make two clients with the same reach see different lists.
 */
import { z } from "zod";
import {
  callToolInput,
  describeToolsInput,
  exploreCapabilitiesInput,
  finishTaskInput,
  retrieveToolsInput,
  startTaskInput,
} from "../../model/facade.js";
import type { JsonObject } from "../../model/json.js";
import type { FacadeFacts } from "../../model/operations.js";
import type { Reach } from "../../model/reach.js";
import { SURFACE_LIMITS } from "../../model/policy.js";

export const FACADE_NAMES = [
  "start_task",
  "retrieve_tools",
  "explore_capabilities",
  "describe_tools",
  "call_tool",
  "finish_task",
] as const;
export type FacadeName = (typeof FACADE_NAMES)[number];

export function isFacadeName(name: unknown): name is FacadeName {
  return typeof name === "string" && (FACADE_NAMES as readonly string[]).includes(name);
}

/** When to use which; the same for every client and every catalog. */
export const INSTRUCTIONS =
  "STEWARD stands before many MCP servers and shows few tools. Begin each task with start_task: it answers with a plan, " +
  "skills and the tools for them. Call those with call_tool, giving the episode. If a tool is missing, ask retrieve_tools " +
  "for one need; if a whole way of doing it is missing, explore_capabilities. describe_tools gives full schemas. Where an " +
  "answer lists substitutions, use what was given instead. End with finish_task.";

interface FacadeEntry {
  readonly title: string;
  readonly description: (behind: string) => string;
  readonly input: z.ZodType;
  readonly annotations: JsonObject;
}

const reads: JsonObject = { readOnlyHint: true, openWorldHint: false };
const records: JsonObject = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };

const ENTRIES: Readonly<Record<FacadeName, FacadeEntry>> = {
  start_task: {
    title: "Start a task",
    description: (behind) =>
      `Start here. Give the task in the user's words; get a plan, skills for its steps and the few tools needed, ` +
      `in an episode. With a running episode: its next turn. Behind this server: ${behind}.`,
    input: startTaskInput,
    annotations: records,
  },
  retrieve_tools: {
    title: "Find tools",
    description: () =>
      "Find tools for one need, or one by its exact name: at most 5, ranked, with reasons and marks. Says what took over " +
      "from a tool that is gone. An empty list means that nothing fits.",
    input: retrieveToolsInput,
    annotations: reads,
  },
  explore_capabilities: {
    title: "Explore what is possible",
    description: () =>
      "When plan and tools do not cover a need: skills with steps, tools and alternatives for it. At most 3 calls an episode.",
    input: exploreCapabilitiesInput,
    annotations: reads,
  },
  describe_tools: {
    title: "Describe tools",
    description: () => "Full definitions with input schemas of up to 5 tools.",
    input: describeToolsInput,
    annotations: reads,
  },
  call_tool: {
    title: "Call a tool",
    description: () =>
      "Call a tool that another answer named. The result is the tool's own. If arguments do not fit, the answer says " +
      "what is wrong and gives the schema. Very large results come as head, tail and a resource for the rest.",
    input: callToolInput,
    annotations: {},
  },
  finish_task: {
    title: "Finish a task",
    description: () => "Say how the task of an episode ended.",
    input: finishTaskInput,
    annotations: records,
  },
};

/**
 * What is behind the facade in one bounded line: counts, then servers with their number of tools, the larger first.
 * At most `SURFACE_LIMITS.behindChars` characters; what does not fit is counted.
 */
export function behindLine(facts: FacadeFacts): string {
  const servers = [...facts.servers].sort((a, b) => b.tools - a.tools || (a.label < b.label ? -1 : 1));
  const counts = `${many(servers.length, "server")}, ${many(facts.tools, "tool")}, ${many(facts.skills, "skill")}`;
  let line = counts;
  let shown = 0;
  for (const server of servers) {
    const next = `${shown === 0 ? ": " : ", "}${server.label} (${server.tools})`;
    const rest = servers.length - shown - 1;
    const room = rest > 0 ? `, and ${rest} more`.length : 0;
    if (line.length + next.length + room > SURFACE_LIMITS.behindChars) break;
    line += next;
    shown += 1;
  }
  if (shown > 0 && shown < servers.length) line += `, and ${servers.length - shown} more`;
  return line;
}

function many(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * The facade's tools as listed. Input schemas are those that calls are checked with, except that `arguments` of call_tool
 * shows the one form that is asked for (an object); the text of an object and null are taken too.
 */
export function facadeTools(facts: FacadeFacts): JsonObject[] {
  const behind = behindLine(facts);
  return FACADE_NAMES.map((name) => {
    const entry = ENTRIES[name];
    return {
      name,
      title: entry.title,
      description: entry.description(behind),
      inputSchema: listedSchema(entry.input),
      ...(Object.keys(entry.annotations).length === 0 ? {} : { annotations: entry.annotations }),
    };
  });
}

/** The input schema of one endpoint: a plain object root without combinators, as model providers demand. */
function listedSchema(input: z.ZodType): JsonObject {
  const schema = z.toJSONSchema(input, { io: "input", reused: "inline" }) as unknown as JsonObject;
  delete schema["$schema"];
  delete schema["$defs"];
  const properties = schema["properties"] as JsonObject;
  for (const [name, value] of Object.entries(properties)) {
    const property = value as JsonObject;
    properties[name] =
      name === "arguments" ? { type: "object", description: property["description"] ?? "" } : withoutBounds(property);
  }
  return schema;
}

/** Length bounds that no honest caller meets are left out of the listing: they cost every agent tokens. */
function withoutBounds(property: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const [keyword, value] of Object.entries(property)) {
    if (keyword === "minLength" || keyword === "maxLength" || keyword === "minItems") continue;
    if (keyword === "maximum" && value === Number.MAX_SAFE_INTEGER) continue;
    kept[keyword] = keyword === "items" ? withoutBounds(value as JsonObject) : value;
  }
  return kept;
}

/** The list as a reach sees it; without one, whole. */
export type FacadeList = (reach?: Reach) => { readonly version: number; readonly tools: JsonObject[] };

/** The lists of one catalog version, each built once and shared by all connections of the same reach. */
export function createFacadeList(facts: (reach?: Reach) => FacadeFacts): FacadeList {
  let version: number | undefined;
  const held = new Map<string, JsonObject[]>();
  return (reach) => {
    const now = facts(reach);
    if (version !== now.catalogVersion) held.clear();
    version = now.catalogVersion;
    const key = JSON.stringify(reach === undefined ? null : [...reach].sort());
    const tools = held.get(key) ?? facadeTools(now);
    held.set(key, tools);
    return { version: now.catalogVersion, tools };
  };
}
