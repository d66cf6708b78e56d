/** Resources, prompts and completions of upstreams, under their label. */
import { afterEach, describe, expect, it } from "vitest";
import { Fault, Refusal } from "../../src/model/fault.js";
import type { JsonObject } from "../../src/model/json.js";
import { fakeOperations, plan } from "./fake.js";
import type { FakePass, FakeUpstream } from "./fake.js";
import { bareSession, closeAll, currentClient, legacyClient, post, start } from "./start.js";

afterEach(closeAll);

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
};
const CAPABILITIES = { resources: { subscribe: true }, prompts: {}, completions: {} };
const library = (label: string, overrides: Partial<FakeUpstream> = {}, more: FakePass = () => ({})): FakeUpstream => ({
  label,
  capabilities: CAPABILITIES,
  pass: (method, params, options) => {
    switch (method) {
      case "resources/list":
        return { resources: [{ uri: `file:///${label}.txt`, name: label, _meta: { "own/x": label } }] };
      case "resources/templates/list":
        return { resourceTemplates: [{ uriTemplate: `db://${label}/{id}/row`, name: "row" }] };
      case "resources/read": {
        if (!String(params["uri"]).includes(label)) throw new Refusal(-32602, "Resource not found", { uri: params["uri"] ?? "" });
        return { contents: [{ uri: params["uri"] ?? "", text: `of ${label}`, _meta: { "own/y": 1 } }] };
      }
      case "prompts/list":
        return { prompts: [{ name: "review", arguments: [{ name: "code" }] }] };
      case "completion/complete":
        return { completion: { values: [JSON.stringify(params)], total: 1 } };
      default:
        return more(method, params, options);
    }
  },
  ...overrides,
});
const call = async (url: string, method: string, params: JsonObject = {}): Promise<JsonObject> => {
  const session = await bareSession(url);
  const answer = await post(`${url}/mcp`, { jsonrpc: "2.0", id: 1, method, params }, session);
  return answer.json() as JsonObject;
};

