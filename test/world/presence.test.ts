import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { compose, type House } from "../../src/compose.js";
import { silentLog } from "../../src/host/log.js";
import type { PresenceState } from "../../src/model/catalog.js";
import type { JsonObject } from "../../src/model/json.js";
import { advance } from "../../src/world/advance.js";
import { decide } from "../../src/world/decide.js";
import { derive } from "../../src/world/rebuild.js";
import { emptyKnown, type World } from "../../src/world/world.js";
import { closeHouses, makeHome, person } from "../house.js";
import { until } from "../e2e/daemon.js";
import { configured, labels } from "./sample.js";

const STATES: readonly PresenceState[] = ["connecting", "up", "idle", "away", "parked", "disabled"];
const alpha = labels[0]!;
const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1) + minute * 60_000).toISOString();

/** A world in which the upstream was told to be in these states, one after the other, since `at(1)` … */
function worldWith(states: readonly PresenceState[]): World {
  let world: World = derive(emptyKnown, new Map());
  const events = states.map((state, i) => ({
    kind: "presence" as const,
    at: at(i + 1),
    label: alpha,
    state,
    reason: `${state}!`,
  }));
  for (const event of [configured(at(0)), ...events]) world = advance(world, decide(world, event).changes);
  return world;
}
const after = (world: World, event: ReturnType<typeof configured>): World => advance(world, decide(world, event).changes);

describe("presence and a configuration that is read again", () => {
  it("stays as it was, with its time and reason, for every upstream that still is to run", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...STATES), { minLength: 1, maxLength: 4 }), (states) => {
        const world = worldWith(states.filter((state) => state !== "disabled"));
        const reread = after(world, configured(at(90), labels, undefined, false));
        expect(reread.presence.get(alpha)).toEqual(world.presence.get(alpha));
      }),
    );
  });

  it("begins with connecting where a daemon starts, an outage apart, which keeps its time", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...STATES), { minLength: 1, maxLength: 4 }), (states) => {
        const world = worldWith(states);
        const before = world.presence.get(alpha);
        const restarted = after(world, configured(at(90))).presence.get(alpha);
        if (before?.state === "away") expect(restarted).toEqual(before);
        else expect(restarted?.state).toBe("connecting");
        // The new attempt that a start makes is told as well: it does not end the outage.
        const told = { kind: "presence" as const, at: at(91), label: alpha, state: "connecting" as const, reason: undefined };
        const attempted = advance(world, decide(world, told).changes).presence.get(alpha);
        if (before?.state === "away") expect(attempted).toEqual(before);
      }),
    );
  });

  it("follows what was disabled, enabled, removed and added", () => {
    const world = worldWith(["up"]);
    const disabled = after(world, configured(at(90), labels, alpha, false));
    expect(disabled.presence.get(alpha)).toMatchObject({ state: "disabled", since: at(90) });
    expect(after(disabled, configured(at(91), labels, undefined, false)).presence.get(alpha)?.state).toBe("connecting");
    const removed = after(world, configured(at(90), labels.slice(1), undefined, false));
    expect(removed.presence.has(alpha)).toBe(false);
    expect(after(removed, configured(at(91), labels, undefined, false)).presence.get(alpha)?.state).toBe("connecting");
  });
});

const houses: House[] = [];
afterEach(async () => {
  for (const house of houses.splice(0)) await house.stop();
  await closeHouses();
});

const workbench = resolve(import.meta.dirname, "../fixtures/servers/workbench.mjs");
const server = (more: JsonObject = {}): JsonObject => ({ command: process.execPath, args: [workbench], ...more });

/** A whole house with real upstreams that watches its configuration, and a pen that writes it. */
async function watchedHouse(mcpServers: JsonObject): Promise<{ house: House; write: (servers: JsonObject) => void }> {
  const home = makeHome([]);
  const place = join(home, "config/steward.json");
  const write = (servers: JsonObject): void =>
    writeFileSync(place, JSON.stringify({ mcpServers: servers, steward: {} }, undefined, 1));
  write(mcpServers);
  const house = await compose({ home, env: process.env, main: "", log: silentLog, upstreams: true, watch: true });
  houses.push(house);
  return { house, write };
}

async function marksOf(house: House, label: string): Promise<string[][]> {
  const { tools } = await house.operations.catalog({});
  return tools.filter(({ tool }) => tool.startsWith(`${label}/`)).map(({ marks }) => [...marks]);
}
const stateOf = (house: House, label: string): string | undefined => house.steward.world().presence.get(label as never)?.state;
const available = async (house: House, label: string): Promise<boolean> => {
  const marks = await marksOf(house, label);
  return marks.length > 0 && marks.every((of) => !of.includes("unavailable"));
};

describe("a running house whose configuration is touched", () => {
  it("keeps what it left alone available, starts what changed or came, and drops what left or was disabled", async () => {
    const { house, write } = await watchedHouse({ still: server(), moved: server(), resting: server(), leaving: server() });
    for (const label of ["still", "moved", "resting", "leaving"])
      await until(() => available(house, label), `${label} is listed and up`);
    const since = house.steward.world().presence.get("still" as never)?.since;
    write({
      still: server(),
      moved: server({ env: { EXTRA_TOOLS: "2" } }),
      resting: server({ disabled: true }),
      coming: server(),
    });
    await until(() => available(house, "coming"), "what came is up");
    await until(() => available(house, "moved"), "what changed is up again");
    await until(async () => (await marksOf(house, "moved")).length > (await marksOf(house, "still")).length, "it lists anew");
    expect(await available(house, "still")).toBe(true);
    expect(house.steward.world().presence.get("still" as never)).toMatchObject({ state: "up", since });
    expect(stateOf(house, "resting")).toBe("disabled");
    expect(house.steward.world().presence.has("leaving" as never)).toBe(false);
    expect(await marksOf(house, "leaving")).toEqual([]);
    expect(house.operations.health().ready).toBe(true);
    write({ still: server(), moved: server({ env: { EXTRA_TOOLS: "2" } }), resting: server() });
    await until(() => available(house, "resting"), "what was enabled again is up");
    expect(await available(house, "still")).toBe(true);
  });
});

describe("a house that connects nothing", () => {
  it("works on what was offered last, as often as it is opened, and says nothing of servers still to be listed", async () => {
    const { house, write } = await watchedHouse({ bench: server() });
    await until(() => available(house, "bench"), "bench is listed and up");
    const { home } = house;
    await house.stop();
    houses.splice(0);
    write({ bench: server(), unseen: server() });
    for (let round = 0; round < 2; round += 1) {
      const still = await compose({ home, env: process.env, main: "", log: silentLog, upstreams: false, watch: false });
      houses.push(still);
      expect(await available(still, "bench")).toBe(true);
      const { body } = await still.operations.retrieveTools({ query: "echo a text" }, person);
      expect(body.tools.map(({ tool }) => tool)).toContain("bench/echo");
      expect((body.notices ?? []).filter(({ code }) => code === "connecting").map(({ text }) => text)).toEqual([
        expect.stringContaining("unseen"),
      ]);
      await still.stop();
      houses.splice(0);
    }
  });
});
