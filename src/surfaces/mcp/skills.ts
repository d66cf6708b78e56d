/**
 * The Skills extension (io.modelcontextprotocol/skills): active skills of the library, and the skills that upstreams serve.
 *
 * Owns: the list and its pages, single entries, folders, the files of own skills as resources.
 * Speaks: AgentCall and MCP params in; MCP results out.
 * Never: reads or writes skills; alters a byte of an upstream's. Files of upstreams' skills are resources like others (passing.ts).
 */
import { Fault } from "../../model/fault.js";
import type { JsonObject } from "../../model/json.js";
import type { Operations, ServedSkill } from "../../model/operations.js";
import { SURFACE_LIMITS } from "../../model/policy.js";
import type { AgentCall } from "./agent-call.js";
import type { Gatherer } from "./gather.js";
import type { Place } from "./qualify.js";
import { qualifyUri } from "./qualify.js";
import { entryProblem, ownEntry, ownUri, qualifyEntry, splitOwnUri } from "./skill-entry.js";
import { invalidParams, META, SKILLS } from "./translate.js";

export interface Skills {
  list(params: JsonObject, call: AgentCall): Promise<JsonObject>;
  get(params: JsonObject, call: AgentCall): Promise<JsonObject>;
  readDirectory(params: JsonObject, call: AgentCall): Promise<JsonObject>;
  /** Contents of a file of an own skill; undefined where the URI is of another kind. Throws where there is no such file. */
  read(uri: string, call: AgentCall): JsonObject | undefined;
  /** SKILL.md of each own skill as a listed resource. */
  resources(call: AgentCall): JsonObject[];
}

/** How the extension reaches upstreams: what passing.ts knows of places. */
export interface SkillWays {
  readonly gatherer: Gatherer;
  readonly placeOf: (uri: string, call: AgentCall) => Place | undefined;
  readonly prefixOf: (label: string) => string | undefined;
  readonly pass: (place: Place, method: string, params: JsonObject, call: AgentCall) => Promise<JsonObject>;
}

export function createSkills(operations: Operations, ways: SkillWays): Skills {
  const { gatherer, placeOf, prefixOf, pass } = ways;

  async function all(call: AgentCall): Promise<{ entries: JsonObject[]; leftOut: JsonObject[] }> {
    const own = operations.servedSkills(call.caller);
    const gathered = await gatherer.list("skills", call.caller, call.signal);
    const leftOut: JsonObject[] = [...own.leftOut.map((one) => ({ ...one })), ...gathered.leftOut.map((one) => ({ ...one }))];
    const byUri = new Map<string, JsonObject>(own.skills.map((skill) => [ownUri(skill.name, SKILLS.file), ownEntry(skill)]));
    for (const entry of gathered.items) {
      const uri = String(entry["uri"]);
      const why = byUri.has(uri) ? "it is listed twice" : (withheld(uri, call) ?? entryProblem(entry));
      if (why === undefined) byUri.set(uri, entry);
      else leftOut.push({ skill: uri, why });
    }
    const entries = [...byUri].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
    return { entries, leftOut };
  }

  /** What a skill of an upstream rests by in the library, where it is taken in. */
  function withheld(uri: string, call: AgentCall, what: "skill" | "file" = "skill"): string | undefined {
    const place = placeOf(uri, call);
    return place === undefined ? undefined : operations.skillWithheld(place.label, place.own, what);
  }

  function ownSkill(name: string, call: AgentCall): ServedSkill | undefined {
    return operations.servedSkills(call.caller).skills.find((skill) => skill.name === name);
  }

  return {
    async list(params, call) {
      const after = readCursor(params["cursor"]);
      const { entries, leftOut } = await all(call);
      // A page goes on after a URI, not a place: a list that moves meanwhile loses and doubles nothing.
      const rest = after === undefined ? entries : entries.filter((entry) => String(entry["uri"]) > after);
      const page = rest.slice(0, SURFACE_LIMITS.skillsPerPage);
      const last = page.at(-1);
      return {
        skills: page,
        ...(last !== undefined && rest.length > page.length ? { nextCursor: writeCursor(String(last["uri"])) } : {}),
        ...(leftOut.length === 0 ? {} : { _meta: { [META.leftOut]: leftOut } }),
      };
    },
    async get(params, call) {
      const uri = uriOf(params);
      const own = splitOwnUri(uri);
      if (own !== undefined) {
        const skill = own.path === SKILLS.file ? ownSkill(own.skill, call) : undefined;
        if (skill === undefined) throw invalidParams(`No skill ${uri} is served.`, { uri });
        return { skill: ownEntry(skill) };
      }
      const place = placeOf(uri, call);
      const kept = withheld(uri, call);
      if (place === undefined || kept !== undefined)
        throw invalidParams(`No skill ${uri} is served${kept === undefined ? "" : `: ${kept}`}.`, { uri });
      const result = await pass(place, SKILLS.get, { ...params, uri: place.own }, call);
      const entry = qualifyEntry((result["skill"] ?? {}) as JsonObject, place.label, prefixOf(place.label));
      const why = entry === undefined ? "it has no URI" : entryProblem(entry);
      if (entry === undefined || why !== undefined) throw new Fault("upstream-failed", `${place.label} serves ${uri}: ${why}.`);
      return { ...result, skill: entry };
    },
    async readDirectory(params, call) {
      const uri = uriOf(params);
      const own = splitOwnUri(uri);
      if (own !== undefined) return { resources: children(ownSkill(own.skill, call), own.path, uri) };
      const place = placeOf(uri, call);
      if (place === undefined) throw invalidParams(`${uri} is no directory.`, { uri });
      const result = await pass(place, SKILLS.directory, { ...params, uri: place.own }, call);
      const items = Array.isArray(result["resources"]) ? (result["resources"] as JsonObject[]) : [];
      const prefix = prefixOf(place.label);
      return {
        ...result,
        resources: items.map((item) => ({ ...item, uri: qualifyUri(place.label, prefix, String(item["uri"])) })),
      };
    },
    read(uri, call) {
      const own = splitOwnUri(uri);
      if (own === undefined) {
        const kept = withheld(uri, call, "file");
        if (kept !== undefined) throw invalidParams(`No skill ${uri} is served: ${kept}.`, { uri });
        return undefined;
      }
      const text = operations.servedFile(own.skill, own.path, call.caller);
      if (text === undefined) throw invalidParams("Resource not found", { uri });
      return { contents: [{ uri, mimeType: typeOf(own.path), text }] };
    },
    resources: (call) =>
      operations.servedSkills(call.caller).skills.map((skill) => ({
        uri: ownUri(skill.name, SKILLS.file),
        name: skill.name,
        description: skill.description,
        mimeType: typeOf(SKILLS.file),
      })),
  };
}

