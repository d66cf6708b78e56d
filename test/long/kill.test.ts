import { openSync, readSync, closeSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { cli, dropHome, newHome, startDaemon, type Daemon } from "../e2e/daemon.js";

/** In CI 40, each after a round that learns; STEWARD_KILLS=200 for the whole measure. */
const KILLS = Number(process.env["STEWARD_KILLS"] ?? 40);
/** Time for one kill, its start and its checks on a machine that has other work: a bound, not a measure. */
const KILL_MS = 25_000;
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

/** Changes that runs end in: their starter skills are taken out, so that runs teach them. Arguments name their things with digits. */
const ENDINGS = [
  { name: "depot/restock_item", args: (n: string) => ({ sku: `SKU-${n}`, quantity: 1, warehouse_id: `WH-${n}` }) },
  { name: "depot/release_stock", args: (n: string) => ({ order_id: `ORD-${n}`, sku: `SKU-${n}` }) },
  {
    name: "depot/reserve_stock",
    args: (n: string) => ({ order_id: `ORD-${n}`, sku: `SKU-${n}`, quantity: 2, warehouse_id: `WH-${n}` }),
  },
  { name: "shop/cancel_order", args: (n: string) => ({ order_id: `ORD-${n}`, reason: "changed my mind" }) },
] as const;
/** Looks that come before: which of them, and in which order, is another thing for each kill. */
const LOOKS = [
  { name: "depot/check_stock", args: (n: string) => ({ sku: `SKU-${n}` }) },
  { name: "shop/get_order", args: (n: string) => ({ order_id: `ORD-${n}` }) },
  { name: "shop/get_order_status", args: (n: string) => ({ order_id: `ORD-${n}` }) },
] as const;

/** Two verified runs of one way to two changes: the next maintenance makes skills and a plan of them. Each kill has another way. */
function runs(kill: number): unknown[] {
  const first = kill % ENDINGS.length;
  const second = (first + 1 + (Math.floor(kill / ENDINGS.length) % (ENDINGS.length - 1))) % ENDINGS.length;
  const from = Math.floor(kill / 3) % LOOKS.length;
  const looks = Array.from({ length: 1 + (kill % LOOKS.length) }, (_, n) => LOOKS[(from + n) % LOOKS.length]);
  return [1, 2].map((one) => {
    const n = `${kill}${one}00`;
    const made = [...looks, ENDINGS[first], ENDINGS[second]].flatMap((call) => (call === undefined ? [] : [call]));
    return {
      source: `kill ${kill} run ${one}`,
      task: `Case ${n}: ${made.map(({ name }) => name.split("/")[1]?.replaceAll("_", " ") ?? "").join(", then ")}`,
      calls: made.map(({ name, args }) => ({ name, args: args(n), result: { ok: true } })),
      outcome: { outcome: "success", trust: "human" },
    };
  });
}

/** What was answered is acknowledged: it must be there after the kill. */
interface Answered {
  library: number;
  /** Runs of maintenance that made skills out of runs, and the names of these skills. */
  learnt: number;
  readonly made: Set<string>;
  readonly episodes: string[];
}

interface Edit {
  kind: string;
  skill: string;
  cause: string;
}

/** Pieces of work that kills are timed from, in turn. */
const PIECES = ["sync", "import", "maintain", "remove", "revert"] as const;
type Piece = (typeof PIECES)[number];

/** Syncs, learns from runs, answers tasks, takes out and back what it learnt, over and over until the daemon is gone. */
async function work(
  daemon: Daemon,
  { kill, base, known }: { readonly kill: number; readonly base: number; readonly known: ReadonlySet<string> },
  answered: Answered,
  begins: (piece: Piece) => void,
): Promise<void> {
  const moved = ({ revision, library = revision }: { revision?: number; library?: number }): void => {
    answered.library = Math.max(answered.library, library ?? 0);
  };
  // What a revert takes back stays so by a person's word; what was taken out is learnt again.
  const back = async (): Promise<void> => moved(await post(daemon, "/library/revert", { to: base }));
  const takeOut = async (skill: string): Promise<void> => moved(await post(daemon, `/skills/${skill}/remove`, {}));
  for (const skill of known) await takeOut(skill);
  // A kill is timed from the second pass on: every round learns once before it is hit.
  let passes = 0;
  const atPiece = (piece: Piece): void => (passes > 0 ? begins(piece) : undefined);
  await back();
  for (; ; passes += 1) {
    atPiece("sync");
    await post(daemon, "/catalog/sync", {});
    atPiece("import");
    await post(daemon, "/episodes/import", { episodes: runs(kill + passes) });
    const view = await post<{ episode?: string }>(daemon, "/start_task", { task: "cancel an order and refund it" });
    if (view.episode !== undefined) answered.episodes.push(view.episode);
    atPiece("maintain");
    const report = await post<{ library?: number; applied?: Edit[] }>(daemon, "/maintenance", { accept: ["*"] });
    const made = (report.applied ?? [])
      .filter(({ kind, cause }) => kind === "add" && /^E\d/.test(cause))
      .map(({ skill }) => skill);
    if (made.length > 0) answered.learnt += 1;
    for (const skill of made) answered.made.add(skill);
    moved(report);
    atPiece("remove");
    for (const skill of made) await takeOut(skill);
    atPiece("revert");
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
      // With the starter's own skills for these nothing would be left to learn from the runs.
      const skills = (await (await fetch(`${daemon.url}/v1/skills`)).json()) as { name: string; tier: string; tools: string[] }[];
      for (const { name, tier, tools } of skills)
        if (tier === "planning" || (tier === "atomic" && tools.some((tool) => ENDINGS.some((ending) => ending.name === tool))))
          await post(daemon, `/skills/${name}/remove`, {});
      let acknowledged: State = await stateOf(daemon);
      const base = acknowledged.library;
      let learnt = 0;
      /** Kills in whose time something was learnt. */
      let fruitful = 0;
      const made = new Set<string>();
      const into = new Map<string, number>();
      let inWork = 0;
      const tally = (kills: number): string =>
        `${kills} kills, ${inWork} in mid-work, ${sumOf(into)} inside a write (${[...into].map((one) => one.join(" ")).join(", ")}); ` +
        `${learnt} times skills were learnt and taken out (${made.size} different ones), in ${fruitful} of the rounds`;
      for (let kill = 0; kill < KILLS; kill += 1) {
        const answered: Answered = { library: acknowledged.library, learnt: 0, made: new Set(), episodes: [] };
        let working = true;
        const piece = PIECES[kill % PIECES.length];
        let begun: () => void = () => undefined;
        const hasBegun = new Promise<void>((resolve) => (begun = resolve));
        const worked = work(daemon, { kill, base, known: made }, answered, (now) => (now === piece ? begun() : undefined)).catch(
          () => {
            working = false;
            begun();
          },
        );
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
        if (answered.learnt > 0) fruitful += 1;
        for (const skill of answered.made) made.add(skill);
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
      expect(learnt).toBeGreaterThan(KILLS / 2);
      expect(fruitful).toBeGreaterThan(KILLS / 2);
      expect(made.size).toBeGreaterThan(ENDINGS.length);
      await daemon.stop();
      const lint = await cli(home, "skills", "lint");
      expect(lint.out).toContain("Every skill keeps the rules.");
    },
  );
});
