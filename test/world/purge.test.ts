import { describe, expect, it } from "vitest";
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import type { ExposedName, ToolKey } from "../../src/model/ids.js";
import { searchTools } from "../../src/retrieve/tools.js";
import { advance } from "../../src/world/advance.js";
import { decide } from "../../src/world/decide.js";
import { derive } from "../../src/world/rebuild.js";
import { emptyKnown, type World } from "../../src/world/world.js";
import type { Event } from "../../src/model/event.js";
import { configured, labels, library, NAMES, tools } from "./sample.js";

function play(events: readonly Event[]): World {
  return events.reduce((world, event) => advance(world, decide(world, event).changes), derive(emptyKnown, new Map()));
}

const at = "2026-01-01T00:00:00.000Z";
const [alpha, beta] = labels;
if (alpha === undefined || beta === undefined) throw new Error("the sample has two labels");
const listings: Event[] = [alpha, beta].map((label) => ({
  kind: "listing",
  at,
  label,
  tools: tools(
    label,
    NAMES.map((name) => ({ name, variant: 0 })),
  ),
  problems: [],
  cause: "start",
}));
const start: Event[] = [
  configured(at),
  { kind: "skills-written", at, by: "starter", written: library(), missing: [] },
  ...listings,
];

describe("an upstream taken out of the configuration", () => {
  it("takes its tools out of catalog, search and names, and its skills to rest with the reason [C23] [R06]", () => {
    const world = play([...start, configured(at, [beta])]);
    expect([...world.catalog.tools.keys()].some((key) => key.startsWith("alpha/"))).toBe(false);
    expect(
      searchTools(world.toolIndex, "get_order", { limit: 20, whole: true }).hits.some((hit) => hit.key.startsWith("alpha/")),
    ).toBe(false);
    expect(world.exposed.has("alpha__get_order" as ExposedName)).toBe(false);
    expect(world.standings.get("atomic-alpha-get-order" as never)).toMatchObject({ standing: "inactive" });
    expect(world.standings.get("atomic-beta-get-order" as never)).toMatchObject({ standing: "active" });
  });
});

describe("exposed names", () => {
  it("stay the same whatever else is connected, in whatever order, and lead back to the upstream's own name [C07] [C08]", () => {
    const both = play(start);
    const reversed = play([start[0], start[1], listings[1], listings[0]].filter((event) => event !== undefined));
    const alone = play([start[0], listings[0]].filter((event) => event !== undefined));
    expect(both.exposed.get("alpha__get_order" as ExposedName)).toBe("alpha/get_order");
    expect([...reversed.exposed].sort()).toEqual([...both.exposed].sort());
    for (const [name, key] of alone.exposed) expect(both.exposed.get(name)).toBe(key);
    for (const [name, key] of both.exposed) {
      expect(name).toMatch(/^[a-zA-Z0-9_-]+$/);
      expect(name.length).toBeLessThanOrEqual(DEFAULT_POLICY.maxNameLength);
      expect(both.catalog.tools.get(key as ToolKey)?.name).toBe(key.slice(key.indexOf("/") + 1));
    }
  });
});
