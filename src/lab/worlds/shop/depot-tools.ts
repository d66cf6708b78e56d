/**
 * Tools of the upstream `depot` at catalog v1: stock, reservations, parcels.
 *
 * Owns: their names, texts and schemas.
 * Speaks: base functions of depot-functions.ts.
 * Never: later versions (catalogs.ts makes them out of these).
 */
import type { DepotTables } from "./database.js";
import {
  dispatchShipment,
  packOrder,
  readLevels,
  readShipment,
  releaseStock,
  reserveStock,
  restockItem,
} from "./depot-functions.js";
import { ok } from "./outcome.js";
import { defineTool, integer, maybe, rows, shown, string, words, type WorldTool } from "./tool-kit.js";

export const CARRIERS = ["postal", "express", "freight"];
const orderId = string("Number of the order it is for, e.g. O-1001.");
const sku = string("Article number, e.g. SKU-LAMP.");
const warehouseId = string("Warehouse number, e.g. W-1.");

export const checkStock = defineTool<DepotTables>({
  name: "check_stock",
  title: "Check stock",
  description:
    "See how many pieces of an article each warehouse has on hand, reserved and available; the fullest warehouse first.",
  kind: "read",
  input: { sku },
  output: {
    sku: shown("string", "Article number."),
    name: shown("string", "Article."),
    warehouses: rows("Levels by warehouse.", {
      warehouse_id: shown("string", "Warehouse number."),
      city: shown("string", "Where it stands."),
      on_hand: shown("integer", "Pieces on the shelves."),
      reserved: shown("integer", "Pieces reserved for orders."),
      available: shown("integer", "Pieces that can be reserved."),
    }),
  },
  base: ["read_levels"],
  run: readLevels,
});

export const reserve = defineTool<DepotTables>({
  name: "reserve_stock",
  title: "Reserve stock",
  description: "Reserve pieces of an article in one warehouse for an order, so that they can be packed.",
  kind: "write",
  input: { order_id: orderId, sku, quantity: integer("Pieces to reserve."), warehouse_id: warehouseId },
  output: {
    reservation_id: shown("string", "Reservation number."),
    order_id: shown("string", "Order number."),
    sku: shown("string", "Article number."),
    quantity: shown("integer", "Pieces reserved."),
    warehouse_id: shown("string", "Warehouse number."),
  },
  base: ["reserve_stock"],
  run: reserveStock,
});

export const release = defineTool<DepotTables>({
  name: "release_stock",
  title: "Release stock",
  description: "Give up what is reserved of an article for an order, for example after the order was cancelled.",
  kind: "write",
  input: { order_id: orderId, sku },
  output: {
    order_id: shown("string", "Order number."),
    sku: shown("string", "Article number."),
    released: shown("integer", "Pieces that are available again."),
  },
  base: ["release_stock"],
  run: releaseStock,
});

/** Packs and hands over in one go; from v3 on these are two tools over the same two base functions. */
export const ship = defineTool<DepotTables>({
  name: "ship_order",
  title: "Ship an order",
  description:
    "Pack the articles reserved for an order in a warehouse and hand the shipment to a carrier. Returns the tracking number.",
  kind: "write",
  input: {
    order_id: orderId,
    warehouse_id: warehouseId,
    carrier: words("Who carries it.", CARRIERS),
    delivery_address: string("Where it goes, in one line."),
  },
  output: {
    shipment_id: shown("string", "Shipment number."),
    order_id: shown("string", "Order number."),
    carrier: shown("string", "Who carries it."),
    tracking_number: shown("string", "Tracking number of the parcel."),
  },
  base: ["pack_order", "dispatch_shipment"],
  run: (db, args) => {
    const { order_id = "", warehouse_id = "", carrier = "", delivery_address = "" } = args;
    if (typeof delivery_address === "string" && delivery_address.trim().length < 8) {
      return { error: "The delivery address is too short: give street, town and postcode." };
    }
    const packed = packOrder(db, { order_id, warehouse_id });
    if ("error" in packed) return packed;
    const shipment_id = packed.ok["shipment_id"] ?? "";
    const sent = dispatchShipment(db, { shipment_id, carrier, delivery_address });
    if ("error" in sent) return sent;
    return ok({ shipment_id, order_id, carrier, tracking_number: sent.ok["tracking_number"] ?? "" });
  },
});

export const track = defineTool<DepotTables>({
  name: "track_shipment",
  title: "Track a shipment",
  description: "Say where a parcel is, by its tracking number: packed, in transit or delivered, with carrier and address.",
  kind: "read",
  input: { tracking_number: string("Tracking number, e.g. TRK-7001.") },
  output: {
    tracking_number: shown("string", "Tracking number."),
    shipment_id: shown("string", "Shipment number."),
    order_id: shown("string", "Order it is for."),
    status: words("Where it is.", ["packed", "in_transit", "delivered"]),
    carrier: maybe("Who carries it."),
    delivery_address: maybe("Where it goes."),
  },
  base: ["read_shipment"],
  run: readShipment,
});

export const restock = defineTool<DepotTables>({
  name: "restock_item",
  title: "Restock an article",
  description: "Put pieces of an article back on the shelves of a warehouse, for example after a return or a count.",
  kind: "write",
  input: {
    sku,
    quantity: integer("Pieces to put back."),
    warehouse_id: warehouseId,
    return_id: string("Return they come from, if any."),
  },
  optional: ["return_id"],
  output: {
    movement_id: shown("string", "Movement number."),
    sku: shown("string", "Article number."),
    warehouse_id: shown("string", "Warehouse number."),
    on_hand: shown("integer", "Pieces on the shelves now."),
  },
  base: ["restock_item"],
  run: restockItem,
});

export const DEPOT_V1: readonly WorldTool<DepotTables>[] = [checkStock, reserve, release, ship, track, restock];
