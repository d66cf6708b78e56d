/** Which skill folders an import finds below a folder, and what it says of those it passes over. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { collectSkills } from "../../src/exchange/collect.js";

let root = "";
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), "steward-collect-"))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

function skillAt(...parts: string[]): void {
  const folder = join(root, ...parts);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "SKILL.md"), "---\nname: a\ndescription: Does it.\n---\n\nDo it.\n");
}
const look = () => collectSkills({ cwd: root, env: {} }, { sources: ["."] });

describe("skill folders below the one that is given", () => {
  it("are found seven levels down; what lies deeper is counted and said, with the way to it", async () => {
    const levels = ["1", "2", "3", "4", "5", "6"];
    skillAt(...levels, "here");
    skillAt(...levels, "7", "too-deep");
    const { folders, problems } = await look();
    expect(folders.map(({ folder }) => folder)).toEqual(["here"]);
    expect(problems).toEqual([
      {
        code: "folder-too-deep",
        where: ".",
        text: "Folders more than 7 levels below it were not looked into: 1, the first 1/2/3/4/5/6/7/too-deep. If they have skills, give them by themselves.",
      },
    ]);
  });

  it("that are links are left out by name, and so are links within a skill", async () => {
    skillAt("real");
    symlinkSync(join(root, "real"), join(root, "linked"));
    symlinkSync("/etc", join(root, "real", "etc"));
    symlinkSync(join(root, "nowhere"), join(root, "dangling"));
    const { folders, problems } = await look();
    expect(folders.map(({ folder, files }) => [folder, Object.keys(files)])).toEqual([["real", ["SKILL.md"]]]);
    expect(problems.map(({ where, text }) => `${where}: ${text}`)).toEqual([
      "./linked: It is left out: it is a link. Give the folder it leads to.",
      "./real/etc: It is left out: links and special files are not part of a skill.",
    ]);
  });
});
