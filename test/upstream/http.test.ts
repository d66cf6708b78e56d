import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Fault } from "../../src/model/fault.js";
import type { JsonObject } from "../../src/model/json.js";
import { legacyHttp, listen, modernHttp, sseServer } from "./http-servers.js";
import { remote, stand, textOf, until } from "./stand.js";

describe("a legacy server over Streamable HTTP", () => {
  it("lists and answers, with JSON and with event streams, keeping its connections", async () => {
    for (const events of [false, true]) {
      const server = await legacyHttp({ events });
      const one = stand(remote(server.url));
      expect(textOf(await one.call("echo", { text: "hello" }))).toBe("hello");
      await one.reach("up");
      expect(one.status()).toMatchObject({ transport: "http", era: "legacy", server: { name: "legacy-http", version: "1" } });
      expect(server.posts.at(-1)?.headers).toMatchObject({ "mcp-protocol-version": "2025-11-25" });
      await one.stop();
      expect(server.deleted).toHaveLength(1);
      await server.close();
    }
  });

  it("that restarted gets one new session for all who wait, and each call once [T01]", async () => {
    const server = await legacyHttp();
    const one = stand(remote(server.url));
    await one.reach("up");
    server.forget();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => one.call("echo", { text: String(at) })));
    expect(answers.map(textOf)).toEqual(Array.from({ length: 20 }, (_, at) => String(at)));
    expect(server.count("initialize")).toBe(2);
    const reinitialised = server.posts.filter((post) => post.method === "initialize")[1];
    expect(reinitialised?.headers).not.toHaveProperty("mcp-session-id");
    expect(one.presences()).not.toContain("away");
    await until(() => one.listings().length === 2, "listed anew");
  });

  it("that answers 400 to a dead session is found out by a ping [T01]", async () => {
    const server = await legacyHttp({ deadStatus: 400 });
    const one = stand(remote(server.url));
    await one.reach("up");
    server.forget();
    expect(textOf(await one.call("echo", { text: "again" }))).toBe("again");
    expect(server.count("initialize")).toBe(2);
  });

  it("that went away and came back is away meanwhile, with its tools kept, and taken back by a call [T23]", async () => {
    const server = await legacyHttp();
    const one = stand(remote(server.url));
    await one.call("echo", { text: "x" });
    await one.reach("up");
    await server.close();
    const refused = (): Promise<unknown> => one.call("echo", { text: "x" }).catch((error: Fault) => error.code);
    await until(async () => (await refused()) === "tool-unavailable", "calls are refused");
    await one.reach("away");
    expect(one.listings().every((listing) => listing.tools.length > 0)).toBe(true);
    await legacyHttp({ port: server.port });
    await until(async () => (await one.call("echo", { text: "back" }).then(textOf, () => "")) === "back", "it is back");
    await one.reach("up");
  });

  it("that drops idle streams is connected to again, as if nothing happened [T06]", async () => {
    const server = await legacyHttp({ stream: true });
    const one = stand(remote(server.url));
    await one.reach("up");
    await until(() => server.streams() === 1, "the stream stands");
    server.dropStreams();
    await until(() => server.streams() === 1, "it stands again");
    server.tools.push("new-one");
    server.announce("notifications/tools/list_changed");
    await until(
      () =>
        one
          .listings()
          .at(-1)
          ?.tools.some((tool) => tool.name === "new-one") === true,
      "the change was seen",
    );
    expect(server.count("initialize")).toBe(1);
    expect(one.presences()).toEqual(["connecting", "up"]);
  });

  it("that drops a call leaves its outcome unknown and does not run it again [K19]", async () => {
    const server = await legacyHttp();
    const one = stand(remote(server.url));
    await one.reach("up");
    for (const args of [{ afterHeaders: true }, { afterHeaders: false }]) {
      await expect(one.call("drop", args)).rejects.toMatchObject({ code: "call-interrupted" });
    }
    await expect(one.call("unfinished")).rejects.toMatchObject({ code: "call-interrupted" });
    expect(server.count("tools/call")).toBe(3);
    await expect(one.call("drop", {}, { repeatable: true })).rejects.toMatchObject({ code: "call-interrupted" });
    expect(server.count("tools/call")).toBe(5);
  });

  it("asks the right agent, whatever else is in flight: each question comes on its call's stream", async () => {
    const server = await legacyHttp();
    const one = stand(remote(server.url));
    const agent = (name: string) => ({
      origin: name,
      onRequest: async (_: string, params: JsonObject): Promise<JsonObject> => ({
        action: "accept",
        by: name,
        about: params["message"] ?? "",
      }),
    });
    const answers = await Promise.all(["a", "b", "c"].map((name) => one.call("ask", { message: `for ${name}` }, agent(name))));
    expect(answers.map((answer) => (answer["structuredContent"] as JsonObject)["answer"])).toEqual(
      ["a", "b", "c"].map((name) => ({ action: "accept", by: name, about: `for ${name}` })),
    );
  });

  it("reports progress, is told of cancellation with its own id, and has its answers bounded [K02] [K05]", async () => {
    const server = await legacyHttp();
    const one = stand(remote(server.url));
    const seen: unknown[] = [];
    expect(textOf(await one.call("progress", {}, { onProgress: (progress) => seen.push(progress["progress"]) }))).toBe("done");
    expect(seen).toEqual([1, 2, 3]);
    const abort = new AbortController();
    const call = one.call("sleep", { ms: 10_000 }, { signal: abort.signal });
    await until(() => server.count("tools/call") === 2, "it runs");
    abort.abort();
    await expect(call).rejects.toMatchObject({ code: "call-cancelled" });
    await until(() => server.count("notifications/cancelled") === 1, "it was told");
    const told = server.posts.find((post) => post.method === "notifications/cancelled")?.body["params"] as JsonObject;
    expect(told["requestId"]).toBe(server.posts.filter((post) => post.method === "tools/call")[1]?.body["id"]);
    await expect(one.call("huge")).rejects.toMatchObject({ code: "answer-too-large" });
  });

  it("sees configured headers and of the agent's only those that are allowed by name [A05]", async () => {
    const server = await legacyHttp();
    const one = stand(
      remote(server.url, { headers: { authorization: "Bearer configured" }, forwardHeaders: ["X-Tenant", "Mcp-Session-Id"] }),
    );
    const headers = { Authorization: "Bearer of-the-agent", cookie: "c=1", "x-tenant": "t1", "mcp-session-id": "theirs" };
    const seen = (await one.call("headers", {}, { headers }))["structuredContent"] as JsonObject;
    expect(seen).toMatchObject({ authorization: "Bearer configured", "x-tenant": "t1" });
    expect(seen).not.toHaveProperty("cookie");
    expect(seen["mcp-session-id"]).not.toBe("theirs");
  });

  it("that asks for a login is parked and not offered; other refusals are an outage", async () => {
    let status = 401;
    const server = await legacyHttp({ refuse: () => status });
    const one = stand(remote(server.url));
    await one.reach("parked");
    expect(one.status().presence.reason).toContain("asks for a login (HTTP 401)");
    expect(one.status().presence.reason).toContain("mcpServers.remote.headers");
    await expect(one.call("echo")).rejects.toMatchObject({ code: "tool-not-offered" });
    status = 503;
    const busy = stand(remote(server.url));
    await busy.reach("away");
    expect(busy.status().presence.reason).toContain("HTTP 503");
  });
});

