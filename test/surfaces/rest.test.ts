/** `/v1`: every route, by a table; what is documented is what is answered. */
import { afterEach, beforeAll, afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { Refusal } from "../../src/model/fault.js";
import type { JsonObject } from "../../src/model/json.js";
import { ROUTES } from "../../src/surfaces/http/routes.js";
import { openApi } from "../../src/surfaces/http/openapi.js";
import { fakeOperations, text } from "./fake.js";
import { closeAll, post, start } from "./start.js";
import type { Started } from "./start.js";

/** One good request for each route: the rest of this file is about what else there is. */
const GOOD: Readonly<Record<string, { path?: string; body?: JsonObject }>> = {
  "post /start_task": { body: { task: "cancel order O-1", hints: ["shop"], budget_tokens: 500 } },
  "post /retrieve_tools": { body: { query: "get_order", limit: 3, detail: "full" } },
  "post /explore_capabilities": { body: { need: "refund" } },
  "post /describe_tools": { body: { tools: ["shop/get_order"] } },
  "post /call_tool": { body: { tool: "shop/get_order", arguments: { order_id: "O-1" } } },
  "post /finish_task": { body: { episode: "ep_1", outcome: "success", note: "fine" } },
  "get /results/:id": { path: "/results/r1" },
  "get /catalog": { path: "/catalog?at=1" },
  "get /catalog/versions/:version": { path: "/catalog/versions/1" },
  "get /catalog/drift": { path: "/catalog/drift?from=1&to=1" },
  "get /catalog/search": { path: "/catalog/search?query=order&at=1&limit=3" },
  "post /catalog/search": { body: { query: "order", at: 1, limit: 3 } },
  "post /catalog/pin": { body: { version: 1, token: "ci" } },
  "get /catalog/lineage/:link": { path: "/catalog/lineage/l1" },
  "post /catalog/lineage/confirm": { body: { link: "l1" } },
  "post /catalog/lineage/add": { body: { from: "shop/get", to: ["shop/find"], params: { id: "order_id" } } },
  "post /catalog/lineage/reject": { body: { link: "l1" } },
  "post /catalog/sync": { body: { upstream: "shop" } },
  "post /catalog/tools/approve": { body: { tool: "shop/get_order" } },
  "get /skills": { path: "/skills?tier=planning&standing=active&at=1" },
  "get /skills/:name": { path: "/skills/plan-cancel-order" },
  "get /skills/:name/history": { path: "/skills/plan-cancel-order/history" },
  "post /skills/:name/approve": { path: "/skills/plan-cancel-order/approve" },
  "post /skills/:name/pin": { path: "/skills/plan-cancel-order/pin", body: {} },
  "post /skills/:name/unpin": { path: "/skills/plan-cancel-order/unpin" },
  "post /skills/:name/remove": { path: "/skills/plan-cancel-order/remove" },
  "delete /skills/:name": { path: "/skills/plan-cancel-order" },
  "post /library/import": { body: { folders: [{ folder: "x", files: { "SKILL.md": "---\n" } }] } },
  "post /library/revert": { body: { to: 1 } },
  "get /graph/why/:skill": { path: "/graph/why/plan-cancel-order?at=1" },
  "post /maintenance": { body: { mode: "incremental", dryRun: true } },
  "post /maintenance/compare": { body: {} },
  "get /maintenance/:id": { path: "/maintenance/m1" },
  "get /episodes/:id": { path: "/episodes/ep_1" },
  "post /episodes/import": {
    path: "/episodes/import",
    body: { episodes: [{ source: "run 1", task: "Cancel", calls: [{ name: "shop/get_order", args: { order_id: "A-1" } }] }] },
  },
  "post /episodes/:id/verify": { path: "/episodes/ep_1/verify", body: { outcome: "success", trust: "human" } },
  "get /views/:id": { path: "/views/vw_1" },
  "post /views/:id/replay": { path: "/views/vw_1/replay" },
};

let started: Started;
beforeAll(async () => {
  started = await start();
  started.operations.results.set("r1", { mimeType: "application/json", text: "{}" });
});
afterAll(closeAll);

const ask = async (method: string, path: string, body?: JsonObject, headers: Record<string, string> = {}) => {
  const response = await fetch(`${started.url}/v1${path}`, {
    method: method.toUpperCase(),
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    headers: response.headers,
    body: (await response.json()) as JsonObject,
  };
};

describe.each(ROUTES.map((route) => ({ route, key: `${route.method} ${route.path}` })))("$key", ({ route, key }) => {
  it("answers as its schema and the OpenAPI document say", async () => {
    const { path = route.path, body } = GOOD[key] ?? {};
    const answer = await ask(route.method, path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    const parsed = route.answer.safeParse(answer.body);
    expect(parsed.error?.issues ?? []).toEqual([]);
  });

  it("is in the OpenAPI document with its parameters and body", () => {
    const path = `/v1${route.path.replace(/:([a-z]+)/g, "{$1}")}`;
    const operation = ((openApi("0")["paths"] as JsonObject)[path] as JsonObject)[route.method] as JsonObject;
    expect(operation["operationId"]).toBeTypeOf("string");
    const named = ((operation["parameters"] ?? []) as { name: string }[]).map(({ name }) => name);
    for (const [, name] of route.path.matchAll(/:([a-z]+)/g)) expect(named).toContain(name);
    expect("requestBody" in operation).toBe(route.body !== undefined);
    // What the document calls optional may be left out, and what it calls required may not.
    for (const { name, required } of (operation["parameters"] ?? []) as { name: string; required: boolean }[]) {
      const schema = route.query?.shape[name];
      if (schema !== undefined) expect(schema instanceof z.ZodOptional, name).toBe(!required);
    }
  });
});

const KINDS: readonly [unknown, string][] = [
  [null, "null came"],
  [[], "an empty list came"],
  [[1], "a list came"],
  [7, "a number came"],
  ["cancel", "a text came"],
  [false, "false came"],
];

describe("a body that is no object", () => {
  const routes = ROUTES.filter(({ body, unread }) => body !== undefined && unread !== true);
  it.each(routes.map((route) => ({ route, key: `${route.method} ${route.path}` })))(
    "is refused by $key with what was expected and what came",
    async ({ route, key }) => {
      const { path = route.path } = GOOD[key] ?? {};
      for (const [value, came] of KINDS) {
        const { status, body } = await ask(route.method, path, value as JsonObject);
        expect([status, body["detail"]]).toEqual([
          400,
          expect.stringMatching(/^The body has to be a JSON object( with `.*`)?; /),
        ]);
        expect(body["detail"]).toContain(`; ${came}.`);
      }
    },
  );

  it("names what has to be in it", async () => {
    const { body } = await ask("post", "/episodes/import", null as unknown as JsonObject);
    expect(body["detail"]).toBe("The body has to be a JSON object with `episodes`; null came.");
    const called = await ask("post", "/call_tool", [] as unknown as JsonObject);
    expect(called.body["detail"]).toContain("an empty list came");
  });
});

describe("metrics of maintenance", () => {
  it("count what runs applied, skipped, proposed and refused apart", async () => {
    const text = await (await fetch(`${started.url}/metrics`)).text();
    const counted = [...text.matchAll(/^steward_maintenance_edits\{outcome="(\w+)"\} (\d+)$/gm)].map(([, what, n]) => [what, n]);
    expect(counted).toEqual([
      ["applied", "2"],
      ["skipped", "3"],
      ["proposed", "1"],
      ["refused", "0"],
    ]);
  });
});

describe("the OpenAPI document", () => {
  it("is served, is 3.1, has unique operation ids and no dangling reference [C12]", async () => {
    const { body } = await ask("get", "/openapi.json");
    expect(body["openapi"]).toBe("3.1.0");
    const all = JSON.stringify(body);
    const ids = [...all.matchAll(/"operationId":"([^"]+)"/g)].map((match) => match[1]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(ROUTES.length);
    expect(new Set([...all.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]))).toEqual(
      new Set(["#/components/schemas/Problem"]),
    );
  });
});

describe("an answer of a facade route", () => {
  it("names its episode in a header, and the View is the body itself", async () => {
    const answer = await ask("post", "/start_task", { task: "x" });
    expect(answer.headers.get("steward-episode")).toBe(answer.body["episode"]);
    expect(answer.body["tools"]).toBeInstanceOf(Array);
  });

  it("of call_tool is the upstream's result with the episode in its _meta", async () => {
    const { body } = await ask("post", "/call_tool", { tool: "shop/get_order", arguments: '{"order_id":"O-9"}' });
    expect(body).toMatchObject({
      structuredContent: { id: "O-9" },
      _meta: { "shop/trace": 7, "steward/episode": expect.any(String) },
    });
  });

  it("of call_tool keeps an upstream's own failure and protocol error as answers, not problems [K06]", async () => {
    expect(await ask("post", "/call_tool", { tool: "shop/cancel_order" })).toMatchObject({
      status: 200,
      body: { isError: true },
    });
    const operations = fakeOperations([
      {
        label: "shop",
        tools: {
          no: () => {
            throw new Refusal(-32000, "closed today");
          },
        },
      },
    ]);
    const other = await start({ operations });
    const refused = await post(`${other.url}/v1/call_tool`, { tool: "shop/no" });
    expect([refused.status, refused.json()]).toMatchObject([
      200,
      { isError: true, structuredContent: { error: { message: "closed today" } } },
    ]);
  });
});

describe("a problem", () => {
  const problems: [string, string, string, JsonObject | undefined, number, string][] = [
    ["an unknown tool", "post", "/call_tool", { tool: "shop/nothing" }, 404, "tool-unknown"],
    ["a tool that is away", "post", "/call_tool", { tool: "shop/away" }, 503, "tool-unavailable"],
    ["arguments in a wrong form", "post", "/call_tool", { tool: "shop/get_order", arguments: [1] }, 400, "input-invalid"],
    ["a field that is missing", "post", "/start_task", {}, 400, "input-invalid"],
    ["a field that is not known", "post", "/start_task", { task: "x", tsk: 1 }, 400, "input-invalid"],
    ["a query that is wrong", "get", "/catalog?at=x", undefined, 400, "input-invalid"],
    ["a path that is wrong", "get", "/catalog/versions/x", undefined, 400, "input-invalid"],
    ["an unknown skill", "get", "/skills/none", undefined, 404, "skill-unknown"],
    ["an unknown episode", "get", "/episodes/none", undefined, 404, "episode-unknown"],
    ["an unknown view", "get", "/views/none", undefined, 404, "view-unknown"],
    ["an unknown run", "get", "/maintenance/none", undefined, 404, "report-unknown"],
    ["an unknown version", "get", "/catalog/versions/9", undefined, 404, "version-unknown"],
    ["an unknown link", "post", "/catalog/lineage/confirm", { link: "none" }, 404, "lineage-unknown"],
    ["an unknown result", "get", "/results/none", undefined, 404, "result-unknown"],
    ["an unknown address", "get", "/nothing", undefined, 404, "route-unknown"],
    ["a bug", "post", "/call_tool", { tool: "shop/crash" }, 500, "bug"],
  ];
  it.each(problems)(
    "for %s is a problem document with code, blame and retryable",
    async (_what, method, path, body, status, code) => {
      const answer = await ask(method, path, body);
      expect(answer.status).toBe(status);
      expect(answer.type).toBe("application/problem+json");
      expect(answer.body).toMatchObject({
        type: `urn:steward:fault:${code}`,
        code,
        status,
        blame: expect.any(String),
        retryable: expect.any(Boolean),
      });
      expect(JSON.stringify(answer.body)).not.toContain("/home/me");
    },
  );

  it("for a body without its type or that is no JSON says so [T29]", async () => {
    const untyped = await fetch(`${started.url}/v1/start_task`, {
      method: "POST",
      body: '{"task":"x"}',
      headers: { "content-type": "text/plain" },
    });
    expect([untyped.status, ((await untyped.json()) as JsonObject)["code"]]).toEqual([400, "input-invalid"]);
    const broken = await post(`${started.url}/v1/start_task`, '{"task"');
    expect([broken.status, broken.json()["detail"]]).toEqual([400, "The body is not JSON."]);
  });
});

describe("long work", () => {
  it("may be asked for as an event stream that tells how far it is and ends with the report", async () => {
    for (const [method, path, body, told] of [
      ["POST", "/maintenance", "{}", ["progress", "report"]],
      ["POST", "/maintenance", '{"mode":"frozen"}', ["progress", "report"]],
      ["GET", "/maintenance/m1", undefined, ["report"]],
    ] as const) {
      const response = await fetch(`${started.url}/v1${path}`, {
        method,
        headers: { accept: "text/event-stream", "content-type": "application/json" },
        ...(body === undefined ? {} : { body }),
      });
      expect(response.headers.get("content-type")).toBe("text/event-stream");
      const events = [...(await response.text()).matchAll(/^event: (\w+)\ndata: (.*)\n\n/gm)];
      expect(events.map(([, event]) => event)).toEqual(told);
      expect(JSON.parse(events.at(-1)?.[2] ?? "")).toMatchObject({ id: "m1" });
    }
  });

  it("of a call is aborted when its client disconnects [K05]", async () => {
    let aborted: () => void = () => undefined;
    const seen = new Promise<void>((resolve) => (aborted = resolve));
    const operations = fakeOperations([
      {
        label: "shop",
        tools: {
          slow: (_args, options) => {
            options.signal.addEventListener("abort", aborted);
            return new Promise(() => undefined);
          },
          quick: () => text("x"),
        },
      },
    ]);
    const { url } = await start({ operations });
    const leaving = new AbortController();
    const pending = fetch(`${url}/v1/call_tool`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ tool: "shop/slow" }),
      signal: leaving.signal,
    }).catch(() => undefined);
    while (operations.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    leaving.abort();
    await pending;
    await seen;
  });
});

