import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import { cli, dropHome, newHome, startDaemon, until, type Daemon } from "./daemon.js";

const homes: string[] = [];
const open: Daemon[] = [];
afterEach(async () => {
  for (const daemon of open.splice(0)) await daemon.stop();
  for (const home of homes.splice(0)) dropHome(home);
});

async function starter(): Promise<string> {
  const home = newHome();
  homes.push(home);
  await cli(home, "init");
  return home;
}

describe("steward demo evolve", () => {
  it(
    "moves the catalog of a running daemon also while the shop's servers are idle, and names versions that show the whole move",
    { timeout: 120_000 },
    async () => {
      const home = await starter();
      const path = join(home, "config/steward.json");
      const config = JSON.parse(readFileSync(path, "utf8")) as JsonObject;
      const upstreams = { shop: { idleStopMs: "200ms" }, depot: { idleStopMs: "200ms" } };
      writeFileSync(path, JSON.stringify({ ...config, steward: { upstreams } }));
      const daemon = await startDaemon(home, []);
      open.push(daemon);
      const get = async <T>(asked: string): Promise<T> => (await (await fetch(`${daemon.url}${asked}`)).json()) as T;
      await daemon.ready();
      await until(async () => {
        const rows = await get<{ presence: { state: string } }[]>("/v1/upstreams");
        return rows.every((row) => row.presence.state === "idle");
      }, "both servers are idle");
      const before = await get<{ version: number; tools: { tool: string }[] }>("/v1/catalog");
      const said = await cli(home, "demo", "evolve");
      expect(said.code, said.err).toBe(0);
      const after = await get<{ version: number; tools: { tool: string }[] }>("/v1/catalog");
      const names = (tools: { tool: string }[]): string[] => tools.map(({ tool }) => tool);
      const gone = names(before.tools).filter((tool) => !names(after.tools).includes(tool));
      expect(new Set(gone.map((tool) => tool.split("/")[0]))).toEqual(new Set(["shop", "depot"]));
      expect(said.out).toMatch(/shop: listed\n.*depot: listed/);
      const named = /catalog drift (\d+) (\d+)/.exec(said.out);
      const drift = await get<{ removed: string[] }>(`/v1/catalog/drift?from=${named?.[1]}&to=${named?.[2]}`);
      expect([...drift.removed].sort()).toEqual(gone.sort());
    },
  );

  it("says that the move is seen at the next listing where no daemon runs", { timeout: 60_000 }, async () => {
    const home = await starter();
    const said = await cli(home, "demo", "evolve");
    expect([said.code, said.out]).toEqual([0, expect.stringMatching(/version 1 to 2[^]*No daemon runs[^]*listed next/)]);
  });
});
