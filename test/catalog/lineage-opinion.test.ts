import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isInForce, speakerOf, withOpinion, type Speaker } from "../../src/catalog/lineage/opinion.js";
import type { LineageLink, LineageOpinion, LineageVerdict } from "../../src/model/lineage.js";

const LINK: LineageLink = {
  id: "l1",
  kind: "renamed",
  from: "desk/a",
  to: ["desk/b"],
  atVersion: 2,
  level: "proposed",
  params: { x: "y" },
  fixedArguments: {},
  score: 0.5,
  evidence: [],
};

const verdict = (opinion: Partial<LineageOpinion>, params?: Record<string, string>): LineageVerdict => ({
  link: "l1",
  opinion: { how: "manager", verdict: "confirm", by: "m", at: "t", basis: "b", why: "", evidence: [], ...opinion },
  params,
});

const RANK: Readonly<Record<Speaker, number>> = { manager: 1, replay: 2, person: 3 };
const words = fc.array(
  fc.record({
    how: fc.constantFrom<Speaker>("manager", "replay", "person"),
    verdict: fc.constantFrom<"confirm" | "reject">("confirm", "reject"),
  }),
  { maxLength: 8 },
);

/** As decide does it: a person's word replaces whatever stands. */
function spoken(all: readonly { how: Speaker; verdict: "confirm" | "reject" }[]): LineageLink {
  return all.reduce<LineageLink>((link, { how, verdict: said }, n) => {
    if (how !== "person") return withOpinion(link, verdict({ how, verdict: said, at: String(n) }), true);
    const { confirmed: _confirmed, rejected: _rejected, ...rest } = link;
    const word = { by: "ana", at: String(n), how };
    return said === "confirm" ? { ...rest, confirmed: word } : { ...rest, rejected: word };
  }, LINK);
}

describe("whose word stands on a link", () => {
  it("is the last one of the highest rank that spoke: a person, then a replay, then a manager", () => {
    fc.assert(
      fc.property(words, (all) => {
        const link = spoken(all);
        const best = Math.max(0, ...all.map(({ how }) => RANK[how]));
        const last = all.findLastIndex(({ how }) => RANK[how] === best);
        const word = link.confirmed ?? link.rejected;
        expect(link.confirmed === undefined || link.rejected === undefined).toBe(true);
        expect(word === undefined).toBe(last < 0);
        if (last < 0) return;
        expect([word?.at, word === undefined ? undefined : speakerOf(word)]).toEqual([String(last), all[last]?.how]);
        expect(link.confirmed !== undefined).toBe(all[last]?.verdict === "confirm");
      }),
    );
  });

  it("every look is remembered, the newest of each kind, whether it counts or not", () => {
    fc.assert(
      fc.property(words, fc.boolean(), (all, counts) => {
        const machines = all.filter(({ how }) => how !== "person");
        const link = machines.reduce<LineageLink>(
          (one, { how, verdict: said }, n) =>
            withOpinion(one, verdict({ how: how as "manager", verdict: said, at: String(n) }), counts),
          LINK,
        );
        for (const how of ["manager", "replay"] as const) {
          const last = machines.findLastIndex((word) => word.how === how);
          expect(link.opinions?.filter((opinion) => opinion.how === how).map(({ at }) => at) ?? []).toEqual(
            last < 0 ? [] : [String(last)],
          );
        }
        if (!counts) expect([link.confirmed, link.rejected, link.params]).toEqual([undefined, undefined, LINK.params]);
      }),
    );
  });

  it("advice changes nothing that skills rest on, and is not in force", () => {
    const advised = withOpinion(LINK, verdict({}, { x: "z" }), false);
    expect(advised).toEqual({ ...LINK, opinions: [verdict({}).opinion] });
    expect(isInForce(advised, verdict({}).opinion)).toBe(false);
  });

  it("a correction of the parameters keeps what was proposed, however often it is corrected", () => {
    const once = withOpinion(LINK, verdict({}, { x: "z" }), true);
    expect([once.params, once.proposedParams]).toEqual([{ x: "z" }, { x: "y" }]);
    const twice = withOpinion(once, verdict({ at: "u" }, {}), true);
    expect([twice.params, twice.proposedParams]).toEqual([{}, { x: "y" }]);
  });

  it("an undecided look takes back its own speaker's word and nobody else's", () => {
    const rejected = withOpinion(LINK, verdict({ verdict: "reject" }), true);
    expect(withOpinion(rejected, verdict({ verdict: "leave", at: "u" }), true).rejected).toBeUndefined();
    const shown = withOpinion(LINK, verdict({ how: "replay" }), true);
    expect(withOpinion(shown, verdict({ verdict: "leave", at: "u" }), true).confirmed).toEqual(shown.confirmed);
  });
});
