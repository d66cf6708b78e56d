import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { successors } from "../../src/catalog/lineage.js";
import { linkId } from "../../src/catalog/lineage/link.js";
import type { ToolKey } from "../../src/model/ids.js";
import type { LineageLink } from "../../src/model/lineage.js";

function link(atVersion: number, from: string, to: string | string[], more: Partial<LineageLink> = {}): LineageLink {
  const targets = Array.isArray(to) ? to : [to];
  return {
    id: linkId(atVersion, from, targets),
    kind: targets.length > 1 ? "split" : "renamed",
    from,
    to: targets,
    atVersion,
    level: "certain",
    params: { id: "id" },
    fixedArguments: {},
    score: 1,
    evidence: ["a test"],
    ...more,
  };
}
const follow = (tool: string, since: number, links: readonly LineageLink[], present: readonly string[]) =>
  successors(tool as ToolKey, since, links, (key) => present.includes(key));

describe("what stands in for a tool", () => {
  it("is nothing while the tool is there", () => {
    expect(follow("s/a", 1, [link(2, "s/a", "s/b")], ["s/a", "s/b"])).toBeUndefined();
  });

  it("is nothing where no chain ends at a tool that is there", () => {
    expect(follow("s/a", 1, [link(2, "s/a", "s/b")], [])).toBeUndefined();
    expect(follow("s/a", 1, [], ["s/b"])).toBeUndefined();
  });

  it("is followed over versions, parameters mapped at each step", () => {
    const links = [
      link(2, "s/a", "s/b", { params: { id: "number", note: "note" } }),
      link(5, "s/b", "s/c", { params: { number: "nr" } }),
    ];
    expect(follow("s/a", 1, links, ["s/c"])).toMatchObject({
      to: ["s/c"],
      level: "certain",
      kind: "renamed",
      params: { id: "nr" },
      links: [links[0], links[1]],
    });
  });

  it("carries fixed arguments through later renames of their parameter", () => {
    const links = [
      link(2, "s/get", "s/read", { kind: "merged", fixedArguments: { method: "get" } }),
      link(3, "s/read", "s/query", { params: { id: "id", method: "action" } }),
    ];
    expect(follow("s/get", 1, links, ["s/query"])).toMatchObject({
      fixedArguments: { action: "get" },
      level: "certain",
      kind: "merged",
    });
  });

  it("is only proposed where a fixed argument was lost on the way", () => {
    const links = [
      link(2, "s/get", "s/read", { fixedArguments: { method: "get" } }),
      link(3, "s/read", "s/query", { params: { id: "id" } }),
    ];
    expect(follow("s/get", 1, links, ["s/query"])).toMatchObject({ fixedArguments: {}, level: "proposed" });
  });

  it("is only proposed where one step is, until a person confirms it", () => {
    const weak = link(3, "s/b", "s/c", { level: "proposed" });
    const strong = link(2, "s/a", "s/b");
    expect(follow("s/a", 1, [strong, weak], ["s/c"])?.level).toBe("proposed");
    const confirmed = { ...weak, confirmed: { by: "ana", at: "2031-01-01T00:00:00.000Z" } };
    expect(follow("s/a", 1, [strong, confirmed], ["s/c"])?.level).toBe("certain");
  });

  it("never goes by a rejected link", () => {
    const rejected = link(2, "s/a", "s/b", { rejected: { by: "ana", at: "2031-01-01T00:00:00.000Z" } });
    expect(follow("s/a", 1, [rejected], ["s/b"])).toBeUndefined();
  });

  it("goes on from the version at which the tool was known", () => {
    const links = [link(2, "s/a", "s/b"), link(6, "s/a", "s/c")];
    expect(follow("s/a", 1, links, ["s/b", "s/c"])?.to).toEqual(["s/b"]);
    expect(follow("s/a", 4, links, ["s/b", "s/c"])?.to).toEqual(["s/c"]);
  });

  it("works back as well as forth", () => {
    const links = [link(2, "s/a", "s/b"), link(3, "s/b", "s/a"), link(4, "s/a", "s/b")];
    expect(follow("s/b", 2, links, ["s/a"])?.to).toEqual(["s/a"]);
    expect(follow("s/a", 1, links, ["s/b"])?.to).toEqual(["s/b"]);
    expect(follow("s/a", 3, links, ["s/b"])?.to).toEqual(["s/b"]);
  });

  it("is every part of a split, each followed on, and proposed where a part is lost", () => {
    const links = [
      link(2, "s/ship", ["s/pack", "s/send"], { params: { order: "order", carrier: "carrier" } }),
      link(3, "s/send", "s/dispatch", { params: { carrier: "by" } }),
    ];
    expect(follow("s/ship", 1, links, ["s/pack", "s/dispatch"])).toMatchObject({
      to: ["s/pack", "s/dispatch"],
      kind: "split",
      level: "certain",
    });
    expect(follow("s/ship", 1, links, ["s/dispatch"])).toMatchObject({
      to: ["s/dispatch"],
      level: "proposed",
      params: { carrier: "by" },
    });
  });

  it("is one tool where the parts of a split were merged again", () => {
    const links = [link(2, "s/a", ["s/b", "s/c"]), link(3, "s/b", "s/d"), link(3, "s/c", "s/d")];
    expect(follow("s/a", 1, links, ["s/d"])?.to).toEqual(["s/d"]);
  });
});

