import { afterEach, describe, expect, it } from "vitest";
import type { House } from "../../src/compose.js";
import type { JsonObject } from "../../src/model/json.js";
import { closeHouses, list, makeHome, openHouse, person, tool } from "../house.js";
import { CANCEL_RUNS, CANCEL_IT } from "./cancel-it.js";

afterEach(closeHouses);

const cancel = tool("cancel_order", {
  description: "Cancels an order.",
  required: ["order_id"],
  optional: ["reason"],
  writes: true,
});
const annul = tool("annul", { description: "Zaps it.", required: ["ref"], optional: ["note", "mode"], writes: true });
const mail = tool("tell_buyer", { description: "Tells whoever bought it.", required: ["ref"], writes: true });
const stays = tool("list_orders", { description: "Lists orders." });

/** Cancelling left and something that nobody would guess came. */
async function moved(home = makeHome(["shop"])): Promise<{ house: House; home: string }> {
  const house = await openHouse(home);
  await list(house, "shop", [cancel, stays]);
  await house.operations.importSkills([CANCEL_IT], person);
  await list(house, "shop", [annul, mail, stays]);
  expect(await house.operations.lineage()).toEqual([]);
  return { house, home };
}

const state = (house: House, input: JsonObject) => house.operations.stateTakeover(input as never, person);
const TO_ANNUL = { from: ["shop/cancel_order"], to: ["shop/annul"], params: { order_id: "ref", reason: "note" } };
const successors = async (house: House): Promise<string[]> =>
  (await house.operations.skill("cancel-it", person)).successors.flatMap((link) => link.to);

