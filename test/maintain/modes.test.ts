import { afterEach, describe, expect, it } from "vitest";
import type { House } from "../../src/compose.js";
import { Fault } from "../../src/model/fault.js";
import type { MaintenanceProgress } from "../../src/model/maintenance.js";
import { closeHouses, list, person, tool } from "../house.js";
import { footprint } from "../surfaces/cli/stand.js";
import { cancelOrder, findOrders, learnt, maintain, refundOrder, run, shopHouse, teach } from "./runs.js";

afterEach(closeHouses);

/** A house that learnt a skill and a plan, and whose cancelling tool was then renamed: a rebind is due. */
async function movedHouse(): Promise<House> {
  const house = await shopHouse();
  await teach(house, [run(1, { refund: true }), run(2, { refund: true }), run(3), run(4)]);
  await maintain(house);
  await list(house, "shop", [findOrders, { ...cancelOrder, name: "cancelOrder" }, refundOrder]);
  return house;
}

/** The home's bytes but for two that move by themselves: how far experience is trusted, and the sign of life of the home's lock. */
const bytesOf = (house: House): Record<string, string> =>
  Object.fromEntries(Object.entries(footprint(house.home)).filter(([path]) => !/experience\.json|state\/lock/.test(path)));

const filesOf = async (house: House): Promise<Record<string, unknown>> => {
  const { skills } = house.steward.world().library;
  return Object.fromEntries([...skills].map(([name, skill]) => [name, skill.files]));
};

describe("a frozen run", () => {
  it("changes not one byte of the home, and says what a run by rules would do", async () => {
    const house = await movedHouse();
    const before = bytesOf(house);
    const revision = house.steward.world().library.revision;
    const told = await maintain(house, { mode: "frozen" });
    expect(told).toMatchObject({ mode: "frozen", dryRun: true, library: revision, tokens: { used: 0 } });
    expect(learnt(told.applied)).toContain("modify atomic-cancel-order");
    expect(bytesOf(house)).toEqual(before);
    expect(house.steward.world().library.revision).toBe(revision);
    await expect(house.operations.report(told.id)).rejects.toMatchObject({ code: "report-unknown" });
    // What it told is what comes.
    const done = await maintain(house);
    expect(done.applied).toEqual(told.applied);
  });

  it("takes nothing from a person: to accept is to change", async () => {
    const house = await shopHouse();
    await expect(maintain(house, { mode: "frozen", accept: ["*"] })).rejects.toThrow(Fault);
  });
});

describe("a rebuild", () => {
  it("of a library that is as its evidence says changes nothing", async () => {
    const house = await movedHouse();
    await maintain(house);
    const first = await maintain(house, { mode: "rebuild" });
    const before = await filesOf(house);
    const again = await maintain(house, { mode: "rebuild" });
    expect([...again.applied, ...again.proposed].filter((edit) => edit.kind !== "keep")).toEqual([]);
    expect(await filesOf(house)).toEqual(before);
    expect(again.library).toBe(first.library);
  });

  it("writes what was learnt anew from all the evidence, as one revision that goes back whole", async () => {
    const house = await shopHouse();
    await teach(house, [run(1), run(2)]);
    await maintain(house);
    const before = await filesOf(house);
    const from = house.steward.world().library.revision;
    // More runs, which set no reason: the same way with other arguments, so an incremental run has nothing to add.
    const short = (n: number) => {
      const whole = run(n);
      return { ...whole, calls: whole.calls.map((call) => ({ ...call, args: { ...call.args } })) };
    };
    const bare = [11, 12, 13, 14, 15].map((n) => {
      const one = short(n);
      delete (one.calls[1]?.args as Record<string, unknown>)["reason"];
      return one;
    });
    await teach(house, bare);
    expect(learnt((await maintain(house)).applied)).toEqual([]);
    const rebuilt = await maintain(house, { mode: "rebuild" });
    expect(learnt(rebuilt.applied)).toContain("modify atomic-cancel-order");
    expect(rebuilt.library).toBe(from + 1);
    const { text } = await house.operations.skill("atomic-cancel-order");
    expect(text).not.toContain("reason from the request");
    await house.operations.revert({ to: from }, person);
    expect(await filesOf(house)).toEqual(before);
  });

  it("forgets nothing that was proven once, and leaves alone what is pinned, written by hand or imported", async () => {
    const house = await movedHouse();
    await maintain(house);
    const byHand =
      "---\nname: tool-by-hand\ndescription: A note.\nmetadata:\n  steward-tier: tool\n---\n`shop/find_orders` is slow.\n";
    await house.operations.importSkills([{ folder: "tool-by-hand", files: { "SKILL.md": byHand } }], person);
    await house.operations.pinSkill("atomic-refund-order", true, person);
    await list(house, "shop", [
      { ...findOrders, description: "Finds what a customer ordered." },
      { ...cancelOrder, name: "cancelOrder", description: "Calls an order off." },
      { ...refundOrder, description: "Gives the money back." },
    ]);
    const before = await filesOf(house);
    await maintain(house, { mode: "rebuild" });
    const after = await filesOf(house);
    expect(Object.keys(after)).toEqual(expect.arrayContaining(Object.keys(before)));
    expect(after["tool-by-hand"]).toEqual(before["tool-by-hand"]);
    expect(after["atomic-refund-order"]).toEqual(before["atomic-refund-order"]);
    expect(after["atomic-cancel-order"]).not.toEqual(before["atomic-cancel-order"]);
    expect(JSON.stringify(after["tool-shop-find-orders"])).toContain("Finds what a customer ordered.");
  });
});

