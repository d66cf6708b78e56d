/**
 * Base functions of the customer side: what the shop can do, whatever its tools are called.
 *
 * Owns: preconditions and effects on customers, orders, payments, returns and refunds.
 * Speaks: the shop's tables; arguments already fit their schema.
 * Never: stock or parcels (the depot's), tool names, catalog versions.
 */
import type { JsonObject } from "../../../model/json.js";
import { RETURN_DAYS, TODAY, totalCents } from "./database.js";
import type { OrderRow, ShopTables } from "./database.js";
import { cents, money, nextId, no, ok, optionalText, pounds, text, whole, type Outcome } from "./outcome.js";

const DAY_MS = 86_400_000;
const daysBefore = (day: string): number => Math.round((Date.parse(TODAY) - Date.parse(day)) / DAY_MS);

function showOrder(id: string, order: OrderRow): JsonObject {
  return {
    order_id: id,
    customer_id: order.customer_id,
    status: order.status,
    placed: order.placed,
    delivered: order.delivered,
    total: pounds(totalCents(order)),
    payment_id: order.payment_id,
    delivery_address: order.delivery_address,
    tracking_number: order.tracking_number,
    lines: order.lines.map((line) => ({
      sku: line.sku,
      name: line.name,
      quantity: line.quantity,
      unit_price: pounds(line.unit_cents),
    })),
  };
}

export function readCustomer(db: ShopTables, args: JsonObject): Outcome {
  const email = text(args, "email").trim().toLowerCase();
  const found = Object.entries(db.customers).find(([, row]) => row.email === email);
  if (found === undefined) return no(`No customer has the e-mail address ${email}. Ask for the one they ordered with.`);
  const [customer_id, row] = found;
  return ok({ customer_id, name: row.name, email: row.email, phone: row.phone });
}

export function readOrders(db: ShopTables, args: JsonObject): Outcome {
  const customer = text(args, "customer_id");
  if (db.customers[customer] === undefined) return no(`There is no customer ${customer}.`);
  const status = optionalText(args, "status");
  const orders = Object.entries(db.orders)
    .filter(([, order]) => order.customer_id === customer && (status === null || order.status === status))
    .map(([order_id, order]) => ({ order_id, status: order.status, placed: order.placed, total: pounds(totalCents(order)) }));
  return ok({ customer_id: customer, orders });
}

export function readOrder(db: ShopTables, args: JsonObject): Outcome {
  const id = text(args, "order_id");
  const order = db.orders[id];
  return order === undefined ? no(noOrder(id)) : ok(showOrder(id, order));
}

export function cancelOrder(db: ShopTables, args: JsonObject): Outcome {
  const id = text(args, "order_id");
  const order = db.orders[id];
  if (order === undefined) return no(noOrder(id));
  if (order.status !== "paid") return no(`Order ${id} is ${order.status}; ${afterPaid(order)}`);
  order.status = "cancelled";
  order.cancel_reason = text(args, "reason");
  return ok({ order_id: id, status: order.status, payment_id: order.payment_id, refundable: pounds(refundable(db, order)) });
}

export function changeAddress(db: ShopTables, args: JsonObject): Outcome {
  const id = text(args, "order_id");
  const order = db.orders[id];
  if (order === undefined) return no(noOrder(id));
  if (order.status !== "paid") return no(`Order ${id} is ${order.status}; the address can only be changed before it is shipped.`);
  const address = text(args, "delivery_address").trim();
  if (address.length < 8) return no("The delivery address is too short: give street, town and postcode.");
  order.delivery_address = address;
  return ok({ order_id: id, status: order.status, delivery_address: address });
}

export function markShipped(db: ShopTables, args: JsonObject): Outcome {
  const id = text(args, "order_id");
  const order = db.orders[id];
  if (order === undefined) return no(noOrder(id));
  if (order.status !== "paid") return no(`Order ${id} is ${order.status}; only a paid order can be marked as shipped.`);
  order.status = "shipped";
  order.tracking_number = text(args, "tracking_number");
  return ok({ order_id: id, status: order.status, tracking_number: order.tracking_number });
}

export function readPayment(db: ShopTables, args: JsonObject): Outcome {
  const id = text(args, "payment_id");
  const payment = db.payments[id];
  if (payment === undefined) return no(`There is no payment ${id}. The payment of an order stands in the order.`);
  return ok({
    payment_id: id,
    order_id: payment.order_id,
    method: payment.method,
    captured: pounds(payment.captured_cents),
    refunded: pounds(payment.refunded_cents),
  });
}

