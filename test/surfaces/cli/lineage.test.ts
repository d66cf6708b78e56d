import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/model/json.js";
import { closeHouses, list, makeHome, openHouse, tool } from "../../house.js";
import { openDesk, type Desk } from "./stand.js";

let desk: Desk;
let home: string;

const cancel = (name: string, description: string): JsonObject =>
  tool(name, { description, required: ["order_id"], optional: ["reason"], writes: true });

/** A home whose tool left, with a proposed successor that a manager and a replay looked at. */
beforeEach(async () => {
  desk = await openDesk();
  home = makeHome(["shop"]);
  const house = await openHouse(home);
  await list(house, "shop", [cancel("cancel_order", "Cancels an order.")]);
  await list(house, "shop", [cancel("cancel_purchase", "Cancels an order that was not sent yet.")]);
  const [link] = await house.operations.lineage();
  const look = { by: "scripted", at: "2027-01-01T00:00:00.000Z", basis: "b", evidence: ["call 1 of ep_1: answered alike"] };
  await house.steward.post({
    kind: "maintenance-proposed",
    at: look.at,
    id: "mt_1",
    mode: "incremental",
    dryRun: false,
    basis: { catalog: house.steward.world().catalog.version, library: house.steward.world().library.revision },
    edits: [],
    accept: [],
    lineage: [
      { link: link?.id ?? "", opinion: { ...look, how: "replay", verdict: "confirm", why: "Recorded calls agree." } },
      {
        link: link?.id ?? "",
        opinion: { ...look, how: "manager", verdict: "leave", why: "It cannot tell.", evidence: [], tokens: 412 },
      },
    ],
    tokens: { used: 412, rebuildEstimate: 900 },
  });
  await house.stop();
});
afterEach(async () => {
  desk.drop();
  await closeHouses();
});

const run = async (...argv: string[]) => await desk.run(...argv, "--home", home);
const idOf = async (): Promise<string> => {
  const [link] = JSON.parse((await run("catalog", "lineage", "--json")).out) as JsonObject[];
  return String(link?.["id"]);
};

describe("steward catalog lineage", () => {
  it("shows of a link whose word stands, what each look found and what it cost", async () => {
    const said = await run("catalog", "lineage", "show", (await idOf()).slice(0, 6));
    expect([said.code, said.err]).toEqual([0, ""]);
    expect(said.out).toContain("shop/cancel_order → shop/cancel_purchase · confirmed (replay)");
    expect(said.out).toContain("confirmed by a replay: scripted, 2027-01-01");
    expect(said.out).toContain("order_id → order_id");
    expect(said.out).toMatch(/replay \(scripted, [^)]*\): it took over: Recorded calls agree\./);
    expect(said.out).toContain("call 1 of ep_1: answered alike");
    expect(said.out).toMatch(/manager \(scripted, [^)]* · 412 tokens\): undecided: It cannot tell\./);
  });

  it("lists links by ids that its other verbs take, and tells a person's word from a machine's", async () => {
    const id = await idOf();
    const shown = await run("catalog", "lineage");
    expect(shown.out).toContain(id);
    expect(shown.out).toContain("confirmed (replay)");
    const judged = await run("catalog", "lineage", "reject", id.slice(0, 7));
    expect([judged.code, judged.out.trim()]).toEqual([0, `${id} is rejected.`]);
    const after = await run("catalog", "lineage", "show", id);
    expect(after.out).toContain("rejected by a person: local");
    // What was found is still there to be read.
    expect(after.out).toContain("Recorded calls agree.");
  });

  it.each([
    [["show"], 2, "catalog lineage show <link>"],
    [["show", "zzzz"], 2, "There is no link zzzz"],
    [["show", "a"], 2, "There is no link a"],
    [["confirm"], 2, "catalog lineage confirm <link>"],
  ])("says what is wrong with `catalog lineage %s`", async (argv, code, text) => {
    const said = await run("catalog", "lineage", ...argv);
    expect(said.code).toBe(code);
    expect(said.err).toContain(text);
  });

  it("a report tells the looks, and what they cost", async () => {
    const report = JSON.parse((await run("reports", "--json")).out) as JsonObject[];
    expect((report[0]?.["lineage"] as JsonObject[]).map((look) => [look["how"], look["verdict"], look["counts"]])).toEqual([
      ["replay", "confirm", true],
      ["manager", "leave", false],
    ]);
  });

  it("states a takeover that was not found, with its mapping, and says what nothing fills", async () => {
    const added = await run(
      "catalog",
      "lineage",
      "add",
      "cancel_order",
      "cancel_purchase",
      "--map",
      "reason=",
      "--fix",
      'reason="gone"',
    );
    expect([added.code, added.err]).toEqual([0, ""]);
    expect(added.out).toContain("shop/cancel_order → shop/cancel_purchase · link ");
    expect(added.out).toContain('reason = "gone"');
    expect(added.out).toContain("reason of shop/cancel_order goes nowhere.");
    expect((await run("catalog", "lineage")).out).toContain("stated");
    expect((await run("catalog", "lineage", "show", await idOf())).out).toMatch(/stated by a person: local, /);
    const [link] = JSON.parse(
      (
        await run(
          "catalog",
          "lineage",
          "add",
          "cancel_order",
          "cancel_purchase",
          "--fix",
          "none",
          "--map",
          "reason=reason",
          "--json",
        )
      ).out,
    ).links as JsonObject[];
    expect(link).toMatchObject({ fixedArguments: {}, params: { order_id: "order_id", reason: "reason" } });
  });

  it.each([
    [["add", "cancel_order"], "Use `catalog lineage add"],
    [["add", "cancel_order", "cancel_purchase", "--map", "reason"], "write old=new"],
    [["add", "cancel_order", "cancel_purchase", "--fix", "reason={"], "is not JSON"],
    [["add", "cancel_order", "cancel_purchase", "--fix", "reason="], "what is it fixed to?"],
    [["add", "cancel_odrer", "cancel_purchase"], "Did you mean shop/cancel_order?"],
    [["--map", "a=b"], "go with `catalog lineage add"],
    [["confirm", "one", "two"], "two is too much"],
  ])("refuses %j as a wrong use and names the way out", async (argv, text) => {
    const said = await run("catalog", "lineage", ...argv);
    expect(said.code).toBe(2);
    expect(said.err).toContain(text);
  });
});
