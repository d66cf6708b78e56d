import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Fault, Refusal } from "../../src/model/fault.js";
import type { JsonObject } from "../../src/model/json.js";
import { JSON_LEVELS } from "../../src/model/json.js";
import { levels } from "../model/deep.js";
import { fixture, linesOf, stand, tempFolder, textOf, until } from "./stand.js";

describe("passing a call through", () => {
  it("hands every result over as it was written, whatever is in it [K11] [K12] [K08]", async () => {
    const one = stand(fixture("workbench.mjs"));
    const blocks = fc.array(
      fc.oneof(
        fc.record({ type: fc.string(), x: fc.jsonValue() }),
        fc.record({ type: fc.constant("resource"), resource: fc.jsonValue() }),
      ),
    );
    const results = fc.record({
      content: blocks,
      structuredContent: fc.jsonValue(),
      isError: fc.boolean(),
      _meta: fc.dictionary(fc.string(), fc.jsonValue()),
      "x-unknown": fc.jsonValue(),
    });
    await fc.assert(
      fc.asyncProperty(results, async (result) => {
        const sent = JSON.stringify(result);
        expect(JSON.stringify(await one.call("reply", { result: JSON.parse(sent) }))).toBe(sent);
      }),
      { numRuns: 100 },
    );
  });

  it("sends an object where arguments are absent, null or no object [K16]", async () => {
    const one = stand(fixture("workbench.mjs"));
    for (const args of [undefined, null, "text", []]) {
      const result = await one.call("received", args as unknown);
      expect((result["structuredContent"] as JsonObject)["params"]).toMatchObject({ name: "received", arguments: {} });
    }
  });

  it("passes the agent's metadata on, without the keys that belong to a hop [K12]", async () => {
    const one = stand(fixture("workbench.mjs"));
    const meta = {
      traceparent: "00-1-2-01",
      "vendor/x": { deep: [1] },
      progressToken: "theirs",
      "io.modelcontextprotocol/clientInfo": { name: "agent" },
    };
    const result = await one.call("received", {}, { meta });
    const received = ((result["structuredContent"] as JsonObject)["params"] as JsonObject)["_meta"] as JsonObject;
    expect(received).toMatchObject({ traceparent: "00-1-2-01", "vendor/x": { deep: [1] } });
    expect(received["progressToken"]).not.toBe("theirs");
    expect(received).not.toHaveProperty("io.modelcontextprotocol/clientInfo");
  });

  it("keeps code, message and data of an upstream's protocol error apart from failed tools [K06]", async () => {
    const one = stand(fixture("workbench.mjs"));
    const refused = await one
      .call("refuse", { code: -32042, message: "no", data: { why: ["a"] } })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Refusal);
    expect(refused).toMatchObject({ code: -32042, message: "no", data: { why: ["a"] } });
    expect(await one.call("reply", { result: { content: [], isError: true } })).toEqual({ content: [], isError: true });
  });

  it("answers at once, with the reason, where the upstream's answer is none, and goes on [K06]", async () => {
    const one = stand(fixture("workbench.mjs"));
    const bad = [
      [`{"jsonrpc":"2.0","id":ID,"result":{"content":${levels(JSON_LEVELS)}}}`, /nested deeper than 512 levels/],
      [`{"jsonrpc":"2.0","id":ID,"result":{"content":${levels(50_000)}}}`, /nested deeper than 512 levels/],
      [`{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":"x","data":${levels(50_000)}}}`, /nested deeper than 512 levels/],
      ['{"jsonrpc":"2.0","id":ID}', /neither a result nor an error/],
      ['{"jsonrpc":"2.0","id":ID,"result":[1]}', /no result object/],
      ['{"jsonrpc":"2.0","id":ID,"result":null}', /no result object/],
    ] as const;
    for (const [line, reason] of bad) {
      const refused = await one.call("raw", { text: `${line}\n` }).catch((error: unknown) => error);
      // A verdict of ours is no word of the upstream's: it has no code of the protocol.
      expect(refused, line.slice(0, 80)).toBeInstanceOf(Fault);
      expect(refused).toMatchObject({ code: "answer-unreadable", detail: expect.stringMatching(reason) as string });
    }
    expect(textOf(await one.call("echo", { text: "alive" }))).toBe("alive");
  });

  it("refuses a question that is nested without end, and the call goes on", async () => {
    const one = stand(fixture("workbench.mjs"));
    const params = JSON.parse(levels(2_000)) as JsonObject;
    const result = await one.call("ask", { params: { params } }, { onRequest: () => Promise.resolve({}) });
    expect(result["structuredContent"]).toMatchObject({ error: { code: -32600 } });
  });

  it("runs calls on one pipe side by side: none waits behind a slow one, lists neither", async () => {
    const one = stand(fixture("workbench.mjs"));
    const abort = new AbortController();
    const slow = one.call("sleep", { ms: 60_000 }, { signal: abort.signal });
    const texts = Array.from({ length: 50 }, (_, at) => String(at));
    const answers = await Promise.all(texts.map((text) => one.call("echo", { text })));
    expect(answers.map(textOf)).toEqual(texts);
    expect(await one.upstreams.sync()).toEqual([{ label: "workbench", ok: true }]);
    abort.abort();
    await expect(slow).rejects.toMatchObject({ code: "call-cancelled" });
  });

  it("passes a message above the SDKs' ten mebibytes, and names the bound where one is larger still", async () => {
    const one = stand(fixture("workbench.mjs"));
    expect(textOf(await one.call("big", { bytes: 11 * 1024 * 1024 })).length).toBe(11 * 1024 * 1024);
    const refused = await one.call("big", { bytes: 65 * 1024 * 1024 }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "answer-too-large" });
    expect((refused as Fault).message).toContain("67108864 bytes");
    expect(textOf(await one.call("echo", { text: "still here" }))).toBe("still here");
  });

  it("passes other methods and their unknown fields through", async () => {
    const one = stand(fixture("workbench.mjs"));
    const options = { signal: new AbortController().signal };
    const listed = await one.upstreams.request(fixture("workbench.mjs").label, "resources/list", {}, options);
    expect(listed).toEqual({ resources: [{ uri: "note://1", name: "one", "x-unknown": true }] });
    await expect(one.upstreams.request(fixture("workbench.mjs").label, "prompts/list", {}, options)).rejects.toMatchObject({
      code: -32601,
    });
  });
});