describe("a takeover that a person states", () => {
  it("stands as a confirmed link with its mapping and fixed arguments, and reaches skills, calls and views", async () => {
    const { house } = await moved();
    const { links, remarks } = await state(house, { ...TO_ANNUL, fixed: { mode: "quick" } });
    expect(links).toMatchObject([
      {
        kind: "renamed",
        from: "shop/cancel_order",
        to: ["shop/annul"],
        atVersion: 2,
        params: { order_id: "ref", reason: "note" },
        fixedArguments: { mode: "quick" },
        stated: { by: "local" },
        confirmed: { by: "local", how: "person" },
      },
    ]);
    expect(remarks).toEqual([]);
    expect(await successors(house)).toEqual(["shop/annul"]);
    const { standing } = await house.operations.skill("cancel-it", person);
    expect(standing.reasons).toMatchObject([{ rule: "T3", text: expect.stringContaining("shop/annul") }]);
    const view = await house.operations.startTask({ task: "cancel an order with shop/cancel_order" }, person);
    expect(view.body.substitutions).toMatchObject([
      { asked: "shop/cancel_order", given: ["shop/annul"], certain: true, why: expect.stringContaining("order_id is now ref") },
    ]);
    await expect(
      house.operations.callTool({ tool: "shop/cancel_order", arguments: {} }, person, { direct: false } as never),
    ).rejects.toMatchObject({ message: expect.stringContaining("shop/annul took over (certain)") });
  });

  it("outlives a restart, is followed over later versions, and is taken back by a rejection", async () => {
    const { house, home } = await moved();
    const [link] = (await state(house, TO_ANNUL)).links;
    await house.stop();
    const again = await openHouse(home);
    expect(await again.operations.lineageLink(link?.id ?? "")).toEqual({ ...link, now: "followed" });
    await list(again, "shop", [{ ...annul, name: "annul_it" }, mail, stays]);
    const chain = (await again.operations.skill("cancel-it", person)).successors;
    expect(chain.map((one) => one.from)).toContain("shop/cancel_order");
    await again.operations.judgeLineage(link?.id ?? "", "reject", person);
    expect(await successors(again)).toEqual([]);
    // It can be said again.
    await state(again, TO_ANNUL);
    expect(await successors(again)).toContain("shop/annul");
  });

  it("may be of several tools in place of one, and of one in place of several", async () => {
    const { house } = await moved();
    const split = await state(house, { from: ["cancel_order"], to: ["annul", "tell_buyer"], params: { order_id: "ref" } });
    expect(split.links).toMatchObject([{ kind: "split", to: ["shop/annul", "shop/tell_buyer"] }]);
    await list(house, "shop", [stays]);
    await list(house, "shop", [stays, tool("do_all", { description: "Any of it.", required: ["what", "ref"], writes: true })]);
    const merged = await state(house, { from: ["annul", "tell_buyer"], to: ["do_all"], params: { note: null } });
    expect(merged.links.map((link) => [link.kind, link.from, link.params])).toEqual([
      ["merged", "shop/annul", { ref: "ref" }],
      ["merged", "shop/tell_buyer", { ref: "ref" }],
    ]);
    expect(merged.remarks).toContain(
      "shop/do_all requires what, and nothing of shop/annul fills it: skills are rebound when a person looked.",
    );
    expect(merged.remarks.join()).toContain("note, mode of shop/annul go nowhere.");
  });

  it("corrects what a known link maps, and keeps what was proposed", async () => {
    const { house } = await moved();
    await list(house, "shop", [{ ...annul, name: "annuls" }, mail, stays]);
    const [found] = await house.operations.lineage();
    const { links } = await state(house, { from: ["annul"], to: ["annuls"], params: { note: "mode", mode: null } });
    expect(links).toMatchObject([
      { id: found?.id, params: { ref: "ref", note: "mode" }, proposedParams: found?.params, confirmed: { by: "local" } },
    ]);
    expect((await house.operations.lineage()).length).toBe(1);
  });

  it("is followed by maintenance and by what episodes taught of the old tool, and no longer once it is taken back", async () => {
    const house = await openHouse(makeHome(["shop"]));
    await list(house, "shop", [cancel, stays]);
    await house.operations.importEpisodes({ episodes: CANCEL_RUNS }, person);
    const run = () => house.operations.maintain({ mode: "incremental", dryRun: false }, person);
    await run();
    const learnt = "atomic-cancel-order";
    const calls = async (): Promise<string[]> =>
      (await house.operations.skill(learnt, person)).contract.requires.map(({ tool: key }) => key);
    const found = async (): Promise<string[]> => {
      const { body } = await house.operations.retrieveTools({ query: "stop the frobnication of a parcel" }, person);
      return body.tools.map((one) => one.tool);
    };
    expect(await found()).toContain("shop/cancel_order");
    await list(house, "shop", [annul, mail, stays]);
    expect(await found()).not.toContain("shop/annul");
    expect((await run()).applied.map(({ skill }) => skill)).not.toContain(learnt);
    const [link] = (await state(house, { ...TO_ANNUL, fixed: { mode: "quick" } })).links;
    expect(await found()).toContain("shop/annul");
    const report = await run();
    expect(report.applied.map(({ skill }) => skill)).toContain(learnt);
    expect(await calls()).toEqual(["shop/annul"]);
    const { files, standing } = await house.operations.skill(learnt, person);
    expect(standing.standing).toBe("active");
    const step = '`shop/annul` with mode = "quick", ref from order_id in the request and note from reason in the request';
    expect(files["SKILL.md"]).toContain(step);
    // Two names further on it is followed still, and the evidence with it.
    await list(house, "shop", [{ ...annul, name: "annul_it" }, mail, stays]);
    expect(await found()).toContain("shop/annul_it");
    await run();
    expect(await calls()).toEqual(["shop/annul_it"]);
    await list(house, "shop", [annul, mail, stays]);
    await house.operations.judgeLineage(link?.id ?? "", "reject", person);
    expect(await found()).not.toContain("shop/annul");
  });

  it("is weighed like any other: a successor that may do more waits for a person", async () => {
    const house = await openHouse(makeHome(["shop"]));
    await list(house, "shop", [tool("peek", { description: "Looks." }), stays]);
    await list(house, "shop", [tool("wipe", { description: "Zaps.", writes: true }), stays]);
    const stated = await state(house, { from: ["peek"], to: ["wipe"] });
    expect(stated.held).toEqual(["shop/wipe"]);
    const [link] = stated.links;
    expect(await house.operations.judgeLineage(link?.id ?? "", "reject", person)).toMatchObject({ released: ["shop/wipe"] });
  });
});

