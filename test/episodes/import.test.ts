import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { readLog } from "../../src/evidence/read.js";
import type { House } from "../../src/compose.js";
import { TRUST_RANK } from "../../src/model/episode.js";
import type { ImportRequest, RecordedEpisode } from "../../src/model/recorded.js";
import { episodeExportFormat } from "../../src/model/recorded.js";
import { closeHouses, list, makeHome, openHouse, person, tool } from "../house.js";
import { claudeCodeLines, codexLines, lines, liveRuns, tauRuns } from "./logs.js";

afterEach(closeHouses);

const shopTools = [
  tool("get_order", { required: ["order_id"] }),
  tool("cancel_order", { required: ["order_id", "customer_id"], writes: true }),
];

async function shop(steward = {}): Promise<House> {
  const house = await openHouse(makeHome(["shop", "depot"], steward));
  await list(house, "shop", shopTools);
  return house;
}

const request = (text: string, more: Partial<ImportRequest> = {}): ImportRequest => ({
  episodes: readLog(text, { where: "log" }).episodes,
  ...more,
});

describe("importing episodes", () => {
  it("names of clients, of Codex, of benchmarks and of our own call_tool all find their tool", async () => {
    for (const text of [lines(claudeCodeLines), lines(codexLines), JSON.stringify(liveRuns)]) {
      const house = await shop();
      const answer = await house.operations.importEpisodes(request(text), person);
      expect(answer.unknown).toEqual([]);
      const [id = ""] = answer.imported;
      const { episode, calls } = await house.operations.episode(id);
      expect(episode.task).toBe("Cancel order A-1001, I changed my mind.");
      expect(calls.map((call) => call.tool)).toEqual(["shop/get_order", "shop/cancel_order"]);
      expect(calls[1]?.flows).toContainEqual({
        to: "/args/customer_id",
        from: { seq: 1, path: "/customer_id", tool: "shop/get_order" },
      });
    }
  });

  it("a name that belongs to no key is told with how to map it, and its calls alone are left out", async () => {
    const house = await shop();
    const told = await house.operations.importEpisodes(request(JSON.stringify(tauRuns)), person);
    expect(told.imported).toEqual([]);
    expect(told.skipped.length).toBe(2);
    expect(told.unknown.map(({ name, calls }) => [name, calls])).toEqual([
      ["get_order", 2],
      ["cancel_order", 1],
    ]);
    expect(told.unknown[0]?.way).toContain("--server shop");
    const byServer = await house.operations.importEpisodes(request(JSON.stringify(tauRuns), { server: "shop" }), person);
    expect(byServer.calls).toEqual({ taken: 3, left: 0 });
    const mapped = await (
      await shop()
    ).operations.importEpisodes(
      request(JSON.stringify(tauRuns), { map: { get_order: "shop/get_order", cancel_order: "" } }),
      person,
    );
    expect(mapped).toMatchObject({ calls: { taken: 2, left: 0 }, unknown: [] });
    await expect(house.operations.importEpisodes(request("[]", { server: "shoop" }), person)).rejects.toThrow(/shoop.*shop/);
  });

  it("only a trusted outcome becomes evidence; a claim stays one", async () => {
    const house = await shop();
    await house.operations.importEpisodes(request(JSON.stringify(tauRuns), { server: "shop" }), person);
    expect(house.steward.world().evidence).toBe(2);
    await house.operations.importEpisodes(request(JSON.stringify(liveRuns)), person);
    expect(house.steward.world().evidence).toBe(2);
    const [claimed] = await house.operations.episodes().then((all) => all.filter((one) => one.outcome?.trust === "claim"));
    await house.operations.verifyEpisode(claimed?.episode ?? "", { outcome: "success", trust: "human" }, person);
    expect(house.steward.world().evidence).toBe(3);
  });

  it("the same log read twice is taken once, in one request or in two, and survives a restart", async () => {
    const home = makeHome(["shop"]);
    const house = await openHouse(home);
    await list(house, "shop", shopTools);
    const twice = request(`${lines(claudeCodeLines)}`);
    const first = await house.operations.importEpisodes({ episodes: [...twice.episodes, ...twice.episodes] }, person);
    expect(first).toMatchObject({ known: 1, imported: [expect.any(String)] });
    await house.stop();
    const again = await openHouse(home);
    expect(await again.operations.importEpisodes(twice, person)).toMatchObject({ known: 1, imported: [] });
    expect((await again.operations.episode(first.imported[0] ?? "")).calls.length).toBe(2);
  });

  it("a verdict on an episode that is here already is heard where nothing as trusted was said, else left and named", async () => {
    type Outcome = NonNullable<RecordedEpisode["outcome"]>;
    const outcome: fc.Arbitrary<Outcome | undefined> = fc.option(
      fc.record({
        outcome: fc.constantFrom("success" as const, "failure" as const),
        trust: fc.constantFrom("claim" as const, "replay" as const, "state" as const, "human" as const),
      }),
      { nil: undefined },
    );
    const house = await shop();
    const [one] = request(lines(claudeCodeLines)).episodes;
    let task = 0;
    await fc.assert(
      fc.asyncProperty(outcome, outcome, fc.boolean(), async (first, second, dryRun) => {
        const told = { source: "x", task: `task ${++task}`, calls: one?.calls ?? [] };
        const say = (said: Outcome | undefined) => ({ episodes: [said === undefined ? told : { ...told, outcome: said }] });
        const [id = ""] = (await house.operations.importEpisodes(say(first), person)).imported;
        const evidence = house.steward.world().evidence;
        const { verdicts, known } = await house.operations.importEpisodes({ ...say(second), dryRun }, person);
        expect(known).toBe(1);
        const rank = (said: Outcome | undefined): number => (said === undefined ? -1 : TRUST_RANK[said.trust]);
        const isHeard = rank(second) > rank(first);
        const isTold = !isHeard && second !== undefined && second.outcome !== first?.outcome;
        expect(verdicts.taken).toEqual(isHeard ? [id] : []);
        expect(verdicts.left.map((row) => row.episode)).toEqual(isTold ? [id] : []);
        const stands = isHeard && !dryRun ? second : first;
        const { episode } = await house.operations.episode(id);
        expect([episode.outcome?.outcome, episode.outcome?.trust]).toEqual([stands?.outcome, stands?.trust]);
        const isNew = isHeard && !dryRun && second?.trust !== "claim";
        expect(house.steward.world().evidence).toBe(evidence + (isNew ? 1 : 0));
      }),
      { numRuns: 60 },
    );
  });

  it("a verdict on an episode whose calls here are others is not heard", async () => {
    const house = await shop();
    const { imported } = await house.operations.importEpisodes(request(lines(claudeCodeLines)), person);
    const [id = ""] = imported;
    const outcome = { outcome: "success", trust: "human" } as const;
    const calls = [{ name: "shop/get_order", args: { order_id: "B-2" } }];
    const answer = await house.operations.importEpisodes({ episodes: [{ id, source: "x", task: "x", calls, outcome }] }, person);
    expect(answer.verdicts).toEqual({ taken: [], left: [{ episode: id, why: expect.stringContaining("calls") }] });
    expect((await house.operations.episode(id)).episode.outcome).toBeUndefined();
  });

  it("secrets do not reach the disc, and what was redacted is said", async () => {
    const house = await shop();
    const secret = "sk-live-abcdefghijklmnop1234";
    const episodes = [
      {
        source: "x",
        task: `Use ${secret}`,
        calls: [{ name: "shop/get_order", args: { order_id: "A-1", api_key: secret }, result: { ok: true } }],
      },
    ];
    const { imported } = await house.operations.importEpisodes({ episodes }, person);
    const kept = await house.operations.episode(imported[0] ?? "");
    expect(JSON.stringify(kept)).not.toContain(secret);
    expect(kept.calls[0]?.redacted).toEqual(["/api_key"]);
  });

  it("a dry run writes nothing", async () => {
    const house = await shop();
    const answer = await house.operations.importEpisodes({ ...request(lines(claudeCodeLines)), dryRun: true }, person);
    expect(answer.imported.length).toBe(1);
    expect(await house.operations.episodes()).toEqual([]);
  });

  it("what one home exports another takes in, with the same id, outcome and flows", async () => {
    const from = await shop();
    const { imported } = await from.operations.importEpisodes(request(JSON.stringify(tauRuns), { server: "shop" }), person);
    const exported = await Promise.all(
      imported.map(async (id) => ({ format: episodeExportFormat.id, ...(await from.operations.episode(id)) })),
    );
    const to = await shop();
    const answer = await to.operations.importEpisodes(request(exported.map((one) => JSON.stringify(one)).join("\n")), person);
    expect(answer.imported).toEqual(imported);
    for (const id of imported) {
      const [before, after] = [await from.operations.episode(id), await to.operations.episode(id)];
      expect(after.calls.map(({ flows, shape, tool: key }) => ({ flows, shape, key }))).toEqual(
        before.calls.map(({ flows, shape, tool: key }) => ({ flows, shape, key })),
      );
      expect(after.episode.outcome).toMatchObject({ outcome: before.episode.outcome?.outcome, trust: "state" });
    }
  });
});