describe("time and cancellation", () => {
  it("ends a call at its limit, saying the limit, the time taken and that the upstream was told [K01]", async () => {
    const one = stand(fixture("workbench.mjs", [], { callTimeoutMs: 150 }));
    const fault = (await one.call("sleep", { ms: 5_000 }).catch((error: unknown) => error)) as Fault;
    expect(fault.code).toBe("call-timeout");
    expect(fault.detail).toMatch(
      /workbench\/sleep: No answer after \d+ ms: the limit of 150 ms without progress was reached and the upstream was told to cancel/,
    );
    const { stopped } = (await one.call("stopped"))["structuredContent"] as { stopped: { requestId: number }[] };
    expect(stopped).toHaveLength(1);
  });

  it("renews the limit with each progress, also where nobody listens to it [K02]", async () => {
    const one = stand(fixture("workbench.mjs", [], { callTimeoutMs: 1_000 }));
    expect(textOf(await one.call("progress", { steps: 8, everyMs: 150 }))).toBe("done");
    const seen: unknown[] = [];
    await one.call("progress", { steps: 2, everyMs: 10 }, { onProgress: (progress) => seen.push(progress) });
    expect(seen).toEqual([
      { progress: 1, total: 2, message: "step 1" },
      { progress: 2, total: 2, message: "step 2" },
    ]);
  });

  it("lets no progress renew a call beyond the cap [K02]", async () => {
    const one = stand(fixture("workbench.mjs", [], { callTimeoutMs: 700 }), { policyChanges: { callCapMs: 1_000 } });
    const fault = (await one.call("progress", { steps: 100, everyMs: 50 }).catch((error: unknown) => error)) as Fault;
    expect(fault.detail).toContain("the cap of 1000 ms");
  });

  it("cancels by the upstream's own id and drops the late answer quietly [K05]", async () => {
    const one = stand(fixture("workbench.mjs"));
    await one.call("echo", { text: "ids move on" });
    const abort = new AbortController();
    const call = one.call("sleep", { ms: 60_000 }, { signal: abort.signal });
    const other = one.call("sleep", { ms: 300 });
    await one.call("echo", { text: "both are under way" });
    abort.abort();
    await expect(call).rejects.toMatchObject({ code: "call-cancelled" });
    const { stopped } = (await one.call("stopped"))["structuredContent"] as { stopped: { requestId: number; reason: string }[] };
    expect(stopped).toHaveLength(1);
    expect(textOf(await other)).toBe("slept 300");
    expect(one.status().noiseLines).toBe(0);
  });

  it("gives up waiting for a start when the agent cancels, and lets the start go on", async () => {
    const one = stand(fixture("slow-start.mjs", ["400"]));
    const abort = new AbortController();
    const call = one.call("echo", { text: "x" }, { signal: abort.signal });
    abort.abort();
    await expect(call).rejects.toMatchObject({ code: "call-cancelled" });
    await one.reach("up");
  });
});

