/**
 * What retrieval costs at 1,000, 10,000 and 36,000 tools: search p50 and p99, build, memory, adding and removing; against minisearch
 * on the same fields in the same run. Real tools and needs where the public data sets are there, made ones otherwise.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import MiniSearch from "minisearch";
import { loadGraphAddon } from "../../src/host/addon.js";
import { readListing } from "../../src/catalog/intake.js";
import type { UpstreamLabel } from "../../src/model/ids.js";
import type { Tool } from "../../src/model/tool.js";
import { TOOL_FIELDS, toolTexts } from "../../src/retrieve/fields.js";
import { growGraph } from "../../src/retrieve/nominate.js";
import type { ToolIndex } from "../../src/retrieve/tools.js";
import { buildToolIndex, moveToolIndex, searchTools } from "../../src/retrieve/tools.js";
import { emptyVectors, moveVectors, nearest, unit } from "../../src/retrieve/vectors.js";
import { seeded } from "../eval/figures.js";
import type { ToolSet } from "../eval/sets.js";
import { evenly, readQuerySets, readToolSet } from "../eval/sets.js";
import { listedTools } from "./sample.js";

const data = process.env["STEWARD_DATA"] ?? resolve(import.meta.dirname, "../../../shared/data");
/** Tools, and the p50 aimed at, in milliseconds. */
const SIZES = [
  { size: 1_000, aimMs: 1 },
  { size: 10_000, aimMs: 3 },
  { size: 36_000, aimMs: 10 },
] as const;
const MOVED = 100;
const NEAREST = 40;
/** Both sides build so many tools before they are measured: the first build of a process is the compiler's. */
const WARM = 1_000;
/** Rounds of searches before they are measured: the compiler works beside them, and processor time is of all threads. */
const WARM_ROUNDS = 12;
const MADE_NEEDS = [
  "cancel the order and refund the customer",
  "list open tickets of last week",
  "create a branch and set its protection",
  "find the metrics of a service, then send them as a document to the customer",
  "send an invoice as a document",
  "who is the owner of this repository",
];

export function benchRetrieval(): Promise<void> {
  const { tools, servers, source } = allTools();
  const needs = allNeeds();
  print(
    `\nretrieval: ${source}; ${needs.length} needs of ${Math.round(mean(needs.map((need) => need.length)))} characters on average`,
  );
  for (const { size, aimMs } of SIZES) benchSize({ tools: evenly(tools, size), servers }, needs, aimMs);
  benchVectors();
  return Promise.resolve();
}

function allTools(): ToolSet & { source: string } {
  const files = ["toucan", "botocore"].map((name) => join(data, `scale/${name}.jsonl.gz`));
  if (files.every((file) => existsSync(file))) {
    const sets = files.map(readToolSet);
    const tools = new Map(sets.flatMap((set) => set.tools.map((tool) => [tool.key, tool] as const)));
    return { tools: [...tools.values()], servers: new Map(sets.flatMap((set) => [...set.servers])), source: "real tools" };
  }
  const { tools, source } = listedTools(Math.max(...SIZES.map(({ size }) => size)));
  return { tools: readListing("made" as UpstreamLabel, tools).tools, servers: new Map(), source };
}

function allNeeds(): string[] {
  if (!existsSync(join(data, "retrieval"))) return MADE_NEEDS.flatMap((need) => Array<string>(10).fill(need));
  return readQuerySets(data).flatMap(({ queries }) => evenly(queries, 50).map(({ text }) => text));
}

function benchSize(set: ToolSet, needs: readonly string[], aimMs: number): void {
  const fewer = { ...set, tools: evenly(set.tools, WARM) };
  buildToolIndex(fewer.tools, fewer.servers);
  miniIndex(fewer);
  const before = memory();
  const [index, buildMs] = timed(() => buildToolIndex(set.tools, set.servers));
  const bytes = memory() - before;
  for (let round = 0; round < WARM_ROUNDS; round++) for (const need of needs) searchTools(index, need, { limit: 5 });
  const times = needs.map((need) => timed(() => searchTools(index, need, { limit: 5 }))[1]);

  const [mini, miniMs] = timed(() => miniIndex(set));
  const few = evenly(needs, 40);
  const miniTimes = few.map((need) => timed(() => mini.search(need))[1]);
  const ownTimes = few.map((need) => timed(() => searchTools(index, need, { limit: 5 }))[1]);

  const p50 = quantile(times, 0.5);
  print(`${set.tools.length} tools of ${new Set(set.tools.map((tool) => tool.label)).size} servers`);
  row(`search p50 / p99, ms of processor time (aim: p50 ≤ ${aimMs})`, `${p50.toFixed(2)} / ${quantile(times, 0.99).toFixed(2)}`);
  row("search p50 × minisearch", (quantile(ownTimes, 0.5) / quantile(miniTimes, 0.5)).toFixed(3));
  row("build, ms (× minisearch, aim ≤ 2)", `${buildMs.toFixed(0)} (${(buildMs / miniMs).toFixed(2)})`);
  row("memory of the index, MB", (bytes / 1e6).toFixed(1));
  moves(index, set.tools);
}

