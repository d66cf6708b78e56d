/** Tools: definitions, arguments, results, the life of a call. */
import { expect } from "vitest";
import type { JsonObject } from "../../../src/model/json.js";
import { HASTY_MS, hastyLabel } from "./upstream.js";
import { answeredHere, call, ownItems, passes, refused, structured, until, type Cell, type Feature, type Seen } from "./cell.js";

const CONTENT: Readonly<Record<string, JsonObject>> = {
  text: { type: "text", text: "a\u0000b \u{1F600} é", annotations: { audience: ["user"], priority: 0.2 }, _meta: { "own/x": 1 } },
  image: { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png", "x-own": true },
  audio: { type: "audio", data: "UklGRg==", mimeType: "audio/wav" },
  "embedded resource": { type: "resource", resource: { uri: "every://note/9", mimeType: "text/csv", text: "a,b\n1,2\n" } },
  "embedded blob": { type: "resource", resource: { uri: "every://blob", mimeType: "text/csv", blob: "AAEC/w==" } },
  "resource link": { type: "resource_link", uri: "every://note/1", name: "note-1", size: 5, "x-own": [1] },
  "a kind unknown to both SDKs": { type: "hologram", depth: 3, layers: [{ of: "light" }] },
};

const sameResult = (result: JsonObject) => async (cell: Cell) => {
  expect(await call(cell, "reply", { result })).toEqual(result);
  return passes;
};

async function definitions(cell: Cell): Promise<Seen> {
  const truth = await cell.upstream.list("tools/list", "tools");
  const { tools } = await cell.agent.ask("tools/list");
  const own = ownItems(tools, "name", `${cell.upstream.label}__`);
  const named = (items: JsonObject[]) => new Map(items.map((item) => [item["name"], item]));
  for (const [name, item] of named(truth.items)) {
    const { execution: _tasksOnly, ...rest } = item;
    expect(named(own).get(name)).toEqual(cell.agent.era === "legacy" ? item : rest);
  }
  return passes;
}

async function cancellation(cell: Cell): Promise<Seen> {
  const abort = new AbortController();
  const hanging = call(cell, "hang", {}, {}, { signal: abort.signal });
  hanging.catch(() => undefined);
  const running = () => structured(cell, "running");
  const id = await until(async () => ((await running())["hanging"] as unknown[])[0], "the call hangs");
  abort.abort();
  await until(async () => ((await running())["stopped"] as unknown[]).includes(id), "the upstream was told to stop this call");
  await expect(hanging).rejects.toThrow();
  const how = (era: string) => (era === "legacy" ? "notification" : "the stream is cut");
  // On a pipe the newer revision cancels by a notification too.
  return cell.agent.era === "legacy" ? passes : { mark: "bridged", note: `${how("modern")} ⇄ ${how("legacy")} (stdio)` };
}

async function concurrency(cell: Cell): Promise<Seen> {
  const abort = new AbortController();
  const hanging = call(cell, "hang", {}, {}, { signal: abort.signal });
  hanging.catch(() => undefined);
  await until(
    async () => ((await structured(cell, "running"))["hanging"] as unknown[]).length > 0 || undefined,
    "the call hangs",
  );
  await cell.agent.ask("tools/list");
  await cell.agent.ask("resources/list");
  expect(await call(cell, "rich")).toMatchObject({ structuredContent: { ok: true } });
  abort.abort();
  await expect(hanging).rejects.toThrow();
  return passes;
}

async function progress(cell: Cell): Promise<Seen> {
  const before = cell.agent.heard.length;
  await call(cell, "progress", { steps: 3, everyMs: 5 }, {}, { onprogress: () => undefined });
  const steps = cell.agent.heard.slice(before).filter((message) => message["method"] === "notifications/progress");
  const shown = steps.map((message) => {
    const { progressToken: _token, ...rest } = message["params"] as JsonObject;
    return rest;
  });
  expect(shown).toEqual([1, 2, 3].map((step) => ({ progress: step, total: 3, message: `step ${step}`, "x-own": 1 })));
  return passes;
}

async function renewed(cell: Cell): Promise<Seen> {
  const hasty = { ...cell, upstream: { ...cell.upstream, label: hastyLabel(cell.upstream.label) } };
  // Together longer than the configured time of a call; each step is not.
  expect(await call(hasty, "progress", { steps: 8, everyMs: HASTY_MS / 5 })).toMatchObject({ content: [{ text: "done" }] });
  const result = await call(hasty, "hang");
  expect(result).toMatchObject({ isError: true, _meta: { "steward/fault": { code: "call-timeout" } } });
  await until(async () => ((await structured(hasty, "running"))["hanging"] as unknown[]).length === 0, "the call was cancelled");
  return passes;
}

async function requestMeta(cell: Cell): Promise<Seen> {
  const { params } = await structured(cell, "received", { b: [1, null, { c: "d" }] }, { _meta: { "own/key": { deep: [1] } } });
  expect(params).toMatchObject({
    name: "received",
    arguments: { b: [1, null, { c: "d" }] },
    _meta: { "own/key": { deep: [1] } },
  });
  return passes;
}

async function traced(cell: Cell): Promise<Seen> {
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const { params } = await structured(cell, "received", {}, { _meta: { traceparent, tracestate: "a=b" } });
  expect(params).toMatchObject({ _meta: { traceparent, tracestate: "a=b" } });
  return passes;
}

async function noArguments(cell: Cell): Promise<Seen> {
  for (const args of [{ arguments: undefined }, { arguments: {} }]) {
    const name = `${cell.upstream.label}__received`;
    const { structuredContent } = await cell.agent.ask("tools/call", JSON.parse(JSON.stringify({ name, ...args })) as JsonObject);
    expect(structuredContent).toMatchObject({ params: { arguments: {} } });
  }
  return passes;
}

async function protocolError(cell: Cell): Promise<Seen> {
  const error = await refused(call(cell, "refuse", { code: -32042, message: "Not like this", data: { why: ["x"] } }));
  expect(error).toMatchObject({ code: -32042, message: "-32042: Not like this", data: { why: ["x"] } });
  return passes;
}

async function unknownMethod(cell: Cell): Promise<Seen> {
  const error = await refused(cell.agent.ask("nonsense/method"));
  expect(error.code).toBe(-32601);
  if (cell.agent.era === "modern") expect(error.status).toBe(404);
  return passes;
}

/** At `/mcp`, where results above the cap are cut; `/mcp/direct` never cuts. */
async function large(cell: Cell): Promise<Seen> {
  const text = `${"\u{1F600}é".repeat(90_000)}end`;
  const result = { content: [{ type: "text", text }] };
  expect(await call(cell, "reply", { result })).toEqual(result);
  const asked = { name: "call_tool", arguments: { tool: `${cell.upstream.label}/reply`, arguments: { result } } };
  const shown = JSON.stringify(await cell.facade.ask("tools/call", asked));
  expect(Buffer.byteLength(shown)).toBeLessThan(Buffer.byteLength(text));
  const uri = /steward:\/\/results\/[a-z0-9]+/.exec(shown)?.[0] ?? "";
  const { contents } = await cell.facade.ask("resources/read", { uri });
  expect(JSON.parse(String((contents as JsonObject[])[0]?.["text"]))).toMatchObject(result);
  return answeredHere("whole at `/mcp/direct`; head, tail and a handle from `call_tool`");
}

async function task(cell: Cell): Promise<Seen> {
  expect((await refused(call(cell, "job"))).message).toContain("as a task only");
  const { tasks, extensions } = cell.agent.capabilities;
  expect([tasks, (extensions as JsonObject | undefined)?.["io.modelcontextprotocol/tasks"]]).toEqual([undefined, undefined]);
  return {
    mark: "impossible",
    note: "an experiment in 2025-11-25 and an extension of another form after it: not offered; a tool that runs as a task only is listed, and its server's refusal is shown",
  };
}

async function ping(cell: Cell): Promise<Seen> {
  if (cell.agent.era === "legacy") {
    expect(await cell.agent.ask("ping")).toEqual({});
    return answeredHere("answered here: it asks about the connection with the proxy");
  }
  // The client refuses to send it; whoever does all the same is told that there is none.
  await expect(cell.agent.ask("ping")).rejects.toThrow();
  expect((await refused(cell.agent.bare("ping"))).code).toBe(-32601);
  return { mark: "impossible", note: "2026-07-28 has no ping" };
}

const group = "Tools";
export const TOOLS: readonly Feature[] = [
  { group, name: "`tools/list`: definitions with annotations, icons, schemas, `_meta`, unknown fields", probe: definitions },
  ...Object.entries(CONTENT).map(([kind, block]) => ({
    group,
    name: `content: ${kind}`,
    probe: sameResult({ content: [block, { type: "text", text: "after" }] }),
  })),
  { group, name: "`structuredContent`", probe: sameResult({ content: [], structuredContent: { a: [1.5, null, { b: "" }] } }) },
  { group, name: "`isError`", probe: sameResult({ content: [{ type: "text", text: "no" }], isError: true }) },
  {
    group,
    name: "`_meta` of results, unknown fields of results",
    probe: sameResult({ content: [], _meta: { "own/y": [1] }, "x-own": 2 }),
  },
  { group, name: "`_meta` and arguments of requests", probe: requestMeta },
  { group, name: "absent and empty arguments", probe: noArguments },
  { group, name: "trace context (`traceparent`, `tracestate`)", probe: traced },
  { group, name: "protocol errors: code, message, data", probe: protocolError },
  { group, name: "unknown methods", probe: unknownMethod },
  { group, name: "progress, under the agent's own token", probe: progress },
  { group, name: "timeouts renewed by progress", probe: renewed },
  { group, name: "cancellation, with the upstream's own id", probe: cancellation },
  { group, name: "calls and lists beside a running call", probe: concurrency },
  { group, name: "large results", probe: large },
  { group, name: "tasks", probe: task },
  { group, name: "ping", probe: ping },
];
