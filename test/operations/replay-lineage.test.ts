import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { compose, type House } from "../../src/compose.js";
import { silentLog } from "../../src/host/log.js";
import type { JsonObject } from "../../src/model/json.js";
import type { LineageLink } from "../../src/model/lineage.js";
import { approve, closeHouses, person } from "../house.js";
import { maintain } from "../maintain/runs.js";

const houses: House[] = [];
const homes: string[] = [];
afterEach(async () => {
  for (const house of houses.splice(0)) await house.stop().catch(() => undefined);
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
  await closeHouses();
});

interface Desk {
  readonly house: House;
  /** What the server was called with, a line each. */
  calls(): string[];
  become(version: string): Promise<void>;
}

/** A daemon before a real server, taught by two verified episodes: a case is looked up, its engineer is told. */
async function taughtDesk(steward: JsonObject): Promise<Desk> {
  const home = mkdtempSync(join(tmpdir(), "steward-replay-"));
  homes.push(home);
  const [versionFile, callsFile] = [join(home, "version"), join(home, "calls")];
  mkdirSync(join(home, "config"));
  writeFileSync(versionFile, "v1");
  writeFileSync(callsFile, "");
  const args = [resolve(import.meta.dirname, "../fixtures/servers/desk.mjs"), versionFile, callsFile];
  const mcpServers = { desk: { command: process.execPath, args } };
  writeFileSync(join(home, "config/steward.json"), JSON.stringify({ mcpServers, steward }));
  const house = await compose({ home, env: {}, main: "", log: silentLog, upstreams: true, watch: false });
  houses.push(house);
  await house.operations.sync();
  for (const id of ["C-17", "C-18"]) {
    const caller = { ...person, session: `s ${id}` };
    const { body } = await house.operations.startTask({ task: `Tell the engineer of case ${id}.` }, caller);
    const episode = body.episode ?? "";
    const options = { signal: new AbortController().signal, direct: false };
    const found = await house.operations.callTool(
      { tool: "desk/get_case", arguments: { case_id: id }, episode },
      caller,
      options,
    );
    const { engineer_id } = found.body.result["structuredContent"] as { engineer_id: string };
    await house.operations.callTool({ tool: "desk/notify_engineer", arguments: { engineer_id }, episode }, caller, options);
    await house.operations.verifyEpisode(episode, { outcome: "success", trust: "human" }, person);
  }
  await maintain(house);
  return {
    house,
    calls: () =>
      readFileSync(callsFile, "utf8")
        .trim()
        .split("\n")
        .filter((line) => !line.startsWith("get_case") && !line.startsWith("notify")),
    become: async (version) => {
      writeFileSync(versionFile, version);
      await house.operations.sync();
    },
  };
}

async function linkOf(house: House): Promise<LineageLink> {
  const [link, ...more] = (await house.operations.lineage()).filter((one) => one.from === "desk/get_case");
  if (link === undefined || more.length > 0) throw new Error("one link was expected");
  return link;
}

const PROBING = { policy: { probeCalls: 20 } };

