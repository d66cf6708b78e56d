import type { JsonObject } from "../../src/model/json.js";

/** What a request says, for each skill: enough to do it on the shop as seeded. `before` = calls that lead up to it. */
export interface Example {
  readonly request: JsonObject;
  readonly before?: readonly (readonly [string, JsonObject])[];
}
const cancelled: Example["before"] = [["shop/cancel_order", { order_id: "O-1003", reason: "other" }]];
const reserved: Example["before"] = [
  ["depot/reserve_stock", { order_id: "O-1004", sku: "SKU-MUG", quantity: 4, warehouse_id: "W-1" }],
];
export const EXAMPLES: Readonly<Record<string, Example>> = {
  "atomic-find-customer": { request: { email: "anna.keller@example.org" } },
  "atomic-find-customer-orders": { request: { email: "anna.keller@example.org", status: "shipped" } },
  "atomic-look-up-order": { request: { order_id: "O-1001" } },
  "atomic-check-order-status": { request: { order_id: "O-1001" } },
  "atomic-cancel-order": { request: { order_id: "O-1003", reason: "changed_mind" } },
  "atomic-change-delivery-address": { request: { order_id: "O-1011", delivery_address: "1 New Road, Cardiff CF5 1AA" } },
  "atomic-look-up-payment": { request: { order_id: "O-1009" } },
  "atomic-refund-payment": { request: { order_id: "O-1003", amount: 189, reason: "cancelled" }, before: cancelled },
  "atomic-open-return": { request: { order_id: "O-1001", sku: "SKU-MUG", quantity: 2, reason: "wrong_item" } },
  "atomic-approve-return": { request: { return_id: "R-2002" } },
  "atomic-reject-return": { request: { return_id: "R-2001", note: "Too late." } },
  "atomic-check-stock": { request: { sku: "SKU-RUG" } },
  "atomic-reserve-stock": { request: { order_id: "O-1011", sku: "SKU-KETTLE", quantity: 2 } },
  "atomic-release-stock": { request: { order_id: "O-1008", sku: "SKU-KETTLE" } },
  "atomic-ship-order": { request: { order_id: "O-1004", warehouse_id: "W-1", carrier: "express" }, before: reserved },
  "atomic-mark-order-shipped": { request: { order_id: "O-1004", tracking_number: "TRK-7007" } },
  "atomic-track-parcel": { request: { order_id: "O-1012" } },
  "atomic-restock-article": { request: { sku: "SKU-TEAPOT", quantity: 1, warehouse_id: "W-2", return_id: "R-2002" } },
  "plan-cancel-and-refund-order": { request: { order_id: "O-1003", reason: "changed_mind", amount: 189 } },
  "plan-cancel-reserved-order": { request: { order_id: "O-1008", sku: "SKU-KETTLE", reason: "other", amount: 39.9 } },
  "plan-return-and-refund": { request: { order_id: "O-1007", sku: "SKU-LAMP", quantity: 1, reason: "damaged", amount: 59 } },
  "plan-ship-paid-order": { request: { order_id: "O-1011", sku: "SKU-KETTLE", quantity: 2, carrier: "postal" } },
  "plan-redirect-delivery": { request: { email: "hugo.blanc@example.org", delivery_address: "1 New Road, Cardiff CF5 1AA" } },
  "plan-trace-parcel": { request: { email: "anna.keller@example.org", status: "shipped" } },
  "plan-decline-return": { request: { order_id: "O-1006", return_id: "R-2001", note: "Too late." } },
  "tool-shop-find-customer": { request: { email: "grace.lim@example.org" } },
  "tool-shop-list-orders": { request: { customer_id: "C-103" } },
  "tool-shop-get-order": { request: { order_id: "O-1012" } },
  "tool-shop-get-order-status": { request: { order_id: "O-1012" } },
  "tool-shop-cancel-order": { request: { order_id: "O-1003", reason: "too_slow" } },
  "tool-shop-change-delivery-address": { request: { order_id: "O-1003", delivery_address: "1 New Road, Cardiff CF5 1AA" } },
  "tool-shop-mark-order-shipped": { request: { order_id: "O-1003", tracking_number: "TRK-7009" } },
  "tool-shop-get-payment": { request: { payment_id: "P-5001" } },
  "tool-shop-refund-payment": { request: { payment_id: "P-5003", amount: 10, reason: "cancelled" }, before: cancelled },
  "tool-shop-open-return": { request: { order_id: "O-1001", sku: "SKU-KETTLE", quantity: 1, reason: "damaged" } },
  "tool-shop-approve-return": { request: { return_id: "R-2001" } },
  "tool-shop-reject-return": { request: { return_id: "R-2001", note: "Too late." } },
  "tool-depot-check-stock": { request: { sku: "SKU-CLOCK" } },
  "tool-depot-reserve-stock": { request: { order_id: "O-1003", sku: "SKU-RUG", quantity: 1, warehouse_id: "W-2" } },
  "tool-depot-release-stock": { request: { order_id: "O-1008", sku: "SKU-KETTLE" } },
  "tool-depot-ship-order": {
    request: { order_id: "O-1004", warehouse_id: "W-1", carrier: "freight", delivery_address: "48 Oak Road, Manchester M4 1HQ" },
    before: reserved,
  },
  "tool-depot-track-shipment": { request: { tracking_number: "TRK-7001" } },
  "tool-depot-restock-item": { request: { sku: "SKU-MUG", quantity: 3, warehouse_id: "W-3" } },
};
