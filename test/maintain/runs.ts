/** Recorded runs of a small shop, and the house they happen in. */
import type { House } from "../../src/compose.js";
import type { JsonObject } from "../../src/model/json.js";
import type { MaintenanceOptions, MaintenanceRun } from "../../src/model/maintenance.js";
import type { RecordedEpisode } from "../../src/model/recorded.js";
import { list, makeHome, openHouse, person, tool } from "../house.js";

export const findOrders = tool("find_orders", {
  description: "Finds the orders of a customer.",
  required: ["email"],
  outputs: ["order_id", "customer_id"],
});
export const cancelOrder = tool("cancel_order", {
  description: "Cancels an order.",
  required: ["order_id"],
  optional: ["reason"],
  writes: true,
});
export const refundOrder = tool("refund_order", { description: "Pays an order back.", required: ["order_id"], writes: true });

export async function shopHouse(
  steward: JsonObject = {},
  tools: readonly JsonObject[] = [findOrders, cancelOrder, refundOrder],
): Promise<House> {
  const house = await openHouse(makeHome(["shop"], steward));
  await list(house, "shop", tools);
  return house;
}

type Outcome = NonNullable<RecordedEpisode["outcome"]>;
export const verified: Outcome = { outcome: "success", trust: "state" };
export const failed: Outcome = { outcome: "failure", trust: "state" };
export const claimed: Outcome = { outcome: "success", trust: "claim" };

/** One customer looks for their order and has it cancelled (and paid back). Each `n` is another customer. */
export function run(n: number, options: { outcome?: Outcome; refund?: boolean; task?: string } = {}): RecordedEpisode {
  const order = `ORDER-${n}00`;
  return {
    source: `run ${n}`,
    task:
      options.task ??
      `Please cancel the order of customer number ${n}${options.refund === true ? " and pay the money back" : ""}.`,
    calls: [
      { name: "shop/find_orders", args: { email: `c${n}@x.example` }, result: { order_id: order, customer_id: `CUST-${n}` } },
      { name: "shop/cancel_order", args: { order_id: order, reason: "changed my mind" }, result: { ok: true } },
      ...(options.refund === true ? [{ name: "shop/refund_order", args: { order_id: order }, result: { ok: true } }] : []),
    ],
    outcome: options.outcome ?? verified,
  };
}

export async function teach(house: House, episodes: readonly RecordedEpisode[]): Promise<void> {
  await house.operations.importEpisodes({ episodes }, person);
}

export async function maintain(house: House, options: Partial<MaintenanceOptions> = {}): Promise<MaintenanceRun> {
  return await house.operations.maintain({ mode: "incremental", dryRun: false, ...options }, person);
}

/** Edits of a report without the tool skills that a first run writes from schemas. */
export function learnt(edits: readonly { kind: string; skill: string }[]): string[] {
  return edits.filter((edit) => !edit.skill.startsWith("tool-")).map((edit) => `${edit.kind} ${edit.skill}`);
}
