/**
 * Lineage on real histories: `npm run eval -- lineage --data <dir>` or `npx tsx scripts/eval/lineage.ts --data <dir>`.
 *
 * Plays each history version by version as the daemon would, and holds the links against the labelled takeovers. A row counts
 * as found if the chain of links from its old tool reaches its new tool at the row's version. Rows marked heuristic are hints
 * and stay out of recall. Links of tools without a row are listed, not scored.
 */
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readCatalogFile } from "../../src/catalog/files.js";
import { lineageReport, successors, supersedeHints } from "../../src/catalog/lineage.js";
import type { Unresolved } from "../../src/catalog/lineage.js";
import { toolKey } from "../../src/model/ids.js";
import type { ToolKey } from "../../src/model/ids.js";
import type { JsonObject } from "../../src/model/json.js";
import type { LineageLink, SupersedeHint } from "../../src/model/lineage.js";
import type { Tool } from "../../src/model/tool.js";
import { readJson, readText } from "./data.js";

/** One published version; its place in `History.versions` + 1 is its catalog version. */
export interface PublishedVersion {
  readonly id: string;
  readonly tools: ReadonlyMap<ToolKey, Tool>;
}
export interface History {
  readonly name: string;
  readonly versions: readonly PublishedVersion[];
  readonly links: readonly LineageLink[];
  readonly unresolved: readonly Unresolved[];
  readonly slowestMs: number;
}

/** All series of a data folder that have versions. */
export function seriesNames(data: string): string[] {
  return readdirSync(join(data, "evolution")).sort();
}

export function readVersions(data: string, name: string): PublishedVersion[] {
  const folder = join(data, "evolution", name, "versions");
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
  return files.sort().map((file) => {
    const { tools } = readCatalogFile(readJson(join(folder, file)));
    return { id: file.replace(".json", ""), tools: new Map(tools.map((tool) => [tool.key, tool])) };
  });
}

/** Links found as the versions come, with what earlier versions left: hints and tools that left without a link. */
export function playHistory(name: string, versions: readonly PublishedVersion[], memory: boolean): History {
  const links: LineageLink[] = [];
  const unresolved: Unresolved[] = [];
  const hints: SupersedeHint[] = [];
  const departed = new Map<ToolKey, { tool: Tool; missingSince: number }>();
  let slowestMs = 0;
  versions.forEach((version, at) => {
    const before = versions[at - 1];
    if (before === undefined) return;
    const atVersion = at + 1;
    const removed = [...before.tools.values()].filter((tool) => !version.tools.has(tool.key));
    const added = [...version.tools.values()].filter((tool) => !before.tools.has(tool.key));
    const kept = [...version.tools.values()].flatMap((after) => {
      const was = before.tools.get(after.key);
      return was === undefined ? [] : [{ before: was, after }];
    });
    const started = performance.now();
    const report = lineageReport({
      removed,
      added,
      kept,
      atVersion,
      ...(memory ? { hints, departed: [...departed.values()] } : {}),
    });
    slowestMs = Math.max(slowestMs, performance.now() - started);
    links.push(...report.links);
    unresolved.push(...report.unresolved);
    hints.push(...supersedeHints({ added, kept, atVersion }));
    for (const tool of removed) departed.set(tool.key, { tool, missingSince: atVersion });
    for (const link of report.links) departed.delete(link.from as ToolKey);
    for (const tool of added) departed.delete(tool.key);
  });
  return { name, versions, links, unresolved, slowestMs };
}

interface Row {
  readonly from: ToolKey;
  readonly to: ToolKey;
  /** Index of the version by which the takeover is done. */
  readonly at: number;
  readonly since: number;
  readonly heuristic: boolean;
  readonly fixed: JsonObject | undefined;
}

