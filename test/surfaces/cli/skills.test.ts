import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compose } from "../../../src/compose.js";
import { silentLog } from "../../../src/host/log.js";
import type { JsonObject } from "../../../src/model/json.js";
import type { SkillName } from "../../../src/model/ids.js";
import { openDesk, type Desk } from "./stand.js";

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.drop());

const skillText = (name: string, description = `Does ${name}.`): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\nDo it.\n`;

function put(path: string, text: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const rows = (value: unknown): JsonObject[] => value as JsonObject[];
const codes = (answer: JsonObject): unknown[] => rows(answer["problems"]).map((problem) => problem["code"]);

describe("steward skills import", () => {
  it("finds skills where clients keep them, at any depth, and under no other hidden folder", async () => {
    const project = join(desk.folder, "project");
    put(join(project, ".claude/skills/one/SKILL.md"), skillText("one"));
    put(join(project, ".agents/skills/two/SKILL.md"), skillText("two"));
    put(join(project, "plugins/a/skills/deep/three/SKILL.md"), skillText("three"));
    put(join(project, ".cache/skills/four/SKILL.md"), skillText("four"));
    put(join(project, "node_modules/x/five/SKILL.md"), skillText("five"));
    const answer = (await desk.json("skills", "import", project)) as JsonObject;
    expect(answer["imported"]).toEqual(["two", "one", "three"]);
  });

  it("keeps bytes untouched, and names each file that it cannot take: links and what is no text", async () => {
    const folder = join(desk.folder, "box/notes");
    const text = skillText("notes").replaceAll("\n", "\r\n");
    put(join(folder, "SKILL.md"), `\ufeff${text}`);
    put(join(folder, "references/a.md"), "Ä\n");
    put(join(folder, "assets/logo.png"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff]));
    symlinkSync("/etc/hostname", join(folder, "outside"));
    const answer = (await desk.json("skills", "import", join(desk.folder, "box"))) as JsonObject;
    expect(answer["imported"]).toEqual(["notes"]);
    const refused = rows(answer["problems"]).filter((problem) => problem["code"] === "path-refused");
    expect(refused.map((problem) => String(problem["where"]).split("/").pop())).toEqual(["logo.png", "outside"]);
    expect(readFileSync(join(desk.home, "skills/notes/SKILL.md"), "utf8")).toBe(`\ufeff${text}`);
    expect(existsSync(join(desk.home, "skills/notes/assets"))).toBe(false);
  });

  it("says where a skill comes from in its history, is done again without a new revision, and never replaces one of another origin [F08]", async () => {
    put(join(desk.folder, "box/notes/SKILL.md"), skillText("notes"));
    put(join(desk.folder, "box/atomic-cancel-order/SKILL.md"), skillText("atomic-cancel-order"));
    const first = (await desk.json("skills", "import", join(desk.folder, "box"))) as JsonObject;
    expect(first["imported"]).toEqual(["notes"]);
    expect(codes(first)).toContain("skill-name-taken");
    const history = rows(await desk.json("skills", "history", "notes"));
    expect((history[0]?.["edit"] as JsonObject)["cause"]).toBe(`imported from ${join(desk.folder, "box")}/notes`);
    const again = (await desk.json("skills", "import", join(desk.folder, "box/notes"))) as JsonObject;
    expect([again["revision"], codes(again)]).toEqual([first["revision"], expect.arrayContaining(["skill-known"])]);
  });

  it("takes one commit of a git repository, runs nothing of it, and records the commit", async () => {
    const repository = join(desk.folder, "their.git");
    const git = (...args: string[]): string =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], {
        cwd: repository,
        encoding: "utf8",
      });
    put(join(repository, "skills/shared/SKILL.md"), skillText("shared", "First text."));
    put(join(repository, ".gitattributes"), "* filter=evil\n");
    git("init", "--quiet", "--initial-branch=main");
    git("config", "uploadpack.allowAnySHA1InWant", "true");
    git("add", ".");
    git("commit", "--quiet", "-m", "one");
    git("tag", "v1");
    const commit = git("rev-parse", "--short=12", "HEAD").trim();
    put(join(repository, "skills/shared/SKILL.md"), skillText("shared", "Second text."));
    git("commit", "--quiet", "-a", "-m", "two");
    const url = `file://${repository}`;
    const old = await desk.run("skills", "import", url, "--ref", "v1");
    expect([old.code, old.out]).toEqual([0, expect.stringContaining("Imported: shared")]);
    const history = rows(await desk.json("skills", "history", "shared"));
    expect((history[0]?.["edit"] as JsonObject)["cause"]).toBe(`imported from ${url}@${commit}/skills/shared`);
    await desk.run("skills", "import", url);
    expect(readFileSync(join(desk.home, "skills/shared/SKILL.md"), "utf8")).toContain("Second text.");
    const lost = await desk.run("skills", "import", url, "--ref", "no-such-branch");
    expect([lost.code, lost.err]).toEqual([1, expect.stringContaining("no-such-branch")]);
  });

  it("says what is missing: git, a folder, a skill", async () => {
    const path = process.env["PATH"];
    process.env["PATH"] = desk.folder;
    try {
      const said = await desk.run("skills", "import", "https://user:secret@example.org/a.git");
      expect([said.code, said.err]).toEqual([2, expect.stringContaining("git was not found")]);
    } finally {
      process.env["PATH"] = path;
    }
    expect((await desk.run("skills", "import", join(desk.folder, "nowhere"))).err).toContain("There is no such folder");
    mkdirSync(join(desk.folder, "empty"));
    expect((await desk.run("skills", "import", join(desk.folder, "empty"))).err).toContain("No SKILL.md was found");
    expect((await desk.run("skills", "import", join(desk.folder, "empty"), "--ref", "v1")).code).toBe(2);
  });

  it("shows with a skill what it needs of tools and skills", async () => {
    const contract = {
      format: "contract/1",
      requires: [{ tool: "shop/get_order", contractDigest: "", params: ["order_id"], reads: [], optional: true }],
      uses: ["other"],
      produces: [],
      evidence: [],
    };
    put(join(desk.folder, "box/notes/SKILL.md"), skillText("notes"));
    put(join(desk.folder, "box/notes/references/contract.json"), JSON.stringify(contract));
    await desk.run("skills", "import", join(desk.folder, "box"));
    const { out } = await desk.run("skills", "show", "notes");
    expect(out).toContain("needs shop/get_order, sets order_id (optional)");
    expect(out).toContain("builds on other");
  });
});

