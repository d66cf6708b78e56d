import { describe, expect, it } from "vitest";
import { joinHeirs, type HeirMeasure } from "../../src/catalog/measure.js";

const EFFECTS = [
  { readOnly: true, destructive: false },
  { readOnly: false, destructive: false },
  { readOnly: false, destructive: true },
] as const;
const digest = "0".repeat(64);

function measure(of: string, hops: number, effect: (typeof EFFECTS)[number]): HeirMeasure {
  const via = Array.from({ length: hops }, (_, n) => ({ from: n === 0 ? of : `${of}_${n}`, to: "lib/heir", came: true }));
  return { of, via, from: { contract: digest, text: digest, document: digest }, accepted: { ...effect, findings: [] } };
}

describe("measures that a tool took over", () => {
  it("are the shortest ways, a bounded number, in an order that does not depend on who came first", () => {
    const crowd = Array.from({ length: 60 }, (_, n) => measure(`lib/t${n}`, 1 + (n % 5), EFFECTS[0]));
    const kept = joinHeirs([], crowd);
    expect(kept).toHaveLength(32);
    expect(joinHeirs(crowd.slice(30), crowd.slice(0, 30).reverse())).toEqual(kept);
    expect(kept.map((one) => one.via.length)).toEqual(kept.map((one) => one.via.length).sort());
    expect(joinHeirs(kept, kept)).toEqual(kept);
  });

  it.each(EFFECTS)("keep the shortest of each effect, however many shorter ones of others come: %j", (effect) => {
    const crowd = EFFECTS.filter((other) => other !== effect).flatMap((other, at) =>
      Array.from({ length: 50 }, (_, n) => measure(`lib/c${at}_${n}`, 1, other)),
    );
    const [near, far] = [measure("lib/near", 3, effect), measure("lib/far", 4, effect)];
    for (const kept of [joinHeirs([near, far], crowd), joinHeirs(joinHeirs([far], crowd), [near])]) {
      expect(kept).toHaveLength(32);
      expect(kept).toContainEqual(near);
    }
  });
});
