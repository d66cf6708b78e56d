/** Daemons that bridges start: at which address, and how many. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, it } from "vitest";
import type { LogData } from "../../src/host/log.js";
import { silentLog } from "../../src/host/log.js";
import { isSameProcess } from "../../src/host/processes.js";
import type { JsonObject } from "../../src/model/json.js";
import { serve, type Served } from "../../src/serve.js";
import { readDaemon } from "../../src/store/daemon.js";
import { INITIALIZE } from "../surfaces/start.js";
import { dropHome, newHome, until } from "./daemon.js";

const main = resolve(import.meta.dirname, "../../dist/main.js");
const homes: string[] = [];
const bridges: ChildProcess[] = [];
const servers: Server[] = [];
const served: Served[] = [];

afterEach(async () => {
  for (const one of served.splice(0)) await one.stop();
  for (const bridge of bridges.splice(0)) bridge.kill();
  for (const server of servers.splice(0)) server.close();
  for (const home of homes.splice(0)) {
    await end(home, "SIGTERM");
    dropHome(home);
  }
});

/** A home without upstreams, whose configuration names this port. */
function homeOn(port: number): string {
  const home = newHome();
  homes.push(home);
  mkdirSync(join(home, "config"));
  writeFileSync(join(home, "config/steward.json"), JSON.stringify({ mcpServers: {}, steward: { http: { port } } }));
  return home;
}

/** A port that this program has, until it is let go. */
async function takenPort(): Promise<{ port: number; letGo: () => Promise<void> }> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    port: (server.address() as { port: number }).port,
    letGo: () => new Promise((closed) => server.close(() => closed())),
  };
}
async function freePort(): Promise<number> {
  const { port, letGo } = await takenPort();
  await letGo();
  return port;
}

/** An agent on a bridge. */
function bridgeTo(home: string): { ask: (method: string, params?: JsonObject) => Promise<JsonObject> } {
  const child = spawn(process.execPath, [main, "stdio", "--home", home], { stdio: ["pipe", "pipe", "ignore"] });
  bridges.push(child);
  const waiting = new Map<number, (message: JsonObject) => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as JsonObject;
    waiting.get(message["id"] as number)?.(message);
  });
  let ids = 0;
  return {
    ask: (method, params = {}) =>
      new Promise((answered) => {
        ids += 1;
        waiting.set(ids, answered);
        child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: ids, method, params })}\n`);
      }),
  };
}
const hello = INITIALIZE.params as unknown as JsonObject;

async function post(url: string, body: object, session?: string): Promise<Response> {
  return await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(session === undefined ? {} : { "mcp-session-id": session }),
    },
    body: JSON.stringify(body),
  });
}

/** Ends the home's daemon, if one lives; resolves when its process is gone. */
async function end(home: string, signal: "SIGTERM" | "SIGKILL"): Promise<number | undefined> {
  const daemon = readDaemon(home);
  if (daemon === undefined) return undefined;
  process.kill(daemon.pid, signal);
  await until(() => Promise.resolve(!isSameProcess(daemon.pid, daemon.startTime)), "the daemon is gone");
  return daemon.pid;
}

describe("a daemon that a bridge starts", () => {
  it("is one for all bridges, listens where the configuration says, and comes back there when it was killed", async () => {
    const port = await freePort();
    const home = homeOn(port);
    const agents = [bridgeTo(home), bridgeTo(home)];
    for (const answer of await Promise.all(agents.map(({ ask }) => ask("initialize", hello))))
      expect(answer["result"]).toMatchObject({ serverInfo: { name: "steward" } });
    const url = `http://127.0.0.1:${port}`;
    expect(readDaemon(home)?.url).toBe(url);
    const session = (await post(url, INITIALIZE)).headers.get("mcp-session-id") ?? "";
    expect((await post(url, { jsonrpc: "2.0", id: 2, method: "ping" }, session)).status).toBe(200);

    const before = await end(home, "SIGKILL");
    for (const answer of await Promise.all(agents.map(({ ask }) => ask("tools/list"))))
      expect((answer["result"] as { tools: unknown[] }).tools).toHaveLength(6);
    expect(readDaemon(home)?.url).toBe(url);
    expect(readDaemon(home)?.pid).not.toBe(before);
    // An agent that speaks HTTP itself hears at the same address that its session is over, and opens another.
    expect((await post(url, { jsonrpc: "2.0", id: 3, method: "ping" }, session)).status).toBe(404);
    expect((await post(url, INITIALIZE)).headers.get("mcp-session-id")).not.toBe(session);
  });

  it("works beside another home's on the same configured port, says so, and keeps the port it found through a crash", async () => {
    const { port } = await takenPort();
    const home = homeOn(port);
    const agent = bridgeTo(home);
    expect((await agent.ask("initialize", hello))["result"]).toBeDefined();
    const url = readDaemon(home)?.url ?? "";
    expect(url).not.toBe(`http://127.0.0.1:${port}`);
    const told = readFileSync(join(home, "state/daemon.log"), "utf8");
    expect(told).toContain(`Port ${port} on 127.0.0.1 cannot be had`);
    expect(told).toContain(url);
    await end(home, "SIGKILL");
    expect((await agent.ask("ping"))["result"]).toEqual({});
    expect(readDaemon(home)?.url).toBe(url);
  });

  it("that cannot start is told to its agent at once, with the reason", async () => {
    const home = homeOn(0);
    writeFileSync(join(home, "config/steward.json"), "{");
    const answer = await bridgeTo(home).ask("initialize", hello);
    expect(answer["error"]).toMatchObject({ message: expect.stringContaining("config/steward.json") as string });
  });
});

describe("listening where any port will do", () => {
  const open = async (home: string, port: number | undefined, anyPort: boolean): Promise<{ port: number; told: string[] }> => {
    const told: string[] = [];
    const log = { ...silentLog, warn: (text: string, _data?: LogData) => void told.push(text) };
    const options = { home, env: {}, main: "", log, port, anyPort, upstreams: false, watch: false, announce: false };
    const one = await serve(options);
    served.push(one);
    return { port: one.listening.port, told };
  };

  it("takes the one asked for, else the configured one, else a free one, and tells of every other than the first", async () => {
    const [free, configured] = [await freePort(), await freePort()];
    const [taken, alsoTaken] = [await takenPort(), await takenPort()];
    expect(await open(homeOn(configured), free, true)).toEqual({ port: free, told: [] });
    const second = await open(homeOn(configured), taken.port, true);
    expect(second).toEqual({ port: configured, told: [expect.stringContaining(`${configured} instead`)] });
    const third = await open(homeOn(alsoTaken.port), taken.port, true);
    expect([taken.port, alsoTaken.port, free, configured]).not.toContain(third.port);
    expect(third.told).toEqual([expect.stringContaining(`Port ${taken.port} on 127.0.0.1 cannot be had`)]);
  });

  it("is not what a person's own daemon does: it is refused in words a port that is taken", async () => {
    const { port } = await takenPort();
    await expect(open(homeOn(0), port, false)).rejects.toThrow(
      `Cannot listen on 127.0.0.1:${port}: the port is taken (\`--port\``,
    );
  });
});
