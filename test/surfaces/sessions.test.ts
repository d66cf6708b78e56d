/** Legacy sessions over HTTP: who may use one, when it ends, what streams do. */
import { request } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { createAgents } from "../../src/surfaces/mcp/agents.js";
import { createSessions } from "../../src/surfaces/http/sessions.js";
import type { Session } from "../../src/surfaces/http/sessions.js";
import { createSessionTransport } from "../../src/surfaces/http/session-transport.js";
import { Fault } from "../../src/model/fault.js";
import { SURFACE_LIMITS } from "../../src/model/policy.js";
import type { JsonObject } from "../../src/model/json.js";
import { fakeOperations, text } from "./fake.js";
import { bareSession, closeAll, INITIALIZE, legacyClient, post, start } from "./start.js";

afterEach(closeAll);

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
};
const call = (id: number | string, tool: string, args: JsonObject = {}, meta?: JsonObject): JsonObject => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "call_tool", arguments: { tool, arguments: args }, ...(meta === undefined ? {} : { _meta: meta }) },
});

/** Opens a stream and collects what comes on it. */
function listen(
  url: string,
  headers: Record<string, string>,
): { text: () => string; status: Promise<number>; end: () => void; ended: Promise<void> } {
  let got = "";
  let mark: (status: number) => void = () => undefined;
  let over: () => void = () => undefined;
  const status = new Promise<number>((resolve) => (mark = resolve));
  const ended = new Promise<void>((resolve) => (over = resolve));
  const req = request(url, { headers: { accept: "text/event-stream", ...headers } }, (res) => {
    mark(res.statusCode ?? 0);
    res.on("data", (chunk: Buffer) => (got += chunk.toString()));
    res.on("close", over);
  });
  req.on("error", () => over());
  req.end();
  return { text: () => got, status, end: () => req.destroy(), ended };
}

describe("a session", () => {
  it("that the daemon does not know is answered with 404, so that the client opens another [T01]", async () => {
    const { url } = await start();
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    for (const id of ["gone", "00000000-0000-4000-8000-000000000000"]) {
      const answer = await post(`${url}/mcp`, ping, { "mcp-session-id": id });
      expect(answer.status).toBe(404);
      expect(answer.json()).toMatchObject({ jsonrpc: "2.0", error: { code: -32001 } });
    }
    expect((await post(`${url}/mcp`, ping)).status).toBe(400);
  });

  it("ends when its client deletes it", async () => {
    const { url, surface } = await start();
    const session = await bareSession(url);
    expect(surface.live().sessions).toBe(1);
    expect((await fetch(`${url}/mcp`, { method: "DELETE", headers: session })).status).toBe(200);
    expect(surface.live().sessions).toBe(0);
    expect((await post(`${url}/mcp`, { jsonrpc: "2.0", id: 1, method: "ping" }, session)).status).toBe(404);
  });

  it("belongs to one endpoint and one caller", async () => {
    const { url } = await start();
    const session = await bareSession(url, "/mcp");
    expect((await post(`${url}/mcp/direct`, { jsonrpc: "2.0", id: 1, method: "ping" }, session)).status).toBe(404);
  });

  it("refuses a protocol revision that nobody speaks and a second request under an id in flight", async () => {
    let release: (value: JsonObject) => void = () => undefined;
    const operations = fakeOperations([{ label: "shop", tools: { slow: () => new Promise((resolve) => (release = resolve)) } }]);
    const { url } = await start({ operations });
    const session = await bareSession(url);
    const odd = await post(
      `${url}/mcp`,
      { jsonrpc: "2.0", id: 1, method: "ping" },
      { ...session, "mcp-protocol-version": "1999-01-01" },
    );
    expect(odd.status).toBe(400);
    const first = post(`${url}/mcp`, call(7, "shop/slow"), session);
    await until(() => operations.calls.length === 1);
    expect((await post(`${url}/mcp`, call(7, "shop/slow"), session)).status).toBe(400);
    release(text("done"));
    expect((await first).body).toContain("done");
    expect(operations.calls).toHaveLength(1);
  });

  it("keeps answers, progress and ids apart from another's with equal ids and tokens [T10]", async () => {
    const operations = fakeOperations([
      {
        label: "shop",
        tools: {
          echo: async (args, options) => {
            for (const progress of [1, 2]) options.onProgress?.({ progress, message: String(args["who"]) });
            await new Promise((resolve) => setTimeout(resolve, Number(args["wait"])));
            return text(String(args["who"]));
          },
        },
      },
    ]);
    const { url } = await start({ operations });
    const [one, two] = [await bareSession(url), await bareSession(url)];
    const answers = await Promise.all(
      [...Array(20).keys()].flatMap((id) => [
        post(`${url}/mcp`, call(id, "shop/echo", { who: `one${id}`, wait: (id * 7) % 13 }, { progressToken: id }), one),
        post(`${url}/mcp`, call(id, "shop/echo", { who: `two${id}`, wait: (id * 5) % 11 }, { progressToken: id }), two),
      ]),
    );
    answers.forEach((answer, at) => {
      const who = `${at % 2 === 0 ? "one" : "two"}${Math.floor(at / 2)}`;
      expect(new Set(answer.body.match(/(one|two)\d+/g))).toEqual(new Set([who]));
      expect(answer.body.match(/"progressToken":(\d+)/g)).toHaveLength(2);
    });
  });

  it("takes a batch of the revision that had batches, and answers all of it", async () => {
    const { url } = await start();
    const session = await bareSession(url);
    const batch = [
      call(1, "shop/get_order"),
      { jsonrpc: "2.0", method: "notifications/x" },
      { jsonrpc: "2.0", id: "two", method: "ping" },
    ];
    const answer = await post(`${url}/mcp`, batch, { ...session, accept: "application/json" });
    const messages = JSON.parse(answer.body) as { id: unknown }[];
    expect(new Set(messages.map((message) => message.id))).toEqual(new Set([1, "two"]));
    expect((await post(`${url}/mcp`, [INITIALIZE, call(1, "shop/get_order")])).status).toBe(400);
  });
});

