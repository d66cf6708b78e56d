/** A person's word on a proposal is on what was shown, where the person says so. */
import { afterEach, describe, expect, it } from "vitest";
import type { House } from "../../src/compose.js";
import { closeHouses, list, person } from "../house.js";
import { cancelOrder, findOrders, maintain, refundOrder, run, shopHouse, teach } from "./runs.js";

afterEach(closeHouses);

const SKILL = "atomic-cancel-order";

/** A house where a rebind waits for a person's word, since the person reverted it once; and what a dry run shows of it. */
async function waiting(): Promise<{ house: House; shown: string }> {
  const house = await shopHouse();
  await teach(house, [run(1), run(2)]);
  await maintain(house);
  const learnt = house.steward.world().library.revision;
  await list(house, "shop", [findOrders, { ...cancelOrder, name: "void_order" }, refundOrder]);
  await maintain(house);
  await house.operations.revert({ to: learnt }, person);
  const { proposed } = await maintain(house, { dryRun: true });
  return { house, shown: proposed.find(({ skill }) => skill === SKILL)?.signature ?? "" };
}

describe("accepting what was shown", () => {
  it("applies it, by its whole signature or its first twelve characters", async () => {
    const { house, shown } = await waiting();
    expect(shown).toMatch(/^[0-9a-f]{64}$/);
    const done = await maintain(house, { accept: [`${SKILL}@${shown.slice(0, 12)}`] });
    expect(done.applied.map(({ skill }) => skill)).toContain(SKILL);
  });

  it("applies nothing at all where something else is proposed by now, or nothing", async () => {
    const { house, shown } = await waiting();
    const { revision } = house.steward.world().library;
    await list(house, "shop", [findOrders, { ...cancelOrder, name: "voidOrder" }, refundOrder]);
    await expect(maintain(house, { accept: [`${SKILL}@${shown}`] })).rejects.toMatchObject({ code: "approval-stale" });
    await list(house, "shop", [findOrders, cancelOrder, refundOrder]);
    await expect(maintain(house, { accept: [`${SKILL}@${shown}`] })).rejects.toMatchObject({
      code: "approval-stale",
      message: expect.stringContaining("steward maintain --dry-run") as string,
    });
    expect(house.steward.world().library.revision).toBe(revision);
  });

  it("says what is missing where too little of a signature is given", async () => {
    const { house, shown } = await waiting();
    await expect(maintain(house, { accept: [`${SKILL}@${shown.slice(0, 4)}`] })).rejects.toMatchObject({
      code: "input-invalid",
      message: expect.stringContaining("12 characters") as string,
    });
  });
});
