import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, it } from "vitest";
import type { Fault } from "../../src/model/fault.js";
import { json, legacyHttp, listen, modernHttp, readBody } from "./http-servers.js";
import { label, remote, stand, textOf, until } from "./stand.js";

const faultOf = (call: Promise<unknown>): Promise<Fault> =>
  call.then(
    () => expect.fail("answered"),
    (error: unknown) => error as Fault,
  );

describe("an HTTP upstream that does not let a call in", () => {
  const letsIn = (good: string) => (method: string, headers: IncomingHttpHeaders) =>
    method === "tools/call" && headers.authorization !== good ? 401 : undefined;

  it("concerns the agent whose credentials were refused, and nobody else", async () => {
    for (const status of [401, 403]) {
      const server = await legacyHttp({
        refuse: (method, headers) => (method === "tools/call" && headers.authorization !== "Bearer good" ? status : undefined),
      });
      const one = stand(remote(server.url, { forwardHeaders: ["authorization"] }));
      await one.reach("up");
      const bad = await faultOf(one.call("echo", { text: "x" }, { headers: { authorization: "Bearer bad" } }));
      expect(bad).toMatchObject({ code: "login-refused", blame: "caller", retryable: false });
      expect(bad.detail).toContain(`HTTP ${status}`);
      expect(bad.detail).toContain("Your header authorization went along and did not suffice");
      expect(bad.detail).not.toContain("Bearer");
      const none = await faultOf(one.call("echo", { text: "x" }));
      expect(none).toMatchObject({ code: "login-refused" });
      expect(none.detail).toContain("send header authorization");
      const good = one.call("echo", { text: "let in" }, { headers: { authorization: "Bearer good" } });
      expect(textOf(await good)).toBe("let in");
      expect(one.presences()).toEqual(["connecting", "up"]);
      expect(server.count("initialize")).toBe(1);
    }
  });

  it("leaves the calls of others that are in flight alone, and the session", async () => {
    const server = await legacyHttp({ refuse: letsIn("Bearer good") });
    const one = stand(remote(server.url, { forwardHeaders: ["authorization"] }));
    const good = { headers: { authorization: "Bearer good" } };
    const slow = one.call("sleep", { ms: 300, text: "done" }, good);
    await until(() => server.count("tools/call") === 1, "it runs");
    const refused = await Promise.all(Array.from({ length: 20 }, () => faultOf(one.call("echo"))));
    expect(new Set(refused.map((fault) => fault.code))).toEqual(new Set(["login-refused"]));
    expect(textOf(await slow)).toBe("done");
    expect(server.count("initialize")).toBe(1);
    expect(server.deleted).toEqual([]);
  });

  it("is asked once by the daemon itself where a call carried the daemon's credentials, and stays where that is let in", async () => {
    const server = await legacyHttp({ refuse: letsIn("none") });
    const one = stand(remote(server.url, { headers: { authorization: "Bearer configured" } }));
    await one.reach("up");
    const before = server.count("tools/list");
    const refused = await Promise.all(Array.from({ length: 10 }, () => faultOf(one.call("echo"))));
    expect(refused[0]).toMatchObject({ code: "login-needed", blame: "operator" });
    // Not the advice that is followed already.
    expect(refused[0]?.detail).toContain("although header authorization went along");
    expect(refused[0]?.detail).not.toContain("add ");
    await until(() => server.count("tools/list") > before, "it was asked");
    expect(server.count("tools/list")).toBe(before + 1);
    expect(one.status().presence.state).toBe("up");
  });

  it("is parked once the daemon's own listing is refused, and back when it is let in", async () => {
    let closed = false;
    const server = await legacyHttp({ refuse: (method) => (closed && method.startsWith("tools/") ? 401 : undefined) });
    const one = stand(remote(server.url, { headers: { authorization: "Bearer configured" } }));
    await one.reach("up");
    closed = true;
    await faultOf(one.call("echo"));
    await one.reach("parked");
    expect(one.status().presence.reason).toContain("asks for a login (HTTP 401) although header authorization went along");
    closed = false;
    expect(await one.upstreams.sync()).toMatchObject([{ ok: true }]);
    await one.reach("up");
  });
});

