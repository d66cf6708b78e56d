import { describe, expect, it } from "vitest";
import { maintenanceInput } from "../../src/world/due.js";
import { at, book, Library } from "./library.js";

describe("names that a hostile catalog gives", () => {
  it("swapped without end leave what is kept of takeovers bounded, and the held tool held", () => {
    const names = ["find_book", "find_books", "search_book"];
    const play = new Library().list(book("find_book", "reads"));
    for (let n = 1; n <= 40; n++) {
      play.list(book(names[n % 3] ?? "", "destroys"));
      expect(play.held()).toEqual([`lib/${names[n % 3]}`]);
    }
    for (const measures of Object.values(play.world.holds.heirs ?? {})) expect(measures.length).toBeLessThanOrEqual(32);
    expect(JSON.stringify(play.world.holds).length).toBeLessThan(60_000);
    expect(maintenanceInput(play.world, "incremental", at).held?.size).toBeGreaterThan(0);
  });

  it("taken in ever other orders keep the shortest ways and no more, and the held tool held", () => {
    const names = ["find_book", "find_books", "search_book", "search_books", "look_up_book", "seek_book", "get_book"];
    const play = new Library().list(book(names[0] ?? "", "reads"));
    let most = 0;
    for (let [n, now] = [1, 0]; n <= 70; n++) {
      now = (now + 1 + ((n * n + (n >> 2)) % (names.length - 1))) % names.length;
      play.list(book(names[now] ?? "", "destroys"));
      expect(play.held()).toEqual([`lib/${names[now]}`]);
      most = Math.max(most, ...Object.values(play.world.holds.heirs ?? {}).map((measures) => measures.length));
    }
    // As many as are kept: there were more.
    expect(most).toBe(32);
  });

  it("exchanged by two tools in one version hold the one that may do more under its old name", () => {
    const play = new Library().list(book("find_book", "reads"), book("burn_shelf", "destroys", "Burns a shelf."));
    play.list(book("burn_shelf", "reads"), book("find_book", "destroys", "Burns a shelf."));
    expect(play.held()).toEqual(["lib/find_book"]);
    expect(play.list(book("find_book", "reads"), book("burn_shelf", "destroys", "Burns a shelf.")).held()).toEqual([
      "lib/burn_shelf",
    ]);
  });

  it("of what every object inherits are names like any other", () => {
    const play = new Library().list(book("__proto__", "reads"), book("constructor", "reads"));
    play.list(book("__proto__", "destroys"), book("constructor", "reads"));
    expect(play.held()).toEqual(["lib/__proto__"]);
    play.approve(book("__proto__", "destroys"));
    expect(play.held()).toEqual([]);
  });
});
