import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { SkillName } from "../../src/model/ids.js";
import type { LineageLink } from "../../src/model/lineage.js";
import type { MaintenanceReport } from "../../src/model/maintenance.js";
import { proposeByRules } from "../../src/maintain/propose.js";
import { maintenanceInput } from "../../src/world/due.js";
import { outlookOf } from "../../src/world/outlook.js";
import { computeStandings } from "../../src/world/standings.js";
import type { World } from "../../src/world/world.js";
import { closeHouses, later, list, person, tool } from "../house.js";
import { get, payBack, payingHouse, SKILL } from "./merged.js";
import { maintain } from "./runs.js";

afterEach(closeHouses);

const bodyOf = (house: Awaited<ReturnType<typeof payingHouse>>): string =>
  house.steward.world().library.skills.get(SKILL as SkillName)?.body ?? "";

async function confirmAll(house: Awaited<ReturnType<typeof payingHouse>>): Promise<void> {
  for (const link of await house.operations.lineage()) await house.operations.judgeLineage(link.id, "confirm", person);
}

describe("two tools of a skill that became modes of one", () => {
  it("stay two steps, each with its mode, and are so after a rebuild from the old runs as well", async () => {
    const house = await payingHouse();
    await list(house, "shop", [get(), payBack]);
    await confirmAll(house);
    const report = await maintain(house);
    expect(report.applied.map(({ skill }) => skill)).toContain(SKILL);
    const steps = [
      '1. Get customer: `shop/get` with kind = "customer" and id from the request.',
      '2. Get order: `shop/get` with kind = "order" and id from order_id of step 1.',
      "3. Pay back: `shop/pay_back` with order_id from step 1 and total from step 2.",
    ];
    for (const step of steps) expect(bodyOf(house)).toContain(step);
    await maintain(house, { mode: "rebuild", accept: ["*"] });
    expect(bodyOf(house).match(/`shop\/get` with kind = "(customer|order)"/g)).toHaveLength(2);
    expect(report.stillInactive).toEqual([]);
  });

  it("are proposed with what a person should look at, where the one no longer promises what a step reads", async () => {
    const house = await payingHouse();
    await list(house, "shop", [get([]), payBack]);
    await confirmAll(house);
    const report = await maintain(house);
    const proposed = report.proposed.find(({ skill }) => skill === SKILL);
    expect(proposed?.evidence.join("\n")).toContain("a person should look, shop/get_customer → shop/get");
    expect(report.stillInactive).toMatchObject([{ skill: SKILL, way: `\`steward maintain --accept ${SKILL}\` takes it` }]);
    await maintain(house, { accept: [SKILL] });
    expect((await house.operations.skill(SKILL)).standing.standing).toBe("active");
  });

  it("rest with the very reason where the one gives nothing that a step reads", async () => {
    const house = await payingHouse();
    const blind = { ...get([]), outputSchema: { type: "object", properties: { name: { type: "string" } } } };
    await list(house, "shop", [blind, payBack]);
    await confirmAll(house);
    const [row] = (await maintain(house)).stillInactive.filter(({ skill }) => skill === SKILL);
    expect(row?.tried).toMatch(
      /No exact edit puts shop\/get in place of shop\/get_\w+: the output field \w+ is not in what shop\/get yields/,
    );
  });
});

const OLD = ["shop/get_customer", "shop/get_order", "shop/pay_back"] as const;
const NEW = ["shop/get", "shop/pay", "shop/find"] as const;

const anyLink = fc.record({
  from: fc.constantFrom(...OLD),
  to: fc.uniqueArray(fc.constantFrom(...NEW, "shop/gone"), { minLength: 1, maxLength: 3 }),
  kind: fc.constantFrom("renamed" as const, "split" as const, "merged" as const, "superseded" as const),
  level: fc.constantFrom("certain" as const, "proposed" as const),
  params: fc.dictionary(fc.constantFrom("id", "order_id", "total"), fc.constantFrom("id", "order_id", "sum", "nothing")),
  fixedArguments: fc.dictionary(fc.constantFrom("kind", "id", "odd"), fc.constantFrom("customer", "order")),
  word: fc.constantFrom("none" as const, "confirmed" as const, "rejected" as const),
});

function worldWith(world: World, drawn: readonly (typeof anyLink extends fc.Arbitrary<infer Link> ? Link : never)[]): World {
  const links = drawn.map(({ word, ...rest }, n): LineageLink => {
    const said = { by: "ana", at: "2027-01-01T00:00:00.000Z" };
    const link = { ...rest, id: `link${n}`, atVersion: 2, score: 0.9, evidence: ["drawn"] };
    return word === "none" ? link : { ...link, [word]: said };
  });
  const known = { ...world, lineage: new Map(links.map((link) => [link.id, link])) };
  return { ...known, standings: computeStandings(known, known.library.skills.keys()) };
}

function runOn(world: World, accept: readonly string[] = []): { report: MaintenanceReport; after: World } {
  const at = later();
  return outlookOf(world, {
    kind: "maintenance-proposed",
    at,
    id: "mt_law",
    mode: "incremental",
    dryRun: false,
    basis: { catalog: world.catalog.version, library: world.library.revision },
    edits: proposeByRules(maintenanceInput(world, "incremental", at, [], accept)),
    accept: [...accept],
    tokens: { used: 0, rebuildEstimate: 0 },
  });
}