describe("credentials of the daemon that are replaced in the configuration", () => {
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  /** A server that lets in the newest token alone, and a stand whose configuration says what was written last. */
  async function rotating(more: Parameters<typeof legacyHttp>[0] = {}) {
    const state = { valid: "t0", written: "t0", rereads: 0 };
    const server = await legacyHttp({
      refuse: (_method, headers) => (headers.authorization === `Bearer ${state.valid}` ? undefined : 401),
      ...more,
    });
    const configs = () => new Map([[label("remote"), remote(server.url, bearer(state.written))]]);
    const one = stand(remote(server.url, bearer("t0")), {
      reread: async () => {
        state.rereads += 1;
        await new Promise((read) => setTimeout(read, 20));
        await one.upstreams.configure(configs());
      },
    });
    await one.reach("up");
    return { state, server, one, configs };
  }

  it("are taken up by the calls that are refused meanwhile: one look, one new session, every call answered once", async () => {
    const { state, server, one } = await rotating();
    Object.assign(state, { valid: "t1", written: "t1" });
    const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => one.call("echo", { text: `${at}` })));
    expect(answers.map(textOf)).toEqual(Array.from({ length: 40 }, (_, at) => `${at}`));
    expect(server.count("initialize")).toBe(2);
    expect(server.count("tools/call")).toBe(40);
    expect(state.rereads).toBe(1);
    expect(one.presences()).toEqual(["connecting", "up"]);
  });

  it("leave calls in flight alone: they are answered on the session they were sent on, and new ones do not wait for them", async () => {
    const { state, server, one, configs } = await rotating();
    const slow = one.call("sleep", { ms: 600, text: "old" });
    await until(() => server.count("tools/call") === 1, "it runs");
    Object.assign(state, { valid: "t1", written: "t1" });
    await one.upstreams.configure(configs());
    expect(textOf(await one.call("echo", { text: "new" }))).toBe("new");
    expect(server.deleted).toEqual([]);
    expect(textOf(await slow)).toBe("old");
    await until(() => server.deleted.length === 1, "the former session was ended");
  });

  it("bring back at once an upstream that waits for a login, as often as they are replaced", async () => {
    const { state, server, one, configs } = await rotating();
    for (const token of ["t1", "t2", "t3"]) {
      state.valid = token;
      await faultOf(one.call("echo"));
      await one.reach("parked");
      state.written = token;
      const moving = one.upstreams.configure(configs());
      expect(textOf(await one.call("echo", { text: token }))).toBe(token);
      await moving;
      await one.reach("up");
    }
    expect(server.posts.filter(({ method }) => method === "initialize").map(({ headers }) => headers.authorization)).toEqual(
      ["t0", "t1", "t2", "t3"].map((token) => `Bearer ${token}`),
    );
  });

  it("that come while one is still connecting with the former ones are what it comes up with", async () => {
    let held: (() => void)[] = [];
    const server = await listen((request, response) => {
      void readBody(request).then((body) => {
        const answer = (): void => {
          if (request.headers.authorization !== "Bearer t1") return void response.writeHead(401).end();
          const result =
            body["method"] === "initialize"
              ? { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "slow", version: "1" } }
              : { tools: [], content: [{ type: "text", text: "in" }] };
          if (body["id"] === undefined) response.writeHead(202).end();
          else json(response, 200, { jsonrpc: "2.0", id: body["id"], result }, { "mcp-session-id": "s" });
        };
        if (request.headers.authorization === "Bearer t0") held.push(answer);
        else answer();
      });
    });
    const one = stand(remote(server.url, bearer("t0")));
    const calls = Promise.all([one.call("x"), one.call("x")]);
    await until(() => held.length > 0, "it is connecting");
    await one.upstreams.configure(new Map([[label("remote"), remote(server.url, bearer("t1"))]]));
    for (const answer of held) answer();
    held = [];
    expect((await calls).map(textOf)).toEqual(["in", "in"]);
    expect(one.presences()).not.toContain("parked");
  });

  it("that are still refused are told so, after one look, and nothing is sent twice; nothing is lost by an outage", async () => {
    const { state, server, one } = await rotating();
    state.valid = "elsewhere";
    const faults = await Promise.all(Array.from({ length: 10 }, () => faultOf(one.call("echo"))));
    expect(new Set(faults.map(({ code }) => code))).toEqual(new Set(["login-needed"]));
    await one.reach("parked");
    expect(server.count("tools/call")).toBe(0);
    expect(one.logs.some(({ text }) => text.includes("Bearer") || text.includes("t0"))).toBe(false);
    // The same credentials are still tried, and let in again where they are good again.
    state.valid = "t0";
    expect(await one.upstreams.sync()).toMatchObject([{ ok: true }]);
    await server.close();
    await faultOf(one.call("echo"));
    const again = await legacyHttp({
      port: server.port,
      refuse: (_method, headers) => (headers.authorization === "Bearer t0" ? undefined : 401),
    });
    await until(async () => (await one.upstreams.sync())[0]?.ok === true, "it is back with what it had");
    expect(again.count("initialize")).toBe(1);
  });
});

describe("a request that an HTTP upstream takes without answering", () => {
  it("is told so at once, whatever the status that says nothing", async () => {
    for (const status of [202, 204]) {
      const server = await legacyHttp({ refuse: (method) => (method === "tools/call" ? status : undefined) });
      const one = stand(remote(server.url, { callTimeoutMs: 600_000 }));
      const fault = await faultOf(one.call("echo"));
      expect(fault).toMatchObject({ code: "answer-unreadable", blame: "upstream" });
      expect(fault.detail).toBe(`remote/echo: The upstream took the request with HTTP ${status} and gave no answer to it.`);
    }
  });

  it("is told so in its greeting, too", async () => {
    const server = await listen((request, response) => {
      void readBody(request).then(() => response.writeHead(202).end());
    });
    const one = stand(remote(server.url, { connectTimeoutMs: 600_000 }));
    await one.reach("away");
    expect(one.status().presence.reason).toContain("took the request with HTTP 202");
  });

  it("waits where the answer comes on the session's own stream", async () => {
    const server = await legacyHttp({ stream: true, refuse: (method) => (method === "tools/call" ? 202 : undefined) });
    const one = stand(remote(server.url));
    await one.reach("up");
    await until(() => server.streams() === 1, "the stream stands");
    const call = one.call("echo");
    const timer = setInterval(() => {
      for (let id = 1; id < 10; id += 1) server.answer(id, { content: [{ type: "text", text: "by the stream" }] });
    }, 50);
    expect(textOf(await call)).toBe("by the stream");
    clearInterval(timer);
  });

  it("is told so by a modern server as well", async () => {
    const server = await modernHttp({ refuse: (method) => (method === "tools/call" ? 202 : undefined) });
    const one = stand(remote(server.url, { callTimeoutMs: 600_000 }));
    expect((await faultOf(one.call("where", { region: "x" }))).detail).toContain("took the request with HTTP 202");
  });
});
