/**
 * Generates the starter home (config/, catalog/, skills/) from scripts/starter/ and the sample shop.
 * Run `npx tsx scripts/starter.ts`; the same sources give the same bytes, and a test holds the repository to them.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { toTool } from "../src/catalog/intake.js";
import { createShop, SHOP_PARTS } from "../src/lab/worlds/shop/shop.js";
import { isJsonObject } from "../src/model/json.js";
import { type SkillName, type ToolKey, type UpstreamLabel } from "../src/model/ids.js";
import type { Library, Requirement } from "../src/model/skill.js";
import type { Tool } from "../src/model/tool.js";
import { renderBody } from "../src/skills/body.js";
import { emptyLibrary, libraryFrom, planRevision, type RevisionPlan, type Verified } from "../src/skills/library.js";
import { mentionedSkills } from "../src/skills/mentions.js";
import { parseStepCall } from "../src/skills/step-call.js";
import { renderSkill, TIER_PREFIX, type SkillDraft } from "../src/skills/text.js";
import { ATOMIC_SKILLS } from "./starter/atomic.js";
import { PLANNING_SKILLS } from "./starter/planning.js";
import type { AtomicSource, PlanSource, ToolSource } from "./starter/source.js";
import { TOOL_SKILLS } from "./starter/tools.js";

/** The shop's tools at catalog v1, as the catalog reads them. */
export function starterTools(): ReadonlyMap<ToolKey, Tool> {
  const tools = SHOP_PARTS.flatMap((part) =>
    createShop({ part })
      .tools()
      .map((listed) => toTool(part as string as UpstreamLabel, listed)),
  );
  return new Map(tools.map((tool) => [tool.key, tool]));
}

function toolDraft(source: ToolSource, tools: ReadonlyMap<ToolKey, Tool>): SkillDraft {
  const tool = tools.get(source.tool as ToolKey);
  if (tool === undefined) throw new Error(`the shop has no ${source.tool}`);
  const { properties } = tool.inputSchema;
  const params = isJsonObject(properties) ? Object.entries(properties) : [];
  const { required } = tool.inputSchema;
  const optional = (name: string): string => (Array.isArray(required) && required.includes(name) ? "" : " (optional)");
  const inputs = params.map(([name, schema]) => {
    const words = isJsonObject(schema) && Array.isArray(schema["enum"]) ? `: ${schema["enum"].join(", ")}` : "";
    return `${name}${optional(name)}${words}`;
  });
  return {
    name: `${TIER_PREFIX.tool}${tool.label}-${tool.name.replace(/_/g, "-")}`,
    tier: "tool",
    description: source.description,
    body: renderBody({ whenToUse: `${source.use} Tool: \`${tool.key}\`.`, inputs, gotchas: source.gotchas }),
    contract: {
      requires: [
        requirement(
          tool,
          params.map(([name]) => name),
          source.produces,
          true,
        ),
      ],
      uses: [],
      produces: [...source.produces],
      evidence: [],
    },
  };
}

/** For a tool skill the yields are leaf names: each is read where the output schema has it. */
function requirement(tool: Tool, params: readonly string[], reads: readonly string[], leaves = false): Requirement {
  return {
    tool: tool.key,
    contractDigest: tool.digests.contract,
    params: [...params],
    reads: leaves ? reads.map((name) => pathOf(tool, name)) : [...reads],
  };
}

function pathOf(tool: Tool, leaf: string): string {
  const properties = tool.outputSchema?.["properties"];
  const fields = isJsonObject(properties) ? properties : {};
  if (Object.hasOwn(fields, leaf)) return leaf;
  for (const [name, schema] of Object.entries(fields)) {
    const items = isJsonObject(schema) ? schema["items"] : undefined;
    const inner = isJsonObject(items) ? items["properties"] : undefined;
    if (isJsonObject(inner) && Object.hasOwn(inner, leaf)) return `${name}[].${leaf}`;
  }
  throw new Error(`${tool.key} does not yield ${leaf}`);
}

