import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { diffTool, DRIFT_RULES, type DriftRules } from "../../src/catalog/drift.js";
import { readCatalogFile } from "../../src/catalog/files.js";
import { toTool } from "../../src/catalog/intake.js";
import { judge } from "../../src/catalog/level.js";
import { starterHome } from "../../src/host/starter.js";
import type { RuleId } from "../../src/model/drift.js";
import type { UpstreamLabel } from "../../src/model/ids.js";
import type { JsonObject } from "../../src/model/json.js";
import type { ListedTool } from "../../src/model/tool.js";
import { sharedData } from "../data.js";
import type { MutationKind } from "./mutations.js";

const label = "s" as UpstreamLabel;

/** A few tools of every shape that the kinds need. */
export const OWN_TOOLS: readonly ListedTool[] = [
  {
    name: "list_issues",
    description: "Lists issues.",
    inputSchema: {
      type: "object",
      properties: {
        owner: { type: "string", description: "Owner" },
        state: { type: "string", enum: ["open", "closed", "all"] },
        page: { type: "number", minimum: 1 },
        per_page: { type: "integer", minimum: 1, maximum: 100, default: 30 },
        labels: { type: "array", items: { type: "string" } },
      },
      required: ["owner"],
    },
  },
  {
    name: "set_mode",
    inputSchema: {
      type: "object",
      properties: { mode: { type: "string", enum: ["fast", "slow"] } },
      additionalProperties: false,
    },
  },
  {
    name: "find",
    inputSchema: { type: "object", properties: { query: { type: "string" }, limit: { type: "number" } }, required: ["query"] },
  },
];

/** The tables without one rule. */
export function without(rule: RuleId): DriftRules {
  return {
    schema: DRIFT_RULES.schema.filter((entry) => entry.rule !== rule),
    tool: DRIFT_RULES.tool.filter((entry) => entry.rule !== rule),
    catalog: DRIFT_RULES.catalog.filter((entry) => entry.rule !== rule),
  };
}

/** Real tools with parameters, each contract once: the newest version of each public history; without the data the starter catalog. */
export function realTools(every: number): ListedTool[] {
  const all = sharedData("evolution") === undefined ? starterTools() : publishedTools();
  return all.filter((tool, index) => index % every === 0 && hasParameters(tool));
}

function starterTools(): ListedTool[] {
  const folder = join(starterHome().catalog, "tools");
  return readdirSync(folder)
    .sort()
    .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as ListedTool);
}

function publishedTools(): ListedTool[] {
  const root = sharedData("evolution") ?? "";
  const found = new Map<string, ListedTool>();
  for (const series of readdirSync(root).sort()) {
    const newest = readdirSync(join(root, series, "versions"))
      .sort()
      .at(-1);
    if (newest === undefined) continue;
    for (const tool of readCatalogFile(JSON.parse(readFileSync(join(root, series, "versions", newest), "utf8"))).tools)
      found.set(tool.digests.contract, { ...tool.document });
  }
  return [...found.values()];
}

function hasParameters(tool: ListedTool): boolean {
  const schema = tool["inputSchema"] as JsonObject | undefined;
  return schema?.["type"] === "object" && typeof schema["properties"] === "object" && !JSON.stringify(schema).includes('"$ref"');
}

/** What went wrong for one tool; empty: all as expected. */
export function faults(kind: MutationKind, tool: ListedTool, rules: DriftRules = DRIFT_RULES): string[] {
  const mutated = kind.apply(tool);
  if (mutated === undefined) return [];
  const [before, after] = [toTool(label, mutated.before ?? tool), toTool(label, mutated.after)];
  const { changes, unclassified } = diffTool(before, after, rules);
  const wrong: string[] = unclassified > 0 ? ["unclassified"] : [];
  const said = new Set(changes.map((change) => change.rule));
  for (const rule of kind.rules) if (!said.has(rule)) wrong.push(`no ${rule} but ${[...said].join()}`);
  if (kind.rules.length === 0 && changes.some((change) => change.rule !== "D3")) wrong.push(`not cosmetic: ${[...said].join()}`);
  for (const [usage, level] of mutated.levels) {
    const judged = judge(before, after, usage, undefined, rules);
    if (judged.level !== level)
      wrong.push(`${judged.level} instead of ${level} for ${JSON.stringify(usage)}: ${JSON.stringify(judged.reasons)}`);
  }
  return wrong.map((fault) => `${tool.name}: ${fault}`);
}
