/**
 * What 200 real runs of τ-bench teach: `npm run eval -- tau --data <dir>`.
 *
 * Rewarded runs alone teach, and of those only runs about customers that no asked task is about. Each atomic skill is replayed on the
 * gold data of τ²-bench: its slots are filled from the gold calls and the database, and what its steps say must give the gold arguments.
 * Then the other half of the tasks is asked before and after. Exit code 1 where a skill that has gold data replays on
 * none of it, or cites a run that was not rewarded. These logs have no task texts, so nothing of them can say when a plan fits.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readLog } from "../../src/evidence/read.js";
import { validates } from "../../src/catalog/usage.js";
import type { ToolKey } from "../../src/model/ids.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/model/json.js";
import type { RecordedEpisode } from "../../src/model/recorded.js";
import type { Skill } from "../../src/model/skill.js";
import { parseStepCall } from "../../src/skills/step-call.js";
import { toolsShown } from "../../src/world/trial.js";
import type { World } from "../../src/world/world.js";
import { list, operator, withHouse } from "./house.js";
import { readRows } from "./data.js";

const LABEL = "airline";

interface Task {
  readonly id: string;
  readonly instruction: string;
  readonly gold_actions: readonly { name: string; arguments: JsonObject }[];
}
interface Database {
  readonly users: Record<string, JsonObject>;
  readonly reservations: Record<string, JsonObject>;
}

export async function evalTau(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { data: { type: "string", default: "../shared/data" } } });
  const folder = join(values.data, "stateful/tau2-airline");
  const tools = readJson<JsonObject[]>(join(folder, "tools.json")).map(
    ({ server: _server, mutatesState: _mutates, ...listed }) => listed,
  );
  const tasks = readRows<Task>(join(folder, "tasks.jsonl")).filter((task) => task.gold_actions.length > 0);
  const database = readJson<Database>(join(folder, "db.json"));
  const asked = tasks.filter((task) => (createHash("sha256").update(task.id).digest()[0] ?? 0) % 2 === 1);
  const customers = new Set(asked.flatMap((task) => customersIn(task.instruction, database)));
  const runs = readRows<JsonObject>(join(values.data, "trajectories/tau-bench-gpt4o-airline.jsonl.gz"));
  const episodes = readLog(runs.map((run) => JSON.stringify(run)).join("\n"), { where: "τ-bench" }).episodes;
  const teaching = episodes.filter((episode) => !isAbout(episode, customers));
  await withHouse(LABEL, {}, async (house) => {
    await list(house, LABEL, tools, 1);
    const imported = await house.operations.importEpisodes({ episodes: teaching, server: LABEL, map: { think: "" } }, operator);
    const before = coverage(house.steward.world(), asked);
    const report = await house.operations.maintain({ mode: "incremental", dryRun: false }, operator);
    const world = house.steward.world();
    const skills = [...world.library.skills.values()].filter((skill) => skill.tier === "atomic");
    const after = coverage(world, asked);
    const lines = [
      `${runs.length} runs; ${teaching.length} about other customers than the asked tasks'; ${imported.verified} with a verdict, ${teaching.filter((one) => one.outcome?.outcome === "success").length} rewarded`,
      `${report.applied.length} edits: ${skills.length} atomic and ${[...world.library.skills.values()].filter((skill) => skill.tier === "planning").length} planning skills, the rest tool skills; ${report.refused.length} refused`,
      "",
      row(["atomic skill", "cites", "rewarded", "gold tasks", "replays"]),
    ];
    let isWhole = true;
    for (const skill of skills) {
      const cited = await Promise.all(skill.contract.evidence.map(({ trajectory }) => house.store.readEvidence(trajectory)));
      const rewarded = cited.filter((one) => one?.outcome.outcome === "success" && one.outcome.trust === "state").length;
      const { tried, passed } = replay(skill, tasks, database, world);
      if ((tried > 0 && passed === 0) || rewarded < cited.length) isWhole = false;
      lines.push(
        row([skill.name, String(cited.length), String(rewarded), String(tried), tried === 0 ? "no gold data" : String(passed)]),
      );
    }
    lines.push(
      "",
      row(["tools of the other half", "tasks", "covered", "whole"]),
      ...[before, after].map((one, n) =>
        row([n === 0 ? "before" : "after", String(asked.length), percent(one.covered), percent(one.whole)]),
      ),
    );
    process.stdout.write(`${lines.join("\n")}\n`);
    if (!isWhole) process.exitCode = 1;
  });
}

function readJson<Value>(path: string): Value {
  return JSON.parse(readFileSync(path, "utf8")) as Value;
}

function customersIn(text: string, database: Database): string[] {
  return Object.keys(database.users).filter((id) => text.includes(id));
}

function isAbout(episode: RecordedEpisode, customers: ReadonlySet<string>): boolean {
  const text = JSON.stringify(episode.calls);
  return [...customers].some((id) => text.includes(id));
}

/** Share of the needed tools that the first view shows, mean over tasks; and of tasks that are shown all. */
function coverage(world: World, tasks: readonly Task[]): { covered: number; whole: number } {
  let covered = 0;
  let whole = 0;
  for (const task of tasks) {
    const needs = new Set(task.gold_actions.map((action) => `${LABEL}/${action.name}`));
    const shown = toolsShown(world, task.instruction);
    const had = [...needs].filter((key) => shown.has(key as ToolKey)).length;
    covered += had / needs.size;
    whole += had === needs.size ? 1 : 0;
  }
  return { covered: covered / tasks.length, whole: whole / tasks.length };
}

