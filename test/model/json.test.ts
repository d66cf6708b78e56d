import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isDeeperThan, JSON_LEVELS, type JsonValue } from "../../src/model/json.js";
import { levels } from "./deep.js";

const depthOf = (value: JsonValue): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

describe("the depth of a value", () => {
  it("is the number of objects and lists that stand in each other, whatever they hold", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat({ max: 8 }), (value, most) => {
        expect(isDeeperThan(value, most)).toBe(depthOf(value as JsonValue) > most);
      }),
    );
  });

  it("is told of values that no recursion survives", () => {
    const endless = JSON.parse(levels(100_000)) as unknown;
    expect(() => JSON.stringify(endless)).toThrow(RangeError);
    expect(isDeeperThan(endless, JSON_LEVELS)).toBe(true);
    expect(isDeeperThan(JSON.parse(levels(JSON_LEVELS)), JSON_LEVELS)).toBe(false);
  });
});
