/** A home of thousands of skills: quick to start, and right about what was edited while nobody looked. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { compose, type House } from "../../src/compose.js";
import { silentLog } from "../../src/host/log.js";
import type { SkillName } from "../../src/model/ids.js";
import { homeOfSkills, removeHomes } from "../store/home.js";

let house: House | undefined;
afterEach(async () => {
  await house?.stop();
  removeHomes();
});

const start = (home: string): Promise<House> =>
  compose({ home, env: {}, main: "", log: silentLog, upstreams: false, watch: true });
const skill = (name: string) => house?.steward.world().library.skills.get(name as SkillName);

describe("a home of thousands of skills", () => {
  it("takes up what was edited and removed while it was down, and starts the next time with what it worked out", async () => {
    const home = await homeOfSkills(2_000);
    const place = join(home, "skills/atomic-7/SKILL.md");
    writeFileSync(place, readFileSync(place, "utf8").replace("Does the 7th thing.", "Does something else by now."));
    rmSync(join(home, "skills/atomic-8"), { recursive: true });
    house = await start(home);
    house.warm();
    await expect.poll(() => skill("atomic-7")?.description, { timeout: 20_000 }).toBe("Does something else by now.");
    expect(skill("atomic-8")).toBeDefined();
    await house.stop();
    house = await start(home);
    expect(skill("atomic-7")?.description).toBe("Does something else by now.");
    expect(house.steward.world().activeSkills.operations).toBe(0);
  });
});
