import { describe, expect, it } from "vitest";
import { compareCatalogs } from "../../src/world/compare.js";
import { maintenanceInput } from "../../src/world/due.js";
import { presentTools } from "../../src/world/experience.js";
import { arrive, foresee } from "../../src/world/foresee.js";
import { presentCall } from "../../src/maintain/present-call.js";
import { at, book, library, Library, others } from "./library.js";

describe("a tool under a new name", () => {
  const call = { tool: "lib/find_book", args: { title: "Dune" }, flows: [] };
  const carried = ({ world }: Library): string | undefined =>
    presentCall(call, maintenanceInput(world, "incremental", at))?.tool.key;

  it.each([
    ["reads", "writes"],
    ["reads", "destroys"],
    ["writes", "destroys"],
  ])("that %s once and %s now is held until a person approves it, and nothing learnt is carried over before", (from, to) => {
    const next = book("find_books", to);
    const play = new Library().list(book("find_book", from)).list(next);
    expect([...play.world.lineage.values()].map((link) => [link.from, link.to, link.level])).toEqual([
      ["lib/find_book", ["lib/find_books"], "certain"],
    ]);
    expect(play.held()).toEqual(["lib/find_books"]);
    expect(play.world.holds.held["lib/find_books"]?.reasons[0]).toMatchObject({
      rule: "A1",
      text: expect.stringContaining("lib/find_book, which it took over from,"),
    });
    expect(carried(play)).toBeUndefined();
    expect(presentTools(play.world)({ served: ["lib/find_book"] } as never)).toEqual([]);
    play.approve(next);
    expect(play.held()).toEqual([]);
    expect(carried(play)).toBe("lib/find_books");
    expect(presentTools(play.world)({ served: ["lib/find_book"] } as never)).toEqual(["lib/find_books"]);
    expect([...(maintenanceInput(play.world, "incremental", at).widened ?? [])]).toEqual(["lib/find_books"]);
  });

  it.each([
    ["reads", "reads"],
    ["destroys", "writes"],
    ["destroys", "destroys"],
  ])("that %s once and %s now is free", (from, to) => {
    const play = new Library().list(book("find_book", from)).list(book("find_books", to));
    expect(play.held()).toEqual([]);
    expect(carried(play)).toBe("lib/find_books");
  });

  it("takes the hold of the old one with it, there and back again", () => {
    const play = new Library().list(book("find_book", "reads")).list(book("find_book", "destroys"));
    expect(play.held()).toEqual(["lib/find_book"]);
    for (const name of ["find_books", "find_book", "find_books"]) {
      play.list(book(name, "destroys"));
      expect(play.held()).toEqual([`lib/${name}`]);
    }
    expect(play.list(book("find_book", "reads")).held()).toEqual([]);
  });

  it("is held as well where it was put beside the old one before that left", () => {
    const [old, next] = [book("find_book", "reads"), book("find_books", "destroys")];
    const play = new Library().list(old).list(old, next);
    expect(play.held()).toEqual([]);
    play.list(next);
    const isCertain = [...play.world.lineage.values()].some((link) => link.level === "certain");
    expect(play.held()).toEqual(isCertain ? ["lib/find_books"] : []);
  });

  it("is said to be held by a rehearsal and by the comparison of two catalogs", () => {
    const play = new Library().list(book("find_book", "reads"));
    const next = [...others, book("find_books", "destroys")];
    const prospect = { listings: new Map([[library, { tools: next, problems: [] }]]), whole: false };
    const before = play.world;
    const { catalog } = before;
    const none = { applied: [], skipped: [], proposed: [], refused: [] };
    const after = arrive(before, prospect, at).world;
    const told = compareCatalogs(catalog, after.catalog, {});
    expect(foresee({ before: new Library().list(book("find_book", "reads")).world, after }, none).held).toMatchObject([
      { tool: "lib/find_books", reasons: [{ rule: "A1" }, { rule: "A1" }] },
    ]);
    expect(told.held.map((one) => one.tool)).toEqual(["lib/find_books"]);
  });
});
