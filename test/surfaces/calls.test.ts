/** What surrounds a call: progress, cancellation, metadata, log messages, for each client and era. */
import { afterEach, describe, expect, it } from "vitest";
import { Refusal } from "../../src/model/fault.js";
import type { JsonObject } from "../../src/model/json.js";
import { fakeOperations, text } from "./fake.js";
import type { FakeTool } from "./fake.js";
import { bareSession, callWith, closeAll, currentClient, legacyClient, post, start } from "./start.js";

afterEach(closeAll);

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
};
const shop = (tools: Record<string, FakeTool>) =>
  fakeOperations([{ label: "shop", tools, capabilities: { tools: {}, logging: {} }, pass: () => ({}) }]);
const CLIENTS = [
  ["the older SDK", legacyClient],
  ["the current SDK, by handshake", (url: string, path?: string) => currentClient(url, "legacy", path)],
  ["the current SDK, without sessions", (url: string, path?: string) => currentClient(url, "modern", path)],
] as const;
const PATHS = [
  ["/mcp", "call_tool", (args: JsonObject): JsonObject => ({ tool: "shop/slow", arguments: args })],
  ["/mcp/direct", "shop__slow", (args: JsonObject): JsonObject => args],
] as const;
const CASES = CLIENTS.flatMap(([client, connect]) => PATHS.map(([path, name, args]) => ({ client, connect, path, name, args })));

