import type { AtomicSource } from "./source.js";

const orderId = "order_id: the order number, from the request";

/** Abilities of one or two calls each. */
export const ATOMIC_SKILLS: readonly AtomicSource[] = [
  {
    name: "atomic-find-customer",
    description: "Find a customer by e-mail address and get the customer number.",
    sections: {
      whenToUse: "A customer is known by e-mail only.",
      inputs: ["email: the address they order with, from the request"],
      steps: ["Find the customer: `shop/find_customer` with email from the request."],
      checks: ["The name is the one the request speaks of."],
      gotchas: ["No match: ask which address they order with; do not try variations."],
    },
    reads: { "shop/find_customer": ["customer_id", "name"] },
    produces: ["customer_id", "name"],
  },
  {
    name: "atomic-find-customer-orders",
    description: "Find the order number when only the customer's e-mail address is known, optionally by order status.",
    sections: {
      whenToUse: "The request names a customer and no order number.",
      notFor: "An order number that is given: look that order up.",
      inputs: ["email: from the request", "status: paid, shipped, delivered or cancelled, from the request if given"],
      steps: [
        "Find the customer: `shop/find_customer` with email from the request.",
        "List the orders: `shop/list_orders` with customer_id from step 1 and status from the request if given.",
      ],
      checks: ["Exactly one order fits the request; otherwise ask which one is meant."],
    },
    reads: { "shop/find_customer": ["customer_id"], "shop/list_orders": ["orders[].order_id", "orders[].status"] },
    produces: ["customer_id", "order_id"],
  },
  {
    name: "atomic-look-up-order",
    description: "Look up an order: status, total, articles, payment number, delivery address, tracking number.",
    sections: {
      whenToUse: "Before anything is done with an order.",
      inputs: [orderId],
      steps: ["Look up the order: `shop/get_order` with order_id from the request."],
      checks: ["The status allows what is to be done next: paid before shipping, delivered before a return."],
    },
    reads: {
      "shop/get_order": [
        "status",
        "total",
        "payment_id",
        "delivery_address",
        "tracking_number",
        "lines[].sku",
        "lines[].quantity",
      ],
    },
    produces: ["status", "total", "payment_id", "delivery_address", "sku"],
  },
  {
    name: "atomic-check-order-status",
    description: "Tell where an order stands: paid, shipped, delivered or cancelled.",
    sections: {
      whenToUse: "Only the status of an order is asked for.",
      inputs: [orderId],
      steps: ["Read the status: `shop/get_order_status` with order_id from the request."],
    },
    reads: { "shop/get_order_status": ["status"] },
    produces: ["status"],
  },
  {
    name: "atomic-cancel-order",
    description: "Cancel an order that is paid and not shipped yet.",
    sections: {
      whenToUse: "A customer does not want an order any more and it has not left the depot.",
      notFor: "Shipped or delivered orders: wait for delivery and open a return.",
      inputs: [orderId, "reason: changed_mind, ordered_by_mistake, too_slow or other, from the request"],
      steps: [
        "Check that it is paid: `shop/get_order` with order_id from the request.",
        "Cancel it: `shop/cancel_order` with order_id from the request and reason from the request.",
      ],
      checks: ["The status is now cancelled; refundable says what can be paid back."],
      gotchas: ["Cancelling pays nothing back by itself."],
    },
    reads: { "shop/get_order": ["status"], "shop/cancel_order": ["status", "payment_id", "refundable"] },
    produces: ["payment_id", "refundable"],
  },
  {
    name: "atomic-change-delivery-address",
    description: "Change the delivery address of an order that is not shipped yet.",
    sections: {
      whenToUse: "An order shall go to another address and has not left the depot.",
      inputs: [orderId, "delivery_address: street, town and postcode in one line, from the request"],
      steps: [
        "Check that it is paid: `shop/get_order` with order_id from the request.",
        "Change the address: `shop/change_delivery_address` with order_id from the request and delivery_address from the request.",
      ],
      checks: ["The answer shows the new address."],
    },
    reads: { "shop/get_order": ["status"], "shop/change_delivery_address": ["delivery_address"] },
    produces: ["delivery_address"],
  },
  {
    name: "atomic-look-up-payment",
    description: "See how an order was paid, how much was captured and how much was refunded.",
    sections: {
      whenToUse: "The question is about money paid or paid back for an order.",
      inputs: [orderId],
      steps: [
        "Get the payment number: `shop/get_order` with order_id from the request.",
        "Read the payment: `shop/get_payment` with payment_id from step 1.",
      ],
    },
    reads: { "shop/get_order": ["payment_id"], "shop/get_payment": ["captured", "refunded"] },
    produces: ["payment_id", "captured", "refunded"],
  },
  {
    name: "atomic-refund-payment",
    description: "Refund money on the payment of a cancelled order or of an order with an approved return.",
    sections: {
      whenToUse: "An order was cancelled or a return approved, and money goes back.",
      notFor: "Goodwill payments: policy allows none.",
      inputs: [orderId, "amount: pounds to pay back, from the request", "reason: from the request"],
      steps: [
        "Get the payment number: `shop/get_order` with order_id from the request.",
        "Pay back: `shop/refund_payment` with payment_id from step 1, amount from the request and reason from the request.",
      ],
      checks: ["The refunded sum is what was asked for and at most what was captured."],
      gotchas: ["Refused before the cancellation or the approval: do that first."],
    },
    reads: { "shop/get_order": ["payment_id"], "shop/refund_payment": ["refund_id", "refunded"] },
    produces: ["payment_id", "refund_id"],
  },
  {
    name: "atomic-open-return",
    description: "Open a return for an article of a delivered order.",
    sections: {
      whenToUse: "A customer wants to send something back that was delivered in the last 30 days.",
      notFor: "Orders that are not delivered: they can only be cancelled before shipping.",
      inputs: [
        orderId,
        "sku: the article, from the request",
        "quantity: from the request",
        "reason: damaged, wrong_item, not_as_described or changed_mind, from the request",
      ],
      steps: [
        "Check that it is delivered and has the article: `shop/get_order` with order_id from the request.",
        "Open the return: `shop/open_return` with order_id from the request, sku from the request, quantity from the request and reason from the request.",
      ],
      checks: ["The return is open; its value is what may be refunded after approval."],
    },
    reads: { "shop/get_order": ["status", "lines[].sku"], "shop/open_return": ["return_id", "value", "payment_id"] },
    produces: ["return_id", "value", "payment_id"],
  },
  {
    name: "atomic-approve-return",
    description: "Approve an open return, so that it can be refunded.",
    sections: {
      whenToUse: "The goods of an open return are accepted under the policy.",
      inputs: ["return_id: from the request or from opening it", "note: a word to the customer, from the request if given"],
      steps: ["Approve it: `shop/approve_return` with return_id from the request and note from the request if given."],
      checks: ["The status is approved; value and payment number are there for the refund."],
    },
    reads: { "shop/approve_return": ["status", "value", "payment_id"] },
    produces: ["value", "payment_id"],
  },
  {
    name: "atomic-reject-return",
    description: "Reject an open return and tell the customer why.",
    sections: {
      whenToUse: "Policy does not allow an open return, for example because it is too late.",
      inputs: ["return_id: from the request", "note: the reason for the customer, from the request"],
      steps: ["Reject it: `shop/reject_return` with return_id from the request and note from the request."],
      checks: ["The status is rejected."],
      gotchas: ["Without a note it is refused."],
    },
    reads: { "shop/reject_return": ["status"] },
    produces: ["status"],
  },
  {
    name: "atomic-check-stock",
    description: "See where an article is in stock and how much of it is available.",
    sections: {
      whenToUse: "Somebody asks whether or where an article is in stock.",
      inputs: ["sku: the article, from the request"],
      steps: ["Check the stock: `depot/check_stock` with sku from the request."],
      checks: ["Available counts, not on hand: reserved pieces are promised already."],
    },
    reads: { "depot/check_stock": ["warehouses[].warehouse_id", "warehouses[].available"] },
    produces: ["warehouse_id", "available"],
  },
  {
    name: "atomic-reserve-stock",
    description: "Reserve an article for an order in the warehouse that has most of it.",
    sections: {
      whenToUse: "An order's article must be set aside before packing.",
      inputs: [orderId, "sku: from the request", "quantity: from the request"],
      steps: [
        "Find the fullest warehouse: `depot/check_stock` with sku from the request.",
        "Reserve there: `depot/reserve_stock` with order_id from the request, sku from the request, quantity from the request and warehouse_id from step 1.",
      ],
      checks: ["The reservation has the full quantity."],
      gotchas: ["Where the request names a warehouse, take that one if it has enough."],
    },
    reads: {
      "depot/check_stock": ["warehouses[].warehouse_id", "warehouses[].available"],
      "depot/reserve_stock": ["reservation_id", "warehouse_id"],
    },
    produces: ["reservation_id", "warehouse_id"],
  },
  {
    name: "atomic-release-stock",
    description: "Release what is reserved of an article for an order.",
    sections: {
      whenToUse: "An order was cancelled or changed and its stock is still reserved.",
      inputs: [orderId, "sku: from the request"],
      steps: ["Release it: `depot/release_stock` with order_id from the request and sku from the request."],
      checks: ["The pieces released are those that were reserved."],
    },
    reads: { "depot/release_stock": ["released"] },
    produces: ["released"],
  },
  {
    name: "atomic-ship-order",
    description: "Pack a reserved order and hand the parcel to a carrier; get the tracking number.",
    sections: {
      whenToUse: "The articles of an order are reserved and it shall leave the depot.",
      inputs: [
        orderId,
        "warehouse_id: where they are reserved, from the request",
        "carrier: postal, express or freight, from the request",
      ],
      steps: [
        "Get the address: `shop/get_order` with order_id from the request.",
        "Send the parcel: `depot/ship_order` with order_id from the request, warehouse_id from the request, carrier from the request and delivery_address from step 1.",
      ],
      checks: ["There is a tracking number."],
      gotchas: ["The shop does not know by itself: mark the order as shipped."],
    },
    reads: { "shop/get_order": ["delivery_address"], "depot/ship_order": ["shipment_id", "tracking_number"] },
    produces: ["shipment_id", "tracking_number"],
  },
  {
    name: "atomic-mark-order-shipped",
    description: "Mark an order as shipped with the tracking number of its parcel.",
    sections: {
      whenToUse: "A parcel left the depot and the order still says paid.",
      inputs: [orderId, "tracking_number: from the depot"],
      steps: ["Mark it: `shop/mark_order_shipped` with order_id from the request and tracking_number from the request."],
      checks: ["The status is shipped and shows the tracking number."],
    },
    reads: { "shop/mark_order_shipped": ["status", "tracking_number"] },
    produces: ["status"],
  },
  {
    name: "atomic-track-parcel",
    description: "Find out where the parcel of a shipped order is.",
    sections: {
      whenToUse: "Somebody asks where an order is that was shipped.",
      inputs: [orderId],
      steps: [
        "Get the tracking number: `shop/get_order` with order_id from the request.",
        "Track it: `depot/track_shipment` with tracking_number from step 1.",
      ],
      gotchas: ["No tracking number: the order is not shipped yet; say so."],
    },
    reads: { "shop/get_order": ["tracking_number"], "depot/track_shipment": ["status", "carrier"] },
    produces: ["tracking_number", "status", "carrier"],
  },
  {
    name: "atomic-restock-article",
    description: "Put pieces of an article back on the shelves of a warehouse.",
    sections: {
      whenToUse: "Goods came back or turned up in a count.",
      inputs: ["sku, quantity, warehouse_id: from the request", "return_id: from the request if given"],
      steps: [
        "Put it back: `depot/restock_item` with sku from the request, quantity from the request, warehouse_id from the request and return_id from the request if given.",
      ],
      checks: ["On hand grew by the quantity."],
    },
    reads: { "depot/restock_item": ["on_hand"] },
    produces: ["on_hand"],
  },
];