/** One at a time, as a catalog that trickles; and as one listing. */
function moves(index: ToolIndex, tools: readonly Tool[]): void {
  const changed = evenly(tools, MOVED).map((tool) => ({ ...tool, description: `${tool.description} Changed.` }));
  const [, replaceMs] = timed(() => changed.reduce((one, tool) => moveToolIndex(one, { changed: [tool], removed: [] }), index));
  const [, removeMs] = timed(() =>
    changed.reduce((one, tool) => moveToolIndex(one, { changed: [], removed: [tool.key] }), index),
  );
  const [moved, listingMs] = timed(() => moveToolIndex(index, { changed, removed: [] }));
  const [, firstMs] = timed(() => searchTools(moved, "find the state of an order", { limit: 5 }));
  row("replace / remove one, ms", `${(replaceMs / MOVED).toFixed(3)} / ${(removeMs / MOVED).toFixed(3)}`);
  row(`replace ${MOVED} in one listing, ms; first search after it`, `${listingMs.toFixed(1)}; ${firstMs.toFixed(1)}`);
  row("index operations of that listing", String(moved.operations - index.operations));
}

function miniIndex({ tools, servers }: ToolSet): MiniSearch {
  const mini = new MiniSearch({ fields: [...TOOL_FIELDS] });
  mini.addAll(
    tools.map((tool, id) => {
      const texts = toolTexts(tool, servers.get(tool.label));
      return { id, ...Object.fromEntries(TOOL_FIELDS.map((field, i) => [field, texts[i]])) };
    }),
  );
  return mini;
}

/** Exact search against the graph, where the addon can be loaded: what VECTOR_SCORING.exactNumbers rests on. */
function benchVectors(): void {
  print(`vectors: the ${NEAREST} nearest, ms`);
  const addon = loadGraphAddon();
  if (addon === undefined) row("hnswlib-node", "not there");
  const random = seeded(3);
  for (const [count, dimension] of [
    [1_000, 256],
    [4_000, 256],
    [16_000, 256],
    [1_000, 1_024],
    [4_000, 1_024],
  ] as const) {
    const made = (): Float32Array => unit(Array.from({ length: dimension }, () => random() - 0.5)) ?? new Float32Array(dimension);
    const rows = Array.from({ length: count }, (_, n) => [`${n}`, made()] as const);
    const index = moveVectors(emptyVectors(dimension), { put: rows, removed: [] });
    const asked = Array.from({ length: 30 }, made);
    const exact = quantile(
      asked.map((vector) => timed(() => nearest(index, vector, NEAREST, Number.POSITIVE_INFINITY))[1]),
      0.5,
    );
    if (addon === undefined) {
      row(`${count} × ${dimension}: exact`, exact.toFixed(2));
      continue;
    }
    const [, growMs] = timed(() => growGraph(addon, index, count));
    const nominated = quantile(
      asked.map((vector) => timed(() => nearest(index, vector, NEAREST, 0))[1]),
      0.5,
    );
    row(
      `${count} × ${dimension}: exact / graph (building, a vector)`,
      `${exact.toFixed(2)} / ${nominated.toFixed(2)} (${(growMs / count).toFixed(2)})`,
    );
  }
}

let collect: (() => void) | undefined;

/** Bytes in use, garbage collected. */
function memory(): number {
  if (collect === undefined) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as () => void;
  }
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Milliseconds of processor time: what is searched here never waits, and other work on the machine shall not count. */
function timed<Result>(run: () => Result): [result: Result, ms: number] {
  const before = process.cpuUsage();
  const result = run();
  const { user, system } = process.cpuUsage(before);
  return [result, (user + system) / 1_000];
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function row(name: string, value: string): void {
  print(`  ${name.padEnd(58)}${value.padStart(18)}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

if (process.argv[1] === import.meta.filename) await benchRetrieval();
