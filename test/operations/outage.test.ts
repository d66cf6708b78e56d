import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { UpstreamLabel } from "../../src/model/ids.js";
import { closeHouses, list, makeHome, openHouse, person, tool } from "../house.js";

afterEach(closeHouses);

/** Every file of a home with its bytes; locks and what only speeds up a start are not part of what a person would call changed. */
function filesIn(home: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(home, { recursive: true, encoding: "utf8" })) {
    const path = join(home, name);
    if (statSync(path).isFile() && !/state\/(lock|cache)/.test(name)) found[name] = readFileSync(path, "utf8");
  }
  return found;
}

describe("an upstream that is away for a minute", () => {
  it("changes nothing but presence: tools, versions, skills and files stay", async () => {
    const home = makeHome(["rota"]);
    const house = await openHouse(home);
    const tools = [tool("list_shifts", { required: ["week"] }), tool("swap_shift", { required: ["shift"], writes: true })];
    await list(house, "rota", tools);
    const skill = '---\nname: "swap"\ndescription: "Swap."\n---\n\n1. Call `rota/swap_shift` with shift from the request.\n';
    await house.operations.importSkills([{ folder: "swap", files: { "SKILL.md": skill } }], person);
    const [before, files] = [house.steward.world(), filesIn(home)];
    const label = "rota" as UpstreamLabel;
    const start = Date.UTC(2028, 0, 1);
    const at = (seconds: number): string => new Date(start + seconds * 1_000).toISOString();
    await house.steward.post({ kind: "presence", at: at(0), label, state: "away", reason: "the connection was lost" });
    for (const seconds of [15, 30, 45]) await house.steward.post({ kind: "tick", at: at(seconds) });
    const during = house.steward.world();
    expect(during.catalog).toBe(before.catalog);
    expect(during.toolIndex).toBe(before.toolIndex);
    expect(house.operations.directTools(person).map((one) => one.name)).toEqual(["rota__list_shifts", "rota__swap_shift"]);
    expect(during.standings.get("swap" as never)).toMatchObject({ standing: "active" });
    const { tools: listed } = await house.operations.catalog({});
    expect(listed.map((one) => one.marks)).toEqual([["unavailable"], ["unavailable"]]);
    await list(house, "rota", tools);
    const after = house.steward.world();
    expect(after.catalog).toBe(before.catalog);
    expect([...after.standings]).toEqual([...before.standings]);
    const moved = Object.entries(filesIn(home)).filter(([name, bytes]) => files[name] !== bytes);
    expect(
      moved.map(([name]) => name.replace(/\.bak$/, "")).filter((name) => !/^state\/(presence|standings)\.json$/.test(name)),
    ).toEqual([]);
    expect(JSON.parse(readFileSync(join(home, "state/standings.json"), "utf8"))).toEqual(
      JSON.parse(files["state/standings.json"] ?? ""),
    );
  });
});
