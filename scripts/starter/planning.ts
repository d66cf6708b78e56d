import type { PlanSource } from "./source.js";

const orderId = "order_id: from the request";

/** Whole tasks. There is none for moving stock by itself: such a plan is derived from the need. */
export const PLANNING_SKILLS: readonly PlanSource[] = [
  {
    name: "plan-cancel-and-refund-order",
    description: "Cancel an order before it is shipped and refund the customer.",
    sections: {
      whenToUse: "A customer changed their mind or ordered by mistake, the order is not shipped, and the money goes back.",
      notFor: "Orders that are shipped or delivered: return the goods instead.",
      inputs: [orderId, "reason: from the request", "amount: from the request, else the order's total"],
      steps: [
        "Read status, total and payment of the order with skill `atomic-look-up-order`.",
        "Cancel the order with the customer's reason with skill `atomic-cancel-order`.",
        "Refund the amount on the order's payment with skill `atomic-refund-payment`.",
      ],
      checks: ["The order is cancelled and the payment shows the full refund."],
      gotchas: ["Refunding first is refused: cancel before paying back."],
    },
    produces: ["refund_id"],
  },
  {
    name: "plan-cancel-reserved-order",
    description: "Cancel an order whose articles are reserved in the depot, release the stock and refund the customer.",
    sections: {
      whenToUse: "An order is cancelled after its stock was reserved and before it was packed.",
      inputs: [
        orderId,
        "sku: the reserved article",
        "reason: from the request",
        "amount: from the request, else the order's total",
      ],
      steps: [
        "Cancel the order with the customer's reason with skill `atomic-cancel-order`.",
        "Release the reserved stock of each article with skill `atomic-release-stock`.",
        "Refund the amount on the order's payment with skill `atomic-refund-payment`.",
      ],
      checks: ["Nothing is reserved for the order any more, and the money is paid back."],
    },
    produces: ["released", "refund_id"],
  },
  {
    name: "plan-return-and-refund",
    description: "Take back a delivered article that is damaged, wrong or unwanted: open the return, approve it, refund it.",
    sections: {
      whenToUse: "A delivered article comes back within 30 days and the customer gets the money.",
      notFor: "Orders not delivered yet; returns that policy refuses.",
      inputs: [orderId, "sku, quantity, reason: from the request", "amount: from the request, else the value of the return"],
      steps: [
        "Check delivery and articles of the order with skill `atomic-look-up-order`.",
        "Open the return for the article with skill `atomic-open-return`.",
        "Approve the return that was opened with skill `atomic-approve-return`.",
        "Refund the value on the order's payment with skill `atomic-refund-payment`.",
      ],
      checks: ["The return is approved and the refund is not above its value."],
      gotchas: ["Several articles: one return each, one refund for all."],
    },
    produces: ["return_id", "refund_id"],
  },
  {
    name: "plan-ship-paid-order",
    description: "Ship a paid order: reserve its stock, send the parcel, mark the order as shipped.",
    sections: {
      whenToUse: "A paid order shall leave the depot.",
      inputs: [orderId, "carrier: from the request", "sku and quantity: from the order's lines"],
      steps: [
        "Read articles and address of the order with skill `atomic-look-up-order`.",
        "Reserve each article where most is available with skill `atomic-reserve-stock`.",
        "Pack the order and hand it to the carrier with skill `atomic-ship-order`.",
        "Record the tracking number on the order with skill `atomic-mark-order-shipped`.",
      ],
      checks: ["The order is shipped and shows the tracking number the depot gave."],
      gotchas: ["All articles of a parcel are reserved in one warehouse."],
    },
    produces: ["tracking_number"],
  },
  {
    name: "plan-redirect-delivery",
    description: "Send a customer's open order to another address when only the customer's e-mail is known.",
    sections: {
      whenToUse: "A customer moved or mistyped the address and the order is not shipped.",
      inputs: ["email: from the request", "delivery_address: from the request"],
      steps: [
        "Find the customer's paid order with skill `atomic-find-customer-orders`.",
        "Put the new address on that order with skill `atomic-change-delivery-address`.",
      ],
      checks: ["The order shows the new address."],
      gotchas: ["Several open orders: ask which one is meant."],
    },
    produces: ["order_id", "delivery_address"],
  },
  {
    name: "plan-trace-parcel",
    description: "Answer where a customer's parcel is when only the e-mail address is known.",
    sections: {
      whenToUse: "A customer asks where their order is.",
      inputs: ["email: from the request"],
      steps: [
        "Find the customer's shipped order with skill `atomic-find-customer-orders`.",
        "See where its parcel is with skill `atomic-track-parcel`.",
      ],
      checks: ["The answer names carrier and status."],
    },
    produces: ["status", "carrier"],
  },
  {
    name: "plan-decline-return",
    description: "Decline an open return that policy does not allow, for example one that came too late.",
    sections: {
      whenToUse: "An open return has to be checked against the policy and is refused.",
      inputs: [orderId, "return_id: from the request", "note: the reason for the customer"],
      steps: [
        "Check the day of delivery of the order with skill `atomic-look-up-order`.",
        "Reject the return with a note to the customer with skill `atomic-reject-return`.",
      ],
      checks: ["The return is rejected and nothing is refunded."],
    },
    produces: ["status"],
  },
];
