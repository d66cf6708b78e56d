import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/model/json.js";
import { openDesk, type Desk } from "./stand.js";

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.drop());

describe("steward maintain", () => {
  it("says on stderr how far it is, and nothing but the report on stdout; with --json nothing but the report at all", async () => {
    const said = await desk.run("maintain", "--mode", "frozen");
    expect(said.err).toContain("frozen: reading evidence\n");
    expect(said.err).toContain("frozen: judging and writing\n");
    expect(said.out).toContain("(frozen: nothing is changed)");
    expect(said.out).not.toContain("reading evidence");
    const quiet = await desk.run("maintain", "--json");
    expect(quiet.err).toBe("");
    expect(JSON.parse(quiet.out) as JsonObject).toMatchObject({ mode: "incremental", dryRun: false });
  });

  it("compares the three modes side by side and changes nothing", async () => {
    const before = (await desk.json("skills", "list")) as JsonObject[];
    const said = await desk.run("maintain", "--compare");
    expect(said.code).toBe(0);
    const rows = said.out.split("\n").map((line) => line.split(/\s+/)[0]);
    expect(rows).toEqual(expect.arrayContaining(["mode", "incremental", "rebuild", "frozen"]));
    expect(said.out).toContain("nothing was applied");
    const answer = (await desk.json("maintain", "--compare")) as { modes: { mode: string }[] };
    expect(answer.modes.map(({ mode }) => mode)).toEqual(["incremental", "rebuild", "frozen"]);
    expect(await desk.json("skills", "list")).toEqual(before);
    expect(await desk.json("reports")).toEqual([]);
  });

  it("lists reports with applied, skipped, proposed and refused apart, those too that were written before the two were told apart", async () => {
    const edited = (kind: string): JsonObject => ({ kind, skill: "s", cause: "c", signature: kind, by: "rules", evidence: [] });
    const report = {
      format: "maintenance-report/1",
      at: "2026-11-30T00:00:00.000Z",
      mode: "rebuild",
      dryRun: false,
      basis: { catalog: 1, library: 1 },
      library: 2,
      refused: [],
      revived: [],
      stillInactive: [{ skill: "s", reason: "r" }],
      tokens: { used: 0, rebuildEstimate: 0 },
      looked: { due: 1, all: 1 },
    };
    const lists = { applied: [edited("modify")], skipped: [edited("skip"), edited("keep")], proposed: [edited("add")] };
    mkdirSync(join(desk.home, "state/maintenance"), { recursive: true });
    desk.file("home/state/maintenance/mt_new.json", { ...report, id: "mt_new", ...lists });
    const before = { applied: [...lists.applied, ...lists.skipped], proposed: lists.proposed };
    desk.file("home/state/maintenance/mt_old.json", { ...report, id: "mt_old", ...before });
    const rows = (await desk.run("reports")).out.trim().split("\n");
    expect(rows[0]).toMatch(/applied\s+skipped\s+proposed\s+refused$/);
    for (const row of rows.filter((one) => one.startsWith("mt_")))
      expect(row.split(/\s+/).slice(-4)).toEqual(["1", "2", "1", "0"]);
    expect(rows.filter((one) => one.startsWith("mt_"))).toHaveLength(2);
    expect(((await desk.json("reports")) as JsonObject[]).map((row) => row["skipped"])).toEqual([lists.skipped, lists.skipped]);
  });

  it.each([
    [["--mode", "frosen"], "--mode is incremental, rebuild, frozen; not frosen."],
    [["--mode", "frozen", "--accept", "all"], "--accept goes with --mode incremental or rebuild"],
    [["--compare", "--accept", "all"], "leave --mode and --accept out"],
    [["--compare", "--mode", "rebuild"], "leave --mode and --accept out"],
  ])("refuses %j and says the way out", async (flags, way) => {
    const said = await desk.run("maintain", ...flags);
    expect([said.code, said.out]).toEqual([2, ""]);
    expect(said.err).toContain(way);
  });
});
