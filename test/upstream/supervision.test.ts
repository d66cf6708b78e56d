import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Fault } from "../../src/model/fault.js";
import { fixture, isAlive, label, linesOf, stand, tempFolder, textOf, until, wordsIn } from "./stand.js";

describe("starting", () => {
  it("waits for nobody: fast upstreams are up while others are slow, mute or broken [T21]", async () => {
    const one = stand([fixture("mute.mjs", [], { connectTimeoutMs: 60_000 }), fixture("crash.mjs"), fixture("workbench.mjs")]);
    await one.reach("up", "workbench");
    await one.reach("away", "crash");
    expect(one.status("mute").presence.state).toBe("connecting");
    expect(textOf(await one.call("echo", { text: "served" }, { on: "workbench" }))).toBe("served");
  });

  it("has many first calls start one process [T26]", async () => {
    const file = join(tempFolder(), "starts");
    const one = stand(fixture("slow-start.mjs", ["200", file]));
    const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => one.call("echo", { text: String(at) })));
    expect(answers.map(textOf)).toEqual(Array.from({ length: 100 }, (_, at) => String(at)));
    expect(linesOf(file)).toBe(2);
  });

  it("lets only so many start at once in the background, and a call past those who wait [T20] [T21]", async () => {
    const file = join(tempFolder(), "starts");
    const many = Array.from({ length: 4 }, (_, at) => fixture("slow-start.mjs", ["500", file], { label: label(`s${at}`) }));
    const one = stand([...many, fixture("workbench.mjs")], { policyChanges: { startsAtOnce: 2 } });
    let most = 0;
    const starting = (): number => wordsIn(file, "begin") - wordsIn(file, "ready");
    expect(textOf(await one.call("echo", { text: "first" }, { on: "workbench" }))).toBe("first");
    await until(() => {
      most = Math.max(most, starting());
      return many.every(({ label: of }) => one.status(of).presence.state === "up");
    }, "all are up in the end");
    expect(most).toBeLessThanOrEqual(2);
  });

  it("obeys each upstream's own limit and says which phase took too long, with the last of stderr [T20] [T11]", async () => {
    const one = stand([
      fixture("mute.mjs", [], { connectTimeoutMs: 2_000 }),
      fixture("slow-start.mjs", ["600"], { connectTimeoutMs: 10_000 }),
    ]);
    await one.reach("away", "mute");
    expect(one.status("mute").presence.reason).toMatch(/^initialize: no answer within the connect timeout of 2000 ms/);
    expect(one.status("mute").presence.reason).toContain("pulling the image, layer 3 of 9");
    await one.reach("up", "slow-start");
  });

  it("tells a failed start with its last words, in the status and to the caller [T11]", async () => {
    const one = stand(fixture("crash.mjs"));
    await one.reach("away");
    expect(one.status().stderrTail).toBe("fatal: no database at db.internal:5432");
    expect(one.status().presence.reason).toContain("it exited with code 7");
    const fault = (await one.call("any").catch((error: unknown) => error)) as Fault;
    expect(fault.code).toBe("tool-unavailable");
    expect(fault.detail).toContain("no database at db.internal:5432");
  });

  it("parks an upstream whose program is not there, naming the searched PATH and a way out [T13]", async () => {
    const one = stand({ ...fixture("workbench.mjs"), command: "no-such-program-here", env: { PATH: "/usr/bin:/opt/nothing" } });
    await one.reach("parked");
    expect(one.status().presence.reason).toMatch(
      /"no-such-program-here" was not found \(PATH searched: \/usr\/bin:\/opt\/nothing\)\. Install it/,
    );
    await expect(one.call("echo")).rejects.toMatchObject({ code: "tool-not-offered" });
  });

  it("offers nothing of a disabled upstream", async () => {
    const one = stand(fixture("workbench.mjs", [], { disabled: true }));
    expect(one.presences()).toEqual(["disabled"]);
    await expect(one.call("echo")).rejects.toMatchObject({ code: "tool-not-offered" });
    expect(await one.upstreams.sync()).toEqual([{ label: "workbench", ok: false, reason: "it is disabled" }]);
  });
});

