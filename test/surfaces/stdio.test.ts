/** An agent on stdin and stdout: served here (`--own`) or carried to a daemon (the bridge). */
import { spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { createServer } from "node:http";
import { connect, createServer as createRelay } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { join, resolve } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import { runBridge } from "../../src/surfaces/mcp/bridge.js";
import { createEventReader } from "../../src/surfaces/mcp/bridge-http.js";
import { serveStdio } from "../../src/surfaces/mcp/stdio.js";
import { levels } from "../model/deep.js";
import { fakeOperations, text } from "./fake.js";
import type { Fake } from "./fake.js";
import { closeAll, INITIALIZE, start } from "./start.js";

afterEach(closeAll);

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
};
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "lines", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** An agent that speaks lines. */
interface Lines {
  readonly raw: string[];
  readonly messages: JsonObject[];
  send(message: unknown): void;
  ask(method: string, params?: JsonObject): Promise<JsonObject>;
  hello(): Promise<JsonObject>;
  answerTo(id: unknown): JsonObject | undefined;
  end(): void;
}
function linesOf(stdin: PassThrough, stdout: PassThrough): Lines {
  const raw: string[] = [];
  const messages: JsonObject[] = [];
  let rest = "";
  let ids = 0;
  stdout.on("data", (chunk: Buffer) => {
    rest += chunk.toString("utf8");
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      raw.push(line);
      messages.push(JSON.parse(line) as JsonObject);
    }
  });
  const lines: Lines = {
    raw,
    messages,
    send: (message) => void stdin.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`),
    answerTo: (id) => messages.find((message) => message["id"] === id && !("method" in message)),
    async ask(method, params = {}) {
      ids += 1;
      const id = `a${ids}`;
      lines.send({ jsonrpc: "2.0", id, method, params });
      await until(() => lines.answerTo(id) !== undefined);
      return lines.answerTo(id) ?? {};
    },
    async hello() {
      const answer = await lines.ask("initialize", INITIALIZE.params as unknown as JsonObject);
      lines.send({ jsonrpc: "2.0", method: "notifications/initialized" });
      return answer;
    },
    end: () => void stdin.end(),
  };
  return lines;
}

interface Carried extends Lines {
  readonly operations: Fake;
  readonly closed: Promise<void>;
  readonly signals: EventEmitter;
  readonly url: () => string;
  /** How often the bridge asked where the daemon is because it was lost. */
  readonly lost: () => number;
  /** Breaks every connection to the daemon, which lives on. */
  cut(): void;
  /** Ends the daemon at once and starts another on another port. */
  restart(): Promise<void>;
  kill(): Promise<void>;
}

async function carried(operations: Fake = fakeOperations(), way: "straight" | "breakable" = "straight"): Promise<Carried> {
  let daemon: Awaited<ReturnType<typeof start>> | undefined = await start({ operations });
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const signals = new EventEmitter();
  const line = way === "breakable" ? await breakableLine(() => daemon?.url) : undefined;
  const bridge = runBridge({
    endpoint: async (isLost) => {
      if (isLost) lost += 1;
      return { url: line?.url ?? daemon?.url ?? "http://127.0.0.1:1" };
    },
    log: () => undefined,
    stdin,
    stdout,
    signals,
    watchParent: false,
  });
  const lines = linesOf(stdin, stdout);
  let lost = 0;
  const kill = async () => {
    const old = daemon;
    daemon = undefined;
    await old?.stop(0);
  };
  return Object.assign(lines, {
    operations,
    closed: bridge.closed,
    signals,
    url: () => daemon?.url ?? "",
    lost: () => lost,
    cut: () => line?.cut(),
    kill,
    restart: async () => {
      await kill();
      daemon = await start({ operations });
    },
  });
}
/** A TCP relay to wherever the daemon is now; connections are refused while it is nowhere. */
async function breakableLine(target: () => string | undefined): Promise<{ url: string; cut: () => void }> {
  const sockets = new Set<Socket>();
  const relay = createRelay((near) => {
    const to = target();
    if (to === undefined) return void near.destroy();
    const far = connect(Number(new URL(to).port), "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        near.destroy();
        far.destroy();
        sockets.delete(socket);
      });
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  relay.unref();
  return {
    url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    cut: () => sockets.forEach((socket) => socket.destroy()),
  };
}
const CALL = { name: "call_tool", arguments: { tool: "shop/get_order", arguments: { order_id: "O-1" } } };

async function own(operations: Fake = fakeOperations()) {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const surface = serveStdio({ operations, policy: DEFAULT_POLICY, version: "0.0.0", log: () => undefined, stdin, stdout });
  return Object.assign(linesOf(stdin, stdout), { operations, closed: surface.closed });
}

describe.each([
  ["served here", own],
  ["carried to a daemon", carried],
])("an agent on stdio, %s", (_how, connect) => {
  it("may begin with a byte order mark, as some programs write pipes", async () => {
    const agent = await connect();
    agent.send(`\ufeff${JSON.stringify(INITIALIZE)}`);
    await until(() => agent.answerTo(1) !== undefined);
    expect(agent.messages).toMatchObject([{ id: 1, result: { serverInfo: { name: "steward" } } }]);
  });

  it("that says all at once and ends is answered what it asked before its connection ends", async () => {
    const release: (() => void)[] = [];
    const slow = () => new Promise<JsonObject>((resolve) => release.push(() => resolve(text("late"))));
    const agent = await connect(fakeOperations([{ label: "shop", tools: { slow } }]));
    await agent.hello();
    for (const id of [7, 8])
      agent.send({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "call_tool", arguments: { tool: "shop/slow" } } });
    agent.end();
    await until(() => release.length === 2);
    let closed = false;
    void agent.closed.then(() => (closed = true));
    release[0]?.();
    await until(() => agent.answerTo(7) !== undefined || agent.answerTo(8) !== undefined);
    expect(closed).toBe(false);
    release[1]?.();
    await agent.closed;
    for (const id of [7, 8]) expect(agent.answerTo(id), `${id}`).toMatchObject({ result: { content: [{ text: "late" }] } });
  });

  it("of the older revisions lists, calls and hears of lists that moved", async () => {
    const agent = await connect();
    expect((await agent.hello())["result"]).toMatchObject({ protocolVersion: "2025-11-25", serverInfo: { name: "steward" } });
    expect(((await agent.ask("tools/list"))["result"] as { tools: unknown[] }).tools).toHaveLength(6);
    expect((await agent.ask("tools/call", CALL))["result"]).toMatchObject({ structuredContent: { id: "O-1" } });
    agent.operations.announce("skills");
    await until(() => agent.messages.some((message) => message["method"] === "notifications/prompts/list_changed"));
    agent.end();
    await agent.closed;
  });

  it("of the newer revision discovers, calls and subscribes", async () => {
    const agent = await connect();
    const discovered = await agent.ask("server/discover", { _meta: ENVELOPE });
    expect(discovered["result"]).toMatchObject({ supportedVersions: ["2026-07-28"], resultType: "complete" });
    expect((await agent.ask("tools/call", { ...CALL, _meta: ENVELOPE }))["result"]).toMatchObject({
      structuredContent: { id: "O-1" },
    });
    agent.send({
      jsonrpc: "2.0",
      id: "sub",
      method: "subscriptions/listen",
      params: { _meta: ENVELOPE, notifications: { promptsListChanged: true } },
    });
    await until(() => agent.messages.some((message) => message["method"] === "notifications/subscriptions/acknowledged"));
    agent.operations.announce("skills");
    await until(() => agent.messages.some((message) => message["method"] === "notifications/prompts/list_changed"));
    expect((await agent.ask("nothing/here", { _meta: ENVELOPE }))["error"]).toMatchObject({ code: -32601 });
    agent.end();
    await agent.closed;
  });

  it("is refused a message that is nested without end, and served on", async () => {
    const agent = await connect();
    await agent.hello();
    agent.send(`{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{"name":"call_tool","arguments":${levels(50_000)}}}`);
    await until(() => agent.answerTo("deep") !== undefined);
    expect(agent.answerTo("deep")).toMatchObject({
      error: { code: -32600, message: expect.stringContaining("512 levels") as string },
    });
    expect((await agent.ask("tools/call", CALL))["result"]).toMatchObject({ structuredContent: { id: "O-1" } });
    agent.end();
    await agent.closed;
  });

  it("cancels a call, which is then aborted and never answered [K05]", async () => {
    const agent = await connect(fakeOperations([{ label: "shop", tools: { slow: () => new Promise(() => undefined) } }]));
    await agent.hello();
    agent.send({
      jsonrpc: "2.0",
      id: "slow",
      method: "tools/call",
      params: { name: "call_tool", arguments: { tool: "shop/slow" } },
    });
    await until(() => agent.operations.calls.length === 1);
    agent.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "slow", reason: "no" } });
    await until(() => agent.operations.calls[0]?.signal.aborted === true);
    await agent.ask("ping");
    expect(agent.answerTo("slow")).toBeUndefined();
    agent.end();
    await agent.closed;
  });

  it("gets nothing but JSON-RPC lines, also for bugs, broken lines and odd texts [T02b]", async () => {
    const odd = fakeOperations([
      {
        label: "shop",
        tools: {
          odd: () => text("line\nbreak \u2028 separator \r end"),
          bug: () => {
            throw new Error("a\nb");
          },
        },
      },
    ]);
    const agent = await connect(odd);
    await agent.hello();
    agent.send("this is not json");
    agent.send("");
    for (const tool of ["shop/odd", "shop/bug", "shop/none"])
      await agent.ask("tools/call", { name: "call_tool", arguments: { tool } });
    for (const line of agent.raw) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
    agent.end();
    await agent.closed;
  });
});

describe("the bridge, when the daemon goes and comes back", () => {
  it("opens another session in silence and goes on: same handshake, same level, lists to look at again [T01]", async () => {
    const agent = await carried(
      fakeOperations([
        { label: "shop", tools: { get_order: () => text("x") }, capabilities: { tools: {}, logging: {} }, pass: () => ({}) },
      ]),
    );
    await agent.hello();
    await agent.ask("logging/setLevel", { level: "error" });
    await agent.restart();
    const before = agent.messages.length;
    expect(await agent.ask("tools/call", CALL)).toMatchObject({ result: { content: [{ text: "x" }] } });
    await until(() => agent.messages.slice(before).some((message) => message["method"] === "notifications/tools/list_changed"));
    expect(agent.operations.calls.map((call) => call.logLevel)).toEqual(["error"]);
    agent.operations.announce("skills");
    await until(() => agent.messages.filter((message) => message["method"] === "notifications/prompts/list_changed").length >= 2);
    agent.end();
    await agent.closed;
  });

  it("looks for it only when the agent asks for something: who stops a daemon has it stopped", async () => {
    const agent = await carried();
    await agent.hello();
    await agent.ask("tools/list");
    await agent.kill();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(agent.lost()).toBe(0);
    await agent.restart();
    expect((await agent.ask("tools/list"))["result"]).toBeDefined();
    expect(agent.lost()).toBeGreaterThan(0);
    agent.operations.announce("skills");
    await until(() => agent.messages.filter((message) => message["method"] === "notifications/prompts/list_changed").length >= 2);
    agent.end();
    await agent.closed;
  });

  it("shares one new session among requests that find out together", async () => {
    const agent = await carried();
    await agent.hello();
    await agent.restart();
    const answers = await Promise.all([...Array(12)].map(() => agent.ask("tools/call", CALL)));
    for (const answer of answers) expect(answer["result"]).toMatchObject({ structuredContent: { id: "O-1" } });
    expect(agent.operations.calls).toHaveLength(12);
    agent.end();
    await agent.closed;
  });

  it("waits for it with what was not sent yet, and carries on", async () => {
    const agent = await carried();
    await agent.hello();
    await agent.kill();
    const pending = agent.ask("tools/call", CALL);
    await new Promise((resolve) => setTimeout(resolve, 150));
    await agent.restart();
    expect((await pending)["result"]).toMatchObject({ structuredContent: { id: "O-1" } });
    expect(agent.operations.calls).toHaveLength(1);
    agent.end();
    await agent.closed;
  });

  it("never sends a call again that may have run: the agent hears that its outcome is unknown [K19]", async () => {
    let calls = 0;
    const agent = await carried(
      fakeOperations([
        {
          label: "shop",
          tools: {
            slow: () => {
              calls += 1;
              return new Promise(() => undefined);
            },
          },
        },
      ]),
      "breakable",
    );
    await agent.hello();
    const params = { name: "call_tool", arguments: { tool: "shop/slow" } };
    agent.send({ jsonrpc: "2.0", id: "old", method: "tools/call", params });
    agent.send({ jsonrpc: "2.0", id: "new", method: "tools/call", params: { ...params, _meta: ENVELOPE } });
    await until(() => calls === 2);
    agent.cut();
    await until(() => agent.answerTo("old") !== undefined && agent.answerTo("new") !== undefined);
    for (const id of ["old", "new"]) {
      expect(agent.answerTo(id)).toMatchObject({ error: { data: { code: "call-interrupted", retryable: false } } });
      expect(JSON.stringify(agent.answerTo(id))).toContain("outcome is unknown");
    }
    expect((await agent.ask("tools/list"))["result"]).toBeDefined();
    expect(calls).toBe(2);
    agent.end();
    await agent.closed;
  });

  it("asks again for what only reads, when the connection breaks under it", async () => {
    let asked = 0;
    const docs = {
      label: "docs",
      capabilities: { resources: {} },
      pass: async () => {
        asked += 1;
        if (asked === 1) await new Promise(() => undefined);
        return { resources: [] };
      },
    };
    const agent = await carried(fakeOperations([docs], []), "breakable");
    await agent.hello();
    const pending = agent.ask("resources/list");
    await until(() => asked === 1);
    agent.cut();
    expect((await pending)["result"]).toMatchObject({ resources: [] });
    expect(asked).toBe(2);
    agent.end();
    await agent.closed;
  });

  it("listens again for a modern agent, and tells it to look at its lists", async () => {
    const agent = await carried(fakeOperations(), "breakable");
    const listen = { _meta: ENVELOPE, notifications: { promptsListChanged: true } };
    agent.send({ jsonrpc: "2.0", id: "sub", method: "subscriptions/listen", params: listen });
    const acknowledged = () =>
      agent.messages.filter((message) => message["method"] === "notifications/subscriptions/acknowledged").length;
    const moved = () => agent.messages.filter((message) => message["method"] === "notifications/prompts/list_changed");
    await until(() => acknowledged() === 1);
    agent.cut();
    await until(() => acknowledged() === 2);
    expect(moved()).toHaveLength(1);
    expect(moved()[0]).toMatchObject({ params: { _meta: { "io.modelcontextprotocol/subscriptionId": "sub" } } });
    agent.operations.announce("skills");
    await until(() => moved().length === 2);
    agent.end();
    await agent.closed;
  });

  it("passes nothing on that is not JSON-RPC, whoever answers at the address [T02b]", async () => {
    const stranger = createServer((_req, res) => {
      res.writeHead(200, { "content-type": "text/html" });
      res.end("<html>hello\nworld</html>");
    });
    await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
    const stdin = new PassThrough();
    const stdout = new PassThrough();
    const bridge = runBridge({
      endpoint: async () => ({ url: `http://127.0.0.1:${(stranger.address() as AddressInfo).port}` }),
      log: () => undefined,
      stdin,
      stdout,
      signals: new EventEmitter(),
      watchParent: false,
    });
    const agent = linesOf(stdin, stdout);
    expect((await agent.ask("initialize", {}))["error"]).toMatchObject({ code: -32603 });
    agent.end();
    await bridge.closed;
    stranger.close();
  });
});