describe("resources of upstreams", () => {
  it("are listed under their label, in stable order, with everything else as it was", async () => {
    const { url } = await start({ operations: fakeOperations([library("zoo"), library("ark")], []) });
    for (const client of [await legacyClient(url), await currentClient(url, "modern")]) {
      const { resources } = await client.listResources();
      expect(resources).toEqual([
        { uri: "steward://upstream/ark/file:///ark.txt", name: "ark", _meta: { "own/x": "ark" } },
        { uri: "steward://upstream/zoo/file:///zoo.txt", name: "zoo", _meta: { "own/x": "zoo" } },
      ]);
      const { resourceTemplates } = await client.listResourceTemplates();
      expect(resourceTemplates.map((template) => template.uriTemplate)).toEqual([
        "steward://results/{id}{/page}",
        "steward://upstream/ark/db://ark/{id}/row",
        "steward://upstream/zoo/db://zoo/{id}/row",
      ]);
    }
  });

  it("are read under the name they were listed by, and their contents bear it too", async () => {
    const { url, operations } = await start({ operations: fakeOperations([library("ark"), library("zoo")], []) });
    const client = await legacyClient(url);
    const uri = "steward://upstream/zoo/db://zoo/7/row";
    expect((await client.readResource({ uri })).contents).toEqual([{ uri, text: "of zoo", _meta: { "own/y": 1 } }]);
    expect(operations.passed.at(-1)).toMatchObject({ label: "zoo", method: "resources/read", params: { uri: "db://zoo/7/row" } });
  });

  it("are found by the name that a tool's result gives them", async () => {
    const { url } = await start({ operations: fakeOperations([library("ark"), library("zoo")], []) });
    const client = await legacyClient(url);
    expect((await client.readResource({ uri: "file:///zoo.txt" })).contents).toEqual([
      { uri: "file:///zoo.txt", text: "of zoo", _meta: { "own/y": 1 } },
    ]);
  });

  it("that nobody has are an error that names the URI, never an empty answer", async () => {
    const { url } = await start({ operations: fakeOperations([library("ark")], []) });
    for (const uri of ["file:///nothing", "steward://upstream/nobody/file:///x", "steward://results/none"]) {
      const answer = await call(url, "resources/read", { uri });
      expect(answer["error"], uri).toMatchObject({ code: -32602 });
    }
  });

  it("are read page by page to the end, or not at all [C01]", async () => {
    const paged = (fails: boolean): FakeUpstream =>
      library("ark", {
        pass: (method, params) => {
          if (method !== "resources/list") return {};
          const at = Number(params["cursor"] ?? 0);
          if (fails && at === 2) throw new Fault("upstream-failed", "the third page");
          const page = { resources: [{ uri: `file:///${at}`, name: `${at}` }] };
          return at < 3 ? { ...page, nextCursor: String(at + 1) } : { ...page, nextCursor: "" };
        },
      });
    const whole = await start({ operations: fakeOperations([paged(false)], []) });
    expect(((await call(whole.url, "resources/list"))["result"] as JsonObject)["resources"]).toHaveLength(4);
    const broken = await start({ operations: fakeOperations([paged(true)], []) });
    const result = (await call(broken.url, "resources/list"))["result"] as JsonObject;
    expect(result["resources"]).toEqual([]);
    expect(JSON.stringify(result["_meta"])).toContain("the third page");
  });

  it("whose list never ends are left out, and it is said why", async () => {
    const stuck = library("ark", { pass: () => ({ resources: [], nextCursor: "again" }) });
    const { url } = await start({ operations: fakeOperations([stuck, library("zoo")], []) });
    const result = (await call(url, "resources/list"))["result"] as JsonObject;
    expect(result["resources"]).toHaveLength(1);
    expect(JSON.stringify(result["_meta"])).toContain("ark never ends");
  });

  it("stay listed while their upstream is away, and an idle one is not woken for a known list", async () => {
    let state: FakeUpstream["state"] = "up";
    let asked = 0;
    const inner = library("ark");
    const ark: FakeUpstream = {
      ...inner,
      get state() {
        return state;
      },
      pass: (method, params, options) => {
        asked += 1;
        if (state === "away") throw new Fault("tool-unavailable", "away");
        return inner.pass?.(method, params, options) ?? {};
      },
    } as FakeUpstream;
    const { url } = await start({ operations: fakeOperations([ark], []) });
    const list = async () => ((await call(url, "resources/list"))["result"] as { resources: unknown[] }).resources.length;
    expect(await list()).toBe(1);
    state = "away";
    expect(await list()).toBe(1);
    state = "idle";
    const before = asked;
    expect(await list()).toBe(1);
    expect(asked).toBe(before);
    state = "parked";
    expect(await list()).toBe(0);
  });

  it("keep the upstream's own names where its prefix is empty", async () => {
    const { url } = await start({ operations: fakeOperations([library("ark", { prefix: "" }), library("zoo")]) });
    const client = await legacyClient(url);
    expect((await client.listResources()).resources.map((resource) => resource.uri)).toEqual([
      "skill://library/plan-cancel-order/SKILL.md",
      "file:///ark.txt",
      "steward://upstream/zoo/file:///zoo.txt",
    ]);
    expect((await client.readResource({ uri: "db://ark/1/row" })).contents[0]).toMatchObject({ uri: "db://ark/1/row" });
    expect((await client.listPrompts()).prompts.map((prompt) => prompt.name)).toEqual([
      "plan-cancel-order",
      "review",
      "zoo__review",
    ]);
  });
});

