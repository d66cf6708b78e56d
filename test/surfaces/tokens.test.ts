import { createHash } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import type { Right, Tokens } from "../../src/model/home.js";
import { Fault } from "../../src/model/fault.js";
import { checkTokens, isLoopbackAddress, isLoopbackHost } from "../../src/surfaces/http/tokens.js";
import { closeAll, fixed, INITIALIZE, legacyClient, makeSurface, NO_TOKENS, post, start } from "./start.js";

afterEach(closeAll);

const sha = (text: string): string => createHash("sha256").update(text).digest("hex");
const tokens = (...given: { name: string; secret: string; rights: Right[]; upstreams?: string[] }[]): Tokens => ({
  format: "tokens/1",
  tokens: given.map(({ name, secret, rights, upstreams }) => ({
    name,
    sha256: sha(secret),
    rights,
    upstreams: upstreams ?? ["*"],
    created: "2026-11-30T00:00:00.000Z",
  })),
});
const TEAM = tokens(
  { name: "bot", secret: "s3cret", rights: ["agent"], upstreams: ["shop"] },
  { name: "ops", secret: "0ps", rights: ["operate"] },
);

describe("a token", () => {
  it("is found by its hash, with its rights and upstreams", () => {
    const caller = checkTokens(fixed(TEAM), undefined)("Bearer s3cret", false);
    expect(caller).toEqual({ principal: "bot", rights: new Set(["agent"]), upstreams: new Set(["shop"]) });
    expect(checkTokens(fixed(TEAM), undefined)("bearer 0ps", false)?.upstreams).toBeUndefined();
  });

  it("that is wrong looks like none at all [A06]", async () => {
    const check = checkTokens(fixed(TEAM), undefined);
    for (const given of [undefined, "", "Bearer ", "Bearer wrong", "s3cret", `Bearer ${sha("s3cret")}`, "Basic s3cret"]) {
      expect(check(given, true)).toBeUndefined();
      expect(check(given, false)).toBeUndefined();
    }
    const { url } = await start({ tokens: TEAM });
    const missing = await post(`${url}/v1/catalog/sync`, {});
    const wrong = await post(`${url}/v1/catalog/sync`, {}, { authorization: "Bearer wrong" });
    expect(missing.status).toBe(401);
    expect([wrong.status, wrong.body, wrong.headers.get("www-authenticate")]).toEqual([
      missing.status,
      missing.body,
      missing.headers.get("www-authenticate"),
    ]);
  });

  it("of the local operator opens everything, also where tokens are configured", () => {
    const caller = checkTokens(fixed(TEAM), sha("local"))("Bearer local", true);
    expect(caller).toMatchObject({ principal: "local", upstreams: undefined });
    expect(caller?.rights.size).toBe(4);
  });

  it("is not needed on loopback while none is configured; a wrong one is refused even then", () => {
    const check = checkTokens(fixed(NO_TOKENS), sha("local"));
    expect(check.configured).toBe(false);
    expect(check(undefined, true)?.principal).toBe("local");
    expect(check("Bearer wrong", true)).toBeUndefined();
    expect(check(undefined, false)).toBeUndefined();
  });

  it("is needed by everybody once one is configured", () => {
    expect(checkTokens(fixed(TEAM), undefined).configured).toBe(true);
    expect(checkTokens(fixed(TEAM), undefined)(undefined, true)).toBeUndefined();
  });
});

