import { openSync, readSync, closeSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { cli, dropHome, newHome, startDaemon, type Daemon } from "../e2e/daemon.js";

/** In CI 100; STEWARD_KILLS=200 for the whole measure. */
const KILLS = Number(process.env["STEWARD_KILLS"] ?? 100);
/** Time for one kill, its start and its checks on a machine that has other work: a bound, not a measure. */
const KILL_MS = 15_000;
/** The tally so far is told each time this many are done: a run that is stopped has shown that much. */
const TALLY = 20;
/** After its instant has come a kill waits this long for a write to be under way. */
const AIM_MS = 2_000;
const PRELOAD = pathToFileURL(join(import.meta.dirname, "../fixtures/mark-writes.mjs")).href;
const homes: string[] = [];
afterEach(() => {
  for (const home of homes.splice(0)) dropHome(home);
});

interface State {
  catalog: { version: number; digest: string };
  library: number;
  episodes: string[];
}

async function stateOf(daemon: Daemon): Promise<State> {
  const get = async <T>(path: string): Promise<T> => (await (await fetch(`${daemon.url}${path}`)).json()) as T;
  const catalog = await get<{ version: number; digest: string }>("/v1/catalog");
  const episodes = await get<{ episode: string }[]>("/v1/episodes");
  const health = await get<{ library: number }>("/v1/health");
  return { catalog, library: health.library, episodes: episodes.map((row) => row.episode) };
}

/** What the daemon was writing at its last moment; undefined where it was in no write. */
function underWay(mark: number): string | undefined {
  const bytes = Buffer.alloc(300);
  readSync(mark, bytes, 0, bytes.length, 0);
  const [, count, what] = /^(\d+) (.*)$/.exec(bytes.toString("utf8").trim()) ?? [];
  return Number(count ?? 0) > 0 ? what : undefined;
}

const sumOf = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((sum, count) => sum + count, 0);

const json = { "content-type": "application/json" };

async function post<T>(daemon: Daemon, path: string, body: unknown): Promise<T> {
  const response = await fetch(`${daemon.url}/v1${path}`, { method: "POST", headers: json, body: JSON.stringify(body) });
  return (await response.json()) as T;
}

/** Two verified runs of one way: the next maintenance makes a skill of it. `n` tells the runs of one kill from all others. */
function runs(n: number): unknown[] {
  return [1, 2].map((one) => ({
    source: `kill ${n} run ${one}`,
    task: `Put ${n}${one} pieces of the article back on the shelves`,
    calls: [
      {
        name: "depot/check_stock",
        args: { sku: `SKU-${n}${one}` },
        result: { sku: `SKU-${n}${one}`, warehouse_id: `WH-${one}00` },
      },
      {
        name: "depot/restock_item",
        args: { sku: `SKU-${n}${one}`, quantity: one, warehouse_id: `WH-${one}00` },
        result: { ok: true },
      },
    ],
    outcome: { outcome: "success", trust: "human" },
  }));
}

/** What was answered is acknowledged: it must be there after the kill. */
interface Answered {
  library: number;
  /** Runs of maintenance that made or rewrote a skill out of runs. */
  learnt: number;
  readonly episodes: string[];
}

/** Pieces of work that kills are timed from, in turn. */
const PIECES = ["sync", "import", "maintain", "revert"] as const;
type Piece = (typeof PIECES)[number];

/** Syncs, learns from runs, answers tasks and takes back what it learnt, over and over until the daemon is gone. */
async function work(
  daemon: Daemon,
  { kill, base }: { readonly kill: number; readonly base: number },
  answered: Answered,
  begins: (piece: Piece) => void,
): Promise<void> {
  begins("sync");
  await post(daemon, "/catalog/sync", {});
  begins("import");
  await post(daemon, "/episodes/import", { episodes: runs(kill) });
  // What an earlier kill left learnt is taken back first, so that there is something to learn.
  const back = async (): Promise<void> => {
    const { revision } = await post<{ revision?: number }>(daemon, "/library/revert", { to: base });
    answered.library = Math.max(answered.library, revision ?? 0);
  };
  await back();
  for (;;) {
    const view = await post<{ episode?: string }>(daemon, "/start_task", { task: "cancel an order and refund it" });
    if (view.episode !== undefined) answered.episodes.push(view.episode);
    begins("maintain");
    const report = await post<{ library?: number; applied?: { skill: string }[] }>(daemon, "/maintenance", { accept: ["*"] });
    if (report.applied?.some((edit) => edit.skill === "atomic-restock-item") === true) answered.learnt += 1;
    answered.library = Math.max(answered.library, report.library ?? 0);
    begins("revert");
    await back();
  }
}

describe("kill -9 at any moment", () => {
  it(
    `${KILLS} times during catalog syncs, maintenance and tasks: the home always starts and keeps what was acknowledged [P01]`,
    { timeout: Math.max(1_500_000, KILLS * KILL_MS) },
    async () => {
      const home = newHome();
      homes.push(home);
      const place = join(home, "..", `${basename(home)}.mark`);
      writeFileSync(place, "0 -".padEnd(300));
      process.env["STEWARD_WRITES_MARK"] = place;
      const mark = openSync(place, "r");
      const start = (flags?: string[]): Promise<Daemon> => startDaemon(home, flags, ["--import", PRELOAD]);
      let daemon = await start();
      await daemon.ready();
      // With the starter's own skill for it nothing would be left to learn from the runs.
      await post(daemon, "/skills/atomic-restock-article/remove", {});
      let acknowledged: State = await stateOf(daemon);
      const base = acknowledged.library;
      let learnt = 0;
      const into = new Map<string, number>();
      let inWork = 0;
      const tally = (kills: number): string =>
        `${kills} kills, ${inWork} in mid-work, ${sumOf(into)} inside a write (${[...into].map((one) => one.join(" ")).join(", ")}); ` +
        `${learnt} times a skill was learnt and taken back`;
      for (let kill = 0; kill < KILLS; kill += 1) {
        const answered: Answered = { library: acknowledged.library, learnt: 0, episodes: [] };
        let working = true;
        const piece = PIECES[kill % PIECES.length];
        let begun: () => void = () => undefined;
        const hasBegun = new Promise<void>((resolve) => (begun = resolve));
        const worked = work(daemon, { kill, base }, answered, (now) => (now === piece ? begun() : undefined)).catch(() => {
          working = false;
          begun();
        });
        writeFileSync(join(home, "state/demo.json"), JSON.stringify({ format: "demo/1", version: (kill % 3) + 1 }));
        await hasBegun;
        await new Promise((next) => setTimeout(next, (kill * 37) % 100));
        // The instant is the clock's; what follows only lets a write begin that the daemon is about to make.
        const end = performance.now() + AIM_MS;
        while (underWay(mark) === undefined && performance.now() < end) await new Promise((next) => setImmediate(next));
        if (working) inWork += 1;
        await daemon.kill();
        const what = underWay(mark);
        if (what !== undefined) into.set(what.split(" ")[0] ?? "", (into.get(what.split(" ")[0] ?? "") ?? 0) + 1);
        await worked;
        writeFileSync(place, "0 -".padEnd(300));
        daemon = await start([]);
        learnt += answered.learnt;
        const state = await stateOf(daemon);
        expect(state.catalog.version).toBeGreaterThanOrEqual(acknowledged.catalog.version);
        expect(state.library).toBeGreaterThanOrEqual(answered.library);
        for (const episode of [...acknowledged.episodes, ...answered.episodes]) expect(state.episodes).toContain(episode);
        expect(daemon.stderr()).not.toMatch(/damaged|home-damaged/);
        acknowledged = state;
        if ((kill + 1) % TALLY === 0) process.stdout.write(`${tally(kill + 1)}\n`);
      }
      closeSync(mark);
      process.stdout.write(`${tally(KILLS)}\n`);
      const inWrites = sumOf(into);
      expect(inWork).toBeGreaterThan(KILLS / 2);
      expect(inWrites).toBeGreaterThanOrEqual(KILLS / 2);
      expect(learnt).toBeGreaterThan(0);
      await daemon.stop();
      const lint = await cli(home, "skills", "lint");
      expect(lint.out).toContain("Every skill keeps the rules.");
    },
  );
});
