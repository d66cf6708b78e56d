/** What an agent at direct exposure is told of the upstreams behind it. */
import { describe, expect, it } from "vitest";
import type { Caller, Operations } from "../../src/model/operations.js";
import { SURFACE_LIMITS } from "../../src/model/policy.js";
import type { UpstreamStatus } from "../../src/model/ports.js";
import { directInstructions } from "../../src/surfaces/mcp/instructions.js";

type Given = { label: string; prefix?: string; says?: string; state?: UpstreamStatus["presence"]["state"] };
const told = (given: readonly Given[], upstreams?: readonly string[]): string | undefined => {
  const statuses = given.map(({ label, prefix, says, state = "up" }) => ({
    label,
    prefix: prefix ?? label,
    instructions: says,
    presence: { state },
  }));
  const operations: Pick<Operations, "upstreams"> = { upstreams: () => statuses as unknown as UpstreamStatus[] };
  const caller: Caller = {
    principal: "mcp",
    rights: new Set(),
    session: undefined,
    upstreams: upstreams === undefined ? undefined : new Set(upstreams),
  };
  return directInstructions(operations, caller);
};

describe("the instructions of direct exposure", () => {
  it("are those of each upstream under its label, by label", () => {
    const text = told([{ label: "zoo", says: "Feed first." }, { label: "ark", says: "Two by two." }, { label: "mute" }]);
    expect(text?.split("\n\n").slice(1)).toEqual([
      "## ark (names begin with ark__)",
      "Two by two.",
      "## zoo (names begin with zoo__)",
      "Feed first.",
    ]);
  });

  it("are an upstream's own where it stands alone under its own names", () => {
    expect(told([{ label: "ark", prefix: "", says: "Two by two." }])).toBe("Two by two.");
    expect(told([{ label: "ark", prefix: "", says: "Two by two." }, { label: "zoo" }])).toContain("## ark (names as they are)");
  });

  it("are none where nobody says anything, where the caller may not use who does, and of upstreams that are not offered", () => {
    expect(told([{ label: "ark" }, { label: "zoo", says: "  " }])).toBeUndefined();
    expect(told([{ label: "ark", says: "Two by two." }], ["zoo"])).toBeUndefined();
    expect(told([{ label: "ark", says: "Two by two.", state: "parked" }])).toBeUndefined();
    expect(told([{ label: "ark", says: "Two by two.", state: "away" }])).toContain("Two by two.");
  });

  it("show no hidden characters [S03] and are cut at a code point, which is said", () => {
    expect(told([{ label: "ark", prefix: "", says: "Two\u{E0041}\u200b by two." }])).toBe("Two by two.");
    const long = told([{ label: "ark", prefix: "", says: "\u{1F600}".repeat(SURFACE_LIMITS.instructionsChars + 5) }]) ?? "";
    expect(long.endsWith("\u{1F600} [cut here: 5 more characters]")).toBe(true);
  });
});