describe("loopback", () => {
  it("is told by the address, not by what resembles it", () => {
    for (const address of ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"]) expect(isLoopbackAddress(address)).toBe(true);
    for (const address of ["128.0.0.1", "10.0.0.1", "::ffff:10.0.0.1", "::", "127.0.0.1.evil", undefined]) {
      expect(isLoopbackAddress(address)).toBe(false);
    }
    for (const host of ["localhost", "LOCALHOST", "[::1]", "127.0.0.1"]) expect(isLoopbackHost(host)).toBe(true);
    for (const host of ["0.0.0.0", "localhost.evil", "::", "192.168.0.1"]) expect(isLoopbackHost(host)).toBe(false);
  });

  it("does not cover what a reverse proxy on this machine forwards", async () => {
    const { url } = await start();
    for (const name of ["x-forwarded-for", "forwarded", "via", "x-real-ip"]) {
      expect((await post(`${url}/v1/start_task`, { task: "x" }, { [name]: "for=10.0.0.1" })).status, name).toBe(401);
    }
  });

  it("is left only with a token: any other address refuses to start without", async () => {
    const { surface } = makeSurface();
    const refused = await surface.listen("0.0.0.0", 0).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Fault);
    expect((refused as Fault).code).toBe("bind-refused");
    await surface.close();
    const { surface: open } = makeSurface({ tokens: TEAM });
    const listening = await open.listen("0.0.0.0", 0);
    expect(listening.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    await listening.close(0);
  });
});

describe("rights", () => {
  it("of an agent open the facade and nothing that changes the house", async () => {
    const { url } = await start({ tokens: TEAM });
    const bot = { authorization: "Bearer s3cret" };
    expect((await post(`${url}/v1/start_task`, { task: "x" }, bot)).status).toBe(200);
    for (const path of [
      "catalog/sync",
      "maintenance",
      "catalog/tools/approve",
      "episodes/ep_1/verify",
      "skills/plan-cancel-order/pin",
    ]) {
      const answer = await post(`${url}/v1/${path}`, {}, bot);
      expect(answer.status, path).toBe(403);
      expect(answer.json()).toMatchObject({ code: "forbidden" });
    }
    const client = await legacyClient(url, "/mcp", {}, bot);
    expect((await client.listTools()).tools).toHaveLength(6);
  });

  it("to operate do not make an agent", async () => {
    const { url } = await start({ tokens: TEAM });
    const ops = { authorization: "Bearer 0ps" };
    expect((await post(`${url}/v1/catalog/sync`, {}, ops)).status).toBe(200);
    expect((await post(`${url}/v1/start_task`, { task: "x" }, ops)).status).toBe(403);
    const mcp = await post(`${url}/mcp`, INITIALIZE, ops);
    expect(mcp.status).toBe(403);
    expect(mcp.json()).toMatchObject({ jsonrpc: "2.0", error: { data: { code: "forbidden" } } });
  });

  it("do not open another caller's session: it looks like none [T01]", async () => {
    const two = tokens({ name: "a", secret: "a", rights: ["agent"] }, { name: "b", secret: "b", rights: ["agent"] });
    const { url } = await start({ tokens: two });
    const opened = await post(`${url}/mcp`, INITIALIZE, { authorization: "Bearer a" });
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
    expect((await post(`${url}/mcp`, ping, { ...session, authorization: "Bearer b" })).status).toBe(404);
    expect((await post(`${url}/mcp`, ping, { ...session, authorization: "Bearer a" })).status).toBe(200);
  });

  it("of a local person are reduced to an agent's by MCP, under the name mcp", async () => {
    const { url, operations } = await start();
    const client = await legacyClient(url);
    await client.callTool({ name: "call_tool", arguments: { tool: "shop/get_order" } });
    expect(operations.calls[0]?.caller).toMatchObject({ principal: "mcp", rights: new Set(["agent"]) });
    await post(`${url}/v1/call_tool`, { tool: "shop/get_order" });
    expect(operations.calls[1]?.caller).toMatchObject({ principal: "local", session: undefined });
  });

  it("leave health open and close metrics where tokens are configured", async () => {
    const { url } = await start({ tokens: TEAM });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    expect((await fetch(`${url}/metrics`, { headers: { authorization: "Bearer 0ps" } })).status).toBe(200);
  });
});

describe("a caller's Authorization", () => {
  it("never goes on to an upstream, though other headers may where its allow list names them [A05]", async () => {
    const { url, operations } = await start({ tokens: TEAM });
    const client = await legacyClient(url, "/mcp", {}, { authorization: "Bearer s3cret", "x-tenant": "t7", cookie: "s3cret" });
    await client.callTool({ name: "call_tool", arguments: { tool: "shop/get_order" }, _meta: { "x/own": 1 } });
    const [call] = operations.calls;
    expect(call?.meta).toEqual({ "x/own": 1 });
    expect(call?.headers).toMatchObject({ "x-tenant": "t7" });
    for (const name of ["authorization", "cookie", "host", "mcp-session-id", "content-type"])
      expect(call?.headers).not.toHaveProperty(name);
    expect(JSON.stringify({ ...call, caller: call?.caller.principal })).not.toContain("s3cret");
  });
});
