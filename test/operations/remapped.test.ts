import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { House } from "../../src/compose.js";
import type { SkillName } from "../../src/model/ids.js";
import type { JsonObject } from "../../src/model/json.js";
import type { MaintenanceReport } from "../../src/model/maintenance.js";
import { openDesk } from "../surfaces/cli/stand.js";
import { closeHouses, later, list, makeHome, openHouse, person, tool } from "../house.js";
import { CANCEL_RUNS } from "./cancel-it.js";

afterEach(closeHouses);

const cancel = tool("cancel_order", {
  description: "Cancels an order.",
  required: ["order_id"],
  optional: ["reason", "dry"],
  writes: true,
});
const annul = tool("annul", { description: "Zaps it.", required: ["ref"], optional: ["note", "mode"], writes: true });
const stays = tool("list_orders", { description: "Lists orders." });

const LEARNT = "atomic-cancel-order";
const WRONG = { order_id: "note", reason: "ref" };
const RIGHT = { order_id: "ref", reason: "note" };

const state = (house: House, input: JsonObject) =>
  house.operations.stateTakeover({ from: ["cancel_order"], to: ["annul"], ...input } as never, person);
const run = (house: House, accept: string[] = []) =>
  house.operations.maintain({ mode: "incremental", dryRun: false, accept }, person);
const learnt = (house: House) => house.operations.skill(LEARNT, person);
const textOf = async (house: House): Promise<string> => (await learnt(house)).files["SKILL.md"] ?? "";
const standingOf = async (house: House) => (await learnt(house)).standing;

/** A learnt skill whose tool left, bound by a mapping that a person stated and that is wrong, or by one found to `accept` and accepted. */
async function boundWrongly(
  options: { mapping?: JsonObject; steward?: JsonObject; accept?: JsonObject } = {},
): Promise<{ house: House; home: string }> {
  const home = makeHome(["shop"], options.steward ?? {});
  const house = await openHouse(home);
  await list(house, "shop", [cancel, stays]);
  await house.operations.importEpisodes({ episodes: CANCEL_RUNS }, person);
  await run(house);
  await list(house, "shop", [options.accept ?? annul, stays]);
  if (options.accept === undefined) await state(house, options.mapping ?? { params: WRONG });
  expect((await run(house, options.accept === undefined ? [] : [LEARNT])).applied.map(({ skill }) => skill)).toContain(LEARNT);
  expect((await standingOf(house)).standing).toBe("active");
  return { house, home };
}

/** The successor is renamed, and that is followed. */
async function renamed(house: House): Promise<void> {
  await list(house, "shop", [{ ...annul, name: "annul_it" }, stays]);
  const link = (await house.operations.lineage()).find(({ from }) => from === "shop/annul");
  await house.operations.judgeLineage(link?.id ?? "", "confirm", person);
  await run(house);
}

