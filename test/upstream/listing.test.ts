import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { UPSTREAM_LIMITS } from "../../src/model/policy.js";
import { fixture, stand, tempFolder, textOf, until } from "./stand.js";

describe("a listing", () => {
  it("hands on what the catalog has the same way already, also after a start anew", async () => {
    const before = stand(fixture("paginated.mjs", ["pages"]));
    await before.reach("up");
    const known = new Map((before.listings()[0]?.tools ?? []).map((tool) => [tool.key, tool]));
    const after = stand(fixture("paginated.mjs", ["pages"]), { known: () => known });
    await after.reach("up");
    const again = after.listings()[0]?.tools ?? [];
    expect(again).toHaveLength(5);
    for (const tool of again) expect(tool).toBe(known.get(tool.key));
  });

  it("follows all pages to their end, whether that is no cursor, null or an empty one [C01]", async () => {
    const one = stand([fixture("paginated.mjs", ["pages"])]);
    await one.reach("up");
    expect(one.listings()[0]?.tools.map((tool) => tool.name)).toEqual(["tool-0", "tool-1", "tool-2", "tool-3", "tool-4"]);
    const empty = stand(fixture("paginated.mjs", ["empty-cursor"]));
    await empty.reach("up");
    expect(empty.listings()[0]?.tools).toHaveLength(1);
  });

  it("fails whole where a later page fails: never a half catalog, and the last good one stays [C01]", async () => {
    const file = join(tempFolder(), "fail");
    const one = stand(fixture("paginated.mjs", ["fail-once", file]));
    await one.reach("up");
    writeFileSync(file, "on");
    expect(await one.upstreams.sync()).toMatchObject([
      { ok: false, reason: expect.stringContaining("the database is away") as string },
    ]);
    expect(one.status().presence).toMatchObject({
      state: "away",
      reason: expect.stringContaining("could not be listed") as string,
    });
    expect(one.listings()).toHaveLength(1);
    // Unlistable is not uncallable.
    expect(textOf(await one.call("tool-0"))).toBe("ok");
    rmSync(file);
    await one.reach("up");
    expect(one.listings().at(-1)?.tools).toHaveLength(5);
  });

  it("ends with a reason where the upstream repeats cursors or never stops", async () => {
    for (const [mode, reason] of [
      ["circle", "goes in a circle: page 4 repeats a cursor"],
      ["huge", "more than 20000 tools"],
      ["endless", "did not end after 1000 pages"],
    ] as const) {
      const one = stand(fixture("paginated.mjs", [mode]));
      await one.reach("away");
      expect(one.status().presence.reason).toContain(reason);
      expect(one.listings()).toEqual([]);
    }
  });

  it("of an upstream without tools is empty, not an outage", async () => {
    const one = stand({ ...fixture("workbench.mjs"), args: ["-e", EMPTY] });
    await one.reach("up");
    expect(one.listings()[0]?.tools).toEqual([]);
  });

  it("leaves out only what cannot be a tool, with a reason [C10]", async () => {
    const script = join(tempFolder(), "odd.mjs");
    const lines = fixture("lines.mjs").args[0] ?? "";
    appendFileSync(
      script,
      `import { serveLines, tool } from ${JSON.stringify(lines)};
      serveLines({ "tools/list": () => ({ tools: [tool("good"), null, { description: "no name" }, { name: "bare" }, { ...tool("kept"), "x-unknown": { a: 1 } }] }) });`,
    );
    const one = stand({ ...fixture("workbench.mjs"), args: [script] });
    await one.reach("up");
    const listing = one.listings()[0];
    expect(listing?.tools.map((tool) => tool.name)).toEqual(["good", "bare", "kept"]);
    expect(listing?.problems.length).toBeGreaterThanOrEqual(2);
    expect(listing?.tools[2]?.document["x-unknown"]).toEqual({ a: 1 });
  });
});
const EMPTY = `process.stdin.on("data", (chunk) => chunk.toString().split("\\n").filter(Boolean).map((line) => JSON.parse(line)).forEach((m) => m.id !== undefined && process.stdout.write(JSON.stringify(m.method === "initialize" ? { jsonrpc: "2.0", id: m.id, result: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "e", version: "1" } } } : { jsonrpc: "2.0", id: m.id, error: { code: -32601, message: "no" } }) + "\\n"))); process.stdin.on("end", () => process.exit(0));`;

describe("changes", () => {
  it("that are announced are listed, and say so [C03]", async () => {
    const one = stand(fixture("workbench.mjs"));
    await one.reach("up");
    await one.call("grow", { by: 2 });
    await until(
      () =>
        one
          .listings()
          .at(-1)
          ?.tools.some((tool) => tool.name === "extra-1") === true,
      "seen",
    );
    expect(one.listings().map((event) => event.cause)).toEqual(["start", "list_changed"]);
  });

  it("that are never announced are found by looking now and then [C03]", async () => {
    const one = stand(fixture("workbench.mjs"), { policyChanges: { pollMs: 100 } });
    await until(() => one.listings().some((event) => event.cause === "poll"), "polled");
  });

  it("in a burst are one refresh that sees the last of them [C04]", async () => {
    const one = stand(fixture("storm.mjs", ["burst"]));
    await one.reach("up");
    await one.call("burst", { times: 200 });
    await until(() => one.listings().at(-1)?.tools.length === 203, "the last change was seen");
    expect(Number(textOf(await one.call("lists")))).toBeLessThanOrEqual(3);
  });

  it("that are none, answered to each listing, calm down [C04]", async () => {
    const one = stand(fixture("storm.mjs", ["loop"]));
    await one.reach("up");
    await new Promise((done) => setTimeout(done, 1_500));
    expect(Number(textOf(await one.call("lists")))).toBeLessThanOrEqual(3);
  });

  it("that never end are told, with how often the list is read from then on; who asks is shown the present one all the same", async () => {
    const one = stand(fixture("workbench.mjs"));
    await one.reach("up");
    const first = one.listings()[0]?.tools.length ?? 0;
    const times = UPSTREAM_LIMITS.flapFew + 6;
    for (let change = 1; change <= times; change += 1) {
      expect(one.status().slowedMs ?? 0).toBeLessThan(UPSTREAM_LIMITS.refreshFlapMaxMs * 4);
      await one.call("grow", { by: 1 });
      expect(await one.upstreams.sync()).toMatchObject([{ ok: true }]);
      expect(one.listings().at(-1)?.tools).toHaveLength(first + change);
    }
    expect(one.status().slowedMs).toBeGreaterThan(UPSTREAM_LIMITS.refreshFlapMaxMs);
    const told = one.logs.filter(({ text }) => text.includes("upstream workbench: its tools change over and over"));
    expect(told).toMatchObject([{ level: "warn", data: { readEveryMs: expect.any(Number) as number } }]);
  });
});