describe("a run, whatever is known of takeovers", () => {
  it(
    "names every skill that rests after it once, with the cause, what was tried, and a way out that fits",
    { timeout: 120_000 },
    async () => {
      const house = await payingHouse();
      const text =
        "---\nname: by-hand\ndescription: Looks at an order.\n---\n\n## Steps\n1. Look: `shop/get_order` with id from the request.\n";
      await house.operations.importSkills([{ folder: "by-hand", files: { "SKILL.md": text } }], person);
      await house.operations.pinSkill("tool-shop-pay-back", true, person);
      const pay = tool("pay", { required: ["order_id", "sum"], writes: true });
      const find = tool("find", { required: ["id"], optional: ["total"], outputs: ["order_id", "total"] });
      await list(house, "shop", [get(), pay, find]);
      const bare = house.steward.world();
      const seen = { applied: 0, proposed: 0, why: new Set<string>() };
      fc.assert(
        fc.property(fc.array(anyLink, { maxLength: 6 }), fc.boolean(), (drawn, all) => {
          const world = worldWith(bare, drawn);
          const { report, after } = runOn(world, all ? ["*"] : []);
          const resting = [...after.standings].filter(([, { standing }]) => standing === "inactive").map(([name]) => name);
          expect(report.stillInactive.map(({ skill }) => skill)).toEqual([...resting].sort());
          const takers = new Set([...report.proposed, ...report.refused].map(({ skill }) => skill));
          for (const { skill, reason, tried = "", way } of report.stillInactive) {
            expect(reason).not.toBe("");
            expect(tried).toMatch(/^[A-Z].*[.!]$/s);
            // Tools of its own left: no row may say that nothing of it moved.
            expect(tried).not.toMatch(/^Nothing(:| of its own:)|^None of its own/);
            if (takers.has(skill)) expect(tried).toMatch(/is proposed|was refused/);
            const link = /lineage confirm (\S+?)`/.exec(way ?? "")?.[1];
            if (link !== undefined) expect(world.lineage.get(link)).toMatchObject({ level: "proposed" });
            seen.why.add(tried.slice(0, 30));
          }
          seen.applied += report.applied.length;
          seen.proposed += report.proposed.length;
          for (const edit of report.applied) expect(["skip", "keep"]).not.toContain(edit.kind);
        }),
        { numRuns: 150, seed: 7 },
      );
      expect(seen.applied).toBeGreaterThan(0);
      expect(seen.proposed).toBeGreaterThan(0);
      expect(seen.why.size).toBeGreaterThan(4);
    },
  );
});

describe("a resting skill", () => {
  it("shows first what somebody can do something about, with the command, whatever else it rests for", async () => {
    const house = await payingHouse();
    const changed = { ...payBack, annotations: { readOnlyHint: false, destructiveHint: true } };
    // One tool left for good, and one waits for a person.
    await list(house, "shop", [tool("elsewhere"), changed]);
    const { reasons } = (await house.operations.skill(SKILL)).standing;
    expect(reasons.map(({ on, way }) => [on, way])).toEqual([
      ["shop/pay_back", "`steward catalog approve shop/pay_back` if it may be called as it is now"],
      ["shop/get_customer", undefined],
      ["shop/get_order", undefined],
    ]);
    const [row] = (await maintain(house)).stillInactive.filter(({ skill }) => skill === SKILL);
    expect(row).toMatchObject({ reason: reasons[0]?.text, tried: "Nothing is known to have taken over from shop/get_customer." });
  });

  it("that is pinned says that it has to be unpinned first, and no longer once it is", async () => {
    const house = await payingHouse();
    await list(house, "shop", [get([]), payBack]);
    await confirmAll(house);
    const first = async (): Promise<string | undefined> => (await house.operations.skill(SKILL)).standing.reasons[0]?.way;
    expect(await first()).toContain(`steward maintain --accept ${SKILL}`);
    await house.operations.pinSkill(SKILL, true, person);
    expect(await first()).toContain(`steward skills unpin ${SKILL}`);
    const [row] = (await maintain(house)).stillInactive;
    expect(row?.tried).toContain("It is pinned");
    await house.operations.pinSkill(SKILL, false, person);
    expect(await first()).toContain(`steward maintain --accept ${SKILL}`);
  });
});

describe("an edit that was refused once", () => {
  it("is told of with when and why, and judged again when a person accepts it by its name", async () => {
    const house = await payingHouse();
    await list(house, "shop", [get([]), payBack]);
    await confirmAll(house);
    const world = house.steward.world();
    const [edit] = proposeByRules(maintenanceInput(world, "incremental", later())).filter(({ skill }) => skill === SKILL);
    const refused = { skill: SKILL, why: "It lost a tool.", at: "2027-01-01T00:00:00.000Z" };
    const before = { ...world, rejected: new Map([[edit?.signature ?? "", refused]]) };
    const row = runOn(before).report.stillInactive.find(({ skill }) => skill === SKILL);
    expect(row?.tried).toContain("refused at 2027-01-01T00:00:00.000Z: It lost a tool.");
    const applied = ({ report }: ReturnType<typeof runOn>): string[] => report.applied.map(({ skill }) => skill);
    expect(applied(runOn(before, ["*"]))).not.toContain(SKILL);
    const { report, after } = runOn(before, [SKILL]);
    expect(applied({ report, after })).toContain(SKILL);
    expect(after.standings.get(SKILL as SkillName)?.standing).toBe("active");
  });
});
