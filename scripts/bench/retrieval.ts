/** What a search costs at 1,000, 10,000 and 36,000 tools: p50 and p99, build time, memory, adding and removing; against minisearch. */
import MiniSearch from "minisearch";
import { readListing } from "../../src/catalog/intake.js";
import type { UpstreamLabel } from "../../src/model/ids.js";
import { buildToolIndex, moveToolIndex, searchTools } from "../../src/retrieve/tools.js";
import { listedTools } from "./sample.js";

const SIZES = [1_000, 10_000, 36_000];
const QUERIES = [
  "cancel the order and refund the customer",
  "list open tickets of last week",
  "create a branch and set its protection",
  "find the metrics of a service",
  "send an invoice as a document",
  "who is the owner of this repository",
];
const ROUNDS = 20;

export function benchRetrieval(): Promise<void> {
  process.stdout.write("\nretrieval (targets p50: 1 / 3 / 10 ms; build at most 2 × minisearch)\n");
  for (const size of SIZES) {
    const { tools, source } = listedTools(size);
    const listed = readListing("big" as UpstreamLabel, tools).tools;
    const heapBefore = process.memoryUsage().heapUsed;
    const buildBefore = performance.now();
    let index = buildToolIndex(listed);
    const buildMs = performance.now() - buildBefore;
    const heapMb = (process.memoryUsage().heapUsed - heapBefore) / 1024 / 1024;

    const times = timed(() => QUERIES.forEach((query) => searchTools(index, query, { limit: 5 })));
    const mini = new MiniSearch({ fields: ["name", "description"], idField: "id" });
    const miniBefore = performance.now();
    mini.addAll(
      listed.map((tool, id) => ({
        id,
        name: tool.name,
        description: `${tool.description} ${JSON.stringify(tool.inputSchema["properties"] ?? {})}`,
      })),
    );
    const miniBuildMs = performance.now() - miniBefore;
    const miniTimes = timed(() => QUERIES.forEach((query) => mini.search(query)));

    const [first] = listed;
    const moveBefore = performance.now();
    if (first !== undefined) index = moveToolIndex(index, { changed: [{ ...first, description: "Changed." }], removed: [] });
    const addMs = performance.now() - moveBefore;
    const removeBefore = performance.now();
    if (first !== undefined) index = moveToolIndex(index, { changed: [], removed: [first.key] });
    const removeMs = performance.now() - removeBefore;

    const row = (name: string, value: string): void => void process.stdout.write(`  ${name.padEnd(48)}${value.padStart(18)}\n`);
    process.stdout.write(`${size} ${source}\n`);
    row("search p50 / p99, ms", `${times.p50.toFixed(2)} / ${times.p99.toFixed(2)}`);
    row("search p50 × minisearch", (times.p50 / miniTimes.p50).toFixed(2));
    row("build, ms (× minisearch)", `${buildMs.toFixed(0)} (${(buildMs / miniBuildMs).toFixed(2)})`);
    row("heap, MB", heapMb.toFixed(0));
    row("replace one / remove one, ms", `${addMs.toFixed(2)} / ${removeMs.toFixed(2)}`);
  }
  return Promise.resolve();
}

/** Time of one query, over rounds of all queries. */
function timed(run: () => void): { p50: number; p99: number } {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = performance.now();
    run();
    times.push((performance.now() - before) / QUERIES.length);
  }
  times.sort((a, b) => a - b);
  return { p50: times[Math.floor(ROUNDS / 2)] ?? NaN, p99: times[ROUNDS - 1] ?? NaN };
}
