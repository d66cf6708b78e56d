import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRules } from "../../src/manager/rules.js";
import { clausesOf } from "../../src/provision/plan.js";
import { openReferences, readSpoken } from "../../src/provision/spoken.js";
import { SHOP_SKILLS, SHOP_TOOLS, sampleTool } from "./sample.js";
import { turnOf, type TurnSketch } from "./turn.js";

const decide = (sketch: TurnSketch): string[] => {
  const { decisions } = turnOf(sketch);
  const steps = decisions.plan?.steps.map((step) => `${step.goal}: ${[...step.skills, ...step.tools].join(" ")}`) ?? [];
  return [`${decisions.plan?.source ?? "no plan"} ${decisions.plan?.from.join("+") ?? ""}`.trim(), ...steps];
};

describe("the plan", () => {
  it("is a skill's where the task means it, whatever else the task says", () => {
    const text =
      "Hi! I am Ann and quite upset. My dog ate the catalogue. I would like you to cancel my order O-1001 as soon as possible, thanks.";
    expect(decide({ request: { kind: "start", text }, planning: [["plan-cancel-order", 1]] })[0]).toBe("skill plan-cancel-order");
  });

  it("is not a skill's that shares only a noun with the task", () => {
    const sketch: TurnSketch = {
      request: { kind: "start", text: "What is in order O-1001?" },
      planning: [["plan-cancel-order", 1]],
      tools: [["shop/get_order", 1]],
    };
    expect(decide(sketch)).toEqual(["derived", "What is in order O-1001?: shop/get_order"]);
  });

  it("is not a skill's that would change more than the task speaks of, where a single skill says the task plainly", () => {
    const refund: TurnSketch = {
      request: { kind: "start", text: "Refund the payment P-9 of order O-1" },
      planning: [["plan-cancel-order", 1]],
      atomic: [["atomic-refund-payment", 1]],
    };
    expect(decide(refund)).toEqual([
      "derived",
      "Refund the payment P-9 of order O-1: atomic-refund-payment shop/list_payments shop/refund_payment",
    ]);
    const address: TurnSketch = {
      request: { kind: "start", text: "Change the shipping address of order O-1" },
      planning: [["plan-ship-order", 1]],
      atomic: [
        ["atomic-change-address", 1],
        ["atomic-ship-order", 0.9],
      ],
      moreTools: {
        "depot/ship_order": { input: { order_id: "string" } },
        "shop/change_address": { input: { order_id: "string", address: "string" } },
        "depot/reserve": {},
      },
      moreSkills: {
        "plan-ship-order": {
          steps: ["Reserve the stock with skill `atomic-reserve-stock`.", "Ship it with skill `atomic-ship-order`."],
        },
        "atomic-reserve-stock": { requires: ["depot/reserve"] },
        "atomic-ship-order": { requires: ["depot/ship_order"] },
        "atomic-change-address": { requires: ["shop/change_address"] },
      },
    };
    expect(decide(address)).toEqual([
      "derived",
      "Change the shipping address of order O-1: atomic-change-address shop/change_address",
    ]);
    expect(decide({ ...address, request: { kind: "start", text: "Ship order O-1" } })[0]).toBe("skill plan-ship-order");
  });

  it("gains a step for a tool that the task names and the plan does not have", () => {
    const sketch: TurnSketch = {
      request: { kind: "start", text: "Cancel order O-1 and tell me the stock of the product" },
      planning: [["plan-cancel-order", 1]],
      tools: [
        ["shop/cancel_order", 1],
        ["depot/get_stock", 0.9],
        ["shop/get_order", 0.8],
      ],
    };
    expect(decide(sketch).at(-1)).toBe(
      "Cancel order O-1 and tell me the stock of the product: depot/search_products depot/get_stock",
    );
  });

  it("is merged where the task has several needs, without doubled steps", () => {
    const sketch: TurnSketch = {
      request: { kind: "start", text: "Cancel order O-1, and return the delivered items of order O-2." },
      planning: [
        ["plan-cancel-order", 1],
        ["plan-return-items", 0.9],
        ["plan-check-stock", 0.1],
      ],
    };
    expect(decide(sketch)).toEqual([
      "merged plan-cancel-order+plan-return-items",
      "Look up the order: atomic-look-up-order shop/get_order",
      "Cancel the pending order: atomic-cancel-order shop/get_order shop/cancel_order",
      "Refund the payment: atomic-refund-payment shop/list_payments shop/refund_payment",
      "Open the return: atomic-open-return shop/create_return",
    ]);
  });

  it("of a foreign skill without steps rests on what its contract names", () => {
    const sketch: TurnSketch = {
      request: { kind: "start", text: "ship a parcel abroad" },
      planning: [["ship-parcel", 1]],
      moreSkills: {
        "ship-parcel": { tier: "planning", description: "Ship a parcel.", requires: ["depot/track_shipment"], body: "Prose." },
      },
    };
    expect(decide(sketch)).toEqual(["skill ship-parcel", "Ship a parcel.: depot/track_shipment"]);
  });

  it("leaves a step of a skill that names nothing without tools rather than guess", () => {
    const sketch: TurnSketch = {
      request: { kind: "start", text: "close the account" },
      planning: [["plan-close-account", 1]],
      tools: [["shop/get_order", 1]],
      forStep: { "Ask the customer to confirm": { tools: [["shop/cancel_order", 1]] } },
      moreSkills: {
        "plan-close-account": {
          description: "Close an account.",
          steps: ["Ask the customer to confirm.", "Close it: `crm/close_account` with account_id."],
        },
      },
      moreTools: { "crm/close_account": {} },
    };
    expect(decide(sketch)).toEqual(["skill plan-close-account", "Ask the customer to confirm: ", "Close it: crm/close_account"]);
  });

  it("takes of alternatives the first that is there, and no optional tool", () => {
    const sketch: TurnSketch = {
      request: { kind: "start", text: "find a customer" },
      atomic: [["atomic-find-customer", 1]],
      moreSkills: {
        "atomic-find-customer": {
          requires: [
            { tool: "crm/gone", anyGroup: "a" },
            { tool: "shop/find_customer", anyGroup: "a" },
            { tool: "crm/other", anyGroup: "a" },
            { tool: "crm/log", optional: true },
          ],
        },
      },
      moreTools: { "crm/other": {}, "crm/log": {} },
    };
    expect(decide(sketch)).toEqual(["derived", "find a customer: atomic-find-customer shop/find_customer"]);
  });
});

