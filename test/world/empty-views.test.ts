import { afterEach, describe, expect, it } from "vitest";
import type { House } from "../../src/compose.js";
import type { View } from "../../src/model/facade.js";
import { closeHouses, list, makeHome, openHouse, person, tool } from "../house.js";

afterEach(closeHouses);

const SKILLS = ["book", "move", "drop"].map((verb) => ({
  folder: `atomic-${verb}-table`,
  files: {
    "SKILL.md": `---\nname: "atomic-${verb}-table"\ndescription: "${verb} a table for a quantity of guests."\nmetadata:\n  steward-tier: "atomic"\n---\n\n1. Call \`inn/${verb}_table\` with the quantity from the request.\n`,
  },
}));

async function inn(): Promise<House> {
  const house = await openHouse(makeHome(["inn"]));
  const tools = ["book", "move", "drop"].map((verb) =>
    tool(`${verb}_table`, { required: ["quantity"], description: `${verb} a table for a quantity of guests.`, writes: true }),
  );
  await list(house, "inn", tools);
  await house.operations.importSkills(SKILLS, person);
  return house;
}
const noticesOf = (view: View): string[] => (view.notices ?? []).map(({ code }) => code);
const ask = {
  retrieve: async (house: House, text: string) => (await house.operations.retrieveTools({ query: text }, person)).body,
  explore: async (house: House, text: string) => (await house.operations.exploreCapabilities({ need: text }, person)).body,
  start: async (house: House, text: string) => (await house.operations.startTask({ task: text }, person)).body,
};

describe("an answer in which nothing is given", () => {
  it.each(Object.entries(ask))("says so for every kind of request, with nothing beside it: %s", async (_kind, request) => {
    const house = await inn();
    for (const need of ["quantum teleportation", "quantum", "zzzz", "   ", "the of and", "?!", "🎉"]) {
      const view = await request(house, need);
      expect(view.tools, need).toEqual([]);
      expect(view.skills ?? [], need).toEqual([]);
      expect(noticesOf(view), need).toContain("nothing-fits");
    }
    const blank = await request(house, " ");
    expect(blank.notices?.find(({ code }) => code === "nothing-fits")?.text).toMatch(/no word to search for/);
  });

  it.each(Object.entries(ask))("is not said where something is given: %s", async (_kind, request) => {
    const view = await request(await inn(), "book a table");
    expect(view.tools.map((one) => one.tool)).toContain("inn/book_table");
    expect(noticesOf(view)).not.toContain("nothing-fits");
  });

  it.each(Object.entries(ask))("is told from one that a single by-word found: %s", async (_kind, request) => {
    const house = await openHouse(makeHome(["inn"]));
    const rooms = Array.from({ length: 60 }, (_, n) =>
      tool(`room_${n}`, { description: `Tells the guest of room ${n} when the kitchen opens; modern rooms have a bath.` }),
    );
    await list(house, "inn", [...rooms, tool("book_table", { description: "Books a table for guests." })]);
    const found = await request(house, "who painted the modern portraits of the reformation");
    expect(noticesOf(found).filter((code) => code === "weak-match" || code === "nothing-fits")).toHaveLength(1);
    expect(noticesOf(await request(house, "book a table for guests"))).not.toContain("weak-match");
  });

  it("names an empty catalog as the cause", async () => {
    const house = await openHouse(makeHome([]));
    const view = await ask.retrieve(house, "book a table");
    expect(view.notices).toEqual([{ code: "nothing-fits", text: "There is nothing to search: no tool is in the catalog." }]);
  });

  it("asks whether another word was meant where one letter makes the difference, and replays", async () => {
    const house = await inn();
    const view = await ask.retrieve(house, "tabel");
    expect(view.unmatched).toEqual(["tabel"]);
    expect(view.notices).toContainEqual({
      code: "did-you-mean",
      text: 'Searched for "table" instead of "tabel", which no tool knows.',
    });
    expect((await house.operations.replay(view.view)).differences).toEqual([]);
  });
});

describe("a word that is the name of a tool", () => {
  it("finds it whatever ids, numbers, everyday or unknown words stand beside it, and the answer is as good as by the word alone", async () => {
    const house = await inn();
    const wanted = (await ask.retrieve(house, "table")).tools.map((one) => one.tool);
    expect(wanted).toHaveLength(3);
    for (const need of ["table now", "table T-1003", "table 12345", "SELECT table", "12345 table", "table T-17 now"]) {
      const view = await ask.retrieve(house, need);
      expect(view.tools.map((one) => one.tool).sort(), need).toEqual([...wanted].sort());
    }
  });

  it("says again of a word that is longer than words are only its beginning", async () => {
    const house = await inn();
    for (const request of Object.values(ask)) {
      const view = await request(house, `book a table ${"x".repeat(3_900)}`);
      expect(view.unmatched).toEqual([`${"x".repeat(59)}~`]);
    }
  });

  it("is searched for where each unknown word is one slip away from one known word, and the answer says so and replays", async () => {
    const house = await inn();
    for (const request of Object.values(ask)) {
      const view = await request(house, "a tabel");
      expect(view.tools.map((one) => one.tool)).toContain("inn/book_table");
      expect(noticesOf(view)).toContain("did-you-mean");
      expect(view.notices?.find(({ code }) => code === "did-you-mean")?.text).toMatch(
        /^Searched for .*"table" instead of "tabel"/,
      );
      expect((await house.operations.replay(view.view)).differences).toEqual([]);
    }
    // One word that resembles nothing: nothing is guessed for the others.
    expect(noticesOf(await ask.retrieve(house, "tabel xylophone quartz"))).not.toContain("weak-match");
  });
});