export function readRows(data: string, history: History): Row[] {
  const lines = readText(join(data, "evolution", history.name, "mapping.jsonl")).split("\n");
  return lines
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const raw = JSON.parse(line) as Record<string, string> & { fixedArguments?: JsonObject };
      const when = raw["atVersion"] ?? raw["removedIn"] ?? "";
      const from = keyOf(raw["from"] ?? "");
      const at = history.versions.findIndex((version) => version.id >= when);
      const seen = history.versions.filter((version) => version.id < when && version.tools.has(from)).at(-1);
      return {
        from,
        to: keyOf(raw["to"] ?? ""),
        at,
        since: seen === undefined ? 0 : history.versions.indexOf(seen) + 1,
        heuristic: /heuristic/.test(raw["source"] ?? ""),
        fixed: raw.fixedArguments,
      };
    });
}

function keyOf(id: string): ToolKey {
  const cut = id.indexOf("::");
  return toolKey(id.slice(0, cut), id.slice(cut + 2));
}

export interface LineageFigures {
  readonly rows: number;
  readonly found: number;
  readonly certain: { readonly right: number; readonly emitted: number };
  readonly all: { readonly right: number; readonly emitted: number };
  readonly fixed: { readonly right: number; readonly emitted: number };
  readonly missed: readonly string[];
  readonly wrong: readonly string[];
  readonly wrongFixed: readonly string[];
  readonly unscored: readonly LineageLink[];
}

export function scoreHistory(history: History, rows: readonly Row[]): LineageFigures {
  const chain = (from: ToolKey, since: number, at: number) =>
    successors(
      from,
      since,
      history.links.filter((link) => link.atVersion <= at + 1),
      (key) => history.versions[at]?.tools.has(key) ?? false,
    );
  const missed: string[] = [];
  const wrongFixed: string[] = [];
  let found = 0;
  let fixedRight = 0;
  let fixedEmitted = 0;
  const truth = rows.filter((row) => !row.heuristic);
  for (const row of rows) {
    const succession = chain(row.from, row.since, row.at);
    const right = succession?.to.includes(row.to) ?? false;
    if (!row.heuristic && right) found += 1;
    if (!right)
      missed.push(
        `${row.from} → ${row.to}${row.heuristic ? " (heuristic row)" : ""}, found ${succession?.to.join(" + ") ?? "nothing"}`,
      );
    const fixed = succession?.fixedArguments ?? {};
    if (row.fixed === undefined || Object.keys(fixed).length === 0) continue;
    fixedEmitted += 1;
    if (JSON.stringify(fixed) === JSON.stringify(row.fixed)) fixedRight += 1;
    else wrongFixed.push(`${row.from}: ${JSON.stringify(fixed)} instead of ${JSON.stringify(row.fixed)}`);
  }
  const onTheWay = (link: LineageLink, row: Row): boolean =>
    link.to.includes(row.to) ||
    link.to.some((key) => {
      const at = Math.max(row.at, link.atVersion - 1);
      return chain(key as ToolKey, link.atVersion, at)?.to.includes(row.to) ?? false;
    });
  const scored = history.links.flatMap((link) => {
    const own = rows.filter((row) => row.from === link.from);
    return own.length === 0 ? [] : [{ link, right: own.some((row) => onTheWay(link, row)) }];
  });
  const count = (all: typeof scored) => ({ right: all.filter((one) => one.right).length, emitted: all.length });
  return {
    rows: truth.length,
    found,
    certain: count(scored.filter(({ link }) => link.level === "certain")),
    all: count(scored),
    fixed: { right: fixedRight, emitted: fixedEmitted },
    missed,
    wrong: scored.filter((one) => !one.right).map(({ link }) => lineOf(link)),
    wrongFixed,
    unscored: history.links.filter((link) => !rows.some((row) => row.from === link.from)),
  };
}

function lineOf(link: LineageLink): string {
  const fixed = Object.keys(link.fixedArguments).length === 0 ? "" : ` ${JSON.stringify(link.fixedArguments)}`;
  return `v${link.atVersion} ${link.level} ${link.kind} ${link.score.toFixed(2)}  ${link.from} → ${link.to.join(" + ")}${fixed}`;
}

