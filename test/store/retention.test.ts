import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { nodeFiles, type Files } from "../../src/host/files.js";
import type { Episode } from "../../src/model/episode.js";
import type { HomeStore } from "../../src/store/store.js";
import { DEATHS, dyingFiles } from "./dying-files.js";
import { call, copyOf, episode, open, ownerDied, removeHomes, tempHome, view } from "./home.js";

afterEach(removeHomes);

const SMALL = { segmentBytes: 1_500, compactionSlack: 6 };
const opened = (home: string, files?: Files): Promise<HomeStore> =>
  open(home, { logLimits: SMALL, ...(files === undefined ? {} : { files }) });
const viewFile = (home: string, id: string): boolean => existsSync(join(home, `state/views/${id}.json`));
const callSegments = (home: string): string[] => readdirSync(join(home, "state/calls")).filter((name) => name.endsWith(".jsonl"));

/** Episodes as a user would count them, beside the store. */
class Model {
  readonly standing = new Map<string, Episode>();
  readonly retired = new Map<string, Episode>();

  async work(store: HomeStore, id: string, shown: string): Promise<void> {
    if (this.retired.has(id)) return;
    const before = this.standing.get(id);
    const seq = (before?.calls ?? 0) + 1;
    const { episode: moved } = episode(id, { calls: seq, views: [...new Set([...(before?.views ?? []), shown])] });
    await store.persist([view(shown, id), call(id, seq), { kind: "episode", episode: moved }]);
    this.standing.set(id, moved);
  }

  async retire(store: HomeStore, id: string): Promise<void> {
    const before = this.standing.get(id);
    if (before === undefined) return;
    await store.persist([{ kind: "episode", episode: { ...before, retired: true } }]);
    this.standing.delete(id);
    this.retired.set(id, before);
  }
}

/** Everything that stands has all that it refers to. */
async function expectWhole(home: string, store: HomeStore, model: Model, said = ""): Promise<void> {
  const ground = await store.read();
  expect(ground.episodes.map((one) => one.episode).sort(), said).toEqual([...model.standing.keys()].sort());
  for (const [id, { views, calls }] of model.standing) {
    for (const shown of views) expect(viewFile(home, shown), `${said} ${shown} of ${id}`).toBe(true);
    const lines = await store.readCalls(id);
    expect(
      lines.map((line) => line.seq),
      said,
    ).toEqual(Array.from({ length: calls }, (_, n) => n + 1));
  }
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("work" as const), id: fc.nat(5), view: fc.nat(8) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("retire" as const), id: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.constantFrom({ kind: "restart" as const }, { kind: "forget" as const }) },
);

describe("what retired episodes leave", () => {
  it("never takes a view or a call of one that stands, after any history", { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (history) => {
        const home = tempHome();
        const model = new Model();
        let store = await opened(home);
        await store.read();
        for (const one of history) {
          if (one.kind === "work") await model.work(store, `ep_${one.id}`, `vw_${one.view}`);
          else if (one.kind === "retire") await model.retire(store, `ep_${one.id}`);
          else if (one.kind === "forget") await store.forget();
          else {
            await store.close();
            store = await opened(home);
            await store.read();
          }
        }
        await store.forget();
        await expectWhole(home, store, model);
        await store.close();
        removeHomes();
      }),
      { numRuns: 25 },
    );
  });

  it("goes: views that nobody else shows, and segments of calls in which nobody else has a line", async () => {
    const home = tempHome();
    const model = new Model();
    const store = await opened(home);
    await store.read();
    await model.work(store, "ep_kept", "vw_shared");
    for (let n = 0; n < 12; n += 1)
      for (let times = 0; times < 3; times += 1) await model.work(store, `ep_${n}`, n === 0 ? "vw_shared" : `vw_${n}`);
    const before = callSegments(home).length;
    for (let n = 0; n < 12; n += 1) await model.retire(store, `ep_${n}`);
    await store.forget();
    await expectWhole(home, store, model);
    expect(readdirSync(join(home, "state/views"))).toEqual(["vw_shared.json"]);
    // The first segment has a line of the one that stands, the last takes what comes next.
    expect(before).toBeGreaterThan(4);
    expect(callSegments(home)).toHaveLength(2);
    await store.close();
  });

  it("is not touched while a line of the log of episodes cannot be read: it may be of one that stands", async () => {
    const home = tempHome();
    const model = new Model();
    const store = await opened(home);
    await store.read();
    await model.work(store, "ep_a", "vw_a");
    await model.retire(store, "ep_a");
    await store.close();
    const { appendFileSync } = await import("node:fs");
    appendFileSync(join(home, "state/episodes/000001.jsonl"), '{"format":"episode/1","episode":"ep_b"}\n');
    const again = await opened(home);
    await again.read();
    await again.forget();
    expect(viewFile(home, "vw_a")).toBe(true);
    await again.close();
  });

  it("goes in steps that a process may die between", { timeout: 120_000 }, async () => {
    const home = tempHome();
    const model = new Model();
    const store = await opened(home);
    await store.read();
    for (let n = 0; n < 8; n += 1) {
      await model.work(store, `ep_${n}`, `vw_${n}`);
      await model.work(store, `ep_${n}`, `vw_${n % 3}`);
    }
    for (const n of [0, 1, 2, 3, 5]) await model.retire(store, `ep_${n}`);
    await store.close();
    for (const how of DEATHS) {
      for (let at = 1; ; at += 1) {
        const copy = copyOf(home);
        const files = dyingFiles(nodeFiles(), { at, how });
        try {
          const dying = await opened(copy, files);
          await dying.read();
          await dying.forget();
          await dying.close();
        } catch {
          // It died; what it left is what counts.
        }
        await files.close().catch(() => undefined);
        ownerDied(copy);
        const again = await opened(copy);
        await again.read();
        await again.forget();
        await expectWhole(copy, again, model, `${how} at ${at}`);
        await again.close();
        if (!files.dead) break;
      }
    }
  });
});
