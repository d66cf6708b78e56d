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

/** Two verified runs that teach how an order is cancelled. */
export const CANCEL_RUNS = [1, 2].map((n) => ({
  source: `run ${n}`,
  task: `Please stop the frobnication of parcel ${n}`,
  calls: [{ name: "shop/cancel_order", args: { order_id: `ORDER-${n}00`, reason: "late" }, result: { ok: true } }],
  outcome: { outcome: "success", trust: "state" } as const,
}));
