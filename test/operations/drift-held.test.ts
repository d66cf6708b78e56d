import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import { approve, closeHouses, list, makeHome, openHouse, person, tool } from "../house.js";

afterEach(closeHouses);

const lends = (name: string, writes: boolean, description = "Cancels an order."): JsonObject =>
  tool(name, { description, required: ["order_id"], optional: ["reason"], writes });

describe("what a drift says was held", () => {
  it("is what the change between the two versions held, with what became of it since", async () => {
    const house = await openHouse(makeHome(["a", "b", "c", "d"]));
    for (const label of ["a", "b", "c", "d"]) await list(house, label, [lends("cancel_order", false)]);
    const from = house.steward.world().catalog.version;
    for (const label of ["a", "b", "c"]) await list(house, label, [lends("cancel_order", true)]);
    await list(house, "d", [lends("cancel_purchase", true, "Cancels an order that was not sent yet.")]);
    const to = house.steward.world().catalog.version;
    const now = async (): Promise<string[]> =>
      (await house.operations.drift({ from, to })).held.map((row) => `${row.tool} ${row.now} ${row.reasons[0]?.rule ?? ""}`);
    const all = ["a/cancel_order held A1", "b/cancel_order held A1", "c/cancel_order held A1", "d/cancel_purchase held A1"];
    expect(await now()).toEqual(all);
    await approve(house, "a/cancel_order");
    await list(house, "b", [lends("cancel_order", false)]);
    await list(house, "c", []);
    const [link] = await house.operations.lineage();
    await house.operations.judgeLineage(link?.id ?? "", "reject", person);
    expect(await now()).toEqual([
      "a/cancel_order approved A1",
      "b/cancel_order released A1",
      "c/cancel_order gone A1",
      "d/cancel_purchase rejected A1",
    ]);
    expect((await house.operations.drift({ from: to, to })).held).toEqual([]);
  });
});