describe("what is of a takeover now", () => {
  const orders = { ...cancel, name: "cancel_orders" };
  /** The same history with a successor that is found, and with one that a person states. */
  const sides: readonly [string, JsonObject, boolean][] = [
    ["found", orders, false],
    ["stated", annul, true],
  ];
  const nowOf = async (house: House, from = "shop/cancel_order"): Promise<string[]> =>
    (await house.operations.lineage()).filter((link) => link.from === from).map(({ now }) => now);

  it.each(sides)("is told of a %s one alike, through all that may become of both tools", async (_how, successor, isStated) => {
    const house = await openHouse(makeHome(["shop"]));
    const name = String(successor["name"]);
    await list(house, "shop", [cancel, stays]);
    await list(house, "shop", [successor, stays]);
    if (isStated) await state(house, TO_ANNUL);
    expect(await nowOf(house)).toEqual(["followed"]);
    const [link] = await house.operations.lineage();
    await list(house, "shop", [successor, cancel, stays]);
    expect(await nowOf(house)).toEqual(["returned"]);
    // It leaves again: what was found is found anew, what was said is said still.
    await list(house, "shop", [successor, stays]);
    expect(await nowOf(house)).toEqual(["earlier", "followed"]);
    const again = (await house.operations.lineage()).at(-1);
    expect(again).toMatchObject({ to: link?.to, params: link?.params, atVersion: 4 });
    expect([again?.stated, again?.confirmed]).toEqual([link?.stated, link?.confirmed]);
    await list(house, "shop", [{ ...successor, name: `${name}_now` }, stays]);
    const next = (await house.operations.lineage()).find(({ from }) => from === `shop/${name}`);
    expect((await nowOf(house)).at(-1)).toBe(next === undefined ? "ended" : "followed-on");
    await list(house, "shop", [stays]);
    expect((await nowOf(house)).at(-1)).toBe("ended");
    await house.operations.judgeLineage(again?.id ?? "", "reject", person);
    expect((await nowOf(house)).at(-1)).toBe("rejected");
  });

  it("is that another goes before it where a person said otherwise than what was found", async () => {
    const house = await openHouse(makeHome(["shop"]));
    await list(house, "shop", [cancel, stays]);
    await list(house, "shop", [orders, annul, stays]);
    await state(house, TO_ANNUL);
    expect((await house.operations.lineage()).map(({ to, now }) => [to[0], now])).toEqual(
      expect.arrayContaining([
        ["shop/cancel_orders", "passed-over"],
        ["shop/annul", "followed"],
      ]),
    );
  });

  it("is not said again once it was taken back, nor where it cannot be meant any more", async () => {
    for (const gone of ["taken back", "without its parameter"]) {
      const { house } = await moved();
      const [link] = (await state(house, TO_ANNUL)).links;
      if (gone === "taken back") await house.operations.judgeLineage(link?.id ?? "", "reject", person);
      await list(house, "shop", [cancel, annul, stays]);
      const now = gone === "taken back" ? annul : tool("annul", { description: "Zaps it.", required: ["other"], writes: true });
      await list(house, "shop", [now, stays]);
      expect((await house.operations.lineage()).filter((one) => one.atVersion === 4)).toEqual([]);
    }
  });

  it("names one that stood beside the tool before as a found one is named: superseded", async () => {
    const house = await openHouse(makeHome(["shop"]));
    await list(house, "shop", [cancel, annul, stays]);
    await list(house, "shop", [annul, mail, stays]);
    expect((await state(house, TO_ANNUL)).links).toMatchObject([{ kind: "superseded" }]);
    await house.operations.judgeLineage((await house.operations.lineage())[0]?.id ?? "", "reject", person);
    const came = { from: ["cancel_order"], to: ["tell_buyer"], params: { order_id: "ref" } };
    expect((await state(house, came)).links).toMatchObject([{ kind: "renamed" }]);
  });
});

