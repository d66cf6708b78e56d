import { describe, expect, it } from "vitest";
import { readListing } from "../../src/catalog/intake.js";
import type { JsonValue } from "../../src/model/json.js";
import type { UpstreamLabel } from "../../src/model/ids.js";
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import { advance } from "../../src/world/advance.js";
import { decide } from "../../src/world/decide.js";
import { dataOf, flowsInto, remember, type FlowMemory } from "../../src/world/flows.js";
import { derive } from "../../src/world/rebuild.js";
import { emptyKnown, type World } from "../../src/world/world.js";

const at = "2026-01-01T00:00:00.000Z";
const tool = (name: string, required: string[] = []): JsonValue => ({
  name,
  inputSchema: { type: "object", properties: Object.fromEntries(required.map((param) => [param, { type: "string" }])), required },
});

/** Two upstreams whose tools nothing but calls can connect. */
function twoUpstreams(): World {
  let world = derive(emptyKnown, new Map());
  const labels = ["crm", "mail"] as UpstreamLabel[];
  const upstreams = new Map(labels.map((label) => [label, { disabled: false, prefix: label }]));
  world = post(world, { kind: "configured", at, starting: true, upstreams, policy: DEFAULT_POLICY });
  for (const [label, tools] of [
    ["crm", [tool("find_people")]],
    ["mail", [tool("send", ["recipient"])]],
  ] as const) {
    const listing = readListing(label as UpstreamLabel, tools);
    world = post(world, { kind: "listing", at, label: label as UpstreamLabel, ...listing, cause: "start" });
  }
  return world;
}

function post(world: World, event: Parameters<typeof decide>[1]): World {
  return advance(world, decide(world, event).changes);
}

/** An episode that finds somebody and writes to the address found. */
function episode(world: World, name: string, given: { failed?: boolean; address?: string } = {}): World {
  const found = dataOf({ structuredContent: { people: [{ address: "ada@example.org" }] } });
  const memory: FlowMemory = new Map();
  const line = { at, episode: name, contract: "0", redacted: [], bytes: 0, shape: [], ms: 1 };
  const open = { task: "", explicit: false, principal: "local" };
  const first = { ...line, tool: "crm/find_people", args: {}, isError: false, flows: [] };
  world = post(world, { kind: "episode-calls", at, calls: [{ open, line: first }] });
  remember(memory, { seq: 1, tool: "crm/find_people" }, found, "key");
  const args = { recipient: given.address ?? "ada@example.org" };
  const flows = flowsInto(args, memory, "key");
  return post(world, {
    kind: "episode-calls",
    at,
    calls: [{ open, line: { ...line, tool: "mail/send", args, isError: given.failed === true, flows } }],
  });
}

function observed(world: World): string[] {
  return world.graph.nodes
    .edges()
    .map((edge) => world.graph.nodes.getEdgeAttributes(edge))
    .flatMap((facts) => (facts.kind === "feeds" ? facts.feeds : []))
    .filter((feed) => feed.by === "observed")
    .map((feed) => `${feed.field ?? ""} → ${feed.param}`);
}

describe("flows between tools, as calls show them", () => {
  it("join two tools once two episodes have shown the same flow", () => {
    const once = episode(twoUpstreams(), "ep_1");
    expect(observed(once)).toEqual([]);
    const again = episode(once, "ep_1");
    expect(observed(again)).toEqual([]);
    expect(observed(episode(once, "ep_2"))).toEqual(["people[].address → recipient"]);
  });

  it("are not learnt from calls that failed, nor from values that came from elsewhere", () => {
    let world = twoUpstreams();
    for (const name of ["ep_1", "ep_2", "ep_3"]) world = episode(world, name, { failed: true });
    for (const name of ["ep_4", "ep_5", "ep_6"]) world = episode(world, name, { address: "bob@example.org" });
    expect(observed(world)).toEqual([]);
    expect(world.flows.size).toBe(0);
  });

  it("stop being written once they count", () => {
    let world = twoUpstreams();
    for (const name of ["ep_1", "ep_2", "ep_3", "ep_4"]) world = episode(world, name);
    expect([...world.flows.values()].map((flow) => flow.episodes)).toEqual([["ep_1", "ep_2"]]);
  });
});
