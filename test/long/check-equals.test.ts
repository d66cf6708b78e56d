import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { House } from "../../src/compose.js";
import type { JsonObject, JsonValue } from "../../src/model/json.js";
import type { MaintenanceReport } from "../../src/model/maintenance.js";
import type { CheckAnswer } from "../../src/surfaces/cli/access.js";
import { questionId } from "../../src/world/samples.js";
import { closeHouses, list } from "../house.js";
import { cancelOrder, findOrders, maintain, refundOrder, run, shopHouse, teach } from "../maintain/runs.js";
import { openDesk, type Desk } from "../surfaces/cli/stand.js";

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(async () => {
  desk.drop();
  await closeHouses();
});

/** The tool for cancelling with another schema for a parameter, under another name where one is given. */
function moved(properties: Record<string, JsonValue>, name = "cancel_order"): JsonObject[] {
  const schema = cancelOrder["inputSchema"] as JsonObject;
  const inputSchema = { ...schema, properties: { ...(schema["properties"] as JsonObject), ...properties } };
  return [findOrders, { ...cancelOrder, name, inputSchema }, refundOrder];
}

const pattern = (text: string): JsonObject => ({ type: "string", pattern: text });
/** Does not end on a text of so many letters that is not all letters. */
const ENDLESS = "^([a-z ]+)+$";

const CATALOGS: readonly [string, readonly JsonObject[]][] = [
  ["a pattern that recorded calls match", moved({ order_id: pattern("^ORDER-\\d+$") })],
  ["a pattern that they do not match", moved({ order_id: pattern("^O-\\d+$") })],
  ["a pattern in one branch of a union", moved({ reason: { anyOf: [pattern("^because "), pattern("mind$")] } })],
  [
    "a pattern within a pattern's branch",
    moved({ reason: { anyOf: [pattern("^x"), { allOf: [pattern("^c"), pattern("d$")] }] } }),
  ],
  ["a pattern that is none", moved({ reason: pattern("(") })],
  ["patterns on two parameters, one of them wrong", moved({ order_id: pattern("^ORDER"), reason: pattern("^why") })],
  ["an enum that a recorded call hits", moved({ reason: { type: "string", enum: ["changed my mind"] } })],
  ["an enum that it does not", moved({ reason: { type: "string", enum: ["other"] } })],
  ["another name", moved({}, "cancelOrder")],
  ["another name, and a pattern that recorded calls do not match", moved({ order_id: pattern("^O-\\d+$") }, "cancelOrder")],
  [
    "another name, and an enum that a recorded call does not fit",
    moved({ reason: { type: "string", enum: ["x"] } }, "cancelOrder"),
  ],
  ["a tool less", [findOrders, refundOrder]],
  ["a tool more", [findOrders, cancelOrder, refundOrder, { ...refundOrder, name: "pay_back", description: "Pays back." }]],
  ["nothing", [findOrders, cancelOrder, refundOrder]],
];

async function taught(): Promise<House> {
  const house = await shopHouse();
  await teach(house, [run(1), run(2), run(3, { task: "Pay back what customer 3 paid.", refund: true })]);
  await maintain(house);
  return house;
}

/** Patterns that the daemon set out to run. */
function followed(house: House): () => boolean {
  const asked = new Set<string>();
  house.steward.onEffect((effect) => {
    if (effect.kind === "run-patterns") for (const question of effect.questions) asked.add(questionId(question));
  });
  return () => [...asked].every((id) => house.steward.world().patterns.has(id));
}

/** Standings as a daemon has them once its patterns are answered. */
async function settled(house: House, isAnswered: () => boolean = () => true): Promise<Record<string, unknown>> {
  for (let n = 0; n < 1_000 && !isAnswered(); n += 1) await new Promise((next) => setTimeout(next, 25));
  await house.steward.settled();
  expect(isAnswered()).toBe(true);
  return Object.fromEntries(
    [...house.steward.world().standings].map(([name, { standing, needsReview, safeByUsage }]) => [
      name,
      { standing, needsReview, safe: safeByUsage === true },
    ]),
  );
}

/** What the check says becomes of each skill: those that it does not name stay as they were. */
function foreseen(answer: CheckAnswer, before: Record<string, unknown>): Record<string, unknown> {
  const skills = answer.skills.map(({ skill, after }) => [
    skill,
    { standing: after.standing, needsReview: after.needsReview, safe: after.safeByUsage === true },
  ]);
  return { ...before, ...(Object.fromEntries(skills) as Record<string, unknown>) };
}

const edits = (report: Pick<MaintenanceReport, "applied" | "proposed" | "refused">): string[] =>
  (["applied", "proposed", "refused"] as const)
    .flatMap((how) =>
      report[how].map((edit) => `${how} ${edit.kind} ${edit.skill}${"findings" in edit ? `: ${edit.findings.join(" ")}` : ""}`),
    )
    .sort();

describe("what a check says and what a daemon does", () => {
  it.each(CATALOGS)("are the same where a release brings %s", async (_what, tools) => {
    const house = await taught();
    const before = await settled(house);
    const file = desk.file(
      "next.json",
      tools.map((tool) => ({ ...tool, server: "shop" })),
    );
    const said = await desk.run("check", "--against", file, "--json", "--home", house.home);
    const answer = JSON.parse(said.out) as CheckAnswer;
    const isAnswered = followed(house);
    await list(house, "shop", tools);
    expect(foreseen(answer, before)).toEqual(await settled(house, isAnswered));
    const ran = await maintain(house, { dryRun: true });
    expect(edits(answer.maintenance)).toEqual(edits(ran));
  });

  it("are the same for a pattern that does not end on a recorded text: both leave it undecided", async () => {
    const house = await shopHouse();
    const endless = (n: number) => {
      const one = run(n);
      const reason = `${"a".repeat(40)} ${n}!`;
      return {
        ...one,
        calls: one.calls.map((call) => (call.name === "shop/cancel_order" ? { ...call, args: { ...call.args, reason } } : call)),
      };
    };
    await teach(house, [endless(1), endless(2)]);
    await maintain(house);
    const before = await settled(house);
    const tools = moved({ reason: pattern(ENDLESS) });
    const file = desk.file(
      "next.json",
      tools.map((tool) => ({ ...tool, server: "shop" })),
    );
    const answer = JSON.parse((await desk.run("check", "--against", file, "--json", "--home", house.home)).out) as CheckAnswer;
    const isAnswered = followed(house);
    await list(house, "shop", tools);
    expect(foreseen(answer, before)).toEqual(await settled(house, isAnswered));
    expect([...house.steward.world().patterns.values()]).toContain(null);
  });
});
