/** A skill of one step on a tool that tests of takeovers have leave: to be imported as `cancel-it`. */
export const CANCEL_IT = {
  folder: "cancel-it",
  files: {
    "SKILL.md": [
      "---",
      'name: "cancel-it"',
      'description: "Cancel an order."',
      "---",
      "",
      "1. Call `shop/cancel_order` with order_id from the request.",
      "",
    ].join("\n"),
  },
};