describe("a corrected mapping of a takeover", () => {
  it("takes the skills that were bound by it back, so that none is active with it, and maintenance binds them anew", async () => {
    const { house } = await boundWrongly();
    expect(await textOf(house)).toContain("`shop/annul` with note from order_id in the request and ref from reason");
    const answer = await state(house, { params: RIGHT });
    expect(answer.skills).toMatchObject({ changed: [LEARNT], marked: [], resting: [{ skill: LEARNT }] });
    const standing = await standingOf(house);
    expect([standing.standing, standing.reasons[0]?.rule]).toEqual(["inactive", "T3"]);
    const { body: view } = await house.operations.startTask({ task: "stop the frobnication of a parcel" }, person);
    expect((view.skills ?? []).map(({ name }) => name)).not.toContain(LEARNT);

    const report = await run(house);
    expect(report.applied.map(({ skill }) => skill)).toContain(LEARNT);
    expect(await textOf(house)).toContain("`shop/annul` with ref from order_id in the request and note from reason");
    expect((await standingOf(house)).standing).toBe("active");
    // Nothing is left to do, and nothing brings the wrong text back.
    expect((await run(house)).applied).toEqual([]);
    await list(house, "shop", [annul, stays, tool("other")]);
    expect(await textOf(house)).toContain("ref from order_id");
  });

  it("shows in the history, and can be reverted like any other revision", async () => {
    const { house } = await boundWrongly();
    const before = house.steward.world().library.revision;
    await state(house, { params: RIGHT });
    await run(house);
    const history = await house.operations.skillHistory(LEARNT);
    const causes = history.map(({ edit }) => edit?.cause ?? "");
    expect(causes.filter((cause) => cause.includes("local corrected what shop/cancel_order maps to shop/annul"))).toHaveLength(1);
    await house.operations.revert({ to: before, skill: LEARNT }, person);
    expect(await textOf(house)).toContain("note from order_id");
    // The person's choice is not undone by a run.
    expect((await run(house)).applied).toEqual([]);
    expect(await textOf(house)).toContain("note from order_id");
  });

  it("may be of what is fixed alone, more than once, and of a tool that was renamed since", async () => {
    const { house } = await boundWrongly({ mapping: { params: RIGHT, fixed: { mode: "quick" } } });
    expect(await textOf(house)).toContain('mode = "quick"');
    expect((await state(house, { fixed: { mode: "slow" } })).skills.changed).toContain(LEARNT);
    await run(house);
    expect(await textOf(house)).toContain('mode = "slow"');
    await renamed(house);
    expect(await textOf(house)).toContain("`shop/annul_it`");
    expect((await state(house, { fixed: {} })).skills.changed).toContain(LEARNT);
    await run(house);
    expect(await textOf(house)).toContain("`shop/annul_it` with ref from order_id");
    expect(await textOf(house)).not.toContain("mode =");
  });

  it("may be taken back: what was said first is bound again", async () => {
    const { house } = await boundWrongly();
    for (const [params, says] of [
      [RIGHT, "ref from order_id"],
      [WRONG, "note from order_id"],
      [RIGHT, "ref from order_id"],
    ] as const) {
      expect((await state(house, { params })).skills.changed).toContain(LEARNT);
      expect((await standingOf(house)).standing).toBe("inactive");
      expect((await run(house)).applied.map(({ skill }) => skill)).toContain(LEARNT);
      expect(await textOf(house)).toContain(says);
    }
  });

  it("survives a restart between the correction and the run", async () => {
    const { house, home } = await boundWrongly();
    await state(house, { params: RIGHT });
    await house.stop();
    const again = await openHouse(home);
    await list(again, "shop", [annul, stays]);
    expect((await standingOf(again)).standing).toBe("inactive");
    await run(again);
    expect(await textOf(again)).toContain("ref from order_id");
  });

  it("leaves a skill alone whose text it does not change", async () => {
    const { house } = await boundWrongly({ mapping: { params: { ...RIGHT, dry: "mode" } } });
    const before = house.steward.world().library.lock.skills[LEARNT];
    const answer = await state(house, { params: { dry: null } });
    expect(answer.links[0]?.params).toEqual(RIGHT);
    expect([answer.skills.changed, answer.skills.marked].flat()).not.toContain(LEARNT);
    expect(house.steward.world().library.lock.skills[LEARNT]).toEqual(before);
  });

  it("says on the command line what went back and how it is bound anew", async () => {
    const { house, home } = await boundWrongly();
    await house.stop();
    const desk = await openDesk();
    const add = ["catalog", "lineage", "add", "cancel_order", "annul", "--map", "order_id=ref", "--map", "reason=note"];
    const said = await desk.run(...add, "--home", home);
    expect([said.code, said.out]).toEqual([
      0,
      expect.stringMatching(/resting until they are bound anew: atomic-cancel-order\. `steward maintain` binds them\./),
    ]);
    expect((await desk.run("maintain", "--home", home)).code).toBe(0);
    expect((await desk.run("skills", "show", LEARNT, "--home", home)).out).toContain("ref from order_id");
    expect((await desk.run(...add, "--home", home)).out).not.toContain("former mapping");
    desk.drop();
  });

  it("of which no exact edit is known leaves the skill at rest and says why", async () => {
    const { house } = await boundWrongly();
    const answer = await state(house, { params: { order_id: null, reason: "note" } });
    expect(answer.skills.changed.concat(answer.skills.marked)).toEqual([LEARNT]);
    const { standing, needsReview } = await standingOf(house);
    expect(standing === "inactive" || needsReview).toBe(true);
  });
});

