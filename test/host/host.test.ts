import { spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { base32, systemChance } from "../../src/host/chance.js";
import { systemClock } from "../../src/host/clock.js";
import { baseEnv, childEnv } from "../../src/host/env.js";
import { ensureFolder, nodeFiles, unwritable, writeAtomic, type Files } from "../../src/host/files.js";
import { silentLog } from "../../src/host/log.js";
import { pathProblem } from "../../src/host/paths.js";
import { isAlive, isSameProcess, ownStartTime, startTimeOf } from "../../src/host/processes.js";
import { onStop } from "../../src/host/signals.js";
import { packageVersion, starterHome } from "../../src/host/starter.js";

const folders: string[] = [];
function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "steward-host-"));
  folders.push(path);
  return path;
}
afterEach(() => {
  for (const path of folders.splice(0)) rmSync(path, { recursive: true, force: true });
});

describe("files", () => {
  it("replaces a file whole, keeps the bytes before as .bak, and leaves no temporary file", async () => {
    const at = join(folder(), "a.json");
    const files = nodeFiles();
    await writeAtomic(files, at, "one", { keepPrevious: true });
    await writeAtomic(files, at, "two", { keepPrevious: true });
    await writeAtomic(files, at, "three", { keepPrevious: true, mode: 0o600 });
    expect(readdirSync(join(at, ".."))).toEqual(["a.json", "a.json.bak"]);
    expect([readFileSync(at, "utf8"), readFileSync(`${at}.bak`, "utf8")]).toEqual(["three", "two"]);
    if (process.platform !== "win32") expect(statSync(at).mode & 0o777).toBe(0o600);
  });

  it("writes one file from many hands at once without meeting a foreign temporary file [P02]", async () => {
    const at = join(folder(), "a.json");
    const files = nodeFiles();
    await Promise.all(Array.from({ length: 40 }, (_, n) => writeAtomic(files, at, `whole ${n}`)));
    expect(readFileSync(at, "utf8")).toMatch(/^whole \d+$/);
    expect(readdirSync(join(at, ".."))).toEqual(["a.json"]);
  });

  it("fsyncs the bytes before the name and the folder after it [P01]", async () => {
    const steps: string[] = [];
    const real = nodeFiles();
    const noted = Object.fromEntries(
      Object.entries(real).map(([name, run]) => [
        name,
        async (...args: unknown[]) => {
          steps.push(name);
          await (run as (...args: unknown[]) => Promise<void>)(...args);
        },
      ]),
    ) as unknown as Files;
    await writeAtomic(noted, join(folder(), "a"), "x");
    expect(steps).toEqual(["create", "sync", "rename", "syncFolder"]);
  });

  it("keeps the old file where a write fails, and says what to do", async () => {
    const at = join(folder(), "a");
    writeFileSync(at, "old");
    const full: Files = {
      ...nodeFiles(),
      sync: () => Promise.reject(Object.assign(new Error("ENOSPC: no space"), { code: "ENOSPC" })),
    };
    await expect(writeAtomic(full, at, "new")).rejects.toThrow("ENOSPC");
    expect(readFileSync(at, "utf8")).toBe("old");
    expect(readdirSync(join(at, ".."))).toEqual(["a"]);
    const fault = unwritable("state/holds.json", Object.assign(new Error("ENOSPC: no space"), { code: "ENOSPC" }));
    expect(fault).toMatchObject({ code: "home-unwritable", retryable: true, blame: "operator" });
    expect(fault.message).toContain("state/holds.json: The disc is full");
  });

  it("appends, cuts and goes on appending at the new end", async () => {
    const root = folder();
    const at = join(root, "b/c/log");
    const files = nodeFiles();
    await ensureFolder(files, join(root, "b/c"), root);
    await files.append(at, "one\ntwo\n");
    await files.sync(at);
    await files.truncate(at, 4);
    await files.append(at, "three\n");
    await files.sync(at);
    await files.close();
    expect(readFileSync(at, "utf8")).toBe("one\nthree\n");
  });
});

describe("names of files from outside", () => {
  it("refuses what leaves its folder on any system [S06]", () => {
    const bad = [
      "../a",
      "a/../../b",
      "/etc/passwd",
      "..\\a",
      "a\\b",
      "C:/a",
      "c:a",
      "a//b",
      "./a",
      "a/.",
      "nul",
      "sub/CON.txt",
      "a/b.",
      "a ",
      "a\u0000b",
      "a:b",
      "",
    ];
    expect(bad.filter((path) => pathProblem(path) === undefined)).toEqual([]);
    for (const good of ["SKILL.md", "references/contract.json", "scripts/run me.sh", "データ/説明.md", ".hidden"])
      expect(pathProblem(good)).toBeUndefined();
  });

  it("accepts only paths that stay below the folder they are joined to [S06]", () => {
    const root = join(tmpdir(), "root");
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom("..", ".", "/", "\\", "a", "C:", "b.md", ""), fc.string()), { maxLength: 6 }),
        (parts) => {
          const path = parts.join("/");
          if (pathProblem(path) === undefined) expect(join(root, path).startsWith(`${root}/`)).toBe(true);
        },
      ),
    );
  });
});

