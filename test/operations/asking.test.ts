import { afterEach, describe, expect, it } from "vitest";
import type { House } from "../../src/compose.js";
import { Fault } from "../../src/model/fault.js";
import { splitToolKey, type ToolKey } from "../../src/model/ids.js";
import { createShop, SHOP_PARTS } from "../../src/lab/worlds/shop/shop.js";
import { nameOf } from "../../src/world/advance.js";
import { closeHouses, list, makeHome, openHouse, person } from "../house.js";
import type { JsonObject } from "../../src/model/json.js";

afterEach(closeHouses);

/** A house that has seen the sample shop at these versions, one after the other. */
async function shop(...versions: number[]): Promise<House> {
  const house = await openHouse(makeHome(SHOP_PARTS));
  for (const version of versions)
    for (const part of SHOP_PARTS) await list(house, part, createShop({ part, version }).tools() as unknown as JsonObject[]);
  return house;
}

const options = { signal: new AbortController().signal, direct: false };

async function refusal(house: House, tool: string): Promise<string> {
  const fault: unknown = await house.operations
    .callTool({ tool, arguments: {} }, person, options)
    .catch((error: unknown) => error);
  if (!(fault instanceof Fault)) throw new Error(`${tool} was called`);
  const { body } = await house.operations.describeTools({ tools: [tool] }, person);
  expect(body.missing.map(({ asked, why }) => [asked, why])).toEqual([[tool, fault.detail]]);
  return fault.detail;
}

describe("a tool that left the catalog", () => {
  it("is answered alike by key, exposed name and bare name: that it left, and who took over", async () => {
    const house = await shop(1, 2, 3);
    const world = house.steward.world();
    const bare = (key: string): string => splitToolKey(key).name;
    const gone = [...world.catalog.departed.keys()];
    expect(gone.length).toBeGreaterThan(3);
    for (const key of gone) {
      const said = await refusal(house, key);
      expect(said).toMatch(new RegExp(`^${key} left the catalog`));
      expect(await refusal(house, nameOf(world, key as ToolKey))).toBe(said);
      const others = [...gone, ...world.catalog.tools.keys()].filter((other) => other !== key && bare(other) === bare(key));
      if (others.length === 0) expect(await refusal(house, bare(key))).toBe(said);
    }
    expect(await refusal(house, "shop/never_there")).toMatch(/^shop\/never_there is not known/);
  });

  it("is told of beside a need that means it, and not beside one that shares a word with it", async () => {
    const house = await shop(2, 3, 1);
    const { departed } = house.steward.world().catalog;
    expect(departed.has("depot/get_stock_levels" as ToolKey)).toBe(true);
    const ask = async (query: string): Promise<string[]> =>
      (await house.operations.retrieveTools({ query }, person)).body.substitutions?.map((row) => row.asked) ?? [];
    expect(await ask("stock")).toEqual([]);
    expect(await ask("get the stock levels")).toContain("depot/get_stock_levels");
    expect(await ask("get_stock_levels")).toContain("depot/get_stock_levels");
  });
});

describe("a misspelt need", () => {
  it("is searched for as it was meant, and the answer says so", async () => {
    const house = await shop(1);
    const keys = async (query: string): Promise<string[]> =>
      (await house.operations.retrieveTools({ query }, person)).body.tools.map((one) => one.tool);
    expect(await keys("refnd an ordr")).toEqual(await keys("refund an order"));
    for (const query of ["order now", "order O-1003", "order 12345", "SELECT orders"])
      expect((await keys(query)).length, query).toBeGreaterThan(0);
  });
});

describe("explore_capabilities", () => {
  it("counts what it answered and not what it refused over the limit", async () => {
    const house = await shop(1);
    const { body } = await house.operations.startTask({ task: "cancel an order" }, person);
    const episode = body.episode ?? "";
    const used: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      const view = (await house.operations.exploreCapabilities({ need: `cancel order ${n}`, episode }, person)).body;
      used.push(view.budgets.explore.used);
      const told = (view.notices ?? []).find(({ code }) => code === "explore-limit")?.text;
      expect(told ?? "asked 3 times").toContain("asked 3 times");
    }
    expect(used).toEqual([1, 2, 3, 3, 3, 3]);
    expect(house.steward.world().episodes.get(episode)?.explored).toBe(3);
  });
});

const NOTES = Array.from({ length: 30 }, (_, n) => `- Note ${n} of an order that is moved.`).join("\n");
const skillOf = (verb: string): { folder: string; files: Record<string, string> } => ({
  folder: `atomic-${verb}-order`,
  files: {
    "SKILL.md": `---\nname: "atomic-${verb}-order"\ndescription: "${verb} an order of a customer."\nmetadata:\n  steward-tier: "atomic"\n---\n\n1. Call \`shop/cancel_order\` with order_id from the request.\n\n## Gotchas\n\n${NOTES}\n`,
  },
});

describe("the skill text of an episode", () => {
  it("is shared among its explores: each of them shows skills, within the limit", async () => {
    const house = await shop(1);
    await house.operations.importSkills(["cancel", "drop", "move", "hold", "split", "ship"].map(skillOf), person);
    const { body } = await house.operations.startTask({ task: "order" }, person);
    const episode = body.episode ?? "";
    for (let n = 0; n < 3; n += 1) {
      const view = (await house.operations.exploreCapabilities({ need: "cancel an order of a customer", episode }, person)).body;
      expect(view.skills?.length, `explore ${n + 1}`).toBeGreaterThan(0);
      expect(view.budgets.skill_chars.used).toBeLessThanOrEqual(view.budgets.skill_chars.limit);
      expect((await house.operations.replay(view.view)).differences).toEqual([]);
    }
  });
});

describe("the list of episodes", () => {
  it("leaves out those with nothing but searches in them, unless they are asked for, and takes a limit", async () => {
    const house = await shop(1);
    const { operations } = house;
    for (const query of ["order", "refund", "stock"]) await operations.retrieveTools({ query }, person);
    const opened: string[] = [];
    for (const task of ["cancel an order", "refund an order"])
      opened.push((await operations.startTask({ task }, person)).body.episode ?? "");
    await operations.finishTask({ episode: opened[0] ?? "", outcome: "success" }, person);
    await operations.verifyEpisode(opened[0] ?? "", { outcome: "success", trust: "human" }, person);
    const ids = async (state?: "running" | "finished" | "verified" | "empty" | "all", limit?: number): Promise<string[]> =>
      (await operations.episodes({ ...(state === undefined ? {} : { state }), ...(limit === undefined ? {} : { limit }) })).map(
        ({ episode }) => episode,
      );
    expect((await ids()).sort()).toEqual([...opened].sort());
    expect(await ids("running")).toEqual([opened[1]]);
    expect(await ids("finished")).toEqual([opened[0]]);
    expect(await ids("verified")).toEqual([opened[0]]);
    expect(await ids("empty")).toHaveLength(3);
    expect(await ids("all")).toHaveLength(5);
    expect(await ids("all", 2)).toHaveLength(2);
  });
});
