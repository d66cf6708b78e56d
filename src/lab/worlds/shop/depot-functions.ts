/**
 * Base functions of the depot: what can be done with stock and parcels, whatever the tools are called.
 *
 * Owns: preconditions and effects on levels, reservations, shipments and movements.
 * Speaks: the depot's tables; order and return numbers are only references.
 * Never: customers, orders, payments (the shop's), tool names, catalog versions.
 */
import type { JsonObject } from "../../../model/json.js";
import type { DepotTables, LevelRow } from "./database.js";
import { nextId, no, ok, optionalText, text, whole, type Outcome } from "./outcome.js";

const levelOf = (db: DepotTables, sku: string, warehouse: string): LevelRow | undefined => db.levels[`${sku}@${warehouse}`];

function reservedOf(db: DepotTables, sku: string, warehouse: string): number {
  return Object.values(db.reservations)
    .filter((row) => row.sku === sku && row.warehouse_id === warehouse)
    .reduce((sum, row) => sum + row.quantity, 0);
}

const knowsSku = (db: DepotTables, sku: string): boolean => Object.values(db.levels).some((row) => row.sku === sku);
const noSku = (db: DepotTables, sku: string): string =>
  `There is no article ${sku}; articles are ${[...new Set(Object.values(db.levels).map((row) => row.sku))].join(", ")}.`;
const noWarehouse = (db: DepotTables, id: string): string =>
  `There is no warehouse ${id}; warehouses are ${Object.entries(db.warehouses)
    .map(([key, row]) => `${key} (${row.city})`)
    .join(", ")}.`;

/** Warehouses with most available first: the first one is where to take from. */
export function readLevels(db: DepotTables, args: JsonObject): Outcome {
  const sku = text(args, "sku");
  const rows = Object.values(db.levels).filter((row) => row.sku === sku);
  const [first] = rows;
  if (first === undefined) return no(noSku(db, sku));
  const warehouses = rows
    .map((row) => {
      const reserved = reservedOf(db, sku, row.warehouse_id);
      const city = db.warehouses[row.warehouse_id]?.city ?? "";
      return { warehouse_id: row.warehouse_id, city, on_hand: row.on_hand, reserved, available: row.on_hand - reserved };
    })
    .sort((a, b) => b.available - a.available || (a.warehouse_id < b.warehouse_id ? -1 : 1));
  return ok({ sku, name: first.name, warehouses });
}

export function reserveStock(db: DepotTables, args: JsonObject): Outcome {
  const [sku, warehouse, order, quantity] = [
    text(args, "sku"),
    text(args, "warehouse_id"),
    text(args, "order_id"),
    whole(args, "quantity"),
  ];
  if (!knowsSku(db, sku)) return no(noSku(db, sku));
  const level = levelOf(db, sku, warehouse);
  if (level === undefined) return no(noWarehouse(db, warehouse));
  const available = level.on_hand - reservedOf(db, sku, warehouse);
  if (quantity > available)
    return no(`Only ${available} of ${sku} are available in ${warehouse}; choose another warehouse or fewer.`);
  const reservation_id = nextId(db.reservations, "H-", 4001);
  db.reservations[reservation_id] = { order_id: order, sku, quantity, warehouse_id: warehouse };
  return ok({ reservation_id, order_id: order, sku, quantity, warehouse_id: warehouse });
}

export function releaseStock(db: DepotTables, args: JsonObject): Outcome {
  const [order, sku] = [text(args, "order_id"), text(args, "sku")];
  const found = Object.entries(db.reservations).filter(([, row]) => row.order_id === order && row.sku === sku);
  if (found.length === 0) return no(`Nothing of ${sku} is reserved for order ${order}.`);
  for (const [id] of found) delete db.reservations[id];
  return ok({ order_id: order, sku, released: found.reduce((sum, [, row]) => sum + row.quantity, 0) });
}

/** Takes what is reserved for the order in one warehouse off the shelves and into a parcel. */
export function packOrder(db: DepotTables, args: JsonObject): Outcome {
  const [order, warehouse] = [text(args, "order_id"), text(args, "warehouse_id")];
  if (db.warehouses[warehouse] === undefined) return no(noWarehouse(db, warehouse));
  const held = Object.entries(db.reservations).filter(([, row]) => row.order_id === order && row.warehouse_id === warehouse);
  if (held.length === 0) return no(`Nothing is reserved for order ${order} in ${warehouse}; reserve its articles there first.`);
  for (const [id, row] of held) {
    const level = levelOf(db, row.sku, warehouse);
    if (level !== undefined) level.on_hand -= row.quantity;
    delete db.reservations[id];
  }
  const shipment_id = nextId(db.shipments, "S-", 6001);
  const items = held.map(([, row]) => ({ sku: row.sku, quantity: row.quantity }));
  const rest = { carrier: null, delivery_address: null, tracking_number: null };
  db.shipments[shipment_id] = { order_id: order, warehouse_id: warehouse, status: "packed", items, ...rest };
  return ok({ shipment_id, order_id: order, warehouse_id: warehouse, status: "packed", items });
}

export function dispatchShipment(db: DepotTables, args: JsonObject): Outcome {
  const id = text(args, "shipment_id");
  const shipment = db.shipments[id];
  if (shipment === undefined) return no(`There is no shipment ${id}.`);
  if (shipment.status !== "packed") return no(`Shipment ${id} is ${shipment.status} already.`);
  const address = text(args, "delivery_address").trim();
  if (address.length < 8) return no("The delivery address is too short: give street, town and postcode.");
  const numbers = Object.fromEntries(
    Object.values(db.shipments).flatMap((row) => (row.tracking_number === null ? [] : [[row.tracking_number, true]])),
  );
  shipment.tracking_number = nextId(numbers, "TRK-", 7001);
  shipment.carrier = text(args, "carrier");
  shipment.delivery_address = address;
  shipment.status = "in_transit";
  return ok({
    shipment_id: id,
    order_id: shipment.order_id,
    status: shipment.status,
    carrier: shipment.carrier,
    tracking_number: shipment.tracking_number,
  });
}

export function readShipment(db: DepotTables, args: JsonObject): Outcome {
  const number = text(args, "tracking_number");
  const found = Object.entries(db.shipments).find(([, row]) => row.tracking_number === number);
  if (found === undefined) return no(`No parcel has the tracking number ${number}.`);
  const [shipment_id, row] = found;
  return ok({
    tracking_number: number,
    shipment_id,
    order_id: row.order_id,
    status: row.status,
    carrier: row.carrier,
    delivery_address: row.delivery_address,
  });
}

export function restockItem(db: DepotTables, args: JsonObject): Outcome {
  const [sku, warehouse, quantity] = [text(args, "sku"), text(args, "warehouse_id"), whole(args, "quantity")];
  if (!knowsSku(db, sku)) return no(noSku(db, sku));
  const level = levelOf(db, sku, warehouse);
  if (level === undefined) return no(noWarehouse(db, warehouse));
  level.on_hand += quantity;
  const movement_id = nextId(db.movements, "M-", 8001);
  db.movements[movement_id] = { sku, warehouse_id: warehouse, quantity, return_id: optionalText(args, "return_id") };
  return ok({ movement_id, sku, warehouse_id: warehouse, on_hand: level.on_hand });
}