describe("the environment of upstreams", () => {
  const daemon = {
    PATH: "/bin",
    HOME: "/me",
    LC_ALL: "de",
    HTTPS_PROXY: "http://p",
    https_proxy: "http://p",
    OPENAI_API_KEY: "sk",
    AWS_SECRET_ACCESS_KEY: "x",
    BAD: "() { :; }",
    SHELL: "() { evil",
  };

  it("has safe defaults, proxies and the configured variables, and none of the daemon's secrets [T14]", () => {
    expect(childEnv(daemon, { TOKEN: "given", HOME: "/theirs" }, "linux")).toEqual({
      PATH: "/bin",
      HOME: "/theirs",
      LC_ALL: "de",
      HTTPS_PROXY: "http://p",
      https_proxy: "http://p",
      TOKEN: "given",
    });
  });

  it("keeps what Windows needs to start anything, whatever the case of its name [T14]", () => {
    const windows = { Path: "C:\\bin", PATHEXT: ".EXE", ComSpec: "cmd.exe", SystemRoot: "C:\\Windows", SECRET_TOKEN: "x" };
    expect(Object.keys(baseEnv(windows, "win32"))).toEqual(["Path", "PATHEXT", "ComSpec", "SystemRoot"]);
    expect(childEnv(windows, { PATH: "D:\\bin" }, "win32")).toMatchObject({ PATH: "D:\\bin" });
    expect(childEnv(windows, { PATH: "D:\\bin" }, "win32")).not.toHaveProperty("Path");
  });
});

describe("processes", () => {
  it("knows itself, and does not take a reused pid for the process that had it", () => {
    expect(isSameProcess(process.pid, ownStartTime())).toBe(true);
    expect(startTimeOf(process.pid)).toBe(ownStartTime());
    if (ownStartTime() !== "") expect(isSameProcess(process.pid, "long ago")).toBe(false);
    expect([isAlive(0), isAlive(-1), isAlive(2 ** 30)]).toEqual([false, false, false]);
  });

  it("takes a killed child for dead, also before its parent has collected it", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(()=>{},1000)"], { stdio: "ignore" });
    const pid = child.pid ?? 0;
    expect(isAlive(pid)).toBe(true);
    const started = startTimeOf(pid) ?? "";
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
    expect(isSameProcess(pid, started)).toBe(false);
  });
});

describe("stopping", () => {
  it("finishes what is under way before it exits [P04]", async () => {
    const source = new EventEmitter();
    const order: string[] = [];
    const done = new Promise<number>((resolve) => {
      const write = async (): Promise<void> => {
        await new Promise((after) => setTimeout(after, 30));
        order.push("written");
      };
      onStop(write, { stopMs: () => 5_000, log: silentLog, source, exit: (code) => (order.push("exit"), resolve(code)) });
    });
    source.emit("SIGTERM");
    expect(await done).toBe(0);
    expect(order).toEqual(["written", "exit"]);
  });

  it("takes a storm of signals for one wish, and cuts nothing short for it", async () => {
    const source = new EventEmitter();
    let nowMs = 5_000;
    let stops = 0;
    const codes: number[] = [];
    const ended = new Promise<void>((resolve) => {
      const stop = async (): Promise<void> => {
        stops += 1;
        await new Promise((after) => setTimeout(after, 30));
      };
      const exit = (code: number): void => (codes.push(code), resolve());
      onStop(stop, { stopMs: () => 5_000, log: silentLog, source, exit, elapsedMs: () => nowMs });
    });
    for (let at = 0; at < 40; at += 1, nowMs += 12) source.emit(["SIGTERM", "SIGHUP", "SIGINT"][at % 3] ?? "SIGTERM");
    await ended;
    expect([stops, codes]).toEqual([1, [0]]);
  });

  it("leaves after the bound where stopping hangs, and at once on a signal that comes a moment after the first", async () => {
    const source = new EventEmitter();
    let nowMs = 0;
    const codes: number[] = [];
    const ended = new Promise<void>((resolve) => {
      onStop(() => new Promise(() => undefined), {
        stopMs: () => 20,
        log: silentLog,
        source,
        exit: (code) => (codes.push(code), codes.length === 2 && resolve()),
        elapsedMs: () => nowMs,
      });
    });
    source.emit("SIGINT");
    nowMs = 600;
    source.emit("SIGINT");
    await ended;
    expect(codes).toEqual([130, 1]);
  });

  it("stops once, with a failure, after an error nobody caught", async () => {
    const source = new EventEmitter();
    let stops = 0;
    const code = await new Promise<number>((resolve) => {
      onStop(() => (stops++, Promise.resolve()), { stopMs: () => 1_000, log: silentLog, source, exit: resolve });
      source.emit("uncaughtException", new Error("x"));
      source.emit("unhandledRejection", new Error("y"));
    });
    expect([code, stops]).toEqual([1, 1]);
  });
});

describe("small ports", () => {
  it("draws ids of lower-case base32 that do not repeat", () => {
    const chance = systemChance();
    const ids = new Set(Array.from({ length: 2_000 }, () => chance.id("ep_")));
    expect(ids.size).toBe(2_000);
    for (const id of ids) expect(id).toMatch(/^ep_[0-9a-hjkmnp-tv-z]{20}$/);
    expect(chance.id("vw")).toMatch(/^vw_/);
    expect(base32(8)).toHaveLength(8);
  });

  it("tells instants in UTC to the millisecond and elapsed time that never runs back", () => {
    const clock = systemClock();
    expect(clock.now()).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const first = clock.elapsedMs();
    expect(clock.elapsedMs()).toBeGreaterThanOrEqual(first);
  });

  it("finds the shipped starter home beside the package", () => {
    const starter = starterHome();
    expect(readdirSync(starter.root)).toContain("package.json");
    expect(starter.skills).toBe(join(starter.root, "skills"));
    expect(packageVersion()).toMatch(/^\d+\.\d+\.\d+/);
  });
});
