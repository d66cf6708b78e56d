/**
 * Drift on real histories: `npm run eval -- drift --data <dir>` or `npx tsx scripts/eval/drift.ts --data <dir>`.
 *
 * Every history is played version by version. Printed: rules and verdicts per series, differences that no rule claims (must be 0),
 * agreement with an independent compatibility checker with every class of disagreement, and what becomes of skills scripted for the
 * first version. `--no-oracle` leaves the checker out (it is slow).
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { pathToFileURL } from "node:url";
import { causes, diffCatalogs } from "../../src/catalog/drift.js";
import { readCatalogFile } from "../../src/catalog/files.js";
import { repairInput } from "../../src/catalog/repair.js";
import type { Direction } from "../../src/catalog/rules.js";
import { diffSchemas } from "../../src/catalog/schema-diff.js";
import { catalogFrom, emptyCatalog, nextManifest } from "../../src/catalog/version.js";
import type { Catalog } from "../../src/model/catalog.js";
import type { Drift } from "../../src/model/drift.js";
import type { JsonValue } from "../../src/model/json.js";
import type { Tool } from "../../src/model/tool.js";
import { agreement, oracleAccepts } from "./drift-oracle.js";
import { playSkills, scriptSkills, type VersionFigures } from "./drift-skills.js";

export async function evalDrift(args: string[]): Promise<void> {
  const at = args.indexOf("--data");
  const data = at >= 0 ? args[at + 1] : (process.env["STEWARD_DATA"] ?? "../shared/data");
  const root = join(resolve(data ?? "."), "evolution");
  const withOracle = !args.includes("--no-oracle");
  const total = { unclassified: 0, unexplained: 0, forNothing: 0, invalid: 0, notRevived: 0 };
  const diffMs: number[] = [];
  const classes = new Map<string, number>();
  for (const series of readdirSync(root).sort()) {
    const catalogs = readHistory(join(root, series, "versions"));
    const steps = catalogs.slice(1).map((to, index) => timed(() => diffCatalogs(catalogs[index] ?? emptyCatalog, to)));
    total.unclassified += printSeries(series, catalogs, steps);
    if (withOracle) total.unexplained += printOracle(catalogs, classes, diffMs);
    const figures = printSkills(catalogs);
    total.forNothing += count(figures, (one) => one.restedForNothing.length);
    total.invalid += count(figures, (one) => one.activeThoughInvalid.length);
    total.notRevived += count(figures, (one) => one.notRevived.length);
  }
  print(`\nall series: ${total.unclassified} unclassified differences`);
  if (withOracle) {
    print(`against the oracle: ${total.unexplained} unexplained`);
    for (const [name, times] of [...classes].sort((a, b) => b[1] - a[1])) print(`  ${String(times).padStart(5)}  ${name}`);
    const sorted = diffMs.sort((a, b) => a - b);
    print(
      `one schema pair: p50 ${at50(sorted).toFixed(2)} ms, p95 ${(sorted[Math.floor(sorted.length * 0.95)] ?? 0).toFixed(2)} ms`,
    );
  }
  print(
    `scripted skills: ${total.forNothing} rested for nothing, ${total.invalid} active though the recorded call is refused, ` +
      `${total.notRevived} not revived by their own contract`,
  );
  await Promise.resolve();
}

function readHistory(folder: string): Catalog[] {
  const catalogs: Catalog[] = [];
  let previous = emptyCatalog;
  for (const file of readdirSync(folder).sort()) {
    const read = readCatalogFile(JSON.parse(readFileSync(join(folder, file), "utf8")));
    const tools = new Map(read.tools.map((tool) => [tool.key, tool]));
    const manifest = nextManifest(previous, tools, "2026-01-01T00:00:00.000Z", file);
    // A published version that changed nothing makes no catalog version.
    if (manifest === undefined) continue;
    previous = catalogFrom(manifest, tools);
    catalogs.push(previous);
  }
  return catalogs;
}

interface Timed {
  readonly drift: Drift;
  readonly ms: number;
}

function timed(make: () => Drift): Timed {
  const start = performance.now();
  const drift = make();
  return { drift, ms: performance.now() - start };
}

function printSeries(series: string, catalogs: readonly Catalog[], steps: readonly Timed[]): number {
  const rules = new Map<string, number>();
  const verdicts = new Map<string, number>();
  let [added, removed, changed, unclassified, ms, grouped] = [0, 0, 0, 0, 0, 0];
  for (const { drift, ms: took } of steps) {
    added += drift.added.length;
    removed += drift.removed.length;
    changed += drift.changed.length;
    unclassified += drift.unclassified;
    ms += took;
    grouped += causes(drift).length;
    for (const { rule, verdict } of drift.changes) {
      rules.set(rule, (rules.get(rule) ?? 0) + 1);
      verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
    }
  }
  const hits = count(steps, ({ drift }) => drift.changes.length);
  print(
    `\n${series}: ${catalogs.length} versions, +${added} −${removed} ~${changed} tools, ${hits} changes of ${grouped} causes, ${ms.toFixed(0)} ms`,
  );
  print(`  rules     ${words(rules, ruleOrder)}`);
  print(`  verdicts  ${words(verdicts, undefined)}`);
  print(`  unclassified ${unclassified}`);
  return unclassified;
}

function ruleOrder(rule: string): number {
  return rule.charCodeAt(0) * 100 + Number(rule.slice(1));
}

function words(counts: ReadonlyMap<string, number>, order: ((word: string) => number) | undefined): string {
  const rows = [...counts].sort((a, b) => (order === undefined ? b[1] - a[1] : order(a[0]) - order(b[0])));
  return rows.map(([word, times]) => `${word} ${times}`).join(" · ");
}

function printOracle(catalogs: readonly Catalog[], classes: Map<string, number>, diffMs: number[]): number {
  let [agreed, asked, unexplained, oracleMs] = [0, 0, 0, 0];
  for (const [direction, before, after] of movedSchemas(catalogs)) {
    const start = performance.now();
    const { changes } = diffSchemas(before, after, direction);
    const middle = performance.now();
    const accepted = oracleAccepts(before, after, direction);
    diffMs.push(middle - start);
    oracleMs += performance.now() - middle;
    const found = agreement(changes, direction, accepted);
    asked += 1;
    if (found === "agree") agreed += 1;
    else if (found === undefined) unexplained += 1;
    classes.set(found ?? "UNEXPLAINED", (classes.get(found ?? "UNEXPLAINED") ?? 0) + 1);
    if (found === undefined) print(`  UNEXPLAINED ${direction} ${JSON.stringify(changes)}`);
  }
  print(`  oracle    ${agreed} of ${asked} schema pairs agree, ${unexplained} unexplained, ${oracleMs.toFixed(0)} ms`);
  return unexplained;
}

function* movedSchemas(catalogs: readonly Catalog[]): Iterable<readonly [Direction, JsonValue, JsonValue]> {
  for (const [index, to] of catalogs.entries()) {
    const from = catalogs[index - 1];
    if (from === undefined) continue;
    for (const [key, after] of to.tools) {
      const before = from.tools.get(key);
      if (before === undefined || before.digests.contract === after.digests.contract) continue;
      yield ["input", inputOf(before), inputOf(after)];
      if (before.outputSchema !== undefined && after.outputSchema !== undefined)
        yield ["output", before.outputSchema, after.outputSchema];
    }
  }
}

function inputOf(tool: Tool): JsonValue {
  return repairInput(tool.document["inputSchema"]).contract;
}

function printSkills(catalogs: readonly Catalog[]): readonly VersionFigures[] {
  const first = catalogs[0];
  if (first === undefined) return [];
  const { skills, withoutCall } = scriptSkills(first);
  const figures = playSkills(skills, catalogs);
  print(
    `  skills    ${skills.length} for v1 (${withoutCall} without a recorded call); resting +rested −revived, needs review, safe by usage:`,
  );
  print(
    `            ${figures.map((one) => `v${one.version} ${one.resting} +${one.rested} −${one.revived}, ${one.dangerous}, ${one.safeByUsage}`).join(" | ")}`,
  );
  const last = figures.at(-1);
  if (last !== undefined && last.resting > 0)
    print(`            at the end they rest because of ${words(last.because, ruleOrder)}`);
  for (const one of figures)
    for (const [what, list] of [
      ["RESTED FOR NOTHING", one.restedForNothing],
      ["ACTIVE THOUGH INVALID", one.activeThoughInvalid],
      ["NOT REVIVED", one.notRevived],
    ] as const)
      for (const said of list) print(`  ${what} ${said}`);
  return figures;
}

function count<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + of(item), 0);
}

function at50(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  await evalDrift(process.argv.slice(2));
