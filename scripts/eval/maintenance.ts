/**
 * Maintenance in three modes on real histories, in one run: `npm run eval -- maintenance --data <dir> [--series a,b] [--no-llm]`.
 *
 * One workflow a tool of the first version, with its recorded call. The denominator at a later version: workflows whose tool is kept or
 * has a successor there by `mapping.jsonl` (series without one: kept tools only; rows that say they are heuristic do not count). A
 * workflow is *correct* where its skill is active, names the tool that does it now, and its recorded call, mapped, is accepted by ajv.
 * Printed per version: correct, false-active and false-dormant in each mode, edits, time, and what the `llm` manager spends before a
 * scripted model whose tokens are counted. The exit code is 1 where incremental is less correct than another mode at any version, or
 * spends more over a series than 1.2 × rebuild × the share of skills that were due.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { proposeByRules } from "../../src/maintain/propose.js";
import { presentCall } from "../../src/maintain/present-call.js";
import { createLlm } from "../../src/manager/llm.js";
import { memoryOfOneProcess } from "../../src/manager/llm-memory.js";
import { createRules } from "../../src/manager/rules.js";
import type { Catalog } from "../../src/model/catalog.js";
import type { ToolKey } from "../../src/model/ids.js";
import { isJsonObject, type JsonObject } from "../../src/model/json.js";
import type { Manager } from "../../src/model/ports.js";
import type { WrittenSkill } from "../../src/model/skill.js";
import { renderBody } from "../../src/skills/body.js";
import { renderStepCall } from "../../src/skills/step-call.js";
import { renderSkill } from "../../src/skills/text.js";
import { dueSkills, maintenanceInput } from "../../src/world/due.js";
import { play } from "../../src/world/foresee.js";
import type { World } from "../../src/world/world.js";
import { answers, startModelServer } from "../../test/fixtures/model-server.js";
import { ajvAccepts, scriptSkills } from "./drift-skills.js";
import { dataFolder, print, printTable, readHistories, type CatalogHistory } from "./history.js";
import { readRows } from "./data.js";
import { moveWorld, nameSkills, startWorld, type NamedSkill } from "./skills-world.js";

const AT = "2026-01-01T00:00:00.000Z";
const MODES = ["incremental", "rebuild", "frozen"] as const;
type Mode = (typeof MODES)[number];

interface Figures {
  correct: number;
  falseActive: number;
  falseDormant: number;
  edits: number;
  tokens: number;
  ms: number;
}

interface MappingRow {
  readonly from: string;
  readonly to: string;
  readonly removedIn?: string;
  readonly atVersion?: string;
  readonly source?: string;
  readonly fixedArguments?: JsonObject;
}

export async function evalMaintenance(args: string[]): Promise<void> {
  const data = dataFolder(args);
  const at = args.indexOf("--series");
  const only = at < 0 ? undefined : (args[at + 1] ?? "").split(",");
  const server = args.includes("--no-llm") ? undefined : await startModelServer();
  server?.will(answers({ verdict: "skip", why: "a scripted model that never edits" }));
  let broken = 0;
  for (const history of readHistories(data)) {
    if (only === undefined || only.includes(history.series)) broken += await playSeries(history, data, server?.url);
  }
  await server?.close();
  print(broken === 0 ? "\nevery bound holds" : `\n${broken} bounds are broken`);
  if (broken > 0) process.exitCode = 1;
}

async function playSeries(history: CatalogHistory, data: string, modelUrl: string | undefined): Promise<number> {
  const [first, ...later] = history.catalogs;
  if (first === undefined) return 0;
  const labels = [...new Set(history.catalogs.flatMap((one) => [...one.tools.values()].map((tool) => tool.label)))];
  const skills = nameSkills(scriptSkills(first).skills)
    .filter((skill) => skill.usage.recorded.length > 0 && skill.usage.params.every((param) => /^[A-Za-z_][\w-]*$/.test(param)))
    .map((skill) => ({ ...skill, name: skill.name.replace(/^tool-/, "atomic-") as NamedSkill["name"] }));
  const mappingFile = join(data, "evolution", history.series, "mapping.jsonl");
  const mapping = existsSync(mappingFile)
    ? readRows<MappingRow>(mappingFile).filter((row) => !/heuristic/.test(row.source ?? ""))
    : [];
  const worlds = new Map(MODES.map((mode) => [mode, startWorld(labels, first, skills, writeSkill)]));
  const rows: (string | number)[][] = [];
  const spent = { incremental: 0, allowed: 0 };
  let broken = 0;
  for (const [index, catalog] of later.entries()) {
    const name = history.names[index + 1] ?? "";
    const truth = skills.map((skill) => ({
      skill,
      target: targetOf(skill, catalog, mapping, history.names.slice(0, index + 2)),
    }));
    const figures = new Map<Mode, Figures>();
    let due = 0;
    for (const mode of MODES) {
      const moved = moveWorld(worlds.get(mode) ?? startWorld(labels, first, skills, writeSkill), labels, catalog);
      if (mode === "incremental") due = dueSkills(moved, "incremental").length;
      const ran = await run(moved, mode, modelUrl);
      worlds.set(mode, ran.world);
      figures.set(mode, { ...judge(ran.world, truth), edits: ran.edits, tokens: ran.tokens, ms: ran.ms });
    }
    const [incremental, rebuild, frozen] = MODES.map((mode) => figures.get(mode));
    if (incremental === undefined || rebuild === undefined || frozen === undefined) continue;
    const isBehind = incremental.correct < rebuild.correct || incremental.correct < frozen.correct;
    if (isBehind) broken += 1;
    spent.incremental += incremental.tokens;
    spent.allowed += (1.2 * rebuild.tokens * due) / skills.length;
    const three = (of: (figures: Figures) => number): string => [incremental, rebuild, frozen].map(of).join(" / ");
    const known = truth.filter(({ target }) => target !== undefined).length;
    rows.push([
      name,
      known,
      three((one) => one.correct),
      three((one) => one.falseActive),
      three((one) => one.falseDormant),
      due,
      three((one) => one.edits),
      `${incremental.tokens} / ${rebuild.tokens}`,
      three((one) => Math.round(one.ms)),
      isBehind ? "behind" : "",
    ]);
  }
  print(
    `\n${history.series}: ${skills.length} workflows of ${history.names[0] ?? ""} (each cell: incremental / rebuild / frozen)`,
  );
  printTable(["version", "of", "correct", "false-active", "false-dormant", "due", "edits", "tokens inc / reb", "ms", ""], rows);
  if (modelUrl !== undefined) {
    const isOver = spent.incremental > spent.allowed;
    if (isOver) broken += 1;
    print(
      `  tokens ${spent.incremental}; 1.2 × rebuild × affected share = ${Math.round(spent.allowed)}${isOver ? "  OVER" : ""}`,
    );
  }
  return broken;
}

/** One run of a mode by the `llm` manager over rules (its tokens counted), or by rules alone. */
async function run(
  world: World,
  mode: Mode,
  modelUrl: string | undefined,
): Promise<{ world: World; edits: number; tokens: number; ms: number }> {
  if (mode === "frozen") return { world, edits: 0, tokens: 0, ms: 0 };
  const started = performance.now();
  const manager = managerOn(modelUrl);
  const { edits, tokens } = await manager.proposeEdits(maintenanceInput(world, mode, AT));
  const basis = { catalog: world.catalog.version, library: world.library.revision };
  const id = `mt_${mode}`;
  const moved = play(world, [
    { kind: "maintenance-proposed", at: AT, id, mode, dryRun: false, basis, edits, accept: [], tokens },
  ]).world;
  const applied = edits.filter((edit) => edit.files !== undefined && edit.certain).length;
  return { world: moved, edits: applied, tokens: tokens.used, ms: performance.now() - started };
}