describe("a skill whose text is a person's, when the mapping that it was bound by is corrected", () => {
  it("stays as it is where it is pinned, asks for a look, and is bound anew once it is unpinned", async () => {
    const { house, home } = await boundWrongly();
    await house.operations.pinSkill(LEARNT, true, person);
    const text = await textOf(house);
    expect((await state(house, { params: RIGHT })).skills).toMatchObject({ changed: [], marked: [LEARNT] });
    expect(await textOf(house)).toBe(text);
    const standing = await standingOf(house);
    expect([standing.standing, standing.needsReview]).toEqual(["active", true]);
    expect(standing.reasons[0]).toMatchObject({ rule: "T3", way: expect.stringContaining(`skills unpin ${LEARNT}`) });
    await run(house);
    expect(await textOf(house)).toBe(text);
    await house.stop();
    const again = await openHouse(home);
    await list(again, "shop", [annul, stays]);
    expect((await standingOf(again)).needsReview).toBe(true);
    await again.operations.pinSkill(LEARNT, false, person);
    expect((await standingOf(again)).standing).toBe("inactive");
    await run(again);
    expect(await textOf(again)).toContain("ref from order_id");
    expect((await standingOf(again)).needsReview).toBe(false);
  });

  it("stops asking once a person approves it as it is", async () => {
    const { house } = await boundWrongly();
    await house.operations.pinSkill(LEARNT, true, person);
    await state(house, { params: RIGHT });
    await house.operations.approveSkill(LEARNT, person);
    expect(await standingOf(house)).toMatchObject({ standing: "active", needsReview: false, reasons: [] });
    await house.operations.pinSkill(LEARNT, false, person);
    expect(await standingOf(house)).toMatchObject({ standing: "active", needsReview: false });
    // Another correction asks again.
    await house.operations.pinSkill(LEARNT, true, person);
    await state(house, { params: { order_id: "mode", reason: "ref" } });
    expect((await standingOf(house)).needsReview).toBe(true);
  });

  it("stays where it was edited by hand or gone back to, and asks for a look until it is edited again", async () => {
    for (const choose of [
      async (house: House, home: string): Promise<House> => {
        await house.stop();
        const path = join(home, "skills", LEARNT, "SKILL.md");
        writeFileSync(path, `${readFileSync(path, "utf8")}\nAsk whoever is on duty first.\n`);
        return await openHouse(home);
      },
      async (house: House): Promise<House> => {
        const bound = house.steward.world().library.revision;
        await state(house, { params: RIGHT });
        await run(house);
        await house.operations.revert({ to: bound, skill: LEARNT }, person);
        await state(house, { params: { order_id: "mode", reason: "ref" } });
        return house;
      },
    ]) {
      const { house: first, home } = await boundWrongly();
      const house = await choose(first, home);
      const text = await textOf(house);
      if (text.includes("on duty")) await state(house, { params: RIGHT });
      await run(house);
      expect(await textOf(house)).toBe(text);
      expect(await standingOf(house)).toMatchObject({ standing: "active", needsReview: true });
      const path = join(home, "skills", LEARNT, "SKILL.md");
      await house.stop();
      writeFileSync(path, readFileSync(path, "utf8").replace("note from order_id", "mode from order_id"));
      const again = await openHouse(home);
      await list(again, "shop", [annul, stays]);
      expect((await standingOf(again)).reasons.filter(({ rule }) => rule === "T3")).toEqual([]);
      await again.stop();
    }
  });
});

it("a rejected takeover takes a skill back also where what took over was renamed since", async () => {
  const { house } = await boundWrongly();
  await renamed(house);
  expect(await textOf(house)).toContain("`shop/annul_it`");
  const link = (await house.operations.lineage()).find(({ from }) => from === "shop/cancel_order");
  const judged = await house.operations.judgeLineage(link?.id ?? "", "reject", person);
  expect(judged.skills.changed).toEqual([LEARNT]);
  expect(await textOf(house)).toContain("`shop/cancel_order`");
});

