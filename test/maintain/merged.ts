/** A shop whose two looks became modes of one tool, and the runs that taught a skill on the two. */
import type { House } from "../../src/compose.js";
import type { JsonObject } from "../../src/model/json.js";
import type { RecordedEpisode } from "../../src/model/recorded.js";
import { tool } from "../house.js";
import { maintain, shopHouse, teach, verified } from "./runs.js";

export const SKILL = "atomic-pay-back";
export const getCustomer = tool("get_customer", {
  description: "Gets a customer by id.",
  required: ["id"],
  outputs: ["name", "order_id"],
});
export const getOrder = tool("get_order", { description: "Gets an order by id.", required: ["id"], outputs: ["item", "total"] });
export const payBack = tool("pay_back", { description: "Pays an order back.", required: ["order_id", "total"], writes: true });
const text = { type: "string" };
/** `always`: fields that it promises to give whatever is asked for. */
export const get = (always: readonly string[] = ["order_id", "total"]): JsonObject => ({
  ...tool("get", { description: "Gets a customer or an order by id." }),
  inputSchema: {
    type: "object",
    properties: { kind: { type: "string", enum: ["customer", "order"] }, id: text },
    required: ["kind", "id"],
    additionalProperties: false,
  },
  outputSchema: { type: "object", properties: { name: text, order_id: text, item: text, total: text }, required: [...always] },
});

/** A customer is looked up, then their order, which is paid back. Each `n` is another customer. */
export function payBackRun(n: number): RecordedEpisode {
  return {
    source: `pay back ${n}`,
    task: `Give customer ${n} back what they paid`,
    calls: [
      { name: "shop/get_customer", args: { id: `CUST-${n}` }, result: { name: `Name ${n}`, order_id: `ORD-${n}00` } },
      { name: "shop/get_order", args: { id: `ORD-${n}00` }, result: { item: `Item ${n}`, total: `TOT-${n}77` } },
      { name: "shop/pay_back", args: { order_id: `ORD-${n}00`, total: `TOT-${n}77` }, result: { ok: true } },
    ],
    outcome: verified,
  };
}

/** A house that learnt to pay back, while both looks are tools of their own. */
export async function payingHouse(runs = 2): Promise<House> {
  const house = await shopHouse({}, [getCustomer, getOrder, payBack]);
  await teach(
    house,
    Array.from({ length: runs }, (_, n) => payBackRun(n + 1)),
  );
  await maintain(house);
  return house;
}
