import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { nodeFiles } from "../../src/host/files.js";
import { ownStartTime } from "../../src/host/processes.js";
import { readDaemon } from "../../src/store/daemon.js";
import { renderDocument } from "../../src/store/documents.js";
import { lockHome } from "../../src/store/lock.js";
import { has, NOW, open, presence, removeHomes, tempHome } from "./home.js";

afterEach(removeHomes);

const source = join(import.meta.dirname, "../../src");

/** A claim as another process would have left it. */
function claim(home: string, more: object = {}, name = "7-abc.json"): string {
  const record = {
    format: "home-lock/1",
    pid: 2 ** 22 + 12345,
    startTime: "1@x",
    host: hostname(),
    since: NOW,
    crashes: 0,
    ready: false,
    ...more,
  };
  mkdirSync(join(home, "state/lock.claims"), { recursive: true });
  writeFileSync(join(home, "state/lock.claims", name), renderDocument(record));
  writeFileSync(join(home, "state/lock"), renderDocument(record));
  return join(home, "state/lock.claims", name);
}

const take = (home: string, times?: { touchMs: number; foreignMs: number }) =>
  lockHome({ home, files: nodeFiles(), now: NOW, ...(times === undefined ? {} : { times }) });

describe("the lock of a home", () => {
  it("lets one process in, and tells the next who it is and where [P09]", async () => {
    const home = tempHome();
    const store = await open(home);
    await store.announce({ url: "http://127.0.0.1:7717", version: "1" });
    expect(JSON.parse(readFileSync(join(home, "state/lock"), "utf8"))).toMatchObject({
      pid: process.pid,
      startTime: ownStartTime(),
      host: hostname(),
    });
    await expect(open(home)).rejects.toMatchObject({
      code: "home-locked",
      message: expect.stringMatching(new RegExp(`Process ${process.pid} works on .*http://127\\.0\\.0\\.1:7717`)) as string,
      data: { pid: process.pid, url: "http://127.0.0.1:7717" },
    });
    expect(readDaemon(home)).toMatchObject({ url: "http://127.0.0.1:7717", tokenFile: "state/operator.token" });
    await store.close();
    expect([has(home, "state/lock"), has(home, "state/daemon.json")]).toEqual([false, false]);
    await (await open(home)).close();
  });

  it("is taken over from a process that is dead, and from a pid that somebody else has now [P09]", async () => {
    for (const dead of [{}, { pid: process.ppid, startTime: "long ago" }]) {
      const home = tempHome();
      claim(home, dead);
      const lock = await take(home);
      expect(lock.tookOver).toBe(true);
      expect(readdirSync(join(home, "state/lock.claims"))).toHaveLength(1);
      await lock.release();
    }
  });

  it("is never taken from a living process, however old the lock is [P09]", async () => {
    const home = tempHome();
    const path = claim(home, { pid: process.ppid, startTime: "" });
    utimesSync(path, 1, 1);
    await expect(take(home)).rejects.toMatchObject({ code: "home-locked", data: { pid: process.ppid } });
    // A claim that is gone counts too as long as state/lock names a living process.
    const other = tempHome();
    claim(other, { pid: process.ppid, startTime: "" }, ".gone");
    await expect(take(other)).rejects.toMatchObject({ code: "home-locked" });
  });

  it("on another host counts as long as its owner touches it, by the contender's own clock [P09]", async () => {
    const home = tempHome();
    const path = claim(home, { host: "elsewhere" });
    const times = { touchMs: 20, foreignMs: 200 };
    const touching = setInterval(() => utimesSync(path, new Date(), new Date()), 10);
    await expect(take(home, times)).rejects.toMatchObject({
      code: "home-locked",
      message: expect.stringContaining("on host elsewhere") as string,
    });
    clearInterval(touching);
    const lock = await take(home, times);
    expect(lock.tookOver).toBe(true);
    await lock.release();
  });

  it("stops an owner from writing whose claim another host took away", async () => {
    const home = tempHome();
    const store = await open(home);
    await store.persist([presence("a", "up")]);
    for (const name of readdirSync(join(home, "state/lock.claims"))) writeFileSync(join(home, "state/lock.claims", name), "");
    const { rmSync } = await import("node:fs");
    rmSync(join(home, "state/lock.claims"), { recursive: true });
    await expect(store.persist([presence("a", "away")])).rejects.toMatchObject({ code: "home-locked" });
    await store.close();
  });

  it("goes to exactly one of many processes that start at the same moment, dead owner or not [P09]", async () => {
    for (const before of ["nobody", "a dead owner"]) {
      const home = tempHome();
      if (before === "a dead owner") claim(home);
      const script = `
        import { openStore } from ${JSON.stringify(join(source, "store/store.ts"))};
        import { silentLog } from ${JSON.stringify(join(source, "host/log.ts"))};
        process.stdin.once("data", async () => {
          try {
            await openStore({ home: ${JSON.stringify(home)}, now: "now", log: silentLog });
            process.stdout.write("won\\n");
            setInterval(() => {}, 1000);
          } catch (error) {
            process.stdout.write(error.code + "\\n", () => process.exit());
          }
        });
        process.stdout.write("here\\n");`;
      const racers = Array.from({ length: 6 }, () => {
        const flags = ["--import", "tsx", "--input-type=module", "-e", script];
        const child = spawn(process.execPath, flags, { stdio: ["pipe", "pipe", "inherit"] });
        const words: string[] = [];
        let wake: () => void = () => undefined;
        child.stdout.on("data", (data: Buffer) => (words.push(...data.toString().trim().split("\n")), wake()));
        const said = async (count: number): Promise<string> => {
          while (words.length < count) await new Promise<void>((resolve) => (wake = resolve));
          return words[count - 1] ?? "";
        };
        return { child, said };
      });
      await Promise.all(racers.map(({ said }) => said(1)));
      for (const { child } of racers) child.stdin.write("go\n");
      const results = await Promise.all(racers.map(({ said }) => said(2)));
      for (const { child } of racers) child.kill("SIGKILL");
      for (const { child } of racers) {
        if (child.exitCode === null && child.signalCode === null) await new Promise((resolve) => child.once("exit", resolve));
      }
      expect(results.sort(), before).toEqual(["home-locked", "home-locked", "home-locked", "home-locked", "home-locked", "won"]);
      await (await open(home)).close();
    }
  }, 120_000);

  it("counts starts that crashed before the home was ready, and distrusts what is derived after three [P11]", async () => {
    const home = tempHome();
    for (const [crashes, safe] of [
      [1, false],
      [2, true],
    ] as const) {
      claim(home, { crashes });
      const store = await open(home);
      expect([store.lock.crashes, store.safeMode]).toEqual([crashes + 1, safe]);
      await store.close();
    }
    claim(home, { crashes: 2, ready: true });
    const store = await open(home);
    expect(store.lock.crashes).toBe(0);
    await store.markReady();
    expect(
      readFileSync(join(home, "state/lock.claims", readdirSync(join(home, "state/lock.claims"))[0] ?? ""), "utf8"),
    ).toContain('"ready": true');
    await store.close();
  });

  it("takes no daemon record of a dead process for a daemon", async () => {
    const home = tempHome();
    const store = await open(home);
    await store.announce({ url: "http://x", version: "1" });
    const path = join(home, "state/daemon.json");
    writeFileSync(path, readFileSync(path, "utf8").replace(/"startTime": "[^"]*"/, '"startTime": "1@x"'));
    expect(readDaemon(home)).toBeUndefined();
    writeFileSync(path, "{");
    expect(readDaemon(home)).toBeUndefined();
    await store.close();
  });
});
