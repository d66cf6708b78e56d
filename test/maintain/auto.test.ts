import { afterEach, describe, expect, it, vi } from "vitest";
import type { MaintenanceReport, MaintenanceRun } from "../../src/model/maintenance.js";
import { keepMaintained } from "../../src/operations/maintenance-auto.js";
import type { House } from "../../src/compose.js";
import { closeHouses, list, makeHome, openHouse, person, tool } from "../house.js";
import { cancelOrder, findOrders, maintain, refundOrder, run, shopHouse, teach } from "./runs.js";

afterEach(closeHouses);

const soon = { policy: { settledMs: 0 }, maintain: { auto: true } };
const HAND = {
  "SKILL.md": "---\nname: by-hand\ndescription: Looks.\n---\n\n1. Call `shop/find_orders` with email from the request.\n",
};
const renamed = { ...cancelOrder, name: "cancelOrder" };

async function reportsOf(house: Awaited<ReturnType<typeof shopHouse>>, least: number): Promise<readonly MaintenanceReport[]> {
  return await vi.waitFor(
    async () => {
      const reports = await house.operations.reports();
      expect(reports.length).toBeGreaterThanOrEqual(least);
      return reports;
    },
    { timeout: 20_000, interval: 20 },
  );
}

/** Maintenance by itself of a house whose policy asks for it at once; time passes as it is told. */
function byItself(
  house: House,
  run: () => Promise<MaintenanceRun>,
): { auto: ReturnType<typeof keepMaintained>; told: string[]; pass: (ms: number) => void } {
  let nowMs = 0;
  const told: string[] = [];
  const eager = { maintainAuto: true, settledMs: 0 };
  const auto = keepMaintained({
    steward: {
      ...house.steward,
      world: () => ({ ...house.steward.world(), policy: { ...house.steward.world().policy, ...eager } }),
    },
    clock: { now: () => "2027-01-01T00:00:00.000Z", elapsedMs: () => nowMs },
    log: (_level, text) => void told.push(text),
    run,
  });
  return { auto, told, pass: (ms) => void (nowMs += ms) };
}

describe("maintenance by itself", () => {
  it("runs after a settled version and mends what is certain, without anybody asking", async () => {
    const house = await shopHouse(soon);
    await teach(house, [run(1), run(2)]);
    await maintain(house);
    await list(house, "shop", [findOrders, renamed, refundOrder]);
    const [report] = await reportsOf(house, 2);
    expect(report?.applied.map((edit) => `${edit.kind} ${edit.skill}`)).toContain("modify atomic-cancel-order");
    // The report is on disc a moment before the world has moved.
    await house.steward.settled();
    expect((await house.operations.skill("atomic-cancel-order")).tools).toContain("shop/cancelOrder");
  });

  it("what fell due while nobody ran is found at the next start: nothing of it was remembered", async () => {
    const home = makeHome(["shop"]);
    const house = await openHouse(home);
    await list(house, "shop", [findOrders, cancelOrder, refundOrder]);
    await teach(house, [run(1), run(2)]);
    await maintain(house);
    await list(house, "shop", [findOrders, renamed, refundOrder]);
    expect((await house.operations.skill("atomic-cancel-order")).standing.standing).toBe("inactive");
    await house.stop();
    const again = await openHouse(home);
    const runs: string[] = [];
    const { auto } = byItself(again, async () => {
      runs.push("run");
      return await maintain(again);
    });
    auto.wake();
    await vi.waitFor(() => expect(runs).toEqual(["run"]));
    await auto.stop();
    expect((await again.operations.skill("atomic-cancel-order")).standing.standing).toBe("active");
  });

  it("a run that failed is tried again, later each time; one that left something for a person is not repeated", async () => {
    const house = await shopHouse();
    await teach(house, [run(1), run(2)]);
    await maintain(house);
    await list(house, "shop", [findOrders, refundOrder]);
    let attempts = 0;
    const { auto, told, pass } = byItself(house, async () => {
      attempts += 1;
      if (attempts < 3) throw new Error("the disc is full");
      return await maintain(house);
    });
    for (const pauseS of [30, 60]) {
      auto.wake();
      await vi.waitFor(() => expect(told.at(-1)).toContain(`the next is in ${pauseS} s`));
      const before = attempts;
      auto.wake();
      expect(attempts).toBe(before);
      pass(pauseS * 1_000);
    }
    auto.wake();
    await vi.waitFor(() => expect(told.at(-1)).toContain("maintenance ran by itself"));
    for (let n = 0; n < 3; n += 1) {
      pass(3_600_000);
      auto.wake();
    }
    expect(attempts).toBe(3);
    await auto.stop();
  });

  it.each([
    ["the catalog", async (house: House) => await list(house, "shop", [findOrders, renamed, refundOrder, tool("another")])],
    [
      "the library",
      async (house: House) => void (await house.operations.importSkills([{ folder: "by-hand", files: HAND }], person)),
    ],
  ])(
    "what was refused because %s moved under the run is done by the next, though nothing moves any more",
    async (_what, move) => {
      const house = await shopHouse();
      await teach(house, [run(1), run(2)]);
      await maintain(house);
      await list(house, "shop", [findOrders, renamed, refundOrder]);
      const reports: MaintenanceRun[] = [];
      let moved: Promise<void> | undefined;
      const { auto, pass } = byItself(house, async () => {
        const report = await house.operations.maintain({ mode: "incremental", dryRun: false }, person, ({ phase }) => {
          if (phase === "edits") moved ??= move(house);
        });
        await moved;
        reports.push(report);
        return report;
      });
      auto.wake();
      await vi.waitFor(() => expect(reports).toHaveLength(2), { timeout: 20_000 });
      expect(reports[0]?.applied).toEqual([]);
      for (const { findings } of reports[0]?.refused ?? []) expect(findings).toEqual([expect.stringContaining("due again")]);
      expect(reports[0]?.refused).not.toEqual([]);
      await auto.stop();
      expect((await house.operations.skill("atomic-cancel-order")).standing.standing).toBe("active");
      pass(3_600_000);
      auto.wake();
      expect(reports).toHaveLength(2);
    },
  );
});
