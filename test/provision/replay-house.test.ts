import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readListing } from "../../src/catalog/intake.js";
import { compose, type House } from "../../src/compose.js";
import { nodeFiles } from "../../src/host/files.js";
import { silentLog } from "../../src/host/log.js";
import { starterHome } from "../../src/host/starter.js";
import { createShop, SHOP_PARTS } from "../../src/lab/worlds/shop/shop.js";
import type { View } from "../../src/model/facade.js";
import type { UpstreamLabel } from "../../src/model/ids.js";
import type { JsonObject } from "../../src/model/json.js";
import type { Caller } from "../../src/model/operations.js";
import { createMemory } from "../../src/operations/desk.js";
import { takeHandEdits } from "../../src/operations/library.js";
import { seedHome } from "../../src/store/seed.js";
import { answers, startModelServer, type ModelServer } from "../fixtures/model-server.js";

const someone: Caller = { principal: "local", rights: new Set(["agent", "operate"]), upstreams: undefined, session: undefined };
const KEY = "REPLAY_TEST_KEY";

/** What a model would choose: names that stand in some versions of the shop and not in others. */
const CHOICE = {
  from: ["plan-cancel-and-refund-order"],
  steps: [
    { goal: "Look up the order", skills: ["atomic-look-up-order"], tools: [] },
    { goal: "Cancel it", skills: ["atomic-cancel-order"], tools: ["shop/cancel_order"] },
  ],
  skills: ["atomic-look-up-order"],
  tools: ["shop/get_order", "shop/find_customer", "shop/lookup_customer"],
};

const TASKS = [
  "Cancel order O-1003 and refund it",
  "Find the customer and send the open order elsewhere",
  "check what is in stock",
];

/** What happens between two views. */
type Move =
  | { kind: "drift"; to: number }
  | { kind: "edit"; skill: number; note: number }
  | { kind: "maintain" }
  | { kind: "revert" }
  | { kind: "restart" }
  | { kind: "ask"; how: "start" | "retrieve" | "explore"; task: number; budget?: number };

const EDITED = ["atomic-look-up-order", "plan-cancel-and-refund-order", "atomic-find-customer"];
const small = (most: number): fc.Arbitrary<number> => fc.integer({ min: 0, max: most });
const move: fc.Arbitrary<Move> = fc.oneof(
  fc.record({ kind: fc.constant("drift" as const), to: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant("edit" as const), skill: small(EDITED.length - 1), note: small(9) }),
  fc.record({ kind: fc.constantFrom("maintain" as const, "revert" as const, "restart" as const) }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("ask" as const),
      how: fc.constantFrom("start" as const, "retrieve" as const, "explore" as const),
      task: small(TASKS.length - 1),
      budget: fc.constantFrom(200, 300, 500, 1_000, 4_000),
    }),
  },
) as fc.Arbitrary<Move>;

class Stay {
  private constructor(
    readonly home: string,
    private house: House,
  ) {}

  static async open(steward: JsonObject): Promise<Stay> {
    const home = mkdtempSync(join(tmpdir(), "steward-replay-"));
    await seedHome(home, starterHome(), nodeFiles());
    const path = join(home, "config/steward.json");
    const config = JSON.parse(readFileSync(path, "utf8")) as JsonObject;
    writeFileSync(path, JSON.stringify({ ...config, steward }));
    const stay = new Stay(home, await start(home));
    await stay.make({ kind: "drift", to: 1 });
    return stay;
  }

  async close(): Promise<void> {
    await this.house.stop();
    rmSync(this.home, { recursive: true, force: true });
  }

