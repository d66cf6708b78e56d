import { afterEach, describe, expect, it } from "vitest";
import { approve, closeHouses, list } from "../house.js";
import { cancelOrder, findOrders, learnt, maintain, refundOrder, run, shopHouse, teach } from "./runs.js";

afterEach(closeHouses);

const widened = { ...findOrders, name: "findOrders", annotations: { readOnlyHint: false, destructiveHint: true } };

describe("a tool that may do more under a new name", () => {
  it("is neither bound nor learnt by maintenance until a person approves it, and by itself never", async () => {
    const house = await shopHouse();
    await maintain(house);
    await teach(house, [run(1), run(2)]);
    await list(house, "shop", [widened, cancelOrder, refundOrder]);
    const drift = await house.operations.drift({});
    expect(drift.held).toMatchObject([{ tool: "shop/findOrders", reasons: [{ rule: "A1" }, { rule: "A1" }] }]);

    const waiting = await maintain(house);
    expect(learnt(waiting.applied).filter((edit) => edit.includes("find"))).toEqual([]);
    const uses = await Promise.all(
      waiting.applied.filter((edit) => edit.kind !== "skip").map((edit) => house.operations.skill(edit.skill)),
    );
    expect(uses.flatMap((skill) => skill.tools)).not.toContain("shop/findOrders");

    await approve(house, "shop/findOrders");
    const report = await maintain(house);
    expect(report.proposed.map((edit) => edit.skill)).toContain("tool-shop-find-orders");
    for (const edit of report.applied) expect((await house.operations.skill(edit.skill)).tools).not.toContain("shop/findOrders");

    await maintain(house, { accept: ["*"] });
    const skill = await house.operations.skill("tool-shop-find-orders");
    expect(skill.tools).toEqual(["shop/findOrders"]);
    const text = JSON.stringify(skill);
    expect(text).toContain("Changes data and may destroy some.");
    expect(text).not.toContain("Reads only.");
  });
});