/** A fresh one each time: no answer is remembered from another run, so every question is paid for. */
function managerOn(modelUrl: string | undefined): Manager {
  const rules = createRules(proposeByRules);
  if (modelUrl === undefined) return rules;
  return createLlm({
    baseUrl: modelUrl,
    model: "scripted",
    apiKey: undefined,
    rules,
    log: () => undefined,
    memory: memoryOfOneProcess(),
    limits: { runTokens: 1_000_000_000, runMs: 3_600_000, editMs: 60_000 },
  });
}

interface Truth {
  readonly skill: NamedSkill;
  /** Who does it at this version and with which further arguments; undefined where nobody is known to. */
  readonly target: { readonly key: ToolKey; readonly fixed: JsonObject } | undefined;
}

function targetOf(
  skill: NamedSkill,
  catalog: Catalog,
  mapping: readonly MappingRow[],
  until: readonly string[],
): Truth["target"] {
  let key: string = skill.tool.key;
  let fixed: JsonObject = {};
  for (let hops = 0; hops < 8 && !catalog.tools.has(key as ToolKey); hops += 1) {
    const row = mapping.find(
      (one) => one.from.replace("::", "/") === key && (one.atVersion ?? one.removedIn ?? "") <= (until.at(-1) ?? ""),
    );
    if (row === undefined) return undefined;
    key = row.to.replace("::", "/");
    fixed = { ...fixed, ...row.fixedArguments };
  }
  return catalog.tools.has(key as ToolKey) ? { key: key as ToolKey, fixed } : undefined;
}

function judge(world: World, truths: readonly Truth[]): Pick<Figures, "correct" | "falseActive" | "falseDormant"> {
  const figures = { correct: 0, falseActive: 0, falseDormant: 0 };
  for (const { skill, target } of truths) {
    if (target === undefined) continue;
    const isActive = world.standings.get(skill.name)?.standing === "active";
    const uses = world.library.skills.get(skill.name)?.contract.requires[0]?.tool;
    const isRight = uses === target.key;
    const fits = callFits(world, skill, target);
    if (isActive && isRight && fits) figures.correct += 1;
    else if (isActive) figures.falseActive += 1;
    else if (fits) figures.falseDormant += 1;
  }
  return figures;
}

function callFits(world: World, skill: NamedSkill, target: NonNullable<Truth["target"]>): boolean {
  const tool = world.catalog.tools.get(target.key);
  const [args] = skill.usage.recorded;
  if (tool === undefined || !isJsonObject(args)) return false;
  const around = { tools: world.catalog.tools, departed: world.catalog.departed, links: [...world.lineage.values()] };
  const mapped = presentCall({ tool: skill.tool.key, args, flows: [] }, around, "any");
  const given = mapped?.tool.key === target.key ? mapped.args : args;
  return ajvAccepts(tool.inputSchema, { ...given, ...target.fixed }) !== false;
}

function writeSkill({ name, tool, usage }: NamedSkill): WrittenSkill {
  const step = renderStepCall({
    goal: "Do it",
    tool: tool.key,
    arguments: usage.params.map((param) => ({ name: param, source: { kind: "request", field: undefined }, optional: false })),
    tail: ".",
  });
  const files = renderSkill({
    name,
    tier: "atomic",
    description: `Use ${name.replace(/^atomic-/, "").replaceAll("-", " ")}.`,
    body: renderBody({ whenToUse: "It is asked for.", steps: [step] }),
    contract: {
      requires: [{ tool: tool.key, contractDigest: tool.digests.contract, params: [...usage.params], reads: [...usage.reads] }],
      uses: [],
      produces: [],
      evidence: [],
    },
  });
  return { folder: name, files };
}