describe("what was learnt", () => {
  const clauses = [
    "cancel the order O-1",
    "refund the payment",
    "check the stock of shoes",
    "return the items",
    "find the customer",
  ];
  const some = <Item>(items: readonly Item[], most: number): fc.Arbitrary<(readonly [Item, number])[]> =>
    fc
      .uniqueArray(fc.constantFrom(...items), { maxLength: most })
      .map((had) => had.map((item, n) => [item, 1 - n / 20] as const));
  const atomic = SHOP_SKILLS.filter((skill) => skill.tier === "atomic").map((skill) => skill.name as string);

  it("never takes a tool away that a task was shown before: a skill comes beside what its clause brought up", () => {
    const task = fc.uniqueArray(fc.constantFrom(...clauses), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(". "));
    const tools = some(
      SHOP_TOOLS.map((tool) => tool.key as string),
      12,
    );
    fc.assert(
      fc.property(task, tools, some(atomic, 6), (text, found, skills) => {
        const shown = (learnt: typeof skills): string[] =>
          turnOf({ request: { kind: "start", text }, tools: found, atomic: learnt })
            .decisions.tools.filter((choice) => !choice.reason.startsWith("supplies"))
            .map((choice) => choice.tool);
        // A supplier may be named by a skill now, or be needed no more where a skill's tool yields the same.
        const after = new Set<string>(
          turnOf({ request: { kind: "start", text }, tools: found, atomic: skills }).decisions.tools.map((choice) => choice.tool),
        );
        expect(shown([]).filter((key) => !after.has(key))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it("is what its step is for, with what search brought up before it, at most three tools a clause", () => {
    const sketch: TurnSketch = {
      request: { kind: "start", text: "Refund the payment of order O-1. Then check the stock" },
      atomic: [["atomic-refund-payment", 1]],
      tools: [
        ["shop/cancel_order", 1],
        ["shop/get_order", 0.9],
        ["depot/get_stock", 0.8],
      ],
    };
    const [, refund] = decide(sketch);
    expect(refund).toMatch(/: atomic-refund-payment .*shop\/get_order.* shop\/list_payments shop\/refund_payment$/);
  });
});

describe("dependency closure", () => {
  const suppliers = (text: string): string[] =>
    turnOf({ request: { kind: "start", text }, tools: [["shop/cancel_order", 1]] })
      .decisions.tools.filter((tool) => tool.reason.startsWith("supplies"))
      .map((tool) => `${tool.tool}: ${tool.reason}`);

  it("brings who yields what the task does not say, over two levels", () => {
    expect(suppliers("cancel the order of ann@example.org")).toEqual([
      "shop/find_customer: supplies customer_id for shop/list_orders",
      "shop/list_orders: supplies order_id for shop/cancel_order",
    ]);
  });

  it("brings nobody for what the task says", () => {
    expect(suppliers("cancel order O-1001")).toEqual([]);
    expect(suppliers("cancel #W2378156 please")).toEqual([]);
  });

  it("stops where the task gives what a supplier needs", () => {
    expect(suppliers("cancel the order of customer C-17")).toEqual(["shop/list_orders: supplies order_id for shop/cancel_order"]);
  });

  it("prefers of two suppliers the one that the task can already call, and brings none that nobody can", () => {
    const sketch = (text: string): TurnSketch => ({
      request: { kind: "start", text },
      tools: [["tel/refuel", 1]],
      moreTools: {
        "tel/refuel": { description: "Refuel data.", input: { customer_id: "string" } },
        "tel/get_customer_by_name": { input: { full_name: "string", birthday: "string" }, output: { customer_id: "string" } },
        "tel/get_customer_by_phone": { input: { phone_number: "string" }, output: { customer_id: "string" } },
        "ship/move": { description: "Move it.", input: { crate_id: "string" } },
        "ship/read_label": { input: { label_id: "string" }, output: { crate_id: "string" } },
      },
    });
    const named = turnOf(sketch("refuel data; my phone number is 555 0199")).decisions.tools.map((tool) => tool.tool);
    expect(named).toEqual(["tel/refuel", "tel/get_customer_by_phone"]);
    expect(turnOf({ ...sketch("move the crate"), tools: [["ship/move", 1]] }).decisions.tools.map((tool) => tool.tool)).toEqual([
      "ship/move",
    ]);
  });
});

describe("what a request says", () => {
  const tool = (key: string): (typeof SHOP_TOOLS)[number] => SHOP_TOOLS.find((one) => one.key === key) ?? sampleTool(key);

  it("gives an identifier to the parameter whose thing was named before it", () => {
    const both = sampleTool("a/move", { input: { order_id: "string", shelf_id: "string" } });
    expect(openReferences(both, readSpoken("move order #W12 to shelf"))).toEqual(["shelf_id"]);
    expect(openReferences(both, readSpoken("shelf S-4, order W12"))).toEqual([]);
    expect(openReferences(tool("shop/cancel_order"), readSpoken("cancel my last order"))).toEqual(["order_id"]);
    expect(openReferences(tool("depot/search_products"), readSpoken("search shoes"))).toEqual([]);
  });

  it("falls into clauses at sentences, lists and what comes then", () => {
    expect(
      clausesOf(
        "Cancel O-1. Thanks! Then refund it\n- check stock of shoes\n2) tell me the price, and ship the rest after that close the case",
      ),
    ).toEqual(["Cancel O-1", "Then refund it", "check stock of shoes", "tell me the price", "ship the rest", "close the case"]);
    expect(clausesOf("订单取消。查库存！")).toEqual(["订单取消", "查库存"]);
    expect(clausesOf(" . \n")).toEqual([]);
  });
});

describe("retrieve and explore", () => {
  it("say of a tool what must be found out first and who knows it", () => {
    const { decisions } = turnOf({
      request: { kind: "retrieve", text: "cancel an order" },
      tools: [["shop/cancel_order", 1, "matches cancel, order"]],
    });
    expect(decisions.tools[0]?.reason).toBe("matches cancel, order; needs order_id (from shop/list_orders) first");
  });

  it("show at most five and eight tools", () => {
    const tools = SHOP_TOOLS.map((tool, i) => [tool.key, 1 - i / 100] as const);
    expect(turnOf({ request: { kind: "retrieve", text: "anything", limit: 50 }, tools }).view.tools).toHaveLength(5);
    expect(turnOf({ request: { kind: "explore", text: "anything" }, tools }).view.tools).toHaveLength(8);
  });
});

describe("the rules manager", () => {
  it("decides at once and passes maintenance on to its own rules, with no tokens used", async () => {
    const rules = createRules(
      () => [],
      () => 120,
    );
    const { candidates, decisions } = turnOf({
      request: { kind: "start", text: "cancel order O-1" },
      tools: [["shop/cancel_order", 1]],
    });
    expect(await rules.decideView(candidates)).toEqual(decisions);
    expect(await rules.proposeEdits({} as never)).toEqual({ edits: [], tokens: { used: 0, rebuildEstimate: 120 } });
  });
});
