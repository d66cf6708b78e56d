import { afterEach, describe, expect, it } from "vitest";
import type { House } from "../../src/compose.js";
import { Fault } from "../../src/model/fault.js";
import type { Tokens } from "../../src/model/home.js";
import type { Caller } from "../../src/model/operations.js";
import { pinTokens } from "../../src/serve.js";
import { closeHouses, later, list, makeHome, openHouse, person, tool } from "../house.js";

afterEach(closeHouses);

const agent = (principal: string, session?: string): Caller => ({
  principal,
  rights: new Set(["agent"]),
  upstreams: undefined,
  session,
});
const ROTA = tool("list_shifts", { description: "Lists the shifts of the rota.", required: ["week"] });
const SWAP = tool("swap_shift", { description: "Swaps two shifts of the rota.", required: ["shift", "with"], writes: true });
const CALL = tool("call_standby", { description: "Calls somebody on standby for a shift of the rota.", required: ["shift"] });

/** Three versions: two tools; one of them with a new parameter; the other gone and a third come. */
async function evolving(): Promise<House> {
  const house = await openHouse(makeHome(["rota"]));
  await list(house, "rota", [ROTA, SWAP]);
  await list(house, "rota", [
    tool("list_shifts", { description: "Lists the shifts of the rota.", required: ["week"], optional: ["team"] }),
    SWAP,
  ]);
  await list(house, "rota", [
    tool("list_shifts", { description: "Lists the shifts of the rota.", required: ["week"], optional: ["team"] }),
    CALL,
  ]);
  return house;
}

async function refusal(work: Promise<unknown>): Promise<Fault> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("a token pinned to a catalog version", () => {
  it("is shown and may call only what that version had and is still there, and is told what is not", async () => {
    const house = await evolving();
    const pin = await house.operations.pinCatalog({ version: 1, token: "ci" }, person);
    expect(pin.pinned).toMatchObject({
      token: "ci",
      version: 1,
      tools: 2,
      gone: [{ tool: "rota/swap_shift" }],
      changed: ["rota/list_shifts"],
    });
    const { body: view } = await house.operations.retrieveTools({ query: "shifts of the rota" }, agent("ci"));
    expect(view.tools.map((one) => one.tool)).toEqual(["rota/list_shifts"]);
    expect(view.basis.catalog).toMatch(/^3:.*@1$/);
    const notice = view.notices?.find((one) => one.code === "catalog-pinned")?.text ?? "";
    expect(notice).toContain("Pinned to catalog version 1; the present one is 3.");
    expect(notice).toContain("rota/swap_shift");
    expect(notice).toContain("Changed since, and called as they are now: rota/list_shifts.");
    expect(house.operations.directTools(agent("ci")).map((one) => one.name)).toEqual(["rota__list_shifts"]);
    const refused = await refusal(
      house.operations.callTool({ tool: "rota/call_standby", arguments: { shift: "s1" } }, agent("ci"), {
        signal: new AbortController().signal,
        direct: false,
      }),
    );
    expect(refused.code).toBe("tool-not-offered");
    expect(refused.detail).toContain("not of catalog version 1");
    // The reason is the pin, and no other is named beside it.
    expect(refused.message).not.toMatch(/parked|disabled|upstream/);
    const { body } = await house.operations.describeTools({ tools: ["rota/call_standby", "rota/swap_shift"] }, agent("ci"));
    expect(body.missing.map((one) => one.asked)).toEqual(["rota/call_standby", "rota/swap_shift"]);
  });

  it("leaves all others with the present catalog, and ends when it is told to", async () => {
    const house = await evolving();
    await house.operations.pinCatalog({ version: 1, token: "ci" }, person);
    const names = (caller: Caller): string[] => house.operations.directTools(caller).map((one) => one.name);
    expect(names(agent("other"))).toEqual(["rota__call_standby", "rota__list_shifts"]);
    expect(await house.operations.pinCatalog({ version: undefined, token: "ci" }, person)).toEqual({ pinned: null });
    expect(names(agent("ci"))).toEqual(["rota__call_standby", "rota__list_shifts"]);
    expect(await house.operations.catalogPins()).toEqual([]);
  });

  it("stays so after a restart", async () => {
    const home = makeHome(["rota"]);
    const house = await openHouse(home);
    await list(house, "rota", [ROTA]);
    await list(house, "rota", [ROTA, CALL]);
    await house.operations.pinCatalog({ version: 1 }, { ...person, principal: "ann" });
    await house.stop();
    const again = await openHouse(home);
    await list(again, "rota", [ROTA, CALL]);
    expect(again.operations.directTools(agent("ann")).map((one) => one.name)).toEqual(["rota__list_shifts"]);
  });

  it("to a version that is not kept is refused with those that are", async () => {
    const house = await evolving();
    const refused = await refusal(house.operations.pinCatalog({ version: 9, token: "ci" }, person));
    expect(refused.code).toBe("version-unknown");
    expect(refused.detail).toContain("there are 1 to 3");
  });

  it("may be one session alone, whatever its token is pinned to", async () => {
    const house = await evolving();
    await house.operations.pinCatalog({ version: 3, token: "ci" }, person);
    await house.operations.pinCatalog({ version: 1, session: "s1" }, person);
    const names = (caller: Caller): string[] => house.operations.directTools(caller).map((one) => one.name);
    expect(names(agent("ci", "s1"))).toEqual(["rota__list_shifts"]);
    expect(names(agent("ci", "s2"))).toEqual(["rota__call_standby", "rota__list_shifts"]);
  });

  it("keeps a view that replays", async () => {
    const house = await evolving();
    await house.operations.pinCatalog({ version: 1, token: "ci" }, person);
    const { body: view } = await house.operations.startTask({ task: "list the shifts of the rota" }, agent("ci"));
    expect(await house.operations.replay(view.view)).toMatchObject({ same: true });
  });
});

