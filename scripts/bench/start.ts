/** What a turn costs on a large home, and what a start of the daemon costs on it: 10,000 tools, 5,000 skills, 50,000 episodes. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "../../src/host/log.js";
import { readListing } from "../../src/catalog/intake.js";
import { createRules } from "../../src/manager/rules.js";
import { proposeByRules } from "../../src/maintain/propose.js";
import type { Change } from "../../src/model/change.js";
import type { Episode } from "../../src/model/episode.js";
import type { Event } from "../../src/model/event.js";
import type { ToolKey, UpstreamLabel } from "../../src/model/ids.js";
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import { assembleView } from "../../src/provision/assemble.js";
import { openStore } from "../../src/store/store.js";
import { advance } from "../../src/world/advance.js";
import { decide } from "../../src/world/decide.js";
import { derive } from "../../src/world/rebuild.js";
import { complete, gather } from "../../src/world/turn.js";
import { emptyKnown, type World } from "../../src/world/world.js";
import { impactOf } from "../../src/graph/reach.js";
import { toolNode } from "../../src/graph/graph.js";
import { configure, emptyStart, medianStart, type Start } from "./cold.js";
import { listedTools, skillsOn } from "./sample.js";

const TOOLS = 10_000;
const SKILLS = 5_000;
const EPISODES = 50_000;
const TURNS = 60;
const label = "big" as UpstreamLabel;
const at = "2026-01-01T00:00:00.000Z";
const TASKS = [
  "cancel the order and refund the customer",
  "list open tickets and export them as a document",
  "create a branch and update its policy",
  "find the metrics of last week",
];

export async function benchStart(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "steward-start-"));
  try {
    const world = await bigHome(home);
    await turns(world);
    impact(world);
    await coldStarts(home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Written as a daemon would write it, event by event. */
export async function bigHome(home: string): Promise<World> {
  const store = await openStore({ home, now: at, log: silentLog });
  await store.read();
  let world = derive(emptyKnown, new Map());
  const post = async (event: Event): Promise<void> => {
    const { changes } = decide(world, event);
    await store.persist(changes);
    world = advance(world, changes);
  };
  const { tools, source } = listedTools(TOOLS);
  await post({
    kind: "configured",
    at,
    starting: true,
    upstreams: new Map([[label, { disabled: false, prefix: label }]]),
    policy: DEFAULT_POLICY,
  });
  const listing = readListing(label, tools);
  await post({ kind: "listing", at, label, tools: listing.tools, problems: listing.problems, cause: "start" });
  await post({ kind: "skills-written", at, by: "import", written: skillsOn(listing.tools, SKILLS), missing: [] });
  const episodes: Change[] = Array.from({ length: EPISODES }, (_, n) => ({ kind: "episode", episode: episode(n) }));
  for (let n = 0; n < episodes.length; n += 1_000) await store.persist(episodes.slice(n, n + 1_000));
  await store.close();
  process.stdout.write(`\na home of ${TOOLS} tools (${source}), ${SKILLS} skills, ${EPISODES} episodes\n`);
  return world;
}

const row = (name: string, value: string): void => void process.stdout.write(`${name.padEnd(52)}${value.padStart(20)}\n`);

async function turns(world: World): Promise<void> {
  const rules = createRules(proposeByRules);
  const times: number[] = [];
  for (let n = 0; n < TURNS; n += 1) {
    const request = { kind: "start" as const, text: `${TASKS[n % TASKS.length] ?? ""} number ${n}` };
    const before = performance.now();
    const gathered = gather(world, request, { allowed: undefined });
    const decisions = await rules.decideView(gathered.candidates);
    const found = complete(world, gathered, decisions);
    assembleView({
      request,
      decisions,
      basis: { catalog: "1:", library: 1, evidence: 0, presence: "", policy: "", embedder: "none" },
      before: { turn: 0, explored: 0, skillChars: 0 },
      skill: (name) => world.library.skills.get(name),
      tool: (key) => world.catalog.tools.get(key),
      found,
    });
    times.push(performance.now() - before);
  }
  times.sort((a, b) => a - b);
  row(
    "start_task, p50 / p99 (ms; target 20)",
    `${(times[Math.floor(TURNS / 2)] ?? NaN).toFixed(1)} / ${(times[TURNS - 1] ?? NaN).toFixed(1)}`,
  );
}

function impact(world: World): void {
  // One that skills rest on: the first of the catalog may have none.
  const skill = [...world.library.skills.values()].find(({ contract }) => contract.requires.length > 0);
  const key = skill?.contract.requires[0]?.tool as ToolKey | undefined;
  if (key === undefined) throw new Error("no skill needs a tool");
  const before = performance.now();
  const { skills, visited } = impactOf(world.graph, [toolNode(key)]);
  row(
    "impact of one changed tool: skills, visited, ms",
    `${skills.length}, ${visited}, ${(performance.now() - before).toFixed(2)}`,
  );
}

/** The built daemon, first without what an earlier start left to be quicker by, then with it. */
async function coldStarts(home: string): Promise<void> {
  const built = spawnSync(process.execPath, [join(import.meta.dirname, "../build.mjs")], { stdio: "inherit" });
  if (built.status !== 0) throw new Error("the daemon could not be built");
  configure(home, [label]);
  // As a minute later: every file is durable by itself, and the record that answered for it is gone.
  rmSync(join(home, "state/bulk"), { recursive: true, force: true });
  const empty = await emptyStart(3);
  const told = (start: Start): string =>
    [start.cpuMs, start.wallMs, start.mb, start.peakMb].map((value) => value.toFixed(0)).join(" / ");
  row("a start: CPU ms / wall ms / MB / most MB", "");
  row("  an empty home", told(empty));
  row("  this home, the first time", told(await medianStart(home, 1)));
  const warm = await medianStart(home, 5);
  row("  this home, median of 5 (target 2000 ms, 300 MB)", told(warm));
  row("  processor time beyond the empty home's", `${(warm.cpuMs - empty.cpuMs).toFixed(0)} ms`);
}

function episode(n: number): Episode {
  return {
    format: "episode/1",
    episode: `ep_${n}`,
    opened: at,
    moved: at,
    task: `task number ${n} about an order and its refund`,
    explicit: true,
    principal: "local",
    turn: 1,
    explored: 0,
    skillChars: 0,
    views: [],
    calls: 3,
    tools: ["big/a", "big/b"],
    outcome: { outcome: "success", trust: "claim", by: "local", at },
  };
}
