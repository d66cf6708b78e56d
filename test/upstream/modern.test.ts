import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import { fixture, isAlive, stand, textOf, until } from "./stand.js";

describe("a modern upstream on a pipe", () => {
  it("is found out without a second process, and told who asks with each request", async () => {
    const spawned: number[] = [];
    const one = stand(fixture("modern.mjs"), { onSpawn: (record) => spawned.push(record.pid) });
    const result = await one.call("received", { a: 1 }, { capabilities: { sampling: {} }, meta: { "vendor/x": 1 } });
    await one.reach("up");
    expect(spawned).toHaveLength(1);
    expect(one.status()).toMatchObject({
      era: "modern",
      server: { name: "modern", version: "2.0.0" },
      instructions: "Be modern.",
    });
    // Unknown content, unknown fields and the era's own marks come as they were written.
    expect(result).toMatchObject({ resultType: "complete", content: [{ type: "hologram", depth: 3 }], "x-unknown": 1 });
    const { params } = result["structuredContent"] as { params: JsonObject };
    expect(params["_meta"]).toMatchObject({
      "vendor/x": 1,
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "steward", version: "0.0.0-test" },
      "io.modelcontextprotocol/clientCapabilities": { sampling: {} },
    });
  });

  it("is asked in its own words first when it is started again", async () => {
    const one = stand(fixture("modern.mjs"));
    await one.call("sleep", { ms: 0 });
    process.kill(one.status().pid ?? 0, "SIGKILL");
    await until(
      async () =>
        await one.call("sleep", { ms: 0 }, { repeatable: true }).then(
          () => true,
          () => false,
        ),
      "it is back",
    );
    expect(one.status().era).toBe("modern");
  });

  it("has its questions passed on as they are, and answers with its own state passed back", async () => {
    const one = stand(fixture("modern.mjs"));
    const first = await one.call("choose", {}, {});
    expect(first).toMatchObject({
      resultType: "input_required",
      requestState: "state-1",
      inputRequests: { size: { method: "elicitation/create" } },
    });
    const second = await one.call(
      "choose",
      {},
      {
        inputResponses: { size: { action: "accept", content: { value: "XL" } } },
        requestState: "state-1",
      },
    );
    expect(second).toMatchObject({ requestState: "state-2:XL" });
    const third = await one.call(
      "choose",
      {},
      {
        inputResponses: { colour: { action: "accept", content: { value: "red" } } },
        requestState: "state-2:XL",
      },
    );
    expect(textOf(third)).toBe("XL in red");
  });

  it("reports progress, and changes of its list and of subscribed resources on its listen stream [C03]", async () => {
    const config = fixture("modern.mjs");
    const one = stand(config);
    const seen: unknown[] = [];
    await one.call("progress", {}, { onProgress: (progress) => seen.push(progress["progress"]) });
    expect(seen).toEqual([1, 2, 3]);
    await one.reach("up");
    await one.upstreams.request(
      config.label,
      "resources/subscribe",
      { uri: "note://7" },
      { signal: new AbortController().signal },
    );
    await one.call("grow");
    await until(
      () =>
        one
          .listings()
          .at(-1)
          ?.tools.some((tool) => tool.name === "extra-0") === true,
      "the list was read",
    );
    await until(() => one.told.some((entry) => entry.method === "notifications/resources/updated"), "the update was told");
    expect(one.told.at(-1)?.params["uri"]).toBe("note://7");
  });

  it("is told of cancellation by id [K05]", async () => {
    const one = stand(fixture("modern.mjs"));
    const abort = new AbortController();
    const call = one.call("sleep", { ms: 60_000 }, { signal: abort.signal });
    await one.reach("up");
    abort.abort();
    await expect(call).rejects.toMatchObject({ code: "call-cancelled" });
    const { stopped } = (await one.call("sleep", { ms: 0 }))["structuredContent"] as { stopped: number[] };
    expect(stopped).toHaveLength(1);
  });
});

describe("the maintained SDK's own server", () => {
  it("is spoken to in the older words where it knows both, in the newer where it knows only those or is configured so", async () => {
    const both = stand(fixture("modern-sdk.mjs", ["both"]));
    const modern = stand(fixture("modern-sdk.mjs", ["modern"]));
    const chosen = stand(fixture("modern-sdk.mjs", ["both"], { era: "modern" }));
    const eras = await Promise.all(
      [both, modern, chosen].map(async (one) => {
        expect(textOf(await one.call("add", { a: 2, b: 3 }))).toBe("5");
        await one.reach("up");
        return one.status().era;
      }),
    );
    expect(eras).toEqual(["legacy", "modern", "modern"]);
    const pid = modern.status().pid ?? 0;
    await modern.stop();
    expect(await isAlive(pid)).toBe(false);
  });
});