describe("time travel", () => {
  it("answers as of a version: catalog, search, skills and why, and changes nothing", async () => {
    const house = await evolving();
    const skill = [
      "---",
      'name: "swap"',
      'description: "Swap shifts of the rota."',
      "---",
      "",
      "## Steps",
      "",
      "1. Call `rota/swap_shift` with shift and with from the request.",
      "",
    ].join("\n");
    const before = house.steward.world();
    expect((await house.operations.catalog({ at: 1 })).tools.map((one) => one.tool)).toContain("rota/swap_shift");
    const then = await house.operations.searchCatalog("swap two shifts", { at: 2 }, person);
    expect(then).toMatchObject({ version: 2, tools: [{ tool: "rota/swap_shift", present: false }] });
    const now = await house.operations.searchCatalog("swap two shifts", {}, person);
    expect(now.tools.map((one) => one.tool)).not.toContain("rota/swap_shift");
    expect(house.steward.world()).toBe(before);
    await house.operations.importSkills([{ folder: "swap", files: { "SKILL.md": skill } }], person);
    expect(await house.operations.skills({ at: 2 })).toEqual([]);
    expect((await house.operations.skills({ at: 3 })).map((one) => one.name)).toEqual(["swap"]);
  });

  it("judges skills as the daemon would have: one that rests now stood while its tool was there", async () => {
    const house = await openHouse(makeHome(["rota"]));
    await list(house, "rota", [ROTA, SWAP]);
    const skill = '---\nname: "swap"\ndescription: "Swap."\n---\n\n1. Call `rota/swap_shift` with shift from the request.\n';
    await house.operations.importSkills([{ folder: "swap", files: { "SKILL.md": skill } }], person);
    await list(house, "rota", [ROTA]);
    await house.steward.post({ kind: "tick", at: later() });
    expect((await house.operations.why("swap")).standing).toMatchObject({ standing: "inactive" });
    expect((await house.operations.why("swap", { at: 1 })).standing).toMatchObject({ standing: "active", reasons: [] });
    expect(await house.operations.skills({ at: 1, standing: "active" })).toMatchObject([{ name: "swap" }]);
    expect((await refusal(house.operations.why("swap", { at: 7 }))).code).toBe("version-unknown");
  });

  it("of a name that nobody goes by is kept and says what it waits for", async () => {
    const house = await evolving();
    expect((await house.operations.pinCatalog({ version: 1, token: "ic" }, person)).pinned?.waits).toBe(
      "No token is called ic; there are local, mcp. The pin is kept and holds once there is one.",
    );
    expect((await house.operations.pinCatalog({ version: 1, session: "nobody" }, person)).pinned?.waits).toContain(
      "No session nobody",
    );
    for (const token of ["mcp", "local"])
      expect((await house.operations.pinCatalog({ version: 1, token }, person)).pinned?.waits).toBeUndefined();
  });
});

