import { appendFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { nodeFiles, type Files } from "../../src/host/files.js";
import { silentLog } from "../../src/host/log.js";
import type { Episode } from "../../src/model/episode.js";
import { openLogs, type Logs } from "../../src/store/logs.js";
import { DEATHS, dyingFiles } from "./dying-files.js";
import { call, copyOf, episode, open, removeHomes, tempHome } from "./home.js";

afterEach(async () => {
  for (const files of inUse.splice(0)) await files.close();
  removeHomes();
});

const inUse: Files[] = [];

/** Logs as a process has them that starts now; whoever had them before is gone. */
async function opened(home: string, files: Files = nodeFiles(), compactionSlack = 5): Promise<Logs> {
  for (const old of inUse.splice(0)) await old.close();
  inUse.push(files);
  mkdirSync(join(home, "state/calls"), { recursive: true });
  mkdirSync(join(home, "state/episodes"), { recursive: true });
  const logs = openLogs({ home, files, migrations: {}, log: silentLog, segmentBytes: 1_200, compactionSlack });
  await logs.open();
  await logs.settle();
  return logs;
}

const segments = (home: string, log: "calls" | "episodes"): string[] =>
  readdirSync(join(home, "state", log)).filter((name) => !name.startsWith("."));

describe("the log of episodes", () => {
  const moves = fc.array(fc.record({ id: fc.nat(5), calls: fc.nat(1_000), restart: fc.boolean() }), { maxLength: 120 });

  it("says after any history what each episode's last line said, in bounded segments, through restarts and compactions", async () => {
    await fc.assert(
      fc.asyncProperty(moves, async (history) => {
        const home = tempHome();
        let logs = await opened(home);
        await logs.readEpisodes();
        const last = new Map<string, Episode>();
        for (const { id, calls, restart } of history) {
          const { episode: moved } = episode(`ep_${id}`, { calls, opened: `2026-01-0${id + 1}` });
          await logs.append({ calls: [], episodes: [moved] }, logs.nextNumber());
          last.set(moved.episode, moved);
          if (restart) {
            logs = await opened(home);
            await logs.readEpisodes();
          }
        }
        const { episodes, problems } = await (await opened(home)).readEpisodes();
        expect(problems).toEqual([]);
        expect(episodes).toEqual([...last.values()].sort((a, b) => (a.opened < b.opened ? -1 : 1)));
        // Six living episodes: dead lines are given back long before 120 of them.
        expect(segments(home, "episodes").length).toBeLessThanOrEqual(8);
        removeHomes();
      }),
      { numRuns: 30 },
    );
  });

  const dated = (n: number, calls: number): Episode =>
    episode(`ep_${n}`, { calls, opened: `2026-01-${String(n + 1).padStart(2, "0")}` }).episode;
  const histories: Record<string, Episode[][]> = {
    "episodes that take turns": Array.from({ length: 30 }, (_, n) => [dated(n % 9, n)]),
    // Batches larger than a segment, all of them living: their lines must not move behind the segment they stood in.
    "large batches first": [
      Array.from({ length: 10 }, (_, n) => dated(n, 1)),
      Array.from({ length: 10 }, (_, n) => dated(n + 10, 1)),
      ...Array.from({ length: 40 }, (_, n) => [dated(20, n)]),
    ],
  };

  it.each(Object.entries(histories))("is the same at every moment of a compaction that dies: %s", async (_name, history) => {
    const home = tempHome();
    const logs = await opened(home, nodeFiles(), 1_000);
    for (const episodes of history) await logs.append({ calls: [], episodes }, logs.nextNumber());
    const before = segments(home, "episodes").length;
    const reference = await (await opened(copyOf(home))).readEpisodes();
    expect(reference.episodes).toHaveLength(new Set(history.flat().map(({ episode: id }) => id)).size);
    for (const how of DEATHS) {
      for (let at = 1; ; at += 1) {
        const copy = copyOf(home);
        const files = dyingFiles(nodeFiles(), { at, how });
        await opened(copy, files)
          .then((dying) => dying.readEpisodes())
          .catch(() => undefined);
        const found = await (await opened(copy)).readEpisodes();
        expect(found, `${how} at ${at}`).toEqual(reference);
        if (!files.dead) {
          expect(segments(copy, "episodes").length).toBeLessThan(before);
          break;
        }
      }
    }
  });
});

describe("damaged logs", () => {
  it("lose the damaged lines only, and the home says how many [P11]", async () => {
    const home = tempHome();
    const store = await open(home);
    for (let n = 1; n <= 5; n += 1) await store.persist([call("ep_1", n), episode("ep_1", { calls: n })]);
    await store.persist([episode("ep_2")]);
    await store.close();
    for (const log of ["calls", "episodes"] as const) {
      const path = join(home, "state", log, "000001.jsonl");
      const lines = readFileSync(path, "utf8").split("\n");
      lines[1] = `${lines[1]?.slice(0, 40)}X${lines[1]?.slice(41)}`;
      lines[2] = "\0\0\0\0";
      writeFileSync(path, lines.join("\n"));
    }
    const again = await open(home);
    const ground = await again.read();
    expect(ground.problems).toMatchObject([
      { code: "log-lines-damaged", where: "state/episodes/000001.jsonl", text: expect.stringContaining("2 of 6") as string },
    ]);
    expect(ground.episodes.map(({ episode: id, calls }) => [id, calls])).toEqual([
      ["ep_1", 5],
      ["ep_2", 0],
    ]);
    expect((await again.readCalls("ep_1")).map(({ seq }) => seq)).toEqual([1, 4, 5]);
    await again.close();
  });

  it("are cut where the last line was torn, which is told, and go on being written [P01]", async () => {
    for (const rest of ['{"format":"episode/1","epi', "\0\0\0\0\0\0\0\0"]) {
      const home = tempHome();
      const store = await open(home);
      await store.persist([episode("ep_1")]);
      await store.close();
      appendFileSync(join(home, "state/episodes/000001.jsonl"), rest);
      const again = await open(home);
      expect((await again.read()).problems.map(({ code }) => code)).toEqual(["log-torn"]);
      await again.persist([episode("ep_2")]);
      await again.close();
      const last = await open(home);
      const ground = await last.read();
      expect([ground.problems, ground.episodes.length]).toEqual([[], 2]);
      await last.close();
    }
  });

  it("are read per episode through all segments", async () => {
    const home = tempHome();
    const logs = await opened(home);
    for (let n = 1; n <= 40; n += 1) {
      const id = `ep_${n % 4}`;
      await logs.append(
        { calls: [call(id, n, { args: { episode: "ep_9", text: '"episode":"ep_8"' } }).line], episodes: [] },
        logs.nextNumber(),
      );
    }
    expect(segments(home, "calls").length).toBeGreaterThan(5);
    for (const reopen of [false, true]) {
      const again = reopen ? await opened(home) : logs;
      for (const id of [0, 1, 2, 3])
        expect(again.readCalls(`ep_${id}`).calls.map(({ seq }) => seq)).toEqual(
          [4, 8, 12, 16, 20, 24, 28, 32, 36, 40].map((n) => (id === 0 ? n : n - 4 + id)),
        );
      expect(again.readCalls("ep_9").calls.length).toBe(reopen ? 1 : 0);
      await again.append({ calls: [call("ep_9", 1).line], episodes: [] }, again.nextNumber());
      expect(again.readCalls("ep_9").calls).toHaveLength(1);
    }
  });
});