describe("a takeover tried on recorded calls", () => {
  it("is confirmed where the new tool answers alike, and what needed it is mended in the same run", async () => {
    const desk = await taughtDesk(PROBING);
    await desk.become("v2");
    expect(await linkOf(desk.house)).toMatchObject({ level: "proposed", to: ["desk/ticket_lookup"] });
    const before = (await desk.house.operations.episodes()).length;
    const report = await maintain(desk.house);
    expect(desk.calls().sort()).toEqual(['ticket_lookup {"case_id":"C-17"}', 'ticket_lookup {"case_id":"C-18"}']);
    const link = await linkOf(desk.house);
    expect(link).toMatchObject({ confirmed: { how: "replay", by: "desk/ticket_lookup" }, level: "proposed" });
    expect(report.lineage).toEqual([expect.objectContaining({ how: "replay", verdict: "confirm", counts: true, link: link.id })]);
    expect(report.lineage?.[0]?.evidence.join(" ")).toMatch(/answered alike in 1 field, and 1 value that later calls took/);
    expect(report.notes).toContain("2 recorded calls were tried again on tools that only read.");
    expect(report.tokens.used).toBe(0);
    expect((await desk.house.operations.skill("atomic-notify-engineer")).standing.standing).toBe("active");
    expect((await desk.house.operations.skill("atomic-notify-engineer")).tools).toContain("desk/ticket_lookup");
    // Calls of its own are nobody's episode: nothing learns from them.
    expect((await desk.house.operations.episodes()).length).toBe(before);
  });

  it.each([
    ["gives other values than later steps took", "v2-other", /has another value than the one that was taken/],
    ["does not give a field that was read", "v2-less", /engineer_id is not in the answer/],
    ["refuses what the old one took", "v2-fails", /answered with an error now \(no ticket C-1[78]\)/],
    ["takes other arguments", "v2-strange", /its arguments do not fit desk\/ticket_lookup/],
  ])("stays proposed, with the evidence, where the new tool %s", async (_how, version, said) => {
    const desk = await taughtDesk(PROBING);
    await desk.become(version);
    const report = await maintain(desk.house);
    const link = await linkOf(desk.house);
    expect([link.confirmed, link.rejected, link.level]).toEqual([undefined, undefined, "proposed"]);
    expect(report.lineage).toEqual([expect.objectContaining({ how: "replay", verdict: "leave", counts: false })]);
    expect(link.opinions?.[0]?.evidence.join(" ")).toMatch(said);
    expect((await desk.house.operations.skill("atomic-notify-engineer")).standing.standing).toBe("inactive");
    const calls = desk.calls().length;
    expect(calls).toBeLessThanOrEqual(1);
    // The same calls on the same definitions are not tried a second time.
    expect((await maintain(desk.house)).lineage).toBeUndefined();
    expect(desk.calls().length).toBe(calls);
  });

  it.each([
    ["the policy does not allow it", "v2", {}],
    ["the new tool does not say that it only reads", "v2-writes", PROBING],
    ["the new tool says that it destroys as well", "v2-twofold", PROBING],
  ])("is not tried where %s: nothing is called", async (_why, version, steward) => {
    const desk = await taughtDesk(steward);
    await desk.become(version);
    const report = await maintain(desk.house);
    expect(desk.calls()).toEqual([]);
    expect(report.lineage).toBeUndefined();
    expect((await linkOf(desk.house)).confirmed).toBeUndefined();
  });

  it("is tried where the configuration says that the tool only reads, once its hold is ended, and never in a dry run", async () => {
    const desk = await taughtDesk({ ...PROBING, upstreams: { desk: { readOnlyTools: ["ticket_lookup"] } } });
    await desk.become("v2-writes");
    // By its own word it may write, as the tool before it could not: it is held, and what is held is not called.
    await maintain(desk.house);
    expect(desk.calls()).toEqual([]);
    await approve(desk.house, "desk/ticket_lookup");
    await maintain(desk.house, { dryRun: true });
    expect(desk.calls()).toEqual([]);
    await maintain(desk.house);
    expect(desk.calls()).toHaveLength(2);
    expect((await linkOf(desk.house)).confirmed?.how).toBe("replay");
  });

  it("is never confirmed over a person's word, and a person's word outranks it afterwards", async () => {
    const desk = await taughtDesk(PROBING);
    await desk.become("v2");
    const { id } = await linkOf(desk.house);
    await desk.house.operations.judgeLineage(id, "reject", person);
    await maintain(desk.house);
    expect([desk.calls(), (await linkOf(desk.house)).confirmed]).toEqual([[], undefined]);
    await desk.house.operations.judgeLineage(id, "confirm", person);
    expect((await linkOf(desk.house)).confirmed).toMatchObject({ how: "person", by: "local" });
  });
});

describe("a certain rebind tried before it is applied", () => {
  it("is proposed to a person instead where a recorded call is not answered alike, and nothing is held against it later", async () => {
    const desk = await taughtDesk(PROBING);
    await desk.become("v2-fails");
    await desk.house.operations.judgeLineage((await linkOf(desk.house)).id, "confirm", person);
    const report = await maintain(desk.house);
    const edit = report.proposed.find((one) => one.skill === "atomic-notify-engineer");
    expect(edit?.evidence.join(" ")).toMatch(/tried: call 1 of ep_\w+: answered with an error now/);
    expect(report.applied.map((one) => one.skill)).not.toContain("atomic-notify-engineer");
    await desk.become("v2");
    const again = await maintain(desk.house);
    const applied = again.applied.find((one) => one.skill === "atomic-notify-engineer");
    expect(applied?.evidence.join(" ")).toMatch(/tried: call 1 of ep_\w+: answered alike/);
  });
});
