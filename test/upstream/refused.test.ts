import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, it } from "vitest";
import type { Fault } from "../../src/model/fault.js";
import { legacyHttp, listen, modernHttp, readBody } from "./http-servers.js";
import { remote, stand, textOf, until } from "./stand.js";

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
