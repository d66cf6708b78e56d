/** Watching: whatever moves is told, once it is calm, wherever it lies and whatever became of the folders before. */
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { nodeFiles, writeAtomic } from "../../src/host/files.js";
import { watchPaths, type Watching, type WatchOptions } from "../../src/host/watch.js";

const SETTLE_MS = 30;
const opened: { watching?: Watching; root: string }[] = [];

afterEach(async () => {
  for (const { watching, root } of opened.splice(0)) {
    await watching?.stop();
    rmSync(root, { recursive: true, force: true });
  }
});

function newRoot(): string {
  const root = mkdtempSync(join(tmpdir(), "steward-watch-"));
  opened.push({ root });
  return root;
}

/** Watches, and answers how to wait until something was told since the last time. */
async function watched(path: string, options: WatchOptions = {}) {
  let told = 0;
  let wake = (): void => undefined;
  const failures: unknown[] = [];
  const watching = watchPaths(
    [path],
    () => {
      told += 1;
      wake();
    },
    (error) => failures.push(error),
    { settleMs: SETTLE_MS, ...options },
  );
  opened.push({ watching, root: path });
  await watching.ready;
  return {
    failures,
    watching,
    count: () => told,
    async next(): Promise<void> {
      if (told === 0) await new Promise<void>((resolve) => (wake = resolve));
      told = 0;
    },
    /** Longer than calm takes. */
    quiet: () => new Promise((resolve) => setTimeout(resolve, 5 * SETTLE_MS)),
  };
}

/** Moves that the system keeps for who does not read them; undefined where that cannot be known, or is too many to try. */
function queueOfSystem(): number | undefined {
  try {
    const most = Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8"));
    return most > 0 && most <= 70_000 ? most : undefined;
  } catch {
    return undefined;
  }
}

describe.each([
  ["folder by folder", { bySystem: false }],
  ["by the system", { bySystem: true }],
])("a watched folder, %s", (_name, options) => {
  it("tells of files that come, change, are replaced and go, at any depth", async () => {
    const root = newRoot();
    mkdirSync(join(root, "a/references"), { recursive: true });
    writeFileSync(join(root, "a/references/one.md"), "1");
    const { next, failures } = await watched(root, options);
    const moves: (() => void | Promise<void>)[] = [
      () => writeFileSync(join(root, "a/references/one.md"), "2"),
      () => writeAtomic(nodeFiles(), join(root, "a/references/one.md"), "3"),
      () => writeFileSync(join(root, "a/two.md"), "1"),
      () => rmSync(join(root, "a/two.md")),
      () => writeFileSync(join(root, "three.md"), "1"),
      () => renameSync(join(root, "a"), join(root, "b")),
      () => writeFileSync(join(root, "b/references/one.md"), "4"),
      () => rmSync(join(root, "b"), { recursive: true }),
    ];
    for (const move of moves) {
      await move();
      await next();
    }
    expect(failures).toEqual([]);
  });
});

describe("a watched folder", () => {
  it("follows folders that come, at once with what is in them, and go and come again under the same name", async () => {
    const root = newRoot();
    const { next, failures } = await watched(root, { bySystem: false });
    for (let round = 0; round < 3; round += 1) {
      mkdirSync(join(root, "deep/er/still"), { recursive: true });
      await next();
      writeFileSync(join(root, "deep/er/still/file.md"), String(round));
      await next();
      rmSync(join(root, "deep"), { recursive: true });
      await next();
    }
    expect(failures).toEqual([]);
  });

  it("is followed when it is itself replaced", async () => {
    const root = newRoot();
    mkdirSync(join(root, "skills/one"), { recursive: true });
    const { next, failures } = await watched(join(root, "skills"), { bySystem: false });
    renameSync(join(root, "skills"), join(root, "elsewhere"));
    await next();
    mkdirSync(join(root, "skills/two"), { recursive: true });
    await next();
    writeFileSync(join(root, "skills/two/file.md"), "x");
    await next();
    expect(failures).toEqual([]);
  });

  it("is followed through a link, wherever that leads and whatever stands there then", async () => {
    const root = newRoot();
    for (const name of ["first", "second", "third"]) mkdirSync(join(root, "away", name, "one"), { recursive: true });
    symlinkSync(join(root, "away/first"), join(root, "skills"));
    const { next, failures, quiet } = await watched(join(root, "skills"), { bySystem: false });
    const isWatched = async (): Promise<void> => {
      await quiet();
      await next();
      writeFileSync(join(root, "skills/one/file.md"), "x");
      await next();
    };
    renameSync(join(root, "away/first"), join(root, "away/former"));
    await next();
    renameSync(join(root, "away/second"), join(root, "away/first"));
    await isWatched();
    symlinkSync(join(root, "away/third"), join(root, "new"));
    renameSync(join(root, "new"), join(root, "skills"));
    await isWatched();
    renameSync(join(root, "away/third"), join(root, "away/latter"));
    await next();
    mkdirSync(join(root, "away/third/one"), { recursive: true });
    await isWatched();
    expect(failures).toEqual([]);
  });

  it.skipIf(queueOfSystem() === undefined)("is watched on where more moved at once than the system tells of", async () => {
    const root = newRoot();
    const { next, quiet } = await watched(root, { bySystem: false });
    // Nothing is read meanwhile: the queue is full when the folders come.
    const [one, two] = [join(root, "one.md"), join(root, "two.md")];
    for (let n = 0; n <= (queueOfSystem() ?? 0) / 2; n += 1) {
      appendFileSync(one, "x");
      appendFileSync(two, "x");
    }
    mkdirSync(join(root, "late/deep"), { recursive: true });
    await next();
    await quiet();
    await next();
    writeFileSync(join(root, "late/deep/file.md"), "x");
    await next();
  });

  it("is told of at last where it never comes to rest", async () => {
    const root = newRoot();
    const { next } = await watched(root, { bySystem: false });
    const restless = setInterval(() => writeFileSync(join(root, "log.md"), String(Math.random())), SETTLE_MS / 5);
    await next();
    await next();
    clearInterval(restless);
  });

  it("passes over hidden names and what lies behind links", async () => {
    const root = newRoot();
    const other = newRoot();
    mkdirSync(join(root, ".git"));
    symlinkSync(other, join(root, "link"));
    const { count, quiet } = await watched(root, { bySystem: false });
    writeFileSync(join(root, ".hidden"), "x");
    writeFileSync(join(root, ".git/index"), "x");
    writeFileSync(join(other, "file.md"), "x");
    await quiet();
    expect(count()).toBe(0);
  });
});

describe("a watched file", () => {
  it("is told of once, after the last of several moves, and never after the stop", async () => {
    const root = newRoot();
    const path = join(root, "a.json");
    const { next, count, quiet, watching } = await watched(path, { settleMs: 80 });
    for (let n = 0; n < 5; n += 1) await writeAtomic(nodeFiles(), path, String(n));
    await next();
    await quiet();
    expect(count()).toBe(0);
    writeFileSync(path, "last");
    await watching.stop();
    await quiet();
    expect(count()).toBe(0);
  });

  it("is told of when it is there for the first time, and not when its neighbours move", async () => {
    const root = newRoot();
    const { next, count, quiet } = await watched(join(root, "a.json"));
    writeFileSync(join(root, "b.json"), "x");
    await quiet();
    expect(count()).toBe(0);
    writeFileSync(join(root, "a.json"), "x");
    await next();
  });
});
