/**
 * Drift on real histories: `npm run eval -- drift --data <dir>`.
 *
 * Every history is played version by version. Printed per series: rules, verdicts of the schemas, levels for a skill that uses all of
 * a tool, and differences that no rule claims (must be 0); then agreement with an independent compatibility checker, with every
 * disagreement listed under the argument for it. The exit code is 1 where a difference has no rule or a disagreement no argument.
 * `--no-oracle` leaves the checker out (it is slow).
 */
import { performance } from "node:perf_hooks";
import { causes, diffCatalogs } from "../../src/catalog/drift.js";
import { levelOf } from "../../src/catalog/level.js";
import { normaliseSchema } from "../../src/catalog/normalise.js";
import { repairInput } from "../../src/catalog/repair.js";
import type { Direction } from "../../src/catalog/rules.js";
import { diffSchemas, type SchemaChange } from "../../src/catalog/schema-diff.js";
import { emptyCatalog } from "../../src/catalog/version.js";
import type { Catalog } from "../../src/model/catalog.js";
import type { Drift, ToolChange, Usage } from "../../src/model/drift.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/model/json.js";
import type { Tool } from "../../src/model/tool.js";
import { agreement, CLASSES, oracleAccepts } from "./drift-oracle.js";
import { count, dataFolder, print, readHistories, words, type CatalogHistory } from "./history.js";

export function evalDrift(args: string[]): Promise<void> {
  const withOracle = !args.includes("--no-oracle");
  let unclassified = 0;
  const asked: Asked[] = [];
  for (const history of readHistories(dataFolder(args))) {
    unclassified += printSeries(history);
    if (withOracle) asked.push(...printOracle(history));
  }
  print(`\nall series: ${unclassified} differences without a rule`);
  const unexplained = withOracle ? printDisagreements(asked) : 0;
  if (unclassified + unexplained > 0) process.exitCode = 1;
  return Promise.resolve();
}

/* ── rules, verdicts, levels ───────────────────────────────────────────────────────────────────────────────────────────── */

function printSeries({ series, catalogs }: CatalogHistory): number {
  const [rules, verdicts, levels] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  const start = performance.now();
  const steps = catalogs
    .slice(1)
    .map((to, index) => ({ from: catalogs[index] ?? emptyCatalog, drift: diffCatalogs(catalogs[index] ?? emptyCatalog, to) }));
  const ms = performance.now() - start;
  for (const { from, drift } of steps) {
    for (const change of drift.changes) {
      note(rules, change.rule);
      note(verdicts, change.verdict);
      note(levels, levelOf(change, usingAll(from, change)));
    }
  }
  const sum = (of: (drift: Drift) => number): number => count(steps, ({ drift }) => of(drift));
  print(
    `\n${series}: ${catalogs.length} versions, +${sum((one) => one.added.length)} −${sum((one) => one.removed.length)} ~${sum((one) => one.changed.length)} tools, ` +
      `${sum((one) => one.changes.length)} changes of ${sum((one) => causes(one).length)} causes, ${ms.toFixed(0)} ms`,
  );
  print(`  rules     ${words(rules, "rules")}`);
  print(`  verdicts  ${words(verdicts, "most")}`);
  print(`  levels    ${words(levels, "most")}   (for a skill that sets and reads everything the tool had)`);
  const unclassified = sum((one) => one.unclassified);
  print(`  without a rule ${unclassified}`);
  return unclassified;
}

function note(counts: Map<string, number>, word: string): void {
  counts.set(word, (counts.get(word) ?? 0) + 1);
}

/** The skill that a change can hurt most: it sets every parameter and reads every field that the tool had. */
function usingAll(before: Catalog, change: ToolChange): Usage {
  const tool = before.tools.get(change.tool);
  return { params: membersOf(tool?.inputSchema), reads: membersOf(tool?.outputSchema), recorded: [] };
}

