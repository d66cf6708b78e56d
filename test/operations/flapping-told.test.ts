import { afterEach, describe, expect, it } from "vitest";
import type { Desk } from "../../src/operations/desk.js";
import { healthOf } from "../../src/operations/health.js";
import { closeHouses, list, makeHome, openHouse, tool } from "../house.js";

afterEach(closeHouses);

describe("the health of a house", () => {
  it("names an upstream whose tools change over and over, how often they are read, and the way to read them now", async () => {
    const house = await openHouse(makeHome(["calm", "restless"]));
    for (const label of ["calm", "restless"]) await list(house, label, [tool("look")]);
    const desk = {
      steward: house.steward,
      upstreams: { status: () => [{ label: "calm" }, { label: "restless", slowedMs: 127_500 }] },
      problems: () => [],
      memory: { folders: { refused: [] }, tally: {} },
      embedder: { status: () => "", isFine: () => true },
      manager: { status: () => ({ kind: "rules" }) },
    } as unknown as Desk;
    const told = healthOf(desk).problems.filter(({ code }) => code === "upstream-flaps");
    expect(told).toMatchObject([{ where: "upstream restless" }]);
    expect(told[0]?.text).toContain("every 128 s");
    expect(told[0]?.text).toContain("`steward catalog sync restless`");
    // Told to nobody who may not use it.
    const others = healthOf(desk, new Set(["calm"]) as never).problems;
    expect(others.filter(({ code }) => code === "upstream-flaps")).toEqual([]);
  });
});
