/** Hand-made tools and skills: a shop, small enough to be read and large enough to be chosen from. */
import { splitToolKey, toolKey, type Digest, type SkillName, type ToolKey } from "../../src/model/ids.js";
import type { JsonObject } from "../../src/model/json.js";
import type { Requirement, Skill, SkillStep, Tier } from "../../src/model/skill.js";
import type { ListedTool, Tool } from "../../src/model/tool.js";

export interface ToolSketch {
  readonly description?: string;
  /** name → type, `?` at the end of the name = optional; or a whole schema. */
  readonly input?: Readonly<Record<string, string | JsonObject>>;
  readonly inputSchema?: JsonObject;
  readonly output?: Readonly<Record<string, string | JsonObject>>;
  readonly outputSchema?: JsonObject;
  readonly readOnly?: boolean;
  readonly title?: string;
}

export function sampleTool(key: string, sketch: ToolSketch = {}): Tool {
  const { label, name } = splitToolKey(key);
  const inputSchema = sketch.inputSchema ?? objectOf(sketch.input ?? {});
  const outputSchema = sketch.outputSchema ?? (sketch.output === undefined ? undefined : objectOf(sketch.output));
  const readOnly = sketch.readOnly ?? false;
  const document: ListedTool = {
    name,
    ...(sketch.title === undefined ? {} : { title: sketch.title }),
    description: sketch.description ?? "",
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: { readOnlyHint: readOnly },
  };
  const digest = `${key} ${JSON.stringify(document)}`.replaceAll(/[^a-z0-9]/g, "").slice(0, 64) as Digest;
  return {
    key: key as ToolKey,
    label,
    name,
    document,
    title: sketch.title,
    description: sketch.description ?? "",
    inputSchema,
    outputSchema,
    annotations: { readOnly, destructive: !readOnly, idempotent: false, openWorld: true },
    digests: { contract: digest, text: digest, document: digest },
    problems: [],
  };
}

