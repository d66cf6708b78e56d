import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { SkillName } from "../../src/model/ids.js";
import { approve, closeHouses, later, list, tool } from "../house.js";
import { cancelOrder, findOrders, learnt, maintain, refundOrder, run, shopHouse, teach } from "./runs.js";

afterEach(closeHouses);

/** What may befall a tool between what runs taught first and the run that would learn more. */
const fates = {
  stays: (one: typeof findOrders) => [one],
  leaves: () => [],
  breaks: (one: typeof findOrders) => [{ ...one, inputSchema: { type: "object", properties: {}, additionalProperties: false } }],
  waits: (one: typeof findOrders) => [{ ...one, annotations: { readOnlyHint: false, destructiveHint: true } }],
} as const;
const fate = fc.constantFrom(...(Object.keys(fates) as (keyof typeof fates)[]));

describe("a skill that a run adds", () => {
  it(
    "is active when the run ends, or is not added and told of, whatever befell its tools and what it builds on",
    { timeout: 120_000 },
    async () => {
      let added = 0;
      let told = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.tuple(fate, fate, fate),
          fc.constantFrom("up" as const, "away" as const, "disabled" as const),
          fc.integer({ min: 0, max: 2 }),
          async (drawn, state, before) => {
            const house = await shopHouse();
            await teach(house, [run(1), run(2)].slice(0, before));
            await maintain(house);
            const tools = [findOrders, cancelOrder, refundOrder].flatMap((one, n) => fates[drawn[n] ?? "stays"](one));
            await list(house, "shop", [...tools, tool("another", { writes: true })]);
            if (state !== "up") await house.steward.post({ kind: "presence", at: later(), label: "shop" as never, state });
            await teach(house, [run(3, { refund: true }), run(4, { refund: true })]);
            const foreseen = await maintain(house, { dryRun: true, accept: ["*"] });
            const report = await maintain(house, { accept: ["*"] });
            expect(foreseen.applied).toEqual(report.applied);
            const { standings } = house.steward.world();
            for (const edit of report.applied)
              if (edit.kind === "add") {
                expect(standings.get(edit.skill as SkillName)).toMatchObject({ standing: "active" });
                added += 1;
              }
            for (const { skill, findings } of report.refused)
              if (findings.join(" ").includes("as soon as it is added")) {
                expect(standings.has(skill as SkillName)).toBe(false);
                told += 1;
              }
            await house.stop();
          },
        ),
        { numRuns: 25, seed: 11 },
      );
      expect([added, told].every((count) => count > 0)).toBe(true);
    },
  );

  it("that could not be learnt for a skill at rest is learnt once that one wakes", async () => {
    const house = await shopHouse();
    await teach(house, [run(1), run(2)]);
    await maintain(house);
    await list(house, "shop", [...fates.waits(findOrders), cancelOrder, refundOrder]);
    await teach(house, [run(3, { refund: true }), run(4, { refund: true })]);
    const report = await maintain(house);
    expect(learnt(report.applied).filter((edit) => edit.includes("plan"))).toEqual([]);
    await approve(house, "shop/find_orders");
    const again = await maintain(house);
    expect(learnt(again.applied).join(" ")).toContain("add plan-");
    for (const { name, standing } of await house.operations.skills({}))
      expect([name, standing.standing]).toEqual([name, "active"]);
  });
});
