/** How STEWARD is: health for people and probes, facts for the facade's descriptions. */
import type { DirectTool, FacadeFacts, Health } from "../model/operations.js";
import type { Caller } from "../model/operations.js";
import type { ExposedName, ToolKey } from "../model/ids.js";
import type { JsonObject } from "../model/json.js";
import type { Problem } from "../model/problem.js";
import { reaches, type Reach } from "../model/reach.js";
import { nameOf } from "../world/advance.js";
import { problemsWithin, skillWithin } from "../world/reach.js";
import { isOffered } from "../world/world.js";
import { pinOf } from "./pins.js";
import type { Desk } from "./desk.js";

export function healthOf(desk: Desk, reach?: Reach): Health {
  const world = desk.steward.world();
  let active = 0;
  for (const standing of world.standings.values()) if (standing.standing === "active") active += 1;
  const presence = [...world.presence]
    .filter(([label]) => reaches(reach, label))
    .map(([label, { state }]) => ({ label, presence: state }));
  return {
    version: desk.version,
    pid: process.pid,
    home: desk.home,
    started: desk.started,
    // Ready once every upstream was tried: an agent that asks earlier is told what is still connecting.
    ready: presence.every((row) => row.presence !== "connecting"),
    catalog: world.catalog.version,
    library: world.library.revision,
    tools: world.catalog.tools.size,
    skills: { active, inactive: world.library.skills.size - active },
    upstreams: presence.sort((a, b) => (a.label < b.label ? -1 : 1)),
    problems: problemsWithin(
      world,
      [...desk.problems(), ...[...world.intake.values()].flat(), ...desk.memory.folders.refused, ...flapping(desk)],
      reach,
    ),
    maintenance: { ...desk.memory.tally },
    retrieval: { vectors: desk.embedder.status(), fine: desk.embedder.isFine() },
    manager: desk.manager.status(),
  };
}

/** Upstreams whose tools change so often that a change is seen late. */
function flapping(desk: Desk): Problem[] {
  return desk.upstreams.status().flatMap(({ label, slowedMs }) => {
    if (slowedMs === undefined) return [];
    const every = `every ${Math.ceil(slowedMs / 1_000)} s`;
    const text = `Upstream ${label} changes its tools over and over: they are read ${every} until that ends. \`steward catalog sync ${label}\` reads them now.`;
    return [{ code: "upstream-flaps", where: `upstream ${label}`, text }];
  });
}

/** What the facade's descriptions name: they move only with a catalog version. */
export function facadeFacts(desk: Desk, reach?: Reach): FacadeFacts {
  const world = desk.steward.world();
  const counts = new Map<string, number>();
  for (const tool of world.catalog.tools.values()) {
    if (reaches(reach, tool.label)) counts.set(tool.label, (counts.get(tool.label) ?? 0) + 1);
  }
  const titles = new Map(desk.upstreams.status().map((status) => [status.label as string, status.server?.name]));
  return {
    catalogVersion: world.catalog.version,
    servers: [...counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([label, tools]) => ({ label, tools, title: titles.get(label) })),
    tools: [...counts.values()].reduce((sum, tools) => sum + tools, 0),
    skills: [...world.library.skills.values()].filter((skill) => skillWithin(world, skill, reach)).length,
  };
}

/** Every offered tool under its exposed name, whole, in the order of names. */
export function directTools(desk: Desk, caller: Caller): DirectTool[] {
  const world = desk.steward.world();
  const pinned = pinOf(desk, world, caller);
  const tools: DirectTool[] = [];
  for (const tool of world.catalog.tools.values()) {
    if (!reaches(caller.upstreams, tool.label)) continue;
    if (pinned?.has(tool.key) === false) continue;
    if (!isOffered(world.presence.get(tool.label)) || world.holds.held[tool.key] !== undefined) continue;
    const document: JsonObject = {
      ...tool.document,
      name: nameOf(world, tool.key),
      ...(tool.document["description"] === undefined ? {} : { description: tool.description }),
      inputSchema: tool.inputSchema,
    };
    // An output schema that clients would refuse the whole list for is left out: the tool stays callable.
    if (tool.document["outputSchema"] !== undefined && tool.outputSchema === undefined) delete document["outputSchema"];
    tools.push({ name: String(document["name"]), document });
  }
  return tools.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

export function inputSchema(desk: Desk, asked: string, caller: Caller): JsonObject | undefined {
  const world = desk.steward.world();
  const key = world.catalog.tools.has(asked as ToolKey) ? (asked as ToolKey) : world.exposed.get(asked as ExposedName);
  const tool = key === undefined ? undefined : world.catalog.tools.get(key);
  const usable = tool !== undefined && reaches(caller.upstreams, tool.label);
  return usable ? tool.inputSchema : undefined;
}