describe("steward skills export", () => {
  const client = (): string => join(desk.folder, "client/.claude/skills");

  it("brings a client's folder to the active skills and leaves alone what is not from here", async () => {
    put(join(desk.folder, "box/notes/SKILL.md"), skillText("notes"));
    await desk.run("skills", "import", join(desk.folder, "box"));
    put(join(client(), "mine/SKILL.md"), skillText("mine"));
    put(join(client(), "atomic-cancel-order/SKILL.md"), "their own\n");
    const first = (await desk.json("skills", "export", client())) as JsonObject;
    expect(first["exported"]).toEqual(["notes"]);
    expect(codes(first)).toEqual([]);
    expect(readFileSync(join(client(), "notes/SKILL.md"), "utf8")).toBe(skillText("notes"));
    expect(readFileSync(join(client(), "mine/SKILL.md"), "utf8")).toBe(skillText("mine"));
    expect(readFileSync(join(client(), "atomic-cancel-order/SKILL.md"), "utf8")).toBe("their own\n");
  });

  it("does not write over a folder of the same name, nor over what somebody changed since", async () => {
    put(join(desk.folder, "box/notes/SKILL.md"), skillText("notes"));
    put(join(desk.folder, "box/other/SKILL.md"), skillText("other"));
    await desk.run("skills", "import", join(desk.folder, "box"));
    put(join(client(), "notes/SKILL.md"), "their own\n");
    const first = await desk.run("skills", "export", client());
    expect([first.code, first.err]).toEqual([1, expect.stringContaining("not from here")]);
    writeFileSync(join(client(), "other/SKILL.md"), "changed\n");
    const second = (await desk.json("skills", "export", client())) as JsonObject;
    expect(codes(second).sort()).toEqual(["folder-changed", "folder-foreign"]);
    expect(readFileSync(join(client(), "other/SKILL.md"), "utf8")).toBe("changed\n");
  });

  it("takes out again what is not active any more, and follows new bytes", async () => {
    put(join(desk.folder, "box/notes/SKILL.md"), skillText("notes"));
    put(join(desk.folder, "box/notes/references/old.md"), "old\n");
    put(join(desk.folder, "box/other/SKILL.md"), skillText("other"));
    await desk.run("skills", "import", join(desk.folder, "box"));
    await desk.run("skills", "export", client());
    rmSync(join(desk.folder, "box/notes/references"), { recursive: true });
    put(join(desk.folder, "box/notes/SKILL.md"), skillText("notes", "Other words."));
    await desk.run("skills", "import", join(desk.folder, "box"));
    await desk.run("skills", "remove", "other");
    const answer = (await desk.json("skills", "export", client())) as JsonObject;
    expect([answer["exported"], answer["removed"]]).toEqual([["notes"], ["other"]]);
    expect(existsSync(join(client(), "other"))).toBe(false);
    expect(existsSync(join(client(), "notes/references"))).toBe(false);
    expect(readFileSync(join(client(), "notes/SKILL.md"), "utf8")).toContain("Other words.");
  });

  it("says what is in the way where the place is no folder that can be written to, whatever it is", async () => {
    put(join(desk.folder, "box/notes/SKILL.md"), skillText("notes"));
    await desk.run("skills", "import", join(desk.folder, "box"));
    put(join(desk.folder, "file"), "x");
    symlinkSync(join(desk.folder, "nowhere/at/all"), join(desk.folder, "dangling"));
    for (const place of ["file", "file/below", "file/far/below", "dangling"]) {
      const said = await desk.run("skills", "export", join(desk.folder, place));
      expect([said.code, said.err], place).toEqual([1, expect.stringContaining("cannot be written to as a folder")]);
      expect(said.err, place).toContain(join(desk.folder, place));
    }
  });
});

