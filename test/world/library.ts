/** A library whose finder of books changes its name and its reach, for what is said of takeovers and holds. */
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import type { JsonObject } from "../../src/model/json.js";
import type { ToolKey, UpstreamLabel } from "../../src/model/ids.js";
import type { Event } from "../../src/model/event.js";
import type { LineageLink } from "../../src/model/lineage.js";
import type { Tool } from "../../src/model/tool.js";
import { advance } from "../../src/world/advance.js";
import { decide } from "../../src/world/decide.js";
import type { Decision } from "../../src/world/draft.js";
import { derive } from "../../src/world/rebuild.js";
import { emptyKnown, type World } from "../../src/world/world.js";
import { tool } from "../catalog/lineage-tools.js";

export const at = "2026-01-01T00:00:00.000Z";
export const library = "lib" as UpstreamLabel;
export const effects: Record<string, JsonObject> = {
  reads: { annotations: { readOnlyHint: true } },
  writes: { annotations: { readOnlyHint: false, destructiveHint: false } },
  destroys: { annotations: { readOnlyHint: false, destructiveHint: true } },
};
export const book = (name: string, effect: string, text = "Finds a book in the library by its title."): Tool =>
  tool(`lib/${name}`, text, { "title!": "string The title.", shelf: "string The shelf." }, effects[effect] ?? {});
export const others = [
  tool(
    "lib/borrow_book",
    "Lends a book to a member.",
    { "book!": "string Its number.", "member!": "string Who." },
    effects["writes"],
  ),
  tool("lib/list_members", "Lists who is a member.", {}, effects["reads"]),
];

export class Library {
  world: World = derive(emptyKnown, new Map());
  constructor() {
    const upstreams = new Map([[library, { disabled: false, prefix: "lib" }]]);
    this.post({ kind: "configured", at, starting: true, upstreams, policy: DEFAULT_POLICY });
  }
  post(event: Event): this {
    this.decide(event);
    return this;
  }
  decide(event: Event): Decision {
    const decision = decide(this.world, event);
    this.world = advance(this.world, decision.changes);
    return decision;
  }
  list(...tools: readonly Tool[]): this {
    return this.post({ kind: "listing", at, label: library, tools: [...others, ...tools], problems: [], cause: "poll" });
  }
  approve(of: Tool): this {
    const { contract, text } = of.digests;
    return this.post({ kind: "tool-approved", at, by: "ana", tool: of.key, contract, text });
  }
  links(): LineageLink[] {
    return [...this.world.lineage.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }
  judge(link: LineageLink | undefined, verdict: "confirm" | "reject"): Decision["answer"] {
    return this.decide({ kind: "lineage-judged", at, by: "ana", link: link?.id ?? "", verdict }).answer;
  }
  held(): string[] {
    return Object.keys(this.world.holds.held).filter((key) => this.world.catalog.tools.has(key as ToolKey));
  }
}
