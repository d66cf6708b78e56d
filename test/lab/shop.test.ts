import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Ajv } from "ajv";
import fc from "fast-check";
import { describe, it, expect } from "vitest";
import { toTool } from "../../src/catalog/intake.js";
import { createShop, SHOP_PARTS } from "../../src/lab/worlds/shop/shop.js";
import { SHOP_LINEAGE } from "../../src/lab/worlds/shop/catalogs.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/model/json.js";
import type { UpstreamLabel } from "../../src/model/ids.js";
import type { ListedTool } from "../../src/model/tool.js";
import { findField, runShop, said } from "./running-shop.js";
import { SHOP_TASKS, unmet } from "./tasks.js";

const VERSIONS = [1, 2, 3];
const listing = (version: number): Map<string, ListedTool> =>
  new Map(
    SHOP_PARTS.flatMap((part) =>
      createShop({ part, version })
        .tools()
        .map((tool) => [`${part}/${tool.name}`, tool] as const),
    ),
  );
const ajv = new Ajv({ strict: true, allowUnionTypes: true });

describe("the catalogs of the shop", () => {
  it("have 14 to 18 tools on two upstreams, all with schemas, annotations and texts", () => {
    for (const version of VERSIONS) {
      const tools = [...listing(version).values()];
      expect(tools.length).toBeGreaterThanOrEqual(14);
      expect(tools.length).toBeLessThanOrEqual(18);
      for (const tool of tools) {
        expect(tool).toMatchObject({
          title: expect.any(String),
          description: expect.any(String),
          annotations: expect.any(Object),
        });
        ajv.compile(tool["inputSchema"] as JsonObject);
        ajv.compile(tool["outputSchema"] as JsonObject);
      }
    }
  });

  it("are read by the catalog without a problem", () => {
    for (const version of VERSIONS) {
      for (const [key, listed] of listing(version)) {
        expect(toTool(key.split("/")[0] as UpstreamLabel, listed).problems, key).toEqual([]);
      }
    }
  });

  it("cover the same abilities at every version, whatever the tools are called", () => {
    for (const part of SHOP_PARTS) {
      const [first, ...later] = VERSIONS.map((version) => createShop({ part, version }).abilities());
      for (const abilities of later) expect(abilities).toEqual(first);
    }
  });

  it("rename two tools at v2 without touching their contract or text", () => {
    const [v1, v2] = [listing(1), listing(2)];
    for (const link of SHOP_LINEAGE.filter((one) => one.kind === "renamed")) {
      const label = link.from.split("/")[0] as UpstreamLabel;
      const [before, after] = [v1.get(link.from), v2.get(link.to[0] ?? "")];
      if (before === undefined || after === undefined) throw new Error(`${link.from} is not there`);
      const [a, b] = [toTool(label, before), toTool(label, after)];
      expect(b.digests.contract).toBe(a.digests.contract);
      expect(b.digests.text).toBe(a.digests.text);
      expect(v2.has(link.from)).toBe(false);
    }
  });

  it("move exactly what they say they move", () => {
    const moved = (a: number, b: number) => {
      const [before, after] = [listing(a), listing(b)];
      return {
        removed: [...before.keys()].filter((key) => !after.has(key)).sort(),
        added: [...after.keys()].filter((key) => !before.has(key)).sort(),
        changed: [...after.keys()]
          .filter((key) => before.has(key) && JSON.stringify(before.get(key)) !== JSON.stringify(after.get(key)))
          .sort(),
      };
    };
    expect(moved(1, 2)).toEqual({
      removed: ["depot/check_stock", "shop/find_customer"],
      added: ["depot/get_stock_levels", "shop/lookup_customer"],
      changed: ["shop/get_payment", "shop/open_return"],
    });
    expect(moved(2, 3)).toEqual({
      removed: ["depot/ship_order", "shop/approve_return", "shop/get_order_status", "shop/reject_return"],
      added: ["depot/dispatch_shipment", "depot/pack_order", "shop/manage_return", "shop/refund_order"],
      changed: [],
    });
    const taken = SHOP_LINEAGE.map((link) => link.from).sort();
    expect(taken).toEqual([...moved(1, 2).removed, ...moved(2, 3).removed].sort());
  });
});

