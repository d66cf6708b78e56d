import { afterEach, describe, expect, it } from "vitest";
import type { House } from "../../src/compose.js";
import type { EpisodeId, SkillName, ToolKey } from "../../src/model/ids.js";
import type { JsonObject } from "../../src/model/json.js";
import { closeHouses, later, list, makeHome, openHouse, person, tool } from "../house.js";

afterEach(closeHouses);

const SKILL = [
  "---",
  'name: "look-up"',
  'description: "Look a case up."',
  "---",
  "",
  "1. Call `desk/get_case` with case_id from the request.",
  "",
].join("\n");

function withPattern(pattern: string): JsonObject {
  const made = tool("get_case", { required: ["case_id"] });
  const schema = made["inputSchema"] as JsonObject;
  return { ...made, inputSchema: { ...schema, properties: { case_id: { type: "string", pattern } } } };
}

/** A house whose skill was shown by one verified call, made before the tool moved. */
async function shown(home: string): Promise<House> {
  const house = await openHouse(home);
  await list(house, "desk", [tool("get_case", { required: ["case_id"] })]);
  await house.operations.importSkills([{ folder: "look-up", files: { "SKILL.md": SKILL } }], person);
  const present = house.steward.world().catalog.tools.get("desk/get_case" as ToolKey);
  const contract = present?.digests.contract ?? "";
  const line = { at: later(), episode: "ep_shown", tool: "desk/get_case", contract, args: { case_id: "C-17" }, redacted: [] };
  const whole = { ...line, isError: false, bytes: 1, shape: [], flows: [], ms: 1 };
  const open = { task: "look a case up", explicit: true, principal: "local" };
  await house.steward.post({ kind: "episode-calls", at: later(), calls: [{ line: whole, open }] });
  await house.operations.verifyEpisode("ep_shown" as EpisodeId, { outcome: "success", trust: "human" }, person);
  return house;
}

async function settled(house: House, holds: () => boolean): Promise<void> {
  for (let n = 0; n < 400 && !holds(); n += 1) {
    await new Promise((next) => setTimeout(next, 25));
    await house.steward.settled();
  }
}
const standing = (house: House) => house.steward.world().standings.get("look-up" as SkillName);

describe("a tool that begins to ask for a pattern", () => {
  it("leaves a skill in use whose verified calls match it: the daemon runs the pattern beside itself", async () => {
    const home = makeHome(["desk"]);
    const house = await shown(home);
    await list(house, "desk", [withPattern("^C-\\d+$")]);
    await settled(house, () => standing(house)?.safeByUsage === true);
    expect(standing(house)).toMatchObject({ standing: "active", needsReview: false, safeByUsage: true });
    await house.stop();
    const again = await openHouse(home);
    expect(standing(again)).toMatchObject({ standing: "active", safeByUsage: true });
  });

  it("rests one whose verified call does not match it", async () => {
    const house = await shown(makeHome(["desk"]));
    await list(house, "desk", [withPattern("^CASE-\\d+$")]);
    await settled(house, () => standing(house)?.standing === "inactive");
    expect(standing(house)).toMatchObject({ standing: "inactive", because: "broken" });
  });
});
