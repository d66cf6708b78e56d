import { afterEach, describe, expect, it } from "vitest";
import { closeHouses, makeHome, list, openHouse, person } from "../house.js";
import { cancelOrder, claimed, findOrders, learnt, maintain, refundOrder, run, teach } from "./runs.js";

afterEach(closeHouses);

describe("what a skill cites", () => {
  it("is kept whatever the retention, a verdict taken back included, while unverified episodes beside it are forgotten", async () => {
    const home = makeHome(["shop"], { policy: { episodesKeptMs: "1d" } });
    let house = await openHouse(home);
    await list(house, "shop", [findOrders, cancelOrder, refundOrder]);
    await teach(house, [run(1), run(2), run(3, { outcome: claimed })]);
    await maintain(house);
    const { contract } = await house.operations.skill("atomic-cancel-order");
    expect(contract.evidence).toHaveLength(2);
    const cited = contract.evidence.map(({ trajectory }) => trajectory);
    const [first = ""] = cited;
    const episode = (await house.store.readEvidence(first))?.episode ?? "";
    await house.operations.verifyEpisode(episode, { outcome: "failure", trust: "human" }, person);
    const before = await Promise.all(cited.map((digest) => house.store.readEvidence(digest)));
    await house.steward.post({ kind: "tick", at: "2099-01-01T00:00:00.000Z" });
    await house.store.forget();
    await house.stop();
    house = await openHouse(home);
    await house.store.forget();
    expect(house.steward.world().episodes.size).toBe(2);
    const after = await Promise.all(cited.map((digest) => house.store.readEvidence(digest)));
    expect(after).toEqual(before);
    for (const evidence of after) expect(evidence?.calls).toHaveLength(2);
    // The gate can still try the cited calls, and what was proven once is not unlearnt by a verdict that came later.
    expect(learnt((await maintain(house)).applied)).toEqual([]);
    expect((await house.operations.skill("atomic-cancel-order")).standing.standing).toBe("active");
  });
});