describe("a modern server over Streamable HTTP", () => {
  it("is found out on the connection, told who asks with each request, and keeps its unknown fields", async () => {
    const server = await modernHttp();
    const one = stand(remote(server.url));
    const result = await one.call("where", { region: "eu" }, { meta: { "vendor/x": 1 }, capabilities: { elicitation: {} } });
    await one.reach("up");
    expect(one.status()).toMatchObject({ era: "modern", transport: "http", server: { name: "modern-http", version: "1" } });
    const { headers, meta } = result["structuredContent"] as { headers: JsonObject; meta: JsonObject };
    expect(headers).toMatchObject({ "mcp-method": "tools/call", "mcp-name": "where", "mcp-protocol-version": "2026-07-28" });
    expect(meta).toMatchObject({
      "vendor/x": 1,
      "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
      "io.modelcontextprotocol/clientInfo": { name: "steward" },
    });
    expect(result["resultType"]).toBe("complete");
    await expect(
      one.upstreams.request(remote("").label, "prompts/list", {}, { signal: new AbortController().signal }),
    ).rejects.toMatchObject({ code: -32601, message: "Method not found" });
  });

  it("announces changes on its listen stream [C03]", async () => {
    const server = await modernHttp();
    const one = stand(remote(server.url));
    await one.reach("up");
    await until(() => server.count("subscriptions/listen") === 1, "it listens");
    server.grow();
    await until(
      () =>
        one
          .listings()
          .at(-1)
          ?.tools.some((tool) => tool.name === "extra-0") === true,
      "the change was seen",
    );
  });

  it("is told of cancellation by the end of the stream [K05]", async () => {
    const server = await modernHttp();
    const one = stand(remote(server.url));
    const abort = new AbortController();
    const call = one.call("sleep", {}, { signal: abort.signal });
    await until(() => server.count("tools/call") === 1, "it runs");
    abort.abort();
    await expect(call).rejects.toMatchObject({ code: "call-cancelled" });
    await until(() => server.cut === 1, "the stream was cut");
  });

  it("gets marked arguments as headers, also after its marks moved; badly marked tools are left out with a reason", async () => {
    const server = await modernHttp({ marked: true });
    const one = stand(remote(server.url));
    await one.reach("up");
    const { headers } = (await one.call("where", { region: "eu-1" }))["structuredContent"] as { headers: JsonObject };
    expect(headers["mcp-param-region"]).toBe("eu-1");
    expect(
      one
        .listings()
        .at(-1)
        ?.tools.map((tool) => tool.name),
    ).toEqual(["where", "sleep"]);
    expect(
      one
        .listings()
        .at(-1)
        ?.problems.map((problem) => problem.code),
    ).toContain("tool-header-invalid");
    server.header = "Zone";
    const moved = (await one.call("where", { region: "eu-2" }))["structuredContent"] as { headers: JsonObject };
    expect(moved.headers["mcp-param-zone"]).toBe("eu-2");
  });
});

