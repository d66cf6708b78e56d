import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import { computeStandings } from "../../src/world/standings.js";
import { closeHouses, list, makeHome, openHouse, person, tool } from "../house.js";
import { CANCEL_IT } from "./cancel-it.js";

afterEach(closeHouses);

const cancel = (name: string, description: string): JsonObject =>
  tool(name, { description, required: ["order_id"], optional: ["reason"], writes: true });

describe("a word on a link in the middle of a chain", () => {
  it("reaches the skills of the tool at its beginning: standings are what they would be worked out to be anew", async () => {
    const house = await openHouse(makeHome(["shop"]));
    const agree = (): void => {
      const world = house.steward.world();
      for (const [name, standing] of computeStandings(world, world.library.skills.keys()))
        expect(world.standings.get(name)?.reasons).toEqual(standing.reasons);
    };
    await list(house, "shop", [cancel("cancel_order", "Cancels an order.")]);
    await house.operations.importSkills([CANCEL_IT], person);
    for (const [name, description] of [
      ["cancel_purchase", "Cancels an order that was not sent yet."],
      ["cancel_buying", "Cancels a purchase; an order that was not sent yet."],
    ] as const) {
      await list(house, "shop", [cancel(name, description)]);
      agree();
    }
    const links = await house.operations.lineage();
    expect(links.map((link) => [link.from, link.to, link.level])).toEqual([
      ["shop/cancel_order", ["shop/cancel_purchase"], "proposed"],
      ["shop/cancel_purchase", ["shop/cancel_buying"], "proposed"],
    ]);
    for (const verdict of ["confirm", "reject", "confirm"] as const) {
      for (const link of links) {
        await house.operations.judgeLineage(link.id, verdict, person);
        agree();
      }
    }
    // A tool that comes back, and one that nobody took over from: both ends of the chain move.
    await list(house, "shop", [cancel("cancel_purchase", "Cancels an order that was not sent yet.")]);
    agree();
    await list(house, "shop", []);
    agree();
  });
});