describe("a takeover that cannot be meant is refused, and says what would be", () => {
  const refused: readonly [string, JsonObject, string, string][] = [
    [
      "a tool that nobody ever listed",
      { from: ["shop/cancl_order"], to: ["annul"] },
      "tool-unknown",
      "Did you mean shop/cancel_order?",
    ],
    ["a successor that nobody ever listed", { from: ["cancel_order"], to: ["anul"] }, "tool-unknown", "Did you mean shop/annul?"],
    ["a tool that is there", { from: ["annul"], to: ["tell_buyer"] }, "input-invalid", "is in the present catalog"],
    ["a tool on both sides", { from: ["cancel_order"], to: ["cancel_order"] }, "input-invalid", "cannot take over from itself"],
    ["a tool named twice", { from: ["cancel_order"], to: ["annul", "shop/annul"] }, "input-invalid", "is named twice"],
    [
      "an old parameter that is none",
      { ...TO_ANNUL, params: { id: "ref" } },
      "input-invalid",
      "has no parameter id; it has order_id, reason",
    ],
    [
      "a new parameter that is none",
      { ...TO_ANNUL, params: { order_id: "id" } },
      "input-invalid",
      "shop/annul has no parameter id",
    ],
    [
      "two parameters that become one",
      { ...TO_ANNUL, params: { order_id: "ref", reason: "ref" } },
      "input-invalid",
      "cannot both become ref",
    ],
    ["a fixed argument of no parameter", { ...TO_ANNUL, fixed: { colour: "red" } }, "input-invalid", "has no parameter colour"],
    [
      "a fixed argument that does not fit",
      { ...TO_ANNUL, fixed: { mode: 7 } },
      "input-invalid",
      "mode of shop/annul cannot be fixed to 7",
    ],
    ["a parameter both fixed and mapped to", { ...TO_ANNUL, fixed: { note: "x" } }, "input-invalid", "cannot be both"],
  ];
  it.each(refused)("%s", async (_what, input, code, text) => {
    const { house } = await moved();
    await expect(state(house, input)).rejects.toMatchObject({ code, message: expect.stringContaining(text) });
    expect(await house.operations.lineage()).toEqual([]);
  });

  it("one that a person's word stands against, until that is taken back", async () => {
    const { house } = await moved();
    const [first] = (await state(house, TO_ANNUL)).links;
    const other = { from: ["cancel_order"], to: ["tell_buyer"] };
    await expect(state(house, other)).rejects.toMatchObject({
      code: "lineage-settled",
      message: expect.stringContaining(`steward catalog lineage reject ${first?.id}`),
    });
    await house.operations.judgeLineage(first?.id ?? "", "reject", person);
    await state(house, other);
    expect(await successors(house)).toEqual(["shop/tell_buyer"]);
  });

  it("but one that was only found gives way, and that is said", async () => {
    const house = await openHouse(makeHome(["shop"]));
    await list(house, "shop", [cancel, stays]);
    await list(house, "shop", [{ ...cancel, name: "cancel_orders" }, annul, stays]);
    const [found] = await house.operations.lineage();
    expect(found?.level).toBe("certain");
    const { remarks } = await state(house, TO_ANNUL);
    expect(remarks.join()).toContain(`link ${found?.id}) is not followed while your word stands`);
    const view = await house.operations.startTask({ task: "use shop/cancel_order" }, person);
    expect(view.body.substitutions?.[0]?.given).toEqual(["shop/annul"]);
  });
});