describe("over any links", () => {
  const key = fc.constantFrom("s/a", "s/b", "s/c", "s/d", "s/e");
  const arbitraryLink = fc
    .record({
      at: fc.integer({ min: 1, max: 8 }),
      from: key,
      to: fc.uniqueArray(key, { minLength: 1, maxLength: 3 }),
      level: fc.constantFrom("certain" as const, "proposed" as const),
      rejected: fc.boolean(),
      params: fc.dictionary(fc.constantFrom("id", "x", "constructor"), fc.constantFrom("id", "x", "y")),
    })
    .map(({ at, from, to, level, rejected, params }) =>
      link(at, from, to, { level, params, ...(rejected ? { rejected: { by: "ana", at: "2031-01-01T00:00:00.000Z" } } : {}) }),
    );

  it("a chain ends, at tools that are there, by links of rising versions that nobody rejected", () => {
    fc.assert(
      fc.property(
        fc.array(arbitraryLink, { maxLength: 12 }),
        key,
        fc.integer({ min: 0, max: 8 }),
        fc.uniqueArray(key),
        (links, tool, since, present) => {
          const found = follow(tool, since, links, present);
          if (found === undefined) return;
          expect(present).not.toContain(tool);
          expect(found.to.length).toBeGreaterThan(0);
          expect(new Set(found.to).size).toBe(found.to.length);
          for (const to of found.to) expect(present).toContain(to);
          for (const step of found.links) {
            expect(step.rejected).toBeUndefined();
            expect(step.atVersion).toBeGreaterThan(since);
          }
          if (found.level === "certain") for (const step of found.links) expect(step.level).toBe("certain");
        },
      ),
    );
  });

  it("the order of the links does not matter", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(arbitraryLink, { maxLength: 10, selector: (one) => one.id }),
        key,
        fc.uniqueArray(key),
        (links, tool, present) => {
          expect(follow(tool, 0, [...links].reverse(), present)).toEqual(follow(tool, 0, links, present));
        },
      ),
    );
  });

  it("links of a world give what a list of them gives, asked once or often, before and after a word on one", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(arbitraryLink, { maxLength: 10, selector: (one) => one.id }),
        fc.array(key, { minLength: 1 }),
        fc.uniqueArray(key),
        fc.nat(),
        (links, tools, present, at) => {
          const isThere = (one: string): boolean => present.some((other) => other === one);
          const rejected = links.map((one, n): LineageLink => {
            return n === at % links.length
              ? { ...one, rejected: { by: "somebody", at: "2030-01-01T00:00:00.000Z", how: "person" } }
              : one;
          });
          for (const those of [links, rejected]) {
            const world = new Map(those.map((one) => [one.id, one]));
            for (const tool of [...tools, ...tools])
              expect(successors(tool as ToolKey, 0, world, isThere)).toEqual(follow(tool, 0, those, present));
          }
        },
      ),
    );
  });
});
