import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { House } from "../../src/compose.js";
import type { SkillName } from "../../src/model/ids.js";
import { closeHouses, later, list, person } from "../house.js";
import { cancelOrder, findOrders, maintain, refundOrder, run, shopHouse, teach } from "./runs.js";

afterEach(closeHouses);

const SKILL = "atomic-cancel-order" as SkillName;

/** A house whose skill was learnt (revision `learnt`), bound to a renamed tool, and then pinned. */
async function pinnedHouse(): Promise<{ house: House; learnt: number }> {
  const house = await shopHouse();
  await teach(house, [run(1), run(2)]);
  await maintain(house);
  const learnt = house.steward.world().library.revision;
  await list(house, "shop", [findOrders, { ...cancelOrder, name: "void_order" }, refundOrder]);
  await maintain(house, { accept: ["*"] });
  await house.operations.pinSkill(SKILL, true, person);
  return { house, learnt };
}

describe("a pinned skill", () => {
  it("keeps its text through everything but its own file, and each that names it is refused", { timeout: 60_000 }, async () => {
    const { house, learnt } = await pinnedHouse();
    const text = (): string | undefined => house.steward.world().library.skills.get(SKILL)?.digest;
    const pinned = text();
    const pin = { message: expect.stringContaining(`${SKILL} is pinned; unpin it first`) };
    const steps = {
      incremental: () => maintain(house, { accept: [SKILL] }),
      rebuild: () => maintain(house, { mode: "rebuild", accept: ["*"] }),
      back: () => list(house, "shop", [findOrders, cancelOrder, refundOrder]),
      on: () => list(house, "shop", [findOrders, { ...cancelOrder, name: "void_order" }, refundOrder]),
      tick: () => house.steward.post({ kind: "tick", at: later() }),
      revertAll: () => house.operations.revert({ to: learnt }, person),
      revert: () => expect(house.operations.revert({ to: learnt, skill: SKILL }, person)).rejects.toMatchObject(pin),
      remove: () => expect(house.operations.removeSkill(SKILL, person)).rejects.toMatchObject(pin),
    } as const;
    const names = Object.keys(steps) as (keyof typeof steps)[];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 5 }), async (drawn) => {
        for (const name of drawn) {
          await steps[name]();
          expect(text()).toBe(pinned);
        }
      }),
      { numRuns: 15, seed: 5 },
    );
  });

  it("is named by a revert of the library that leaves it as it is, and goes back once it is unpinned", async () => {
    const { house, learnt } = await pinnedHouse();
    const all = await house.operations.revert({ to: learnt }, person);
    expect(all.keptPinned).toEqual([SKILL]);
    expect(all.changed).not.toContain(SKILL);
    expect(all.changed).not.toEqual([]);
    const again = await house.operations.revert({ to: learnt }, person);
    expect(again).toMatchObject({ changed: [], keptPinned: [SKILL], unchanged: expect.stringContaining("is pinned") });
    await house.operations.pinSkill(SKILL, false, person);
    const last = await house.operations.revert({ to: learnt }, person);
    expect(last).toMatchObject({ changed: [SKILL], keptPinned: [] });
  });
});

describe("accepting a skill for which nothing is proposed", () => {
  it("is said to have accepted nothing, in the report", async () => {
    const house = await shopHouse();
    await teach(house, [run(1), run(2)]);
    await maintain(house);
    const report = await maintain(house, { accept: [SKILL] });
    expect(report.applied).toEqual([]);
    expect(report.notes).toContain(`Nothing is proposed now for ${SKILL}: there was nothing to accept.`);
    const plain = await maintain(house, { accept: ["*"] });
    expect((plain.notes ?? []).join()).not.toContain("nothing to accept");
  });
});
