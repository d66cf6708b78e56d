import { afterEach, describe, expect, it } from "vitest";
import type { SkillName } from "../../src/model/ids.js";
import type { JsonObject } from "../../src/model/json.js";
import type { RecordedEpisode } from "../../src/model/recorded.js";
import { closeHouses } from "../house.js";
import { get, payBack, SKILL } from "./merged.js";
import { maintain, shopHouse, teach, verified } from "./runs.js";

afterEach(closeHouses);

/** A customer is looked up, then their order by the same tool, and the order is paid back. `before`: looks that came to nothing. */
function payBackRun(n: number, before: readonly JsonObject[] = []): RecordedEpisode {
  const look = (args: JsonObject, result: JsonObject) => ({ name: "shop/get", args, result });
  return {
    source: `pay back ${n}`,
    task: `Give customer ${n} back what they paid`,
    calls: [
      ...before.map((args) => look(args, { name: "nobody" })),
      look({ kind: "customer", id: `CUST-${n}` }, { name: `Name ${n}`, order_id: `ORD-${n}00` }),
      look({ kind: "order", id: `ORD-${n}00` }, { item: `Item ${n}`, total: `TOT-${n}77` }),
      { name: "shop/pay_back", args: { order_id: `ORD-${n}00`, total: `TOT-${n}77` }, result: { ok: true } },
    ],
    outcome: verified,
  };
}
async function bodyFrom(episodes: readonly RecordedEpisode[]): Promise<string> {
  const house = await shopHouse({}, [get(), payBack]);
  await teach(house, episodes);
  await maintain(house);
  const body = (): string => house.steward.world().library.skills.get(SKILL as SkillName)?.body ?? "";
  const first = body();
  await maintain(house, { mode: "rebuild", accept: ["*"] });
  expect(body()).toBe(first);
  const { standing } = await house.operations.skill(SKILL);
  expect(standing.standing).toBe("active");
  return first;
}

const STEPS = [
  '1. Get: `shop/get` with kind = "customer" and id from the request.',
  '2. Get: `shop/get` with kind = "order" and id from order_id of step 1.',
  "3. Pay back: `shop/pay_back` with order_id from step 1 and total from step 2.",
];

describe("one tool that runs called in two modes", () => {
  it("is two steps of what is learnt, each with its mode and the one taking from the other", async () => {
    const body = await bodyFrom([payBackRun(1), payBackRun(2)]);
    for (const step of STEPS) expect(body).toContain(step);
  });

  it("is a step for each mode that something was taken from: looks before it that came to nothing are none", async () => {
    const vain = [
      { kind: "order", id: "ORD-?" },
      { kind: "customer", id: "CUST-?" },
    ];
    const body = await bodyFrom([payBackRun(1, vain), payBackRun(2, vain.slice(1))]);
    for (const step of STEPS) expect(body).toContain(step);
    expect(body.match(/`shop\/get` with/g)).toHaveLength(2);
  });

  it("is one step where the other mode was tried on the very thing and gave nothing that was taken", async () => {
    const tried = (n: number): RecordedEpisode => {
      const { calls, ...rest } = payBackRun(n, [{ kind: "customer", id: `ORD-${n}00` }]);
      return { ...rest, calls: calls.filter((call) => call.args["id"] !== `CUST-${n}`) };
    };
    const body = await bodyFrom([tried(1), tried(2)]);
    expect(body.match(/`shop\/get` with/g)).toHaveLength(1);
    expect(body).toContain("2. Pay back: `shop/pay_back` with order_id from the request and total from step 1.");
  });

  it("is not one ability with its modes in another order", async () => {
    const other = (n: number): RecordedEpisode => {
      const { calls, ...rest } = payBackRun(n);
      const swapped = calls.map((call) =>
        call.name === "shop/get"
          ? { ...call, args: { ...call.args, kind: call.args["kind"] === "order" ? "customer" : "order" } }
          : call,
      );
      return { ...rest, calls: swapped };
    };
    // Two went the one way and one the other: the way of the two is learnt, and in no slot the other has a say.
    const body = await bodyFrom([other(3), payBackRun(1), payBackRun(2)]);
    for (const step of STEPS) expect(body).toContain(step);
  });
});

describe("one tool that runs called again in one mode", () => {
  it("is one step: the earlier calls were the search for it", async () => {
    const searched = (n: number): RecordedEpisode => {
      const { calls, ...rest } = payBackRun(n);
      const again = {
        name: "shop/get",
        args: { kind: "order", id: `ORD-${n}0` },
        result: { item: "another", total: `TOT-${n}77` },
      };
      return { ...rest, calls: [again, ...calls.slice(1)] };
    };
    const body = await bodyFrom([searched(1), searched(2)]);
    expect(body.match(/`shop\/get` with/g)).toHaveLength(1);
  });
});
