/**
 * Tools of the upstream `shop` at catalog v1: customers, orders, payments, returns.
 *
 * Owns: their names, texts and schemas.
 * Speaks: base functions of shop-functions.ts.
 * Never: later versions (catalogs.ts makes them out of these).
 */
import type { ShopTables } from "./database.js";
import {
  approveReturn,
  cancelOrder,
  changeAddress,
  markShipped,
  openReturn,
  readCustomer,
  readOrder,
  readOrders,
  readPayment,
  refundPayment,
  rejectReturn,
} from "./shop-functions.js";
import { ok } from "./outcome.js";
import { amount, defineTool, integer, maybe, rows, shown, string, words, type WorldTool } from "./tool-kit.js";

const ORDER_STATUS = ["paid", "shipped", "delivered", "cancelled"];
const orderId = string("Order number, e.g. O-1001.");
const order = {
  order_id: shown("string", "Order number."),
  status: words("Where the order stands.", ORDER_STATUS),
};
const decided = {
  return_id: shown("string", "Return number."),
  order_id: shown("string", "Order the return belongs to."),
  status: words("The decision.", ["approved", "rejected"]),
  value: shown("number", "Value of the returned goods in pounds."),
  payment_id: shown("string", "Payment of the order, for a refund."),
};

export const findCustomer = defineTool<ShopTables>({
  name: "find_customer",
  title: "Find a customer",
  description: "Find a customer of the shop by e-mail address. Returns the customer number needed to list their orders.",
  kind: "read",
  input: { email: string("E-mail address the customer orders with.") },
  output: {
    customer_id: shown("string", "Customer number, e.g. C-101."),
    name: shown("string", "Full name."),
    email: shown("string", "E-mail address."),
    phone: shown("string", "Telephone number."),
  },
  base: ["read_customer"],
  run: readCustomer,
});

export const listOrders = defineTool<ShopTables>({
  name: "list_orders",
  title: "List a customer's orders",
  description: "List the orders of one customer, oldest first, optionally only those with a given status.",
  kind: "read",
  input: { customer_id: string("Customer number, e.g. C-101."), status: words("Only orders with this status.", ORDER_STATUS) },
  optional: ["status"],
  output: {
    customer_id: shown("string", "Customer number."),
    orders: rows("The orders.", {
      ...order,
      placed: shown("string", "Day of the order."),
      total: shown("number", "Total in pounds."),
    }),
  },
  base: ["read_orders"],
  run: readOrders,
});

export const getOrder = defineTool<ShopTables>({
  name: "get_order",
  title: "Get an order",
  description: "Get one order with its lines, total, payment number, delivery address, status and tracking number.",
  kind: "read",
  input: { order_id: orderId },
  output: {
    ...order,
    customer_id: shown("string", "Customer number."),
    placed: shown("string", "Day of the order."),
    delivered: maybe("Day of delivery."),
    total: shown("number", "Total in pounds."),
    payment_id: shown("string", "Payment number."),
    delivery_address: shown("string", "Where it goes."),
    tracking_number: maybe("Tracking number of the parcel, once shipped."),
    lines: rows("What was ordered.", {
      sku: shown("string", "Article number."),
      name: shown("string", "Article."),
      quantity: shown("integer", "Pieces."),
      unit_price: shown("number", "Price of one piece in pounds."),
    }),
  },
  base: ["read_order"],
  run: readOrder,
});

export const getOrderStatus = defineTool<ShopTables>({
  name: "get_order_status",
  title: "Get an order's status",
  description: "Say only where an order stands: paid, shipped, delivered or cancelled.",
  kind: "read",
  input: { order_id: orderId },
  output: order,
  base: ["read_order"],
  run: (db, args) => {
    const found = readOrder(db, args);
    return "error" in found ? found : ok({ order_id: found.ok["order_id"] ?? "", status: found.ok["status"] ?? "" });
  },
});

export const cancel = defineTool<ShopTables>({
  name: "cancel_order",
  title: "Cancel an order",
  description: "Cancel an order that is paid and not shipped yet. The money is not paid back by this; refund it afterwards.",
  kind: "destructive",
  input: {
    order_id: orderId,
    reason: words("Why it is cancelled.", ["changed_mind", "ordered_by_mistake", "too_slow", "other"]),
  },
  output: {
    ...order,
    payment_id: shown("string", "Payment to refund."),
    refundable: shown("number", "Pounds that can be refunded now."),
  },
  base: ["cancel_order"],
  run: cancelOrder,
});

