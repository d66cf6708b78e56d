/** The same agent's day, by each client line and era, against one surface. */
import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import { FACADE_NAMES } from "../../src/surfaces/mcp/facade-list.js";
import { fakeOperations, SHOP, text } from "./fake.js";
import { closeAll, currentClient, legacyClient, start } from "./start.js";

afterEach(closeAll);

interface Agent {
  tools(): Promise<JsonObject[]>;
  call(name: string, args: JsonObject | undefined): Promise<JsonObject>;
  prompts(): Promise<JsonObject[]>;
  prompt(name: string, args: Record<string, string>): Promise<JsonObject>;
  read(uri: string): Promise<JsonObject>;
}
const AGENTS: readonly [string, (url: string, path?: string) => Promise<Agent>][] = [
  ["the older SDK", async (url, path) => agent(await legacyClient(url, path))],
  ["the current SDK, by handshake", async (url, path) => agent(await currentClient(url, "legacy", path))],
  ["the current SDK, without sessions", async (url, path) => agent(await currentClient(url, "modern", path))],
];

function agent(client: Awaited<ReturnType<typeof legacyClient>> | Awaited<ReturnType<typeof currentClient>>): Agent {
  const of = client as Awaited<ReturnType<typeof currentClient>>;
  return {
    tools: async () => (await of.listTools()).tools as unknown as JsonObject[],
    call: async (name, args) =>
      (await of.callTool(args === undefined ? { name } : { name, arguments: args })) as unknown as JsonObject,
    prompts: async () => (await of.listPrompts()).prompts as unknown as JsonObject[],
    prompt: async (name, args) => (await of.getPrompt({ name, arguments: args })) as unknown as JsonObject,
    read: async (uri) => (await of.readResource({ uri })) as unknown as JsonObject,
  };
}
const meta = (result: JsonObject): JsonObject => result["_meta"] as JsonObject;
const firstText = (result: JsonObject): string => (result["content"] as { text: string }[])[0]?.text ?? "";