describe("followed resources", () => {
  it("are followed once at their upstream for all who follow, and each hears of its own [T10]", async () => {
    const { url, operations } = await start({ operations: fakeOperations([library("ark"), library("zoo")]) });
    const uri = "steward://upstream/ark/file:///ark.txt";
    const heard: string[] = [];
    const follow = async (name: string, of: string) => {
      const client = await legacyClient(url);
      client.fallbackNotificationHandler = async (notification) =>
        void heard.push(`${name} ${JSON.stringify(notification.params)}`);
      await client.subscribeResource({ uri: of });
      return client;
    };
    const one = await follow("one", uri);
    const two = await follow("two", uri);
    await follow("three", "steward://upstream/zoo/file:///zoo.txt");
    const subscribed = () => operations.passed.filter(({ label, method }) => label === "ark" && method === "resources/subscribe");
    expect(subscribed().map(({ params }) => params)).toEqual([{ uri: "file:///ark.txt" }]);
    operations.resourceUpdated("ark", "file:///ark.txt");
    await until(() => heard.length === 2);
    expect(heard.sort()).toEqual([`one {"uri":"${uri}"}`, `two {"uri":"${uri}"}`]);
    await one.unsubscribeResource({ uri });
    expect(operations.passed.some(({ method }) => method === "resources/unsubscribe")).toBe(false);
    await (two.transport as unknown as { terminateSession(): Promise<void> }).terminateSession();
    await until(() => operations.passed.some(({ method }) => method === "resources/unsubscribe"));
  });

  it("reach a modern agent on its subscription, until it ends", async () => {
    const { url, operations } = await start({ operations: fakeOperations([library("ark")]) });
    const uri = "steward://upstream/ark/file:///ark.txt";
    const client = await currentClient(url, "modern");
    const heard: unknown[] = [];
    client.setNotificationHandler("notifications/resources/updated", (notification) => void heard.push(notification.params.uri));
    const subscription = await client.listen({ resourceSubscriptions: [uri] });
    await until(() => operations.passed.some(({ method }) => method === "resources/subscribe"));
    operations.resourceUpdated("ark", "file:///ark.txt");
    await until(() => heard.length === 1);
    expect(heard).toEqual([uri]);
    await subscription.close();
    await until(() => operations.passed.some(({ method }) => method === "resources/unsubscribe"));
  });
});

describe("prompts and completions", () => {
  it("of a resting skill are refused with the reason", async () => {
    const resting = plan("plan-return", {
      standing: "inactive",
      because: "broken",
      needsReview: false,
      since: "2026-11-30T00:00:00.000Z",
      reasons: [{ on: "shop/old", rule: "T1", level: "breaking", text: "shop/old was removed" }],
    });
    const { url } = await start({ operations: fakeOperations([], [resting]) });
    expect(((await call(url, "prompts/list"))["result"] as JsonObject)["prompts"]).toEqual([]);
    const answer = await call(url, "prompts/get", { name: "plan-return" });
    expect(JSON.stringify(answer["error"])).toContain("shop/old was removed");
    expect((await call(url, "prompts/get", { name: "nothing" }))["error"]).toMatchObject({ code: -32602 });
  });

  it("complete at the upstream under its own spelling", async () => {
    const { url } = await start({ operations: fakeOperations([library("ark")]) });
    const client = await legacyClient(url);
    const prompt = await client.complete({
      ref: { type: "ref/prompt", name: "ark__review" },
      argument: { name: "code", value: "a" },
    });
    expect(JSON.parse(prompt.completion.values[0] ?? "")).toMatchObject({ ref: { type: "ref/prompt", name: "review" } });
    const uri = "steward://upstream/ark/db://ark/{id}/row";
    const resource = await client.complete({ ref: { type: "ref/resource", uri }, argument: { name: "id", value: "1" } });
    expect(JSON.parse(resource.completion.values[0] ?? "")).toMatchObject({ ref: { uri: "db://ark/{id}/row" } });
    const own = await client.complete({
      ref: { type: "ref/prompt", name: "plan-cancel-order" },
      argument: { name: "task", value: "c" },
    });
    expect(own.completion.values).toEqual([]);
  });
});

describe("lists that moved", () => {
  it.each(["legacy", "modern"] as const)(
    "are told to a %s agent; the facade's tools only where its list really changed [C03]",
    async (era) => {
      const { url, operations } = await start();
      const heard: Record<string, number> = { facade: 0, direct: 0, prompts: 0 };
      const connect = async (path: string, name: string) => {
        const client = await currentClient(url, era, path);
        client.setNotificationHandler("notifications/tools/list_changed", () => void (heard[name] = (heard[name] ?? 0) + 1));
        client.setNotificationHandler(
          "notifications/prompts/list_changed",
          () => void (heard["prompts"] = (heard["prompts"] ?? 0) + 1),
        );
        if (era === "modern") await client.listen({ toolsListChanged: true, promptsListChanged: true });
      };
      await connect("/mcp", "facade");
      await connect("/mcp/direct", "direct");
      operations.announce("tools");
      await until(() => heard["direct"] === 1);
      expect(heard["facade"]).toBe(0);
      operations.evolve([{ label: "other", tools: { x: () => ({ content: [] }) } }]);
      await until(() => heard["facade"] === 1 && heard["direct"] === 2);
      operations.announce("skills");
      await until(() => heard["prompts"] === 2);
    },
  );
});