function membersOf(schema: JsonObject | undefined): string[] {
  const normal = schema === undefined ? undefined : normaliseSchema(schema);
  const properties = isJsonObject(normal) ? normal["properties"] : undefined;
  return isJsonObject(properties) ? Object.keys(properties) : [];
}

/* ── the second opinion ────────────────────────────────────────────────────────────────────────────────────────────────── */

interface Asked {
  readonly where: string;
  readonly tool: string;
  readonly direction: Direction;
  readonly accepted: boolean | undefined;
  readonly changes: readonly SchemaChange[];
  /** `agree`, the class that explains a disagreement, or undefined. */
  readonly found: string | undefined;
  readonly ms: number;
}

function printOracle(history: CatalogHistory): Asked[] {
  const start = performance.now();
  const asked = [...movedSchemas(history)].map(({ where, tool, direction, before, after }): Asked => {
    const began = performance.now();
    const { changes } = diffSchemas(before, after, direction);
    const ms = performance.now() - began;
    const accepted = oracleAccepts(before, after, direction);
    return { where, tool, direction, accepted, changes, found: agreement({ before, after, direction, accepted }, changes), ms };
  });
  const agreed = asked.filter((one) => one.found === "agree").length;
  print(`  oracle    ${agreed} of ${asked.length} schema pairs agree, ${(performance.now() - start).toFixed(0)} ms`);
  return asked;
}

interface MovedSchema {
  readonly where: string;
  readonly tool: string;
  readonly direction: Direction;
  readonly before: JsonValue;
  readonly after: JsonValue;
}

function* movedSchemas({ series, catalogs, names }: CatalogHistory): Iterable<MovedSchema> {
  for (const [index, to] of catalogs.entries()) {
    const from = catalogs[index - 1];
    if (from === undefined) continue;
    const where = `${series} ${names[index] ?? ""}`;
    for (const [tool, now] of to.tools) {
      const was = from.tools.get(tool);
      if (was === undefined || was.digests.contract === now.digests.contract) continue;
      yield { where, tool, direction: "input", before: inputOf(was), after: inputOf(now) };
      if (was.outputSchema !== undefined && now.outputSchema !== undefined)
        yield { where, tool, direction: "output", before: was.outputSchema, after: now.outputSchema };
    }
  }
}

function inputOf(tool: Tool): JsonValue {
  return repairInput(tool.document["inputSchema"]).contract;
}

function printDisagreements(asked: readonly Asked[]): number {
  const agreed = asked.filter((one) => one.found === "agree").length;
  const unexplained = asked.filter((one) => one.found === undefined);
  print(`against the oracle: ${agreed} of ${asked.length} agree, ${unexplained.length} unexplained`);
  const named = [...CLASSES, { name: UNREADABLE, argument: "It is no opinion, and counts as none." }];
  for (const { name, argument } of named) {
    const found = asked.filter((one) => one.found === name);
    if (found.length === 0) continue;
    print(`\n  ${found.length}  ${name}\n      ${argument}`);
    for (const one of found) print(`      ${lineOf(one)}`);
  }
  for (const one of unexplained) print(`\n  UNEXPLAINED ${lineOf(one)}\n      ${JSON.stringify(one.changes)}`);
  const times = asked.map((one) => one.ms).sort((a, b) => a - b);
  const at = (share: number): string => (times[Math.floor(times.length * share)] ?? 0).toFixed(2);
  print(`\none schema pair: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`);
  return unexplained.length;
}

/** What `agreement` says where the oracle has none. */
const UNREADABLE = "the oracle cannot read it";

function lineOf({ where, tool, direction, accepted, changes }: Asked): string {
  const said = accepted === undefined ? "nothing" : accepted ? "compatible" : "breaking";
  const ours = changes.map((change) => `${change.rule} ${change.verdict}${change.field === undefined ? "" : ` ${change.field}`}`);
  return `${where} ${tool} ${direction}: oracle ${said}; ours ${ours.join(", ") || "equal"}`;
}