describe("sending again", () => {
  it("never runs a tool twice when its process dies in mid-call [K19]", async () => {
    const file = join(tempFolder(), "runs");
    const one = stand(fixture("workbench.mjs"));
    const fault = await one.call("count", { file, then: "exit" }).catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: "call-interrupted" });
    expect(textOf(await one.call("echo", { text: "again" }))).toBe("again");
    expect(linesOf(file)).toBe(1);
  });

  it("sends once more where the tool may be repeated", async () => {
    const file = join(tempFolder(), "runs");
    const one = stand(fixture("workbench.mjs"));
    expect(textOf(await one.call("exitOnce", { file }, { repeatable: true }))).toBe("2");
  });

  // Which of several writes still reach a pipe whose reader dies is the system's choice, so a run may meet another case.
  it("sends once more what a dead process cannot have read, whether the pipe or the exit tells of it first", async () => {
    const one = stand(fixture("workbench.mjs"));
    for (const many of [1, 2, 5, 5, 5, 5]) {
      const pid = Number(textOf(await one.call("pid")));
      process.kill(pid, "SIGKILL");
      const answers = await Promise.allSettled(
        Array.from({ length: many }, () => one.call("echo", { text: "x" }, { repeatable: true })),
      );
      expect(answers.filter((answer) => answer.status === "rejected")).toEqual([]);
      expect(Number(textOf(await one.call("pid")))).not.toBe(pid);
    }
  });

  it("sends at most once more: a tool that always dies ends as a fault with the last words of its process [T11]", async () => {
    const one = stand(fixture("workbench.mjs"));
    const fault = (await one
      .call("exit", { code: 9, say: "out of memory in worker 4" }, { repeatable: true })
      .catch((error: unknown) => error)) as Fault;
    expect(fault.code).toBe("call-interrupted");
    expect(fault.detail).toMatch(/exited with code 9/);
    expect(fault.detail).toContain("out of memory in worker 4");
    await until(() => one.status().presence.state !== "connecting", "it settles");
  });
});

describe("questions of a legacy upstream", () => {
  it("go to the agent whose call is in flight, and its time is not the upstream's", async () => {
    const one = stand(fixture("workbench.mjs", [], { callTimeoutMs: 700 }));
    const asked: unknown[] = [];
    const onRequest = async (method: string, params: JsonObject): Promise<JsonObject> => {
      asked.push([method, params["message"]]);
      await new Promise((done) => setTimeout(done, 1_200));
      return { action: "accept", content: { value: "blue" } };
    };
    const result = await one.call("ask", {}, { onRequest });
    expect(result["structuredContent"]).toEqual({ answer: { action: "accept", content: { value: "blue" } } });
    expect(asked).toEqual([["elicitation/create", "Which one?"]]);
  });

  it("are refused where two agents have calls in flight and the pipe does not say whose it is", async () => {
    const one = stand(fixture("workbench.mjs"));
    const asked: string[] = [];
    const agent = (name: string) => ({
      origin: name,
      onRequest: async (): Promise<JsonObject> => (asked.push(name), { action: "decline" }),
    });
    const abort = new AbortController();
    const waiting = one.call("sleep", { ms: 60_000 }, { ...agent("a"), signal: abort.signal });
    const refused = await one.call("ask", {}, agent("b"));
    expect(refused).toMatchObject({ isError: true, structuredContent: { error: { code: -32603 } } });
    abort.abort();
    await waiting.catch(() => undefined);
    expect(asked).toEqual([]);
    const again = new AbortController();
    const same = one.call("sleep", { ms: 60_000 }, { ...agent("b"), signal: again.signal });
    expect(await one.call("ask", {}, agent("b"))).toMatchObject({ structuredContent: { answer: { action: "decline" } } });
    again.abort();
    await same.catch(() => undefined);
  });

  it("are refused in the protocol's words where the agent cannot answer, and roots are empty outside of calls", async () => {
    const one = stand(fixture("workbench.mjs"));
    expect(await one.call("ask", {})).toMatchObject({ structuredContent: { error: { code: -32601 } } });
    const refusing = { onRequest: () => Promise.reject(new Refusal(-1, "User rejected", { x: 1 })) };
    expect(await one.call("ask", {}, refusing)).toMatchObject({
      structuredContent: { error: { code: -1, message: "User rejected", data: { x: 1 } } },
    });
  });

  it("log messages reach the one agent behind the pipe", async () => {
    const one = stand(fixture("workbench.mjs"));
    const seen: unknown[] = [];
    await one.call("log", { data: "hello" }, { onNotification: (method, params) => seen.push([method, params["data"]]) });
    expect(seen).toEqual([["notifications/message", "hello"]]);
    await one.call("log", { data: "nobody listens" });
    expect(one.told).toEqual([
      { label: "workbench", method: "notifications/message", params: { level: "info", data: "nobody listens" } },
    ]);
  });
});

describe("subscriptions", () => {
  it("reach the upstream once per uri and are made again on a new session", async () => {
    const config = fixture("workbench.mjs");
    const one = stand(config);
    const options = { signal: new AbortController().signal };
    const ask = (method: string): Promise<JsonObject> =>
      one.upstreams.request(config.label, method, { uri: "note://1" }, options);
    const subscribed = async (): Promise<unknown> => (await ask("resources/read"))["subscribed"];
    await ask("resources/subscribe");
    await ask("resources/subscribe");
    expect(await subscribed()).toEqual(["note://1"]);
    await ask("resources/unsubscribe");
    expect(await subscribed()).toEqual(["note://1"]);
    await one.call("exit").catch(() => undefined);
    await until(async () => JSON.stringify(await subscribed()) === '["note://1"]', "subscribed again");
    await one.call("updated", { uri: "note://1" });
    expect(one.told.at(-1)).toEqual({
      label: "workbench",
      method: "notifications/resources/updated",
      params: { uri: "note://1" },
    });
    await ask("resources/unsubscribe");
    expect(await subscribed()).toEqual([]);
  });
});
