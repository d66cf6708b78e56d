import { isJsonObject, type JsonObject, type JsonValue } from "../../src/model/json.js";
import type { ShopPart } from "../../src/lab/worlds/shop/shop.js";

/**
 * Tasks for the sample shop, as a user would say them. Each holds at catalog v1, v2 and v3: everything an agent has to
 * know stands in the text, and `facts` repeats it by parameter name for a scripted user. `mode words` of merged tools
 * (action) are facts as well: the text says which of the two is meant.
 */
export interface ShopTask {
  readonly id: string;
  readonly text: string;
  readonly facts: Readonly<Record<string, string | number>>;
  /** False: no planning skill of the starter library fits; the plan is derived from the need. */
  readonly planned: boolean;
  /** What the final state must contain. */
  readonly expects: (version: number) => readonly Expectation[];
  /** Calls that do it, read-only ones included, in order. */
  readonly reference: (version: number) => readonly { readonly tool: string; readonly args: JsonObject }[];
}

/** A row (the one with `id`, else any) that has these fields; with `absent`, no row has them. */
export interface Expectation {
  readonly part: ShopPart;
  readonly table: string;
  readonly id?: string;
  readonly row: JsonObject;
  readonly absent?: boolean;
}

export type ShopState = Readonly<Record<ShopPart, JsonObject>>;

/** Expectations that the state does not meet, as sentences; empty = the task is done. */
export function unmet(task: ShopTask, version: number, state: ShopState): string[] {
  return task.expects(version).flatMap((expectation) => {
    const table = state[expectation.part][expectation.table];
    const rows = Object.entries(isJsonObject(table) ? table : {});
    const found = rows.some(([id, row]) => (expectation.id ?? id) === id && contains(row, expectation.row));
    const wanted = `${expectation.part}.${expectation.table}${expectation.id === undefined ? "" : ` ${expectation.id}`} ${JSON.stringify(expectation.row)}`;
    if (found === (expectation.absent ?? false)) return [found ? `should not have ${wanted}` : `should have ${wanted}`];
    return [];
  });
}

function contains(row: JsonValue, part: JsonObject): boolean {
  return isJsonObject(row) && Object.entries(part).every(([key, value]) => JSON.stringify(row[key]) === JSON.stringify(value));
}

type Calls = ReturnType<ShopTask["reference"]>;
const call = (tool: string, args: JsonObject): Calls[number] => ({ tool, args });
const findCustomer = (version: number): string => (version === 1 ? "shop/find_customer" : "shop/lookup_customer");
const checkStock = (version: number): string => (version === 1 ? "depot/check_stock" : "depot/get_stock_levels");

function refundCalls(version: number, order_id: string, payment_id: string, amount: number, reason: string): Calls {
  return version < 3
    ? [call("shop/get_order", { order_id }), call("shop/refund_payment", { payment_id, amount, reason })]
    : [call("shop/refund_order", { order_id, amount, reason })];
}

function decideCalls(version: number, action: "approve" | "reject", args: JsonObject): Calls {
  return version < 3 ? [call(`shop/${action}_return`, args)] : [call("shop/manage_return", { ...args, action })];
}

