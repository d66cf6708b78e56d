/** What a catalog sync costs: counted writes and index operations, and time against parsing the same bytes and against minisearch. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import MiniSearch from "minisearch";
import { readListing } from "../../src/catalog/intake.js";
import type { Change } from "../../src/model/change.js";
import type { Event } from "../../src/model/event.js";
import type { JsonObject } from "../../src/model/json.js";
import type { UpstreamLabel } from "../../src/model/ids.js";
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import { advance } from "../../src/world/advance.js";
import { decide } from "../../src/world/decide.js";
import { derive } from "../../src/world/rebuild.js";
import { emptyKnown, type World } from "../../src/world/world.js";
import { buildToolIndex } from "../../src/retrieve/tools.js";
import { silentLog } from "../../src/host/log.js";
import { openStore } from "../../src/store/store.js";
import { listedTools } from "./sample.js";

const COUNT = 10_000;
const label = "big" as UpstreamLabel;
const at = "2026-01-01T00:00:00.000Z";

/** One tool in so many is listed under another name and in other words. */
const RESPELT = 33;
/** Tools that are left where all others went. */
const FEW = 101;

/** Files of a first sync that are written with an fsync each, to compare: all of them would take minutes on a slow disc. */
const COMPARED = 1_000;

export async function benchSync(): Promise<void> {
  const { tools, source } = listedTools(COUNT);
  const bytes = JSON.stringify(tools);
  const changedBytes = JSON.stringify(
    tools.map((tool, n) => (n % 100 === 0 ? { ...tool, description: `${String(tool["description"])} Changed.` } : tool)),
  );
  let world = advance(derive(emptyKnown, new Map()), decide(derive(emptyKnown, new Map()), configured()).changes);
  const first = step(world, bytes);
  world = first.world;
  const operations = world.toolIndex.operations;

  const parseMs = best(() => readListing(label, JSON.parse(bytes) as unknown[]));
  const noopMs = best(() => step(world, bytes));
  const noop = step(world, bytes);
  const noopOperations = noop.world.toolIndex.operations - operations;

  const before = performance.now();
  const changed = step(world, changedBytes);
  const changedMs = performance.now() - before;
  const movedOperations = changed.world.toolIndex.operations - operations;

  const respelt = JSON.stringify(tools.map((tool, n) => (n % RESPELT === 0 ? otherwise(tool, n) : tool)));
  const few = JSON.stringify(tools.slice(0, FEW));
  const respeltMs = best(() => decided(world, respelt));
  const fewMs = best(() => decided(world, few));

  const listed = readListing(label, JSON.parse(bytes) as unknown[]).tools;
  const ownMs = best(() => buildToolIndex(listed));
  const miniMs = best(() => miniIndex(tools));

  const row = (name: string, value: string): void => void process.stdout.write(`${name.padEnd(52)}${value.padStart(16)}\n`);
  process.stdout.write(`\nsync of ${COUNT} tools (${source})\n`);
  row("no-op: writes", String(written(noop.changes)));
  row("no-op: index operations", String(noopOperations));
  row("no-op: × parsing and digesting the same bytes", (noopMs / parseMs).toFixed(2));
  row("1 % changed: writes (version, marks for review)", String(written(changed.changes)));
  row("1 % changed: index operations (changed documents)", `${movedOperations} (${COUNT / 100})`);
  row("1 % changed: × parsing and digesting", (changedMs / parseMs).toFixed(2));
  row(`1 in ${RESPELT} renamed and reworded: × parsing and digesting`, (respeltMs / parseMs).toFixed(2));
  row(`all but ${FEW} gone: × parsing and digesting`, (fewMs / parseMs).toFixed(2));
  row("full index build: × minisearch, same fields", (ownMs / miniMs).toFixed(2));
  row("(parse and digest / full build, ms)", `${parseMs.toFixed(0)} / ${ownMs.toFixed(0)}`);
  const inBulk = await storedMs(first.changes, COUNT);
  const oneByOne = await storedMs(first.changes, COMPARED, Infinity);
  row("first sync to disc: × a tool of it with an fsync of its own", (inBulk / COUNT / (oneByOne / COMPARED)).toFixed(2));
  row(`(${COUNT} in bulk / ${COMPARED} one by one, ms)`, `${inBulk.toFixed(0)} / ${oneByOne.toFixed(0)}`);
}

/** Milliseconds that a home takes for the first `count` definitions of a sync. */
async function storedMs(changes: readonly Change[], count: number, bulkFrom?: number): Promise<number> {
  const home = mkdtempSync(join(tmpdir(), "steward-bench-"));
  try {
    const store = await openStore({ home, now: at, log: silentLog, ...(bulkFrom === undefined ? {} : { bulkFrom }) });
    await store.read();
    const some = changes.map((change) =>
      change.kind === "catalog-version" ? { ...change, documents: new Map([...change.documents].slice(0, count)) } : change,
    );
    const before = performance.now();
    await store.persist(some);
    const ms = performance.now() - before;
    await store.close();
    return ms;
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function configured(): Event {
  return {
    kind: "configured",
    at,
    starting: true,
    upstreams: new Map([[label, { disabled: false, prefix: label }]]),
    policy: DEFAULT_POLICY,
  };
}

function step(world: World, bytes: string): { world: World; changes: readonly Change[] } {
  // As the upstream's lister reads it: with the catalog's tools, so that what did not move is handed on.
  const { tools, problems } = readListing(label, JSON.parse(bytes) as unknown[], world.catalog.tools);
  const { changes } = decide(world, { kind: "listing", at, label, tools, problems, cause: "poll" });
  return { world: advance(world, changes), changes };
}

/** What a listing's decision takes: the time for which nobody else is answered, of which most is the search for successors. */
function decided(world: World, bytes: string): number {
  const { tools, problems } = readListing(label, JSON.parse(bytes) as unknown[], world.catalog.tools);
  const before = performance.now();
  decide(world, { kind: "listing", at, label, tools, problems, cause: "poll" });
  return performance.now() - before;
}

function otherwise(tool: JsonObject, n: number): JsonObject {
  const name = [...String(tool["name"]).split(/[-_]/).reverse(), n].join("-").slice(0, 120);
  const said = String(tool["description"]).split(" ");
  return { ...tool, name, description: said.filter((_word, at) => at % 5 !== 4).join(" ") };
}

/** Changes that reach the disc: time alone does not. */
function written(changes: readonly Change[]): number {
  return changes.filter((change) => change.kind !== "clock").length;
}

/** The least of three runs, in milliseconds: as a run says of itself, else from its beginning to its end. */
function best(run: () => unknown): number {
  let least = Infinity;
  for (let n = 0; n < 3; n += 1) {
    const before = performance.now();
    const told = run();
    least = Math.min(least, typeof told === "number" ? told : performance.now() - before);
  }
  return least;
}

function miniIndex(tools: readonly JsonObject[]): MiniSearch {
  const index = new MiniSearch({ fields: ["name", "title", "description", "parameters"], idField: "id" });
  index.addAll(
    tools.map((tool, id) => ({
      id,
      name: String(tool["name"]),
      title: String(tool["title"] ?? ""),
      description: String(tool["description"] ?? ""),
      parameters: JSON.stringify((tool["inputSchema"] as JsonObject | undefined)?.["properties"] ?? {}),
    })),
  );
  return index;
}