describe.each(AGENTS)("an agent on %s", (_name, connect) => {
  it("sees exactly the six tools in their order [C20]", async () => {
    const { url } = await start();
    const tools = await (await connect(url)).tools();
    expect(tools.map((tool) => tool["name"])).toEqual([...FACADE_NAMES]);
  });

  it("reads a View as structured content and as the same JSON in text, and learns its episode", async () => {
    const { url } = await start();
    const agent = await connect(url);
    const result = await agent.call("start_task", { task: "cancel order O-1" });
    expect(JSON.parse(firstText(result))).toEqual(result["structuredContent"]);
    expect(meta(result)["steward/episode"]).toBe("ep_1");
    expect((result["structuredContent"] as JsonObject)["episode"]).toBe("ep_1");
  });

  it("gets an upstream's result untouched, with one key of ours added to its _meta [K11] [K12]", async () => {
    const odd: JsonObject = {
      content: [
        { type: "text", text: "a", annotations: { audience: ["user"] }, _meta: { inner: 1 } },
        { type: "resource", resource: { uri: "file:///x.csv", mimeType: "text/csv", blob: "YSxi" } },
        { type: "resource_link", uri: "file:///y", name: "y" },
      ],
      structuredContent: { deep: { list: [1, null, "two"] } },
      _meta: { "shop/own": [1, 2] },
    };
    const operations = fakeOperations([{ label: "shop", tools: { odd: () => odd } }]);
    const { url } = await start({ operations });
    const result = await (await connect(url)).call("call_tool", { tool: "shop/odd" });
    expect(result["content"]).toEqual(odd["content"]);
    expect(result["structuredContent"]).toEqual(odd["structuredContent"]);
    expect(meta(result)).toMatchObject({ "shop/own": [1, 2], "steward/episode": "ep_1" });
  });

  it("may give arguments as an object, as its JSON text, as null or not at all [K16] [K17]", async () => {
    const { url, operations } = await start();
    const agent = await connect(url);
    for (const args of [{ order_id: "O-1" }, '{"order_id":"O-1"}', null, undefined]) {
      await agent.call("call_tool", { tool: "shop/get_order", ...(args === undefined ? {} : { arguments: args }) });
    }
    expect(operations.calls.map((call) => call.args)).toEqual([{ order_id: "O-1" }, { order_id: "O-1" }, {}, {}]);
  });

  it("hears loudly of arguments in any other form, before anything is called [K17]", async () => {
    const { url, operations } = await start();
    const agent = await connect(url);
    for (const args of [["O-1"], 7, "O-1", "[1]"] as never[]) {
      const result = await agent.call("call_tool", { tool: "shop/get_order", arguments: args });
      expect(result["isError"]).toBe(true);
      expect(firstText(result)).toContain("input-invalid");
    }
    expect(operations.calls).toEqual([]);
  });

  it("reads an upstream's own failure as it was, and a fault as a sentence with code and data [K06]", async () => {
    const { url } = await start();
    const agent = await connect(url);
    const said = await agent.call("call_tool", { tool: "shop/cancel_order" });
    expect(said).toMatchObject({ content: [{ type: "text", text: "too late" }], isError: true });
    const away = await agent.call("call_tool", { tool: "shop/away" });
    expect(away["isError"]).toBe(true);
    expect(firstText(away)).toContain("cannot be reached now");
    expect(away["structuredContent"]).toMatchObject({
      error: { code: "tool-unavailable", retryable: true, data: { label: "shop" } },
    });
  });

  it("learns of a bug by an incident id, not by a stack or path [T29]", async () => {
    const { url, logs } = await start();
    const result = await (await connect(url)).call("call_tool", { tool: "shop/crash" });
    expect(result["isError"]).toBe(true);
    expect(JSON.stringify(result)).not.toContain("/home/me");
    const incident = /Incident ([0-9a-f]+)/.exec(firstText(result))?.[1];
    expect(logs.find((line) => line.data?.["incident"] === incident)?.level).toBe("error");
  });

  it("finds planning skills among the prompts, and an upstream's under its label", async () => {
    const operations = fakeOperations([
      {
        label: "docs",
        capabilities: { prompts: {} },
        pass: (method, params) =>
          method === "prompts/list"
            ? { prompts: [{ name: "review__it", description: "Review." }] }
            : { messages: [{ role: "user", content: { type: "text", text: `asked ${String(params["name"])}` } }] },
      },
    ]);
    const { url } = await start({ operations });
    const agent = await connect(url);
    expect((await agent.prompts()).map((prompt) => prompt["name"])).toEqual(["plan-cancel-order", "docs__review__it"]);
    const own = await agent.prompt("plan-cancel-order", { task: "cancel O-1" });
    expect(JSON.stringify(own)).toContain("Task: cancel O-1");
    expect(JSON.stringify(await agent.prompt("docs__review__it", {}))).toContain("asked review__it");
  });

  it("reads the rest of a large result behind its handle [K14]", async () => {
    const { url, operations } = await start();
    operations.results.set("r1", { mimeType: "application/json", text: '{"all":true}' });
    const read = await (await connect(url)).read("steward://results/r1");
    expect(read["contents"]).toEqual([{ uri: "steward://results/r1", mimeType: "application/json", text: '{"all":true}' }]);
  });
});

describe.each(AGENTS)("an agent on %s at the direct endpoint", (_name, connect) => {
  it("sees every upstream tool whole under its exposed name and calls it [C18]", async () => {
    const operations = fakeOperations([
      {
        label: "shop",
        tools: { get_order: () => text("there") },
        documents: {
          get_order: {
            title: "Get",
            inputSchema: { type: "object", $defs: { id: { type: "string" } }, properties: { id: { $ref: "#/$defs/id" } } },
            annotations: { readOnlyHint: true },
            _meta: { "x/y": 1 },
          },
        },
      },
    ]);
    const { url } = await start({ operations });
    const agent = await connect(url, "/mcp/direct");
    const [tool] = await agent.tools();
    expect(tool).toMatchObject({
      name: "shop__get_order",
      title: "Get",
      inputSchema: { $defs: { id: { type: "string" } } },
      annotations: { readOnlyHint: true },
      _meta: { "x/y": 1 },
    });
    expect(firstText(await agent.call("shop__get_order", {}))).toBe("there");
    expect(operations.calls[0]).toMatchObject({ direct: true, tool: "shop__get_order" });
  });

  it("keeps a tool whose output schema has no object root [C21]", async () => {
    const operations = fakeOperations([
      {
        label: "shop",
        tools: { list: () => text("[]") },
        documents: { list: { inputSchema: { type: "object" }, outputSchema: { type: "array", items: {} } } },
      },
    ]);
    const { url } = await start({ operations });
    const tools = await (await connect(url, "/mcp/direct")).tools();
    expect(tools.map((tool) => tool["name"])).toEqual(["shop__list"]);
  });
});

describe("the facade's list", () => {
  it("is the same object for two callers with different rights to upstreams", async () => {
    const { url } = await start({ operations: fakeOperations([SHOP]) });
    const one = await (await legacyClient(url)).listTools();
    const other = await (await legacyClient(url)).listTools();
    expect(one).toEqual(other);
  });
});