describe("what a pinned caller is told", () => {
  const asked = (house: House, name: string, caller: Caller): Promise<Fault> =>
    refusal(
      house.operations.callTool({ tool: name, arguments: {} }, caller, { signal: new AbortController().signal, direct: false }),
    );

  it("names no tool as a way on that the pin would refuse, and says how this pin is ended", async () => {
    const house = await openHouse(makeHome(["rota"]));
    const RENAMED = tool("find_shifts", { description: "Lists the shifts of the rota.", required: ["week"] });
    await list(house, "rota", [ROTA, SWAP]);
    await list(house, "rota", [RENAMED, SWAP]);
    await house.operations.pinCatalog({ version: 1, token: "ci" }, person);
    await house.operations.pinCatalog({ version: 1, session: "s1" }, person);
    for (const [caller, end] of [
      [agent("ci"), "`steward catalog pin none --token ci`"],
      [agent("other", "s1"), "`steward catalog pin none --session s1`"],
    ] as const) {
      const gone = await asked(house, "rota/list_shifts", caller);
      expect(gone.data).toMatchObject({ instead: [] });
      expect(gone.detail).toContain("rota/find_shifts took over");
      expect(gone.detail).toContain("not of catalog version 1");
      expect(gone.detail).toContain(end);
      const near = await asked(house, "rota/find_shift", caller);
      expect(JSON.stringify(near.data)).not.toContain("find_shifts");
      expect((await asked(house, "rota/find_shifts", caller)).detail).toContain(end);
      const { body } = await house.operations.describeTools({ tools: ["rota/list_shifts"] }, caller);
      expect(body.missing[0]?.instead).toEqual([]);
    }
    expect((await asked(house, "rota/list_shifts", agent("free"))).data).toMatchObject({ instead: ["rota/find_shifts"] });
  });
});

describe("a pin that an entry of the token file names", () => {
  const file = (...entries: readonly { name: string; catalog?: number }[]): Tokens => ({
    format: "tokens/1",
    tokens: entries.map((entry) => ({ sha256: "0", upstreams: ["*"], rights: ["agent"], created: "", ...entry })),
  });
  const pinned = async (house: House): Promise<unknown[]> =>
    (await house.operations.catalogPins()).map((pin) => ["token" in pin ? pin.token : "", pin.version]);

  it("is in force as long as the entry says so: it moves, ends and goes with it, and no other pin does", async () => {
    const [house, said] = [await evolving(), [] as string[]];
    const read = (tokens: Tokens): Promise<void> => pinTokens(house, tokens, { warn: (text) => void said.push(text) });
    await house.operations.pinCatalog({ version: 2, token: "by-hand" }, person);
    await read(file({ name: "ci", catalog: 1 }, { name: "bot", catalog: 1 }, { name: "by-hand" }));
    expect(await pinned(house)).toEqual([
      ["bot", 1],
      ["by-hand", 2],
      ["ci", 1],
    ]);
    await read(file({ name: "ci", catalog: 3 }, { name: "by-hand" }));
    expect(await pinned(house)).toEqual([
      ["by-hand", 2],
      ["ci", 3],
    ]);
    await read(file({ name: "ci" }, { name: "by-hand", catalog: 99 }));
    expect(await pinned(house)).toEqual([["by-hand", 2]]);
    expect(said.join()).toContain("by-hand: catalog 99");
  });

  it("is taken off and moved in the file alone, which is said; a pin of a person is not bound to the file", async () => {
    const house = await evolving();
    await pinTokens(house, file({ name: "ci", catalog: 1 }), { warn: () => undefined });
    for (const version of [undefined, 2]) {
      const refused = await refusal(house.operations.pinCatalog({ version, token: "ci" }, person));
      expect(refused.code).toBe("input-invalid");
      expect(refused.detail).toContain("state/tokens.json");
    }
    expect(await pinned(house)).toEqual([["ci", 1]]);
    await house.operations.pinCatalog({ version: 2, token: "bot" }, person);
    await house.operations.pinCatalog({ version: undefined, token: "bot" }, person);
    expect(await pinned(house)).toEqual([["ci", 1]]);
  });
});