describe("what children are given and what they write", () => {
  it("is an environment of safe defaults, proxies and configured variables, never the daemon's secrets [T14]", async () => {
    const daemon = {
      PATH: process.env["PATH"] ?? "",
      HOME: "/home/x",
      HTTPS_PROXY: "http://proxy:1",
      no_proxy: "a",
      MANAGER_API_KEY: "secret",
      BASH_FUNC: "() { :; }",
    };
    const one = stand(fixture("workbench.mjs", [], { env: { TOKEN: "configured" } }), { baseEnv: daemon });
    const { env } = (await one.call("env"))["structuredContent"] as { env: Record<string, string> };
    expect(env).toMatchObject({
      PATH: daemon.PATH,
      HOME: "/home/x",
      HTTPS_PROXY: "http://proxy:1",
      no_proxy: "a",
      TOKEN: "configured",
    });
    expect(Object.keys(env).filter((name) => !name.startsWith("STEWARD_UPSTREAM"))).not.toContain("MANAGER_API_KEY");
    expect(env).not.toHaveProperty("BASH_FUNC");
  });

  it("on stderr is always drained; its end is kept by bytes [T11]", async () => {
    const one = stand(fixture("flood-stderr.mjs", ["4"]));
    expect(textOf(await one.call("echo", { text: "not blocked" }))).toBe("not blocked");
    const tail = one.status().stderrTail;
    expect(tail.endsWith("last line: ready")).toBe(true);
    expect(tail.length).toBeLessThanOrEqual(8 * 1024);
  });

  it("on stderr is shown without secrets and control characters", async () => {
    const one = stand(fixture("workbench.mjs", [], { env: { API_TOKEN: "tok-1234567" } }), { secrets: ["daemon-secret"] });
    await one.call("stderr", { line: "\u001b[31mtok-1234567 and daemon-secret\u001b[0m failed" });
    await until(() => one.status().stderrTail !== "", "written");
    expect(one.status().stderrTail).toBe("[redacted] and [redacted] failed");
  });

  it("on stdout that is no message is skipped and counted, with one warning [T02]", async () => {
    const one = stand(fixture("garbage-stdout.mjs"));
    for (let at = 0; at < 3; at += 1) expect(textOf(await one.call("echo", { text: "kept" }))).toBe("kept");
    await until(
      () => one.status().noiseLines >= 10,
      "counted",
      () => String(one.status().noiseLines),
    );
    expect(one.logs.filter((entry) => entry.text.includes("no message"))).toHaveLength(1);
    expect(one.presences()).not.toContain("away");
  });
});

describe("losing and regaining", () => {
  it("restarts a process that died, in silence where it had worked, with its tools known all the while [T01]", async () => {
    const one = stand(fixture("workbench.mjs"));
    await one.call("echo", { text: "it works" });
    await one.reach("up");
    const {
      pid,
      presence: { since },
    } = one.status();
    process.kill(pid ?? 0, "SIGKILL");
    await until(() => one.status().pid !== undefined && one.status().pid !== pid, "a new process");
    await until(() => one.listings().length === 2, "it was listed anew");
    expect(one.presences()).toEqual(["connecting", "up"]);
    // The same state, but of another process: it is up since that one is.
    expect(Date.parse(one.status().presence.since)).toBeGreaterThan(Date.parse(since));
    expect(one.status().failures).toBeGreaterThan(0);
  });

  it("takes a failing upstream back when a call asks for it, not only at the next planned attempt [T23]", async () => {
    const folder = tempFolder();
    const script = join(folder, "late.mjs");
    const one = stand({ ...fixture("workbench.mjs"), args: [script] });
    await one.reach("away");
    appendFileSync(script, `import ${JSON.stringify(fixture("workbench.mjs").args[0])};\n`);
    await until(
      async () => (await one.call("echo", { text: "back" }).then(textOf, () => "")) === "back",
      "a call brings it back",
    );
    await one.reach("up");
  });

  it("does not start a dead upstream over and over because many calls ask [T26]", async () => {
    const one = stand(fixture("crash.mjs"));
    await one.reach("away");
    const before = one.status().failures;
    const answers = await Promise.allSettled(Array.from({ length: 50 }, () => one.call("any")));
    expect(answers.every((answer) => answer.status === "rejected")).toBe(true);
    const attempts = one.logs.filter((entry) => entry.text.includes("could not be connected")).length;
    expect(attempts).toBeLessThanOrEqual(3);
    expect(one.status().failures).toBeGreaterThanOrEqual(before);
  });

  it("starts a hanging upstream anew, asked for a sign of life only while no call runs", async () => {
    const one = stand(fixture("hang.mjs", [], { callTimeoutMs: 200 }));
    await one.reach("up");
    const { pid } = one.status();
    await expect(one.call("wait")).rejects.toMatchObject({ code: "call-timeout" });
    await until(() => one.status().pid !== undefined && one.status().pid !== pid, "a new process", undefined, 20_000);
    expect(one.logs.some((entry) => entry.text.includes("no sign of life"))).toBe(true);
  });
});

