/** Stopping: calls under way are answered, everything else ends, and nothing is left. */
import { createServer, request } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import { Fault } from "../../src/model/fault.js";
import { listen } from "../../src/surfaces/http/listen.js";
import { fakeOperations, text } from "./fake.js";
import { bareSession, closeAll, currentClient, legacyClient, makeSurface, post, start } from "./start.js";

afterEach(closeAll);

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
};
function slowShop() {
  const release: ((value: JsonObject) => void)[] = [];
  const operations = fakeOperations([{ label: "shop", tools: { slow: () => new Promise((resolve) => release.push(resolve)) } }]);
  return { operations, release };
}
const SLOW = { name: "call_tool", arguments: { tool: "shop/slow" } };

describe("a stop", () => {
  it("lets calls of every kind finish, and refuses new ones meanwhile", async () => {
    const { operations, release } = slowShop();
    const { url, stop } = await start({ operations });
    const legacy = await legacyClient(url);
    const modern = await currentClient(url, "modern");
    const session = await bareSession(url);
    const calls = [legacy.callTool(SLOW), modern.callTool(SLOW), post(`${url}/v1/call_tool`, SLOW.arguments)];
    await until(() => release.length === 3);
    const stopping = stop(5_000);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const refused = await post(`${url}/mcp`, { jsonrpc: "2.0", id: 1, method: "ping" }, session).catch(() => undefined);
    if (refused !== undefined)
      expect(refused.json()).toMatchObject({ error: { data: { code: "shutting-down", retryable: true } } });
    release.forEach((resolve) => resolve(text("finished")));
    const answers = await Promise.all(calls);
    for (const answer of answers) expect(JSON.stringify(answer)).toContain("finished");
    await stopping;
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  it("ends after its bound, aborting what did not finish", async () => {
    const { operations, release } = slowShop();
    const { url, stop } = await start({ operations });
    const client = await legacyClient(url);
    const pending = client.callTool(SLOW).catch((error: unknown) => error);
    await until(() => release.length === 1);
    await stop(50);
    expect(await pending).toBeInstanceOf(Error);
    expect(operations.calls[0]?.signal.aborted).toBe(true);
  });

  it("answers what did not finish within its bound, by every way a call comes", async () => {
    const { operations, release } = slowShop();
    const { url, stop, logs } = await start({ operations });
    const session = await bareSession(url);
    const call = { jsonrpc: "2.0", id: 5, method: "tools/call", params: SLOW };
    const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
    const modern = { ...call, params: { ...SLOW, _meta: meta } };
    const head = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "call_tool" };
    const asked = [
      post(`${url}/v1/call_tool`, SLOW.arguments),
      post(`${url}/mcp`, call, session),
      post(`${url}/mcp`, modern, head),
    ];
    await until(() => release.length === 3);
    await stop(50);
    const [rest, older, newer] = await Promise.all(asked);
    expect([rest?.status, rest?.headers.get("content-type")]).toEqual([503, "application/problem+json"]);
    expect(rest?.json()).toMatchObject({ code: "call-interrupted", status: 503, retryable: false });
    for (const answer of [older, newer]) {
      expect(answer?.json()).toMatchObject({
        id: 5,
        error: { data: { code: "call-interrupted", retryable: false } },
      });
    }
    release.forEach((resolve) => resolve(text("too late")));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(logs.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("does not wait for streams that only listen", async () => {
    const { url, stop } = await start();
    const session = await bareSession(url);
    const ended = new Promise<void>((resolve) => {
      const req = request(`${url}/mcp`, { headers: { ...session, accept: "text/event-stream" } }, (res) => {
        res.resume();
        res.on("end", resolve);
      });
      req.end();
    });
    const modern = await currentClient(url, "modern");
    await modern.listen({ toolsListChanged: true });
    await stop(60_000);
    await ended;
  });

  it("brings the answer of every stream that has begun whole to its reader, however large, and ends the stream", async () => {
    const large = "é".repeat(4_000_000);
    const release: (() => void)[] = [];
    const slow = (_args: JsonObject, { onProgress }: { onProgress?: ((progress: JsonObject) => void) | undefined }) => {
      onProgress?.({ progress: 1 });
      return new Promise<JsonObject>((resolve) => release.push(() => resolve(text(large))));
    };
    const operations = fakeOperations([{ label: "shop", tools: { slow } }]);
    const { url, stop } = await start({ operations });
    const session = await bareSession(url);
    /** Begins, and is read from only when it is let. */
    const open = (method: string, headers: Record<string, string>, body?: JsonObject) =>
      new Promise<() => Promise<string>>((begun, failed) => {
        const req = request(`${url}/mcp`, { method, headers: { ...headers, accept: "text/event-stream" } }, (res) => {
          begun(async () => {
            const chunks: Buffer[] = [];
            for await (const chunk of res) chunks.push(chunk as Buffer);
            expect(res.complete).toBe(true);
            return Buffer.concat(chunks).toString();
          });
        });
        req.on("error", failed);
        req.end(body === undefined ? undefined : JSON.stringify(body));
      });
    const call = { jsonrpc: "2.0", id: 5, method: "tools/call", params: { ...SLOW, _meta: { progressToken: "p" } } };
    const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} };
    const modern = { ...call, params: { ...call.params, _meta: { ...meta, progressToken: "p" } } };
    const head = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "call_tool" };
    const json = { "content-type": "application/json" };
    const older = await open("POST", { ...session, ...json }, call);
    const newer = await open("POST", { ...json, ...head, accept: "application/json, text/event-stream" }, modern);
    await until(() => release.length === 2);
    const stopping = stop(20_000);
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (const answer of release) answer();
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const answer of await Promise.all([older(), newer()])) {
      expect(answer).toContain("notifications/progress");
      const last = answer.trimEnd().split("\n\n").at(-1) ?? "";
      const message = JSON.parse(/^data: (.*)$/m.exec(last)?.[1] ?? "{}") as { result?: { content?: { text: string }[] } };
      expect(message.result?.content?.[0]?.text === large).toBe(true);
    }
    await stopping;
  });

  it("may be asked for twice, and leaves no session or held call", async () => {
    const { url, stop, surface } = await start();
    await bareSession(url);
    await Promise.all([stop(100), stop(100)]);
    expect(surface.live()).toEqual({ sessions: 0, calls: 0, held: 0 });
  });

  it("lets an agent answer what a running call asks it", async () => {
    const operations = fakeOperations([
      {
        label: "shop",
        tools: {
          ask: async (_args, options) => {
            await new Promise((resolve) => setTimeout(resolve, 60));
            return text(
              JSON.stringify(
                await options.onRequest?.("elicitation/create", {
                  message: "?",
                  requestedSchema: { type: "object", properties: {} },
                }),
              ),
            );
          },
        },
      },
    ]);
    const { url, stop } = await start({ operations });
    const client = await currentClient(url, "legacy", "/mcp", { elicitation: {} });
    client.setRequestHandler("elicitation/create", async () => ({ action: "decline" }) as never);
    const call = client.callTool({ name: "call_tool", arguments: { tool: "shop/ask" } });
    await until(() => operations.calls.length === 1);
    const stopping = stop(5_000);
    expect(JSON.stringify(await call)).toContain("decline");
    await stopping;
  });
});

