/** What a request must pass before anything of it is read. Bare sockets: clients would not send such requests. */
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { afterEach, describe, expect, it } from "vitest";
import { JSON_LEVELS } from "../../src/model/json.js";
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import { levels } from "../model/deep.js";
import { bareSession, closeAll, INITIALIZE, makeSurface, post, start } from "./start.js";

afterEach(closeAll);

interface Raw {
  readonly status: number;
  readonly head: string;
  readonly body: string;
  /** The server ended the connection by itself. */
  readonly ended: boolean;
}
/** Sends bytes as they are; answers what came until the first whole answer, or the end. */
function raw(url: string, text: string, waitForEnd = false): Promise<Raw> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let got = "";
    const done = (ended: boolean): void => {
      socket.destroy();
      const [head = "", body = ""] = got.split("\r\n\r\n");
      resolve({ status: Number(/^HTTP\/1.1 (\d+)/.exec(head)?.[1] ?? 0), head, body, ended });
    };
    socket.on("data", (chunk) => {
      got += chunk.toString("utf8");
      const length = /content-length: (\d+)/i.exec(got)?.[1];
      const body = got.split("\r\n\r\n")[1];
      if (!waitForEnd && body !== undefined && length !== undefined && Buffer.byteLength(body) >= Number(length)) done(false);
    });
    socket.on("end", () => done(true));
    socket.on("error", (error: NodeJS.ErrnoException) => (got === "" ? reject(error) : done(true)));
    socket.write(text);
  });
}
/** Writes all, and only then reads. */
function patient(url: string, text: string): Promise<Pick<Raw, "status" | "body">> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.pause();
    socket.on("error", reject);
    socket.write(text, () => {
      let got = "";
      socket.on("data", (chunk) => (got += chunk.toString("utf8")));
      socket.on("end", () => {
        socket.destroy();
        const [head = "", body = ""] = got.split("\r\n\r\n");
        resolve({ status: Number(/^HTTP\/1.1 (\d+)/.exec(head)?.[1] ?? 0), body });
      });
      socket.resume();
    });
  });
}
const get = (path: string, headers: Record<string, string>): string =>
  `GET ${path} HTTP/1.1\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;

const ROUTES = ["/", "/healthz", "/readyz", "/metrics", "/v1/catalog", "/v1/openapi.json", "/mcp", "/mcp/direct", "/nothing"];

describe("what is no request that can be read", () => {
  it("is refused in words, whatever its size, and its connection ended", async () => {
    const { url } = await start();
    const begin = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n";
    for (const bytes of [20_000, 100_000, 1_000_000]) {
      const refused = await raw(url, `${begin}X-Big: ${"x".repeat(bytes)}\r\n\r\n`, true);
      expect(refused).toMatchObject({ status: 431, ended: true });
      expect(JSON.parse(refused.body)).toMatchObject({ title: expect.stringMatching(/headers .* \d+ bytes/) as string });
    }
    for (const text of ["GARBAGE\r\n\r\n", `${begin}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`, "\u0000".repeat(500)])
      expect(await raw(url, text, true)).toMatchObject({ status: 400, ended: true });
    expect((await raw(url, `${begin}\r\n`)).status).toBe(200);
  });
});

describe("the Host of a request", () => {
  it.each(ROUTES)("is checked on %s [T08]", async (path) => {
    const { url } = await start();
    for (const host of ["evil.example", "127.0.0.1.evil.example:80", "localhost@evil.example", "", "evil.example:7717"]) {
      expect((await raw(url, get(path, { Host: host }))).status, host).toBe(403);
    }
    for (const host of ["localhost", "127.0.0.1:7717", "[::1]:1", "LocalHost:80"]) {
      expect((await raw(url, get(path, { Host: host }))).status, host).not.toBe(403);
    }
  });

  it("may be a configured name", async () => {
    const { url } = await start({ allowedHosts: ["steward.lan"] });
    expect((await raw(url, get("/healthz", { Host: "steward.lan" }))).status).toBe(200);
    expect((await raw(url, get("/healthz", { Host: "other.lan" }))).status).toBe(403);
  });

  const address = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === "IPv4" && !one.internal)?.address;
  it.skipIf(address === undefined)("may be the very address that the connection came to, and no other name for it", async () => {
    const tokens = {
      format: "tokens/1",
      tokens: [{ name: "t", sha256: "0".repeat(64), upstreams: ["*"], rights: [], created: "" }],
    };
    const { surface } = makeSurface({ tokens });
    const listening = await surface.listen("0.0.0.0", 0);
    const url = `http://${address}:${listening.port}`;
    expect((await raw(url, get("/healthz", { Host: `${address}:${listening.port}` }))).status).toBe(200);
    expect((await raw(url, get("/healthz", { Host: "rebound.example" }))).status).toBe(403);
    expect((await raw(url, get("/healthz", { Host: "10.9.8.7" }))).status).toBe(403);
    await listening.close(0);
  });

  it("is checked before the body is read [T08]", async () => {
    const { url } = await start();
    const head = "POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n";
    expect((await raw(url, head)).status).toBe(403);
  });
});