/** Gold tasks whose calls include the skill's last tool, and those on which its steps give exactly the gold arguments. */
function replay(skill: Skill, tasks: readonly Task[], database: Database, world: World): { tried: number; passed: number } {
  const calls = skill.steps.map((step) => parseStepCall(step.text));
  const last = calls.at(-1)?.tool;
  let tried = 0;
  let passed = 0;
  for (const task of tasks) {
    for (const gold of task.gold_actions) {
      if (`${LABEL}/${gold.name}` !== last) continue;
      tried += 1;
      const outputs: JsonValue[] = [];
      const isReplayed = calls.every((call, n) => {
        if (call === undefined) return false;
        const given: JsonObject = {};
        const isLast = n === calls.length - 1;
        for (const { name, source, optional } of call.arguments) {
          const wanted = isLast ? gold.arguments[name] : wantedBefore(name, task, gold.arguments, database);
          if (wanted === undefined) {
            if (optional) continue;
            return false;
          }
          if (source.kind === "literal" && JSON.stringify(source.value) !== JSON.stringify(wanted)) return false;
          const output = source.kind === "step" ? outputs[source.step - 1] : undefined;
          if (source.kind === "step" && !leaves(wanted).every((leaf) => leaves(output ?? null).includes(leaf))) return false;
          given[name] = wanted;
        }
        outputs.push(answerOf(call.tool.slice(LABEL.length + 1), given, database));
        return validates(world.catalog.tools.get(call.tool)?.inputSchema ?? {}, given) !== false;
      });
      if (isReplayed) passed += 1;
    }
  }
  return { tried, passed };
}

/** What a look before the last call is about: the thing the gold call names, and the customer it belongs to. */
function wantedBefore(name: string, task: Task, gold: JsonObject, database: Database): JsonValue | undefined {
  if (gold[name] !== undefined) return gold[name];
  const reservation = typeof gold["reservation_id"] === "string" ? database.reservations[gold["reservation_id"]] : undefined;
  const customer = reservation?.["user_id"] ?? customersIn(task.instruction, database)[0];
  if (name === "user_id") return customer;
  if (name !== "reservation_id" || typeof customer !== "string") return undefined;
  const own = database.users[customer]?.["reservations"];
  return Array.isArray(own) ? own[0] : undefined;
}

/** The looks a skill makes, answered from the database as the benchmark's own tools do. */
function answerOf(name: string, args: JsonObject, database: Database): JsonValue {
  if (name === "get_user_details") return database.users[String(args["user_id"])] ?? null;
  if (name === "get_reservation_details") return database.reservations[String(args["reservation_id"])] ?? null;
  return null;
}

function leaves(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap(leaves);
  if (isJsonObject(value)) return Object.values(value).flatMap(leaves);
  return [JSON.stringify(value)];
}

const percent = (value: number): string => `${(value * 100).toFixed(1)} %`;

function row(cells: readonly string[]): string {
  return cells.map((cell, n) => (n === 0 ? cell.padEnd(38) : cell.padStart(13))).join("");
}
