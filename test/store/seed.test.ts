import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { nodeFiles } from "../../src/host/files.js";
import { isHome, seedHome } from "../../src/store/seed.js";
import { DEATHS, dyingFiles } from "./dying-files.js";
import { filesIn, removeHomes, tempHome } from "./home.js";

afterEach(removeHomes);

const shipped = {
  "config/steward.json": "{}",
  "config/steward.schema.json": "{}",
  "skills/steward.lock.json": "{}",
  "skills/a/SKILL.md": "a",
  "skills/a/references/contract.json": "{}",
};

function starter() {
  const root = tempHome();
  for (const [path, text] of Object.entries({ ...shipped, "skills/.DS_Store": "x" })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return { config: join(root, "config"), catalog: join(root, "catalog"), skills: join(root, "skills") };
}

describe("laying out a home", () => {
  it("copies what is shipped, once, and leaves what a person has there already", async () => {
    const from = starter();
    const home = join(tempHome(), "deep/er");
    mkdirSync(join(home, "skills/a"), { recursive: true });
    writeFileSync(join(home, "skills/a/SKILL.md"), "mine");
    expect(isHome(home)).toBe(false);
    expect(await seedHome(home, from, nodeFiles())).toBe(true);
    expect(filesIn(home)).toEqual({ ...shipped, "skills/a/SKILL.md": "mine" });
    writeFileSync(join(home, "skills/steward.lock.json"), "moved");
    expect(await seedHome(home, from, nodeFiles())).toBe(false);
    expect(filesIn(home)["skills/steward.lock.json"]).toBe("moved");
  });

  it("is done again from where it broke off, whenever the process dies", async () => {
    const from = starter();
    for (const how of DEATHS) {
      for (let at = 1; ; at += 1) {
        const home = join(tempHome(), "home");
        const files = dyingFiles(nodeFiles(), { at, how });
        await seedHome(home, from, files).catch(() => undefined);
        await seedHome(home, from, nodeFiles());
        const found = Object.entries(filesIn(home)).filter(([path]) => !path.split("/").at(-1)?.startsWith("."));
        expect(Object.fromEntries(found), `${how} at ${at}`).toEqual(shipped);
        if (!files.dead) break;
      }
    }
  });
});