describe("the shop", () => {
  it("answers every successful call by its output schema, in text and structure alike", () => {
    for (const version of VERSIONS) {
      const schemas = listing(version);
      for (const task of SHOP_TASKS) {
        const shop = runShop(version);
        for (const { tool, args } of task.reference(version)) {
          const result = shop.call(tool, args);
          const validate = ajv.compile(schemas.get(tool)?.["outputSchema"] as JsonObject);
          expect(
            validate(result["structuredContent"]),
            `${tool} v${version}: ${said(result)} ${ajv.errorsText(validate.errors)}`,
          ).toBe(true);
          expect(JSON.parse(said(result))).toEqual(result["structuredContent"]);
        }
      }
    }
  });

  const refused: [string, string, JsonObject, RegExp][] = [
    ["an order that does not exist", "shop/get_order", { order_id: "O-9" }, /no order O-9/],
    [
      "cancelling a shipped order",
      "shop/cancel_order",
      { order_id: "O-1002", reason: "other" },
      /is shipped; only an order that is not shipped/,
    ],
    [
      "a refund before the cancellation",
      "shop/refund_payment",
      { payment_id: "P-5003", amount: 1, reason: "x" },
      /not cancelled/,
    ],
    [
      "a return before delivery",
      "shop/open_return",
      { order_id: "O-1003", sku: "SKU-RUG", quantity: 1, reason: "damaged" },
      /after delivery/,
    ],
    [
      "a return after 30 days",
      "shop/open_return",
      { order_id: "O-1006", sku: "SKU-LAMP", quantity: 1, reason: "damaged" },
      /65 days ago/,
    ],
    [
      "more pieces than were bought",
      "shop/open_return",
      { order_id: "O-1007", sku: "SKU-LAMP", quantity: 3, reason: "damaged" },
      /Only 2/,
    ],
    [
      "more stock than is available",
      "depot/reserve_stock",
      { order_id: "O-1003", sku: "SKU-RUG", quantity: 2, warehouse_id: "W-1" },
      /Only 1/,
    ],
    [
      "shipping what is not reserved",
      "depot/ship_order",
      { order_id: "O-1003", warehouse_id: "W-1", carrier: "postal", delivery_address: "3 Canal Row, London" },
      /reserve its articles there first/,
    ],
    ["a missing argument", "shop/cancel_order", { order_id: "O-1003" }, /Missing: reason/],
    ["an unknown argument", "shop/get_order", { order_id: "O-1003", verbose: true }, /Unknown: verbose/],
    ["a word that is not offered", "shop/cancel_order", { order_id: "O-1003", reason: "bored" }, /must be one of changed_mind/],
    [
      "text where a number is due",
      "depot/restock_item",
      { sku: "SKU-RUG", quantity: "2", warehouse_id: "W-1" },
      /must be a whole number/,
    ],
    ["a tool of another version", "shop/manage_return", { return_id: "R-2001" }, /exists in v3 only; this is v1/],
  ];
  it.each(refused)("refuses %s with a sentence and changes nothing", (_what, tool, args, sentence) => {
    const shop = runShop(1);
    const before = shop.state();
    const result = shop.call(tool, args);
    expect(result["isError"]).toBe(true);
    expect(result["structuredContent"]).toBeUndefined();
    expect(said(result)).toMatch(sentence);
    expect(shop.state()).toEqual(before);
  });

  it("never refunds more than policy allows, whatever is asked in whatever order", () => {
    const step = fc.oneof(
      fc.record({
        tool: fc.constant("shop/cancel_order"),
        args: fc.record({ order_id: fc.constantFrom("O-1003", "O-1007"), reason: fc.constant("other") }),
      }),
      fc.record({
        tool: fc.constant("shop/refund_payment"),
        args: fc.record({
          payment_id: fc.constantFrom("P-5003", "P-5007"),
          amount: fc.integer({ min: 1, max: 20000 }).map((n) => n / 100),
          reason: fc.constant("x"),
        }),
      }),
      fc.record({
        tool: fc.constant("shop/open_return"),
        args: fc.record({
          order_id: fc.constant("O-1007"),
          sku: fc.constant("SKU-LAMP"),
          quantity: fc.integer({ min: 1, max: 2 }),
          reason: fc.constant("damaged"),
        }),
      }),
      fc.record({
        tool: fc.constant("shop/approve_return"),
        args: fc.record({ return_id: fc.constantFrom("R-2003", "R-2004") }),
      }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 15 }), (steps) => {
        const shop = runShop(1);
        for (const { tool, args } of steps) shop.call(tool, args);
        const payments = shop.state().shop["payments"];
        for (const payment of Object.values(isJsonObject(payments) ? payments : {})) {
          const { captured_cents: captured, refunded_cents: refunded } = payment as {
            captured_cents: number;
            refunded_cents: number;
          };
          expect(refunded).toBeLessThanOrEqual(captured);
        }
        const returns = Object.values(shop.state().shop["returns"] as JsonObject) as { order_id: string; quantity: number }[];
        expect(
          returns.filter((row) => row.order_id === "O-1007").reduce((sum, row) => sum + row.quantity, 0),
        ).toBeLessThanOrEqual(2);
      }),
      { numRuns: 150 },
    );
  });

  it("has one policy: what its upstreams say is what its page says", () => {
    const page = readFileSync(resolve(import.meta.dirname, "../../src/lab/worlds/shop/README.md"), "utf8");
    for (const part of SHOP_PARTS) {
      const rules = createShop({ part })
        .policy()
        .split("\n")
        .filter((line) => line.startsWith("- "));
      expect(rules.length).toBeGreaterThan(3);
      for (const rule of rules) expect(page).toContain(rule);
    }
  });

  it("goes on from the tables of an earlier run, at another version", () => {
    const first = createShop({ part: "shop", version: 1 });
    first.call("cancel_order", { order_id: "O-1003", reason: "other" });
    const second = createShop({ part: "shop", version: 3, tables: first.state() });
    expect(second.state()).toEqual(first.state());
    expect(second.call("refund_order", { order_id: "O-1003", amount: 189, reason: "cancelled" })["isError"]).toBeUndefined();
  });

  it("gives the same answers to the same calls", () => {
    const run = (): JsonValue[] => {
      const shop = runShop(2);
      return SHOP_TASKS.flatMap((task) => task.reference(2).map(({ tool, args }) => shop.call(tool, args)));
    };
    expect(run()).toEqual(run());
  });
});