describe("the Origin of a request", () => {
  it.each(ROUTES)("is refused on %s where it is another site's [T08]", async (path) => {
    const { url } = await start();
    for (const origin of ["http://evil.example", "https://localhost.evil.example", "null", "file://", "not a url"]) {
      const answer = await raw(url, get(path, { Host: "localhost", Origin: origin }));
      expect(answer.status, origin).toBe(403);
      expect(answer.head.toLowerCase()).not.toContain("access-control-allow-origin");
    }
  });

  it("is allowed for pages of this machine, and told so to the browser", async () => {
    const { url } = await start();
    const answer = await raw(url, get("/healthz", { Host: "localhost", Origin: "http://localhost:3000" }));
    expect(answer.status).toBe(200);
    expect(answer.head).toContain("Access-Control-Allow-Origin: http://localhost:3000");
    const asked =
      "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: mcp-session-id\r\nConnection: close\r\n";
    const preflight = await raw(
      url,
      `OPTIONS /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:3000\r\n${asked}\r\n`,
      true,
    );
    expect(preflight.status).toBe(204);
    expect(preflight.head).toContain("Access-Control-Allow-Headers: mcp-session-id");
  });
});

describe("a body that is too large", () => {
  const limit = 10_000;
  const policy = { ...DEFAULT_POLICY, requestBytes: limit };
  it.each(["/mcp", "/mcp/direct", "/v1/start_task"])(
    "is refused on %s by its declared length, at once, and the connection ended [T17]",
    async (path) => {
      const { url } = await start({ policy });
      const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${limit + 1}\r\n\r\n`;
      const answer = await raw(url, head, true);
      expect(answer.status).toBe(413);
      expect(answer.ended).toBe(true);
      expect(answer.body).toContain("input-too-large");
    },
  );

  it.each(["/mcp", "/v1/start_task"])("is cut off on %s at the limit where it comes in chunks [T17]", async (path) => {
    const { url } = await start({ policy });
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = `${(4_000).toString(16)}\r\n${"x".repeat(4_000)}\r\n`;
    const answer = await raw(url, head + chunk.repeat(3), true);
    expect(answer.status).toBe(413);
    expect(answer.ended).toBe(true);
  });

  it.each(["/mcp", "/mcp/direct", "/v1/start_task"])(
    "is refused on %s so that a client sees it which writes all before it reads, with the limit and its setting [T17]",
    async (path) => {
      const { url } = await start({ policy });
      const bytes = 20 * 1024 * 1024;
      const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
      const whole = `${head}Content-Length: ${bytes}\r\n\r\n${"x".repeat(bytes)}`;
      const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n${bytes.toString(16)}\r\n${"x".repeat(bytes)}\r\n0\r\n\r\n`;
      for (const text of [whole, chunked]) {
        const answer = await patient(url, text);
        expect(answer.status).toBe(413);
        expect(answer.body).toContain("At most 10000 bytes are taken");
        expect(answer.body).toContain("steward.policy.requestBytes");
        const body = JSON.parse(answer.body) as Record<string, unknown>;
        if (path === "/v1/start_task") expect(body).toMatchObject({ status: 413, code: "input-too-large" });
        else expect(body).toMatchObject({ jsonrpc: "2.0", id: null, error: { data: { code: "input-too-large" } } });
      }
      const task = "t".repeat(5 * 1024 * 1024);
      const fetched = await fetch(`${url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ task }),
      });
      expect(fetched.status).toBe(413);
      expect((await post(`${url}/v1/start_task`, { task: "short" })).status).toBe(200);
    },
  );

  it("is taken up to the limit", async () => {
    const { url } = await start({ policy });
    const task = "t".repeat(limit - 100);
    expect((await post(`${url}/v1/start_task`, { task })).status).toBe(200);
  });
});

describe("a request that cannot be read", () => {
  it("is answered on the MCP routes with a JSON-RPC error, whatever is wrong [T29]", async () => {
    const { url } = await start();
    for (const path of ["/mcp", "/mcp/direct"]) {
      const malformed = await post(`${url}${path}`, '{"jsonrpc":');
      expect(malformed.status).toBe(400);
      expect(malformed.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32700 } });
      const untyped = await post(`${url}${path}`, INITIALIZE, { "content-type": "text/plain" });
      expect(untyped.status).toBe(415);
      expect(untyped.json()).toMatchObject({ jsonrpc: "2.0", error: { code: -32600 } });
      for (const body of [[], 7, "x", { jsonrpc: "1.0", id: 1, method: "ping" }, { jsonrpc: "2.0", id: null, method: "ping" }]) {
        const odd = await post(`${url}${path}`, JSON.stringify(body));
        expect(odd.status, JSON.stringify(body)).toBe(400);
        expect(odd.json()).toMatchObject({ jsonrpc: "2.0", error: { code: -32600 } });
      }
    }
    const unknown = await post(`${url}/mcp/elsewhere`, INITIALIZE);
    expect(unknown.status).toBe(404);
    expect(unknown.json()).toMatchObject({ jsonrpc: "2.0", error: { code: -32601 } });
  });

  it("is refused where it is nested without end, and the next one is answered [T29]", async () => {
    const { url } = await start();
    for (const depth of [JSON_LEVELS + 1, 50_000]) {
      for (const path of ["/mcp", "/mcp/direct"]) {
        const deep = await post(`${url}${path}`, `{"jsonrpc":"2.0","id":1,"method":"ping","params":${levels(depth)}}`);
        expect(deep.status).toBe(400);
        expect(deep.json()).toMatchObject({ jsonrpc: "2.0", error: { code: -32700, message: /512 levels/ as never } });
      }
      for (const verb of ["call_tool", "start_task", "retrieve_tools", "finish_task"]) {
        const deep = await post(`${url}/v1/${verb}`, `{"tool":"shop/get_order","arguments":${levels(depth)}}`);
        expect(deep.status).toBe(400);
        expect(deep.body).toContain("512 levels");
      }
    }
    const args = levels(JSON_LEVELS * 2 - 2);
    const inText = await post(`${url}/v1/call_tool`, { tool: "shop/get_order", arguments: `{"a":${args}}` });
    expect(inText.body).toContain("arguments is nested deeper than 512 levels");
    expect((await post(`${url}/v1/start_task`, { task: "still there" })).status).toBe(200);
  });

  it("never shows a stack or a path of ours [T29]", async () => {
    const { url } = await start();
    const answers = [
      await post(`${url}/v1/start_task`, "{"),
      await post(`${url}/v1/%E0%A4%A`, {}),
      await post(`${url}/mcp`, "{"),
      await post(`${url}/nothing`, {}),
    ];
    for (const answer of answers) {
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
      expect(answer.body).not.toMatch(/\.[jt]s:\d|at \w+ \(|node_modules|<html/);
    }
  });

  it("may accept either answer type, or say nothing about it", async () => {
    const { url } = await start();
    const session = await bareSession(url);
    const ping = { jsonrpc: "2.0", id: 5, method: "ping" };
    const json = await post(`${url}/mcp`, ping, { ...session, accept: "application/json" });
    expect(json.json()).toEqual({ jsonrpc: "2.0", id: 5, result: {} });
    const events = await post(`${url}/mcp`, ping, { ...session, accept: "text/event-stream" });
    expect(events.headers.get("content-type")).toBe("text/event-stream");
    expect(events.body).toBe('event: message\ndata: {"result":{},"jsonrpc":"2.0","id":5}\n\n');
    const any = await post(`${url}/mcp`, ping, { ...session, accept: "*/*" });
    expect(any.json()).toMatchObject({ id: 5 });
  });
});