describe("a call whose client is gone", () => {
  it("is cancelled when the client disconnects [K05]", async () => {
    const operations = fakeOperations([{ label: "shop", tools: { slow: () => new Promise(() => undefined) } }]);
    const { url } = await start({ operations });
    const session = await bareSession(url);
    const leaving = new AbortController();
    const pending = fetch(`${url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...session },
      body: JSON.stringify(call(1, "shop/slow")),
      signal: leaving.signal,
    }).catch(() => undefined);
    await until(() => operations.calls.length === 1);
    leaving.abort();
    await pending;
    await until(() => operations.calls[0]?.signal.aborted === true);
  });

  it("is cancelled when its session ends, and the exchange is closed [K05]", async () => {
    const operations = fakeOperations([{ label: "shop", tools: { slow: () => new Promise(() => undefined) } }]);
    const { url } = await start({ operations });
    const session = await bareSession(url);
    const pending = post(`${url}/mcp`, call(1, "shop/slow"), session);
    await until(() => operations.calls.length === 1);
    await fetch(`${url}/mcp`, { method: "DELETE", headers: session });
    expect((await pending).body).toContain("session was closed");
    expect(operations.calls[0]?.signal.aborted).toBe(true);
  });

  it("is cancelled by its client's own word, which ends the exchange without an answer [K05]", async () => {
    const operations = fakeOperations([{ label: "shop", tools: { slow: () => new Promise(() => undefined) } }]);
    const { url, surface } = await start({ operations });
    const session = await bareSession(url);
    for (const accept of ["application/json, text/event-stream", "application/json"]) {
      const pending = post(`${url}/mcp`, call(1, "shop/slow"), { ...session, accept });
      await until(() => operations.calls.filter((one) => !one.signal.aborted).length === 1);
      await post(`${url}/mcp`, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }, session);
      expect((await pending).body).toBe("");
      await until(() => operations.calls.every((one) => one.signal.aborted));
    }
    await until(() => surface.live().calls === 0);
  });
});

describe("a session's own stream", () => {
  it("tells once of each list that moved, also what moved before it was opened [C03]", async () => {
    const { url, operations } = await start();
    const session = await bareSession(url);
    operations.announce("prompts");
    operations.announce("prompts");
    operations.announce("resources");
    const stream = listen(`${url}/mcp`, session);
    await until(() => stream.text().includes("resources/list_changed"));
    expect(stream.text().match(/prompts\/list_changed/g)).toHaveLength(1);
    operations.announce("skills");
    await until(() => stream.text().match(/prompts\/list_changed/g)?.length === 2);
    stream.end();
  });

  it("gives way to a newer one: the client that opens it again is the one that lives", async () => {
    const { url, operations } = await start();
    const session = await bareSession(url);
    const old = listen(`${url}/mcp`, session);
    expect(await old.status).toBe(200);
    const fresh = listen(`${url}/mcp`, session);
    expect(await fresh.status).toBe(200);
    await old.ended;
    operations.announce("resources");
    await until(() => fresh.text().includes("resources/list_changed"));
    fresh.end();
  });

  it("goes on after the last event that its client saw [T06]", () => {
    const transport = createSessionTransport("s");
    const moved = (uri: string) => ({ jsonrpc: "2.0" as const, method: "notifications/resources/updated", params: { uri } });
    const first = fakeResponse();
    transport.stream(first.res);
    for (const uri of ["a", "b"]) void transport.send(moved(uri));
    const ids = [...first.written().matchAll(/^id: (\d+)$/gm)].map((match) => match[1]);
    expect(ids).toHaveLength(2);
    transport.endStream();
    // Nobody listens now; whoever comes back with an id has missed these two, and nothing else.
    void transport.send(moved("c"));
    void transport.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    const again = fakeResponse();
    transport.stream(again.res, ids[0]);
    expect([...again.written().matchAll(/"uri":"(.)"|tools\/list_changed/g)].map((match) => match[1] ?? "tools")).toEqual([
      "b",
      "c",
      "tools",
    ]);
  });

  it("tells a client that was away for too long to look at all its lists again [T06]", () => {
    const transport = createSessionTransport("s");
    const own = fakeResponse();
    transport.stream(own.res);
    const message = { jsonrpc: "2.0" as const, method: "notifications/resources/updated", params: { uri: "a" } };
    for (let at = 0; at < 3 * SURFACE_LIMITS.resumableEvents; at += 1) void transport.send(message);
    for (const last of ["1", "nonsense", "999999999"]) {
      const again = fakeResponse();
      transport.stream(again.res, last);
      for (const list of ["tools", "prompts", "resources"])
        expect(again.written(), last).toContain(`notifications/${list}/list_changed`);
      expect(again.written()).not.toContain("updated");
    }
  });

  it("is sent with headers that keep proxies from buffering and storing it [T06]", async () => {
    const { url } = await start();
    const session = await bareSession(url);
    const response = await fetch(`${url}/mcp`, { headers: { ...session, accept: "text/event-stream" } });
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    expect(response.headers.get("cache-control")).toContain("no-cache");
    await response.body?.cancel();
  });

  it("gets a comment at every tick, and so does an exchange that waits too long for its answer [T06]", async () => {
    const transport = createSessionTransport("s");
    const own = fakeResponse();
    transport.stream(own.res);
    transport.tick();
    expect(own.written()).toContain(": keep-alive\n\n");
    const slow = fakeResponse();
    transport.post({
      req: { headers: { accept: "application/json, text/event-stream" } } as never,
      res: slow.res,
      messages: [],
      requests: [1],
      batch: false,
    });
    transport.tick();
    expect(slow.written()).toBe("");
    transport.tick();
    transport.tick();
    expect(slow.head()).toMatchObject({ "Content-Type": "text/event-stream" });
    expect(slow.written()).toBe(": keep-alive\n\n");
    await transport.send({ jsonrpc: "2.0", id: 1, result: {} });
    expect(slow.written()).toContain('data: {"jsonrpc":"2.0","id":1,"result":{}}');
    expect(slow.ended()).toBe(true);
  });
});

function fakeResponse() {
  let written = "";
  let head: unknown;
  let ended = false;
  const res = {
    destroyed: false,
    writableEnded: false,
    writableLength: 0,
    once: () => undefined,
    flushHeaders: () => undefined,
    writeHead: (_status: number, given: unknown) => void (head = given),
    write: (chunk: string) => ((written += chunk), true),
    end: (chunk?: string) => {
      written += chunk ?? "";
      ended = true;
    },
  };
  return { res: res as never, written: () => written, head: () => head, ended: () => ended };
}

describe("the number of sessions", () => {
  const setup = (limits: { max?: number; idleMs?: number; perMinute?: number }) => {
    let at = 0;
    const agents = createAgents({ operations: fakeOperations(), version: "0", log: () => undefined });
    const sessions = createSessions({ max: 3, idleMs: 1_000, perMinute: 1_000, ...limits, now: () => at });
    const closed: string[] = [];
    const open = (id: string, inFlight = 0): Session => {
      sessions.admit("127.0.0.1");
      const transport = createSessionTransport(id);
      const server = agents.serve({ exposure: "facade", era: "legacy", lives: "connection", caller: () => session.caller });
      const session: Session = {
        id,
        exposure: "facade",
        server,
        transport: Object.defineProperty(transport, "inFlight", { get: () => inFlight }),
        caller: { principal: "mcp", rights: new Set(), upstreams: undefined, session: id },
        usedAtMs: at,
      };
      void server.connect(transport);
      const close = transport.close.bind(transport);
      transport.close = () => (closed.push(id), close());
      sessions.add(session);
      return session;
    };
    return { sessions, open, closed, pass: (ms: number) => (at += ms) };
  };

  it("is bounded: the longest unused one gives way, with its transport closed [T09]", () => {
    const { sessions, open, closed } = setup({});
    for (const id of ["a", "b", "c"]) open(id);
    sessions.use("a");
    open("d");
    expect(closed).toEqual(["b"]);
    expect([...sessions.all()].map((session) => session.id)).toEqual(["c", "a", "d"]);
  });

  it("never costs one with a call in flight; where all have one, a new one is refused [T09]", () => {
    const { sessions, open, closed } = setup({});
    open("a", 1);
    open("b");
    open("c", 2);
    open("d", 1);
    expect(closed).toEqual(["b"]);
    let thrown: unknown;
    try {
      open("e");
    } catch (error) {
      thrown = error;
    }
    expect((thrown as Fault).code).toBe("busy");
    expect(sessions.size).toBe(3);
  });

  it("falls as idle ones expire, but not those with a call in flight [T09]", () => {
    const { sessions, open, closed, pass } = setup({ max: 10 });
    open("a");
    open("busy", 1);
    pass(600);
    open("b");
    sessions.sweep();
    expect(closed).toEqual([]);
    pass(600);
    sessions.sweep();
    expect(closed).toEqual(["a"]);
    pass(600);
    sessions.sweep();
    expect(closed).toEqual(["a", "b"]);
    expect(sessions.size).toBe(1);
  });

  it("grows only so fast from one address [T09]", () => {
    const { sessions, pass } = setup({ perMinute: 60 });
    for (let n = 0; n < 60; n += 1) sessions.admit("10.0.0.1");
    expect(() => sessions.admit("10.0.0.1")).toThrow(Fault);
    expect(() => sessions.admit("10.0.0.2")).not.toThrow();
    pass(1_000);
    expect(() => sessions.admit("10.0.0.1")).not.toThrow();
    expect(() => sessions.admit("10.0.0.1")).toThrow(Fault);
  });
});

describe("many clients that never say goodbye", () => {
  it("leave at most the allowed sessions behind [T09]", async () => {
    const { url, surface } = await start({ policy: { sessionsMax: 5 } });
    for (let n = 0; n < 12; n += 1) await bareSession(url);
    expect(surface.live().sessions).toBe(5);
    const client = await legacyClient(url);
    expect((await client.listTools()).tools).toHaveLength(6);
  });
});
