import { afterEach, describe, expect, it } from "vitest";
import type { House } from "../../src/compose.js";
import type { JsonObject } from "../../src/model/json.js";
import type { Caller } from "../../src/model/operations.js";
import { closeHouses, list, makeHome, openHouse, person, tool } from "../house.js";

afterEach(closeHouses);

const operator: Caller = { ...person, principal: "ops", rights: new Set(["operate"]) };

/** A guess holds the tool that came: it may write, and the one that left only read. */
async function guessed(): Promise<{ house: House; link: string }> {
  const house = await openHouse(makeHome(["lib"]));
  const lends = (name: string, description: string, writes: boolean): JsonObject =>
    tool(name, { description, required: ["order_id"], optional: ["reason"], writes });
  await list(house, "lib", [lends("cancel_order", "Cancels an order.", false)]);
  await list(house, "lib", [lends("cancel_purchase", "Cancels an order that was not sent yet.", true)]);
  const [link] = await house.operations.lineage();
  expect(link?.level).toBe("proposed");
  return { house, link: link?.id ?? "" };
}

describe("a rejection that would release a held tool", () => {
  it("takes the right to approve, and says so before anything changed", async () => {
    const { house, link } = await guessed();
    await expect(house.operations.judgeLineage(link, "reject", operator)).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("lib/cancel_purchase"),
    });
    expect((await house.operations.lineageLink(link)).rejected).toBeUndefined();
    expect(await house.operations.judgeLineage(link, "reject", person)).toMatchObject({
      released: ["lib/cancel_purchase"],
      held: [],
    });
    // Nothing is released by saying it again, and a confirmation takes no more than it did.
    expect(await house.operations.judgeLineage(link, "reject", operator)).toMatchObject({ released: [] });
    expect(await house.operations.judgeLineage(link, "confirm", operator)).toMatchObject({ held: ["lib/cancel_purchase"] });
  });
});
