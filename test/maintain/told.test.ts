import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { outsideOf } from "../../src/exchange/handout.js";
import { openHouse, closeHouses, list, makeHome, person } from "../house.js";
import { cancelOrder, findOrders, maintain, run, shopHouse, teach } from "./runs.js";

afterEach(closeHouses);

describe("an accepted name", () => {
  it("that no skill and no proposal has is refused by its name, and nothing is applied; one beside it that is known is no excuse", async () => {
    const house = await shopHouse();
    await teach(house, [run(1), run(2)]);
    const { revision } = house.steward.world().library;
    for (const accept of [["nosuch-skill"], ["atomic-cancel-order", "nosuch-skill"]])
      await expect(maintain(house, { accept })).rejects.toThrow("nosuch-skill");
    expect(house.steward.world().library.revision).toBe(revision);
    await maintain(house, { accept: ["atomic-cancel-order"] });
    expect(house.steward.world().library.revision).toBeGreaterThan(revision);
  });
});

describe("a configured model that does not answer", () => {
  it("is said by health with the reason, and by each report that ran without it; rules are said as such", async () => {
    const manager = { kind: "llm", baseUrl: "http://127.0.0.1:9/v1", model: "nobody" };
    const house = await openHouse(makeHome(["shop"], { manager }));
    expect(house.operations.health().manager).toMatchObject({ kind: "llm", model: "nobody", state: "not asked" });
    await list(house, "shop", [findOrders, cancelOrder]);
    await house.operations.startTask({ task: "Cancel the order of a customer" }, person);
    expect(house.operations.health().manager.why).toContain("could not be reached");
    const report = await maintain(house);
    expect((report.notes ?? []).join(" ")).toContain("Rules decided where the model nobody should have");
    const plain = await shopHouse();
    expect(plain.operations.health().manager).toMatchObject({ kind: "rules" });
    expect((await maintain(plain)).notes ?? []).toEqual([]);
  }, 30_000);
});

describe("an export", () => {
  it("into the home or anything in it is refused, and beside it is not", () => {
    const home = makeHome([]);
    for (const below of ["", "skills", "skills/new", "config", "."])
      expect(() => outsideOf(home, join(home, below))).toThrow("lies in the home");
    for (const beside of [`${home}-client`, join(home, "..", "elsewhere")]) expect(outsideOf(home, beside)).toBe(beside);
  });
});
