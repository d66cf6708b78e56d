/**
 * The shop's catalog versions v1, v2, v3: the same abilities under tools that change.
 *
 * Owns: what each version changes, as transformations over the tools of the version before.
 * Speaks: WorldTool lists by upstream.
 * Never: an ability that is lost: every version covers all base functions (a test holds this).
 */
import type { JsonObject } from "../../../model/json.js";
import { dispatchShipment, packOrder } from "./depot-functions.js";
import type { DepotTables, ShopTables } from "./database.js";
import { CARRIERS, checkStock, DEPOT_V1, ship } from "./depot-tools.js";
import { readOrder, refundPayment } from "./shop-functions.js";
import { approve, findCustomer, getOrderStatus, getPayment, openReturnTool, refund, reject, SHOP_V1 } from "./shop-tools.js";
import {
  amount,
  defineTool,
  merged,
  renamed,
  reworded,
  rows,
  shown,
  string,
  withRequired,
  words,
  type WorldTool,
} from "./tool-kit.js";

export const LAST_VERSION = 3;

type Tools<Tables> = readonly WorldTool<Tables>[];

/** `before` with some tools replaced by others (one, several or none), in their place. */
function replaced<Tables>(
  before: Tools<Tables>,
  changes: ReadonlyMap<WorldTool<Tables>, Tools<Tables>>,
  added: Tools<Tables> = [],
): Tools<Tables> {
  return [...before.flatMap((tool) => changes.get(tool) ?? [tool]), ...added];
}

// --- v2: two tools are renamed, one asks for more, one is described anew -------------------------------------------

const lookupCustomer = renamed(findCustomer, "lookup_customer");
const getStockLevels = renamed(checkStock, "get_stock_levels");
const openReturnWithCondition = withRequired(
  openReturnTool,
  "condition",
  words("State of the goods as the customer describes it.", ["unopened", "opened", "damaged"]),
);
const getPaymentReworded = reworded(
  getPayment,
  "Look at a payment by its number: how it was paid, how much was captured and how much of it has been paid back.",
);

const SHOP_V2: Tools<ShopTables> = replaced(
  SHOP_V1,
  new Map([
    [findCustomer, [lookupCustomer]],
    [openReturnTool, [openReturnWithCondition]],
    [getPayment, [getPaymentReworded]],
  ]),
);
const DEPOT_V2: Tools<DepotTables> = replaced(DEPOT_V1, new Map([[checkStock, [getStockLevels]]]));

// --- v3: two tools become one, one becomes two, one is retired, one is a shorter way --------------------------------

const manageReturn = merged({
  name: "manage_return",
  title: "Manage a return",
  description:
    "Approve or reject an open return. Approving lets its value be refunded; rejecting needs a note that tells the customer why.",
  actionDescription: "approve or reject.",
  tools: { approve, reject },
});

const packOrderTool = defineTool<DepotTables>({
  name: "pack_order",
  title: "Pack an order",
  description: "Pack the articles reserved for an order in a warehouse into a shipment that can be handed to a carrier.",
  kind: "write",
  input: { order_id: string("Number of the order it is for, e.g. O-1001."), warehouse_id: string("Warehouse number, e.g. W-1.") },
  output: {
    shipment_id: shown("string", "Shipment number."),
    order_id: shown("string", "Order number."),
    warehouse_id: shown("string", "Warehouse number."),
    status: words("A new shipment is packed.", ["packed"]),
    items: rows("What is in it.", { sku: shown("string", "Article number."), quantity: shown("integer", "Pieces.") }),
  },
  base: ["pack_order"],
  run: packOrder,
});

const dispatchTool = defineTool<DepotTables>({
  name: "dispatch_shipment",
  title: "Dispatch a shipment",
  description: "Hand a packed shipment of an order to a carrier. Returns the tracking number.",
  kind: "write",
  input: {
    shipment_id: string("Shipment number from packing, e.g. S-6001."),
    carrier: words("Who carries it.", CARRIERS),
    delivery_address: string("Where it goes, in one line."),
  },
  output: {
    shipment_id: shown("string", "Shipment number."),
    order_id: shown("string", "Order number."),
    status: words("Where it is.", ["in_transit"]),
    carrier: shown("string", "Who carries it."),
    tracking_number: shown("string", "Tracking number of the parcel."),
  },
  base: ["dispatch_shipment"],
  run: dispatchShipment,
});

const refundOrder = defineTool<ShopTables>({
  name: "refund_order",
  title: "Refund an order",
  description:
    "Pay money back on an order without looking up its payment. Allowed for a cancelled order, or up to the value of approved returns.",
  kind: "destructive",
  input: {
    order_id: string("Order number, e.g. O-1001."),
    amount: amount("Pounds to pay back, e.g. 39.90."),
    reason: string("Why, for the customer's statement."),
  },
  output: {
    refund_id: shown("string", "Refund number."),
    order_id: shown("string", "Order number."),
    payment_id: shown("string", "Payment number."),
    amount: shown("number", "Pounds paid back by this refund."),
    refunded: shown("number", "Pounds refunded on the payment in all."),
  },
  base: ["read_order", "refund_payment"],
  run: (db, args) => {
    const order = readOrder(db, args);
    if ("error" in order) return order;
    const done = refundPayment(db, { ...args, payment_id: order.ok["payment_id"] ?? "" } satisfies JsonObject);
    return "error" in done ? done : { ok: { ...done.ok, order_id: args["order_id"] ?? "" } };
  },
});

const SHOP_V3: Tools<ShopTables> = replaced(
  SHOP_V2,
  new Map<WorldTool<ShopTables>, Tools<ShopTables>>([
    [approve, [manageReturn]],
    [reject, []],
    [getOrderStatus, []],
    [refund, [refund, refundOrder]],
  ]),
);
const DEPOT_V3: Tools<DepotTables> = replaced(
  DEPOT_V2,
  new Map<WorldTool<DepotTables>, Tools<DepotTables>>([[ship, [packOrderTool, dispatchTool]]]),
);

export const SHOP_CATALOGS: readonly Tools<ShopTables>[] = [SHOP_V1, SHOP_V2, SHOP_V3];
export const DEPOT_CATALOGS: readonly Tools<DepotTables>[] = [DEPOT_V1, DEPOT_V2, DEPOT_V3];

/** Takeovers as they truly are: what a lineage finder should find. */
export const SHOP_LINEAGE: readonly {
  readonly atVersion: number;
  readonly kind: "renamed" | "merged" | "split" | "retired";
  readonly from: string;
  readonly to: readonly string[];
  readonly fixedArguments: JsonObject;
}[] = [
  { atVersion: 2, kind: "renamed", from: "shop/find_customer", to: ["shop/lookup_customer"], fixedArguments: {} },
  { atVersion: 2, kind: "renamed", from: "depot/check_stock", to: ["depot/get_stock_levels"], fixedArguments: {} },
  {
    atVersion: 3,
    kind: "merged",
    from: "shop/approve_return",
    to: ["shop/manage_return"],
    fixedArguments: { action: "approve" },
  },
  { atVersion: 3, kind: "merged", from: "shop/reject_return", to: ["shop/manage_return"], fixedArguments: { action: "reject" } },
  {
    atVersion: 3,
    kind: "split",
    from: "depot/ship_order",
    to: ["depot/pack_order", "depot/dispatch_shipment"],
    fixedArguments: {},
  },
  { atVersion: 3, kind: "retired", from: "shop/get_order_status", to: ["shop/get_order"], fixedArguments: {} },
];
