import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { closeHouses, list, person, tool } from "../house.js";
import { cancelOrder, claimed, failed, findOrders, learnt, maintain, refundOrder, run, shopHouse, teach } from "./runs.js";

afterEach(closeHouses);

describe("what verified runs teach", () => {
  it("the second run of one way makes a skill: values become slots with their sources, and the contract cites the runs", async () => {
    const house = await shopHouse();
    await teach(house, [run(1)]);
    expect(learnt((await maintain(house)).applied)).toEqual([]);
    await teach(house, [run(2)]);
    const report = await maintain(house);
    expect(learnt(report.applied)).toEqual(["add atomic-cancel-order"]);
    const skill = await house.operations.skill("atomic-cancel-order");
    expect(skill.text).toContain("1. Find orders: `shop/find_orders` with email from the request.");
    expect(skill.text).toContain("2. Cancel order: `shop/cancel_order` with order_id from step 1 and reason from the request.");
    expect(skill.standing.standing).toBe("active");
    expect(skill.contract.requires.map(({ tool: key, params, reads }) => ({ key, params, reads }))).toEqual([
      { key: "shop/find_orders", params: ["email"], reads: ["order_id"] },
      { key: "shop/cancel_order", params: ["order_id", "reason"], reads: [] },
    ]);
    expect(skill.contract.evidence.map(({ steps, verifier }) => ({ steps, trusted: verifier.startsWith("state") }))).toEqual([
      { steps: [1, 2], trusted: true },
      { steps: [1, 2], trusted: true },
    ]);
    expect(learnt((await maintain(house)).applied)).toEqual([]);
  });

  it("trials of one task prove it once; failures, unverified runs and one agent's claims prove nothing", async () => {
    const house = await shopHouse();
    await teach(house, [
      run(1),
      { ...run(1), source: "trial 2" },
      run(2, { outcome: failed }),
      run(3, { outcome: failed }),
      run(4, { outcome: claimed }),
      run(5, { outcome: claimed }),
      run(6, { outcome: claimed }),
    ]);
    const report = await maintain(house);
    expect([...learnt(report.applied), ...learnt(report.proposed)]).toEqual([]);
  });

  it("tasks of one shape become a plan over the skills of their needs, in the order the tasks had them", async () => {
    const house = await shopHouse();
    await teach(house, [run(1, { refund: true }), run(2, { refund: true }), run(3), run(4)]);
    const report = await maintain(house);
    expect(learnt(report.applied)).toEqual([
      "add atomic-cancel-order",
      "add atomic-refund-order",
      "add plan-cancel-order-and-refund-order",
    ]);
    const plan = await house.operations.skill("plan-cancel-order-and-refund-order");
    expect(plan.contract.uses).toEqual(["atomic-cancel-order", "atomic-refund-order"]);
    expect(plan.description).toContain("money");
    const view = await house.operations.startTask({ task: "Cancel my order and pay the money back" }, person);
    expect(view.body.plan?.from).toEqual(["plan-cancel-order-and-refund-order"]);
  });

  it("with planning frozen no plan is even proposed from the very runs that make one otherwise", async () => {
    const house = await shopHouse({ policy: { maintainPlanning: "frozen" } });
    await teach(house, [run(1, { refund: true }), run(2, { refund: true })]);
    const { applied, proposed, refused } = await maintain(house);
    expect(learnt([...applied, ...proposed, ...refused])).toEqual(["add atomic-cancel-order", "add atomic-refund-order"]);
  });

  it("a catalog alone gives its tool skills, and nothing that only runs could teach", async () => {
    const house = await shopHouse();
    const report = await maintain(house);
    expect(report.applied.map((edit) => edit.skill)).toEqual([
      "tool-shop-cancel-order",
      "tool-shop-find-orders",
      "tool-shop-refund-order",
    ]);
  });

  it("runs on tools that were renamed since teach a skill on the new names", async () => {
    const house = await shopHouse();
    await teach(house, [run(1), run(2)]);
    const renamed = { ...cancelOrder, name: "cancelOrder" };
    await list(house, "shop", [findOrders, renamed, refundOrder]);
    expect(learnt((await maintain(house)).applied)).toEqual(["add atomic-cancelorder"]);
    const skill = await house.operations.skill("atomic-cancelorder");
    expect(skill.tools).toEqual(["shop/find_orders", "shop/cancelOrder"]);
  });

  it("a skill that a person wrote for the same end is left alone; the way is skipped and not looked at again", async () => {
    const house = await shopHouse();
    const files = {
      "SKILL.md":
        "---\nname: cancel-by-hand\ndescription: Cancels an order by hand.\nmetadata:\n  steward-tier: atomic\n---\n## Steps\n1. Cancel it: `shop/cancel_order` with order_id from the request.\n",
    };
    await house.operations.importSkills([{ folder: "cancel-by-hand", files }], person);
    await teach(house, [run(1), run(2)]);
    const report = await maintain(house);
    expect(learnt(report.skipped ?? [])).toEqual(["skip cancel-by-hand"]);
    expect(learnt(report.applied)).toEqual([]);
    expect(await house.operations.skill("cancel-by-hand").then((skill) => skill.text)).toContain("by hand");
    expect(learnt((await maintain(house)).applied)).toEqual([]);
  });

  it("an argument that is always the same one of a few is fixed; one that differs is asked for", async () => {
    const send = tool("send_note", { required: ["order_id", "text"], writes: true });
    (send["inputSchema"] as { properties: Record<string, unknown> }).properties["channel"] = {
      type: "string",
      enum: ["mail", "sms"],
    };
    const house = await shopHouse({}, [findOrders, send]);
    const note = (n: number) => ({
      source: `n${n}`,
      task: `Tell customer ${n}`,
      calls: [
        { name: "shop/send_note", args: { order_id: `ORDER-${n}`, text: `hello ${n}`, channel: "sms" }, result: { ok: true } },
      ],
      outcome: { outcome: "success" as const, trust: "human" as const },
    });
    await teach(house, [note(1), note(2), note(3)]);
    await maintain(house);
    const { text } = await house.operations.skill("atomic-send-note");
    expect(text).toContain('channel = "sms"');
    expect(text).toContain("order_id from the request, text from the request");
  });

  it("the order in which runs are told does not matter", async () => {
    let first: string | undefined;
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([1, 2, 3, 4], { minLength: 4, maxLength: 4 }), async (order) => {
        const house = await shopHouse();
        await teach(
          house,
          order.map((n) => run(n, { refund: n % 2 === 0 })),
        );
        await maintain(house);
        const texts = await Promise.all(
          ["atomic-cancel-order", "atomic-refund-order", "plan-cancel-order-and-refund-order"].map((name) =>
            house.operations.skill(name),
          ),
        );
        const said = texts.map(({ text }) => text).join("\n");
        first ??= said;
        expect(said).toBe(first);
        await closeHouses();
      }),
      { numRuns: 4 },
    );
  });
});
