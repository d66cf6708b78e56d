import { describe, expect, it } from "vitest";
import type { SkillName } from "../../src/model/ids.js";
import type { Skill } from "../../src/model/skill.js";
import type { Standing } from "../../src/model/standing.js";
import { preparationsOf } from "../../src/world/prepared.js";
import { derive } from "../../src/world/rebuild.js";
import { emptyKnown, type World } from "../../src/world/world.js";

/** Skills that count how often all of them are gone through. */
class Counted extends Map<SkillName, Skill> {
  walks = 0;

  override values(): ReturnType<Map<SkillName, Skill>["values"]> {
    this.walks += 1;
    return super.values();
  }
}

function counted(names: readonly string[]): Counted {
  return new Counted(names.map((name) => [name as SkillName, { name, digest: `of ${name}`, provenance: "human" } as Skill]));
}

const world = (skills: Counted): World => {
  const empty = derive(emptyKnown, new Map());
  return { ...empty, library: { ...empty.library, skills } };
};
const namesOf = (of: World): string[] => preparationsOf(of, 0).map(([name]) => name);

describe("the names of what a run keeps for the next start", () => {
  it("are worked out once, however many parts are asked for and however often the time moves", () => {
    const skills = counted(["a", "b"]);
    const before = world(skills);
    const names = namesOf(before);
    const once = skills.walks;
    for (let part = 0; part < 5; part += 1) expect(namesOf(before)).toEqual(names);
    expect(namesOf({ ...before, now: "2030-01-01T00:00:00.000Z" })).toEqual(names);
    expect(skills.walks).toBe(once);
  });

  it("are others as soon as a skill or a standing is", () => {
    const before = world(counted(["a", "b"]));
    const names = namesOf(before);
    expect(namesOf(world(counted(["a", "b"])))).toEqual(names);
    expect(namesOf(world(counted(["a", "c"])))).not.toEqual(names);
    const standings = new Map([["a" as SkillName, { standing: "active" } as Standing]]);
    expect(namesOf({ ...before, standings })).not.toEqual(names);
  });
});