describe("the bridge ends", () => {
  it("when stdin ends, and its session with it [T05]", async () => {
    const agent = await carried();
    await agent.hello();
    agent.end();
    await agent.closed;
    const { sessions } = await fetch(`${agent.url()}/metrics`)
      .then((response) => response.text())
      .then((metrics) => ({ sessions: /steward_sessions (\d+)/.exec(metrics)?.[1] }));
    expect(sessions).toBe("0");
  });

  it.each(["SIGTERM", "SIGINT", "SIGHUP"])("on %s, with a call in flight aborted [T05]", async (signal) => {
    const agent = await carried(fakeOperations([{ label: "shop", tools: { slow: () => new Promise(() => undefined) } }]));
    await agent.hello();
    agent.send({ jsonrpc: "2.0", id: 9, method: "tools/call", params: { name: "call_tool", arguments: { tool: "shop/slow" } } });
    await until(() => agent.operations.calls.length === 1);
    agent.signals.emit(signal);
    await agent.closed;
    await until(() => agent.operations.calls[0]?.signal.aborted === true);
    expect(agent.signals.listenerCount(signal)).toBe(0);
  });

  it("as a process: on end of input, with everything answered that was asked [T05] [T02b]", async () => {
    const { url } = await start();
    const root = resolve(import.meta.dirname, "../..");
    const program = `import { runBridge } from ${JSON.stringify(join(root, "src/surfaces/mcp/bridge.ts"))};
      const bridge = runBridge({ endpoint: async () => ({ url: ${JSON.stringify(url)} }), log: (level, text) => console.error(level, text) });
      await bridge.closed;`;
    const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
    child.stdin.end(`${JSON.stringify(INITIALIZE)}\n${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" })}\n`);
    expect(await exited).toBe(0);
    const lines = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as JsonObject);
    expect(new Set(lines.filter((line) => "id" in line).map((line) => line["id"]))).toEqual(new Set([1, 2]));
  });
});

describe("server-sent events", () => {
  it("are the same however the stream is cut", () => {
    const stream = ': keep-alive\n\nevent: message\ndata: {"a":1}\n\ndata: two\ndata: lines\r\n\r\nid: 7\n\ndata:x\n\n';
    for (let size = 1; size <= stream.length; size += 1) {
      const got: string[] = [];
      const read = createEventReader((data) => got.push(data));
      for (let at = 0; at < stream.length; at += size) read(stream.slice(at, at + size));
      expect(got).toEqual(['{"a":1}', "two\nlines", "x"]);
    }
  });
});
