import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { House } from "../../src/compose.js";
import type { JsonObject } from "../../src/model/json.js";
import { closeHouses, later, list, openHouse, person } from "../house.js";
import { cancelOrder, findOrders, maintain, refundOrder, run, shopHouse, teach } from "./runs.js";

afterEach(closeHouses);

const SKILL = "atomic-cancel-order";
const renamed: JsonObject = { ...cancelOrder, name: "void_order" };
const catalogs = { old: [findOrders, cancelOrder, refundOrder], next: [findOrders, renamed, refundOrder] };

/** A library whose skills were learnt (revision `learnt`), then bound to the renamed tool. */
async function reboundShop(): Promise<{ house: House; learnt: number }> {
  const house = await shopHouse();
  await teach(house, [run(1), run(2)]);
  await maintain(house);
  const learnt = house.steward.world().library.revision;
  await list(house, "shop", catalogs.next);
  await maintain(house, { accept: ["*"] });
  expect(callsOf(house)).toContain("shop/void_order");
  return { house, learnt };
}

function callsOf(house: House): string[] {
  const skill = [...house.steward.world().library.skills.values()].find(({ name }) => name === SKILL);
  return (skill?.contract.requires ?? []).map(({ tool }) => tool);
}

function digests(house: House, names: Iterable<string>): Record<string, string | undefined> {
  const { skills } = house.steward.world().library;
  return Object.fromEntries([...names].map((name) => [name, [...skills.values()].find((skill) => skill.name === name)?.digest]));
}

describe("what a person reverted", () => {
  it("stays as it was at that revision through every tick, run and start, whatever catalog is in force", async () => {
    const moves = fc.array(fc.constantFrom("tick", "incremental", "rebuild", "start"), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("old", "next"), moves, async (catalog, steps) => {
        const shop = await reboundShop();
        const { learnt } = shop;
        let { house } = shop;
        await list(house, "shop", catalogs[catalog]);
        const record = await house.store.readRevision(learnt);
        await house.operations.revert({ to: learnt }, person);
        const names = Object.keys(record?.skills ?? {});
        const then = digests(house, names);
        expect(callsOf(house)).toContain("shop/cancel_order");
        for (const step of steps) {
          if (step === "tick") await house.steward.post({ kind: "tick", at: later() });
          else if (step === "start") {
            const home = house.home;
            await house.stop();
            house = await openHouse(home);
          } else await maintain(house, { mode: step });
          expect(digests(house, names)).toEqual(then);
        }
        await closeHouses();
      }),
      { numRuns: 6 },
    );
  }, 60_000);

  it("answers which skills changed and which rest for it, and maintenance only proposes to change them until it is accepted", async () => {
    const { house, learnt } = await reboundShop();
    const answer = await house.operations.revert({ to: learnt }, person);
    expect(answer.changed).toContain(SKILL);
    expect(answer.resting.find(({ skill }) => skill === SKILL)?.reason).toContain("cancel_order");
    const report = await maintain(house);
    expect(report.applied.map(({ skill }) => skill)).not.toContain(SKILL);
    expect(report.proposed.find(({ skill }) => skill === SKILL)?.evidence.join(" ")).toContain("reverted");
    await maintain(house, { accept: [SKILL] });
    expect(callsOf(house)).toContain("shop/void_order");
  });

  it("is not brought back by a tool that returns, also after the skill moved on", async () => {
    const { house, learnt } = await reboundShop();
    const left = house.steward.world().library.skills.get(SKILL as never)?.digest;
    const { changed } = await house.operations.revert({ to: learnt, skill: SKILL }, person);
    expect(changed).toEqual([SKILL]);
    await list(house, "shop", catalogs.old);
    await house.operations.approveSkill(SKILL, person);
    await list(house, "shop", catalogs.next);
    expect(house.steward.world().library.skills.get(SKILL as never)?.digest).not.toBe(left);
  });
});

describe("a takeover that a person rejects", () => {
  it("takes the skills that were bound by it back to the tool that left, where they rest, and no run binds them again", async () => {
    const { house } = await reboundShop();
    const link = [...house.steward.world().lineage.values()].find(({ from }) => from === "shop/cancel_order");
    const { skills } = await house.operations.judgeLineage(link?.id ?? "", "reject", person);
    expect(skills.changed).toContain(SKILL);
    expect(skills.resting.map(({ skill }) => skill)).toContain(SKILL);
    expect(callsOf(house)).toContain("shop/cancel_order");
    await maintain(house);
    await maintain(house, { mode: "rebuild" });
    expect(callsOf(house)).toContain("shop/cancel_order");
    expect(house.steward.world().standings.get(SKILL as never)?.standing).toBe("inactive");
  });
});
