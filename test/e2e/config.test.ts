import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { silentLog } from "../../src/host/log.js";
import { serve } from "../../src/serve.js";
import { post } from "../surfaces/start.js";
import { legacyHttp } from "../upstream/http-servers.js";
import { dropHome, newHome, startDaemon, until, type Daemon } from "./daemon.js";

const main = resolve(import.meta.dirname, "../../dist/main.js");
const workbench = resolve(import.meta.dirname, "../fixtures/servers/workbench.mjs");
let daemon: Daemon | undefined;
let home = "";
afterEach(async () => {
  await daemon?.stop();
  dropHome(home);
});

const get = async <T>(path: string): Promise<T> => (await (await fetch(`${daemon?.url}${path}`)).json()) as T;
async function marks(): Promise<string[]> {
  const { tools } = await get<{ tools: { marks: string[] }[] }>("/v1/catalog");
  return [...new Set(tools.flatMap((tool) => tool.marks))];
}

describe("a running daemon", () => {
  it("takes up a token that was replaced in its file with the first call that is refused, seen by a watch or not", async () => {
    home = newHome();
    let valid = "first";
    const server = await legacyHttp({
      refuse: (_method, { authorization }) => (authorization === `Bearer ${valid}` ? undefined : 401),
    });
    mkdirSync(join(home, "config"));
    const write = (token: string): void => {
      const headers = { Authorization: `Bearer ${token}` };
      writeFileSync(
        join(home, "config/steward.json"),
        JSON.stringify({ mcpServers: { remote: { type: "http", url: server.url, headers } } }),
      );
    };
    write(valid);
    const inside = { home, env: {}, main: "", log: silentLog, port: 0, upstreams: true, watch: false, announce: false };
    const served = await serve(inside);
    try {
      await until(async () => Promise.resolve(served.house.operations.health().tools > 0), "it is listed");
      const call = async (text: string): Promise<string> =>
        JSON.stringify((await post(`${served.listening.url}/v1/call_tool`, { tool: "remote/echo", arguments: { text } })).json());
      expect(await call("one")).toContain("one");
      write((valid = "second"));
      const again = await Promise.all([1, 2, 3, 4].map((at) => call(`again ${at}`)));
      expect(again.filter((text) => text.includes("again"))).toHaveLength(4);
      expect(server.count("initialize")).toBe(2);
      valid = "third";
      await until(async () => (await call("two")).includes("login"), "it waits for a login");
      write(valid);
      await until(async () => (await call("three")).includes("three"), "it is let in again");
    } finally {
      await served.stop();
    }
  });

  it("keeps its tools available however often its configuration is read again", async () => {
    home = newHome();
    const place = join(home, "config/steward.json");
    mkdirSync(join(home, "config"));
    const mcpServers = { bench: { command: process.execPath, args: [workbench] } };
    writeFileSync(place, JSON.stringify({ mcpServers, steward: {} }));
    daemon = await startDaemon(home, []);
    await daemon.ready();
    expect(await marks()).not.toContain("unavailable");
    const before = await get<unknown>("/v1/upstreams");
    const reread = (times: number) => async (): Promise<boolean> =>
      Promise.resolve((daemon?.stderr().match(/the configuration was read again/g) ?? []).length >= times);
    writeFileSync(place, `${readFileSync(place, "utf8")}\n`);
    await until(reread(1), "the file is read again");
    utimesSync(place, new Date(), new Date());
    writeFileSync(place, JSON.stringify({ mcpServers, steward: { exposure: { maxNameLength: 40 } } }, undefined, 2));
    await until(reread(2), "it is read once more");
    expect(await marks()).not.toContain("unavailable");
    expect(await get<unknown>("/v1/upstreams")).toEqual(before);
    expect((await fetch(`${daemon.url}/readyz`)).status).toBe(200);
  });

  it("says which saved settings wait for its next start, and that a broken file left the last good one in force", async () => {
    home = newHome();
    const place = join(home, "config/steward.json");
    mkdirSync(join(home, "config"));
    const save = (steward: object): void => writeFileSync(place, JSON.stringify({ mcpServers: {}, steward }));
    save({});
    daemon = await startDaemon(home, []);
    await daemon.ready();
    const problems = async (): Promise<string[]> =>
      (await get<{ problems: { code: string; where: string }[] }>("/v1/health")).problems.map(
        ({ code, where }) => `${code} ${where}`,
      );
    const shown = (expected: readonly string[]) => async (): Promise<boolean> =>
      JSON.stringify(await problems()) === JSON.stringify(expected);
    expect(await problems()).toEqual([]);
    const waiting = ["steward.manager", "steward.policy.requestBytes"].map(
      (key) => `config-at-next-start config/steward.json: ${key}`,
    );
    save({
      policy: { requestBytes: 10_000_000, resultBytes: 1_000 },
      manager: { kind: "llm", baseUrl: "http://127.0.0.1:9/v1", model: "m" },
    });
    await until(shown(waiting), "the settings that wait are named");
    writeFileSync(place, "{");
    await until(shown([...waiting, "config-unreadable config/steward.json"]), "the broken file is named");
    save({ policy: { resultBytes: 1_000 } });
    await until(shown([]), "nothing waits and nothing is broken any more");
  });
});

describe("a daemon that is asked to stop while it starts", () => {
  it("closes its home like one that stops later: its start does not count as a crash", async () => {
    home = newHome();
    daemon = undefined;
    const starting = spawn(process.execPath, [main, "serve", "--home", home, "--port", "0"], { stdio: "ignore" });
    const exited = new Promise<number | null>((done) => starting.once("exit", done));
    const claims = join(home, "state/lock.claims");
    const locked = (): boolean => existsSync(claims) && readdirSync(claims).some((name) => !name.startsWith("."));
    await until(() => Promise.resolve(locked()), "the home is locked");
    starting.kill("SIGTERM");
    expect(await exited).toBe(0);
    expect(readdirSync(claims)).toEqual([]);
    expect(existsSync(join(home, "state/lock"))).toBe(false);
  });
});