describe("the tasks", () => {
  const cases = SHOP_TASKS.flatMap((task) => VERSIONS.map((version) => [task.id, version, task] as const));

  it.each(cases)("%s at v%i can be done, and is not done before", (_id, version, task) => {
    const shop = runShop(version);
    expect(unmet(task, version, shop.state()).length).toBeGreaterThan(0);
    for (const { tool, args } of task.reference(version)) {
      const result = shop.call(tool, args);
      expect(result["isError"], `${tool}: ${said(result)}`).toBeUndefined();
    }
    expect(unmet(task, version, shop.state())).toEqual([]);
  });

  it.each(cases)(
    "%s at v%i says everything an agent must know: each argument is a fact or comes from an answer",
    (_id, version, task) => {
      const shop = runShop(version);
      const answers: JsonObject[] = [];
      for (const { tool, args } of task.reference(version)) {
        for (const [name, value] of Object.entries(args)) {
          const fromAnswers = answers.findLast((answer) => findField(answer, name) !== undefined);
          const known = task.facts[name] ?? findField(fromAnswers, name);
          expect(known, `${tool} ${name}`).toEqual(value);
        }
        const structured = shop.call(tool, args)["structuredContent"];
        if (isJsonObject(structured)) answers.push(structured);
      }
      for (const [name, value] of Object.entries(task.facts)) {
        if (name === "action") expect(task.text.toLowerCase()).toContain(String(value));
        else
          expect(task.text, name).toContain(
            name === "amount" ? Number(value).toFixed(2) : name === "quantity" ? "" : String(value),
          );
      }
    },
  );
});
