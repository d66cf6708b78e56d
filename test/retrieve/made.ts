/** Tools and skills in few words, for the tests of this room. */
import { toTool } from "../../src/catalog/intake.js";
import type { JsonObject } from "../../src/model/json.js";
import type { ToolKey } from "../../src/model/ids.js";
import { splitToolKey } from "../../src/model/ids.js";
import type { Skill } from "../../src/model/skill.js";
import type { ListedTool, Tool } from "../../src/model/tool.js";
import { parseSkill } from "../../src/skills/text.js";

export interface MadeTool {
  readonly title?: string;
  readonly description?: string;
  /** Parameter → its description; a name that ends in `!` is required. */
  readonly takes?: Readonly<Record<string, string>>;
  readonly yields?: readonly string[];
  readonly readOnly?: boolean;
  readonly destructive?: boolean;
}

export function tool(key: string, made: MadeTool = {}): Tool {
  const { label, name } = splitToolKey(key);
  const takes = Object.entries(made.takes ?? {});
  const listed: JsonObject = {
    name,
    description: made.description ?? "",
    inputSchema: {
      type: "object",
      properties: Object.fromEntries(
        takes.map(([parameter, description]) => [parameter.replace(/!$/, ""), { type: "string", description }]),
      ),
      required: takes.map(([parameter]) => parameter).flatMap((name) => (name.endsWith("!") ? [name.slice(0, -1)] : [])),
    },
    annotations: { readOnlyHint: made.readOnly ?? false, destructiveHint: made.destructive ?? false },
  };
  if (made.title !== undefined) listed["title"] = made.title;
  if (made.yields !== undefined) {
    listed["outputSchema"] = {
      type: "object",
      properties: Object.fromEntries(made.yields.map((field) => [field, { type: "string" }])),
    };
  }
  return toTool(label, listed as ListedTool);
}

export function key(text: string): ToolKey {
  return text as ToolKey;
}

/** A skill folder of the form STEWARD writes. */
export function skill(name: string, tier: string, description: string, steps: readonly string[] = []): Skill {
  const body = `## When to use\n${description}\n\n## Steps\n${steps.map((step, i) => `${i + 1}. ${step}`).join("\n")}\n`;
  const text = `---\nname: "${name}"\ndescription: "${description}"\nmetadata:\n  steward-tier: "${tier}"\n---\n${body}`;
  const { skill: parsed } = parseSkill({ folder: name, files: { "SKILL.md": text } }, "starter");
  if (parsed === undefined) throw new Error(`no skill: ${name}`);
  return parsed;
}

/** A small ecosystem: a shop, a mail server, a code host, a weather server. */
export const ECOSYSTEM: readonly Tool[] = [
  tool("shop/get_order", {
    description: "Look up one order by its number: items, payment, delivery state.",
    takes: { "order_id!": "Number of the order" },
    readOnly: true,
  }),
  tool("shop/search_orders", {
    description: "Search orders of a customer.",
    takes: { customer_email: "E-mail of the customer", status: "Delivery state" },
    yields: ["order_id", "status"],
    readOnly: true,
  }),
  tool("shop/cancel_order", {
    description: "Cancel an order that was not shipped yet and refund its payment.",
    takes: { "order_id!": "Number of the order", reason: "Why it is cancelled" },
    destructive: true,
  }),
  tool("shop/get_stock", {
    description: "How many pieces of a product are in the warehouse.",
    takes: { "sku!": "Product code" },
    readOnly: true,
  }),
  tool("mail/send_message", {
    description: "Send an e-mail message to one or more recipients.",
    takes: { "to!": "Recipients", "subject!": "Subject line", body: "Text" },
  }),
  tool("mail/search_messages", {
    description: "Search the mailbox for messages.",
    takes: { query: "Words to look for" },
    readOnly: true,
  }),
  tool("code/create_issue", {
    description: "Open a new issue in a repository.",
    takes: { "repository!": "Owner and name", "title!": "Title of the issue" },
  }),
  tool("code/list_pull_requests", {
    description: "List pull requests of a repository.",
    takes: { "repository!": "Owner and name" },
    readOnly: true,
  }),
  tool("weather/forecast", {
    description: "Weather forecast for a place: temperature, rain, wind.",
    takes: { "place!": "City or coordinates", days: "How many days" },
    readOnly: true,
  }),
];