describe.each(CASES)("a call by $client at $path", ({ connect, path, name, args }) => {
  const callOf = async (url: string) => {
    const client = (await connect(url, path)) as Awaited<ReturnType<typeof currentClient>>;
    const call = (options: Parameters<typeof callWith>[2]) => callWith(client, { name, arguments: args({}) }, options);
    return { client, call };
  };

  it("hears progress under its own token, in order", async () => {
    const { url } = await start({
      operations: shop({
        slow: (_args, options) => {
          for (const progress of [1, 2, 3]) options.onProgress?.({ progress, total: 3, message: `step ${progress}` });
          return text("done");
        },
      }),
    });
    const heard: unknown[] = [];
    const { call } = await callOf(url);
    await call({ onprogress: (progress: unknown) => heard.push(progress) });
    expect(heard).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` })));
  });

  it("passes its _meta on without the protocol's keys, and nothing else of the request [K12]", async () => {
    const operations = shop({ slow: () => text("done") });
    const { url } = await start({ operations });
    const { client } = await callOf(url);
    await client.callTool({ name, arguments: args({}), _meta: { "x/own": { a: 1 }, traceparent: "00-ab-cd-01" } });
    expect(operations.calls[0]?.meta).toEqual({ "x/own": { a: 1 }, traceparent: "00-ab-cd-01" });
  });

  it("is aborted upstream when the agent cancels it [K05]", async () => {
    const operations = shop({ slow: () => new Promise(() => undefined) });
    const { url } = await start({ operations });
    const { call } = await callOf(url);
    const cancel = new AbortController();
    const pending = call({ signal: cancel.signal }).catch((error: unknown) => error);
    await until(() => operations.calls.length === 1);
    cancel.abort("changed my mind");
    expect(await pending).toBeInstanceOf(Error);
    await until(() => operations.calls[0]?.signal.aborted === true);
  });

  it("gets an upstream's protocol error with code, message and data [K06]", async () => {
    const operations = shop({
      slow: () => {
        throw new Refusal(-32602, "order_id is missing", { field: "order_id" });
      },
    });
    const { url } = await start({ operations });
    const { client } = await callOf(url);
    const answer = await client.callTool({ name, arguments: args({}) }).then(
      (result) => ({ result: result as unknown as JsonObject }),
      (error: unknown) => ({ error: error as { code: number; message: string; data: unknown } }),
    );
    if (path === "/mcp") {
      const result = (answer as { result: JsonObject }).result;
      expect(result["isError"]).toBe(true);
      expect(result["structuredContent"]).toEqual({
        error: { code: -32602, message: "order_id is missing", data: { field: "order_id" } },
      });
    } else {
      const { error } = answer as { error: { code: number; message: string; data: unknown } };
      expect(error.code).toBe(-32602);
      expect(error.message).toContain("order_id is missing");
      expect(error.data).toEqual({ field: "order_id" });
    }
  });
});

describe("a direct call", () => {
  it("of a tool that does not exist is a protocol error, one that is away is a result a model reads [K06]", async () => {
    const { url } = await start();
    const client = await legacyClient(url, "/mcp/direct");
    await expect(client.callTool({ name: "nothing", arguments: {} })).rejects.toMatchObject({ code: -32602 });
    expect(await client.callTool({ name: "shop__away", arguments: {} })).toMatchObject({ isError: true });
  });

  it("takes the episode from the request's _meta, and gives the result as the upstream wrote it, to the last key [K12]", async () => {
    const { url, operations } = await start();
    for (const era of ["legacy", "modern"] as const) {
      const client = await currentClient(url, era, "/mcp/direct");
      const result = await client.callTool({ name: "shop__get_order", arguments: {}, _meta: { "steward/episode": "ep_77" } });
      expect(operations.calls.at(-1)?.episode).toBe("ep_77");
      const { "io.modelcontextprotocol/serverInfo": _protocol, ...meta } = result._meta ?? {};
      expect(meta).toEqual({ "shop/trace": 7 });
    }
  });
});

describe("a large result", () => {
  it.each(["application/json", "text/event-stream"])("arrives whole as %s, for a client that reads", async (accept) => {
    const content = "é\n".repeat(10 * 1024 * 1024);
    const { url } = await start({ operations: shop({ dump: () => text(content) }) });
    const session = await bareSession(url, "/mcp/direct");
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "shop__dump", arguments: {} } };
    const answer = await fetch(`${url}/mcp/direct`, {
      method: "POST",
      headers: { "content-type": "application/json", ...session, accept },
      body: JSON.stringify(message),
    });
    expect(answer.headers.get("content-type")).toContain(accept);
    const said = await answer.text();
    const data = accept === "application/json" ? said : (/^data: (.*)$/m.exec(said)?.[1] ?? "");
    const { result } = JSON.parse(data) as { result: { content: { text: string }[] } };
    expect(result.content[0]?.text === content).toBe(true);
  });
});

describe("a call that names no tool", () => {
  it.each(["/mcp", "/mcp/direct"])("is told at %s which field is wrong, and how", async (path) => {
    const { url } = await start();
    const session = await bareSession(url, path);
    const wrong: [unknown, RegExp][] = [
      [{}, /^name is missing/],
      [{ arguments: { tool: "shop/get_order" } }, /^name is missing/],
      [{ name: null }, /^name must be a text, not null/],
      [{ name: 7 }, /^name must be a text, not a number/],
      [{ name: { tool: "x" } }, /^name must be a text, not an object/],
      [{ name: ["call_tool"] }, /^name must be a text, not a list/],
    ];
    for (const [params, message] of wrong) {
      const answer = await post(`${url}${path}`, { jsonrpc: "2.0", id: 1, method: "tools/call", params }, session);
      expect(answer.json()).toMatchObject({ error: { code: -32602, message: expect.stringMatching(message) as string } });
    }
  });
});

describe("a method that does not exist", () => {
  it("is a JSON-RPC error, and HTTP 404 in the newer revision", async () => {
    const { url } = await start();
    const session = await bareSession(url);
    const legacy = await post(`${url}/mcp`, { jsonrpc: "2.0", id: 1, method: "nothing/here" }, session);
    expect(legacy.status).toBe(200);
    expect(legacy.json()).toMatchObject({ id: 1, error: { code: -32601 } });
    const envelope = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const modern = await post(
      `${url}/mcp`,
      { jsonrpc: "2.0", id: 2, method: "nothing/here", params: { _meta: envelope } },
      { "mcp-protocol-version": "2026-07-28", "mcp-method": "nothing/here" },
    );
    expect(modern.status).toBe(404);
    expect(modern.json()).toMatchObject({ id: 2, error: { code: -32601 } });
  });
});

describe("trace headers", () => {
  it("go on where the body names none, and give way where it does", async () => {
    const operations = shop({ slow: () => text("x") });
    const { url } = await start({ operations });
    const session = await bareSession(url);
    const call = (meta?: JsonObject) => ({
      jsonrpc: "2.0",
      id: 3,
      method: "tools/call",
      params: { name: "call_tool", arguments: { tool: "shop/slow" }, ...(meta === undefined ? {} : { _meta: meta }) },
    });
    await post(`${url}/mcp`, call(), { ...session, traceparent: "00-header", baggage: "a=1" });
    await post(`${url}/mcp`, call({ traceparent: "00-body" }), { ...session, traceparent: "00-header" });
    await post(`${url}/mcp`, call(), session);
    expect(operations.calls.map((one) => one.meta)).toEqual([
      { traceparent: "00-header", baggage: "a=1" },
      { traceparent: "00-body" },
      undefined,
    ]);
  });
});

describe("log messages of an upstream", () => {
  const talkative = shop({
    talk: (_args, options) => {
      for (const level of ["debug", "info", "error"]) options.onNotification?.("notifications/message", { level, data: level });
      return text("said");
    },
  });

  it("reach a session from the level it asked for, which goes with each of its calls", async () => {
    const { url } = await start({ operations: talkative });
    const heard: string[] = [];
    const client = await legacyClient(url);
    client.fallbackNotificationHandler = async (notification) => void heard.push(JSON.stringify(notification));
    const say = () => client.callTool({ name: "call_tool", arguments: { tool: "shop/talk" } });
    await say();
    expect(heard).toHaveLength(3);
    await client.setLoggingLevel("error");
    await say();
    expect(heard).toHaveLength(4);
    expect(talkative.calls.map((call) => call.logLevel)).toEqual([undefined, "error"]);
    await expect(client.setLoggingLevel("loud" as never)).rejects.toMatchObject({ code: -32602 });
  });

  it("reach a modern agent only where the request asked for a level", async () => {
    const { url } = await start({ operations: talkative });
    const ask = async (level?: string) => {
      const meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        ...(level === undefined ? {} : { "io.modelcontextprotocol/logLevel": level }),
      };
      const message = {
        jsonrpc: "2.0",
        id: 4,
        method: "tools/call",
        params: { name: "call_tool", arguments: { tool: "shop/talk" }, _meta: meta },
      };
      const answer = await post(`${url}/mcp`, message, {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "call_tool",
      });
      return answer.body.match(/notifications\/message/g)?.length ?? 0;
    };
    expect(await ask()).toBe(0);
    expect(await ask("info")).toBe(2);
  });
});