function objectOf(fields: Readonly<Record<string, string | JsonObject>>): JsonObject {
  const properties: JsonObject = {};
  const required: string[] = [];
  for (const [written, type] of Object.entries(fields)) {
    const name = written.replace(/\?$/, "");
    properties[name] = typeof type === "string" ? { type } : type;
    if (!written.endsWith("?")) required.push(name);
  }
  return { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
}

export interface SkillSketch {
  readonly tier?: Tier;
  readonly description?: string;
  /** Sentences with code spans for tools (`shop/x`) and skills. */
  readonly steps?: readonly string[];
  readonly requires?: readonly (string | Partial<Requirement>)[];
  readonly uses?: readonly string[];
  readonly produces?: readonly string[];
  readonly body?: string;
}

export function sampleSkill(name: string, sketch: SkillSketch = {}): Skill {
  const steps = (sketch.steps ?? []).map(sampleStep);
  const tools = steps.flatMap((step) => step.tools);
  const requires = (sketch.requires ?? [...new Set(tools)]).map((requirement) => ({
    tool: "",
    contractDigest: "",
    params: [],
    reads: [],
    ...(typeof requirement === "string" ? { tool: requirement } : requirement),
  }));
  const uses = sketch.uses ?? [...new Set(steps.flatMap((step) => step.skills))];
  const description = sketch.description ?? name.replaceAll("-", " ");
  const body =
    sketch.body ??
    [
      "## When to use",
      description,
      "",
      "## Steps",
      ...steps.map((step) => `${step.n}. ${step.text}`),
      "",
      "## Checks",
      "- The answer shows what was asked for.",
      "",
    ].join("\n");
  const tier = sketch.tier ?? (name.startsWith("plan-") ? "planning" : name.startsWith("tool-") ? "tool" : "atomic");
  return {
    name: name as SkillName,
    tier,
    description,
    body,
    steps,
    contract: { format: "contract/1", requires, uses: [...uses], produces: [...(sketch.produces ?? [])], evidence: [] },
    provenance: "starter",
    metadata: { "steward-tier": tier },
    license: undefined,
    compatibility: undefined,
    allowedTools: undefined,
    files: { "SKILL.md": body },
    digest: name as string as Digest,
    problems: [],
  };
}

function sampleStep(text: string, index: number): SkillStep {
  const spans = [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "");
  return {
    n: index + 1,
    goal: text
      .replaceAll(/(?: with skill|:)?\s*`[^`]+`.*$/g, "")
      .replace(/\.$/, "")
      .trim(),
    text,
    skills: spans.filter((span) => !span.includes("/")) as SkillName[],
    tools: spans.filter((span) => span.includes("/")) as ToolKey[],
  };
}

/** The sample shop: what a person would expect of one. */
export const SHOP_TOOLS: readonly Tool[] = [
  sampleTool("shop/find_customer", {
    description: "Find a customer by email or phone. Returns the customer with its id.",
    input: { "email?": "string", "phone?": "string" },
    output: { customer_id: "string", name: "string" },
    readOnly: true,
  }),
  sampleTool("shop/list_orders", {
    description: "List the orders of a customer, newest first.",
    input: { customer_id: "string", "limit?": "integer" },
    output: {
      orders: { type: "array", items: { type: "object", properties: { id: { type: "string" }, status: { type: "string" } } } },
    },
    readOnly: true,
  }),
  sampleTool("shop/get_order", {
    description: "Get one order with its items, status and payments.",
    input: { order_id: "string" },
    output: { order_id: "string", status: "string", item_ids: { type: "array", items: { type: "string" } } },
    readOnly: true,
  }),
  sampleTool("shop/cancel_order", {
    description: "Cancel a pending order. Shipped orders cannot be cancelled.",
    input: { order_id: "string", reason: { type: "string", enum: ["mistake", "too late", "no longer needed"] } },
    output: { order_id: "string", status: "string" },
  }),
  sampleTool("shop/refund_payment", {
    description: "Refund a payment to its method.",
    input: { payment_id: "string", "amount?": "number" },
    output: { refund_id: "string" },
  }),
  sampleTool("shop/list_payments", {
    description: "List the payments of an order.",
    input: { order_id: "string" },
    output: {
      payments: { type: "array", items: { type: "object", properties: { id: { type: "string" }, amount: { type: "number" } } } },
    },
    readOnly: true,
  }),
  sampleTool("shop/create_return", {
    description: "Open a return for delivered items.",
    input: { order_id: "string", item_ids: { type: "array", items: { type: "string" } } },
    output: { return_id: "string" },
  }),
  sampleTool("depot/get_stock", {
    description: "How many pieces of a product are in stock.",
    input: { product_id: "string" },
    output: { product_id: "string", pieces: "integer" },
    readOnly: true,
  }),
  sampleTool("depot/search_products", {
    description: "Search products by words.",
    input: { query: "string", "limit?": "integer" },
    output: {
      products: { type: "array", items: { type: "object", properties: { id: { type: "string" }, title: { type: "string" } } } },
    },
    readOnly: true,
  }),
  sampleTool("depot/track_shipment", {
    description: "Where a shipment is now.",
    input: { tracking_number: "string" },
    readOnly: true,
  }),
];

export const SHOP_SKILLS: readonly Skill[] = [
  sampleSkill("plan-cancel-order", {
    description: "Cancel a customer's order and give the money back.",
    steps: [
      "Look up the order with skill `atomic-look-up-order`.",
      "Cancel the pending order with skill `atomic-cancel-order`.",
      "Refund the payment with skill `atomic-refund-payment`.",
    ],
  }),
  sampleSkill("plan-return-items", {
    description: "Return delivered items of an order.",
    steps: ["Look up the order with skill `atomic-look-up-order`.", "Open the return with skill `atomic-open-return`."],
  }),
  sampleSkill("plan-check-stock", {
    description: "Tell whether a product is in stock.",
    steps: ["Find the product with skill `atomic-find-product`.", "Read its stock with skill `atomic-read-stock`."],
  }),
  sampleSkill("atomic-look-up-order", {
    description: "Look up an order by its number.",
    steps: ["Read the order: `shop/get_order` with order_id from the request."],
    produces: ["order_id"],
  }),
  sampleSkill("atomic-cancel-order", {
    description: "Cancel a pending order.",
    steps: [
      "Read its status: `shop/get_order` with order_id.",
      "Cancel it: `shop/cancel_order` with order_id and reason from the request.",
    ],
  }),
  sampleSkill("atomic-refund-payment", {
    description: "Refund the payment of an order.",
    steps: [
      "List the payments: `shop/list_payments` with order_id.",
      "Refund: `shop/refund_payment` with payment_id from step 1.",
    ],
  }),
  sampleSkill("atomic-open-return", {
    description: "Open a return for delivered items.",
    steps: ["Open the return: `shop/create_return` with order_id and item_ids from the order."],
  }),
  sampleSkill("atomic-find-product", {
    description: "Find a product by words.",
    steps: ["Search: `depot/search_products` with query from the request."],
  }),
  sampleSkill("atomic-read-stock", {
    description: "Read how many pieces of a product are in stock.",
    steps: ["Read: `depot/get_stock` with product_id from the search."],
  }),
  sampleSkill("tool-shop-cancel-order", {
    description: "Notes on shop/cancel_order: shipped orders are refused.",
    requires: ["shop/cancel_order"],
    body: "## Gotchas\n- Shipped orders are refused; open a return instead.\n",
  }),
];

export const keyOf = (label: string, name: string): ToolKey => toolKey(label, name);