export const changeDeliveryAddress = defineTool<ShopTables>({
  name: "change_delivery_address",
  title: "Change a delivery address",
  description: "Change where an order is delivered. Possible only before the order is shipped.",
  kind: "write",
  input: { order_id: orderId, delivery_address: string("New address in one line: street, town, postcode.") },
  output: { ...order, delivery_address: shown("string", "The address now on the order.") },
  base: ["change_address"],
  run: changeAddress,
});

export const markOrderShipped = defineTool<ShopTables>({
  name: "mark_order_shipped",
  title: "Mark an order as shipped",
  description: "Record that an order left the depot, with the tracking number of its parcel, so that the customer sees it.",
  kind: "write",
  input: { order_id: orderId, tracking_number: string("Tracking number from the depot, e.g. TRK-7001.") },
  output: { ...order, tracking_number: shown("string", "Tracking number on the order.") },
  base: ["mark_shipped"],
  run: markShipped,
});

export const getPayment = defineTool<ShopTables>({
  name: "get_payment",
  title: "Get a payment",
  description: "Get a payment: method, captured amount and what was refunded.",
  kind: "read",
  input: { payment_id: string("Payment number, e.g. P-5001.") },
  output: {
    payment_id: shown("string", "Payment number."),
    order_id: shown("string", "Order it belongs to."),
    method: shown("string", "Card, invoice or wallet."),
    captured: shown("number", "Pounds captured."),
    refunded: shown("number", "Pounds refunded so far."),
  },
  base: ["read_payment"],
  run: readPayment,
});

export const refund = defineTool<ShopTables>({
  name: "refund_payment",
  title: "Refund a payment",
  description: "Pay money back on a payment. Allowed for a cancelled order, or up to the value of approved returns.",
  kind: "destructive",
  input: {
    payment_id: string("Payment number, e.g. P-5001."),
    amount: amount("Pounds to pay back, e.g. 39.90."),
    reason: string("Why, for the customer's statement."),
  },
  output: {
    refund_id: shown("string", "Refund number."),
    payment_id: shown("string", "Payment number."),
    amount: shown("number", "Pounds paid back by this refund."),
    refunded: shown("number", "Pounds refunded on the payment in all."),
  },
  base: ["refund_payment"],
  run: refundPayment,
});

export const openReturnTool = defineTool<ShopTables>({
  name: "open_return",
  title: "Open a return",
  description:
    "Open a return for an article of a delivered order, within 30 days of delivery. Somebody then approves or rejects it.",
  kind: "write",
  input: {
    order_id: orderId,
    sku: string("Article number, e.g. SKU-LAMP."),
    quantity: integer("Pieces that come back."),
    reason: words("Why it comes back.", ["damaged", "wrong_item", "not_as_described", "changed_mind"]),
  },
  output: {
    return_id: shown("string", "Return number, e.g. R-2001."),
    order_id: shown("string", "Order number."),
    status: words("A new return is open.", ["open"]),
    value: shown("number", "Value of the goods in pounds."),
    payment_id: shown("string", "Payment of the order, for a refund."),
  },
  base: ["open_return"],
  run: openReturn,
});

export const approve = defineTool<ShopTables>({
  name: "approve_return",
  title: "Approve a return",
  description: "Approve an open return, so that its value may be refunded.",
  kind: "write",
  input: { return_id: string("Return number, e.g. R-2001."), note: string("A word to the customer.") },
  optional: ["note"],
  output: decided,
  base: ["approve_return"],
  run: approveReturn,
});

export const reject = defineTool<ShopTables>({
  name: "reject_return",
  title: "Reject a return",
  description: "Reject an open return, with a note that tells the customer why.",
  kind: "write",
  input: { return_id: string("Return number, e.g. R-2001."), note: string("Why it is rejected, for the customer.") },
  output: decided,
  base: ["reject_return"],
  run: rejectReturn,
});

export const SHOP_V1: readonly WorldTool<ShopTables>[] = [
  findCustomer,
  listOrders,
  getOrder,
  getOrderStatus,
  cancel,
  changeDeliveryAddress,
  markOrderShipped,
  getPayment,
  refund,
  openReturnTool,
  approve,
  reject,
];
