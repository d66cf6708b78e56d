/** Log messages: which ones upstreams are asked for, and whose they are. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import { fixture, stand, until } from "./stand.js";

/** What the upstream was told when it was called. */
const wanted = (result: JsonObject): unknown => (result["structuredContent"] as JsonObject)["wanted"];
const log = { at: "info", data: "x" };

describe.each(["legacy", "modern"])("a %s upstream", (era) => {
  const every = () => stand(fixture("every.mjs", [era]));

  it("is told the level of the agent that calls, and again after a restart", async () => {
    const one = every();
    expect(wanted(await one.call("log", log))).toBeNull();
    expect(wanted(await one.call("log", log, { logLevel: "warning" }))).toBe("warning");
    process.kill(one.status().pid ?? 0, "SIGKILL");
    await until(() => one.status().pid === undefined, "it is gone");
    expect(wanted(await one.call("log", log, { logLevel: "warning" }))).toBe("warning");
  });

  it("keeps a message with the call it belongs to", async () => {
    const one = every();
    const heard: JsonObject[] = [];
    await one.call("log", log, { logLevel: "debug", origin: "a", onNotification: (_method, params) => void heard.push(params) });
    expect(heard).toEqual([{ level: "info", logger: "every", data: "x" }]);
  });
});

describe("an older upstream that serves several agents", () => {
  it("is told the most talkative wish, since one session serves them all", async () => {
    const one = stand(fixture("every.mjs", ["legacy"]));
    expect(wanted(await one.call("log", log, { logLevel: "error" }))).toBe("error");
    expect(wanted(await one.call("log", log, { logLevel: "debug" }))).toBe("debug");
    expect(wanted(await one.call("log", log, { logLevel: "error" }))).toBe("debug");
  });

  it("may ask an agent while lists are gathered that no agent is behind", async () => {
    const one = stand(fixture("workbench.mjs"));
    await one.reach("up");
    const stop = new AbortController();
    const { signal } = stop;
    // Nobody is named as behind this one, and nobody could be asked for it.
    const open = one.upstreams.call({ label: one.status().label, name: "sleep", args: { ms: 60_000 }, signal });
    open.catch(() => undefined);
    const answer = await one.call("ask", {}, { origin: "a", onRequest: async () => ({ action: "accept" }) });
    expect(answer["structuredContent"]).toEqual({ answer: { action: "accept" } });
    stop.abort();
    await expect(open).rejects.toThrow();
  });
});
