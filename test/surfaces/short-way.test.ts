/** Calls on stdio: what the short way answers is what the SDK's protocol object answers, message for message. */
import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { Fault, Refusal } from "../../src/model/fault.js";
import type { JsonObject } from "../../src/model/json.js";
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import { serveStdio, type StdioSurface } from "../../src/surfaces/mcp/stdio.js";
import type { Exposure } from "../../src/surfaces/mcp/tools.js";
import { fakeOperations, SHOP, text, type FakeUpstream } from "./fake.js";
import { INITIALIZE } from "./start.js";

const open: StdioSurface[] = [];
afterEach(async () => {
  for (const surface of open.splice(0)) await surface.close();
});

const ODD: FakeUpstream = {
  label: "odd",
  tools: {
    told: (_args, { onProgress, onNotification }) => {
      onProgress?.({ progress: 1, total: 2, message: "half" });
      onNotification?.("notifications/message", { level: "info", data: "working" });
      return text("told");
    },
    asks: async (_args, { onRequest }) => {
      const answer = await onRequest?.("elicitation/create", { message: "Which?", requestedSchema: { type: "object" } });
      return text(JSON.stringify(answer ?? null));
    },
    refused: () => {
      throw new Refusal(-32042, "not today", { until: "tomorrow" });
    },
    late: () => {
      throw new Fault("call-timeout", "odd gave no answer.", { label: "odd" });
    },
    kinds: () => ({ content: [{ type: "hologram", depth: 3 }], structuredContent: { "": null }, extra: { kept: true } }),
  },
};

/** An agent of the older revisions. Until it says that it is ready, its calls are left to the protocol object. */
async function agent(
  exposure: Exposure,
  way: "short" | "object",
): Promise<{
  ask: (id: number | string, params: unknown) => Promise<JsonObject[]>;
}> {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const operations = fakeOperations([SHOP, ODD]);
  open.push(serveStdio({ operations, policy: DEFAULT_POLICY, version: "1", log: () => undefined, exposure, stdin, stdout }));
  const heard: JsonObject[] = [];
  let rest = "";
  const say = (message: unknown): void => void stdin.write(`${JSON.stringify(message)}\n`);
  stdout.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString("utf8")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line) as JsonObject;
      heard.push(message);
      if (message["method"] === "elicitation/create")
        say({ jsonrpc: "2.0", id: message["id"], result: { action: "accept", content: { which: "both" } } });
    }
  });
  const until = async (id: unknown): Promise<JsonObject[]> => {
    while (!heard.some((message) => message["id"] === id && message["method"] === undefined))
      await new Promise((resolve) => setImmediate(resolve));
    // Ids of questions are counted by the protocol object; which they are does not matter.
    return heard.splice(0).map((message) => (message["method"] === "elicitation/create" ? { ...message, id: "asked" } : message));
  };
  const hello = INITIALIZE.params as unknown as JsonObject;
  say({ jsonrpc: "2.0", id: "hello", method: "initialize", params: { ...hello, capabilities: { elicitation: {} } } });
  await until("hello");
  if (way === "short") say({ jsonrpc: "2.0", method: "notifications/initialized" });
  return {
    ask(id, params) {
      say({ jsonrpc: "2.0", id, method: "tools/call", ...(params === undefined ? {} : { params }) });
      return until(id);
    },
  };
}

const call = (tool: unknown, args: unknown = {}): JsonObject =>
  ({ name: "call_tool", arguments: { tool, arguments: args } }) as JsonObject;
const CASES: Readonly<Record<Exposure, readonly unknown[]>> = {
  facade: [
    call("shop/get_order", { order_id: "O-1" }),
    call("shop/get_order", '{"order_id":"O-2"}'),
    { ...call("odd/told"), _meta: { progressToken: "p-1", traceparent: "00-1-2-03", "steward/episode": "ep_9" } },
    ...["shop/cancel_order", "shop/away", "odd/asks", "odd/refused", "odd/late", "odd/kinds", "no/such", 7, null].map((tool) =>
      call(tool),
    ),
    { name: "finish_task", arguments: { episode: "nothing" } },
    { name: "start_task", arguments: { task: "look at an order" } },
    { name: "no_such_tool" },
    { arguments: {} },
    {},
  ],
  direct: [
    { name: "shop__get_order", arguments: { order_id: "O-1" } },
    { name: "odd__told", _meta: { progressToken: 0 } },
    ...["shop__cancel_order", "shop__away", "odd__asks", "odd__refused", "odd__late", "odd__kinds", "no__such", 7].map(
      (name) => ({
        name,
        arguments: {},
      }),
    ),
    { name: "shop__get_order", arguments: "not JSON" },
    { name: "shop__get_order", arguments: null },
    {},
  ],
};

describe("a call on stdio", () => {
  for (const exposure of ["facade", "direct"] as const) {
    it(`is answered on the short way as by the protocol object: ${exposure}`, async () => {
      const short = await agent(exposure, "short");
      const object = await agent(exposure, "object");
      for (const [n, params] of CASES[exposure].entries()) {
        const id = n % 2 === 0 ? n : `call-${n}`;
        expect(await short.ask(id, params), JSON.stringify(params)).toEqual(await object.ask(id, params));
      }
    });
  }

  it("is answered under its own id, whatever that looks like", async () => {
    const short = await agent("direct", "short");
    const object = await agent("direct", "object");
    for (const id of [0, -1, "", "a b"]) {
      const params = { name: "shop__get_order", arguments: { order_id: "O-1" } };
      expect(await short.ask(id, params)).toEqual(await object.ask(id, params));
    }
  });
});