describe("the maintained SDK's own HTTP server", () => {
  const factory = (): McpServer => {
    const server = new McpServer({ name: "both", version: "1" });
    server.registerTool("add", { inputSchema: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => ({
      content: [{ type: "text", text: String(a + b) }],
    }));
    return server;
  };

  it("is spoken to in the newer words, also where it would serve the older without a session", async () => {
    for (const legacy of ["stateless", "reject"] as const) {
      const handler = createMcpHandler(factory, { legacy });
      const handle = toNodeHandler(handler);
      const served = await listen((request, response) => void handle(request as never, response));
      const one = stand(remote(served.url));
      expect(textOf(await one.call("add", { a: 2, b: 3 }))).toBe("5");
      await one.reach("up");
      expect(one.status().era).toBe("modern");
      await one.stop();
      await handler.close();
    }
  });
});

describe("stopping", () => {
  it("also ends connections that are still being greeted [T05]", async () => {
    const open = new Set<unknown>();
    const server = await listen((request) => {
      open.add(request);
      request.socket.on("close", () => open.delete(request));
    });
    const one = stand(remote(server.url));
    await until(() => open.size === 1, "it is being greeted");
    await one.stop();
    await until(() => open.size === 0, "the connection is gone");
  });
});

describe("a server of the first HTTP transport", () => {
  it("is reached by the same address, and its dropped stream is a new session [T06]", async () => {
    const server = await sseServer();
    const one = stand(remote(server.url));
    expect(textOf(await one.call("echo", { text: "old" }))).toBe("old");
    await one.reach("up");
    expect(one.status()).toMatchObject({ transport: "sse", era: "legacy" });
    server.dropStreams();
    await until(() => server.count("initialize") === 2, "greeted again");
    await until(
      async () => (await one.call("echo", { text: "again" }, { repeatable: true }).then(textOf, () => "")) === "again",
      "it answers",
    );
    expect(one.presences()).toEqual(["connecting", "up"]);
  });

  it("is spoken to at once where the configuration says so", async () => {
    const server = await sseServer();
    const one = stand(remote(server.url, { transport: "sse" }));
    expect(textOf(await one.call("echo", { text: "old" }))).toBe("old");
  });
});

describe("addresses that upstreams may not have [S07]", () => {
  it("are link-local and metadata addresses, however they are written", async () => {
    for (const url of [
      "http://169.254.169.254/mcp",
      "http://[fe80::1]/mcp",
      "http://2852039166/mcp",
      "http://[::ffff:169.254.169.254]/mcp",
      "http://[fd00:ec2::254]/",
    ]) {
      const one = stand(remote(url));
      await one.reach("parked");
      expect(one.status().presence.reason).toContain("link-local or metadata address");
    }
  });

  it("are not reached by a redirect to another origin either; one within the origin is followed", async () => {
    const other = await legacyHttp();
    const within = await legacyHttp();
    const lures = await Promise.all(
      [other.url, "http://169.254.169.254/latest"].map((location) =>
        listen((_, response) => void response.writeHead(307, { location }).end()),
      ),
    );
    for (const lure of lures) {
      const one = stand(remote(lure.url));
      await one.reach("away");
      expect(one.status().presence.reason).toContain("not followed");
    }
    expect(other.posts).toEqual([]);
    const one = stand(remote(within.url.replace("/mcp", "/moved")));
    expect(textOf(await one.call("echo", { text: "x" }))).toBe("x");
  });

  it("are no URLs of other kinds", async () => {
    for (const url of ["ftp://x/", "not a url"]) {
      const one = stand(remote(url));
      await one.reach("parked");
      const fault = (await one.call("x").catch((error: unknown) => error)) as Fault;
      expect(fault.code).toBe("tool-not-offered");
    }
  });
});
