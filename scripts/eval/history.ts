/** Published histories as catalogs, and tables for what is measured on them. */
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { readCatalogFile } from "../../src/catalog/files.js";
import { catalogFrom, emptyCatalog, nextManifest } from "../../src/catalog/version.js";
import type { Catalog } from "../../src/model/catalog.js";
import { readJson } from "./data.js";

export interface CatalogHistory {
  readonly series: string;
  /** A published version that changed nothing makes no catalog version. */
  readonly catalogs: readonly Catalog[];
  /** Name of the published file of each catalog, without its ending. */
  readonly names: readonly string[];
}

/** The folder given with `--data`, else STEWARD_DATA, else the public data sets beside the clone. */
export function dataFolder(args: readonly string[]): string {
  const at = args.indexOf("--data");
  return resolve(at >= 0 ? (args[at + 1] ?? ".") : (process.env["STEWARD_DATA"] ?? "../shared/data"));
}

/** Every series of `evolution/`, read one at a time. */
export function* readHistories(data: string): Iterable<CatalogHistory> {
  const root = join(data, "evolution");
  for (const series of readdirSync(root).sort()) yield readHistory(series, join(root, series, "versions"));
}

function readHistory(series: string, folder: string): CatalogHistory {
  const catalogs: Catalog[] = [];
  const names: string[] = [];
  let previous = emptyCatalog;
  for (const file of readdirSync(folder).sort()) {
    const read = readCatalogFile(readJson(join(folder, file)));
    const tools = new Map(read.tools.map((tool) => [tool.key, tool]));
    const manifest = nextManifest(previous, tools, "2026-01-01T00:00:00.000Z", file);
    if (manifest === undefined) continue;
    previous = catalogFrom(manifest, tools);
    catalogs.push(previous);
    names.push(file.replace(/\.json$/, ""));
  }
  return { series, catalogs, names };
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Rows under their titles; numbers to the right. */
export function printTable(titles: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const widths = titles.map((title, at) => Math.max(title.length, ...rows.map((row) => String(row[at] ?? "").length)));
  const line = (cells: readonly (string | number)[]): string =>
    cells
      .map((cell, at) => (typeof cell === "number" ? String(cell).padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join("  ")
      .trimEnd();
  print(`  ${line(titles.map((title, at) => (typeof rows[0]?.[at] === "number" ? title.padStart(widths[at] ?? 0) : title)))}`);
  for (const row of rows) print(`  ${line(row)}`);
}

/** `I1 3 · I4 2`, by name order of rules, or the most first. */
export function words(counts: ReadonlyMap<string, number>, order: "rules" | "most"): string {
  const rows = [...counts].sort((a, b) => (order === "most" ? b[1] - a[1] : ruleOrder(a[0]) - ruleOrder(b[0])));
  return rows.map(([word, times]) => `${word} ${times}`).join(" · ");
}

function ruleOrder(rule: string): number {
  return rule.charCodeAt(0) * 100 + Number(rule.slice(1));
}

export function count<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + of(item), 0);
}
