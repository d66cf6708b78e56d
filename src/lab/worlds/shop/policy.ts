/**
 * The shop's policy: what people and agents who work for it must keep to.
 *
 * Owns: the text that each upstream gives as its instructions and serves as a resource.
 * Speaks: plain English; each rule is enforced by a base function.
 * Never: tool names, which change; the rules do not.
 */
export const SHOP_POLICY = `# Shop policy

- An order is paid, then shipped, then delivered. Only a paid order can be cancelled or sent to another address.
- Cancelling does not pay back by itself: refund the order's payment afterwards, at most what was captured.
- Goods come back within 30 days of delivery. A return is opened, then approved or rejected; a rejection tells the customer why.
- An approved return may be refunded up to the value of the goods; without a cancellation or an approved return nothing is refunded.
- An order is marked as shipped with the tracking number that the depot gave.
- Amounts are in pounds. Identify a customer by the e-mail address they order with.`;

export const DEPOT_POLICY = `# Depot policy

- Stock is reserved for an order in one warehouse before it is packed; reserve where most is available unless told otherwise.
- What is reserved for an order that was cancelled is released.
- A parcel goes to the delivery address of the order. Carriers are postal, express and freight.
- Goods that come back or turn up in a count are put on the shelves of the warehouse they are in.`;