describe("the three modes side by side", () => {
  it("tell edits, tokens, time and effect of each on one moment, and apply none of it", async () => {
    const house = await movedHouse();
    const before = bytesOf(house);
    const { modes, basis } = await house.operations.compareModes();
    expect(modes.map((one) => one.mode)).toEqual(["incremental", "rebuild", "frozen"]);
    expect(basis.library).toBe(house.steward.world().library.revision);
    expect(bytesOf(house)).toEqual(before);
    const [incremental, rebuild, frozen] = modes;
    expect(learnt(incremental?.edits ?? [])).toContain("modify atomic-cancel-order");
    expect(frozen?.edits).toEqual([]);
    // The skill that rests stays so where nothing is changed.
    expect(frozen?.effect.resting).toBeGreaterThan(incremental?.effect.resting ?? Infinity);
    expect(rebuild?.effect.resting).toBe(incremental?.effect.resting);
    expect(incremental?.effect.tasks.asked).toBe(4);
    expect(incremental?.effect.tasks.shown).toBeGreaterThanOrEqual(frozen?.effect.tasks.shown ?? Infinity);
    // What it foretold of the library is how the library then stands.
    await maintain(house);
    const standings = [...house.steward.world().standings.values()];
    expect(standings.filter((one) => one.standing === "active").length).toBe(incremental?.effect.active);
  });
});

describe("a run under way", () => {
  it("tells its phases in order, and whoever asks for it meanwhile hears them and gets its report", async () => {
    const house = await movedHouse();
    const told: MaintenanceProgress[] = [];
    const heard: MaintenanceProgress[] = [];
    let late: Promise<{ id: string }> | undefined;
    const report = await house.operations.maintain({ mode: "incremental", dryRun: false }, person, (progress) => {
      told.push(progress);
      if (progress.phase === "edits") late ??= house.operations.report("current", (one) => heard.push(one));
    });
    const phases = ["evidence", "lineage", "edits", "trial", "library"];
    const order = told.map((one) => phases.indexOf(one.phase));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(new Set(order).size).toBe(phases.length);
    for (const { done, of } of told) expect(done).toBeLessThanOrEqual(of);
    expect((await late)?.id).toBe(report.id);
    expect(heard[0]?.run).toBe(report.id);
    expect(heard.length).toBeGreaterThan(1);
    await expect(house.operations.report("current")).rejects.toThrow("No maintenance run is under way.");
  });

  it("that fails says so to everybody who waits for it, and is gone", async () => {
    const house = await movedHouse();
    let late: Promise<unknown> | undefined;
    const run = house.operations.maintain({ mode: "incremental", dryRun: false }, person, (progress) => {
      if (progress.phase !== "trial" || late !== undefined) return;
      late = house.operations.report(progress.run);
      late.catch(() => undefined);
      void house.steward.close();
    });
    await expect(run).rejects.toMatchObject({ code: "shutting-down" });
    await expect(late).rejects.toMatchObject({ code: "shutting-down" });
    await expect(house.operations.report("current")).rejects.toMatchObject({ code: "report-unknown" });
  });
});

describe("tool skills", () => {
  it("follow what their tools say today in a rebuild only", async () => {
    const house = await shopHouse();
    await maintain(house);
    await list(house, "shop", [
      findOrders,
      cancelOrder,
      tool("refund_order", { description: "New words.", required: ["order_id"] }),
    ]);
    expect((await maintain(house)).applied.map((edit) => edit.skill)).not.toContain("tool-shop-refund-order");
    const { applied } = await maintain(house, { mode: "rebuild" });
    expect(applied.filter((edit) => edit.kind === "modify").map((edit) => edit.skill)).toEqual(["tool-shop-refund-order"]);
  });
});