describe("a mapping that the manager corrects where its word counts", () => {
  const purchase = tool("cancel_purchase", {
    description: "Cancels an order that was not sent yet.",
    required: ["order_id"],
    optional: ["reason", "note"],
    writes: true,
  });
  const found = (house: House) => [...house.steward.world().lineage.values()].find(({ from }) => from === "shop/cancel_order");

  /** A learnt skill whose tool left, bound by a takeover that was only proposed, since a person accepted the edit. */
  async function boundByAccepting(policy: JsonObject = { lineageByManager: "confirm" }): Promise<House> {
    const { house } = await boundWrongly({ steward: { policy }, accept: purchase });
    expect(found(house)).toMatchObject({ level: "proposed", params: { order_id: "order_id", reason: "reason" } });
    expect(found(house)?.confirmed).toBeUndefined();
    expect(await textOf(house)).toContain("`shop/cancel_purchase`");
    return house;
  }

  /** A run in which the manager confirms the takeover with these parameters. */
  async function hear(house: House, params: JsonObject | undefined, more: JsonObject = {}): Promise<MaintenanceReport> {
    const { catalog, library } = house.steward.world();
    const at = later();
    const opinion = { how: "manager", verdict: "confirm", by: "scripted", at, basis: "b", why: "Alike.", evidence: [] };
    const answer = await house.steward.post({
      kind: "maintenance-proposed",
      at,
      id: `mt_heard_${library.revision}`,
      mode: "incremental",
      dryRun: false,
      basis: { catalog: catalog.version, library: library.revision },
      edits: [],
      accept: [],
      lineage: [{ link: found(house)?.id ?? "", opinion, ...(params === undefined ? {} : { params }) }],
      tokens: { used: 0, rebuildEstimate: 0 },
      ...more,
    } as never);
    return answer["report"] as unknown as MaintenanceReport;
  }

  const MEANT = { order_id: "order_id", reason: "note" };

  it("takes the skills back that were bound by it, says so in the report, and the next run binds them anew", async () => {
    const house = await boundByAccepting();
    const report = await hear(house, MEANT);
    expect(found(house)).toMatchObject({ params: MEANT, confirmed: { how: "manager" } });
    expect(report.notes?.join()).toContain(`${LEARNT} went back to its text before`);
    expect(report.library).toBe(house.steward.world().library.revision);
    expect(report.stillInactive.map(({ skill }) => skill)).toContain(LEARNT);
    expect((await standingOf(house)).standing).toBe("inactive");
    expect((await run(house)).applied.map(({ skill }) => skill)).toContain(LEARNT);
    expect(await textOf(house)).toMatch(/`shop\/cancel_purchase` with .*note from reason/);
    expect((await standingOf(house)).standing).toBe("active");
    expect((await run(house)).applied).toEqual([]);
    const causes = (await house.operations.skillHistory(LEARNT)).map(({ edit }) => edit?.cause ?? "");
    expect(
      causes.filter((cause) => cause.includes("the manager (scripted) corrected what shop/cancel_order maps to")),
    ).toHaveLength(1);
  });

  it("refuses what the same run worked out on the text that it takes back, and does not remember that", async () => {
    const house = await boundByAccepting();
    const { files, revision } = await learnt(house);
    const text = (files["SKILL.md"] ?? "").replace("description: ", "description: Now: ");
    const edit = {
      kind: "modify",
      skill: LEARNT,
      cause: "c",
      signature: "s1",
      by: "llm",
      files: { "SKILL.md": text },
      contract: house.steward.world().library.skills.get(LEARNT as SkillName)?.contract,
      evidence: [],
      certain: true,
    };
    const report = await hear(house, MEANT, { edits: [edit] as never });
    expect(report.applied).toEqual([]);
    expect(report.refused).toMatchObject([{ skill: LEARNT, findings: [expect.stringContaining("corrected in this run")] }]);
    expect([...house.steward.world().rejected.keys()]).not.toContain("s1");
    expect(await textOf(house)).toContain("`shop/cancel_order`");
    expect(revision).toBeLessThan(house.steward.world().library.revision);
  });

  it("leaves a pinned one as it is and asks for a look", async () => {
    const house = await boundByAccepting();
    await house.operations.pinSkill(LEARNT, true, person);
    const text = await textOf(house);
    expect((await hear(house, MEANT)).notes?.join()).toContain(`${LEARNT} keeps its text and asks for a look`);
    expect(await textOf(house)).toBe(text);
    expect(await standingOf(house)).toMatchObject({ standing: "active", needsReview: true });
  });

  it.each([
    ["is only advice", MEANT, { lineageByManager: "advice" }, {}],
    ["corrects nothing", undefined, undefined, {}],
    ["is heard by a dry run", MEANT, undefined, { dryRun: true }],
  ])("changes no skill where it %s", async (_how, params, policy, more) => {
    const house = await boundByAccepting(policy);
    const text = await textOf(house);
    const before = house.steward.world().library.revision;
    expect((await hear(house, params, more)).notes).toBeUndefined();
    expect([await textOf(house), house.steward.world().library.revision]).toEqual([text, before]);
    expect((await standingOf(house)).standing).toBe("active");
  });
});
