import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import { createShop } from "../../src/lab/worlds/shop/shop.js";
import { SHOP_TASKS, unmet, type ShopState, type ShopTask } from "../lab/tasks.js";
import { runTask, type AgentRun } from "./agent.js";
import { connectLegacy, connectModern, type Connected } from "./clients.js";
import { cli, dropHome, newHome, startDaemon, until, type Daemon } from "./daemon.js";

/** The shop's tables as its two processes keep them; one that nothing changed has no file yet. */
function shopState(home: string): ShopState {
  const read = (part: "shop" | "depot"): JsonObject => {
    const path = join(home, `state/lab/${part}.json`);
    return existsSync(path) ? tablesIn(path) : createShop({ part, version: 1 }).state();
  };
  const tablesIn = (path: string): JsonObject => (JSON.parse(readFileSync(path, "utf8")) as { tables: JsonObject }).tables;
  return { shop: read("shop"), depot: read("depot") };
}

async function evolve(home: string, daemon: Daemon, version: number): Promise<void> {
  const before = await catalogVersion(daemon);
  await cli(home, "demo", "evolve", String(version));
  // Two upstreams move: two catalog versions, settled when both were listed.
  await until(async () => (await catalogVersion(daemon)) > before, `the catalog moved to the shop's version ${version}`);
  await new Promise((next) => setTimeout(next, 1_500));
}

async function catalogVersion(daemon: Daemon): Promise<number> {
  return ((await (await fetch(`${daemon.url}/v1/catalog`)).json()) as { version: number }).version;
}

const pick = (id: string): ShopTask => {
  const task = SHOP_TASKS.find((one) => one.id === id);
  if (task === undefined) throw new Error(`no task ${id}`);
  return task;
};

/** Which tasks are done at which version: each changes the shop once, so no task is done twice. */
const COURSE: readonly { version: number; tasks: readonly string[]; restart?: boolean }[] = [
  { version: 1, tasks: ["cancel-rug", "late-return"] },
  { version: 2, tasks: ["redirect-clock", "broken-lamp"], restart: true },
  { version: 3, tasks: ["send-mugs", "restock-clocks", "cancel-reserved-kettle"] },
];

describe("the sample shop under a running daemon", () => {
  const homes: string[] = [];
  const open: Daemon[] = [];
  afterEach(async () => {
    for (const daemon of open.splice(0)) await daemon.stop();
    for (const home of homes.splice(0)) dropHome(home);
  });

  for (const [era, connect] of [
    ["legacy", connectLegacy],
    ["modern", connectModern],
  ] as const) {
    it(
      `a scripted agent that knows no tool finishes seven tasks across v1, v2, v3 and a restart (${era} client)`,
      { timeout: 120_000 },
      async () => {
        const home = newHome();
        homes.push(home);
        let daemon = await startDaemon(home);
        open.push(daemon);
        await daemon.ready();
        let agent: Connected = await connect(daemon.url);
        const failures: string[] = [];
        const runs: (AgentRun & { id: string; version: number })[] = [];
        for (const { version, tasks, restart } of COURSE) {
          if (version > 1) {
            await evolve(home, daemon, version);
            // What is certain is applied; a person looks at what is proposed and takes it.
            await cli(home, "maintain");
            await cli(home, "maintain", "--accept", "all");
          }
          for (const [index, id] of tasks.entries()) {
            if (restart === true && index === 1) {
              await agent.close();
              await daemon.stop();
              daemon = await startDaemon(home, []);
              open.splice(0, open.length, daemon);
              await daemon.ready();
              agent = await connect(daemon.url);
            }
            const task = pick(id);
            const run = await runTask(agent, task);
            runs.push({ ...run, id, version });
            failures.push(
              ...unmet(task, version, shopState(home)).map(
                (text) => `${id} at v${version}: ${text}; called ${JSON.stringify(run.called)}`,
              ),
            );
          }
        }
        await agent.close();
        expect(failures).toEqual([]);
        expect(runs.some((run) => !pick(run.id).planned && (run.view["plan"] as { source: string }).source === "derived")).toBe(
          true,
        );
        expect(runs.every((run) => (run.view["plan"] as { steps: unknown[] }).steps.length > 0)).toBe(true);
      },
    );
  }

  it(
    "skills rest with a reason when the shop evolves, maintain rebinds what is certain, the next view tells of it, and going back revives all",
    { timeout: 120_000 },
    async () => {
      const home = newHome();
      homes.push(home);
      const daemon = await startDaemon(home);
      open.push(daemon);
      await daemon.ready();
      const skills = async (): Promise<{ name: string; standing: { standing: string; reasons: { text: string }[] } }[]> =>
        JSON.parse((await cli(home, "skills", "list", "--json")).out) as never;
      const resting = async (): Promise<string[]> =>
        (await skills()).filter((skill) => skill.standing.standing === "inactive").map((skill) => skill.name);
      const provision = async (): Promise<{
        plan: { from: string[] };
        tools: { tool: string }[];
        substitutions?: { asked: string; given: string[] }[];
        left_out?: { id: string }[];
      }> =>
        JSON.parse(
          (
            await cli(
              home,
              "provision",
              "Find the customer dev.patel@example.org and send his open order to a new delivery address",
              "--json",
            )
          ).out,
        ) as never;

      expect(await resting()).toEqual([]);
      const before = await provision();
      await evolve(home, daemon, 2);
      const asleep = (await skills()).filter((skill) => skill.standing.standing === "inactive");
      expect(asleep.length).toBeGreaterThan(0);
      expect(asleep.every((skill) => skill.standing.reasons.length > 0)).toBe(true);

      const report = JSON.parse((await cli(home, "maintain", "--json")).out) as {
        applied: { kind: string }[];
        proposed: unknown[];
        library: number;
        basis: { library: number };
      };
      expect(report.applied.some((edit) => edit.kind === "modify")).toBe(true);
      expect(report.proposed.length).toBeGreaterThan(0);
      expect(report.library).toBe(report.basis.library + 1);
      const after = await provision();
      const gone = before.tools.map((tool) => tool.tool).filter((tool) => !after.tools.some((now) => now.tool === tool));
      expect(gone.length).toBeGreaterThan(0);
      expect((after.substitutions ?? []).some((row) => gone.includes(row.asked) && row.given.length > 0)).toBe(true);

      await evolve(home, daemon, 3);
      await evolve(home, daemon, 1);
      expect(await resting()).toEqual([]);
      expect((await cli(home, "catalog", "log")).out).toMatch(/listing of (shop|depot)/);
    },
  );
});
