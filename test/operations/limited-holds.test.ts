import { afterEach, describe, expect, it } from "vitest";
import type { House } from "../../src/compose.js";
import type { Caller } from "../../src/model/operations.js";
import { closeHouses, list, makeHome, openHouse, person, tool } from "../house.js";

afterEach(closeHouses);

const FOREIGN = /zebra|stripe/i;
const limited: Caller = {
  principal: "ci",
  rights: new Set(["agent", "operate", "approve"]),
  upstreams: new Set(["desk"]),
  session: undefined,
};
const NOTE = tool("list_notes", { description: "Lists the notes of a book.", required: ["id"] });
const COUNT = tool("count", { description: "Counts stripes.", required: ["animal"] });
const OLD = tool("stripe_read", { description: "Reads one note aloud, from the stripes.", required: ["id", "page"] });
const ALOUD = tool("aloud", { description: "Reads one note of a book aloud.", required: ["id", "page"], writes: true });

/** A tool of another upstream left, and a person says that one within reach took over from it. */
async function crossed(): Promise<House> {
  const house = await openHouse(makeHome(["desk", "zebra"]));
  await list(house, "desk", [NOTE]);
  await list(house, "zebra", [COUNT, OLD]);
  await list(house, "desk", [NOTE, ALOUD]);
  await list(house, "zebra", [COUNT]);
  const { held } = await house.operations.stateTakeover({ from: ["zebra/stripe_read"], to: ["desk/aloud"] }, person);
  expect(held).toEqual(["desk/aloud"]);
  return house;
}

/** All that is told of a held tool to who would approve or call it. */
async function told(house: House, name: string, caller: Caller): Promise<string> {
  const shown = await house.operations.approveTool({ tool: name, dryRun: true }, caller);
  expect(shown.difference.held).toBe(true);
  const options = { direct: false, signal: new AbortController().signal, headers: {}, origin: "test" };
  const refused = await house.operations
    .callTool({ tool: name, arguments: { id: "1", page: "2" } }, caller, options)
    .catch((fault: unknown) => fault as { code: string; message: string; data: unknown });
  expect(refused).toMatchObject({ code: "tool-held", message: expect.stringMatching(/and it may write now/) });
  const { code, message, data } = refused as { code: string; message: string; data: unknown };
  return JSON.stringify([shown, code, message, data]);
}

describe("a tool that is held for what it took over from another upstream", () => {
  it("says so to a token that does not reach that one, and names nothing of it: no label, tool or text", async () => {
    const house = await crossed();
    expect(await told(house, "desk/aloud", person)).toMatch(FOREIGN);
    const said = await told(house, "desk/aloud", limited);
    expect(said).not.toMatch(FOREIGN);
    expect(said).toContain("A tool that this token does not reach, which it took over from, was read-only and it may write now.");
    expect(said).toContain("Reads one note of a book aloud.");
  });

  it("names nothing of it either where the takeover passed on by a tool within reach", async () => {
    const house = await crossed();
    await list(house, "desk", [NOTE, { ...ALOUD, name: "aloud_now" }]);
    expect(Object.keys(house.steward.world().holds.held)).toContain("desk/aloud_now");
    expect(await told(house, "desk/aloud_now", person)).toMatch(FOREIGN);
    const said = await told(house, "desk/aloud_now", limited);
    expect(said).not.toMatch(FOREIGN);
    expect(said).toContain("desk/aloud, which it took over from,");
  });

  it("is approved by such a token for what it was shown", async () => {
    const house = await crossed();
    const { difference } = await house.operations.approveTool({ tool: "desk/aloud", dryRun: true }, limited);
    const answer = await house.operations.approveTool({ tool: "desk/aloud", ...difference.digests }, limited);
    expect(answer.approved).toBe(true);
    expect(JSON.stringify(answer)).not.toMatch(FOREIGN);
    expect(house.steward.world().holds.held).toEqual({});
  });
});