/** What lies directly in a folder of an own skill; folders once each. */
function children(skill: ServedSkill | undefined, folder: string, uri: string): JsonObject[] {
  const path = folder.replace(/\/$/, "");
  const start = path === "" ? "" : `${path}/`;
  const inside = (skill?.files ?? []).filter((file) => file.path.startsWith(start));
  if (skill === undefined || inside.length === 0) throw invalidParams(`${uri} is no directory.`, { uri });
  const found = new Map<string, JsonObject>();
  for (const file of inside) {
    const [name = "", ...deeper] = file.path.slice(start.length).split("/");
    const child = { uri: ownUri(skill.name, `${start}${name}`), name };
    const leaf = deeper.length === 0;
    found.set(name, leaf ? { ...child, mimeType: typeOf(name), size: file.size } : { ...child, mimeType: SKILLS.directoryType });
  }
  return [...found.values()];
}

const TYPES: Readonly<Record<string, string>> = {
  md: "text/markdown",
  json: "application/json",
  yaml: "application/yaml",
  yml: "application/yaml",
  py: "text/x-python",
  js: "text/javascript",
  html: "text/html",
  csv: "text/csv",
};
/** Files of skills are text. */
function typeOf(path: string): string {
  return TYPES[/\.([a-z]+)$/.exec(path.toLowerCase())?.[1] ?? ""] ?? "text/plain";
}

function uriOf(params: JsonObject): string {
  if (typeof params["uri"] !== "string") throw invalidParams("A uri is needed.");
  return params["uri"];
}

function writeCursor(uri: string): string {
  return Buffer.from(uri, "utf8").toString("base64url");
}
function readCursor(cursor: JsonObject[string] | undefined): string | undefined {
  // Some clients send an empty cursor for the first page.
  if (cursor === undefined || cursor === "") return undefined;
  const uri = typeof cursor === "string" ? Buffer.from(cursor, "base64url").toString("utf8") : "";
  if (typeof cursor !== "string" || writeCursor(uri) !== cursor)
    throw invalidParams("The cursor is none of this list.", { cursor });
  return uri;
}
