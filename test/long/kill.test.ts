import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { cli, dropHome, newHome, startDaemon, type Daemon } from "../e2e/daemon.js";

const KILLS = Number(process.env["STEWARD_KILLS"] ?? 100);
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

describe("kill -9 at any moment", () => {
  it(
    `${KILLS} times during catalog syncs, maintenance and tasks: the home always starts and keeps what was acknowledged [P01]`,
    { timeout: 1_500_000 },
    async () => {
      const home = newHome();
      homes.push(home);
      let daemon = await startDaemon(home);
      await daemon.ready();
      let acknowledged: State = await stateOf(daemon);
      let inWork = 0;
      for (let kill = 0; kill < KILLS; kill += 1) {
        const episodes: string[] = [];
        const version = (kill % 3) + 1;
        let working = true;
        const work = (async () => {
          await fetch(`${daemon.url}/v1/catalog/sync`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: "{}",
          });
          for (;;) {
            const task = await fetch(`${daemon.url}/v1/start_task`, {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify({ task: "cancel an order and refund it" }),
            });
            // Only what was answered whole is acknowledged.
            const view = (await task.json()) as { episode?: string };
            if (view.episode !== undefined) episodes.push(view.episode);
            await fetch(`${daemon.url}/v1/maintenance`, {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify({ accept: ["*"] }),
            });
          }
        })().catch(() => {
          working = false;
        });
        writeFileSync(join(home, "state/demo.json"), JSON.stringify({ format: "demo/1", version }));
        await new Promise((next) => setTimeout(next, (kill * 37) % 400));
        if (working) inWork += 1;
        await daemon.kill();
        await work;
        daemon = await startDaemon(home, []);
        const state = await stateOf(daemon);
        expect(state.catalog.version).toBeGreaterThanOrEqual(acknowledged.catalog.version);
        expect(state.library).toBeGreaterThanOrEqual(acknowledged.library);
        for (const episode of [...acknowledged.episodes, ...episodes]) expect(state.episodes).toContain(episode);
        expect(daemon.stderr()).not.toMatch(/damaged|home-damaged/);
        acknowledged = state;
      }
      process.stdout.write(`${KILLS} kills, ${inWork} of them in mid-work\n`);
      expect(inWork).toBeGreaterThan(KILLS / 2);
      await daemon.stop();
      const lint = await cli(home, "skills", "lint");
      expect(lint.out).toContain("Every skill keeps the rules.");
    },
  );
});