describe("what monitors ask", () => {
  afterEach(() => undefined);
  it("is whether it lives, whether it is ready, and in numbers what it did", async () => {
    expect(await (await fetch(`${started.url}/healthz`)).json()).toEqual({ status: "ok", version: "0.0.0" });
    expect(await (await fetch(`${started.url}/readyz`)).json()).toEqual({ ready: true, catalog: 1 });
    await ask("post", "/retrieve_tools", { query: "get_order" });
    await ask("get", "/skills/none");
    const metrics = await (await fetch(`${started.url}/metrics`)).text();
    for (const line of [
      /steward_calls_total\{endpoint="rest",operation="retrieve_tools",outcome="ok"\} [1-9]/,
      /steward_calls_total\{endpoint="rest",operation="skills\/:name",outcome="fault"\} [1-9]/,
      /steward_views_total\{operation="retrieve_tools"\} [1-9]/,
      /steward_faults_total\{code="skill-unknown"\} [1-9]/,
      /steward_call_seconds_bucket/,
      /steward_catalog_version 1/,
      /steward_upstreams\{presence="up"\} 1/,
      /steward_sessions 0/,
    ]) {
      expect(metrics).toMatch(line);
    }
  });

  it("is answered by a page that loads nothing from elsewhere and runs only its own script [T08]", async () => {
    const response = await fetch(`${started.url}/`);
    const html = await response.text();
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(html).not.toMatch(/(src|href)=|https?:\/\/|@import|url\(/);
    const { createHash } = await import("node:crypto");
    for (const [tag, directive] of [
      ["script", "script-src"],
      ["style", "style-src"],
    ] as const) {
      const inline = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(html)?.[1] ?? "";
      const hash = createHash("sha256").update(inline).digest("base64");
      expect(policy).toContain(`${directive} 'sha256-${hash}'`);
    }
    expect(html).not.toMatch(/innerHTML|insertAdjacentHTML|document\.write/);
    expect(() => new Function(/<script>([\s\S]*?)<\/script>/.exec(html)?.[1] ?? "throw")).not.toThrow();
  });
});