  /** Makes the move; a view is answered with its bytes. */
  async make(one: Move): Promise<View | undefined> {
    const { operations, steward } = this.house;
    switch (one.kind) {
      case "drift":
        for (const label of SHOP_PARTS) {
          const { tools, problems } = readListing(label as UpstreamLabel, createShop({ part: label, version: one.to }).tools());
          await steward.post({ kind: "listing", at: now(), label: label as UpstreamLabel, tools, problems, cause: "poll" });
        }
        return undefined;
      case "edit": {
        const path = join(this.home, "skills", EDITED[one.skill] ?? "", "SKILL.md");
        writeFileSync(path, `${readFileSync(path, "utf8")}\nNote ${one.note}.\n`);
        await takeHandEdits({ ...this.deskParts() });
        return undefined;
      }
      case "maintain":
        await operations.maintain({ mode: "incremental", dryRun: false, accept: ["*"] }, someone);
        return undefined;
      case "revert":
        await operations.revert({ to: 1 }, someone);
        return undefined;
      case "restart":
        await this.house.stop();
        this.house = await start(this.home);
        return undefined;
      case "ask":
        return (await this.ask(one.how, TASKS[one.task] ?? "", one.budget)).body;
    }
  }

  replay(view: string): Promise<{ view: View; same: boolean; differences: readonly string[] }> {
    return this.house.operations.replay(view);
  }

  private ask(how: "start" | "retrieve" | "explore", text: string, budget = 4_000): Promise<{ body: View }> {
    const { operations } = this.house;
    if (how === "start") return operations.startTask({ task: text, budget_tokens: budget }, someone);
    if (how === "retrieve") return operations.retrieveTools({ query: text }, someone);
    return operations.exploreCapabilities({ need: text }, someone);
  }

  private deskParts(): Parameters<typeof takeHandEdits>[0] {
    const { steward, store } = this.house;
    return { steward, store, clock: { now, elapsedMs: () => 0 }, log: () => undefined, memory: createMemory() };
  }
}

function start(home: string): Promise<House> {
  return compose({ home, env: { [KEY]: "model-key-0123456789" }, main: "", log: silentLog, upstreams: false, watch: false });
}

function now(): string {
  return new Date().toISOString();
}

async function holds(steward: JsonObject, moves: readonly Move[], server?: ModelServer): Promise<readonly View[]> {
  const stay = await Stay.open(steward);
  try {
    const views: View[] = [];
    for (const one of moves) {
      const view = await stay.make(one);
      if (view !== undefined) views.push(view);
    }
    await stay.make({ kind: "restart" });
    const asked = server?.requests.length;
    for (const view of views) {
      const replayed = await stay.replay(view.view);
      expect(replayed.differences).toEqual([]);
      expect(JSON.stringify(replayed.view)).toBe(JSON.stringify(view));
    }
    expect(server?.requests.length).toBe(asked);
    return views;
  } finally {
    await stay.close();
  }
}

/** Every kind of move at least once, with views of each kind before and after. */
const COURSE: readonly Move[] = [
  { kind: "ask", how: "start", task: 0 },
  { kind: "ask", how: "retrieve", task: 1 },
  { kind: "drift", to: 2 },
  { kind: "ask", how: "start", task: 1 },
  { kind: "maintain" },
  { kind: "ask", how: "explore", task: 2 },
  { kind: "restart" },
  { kind: "ask", how: "start", task: 0, budget: 400 },
  { kind: "edit", skill: 0, note: 1 },
  { kind: "drift", to: 3 },
  { kind: "ask", how: "start", task: 0 },
  { kind: "revert" },
  { kind: "drift", to: 1 },
  { kind: "ask", how: "start", task: 0 },
];

describe("a view replays byte for byte after restarts, drifts and edits of the library", () => {
  it("with rules, over any course of moves", { timeout: 240_000 }, async () => {
    await holds({}, COURSE);
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 3, maxLength: 8 }), async (moves) => {
        await holds({}, [{ kind: "ask", how: "start", task: 0 }, ...moves]);
      }),
      { numRuns: 4 },
    );
  });

  it("with a model's recorded decisions, which are never asked for again", { timeout: 240_000 }, async () => {
    const server = await startModelServer();
    server.will(answers(CHOICE));
    const manager = { kind: "llm", baseUrl: server.url, model: "scripted", apiKeyEnv: KEY };
    try {
      const views = await holds({ manager }, COURSE, server);
      expect(server.requests.length).toBeGreaterThan(0);
      expect(views.some((view) => view.manager?.by === "llm" && view.manager.fellBack === undefined)).toBe(true);
    } finally {
      await server.close();
    }
  });
});