function atomicDraft(source: AtomicSource, tools: ReadonlyMap<ToolKey, Tool>): SkillDraft {
  const params = new Map<ToolKey, string[]>();
  for (const step of source.sections.steps ?? []) {
    const call = parseStepCall(step);
    if (call === undefined) throw new Error(`${source.name}: not a call sentence: ${step}`);
    params.set(call.tool, [...(params.get(call.tool) ?? []), ...call.arguments.map((argument) => argument.name)]);
  }
  const requires = [...params].map(([key, names]) => {
    const tool = tools.get(key);
    if (tool === undefined) throw new Error(`${source.name}: the shop has no ${key}`);
    return requirement(tool, [...new Set(names)], source.reads[key] ?? []);
  });
  const contract = { requires, uses: [], produces: [...source.produces], evidence: [] };
  return { name: source.name, tier: "atomic", description: source.description, body: renderBody(source.sections), contract };
}

function planDraft(source: PlanSource): SkillDraft {
  const body = renderBody(source.sections);
  const contract = { requires: [], uses: mentionedSkills(body), produces: [...source.produces], evidence: [] };
  return { name: source.name, tier: "planning", description: source.description, body, contract };
}

/** The starter library as one revision over an empty library. Its time is not stored in the starter home. */
export function starterRevision(): RevisionPlan {
  const tools = starterTools();
  const drafts = [
    ...TOOL_SKILLS.map((source) => toolDraft(source, tools)),
    ...ATOMIC_SKILLS.map((source) => atomicDraft(source, tools)),
    ...PLANNING_SKILLS.map(planDraft),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
  return planRevision({
    library: emptyLibrary,
    edits: drafts.map((draft) => ({
      record: { kind: "add", skill: draft.name, cause: "starter library", signature: `starter:${draft.name}`, by: "starter" },
      files: renderSkill(draft),
      provenance: "starter",
    })),
    at: "2026-01-01T00:00:00.000Z",
    cause: "starter library",
    catalogVersion: 0,
    verified: new Map(drafts.map((draft) => [draft.name as SkillName, verifiedBy(draft, tools)])),
  });
}

function verifiedBy(draft: SkillDraft, tools: ReadonlyMap<ToolKey, Tool>): Verified {
  const entries = draft.contract.requires.flatMap(({ tool }) => {
    const digests = tools.get(tool as ToolKey)?.digests;
    return digests === undefined ? [] : [[tool, { ...digests }] as const];
  });
  return Object.fromEntries(entries);
}

export function starterLibrary(): Library {
  const plan = starterRevision();
  return libraryFrom(plan.record, plan.written);
}

function upstream(part: string): object {
  const state = "${STEWARD_HOME}/state";
  const args = ["lab", "shop", "--part", part, "--switch", `${state}/demo.json`, "--state", `${state}/lab/${part}.json`];
  return { command: "${STEWARD_NODE}", args: ["${STEWARD_MAIN}", ...args] };
}

const CATALOG_README = `# catalog/

Catalog versions (\`versions/\`), tool definitions by digest (\`tools/\`) and lineage (\`lineage.json\`) are kept here.
The starter home has the definitions its skills were verified against, so that the first drift can be shown whole; the first listing of
the configured upstreams makes version 1.
`;

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Every file of the starter home: path relative to the repository → text. */
export function starterFiles(): ReadonlyMap<string, string> {
  const plan = starterRevision();
  const files = new Map<string, string>([
    [
      "config/steward.json",
      json({ mcpServers: Object.fromEntries(SHOP_PARTS.map((part) => [part, upstream(part)])), steward: {} }),
    ],
    ["catalog/README.md", CATALOG_README],
    ["skills/steward.lock.json", json(plan.record.lock)],
  ]);
  for (const tool of starterTools().values())
    files.set(`catalog/tools/${tool.digests.document}.json`, JSON.stringify(tool.document));
  for (const [name, texts] of plan.written)
    for (const [path, text] of Object.entries(texts)) files.set(`skills/${name}/${path}`, text);
  return files;
}

function write(root: string): void {
  const skills = join(root, "skills");
  const files = starterFiles();
  rmSync(join(root, "catalog/tools"), { recursive: true, force: true });
  for (const entry of readdirSync(skills, { withFileTypes: true })) {
    if (entry.isDirectory() && !files.has(`skills/${entry.name}/SKILL.md`)) rmSync(join(skills, entry.name), { recursive: true });
  }
  for (const [path, text] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  process.stdout.write(`${files.size} files of the starter home written\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) write(resolve(import.meta.dirname, ".."));