describe("a stop of the server", () => {
  it("lets what was said leave whole, to readers that are late too, and waits for none that does not read", async () => {
    const large = `data: ${"x".repeat(40_000_000)}\n\n`;
    const streams: ServerResponse[] = [];
    const listening = await listen(
      (_req, res) => {
        res.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n");
        streams.push(res);
      },
      "127.0.0.1",
      0,
      {
        stopping: () => undefined,
        busy: () => false,
        end: async () => streams.forEach((res) => res.end(large)),
      },
    );
    const begin = () => new Promise<IncomingMessage>((begun) => request(listening.url, begun).end());
    const [late, never] = [await begin(), await begin()];
    never.on("error", () => undefined);
    const read = new Promise((resolve) => setTimeout(resolve, 60)).then(async () => {
      let bytes = 0;
      for await (const chunk of late) bytes += (chunk as Buffer).length;
      return bytes;
    });
    await listening.close(60_000);
    expect(await read).toBe(": hello\n\n".length + large.length);
    expect(late.complete).toBe(true);
    never.destroy();
  });
});

describe("the app, built apart from listening", () => {
  it("serves the same routes in anybody's server", async () => {
    const { surface } = makeSurface();
    const server = createServer(surface.app);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const session = await bareSession(url);
    expect((await post(`${url}/mcp`, { jsonrpc: "2.0", id: 1, method: "ping" }, session)).json()).toMatchObject({
      id: 1,
      result: {},
    });
    expect((await post(`${url}/v1/start_task`, { task: "x" })).status).toBe(200);
    expect((await post(`${url}/mcp`, "{")).json()).toMatchObject({ error: { code: -32700 } });
    await surface.close();
    server.close();
    server.closeAllConnections();
  });
});

describe("a port that is taken", () => {
  it("is said in one sentence, with nothing left open", async () => {
    const { url } = await start();
    const { surface } = makeSurface();
    const error = await surface.listen("127.0.0.1", Number(new URL(url).port)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Fault);
    expect((error as Fault).message).toContain("the port is taken");
    await surface.close();
  });
});