export const SHOP_TASKS: readonly ShopTask[] = [
  {
    id: "cancel-rug",
    text: "Ben Osei changed his mind about the wool rug. Please cancel order O-1003, reason changed_mind, and refund the full 189.00 to him.",
    facts: { order_id: "O-1003", reason: "changed_mind", amount: 189 },
    planned: true,
    expects: () => [
      { part: "shop", table: "orders", id: "O-1003", row: { status: "cancelled", cancel_reason: "changed_mind" } },
      { part: "shop", table: "payments", id: "P-5003", row: { refunded_cents: 18900 } },
    ],
    reference: (version) => [
      call("shop/cancel_order", { order_id: "O-1003", reason: "changed_mind" }),
      ...refundCalls(version, "O-1003", "P-5003", 189, "changed_mind"),
    ],
  },
  {
    id: "redirect-clock",
    text: "Dev Patel (dev.patel@example.org) has moved. Please send the order he has open to his new delivery address: 7 Quay Street, Bristol BS1 4RT.",
    facts: { email: "dev.patel@example.org", delivery_address: "7 Quay Street, Bristol BS1 4RT" },
    planned: true,
    expects: () => [
      {
        part: "shop",
        table: "orders",
        id: "O-1005",
        row: { delivery_address: "7 Quay Street, Bristol BS1 4RT", status: "paid" },
      },
    ],
    reference: (version) => [
      call(findCustomer(version), { email: "dev.patel@example.org" }),
      call("shop/list_orders", { customer_id: "C-104" }),
      call("shop/change_delivery_address", { order_id: "O-1005", delivery_address: "7 Quay Street, Bristol BS1 4RT" }),
    ],
  },
  {
    id: "broken-lamp",
    text:
      "Elif Demir's order O-1007 arrived with one of the two desk lamps (SKU-LAMP) broken. Take 1 piece back as a return, reason damaged, " +
      "condition damaged, approve it and refund her 59.00.",
    facts: {
      order_id: "O-1007",
      sku: "SKU-LAMP",
      quantity: 1,
      reason: "damaged",
      condition: "damaged",
      action: "approve",
      amount: 59,
    },
    planned: true,
    expects: (version) => [
      {
        part: "shop",
        table: "returns",
        row: {
          order_id: "O-1007",
          sku: "SKU-LAMP",
          quantity: 1,
          reason: "damaged",
          status: "approved",
          ...(version === 1 ? {} : { condition: "damaged" }),
        },
      },
      { part: "shop", table: "payments", id: "P-5007", row: { refunded_cents: 5900 } },
    ],
    reference: (version) => [
      call("shop/open_return", {
        order_id: "O-1007",
        sku: "SKU-LAMP",
        quantity: 1,
        reason: "damaged",
        ...(version === 1 ? {} : { condition: "damaged" }),
      }),
      ...decideCalls(version, "approve", { return_id: "R-2003" }),
      ...refundCalls(version, "O-1007", "P-5007", 59, "damaged"),
    ],
  },
  {
    id: "send-mugs",
    text:
      "Please ship order O-1004: reserve its 4 stoneware mugs (SKU-MUG) in warehouse W-1, send the parcel with carrier postal, " +
      "and mark the order as shipped with the tracking number.",
    facts: { order_id: "O-1004", sku: "SKU-MUG", quantity: 4, warehouse_id: "W-1", carrier: "postal" },
    planned: true,
    expects: () => [
      { part: "shop", table: "orders", id: "O-1004", row: { status: "shipped", tracking_number: "TRK-7007" } },
      {
        part: "depot",
        table: "shipments",
        row: {
          order_id: "O-1004",
          warehouse_id: "W-1",
          carrier: "postal",
          status: "in_transit",
          delivery_address: "48 Oak Road, Manchester M4 1HQ",
          tracking_number: "TRK-7007",
        },
      },
      { part: "depot", table: "levels", id: "SKU-MUG@W-1", row: { on_hand: 36 } },
    ],
    reference: (version) => [
      call("shop/get_order", { order_id: "O-1004" }),
      call(checkStock(version), { sku: "SKU-MUG" }),
      call("depot/reserve_stock", { order_id: "O-1004", sku: "SKU-MUG", quantity: 4, warehouse_id: "W-1" }),
      ...sendCalls(version, "O-1004", "W-1", "postal", "48 Oak Road, Manchester M4 1HQ", "S-6007"),
      call("shop/mark_order_shipped", { order_id: "O-1004", tracking_number: "TRK-7007" }),
    ],
  },
  {
    id: "late-return",
    text:
      "Return R-2001 of order O-1006 came more than 30 days after delivery. Please check the order and reject the return with the note: " +
      "Returns are taken for 30 days after delivery.",
    facts: { order_id: "O-1006", return_id: "R-2001", note: "Returns are taken for 30 days after delivery.", action: "reject" },
    planned: true,
    expects: () => [
      {
        part: "shop",
        table: "returns",
        id: "R-2001",
        row: { status: "rejected", note: "Returns are taken for 30 days after delivery." },
      },
      { part: "shop", table: "payments", id: "P-5006", row: { refunded_cents: 0 } },
    ],
    reference: (version) => [
      call("shop/get_order", { order_id: "O-1006" }),
      ...decideCalls(version, "reject", { return_id: "R-2001", note: "Returns are taken for 30 days after delivery." }),
    ],
  },
  {
    id: "restock-clocks",
    text: "Two wall clocks turned up when warehouse W-2 was counted. Please put 2 pieces of SKU-CLOCK back on the shelves there.",
    facts: { sku: "SKU-CLOCK", quantity: 2, warehouse_id: "W-2" },
    planned: false,
    expects: () => [
      { part: "depot", table: "levels", id: "SKU-CLOCK@W-2", row: { on_hand: 7 } },
      { part: "depot", table: "movements", row: { sku: "SKU-CLOCK", warehouse_id: "W-2", quantity: 2 } },
    ],
    reference: () => [call("depot/restock_item", { sku: "SKU-CLOCK", quantity: 2, warehouse_id: "W-2" })],
  },
  {
    id: "cancel-reserved-kettle",
    text:
      "Finn Doyle ordered the enamel kettle by mistake. Cancel order O-1008, reason ordered_by_mistake, release the stock of SKU-KETTLE that is " +
      "reserved for it, and refund 39.90.",
    facts: { order_id: "O-1008", sku: "SKU-KETTLE", reason: "ordered_by_mistake", amount: 39.9 },
    planned: true,
    expects: () => [
      { part: "shop", table: "orders", id: "O-1008", row: { status: "cancelled", cancel_reason: "ordered_by_mistake" } },
      { part: "depot", table: "reservations", row: { order_id: "O-1008" }, absent: true },
      { part: "shop", table: "payments", id: "P-5008", row: { refunded_cents: 3990 } },
    ],
    reference: (version) => [
      call("shop/cancel_order", { order_id: "O-1008", reason: "ordered_by_mistake" }),
      call("depot/release_stock", { order_id: "O-1008", sku: "SKU-KETTLE" }),
      ...refundCalls(version, "O-1008", "P-5008", 39.9, "ordered_by_mistake"),
    ],
  },
];

function sendCalls(
  version: number,
  order_id: string,
  warehouse_id: string,
  carrier: string,
  delivery_address: string,
  shipment_id: string,
): Calls {
  return version < 3
    ? [call("depot/ship_order", { order_id, warehouse_id, carrier, delivery_address })]
    : [
        call("depot/pack_order", { order_id, warehouse_id }),
        call("depot/dispatch_shipment", { shipment_id, carrier, delivery_address }),
      ];
}
