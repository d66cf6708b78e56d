import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { qualifyName, qualifyUri, resultId, splitName, splitUri } from "../../src/surfaces/mcp/qualify.js";

const label = fc.stringMatching(/^[A-Za-z0-9._-]{1,32}$/).filter((text) => !text.includes("__") && !text.endsWith("_"));
const uri = fc.oneof(
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc.string({ minLength: 1 }),
  fc.constantFrom(
    "file:///a/../b",
    "test://template/{id}/data",
    "steward://upstream/other/x",
    "a:b",
    "skill://docs/pdf/SKILL.md",
    "skill://upstream/x/y",
  ),
);

describe("names of what belongs to an upstream", () => {
  it("lead back to the upstream and its own spelling, for every label and URI", () => {
    fc.assert(
      fc.property(label, uri, (of, own) => {
        expect(splitUri(qualifyUri(of, of, own))).toEqual({ label: of, own });
      }),
    );
  });

  it("lead back for every label and prompt name, names with underscores too", () => {
    fc.assert(
      fc.property(label, fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom("_a", "__a", "a__b")), (of, own) => {
        expect(splitName(qualifyName(of, undefined, own))).toEqual({ label: of, own });
      }),
    );
  });

  it("are the upstream's own where its prefix is empty", () => {
    expect(qualifyUri("conf", "", "test://x")).toBe("test://x");
    expect(qualifyName("conf", "", "simple")).toBe("simple");
    expect(splitUri("test://x")).toBeUndefined();
  });

  it("are kept apart from kept results", () => {
    expect(resultId("steward://results/r1")).toBe("r1");
    expect(resultId("steward://upstream/shop/steward://results/r1")).toBeUndefined();
    expect(splitUri("steward://results/r1")).toBeUndefined();
  });
});