/** Tools of the first version: what became of them by the last. */
export function chainsOf(history: History): { present: number; certain: number; proposed: number; gone: number } {
  const [first, last] = [history.versions[0], history.versions.at(-1)];
  const counts = { present: 0, certain: 0, proposed: 0, gone: 0 };
  for (const key of first?.tools.keys() ?? []) {
    if (last?.tools.has(key) === true) counts.present += 1;
    else counts[successors(key, 1, history.links, (other) => last?.tools.has(other) ?? false)?.level ?? "gone"] += 1;
  }
  return counts;
}

function say(line = ""): void {
  process.stdout.write(`${line}\n`);
}

function share({ right, emitted }: { right: number; emitted: number }): string {
  return emitted === 0 ? "–" : `${right}/${emitted} = ${(right / emitted).toFixed(3)}`;
}

function reportLabelled(data: string, name: string, memory: boolean): boolean {
  const history = playHistory(name, readVersions(data, name), memory);
  const figures = scoreHistory(history, readRows(data, history));
  say(
    `\n${name}, ${history.versions.length} versions${memory ? ", as the daemon plays it" : ", without hints and departed tools (for comparison; no bound)"}`,
  );
  say(`  recall on rows not heuristic   ${share({ right: figures.found, emitted: figures.rows })}`);
  say(`  precision of certain           ${share(figures.certain)}`);
  say(`  precision, proposed included   ${share(figures.all)}`);
  say(`  fixed arguments right          ${share(figures.fixed)}`);
  for (const line of figures.missed) say(`  missed  ${line}`);
  for (const line of figures.wrong) say(`  wrong   ${line}`);
  for (const line of figures.wrongFixed) say(`  fixed   ${line}`);
  if (memory) for (const link of figures.unscored) say(`  without a row  ${lineOf(link)}`);
  const ratio = (of: { right: number; emitted: number }): number => (of.emitted === 0 ? 1 : of.right / of.emitted);
  return (
    figures.found >= 0.95 * figures.rows &&
    ratio(figures.certain) >= 0.99 &&
    ratio(figures.all) >= 0.95 &&
    ratio(figures.fixed) >= 0.95
  );
}

function reportChains(data: string): void {
  say("\nchains from the first to the last version");
  say("  series                    versions  links certain  first: present certain proposed gone   slowest ms");
  for (const name of seriesNames(data)) {
    const history = playHistory(name, readVersions(data, name), true);
    const chains = chainsOf(history);
    const certain = history.links.filter((link) => link.level === "certain").length;
    const cells = [
      history.versions.length,
      history.links.length,
      certain,
      chains.present,
      chains.certain,
      chains.proposed,
      chains.gone,
    ];
    say(
      `  ${name.padEnd(24)}${cells.map((cell) => String(cell).padStart(9)).join("")}${history.slowestMs.toFixed(0).padStart(9)}`,
    );
  }
}

const LABELLED = ["github-mcp-server", "azure-mcp"];

/** Prints the measures and their bounds; the exit code is 1 where a bound is missed. */
export function evalLineage(args: string[]): Promise<void> {
  const at = args.indexOf("--data");
  const data = resolve(at < 0 ? (process.env["STEWARD_DATA"] ?? "../shared/data") : (args[at + 1] ?? ""));
  const met = LABELLED.map((name) => reportLabelled(data, name, true)).every(Boolean);
  for (const name of LABELLED) reportLabelled(data, name, false);
  reportChains(data);
  say(`\nbounds: certain ≥ .99, with proposed ≥ .95, recall ≥ .95, fixed arguments ≥ .95: ${met ? "met" : "MISSED"}`);
  if (!met) process.exitCode = 1;
  return Promise.resolve();
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  await evalLineage(process.argv.slice(2));