describe("edits by hand under a running daemon", () => {
  it("become a revision of their own, of a person; a broken one leaves the last good state in force; a lost folder comes back", async () => {
    const house = await compose({ home: desk.home, env: {}, main: "", log: silentLog, upstreams: false, watch: true });
    const name = "atomic-cancel-order" as SkillName;
    const path = join(desk.home, "skills", name, "SKILL.md");
    const skill = () => house.steward.world().library.skills.get(name);
    const until = async (holds: (tries: number) => boolean): Promise<void> => {
      for (let tries = 0; !holds(tries); tries += 1) {
        expect(tries).toBeLessThan(400);
        await new Promise((next) => setTimeout(next, 50));
      }
    };
    try {
      // The first move may come before the system watches: it is made again, now and then, until it is seen.
      const good = `${readFileSync(path, "utf8")}\nRead the answer twice.\n`;
      const before = house.steward.world().library.revision;
      await until((tries) => {
        if (tries % 40 === 0 && house.steward.world().library.revision === before) writeFileSync(path, good);
        return skill()?.provenance === "human";
      });
      expect(skill()?.body).toContain("Read the answer twice.");
      const { revision } = house.steward.world().library;
      expect(revision).toBe(before + 1);
      const history = await house.operations.skillHistory(name);
      expect(history[0]?.edit).toMatchObject({ by: "human", cause: "edited by hand" });

      writeFileSync(path, "---\nname: [\n");
      await new Promise((next) => setTimeout(next, 1_000));
      expect(house.steward.world().library.revision).toBe(revision);
      expect(skill()?.body).toContain("Read the answer twice.");

      writeFileSync(path, good.replace("twice", "thrice"));
      await until(() => skill()?.body.includes("thrice") === true);

      rmSync(dirname(path), { recursive: true });
      await until(() => existsSync(path));
      expect(readFileSync(path, "utf8")).toContain("thrice");
    } finally {
      await house.stop();
    }
  });
});