/** What policy lets be paid back now: all of a cancelled order, or the value of approved returns. */
function refundable(db: ShopTables, order: OrderRow): number {
  const payment = db.payments[order.payment_id];
  if (payment === undefined) return 0;
  const approved = Object.values(db.returns)
    .filter((row) => db.orders[row.order_id] === order && row.status === "approved")
    .reduce((sum, row) => sum + row.value_cents, 0);
  const allowed = order.status === "cancelled" ? payment.captured_cents : approved;
  return Math.max(0, Math.min(allowed, payment.captured_cents) - payment.refunded_cents);
}

export function refundPayment(db: ShopTables, args: JsonObject): Outcome {
  const id = text(args, "payment_id");
  const payment = db.payments[id];
  if (payment === undefined) return no(`There is no payment ${id}. The payment of an order stands in the order.`);
  const amount = cents(args, "amount");
  if (amount <= 0) return no("The amount to refund must be more than zero.");
  const order = db.orders[payment.order_id];
  const most = order === undefined ? 0 : refundable(db, order);
  if (most === 0)
    return no(`Nothing of payment ${id} can be refunded: its order is not cancelled and has no approved return left to pay.`);
  if (amount > most) return no(`At most ${money(most)} of payment ${id} can be refunded now, not ${money(amount)}.`);
  const refund_id = nextId(db.refunds, "F-", 3001);
  db.refunds[refund_id] = { payment_id: id, amount_cents: amount, reason: text(args, "reason") };
  payment.refunded_cents += amount;
  return ok({ refund_id, payment_id: id, amount: pounds(amount), refunded: pounds(payment.refunded_cents) });
}

export function openReturn(db: ShopTables, args: JsonObject): Outcome {
  const id = text(args, "order_id");
  const order = db.orders[id];
  if (order === undefined) return no(noOrder(id));
  if (order.status !== "delivered" || order.delivered === null) {
    return no(
      `Order ${id} is ${order.status}; goods can be returned after delivery. An order that is not shipped can be cancelled.`,
    );
  }
  const age = daysBefore(order.delivered);
  if (age > RETURN_DAYS) return no(`Order ${id} was delivered ${age} days ago; returns are taken for ${RETURN_DAYS} days.`);
  const sku = text(args, "sku");
  const line = order.lines.find((item) => item.sku === sku);
  if (line === undefined) return no(`Order ${id} has no ${sku}; it has ${order.lines.map((item) => item.sku).join(", ")}.`);
  const quantity = whole(args, "quantity");
  const before = Object.values(db.returns)
    .filter((row) => row.order_id === id && row.sku === sku && row.status !== "rejected")
    .reduce((sum, row) => sum + row.quantity, 0);
  if (quantity + before > line.quantity)
    return no(`Only ${line.quantity - before} of ${sku} in order ${id} can still be returned.`);
  const return_id = nextId(db.returns, "R-", 2001);
  const value = quantity * line.unit_cents;
  const condition = optionalText(args, "condition");
  db.returns[return_id] = {
    order_id: id,
    sku,
    quantity,
    reason: text(args, "reason"),
    condition,
    status: "open",
    value_cents: value,
    note: null,
  };
  return ok({ return_id, order_id: id, status: "open", value: pounds(value), payment_id: order.payment_id });
}

export function approveReturn(db: ShopTables, args: JsonObject): Outcome {
  return decideReturn(db, args, "approved");
}

export function rejectReturn(db: ShopTables, args: JsonObject): Outcome {
  if (optionalText(args, "note") === null) return no("A rejected return needs a note that tells the customer why.");
  return decideReturn(db, args, "rejected");
}

function decideReturn(db: ShopTables, args: JsonObject, status: "approved" | "rejected"): Outcome {
  const id = text(args, "return_id");
  const row = db.returns[id];
  if (row === undefined) return no(`There is no return ${id}.`);
  if (row.status !== "open") return no(`Return ${id} is ${row.status} already.`);
  row.status = status;
  row.note = optionalText(args, "note");
  const payment_id = db.orders[row.order_id]?.payment_id ?? "";
  return ok({ return_id: id, order_id: row.order_id, status, value: pounds(row.value_cents), payment_id });
}

const noOrder = (id: string): string => `There is no order ${id}. Order numbers look like O-1001.`;
const afterPaid = (order: OrderRow): string =>
  order.status === "cancelled"
    ? "there is nothing left to cancel."
    : "only an order that is not shipped yet can be cancelled. After delivery, open a return.";