describe("resting", () => {
  it("stops an idle process, keeps its tools listed, and starts it for the next call", async () => {
    const one = stand(fixture("workbench.mjs", [], { idleStopMs: 250 }));
    await one.reach("idle");
    const listings = one.listings().length;
    expect(one.status().pid).toBeUndefined();
    expect(textOf(await one.call("echo", { text: "awake" }))).toBe("awake");
    await one.reach("up");
    await one.reach("idle");
    expect(one.presences()).toEqual(["connecting", "up", "idle", "up", "idle"]);
    expect(one.listings().length).toBeGreaterThan(listings);
    expect(one.listings().every((event) => event.tools.length > 10)).toBe(true);
  });

  it("never while a call runs", async () => {
    const one = stand(fixture("workbench.mjs", [], { idleStopMs: 100 }));
    expect(textOf(await one.call("sleep", { ms: 500 }))).toBe("slept 500");
  });
});

describe("a new configuration", () => {
  it("leaves what did not change connected, stops what left, starts what came", async () => {
    const kept = fixture("workbench.mjs");
    const left = fixture("garbage-stdout.mjs");
    const one = stand([kept, left]);
    await one.reach("up", "workbench");
    await one.reach("up", "garbage-stdout");
    const pid = one.status("workbench").pid;
    const gone = one.status("garbage-stdout").pid ?? 0;
    const came = fixture("slow-start.mjs", ["0"]);
    await one.upstreams.configure(
      new Map([
        [kept.label, { ...kept, callTimeoutMs: 1 }],
        [came.label, came],
      ]),
    );
    await one.reach("up", "slow-start");
    expect(one.status("workbench").pid).toBe(pid);
    expect(await isAlive(gone)).toBe(false);
    await expect(one.call("echo", {}, { on: "garbage-stdout" })).rejects.toMatchObject({ code: "tool-unknown" });
    await expect(one.call("sleep", { ms: 500 }, { on: "workbench" })).rejects.toMatchObject({ code: "call-timeout" });
  });

  it("has calls that come while an upstream is replaced answered by its successor, and the last of several words counts", async () => {
    const config = fixture("workbench.mjs");
    const one = stand(config);
    await one.reach("up");
    const { pid } = one.status();
    const puts = (extra: string): Promise<void> =>
      one.upstreams.configure(new Map([[config.label, { ...config, env: { EXTRA_TOOLS: extra } }]]));
    const replaced = puts("1");
    await Promise.resolve();
    expect(textOf(await one.call("echo", { text: "hello" }))).toContain("hello");
    await replaced;
    expect(one.status().pid).not.toBe(pid);
    await Promise.all([puts("2"), puts("3")]);
    await until(
      () =>
        one
          .listings()
          .at(-1)
          ?.tools.some((tool) => tool.name === "extra-2") === true,
      "the last word counts",
    );
  });

  it("lets calls in flight finish whatever changed, at most within the bound on a stop, and none is sent to two", async () => {
    const config = fixture("workbench.mjs");
    for (const next of [{ ...config, env: { EXTRA_TOOLS: "1" } }, { ...config, disabled: true }, undefined]) {
      const one = stand(config);
      await one.reach("up");
      const running = one.call("sleep", { ms: 2_500 });
      await one.upstreams.configure(new Map(next === undefined ? [] : [[config.label, next]]));
      expect(textOf(await running)).toBe("slept 2500");
      await one.stop();
    }
    const bounded = stand(config, { policyChanges: { stopMs: 200 } });
    await bounded.reach("up");
    const long = bounded.call("sleep", { ms: 600_000 });
    const told = expect(long).rejects.toMatchObject({ code: "call-interrupted" });
    await bounded.upstreams.configure(new Map([[config.label, { ...config, env: { EXTRA_TOOLS: "1" } }]]));
    await told;
    const stopped = stand(config);
    await stopped.reach("up");
    const cut = expect(stopped.call("sleep", { ms: 600_000 })).rejects.toMatchObject({ code: "call-interrupted" });
    const configured = stopped.upstreams.configure(new Map());
    await Promise.resolve();
    await stopped.stop();
    await cut;
    await configured;
    expect(stopped.upstreams.recordedProcesses()).toEqual([]);
  });

  it("restarts an upstream whose environment changed", async () => {
    const config = fixture("workbench.mjs");
    const one = stand(config);
    await one.reach("up");
    await one.upstreams.configure(new Map([[config.label, { ...config, env: { EXTRA_TOOLS: "2" } }]]));
    await until(
      () =>
        one
          .listings()
          .at(-1)
          ?.tools.some((tool) => tool.name === "extra-1") === true,
      "listed anew",
    );
  });
});
