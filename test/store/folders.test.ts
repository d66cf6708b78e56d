import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { Change } from "../../src/model/change.js";
import type { SkillName } from "../../src/model/ids.js";
import type { Lock, LockEntry } from "../../src/model/skill.js";
import { SKILL_LIMITS } from "../../src/model/policy.js";
import { PAST_KEPT } from "../../src/store/past.js";
import type { HomeStore } from "../../src/store/store.js";
import { open, removeHomes, revision, skillText, tempHome, type SkillTexts } from "./home.js";

afterEach(removeHomes);

const one = skillText("a", "one");
const two = skillText("b", "two");

async function library(): Promise<{ home: string; store: HomeStore; lock: Lock }> {
  const home = tempHome();
  const store = await open(home);
  const change = revision(undefined, { a: one, b: two });
  await store.persist([change]);
  return { home, store, lock: change.record.lock };
}

describe("hand edits", () => {
  it("are seen where a byte moved, a file came or went, a folder is new or gone", async () => {
    const { home, store } = await library();
    expect(await store.readHandEdits()).toEqual({ written: [], missing: [], problems: [] });
    writeFileSync(join(home, "skills/a/SKILL.md"), "\ufeffchanged\r\n");
    writeFileSync(join(home, "skills/a/.DS_Store"), "x");
    mkdirSync(join(home, "skills/new/references"), { recursive: true });
    writeFileSync(join(home, "skills/new/SKILL.md"), "new");
    writeFileSync(join(home, "skills/new/references/n.md"), "n");
    mkdirSync(join(home, "skills/.git"));
    mkdirSync(join(home, "skills/empty"));
    mkdirSync(join(home, "skills/notes"));
    writeFileSync(join(home, "skills/notes/todo.md"), "n");
    renameSync(join(home, "skills/b"), join(home, "skills/.b"));
    const { written, missing, problems } = await store.readHandEdits();
    expect(written).toEqual([
      { folder: "a", files: { "SKILL.md": "\ufeffchanged\r\n", "references/contract.json": one["references/contract.json"] } },
      { folder: "new", files: { "SKILL.md": "new", "references/n.md": "n" } },
    ]);
    expect(missing).toEqual(["b"]);
    expect(problems.map(({ code, where }) => [code, where])).toEqual([["skill-file-missing", "skills/notes"]]);
    rmSync(join(home, "skills/new"), { recursive: true });
    writeFileSync(join(home, "skills/a/SKILL.md"), one["SKILL.md"] ?? "");
    rmSync(join(home, "skills/a/references/contract.json"));
    expect((await store.readHandEdits()).written).toEqual([{ folder: "a", files: { "SKILL.md": one["SKILL.md"] } }]);
    await store.close();
  });

  it("are all folders before the first revision, whatever a lock that came with them says", async () => {
    const { home, store } = await library();
    await store.close();
    const fresh = tempHome();
    const { cpSync } = await import("node:fs");
    cpSync(join(home, "skills"), join(fresh, "skills"), { recursive: true });
    const opened = await open(fresh);
    const ground = await opened.read();
    expect([ground.revision, ground.problems]).toEqual([undefined, []]);
    expect((await opened.readHandEdits()).written.map(({ folder }) => folder)).toEqual(["a", "b"]);
    await opened.persist([revision(undefined, { a: one, b: two })]);
    expect(await opened.readHandEdits()).toEqual({ written: [], missing: [], problems: [] });
    await opened.close();
  });

  it("are read through no link and out of no folder, and what is passed over is named [S06]", async () => {
    const { home, store } = await library();
    const outside = tempHome();
    writeFileSync(join(outside, "SKILL.md"), "secret");
    symlinkSync(outside, join(home, "skills/linked"));
    symlinkSync(join(outside, "SKILL.md"), join(home, "skills/a/link.md"));
    symlinkSync(outside, join(home, "skills/a/folder"));
    writeFileSync(join(home, "skills/a/back\\slash.md"), "x");
    writeFileSync(join(home, "skills/a/image.png"), Buffer.from([0x89, 0x50, 0xff, 0xfe]));
    const { written, problems } = await store.readHandEdits();
    expect(written).toEqual([]);
    expect(problems.map(({ where }) => where).sort()).toEqual([
      "skills/a/back\\slash.md",
      "skills/a/folder",
      "skills/a/image.png",
      "skills/a/link.md",
      "skills/linked",
    ]);
    expect(JSON.stringify(problems)).not.toContain("secret");
    await store.close();
  });

  it("have a bound in files and in bytes [S06]", async () => {
    const { home, store } = await library();
    mkdirSync(join(home, "skills/many"));
    for (let n = 0; n < SKILL_LIMITS.filesPerSkill + 3; n += 1)
      writeFileSync(join(home, "skills/many", `f${String(n).padStart(4, "0")}.md`), "x");
    writeFileSync(join(home, "skills/many/SKILL.md"), "x");
    mkdirSync(join(home, "skills/large"));
    writeFileSync(join(home, "skills/large/SKILL.md"), "x");
    writeFileSync(join(home, "skills/large/big.md"), "x".repeat(SKILL_LIMITS.folderBytes));
    const { written, problems } = await store.readHandEdits();
    expect(written.map(({ folder, files }) => [folder, Object.keys(files).length])).toEqual([
      ["large", 1],
      ["many", SKILL_LIMITS.filesPerSkill],
    ]);
    expect(problems).toHaveLength(2);
    await store.close();
  });
});

describe("writing skills", () => {
  it("refuses names and files that leave their folder, and nothing of the decision is kept [S06]", async () => {
    const { store, lock } = await library();
    const bad: Record<string, SkillTexts>[] = [
      { "../x": one },
      { Up: one },
      { c: { "SKILL.md": "x", "../../x.md": "y" } },
      { c: { "SKILL.md": "x", "a\\b.md": "y" } },
      { c: { "SKILL.md": "x", "C:/b.md": "y" } },
      { c: { "SKILL.md": "x", "skill.md": "y" } },
      { c: { "SKILL.md": "x", ".hidden": "y" } },
    ];
    for (const written of bad)
      await expect(store.persist([revision(lock, written)])).rejects.toMatchObject({ code: "input-invalid" });
    expect((await store.read()).revision?.revision).toBe(1);
    await store.close();
  });

  it("goes through no link in the place of a skill's folder [S06]", async () => {
    const { home, store, lock } = await library();
    const outside = tempHome();
    rmSync(join(home, "skills/a"), { recursive: true });
    symlinkSync(outside, join(home, "skills/a"));
    await store.persist([revision(lock, { a: skillText("a", "two") })]).catch(() => undefined);
    expect(readdirSync(outside)).toEqual([]);
    rmSync(join(home, "skills/a"));
    await store.persist([]);
    expect(readFileSync(join(home, "skills/a/SKILL.md"), "utf8")).toContain("two");
    await store.close();
  });

  it("destroys no byte that a person wrote meanwhile: it is kept aside and named", async () => {
    const { home, store, lock } = await library();
    writeFileSync(join(home, "skills/a/SKILL.md"), "by hand");
    writeFileSync(join(home, "skills/a/mine.md"), "also by hand");
    await store.persist([revision(lock, { a: skillText("a", "edited") })]);
    expect(readFileSync(join(home, "skills/a/SKILL.md"), "utf8")).toContain("edited");
    expect(readFileSync(join(home, "skills/a/mine.md"), "utf8")).toBe("also by hand");
    const kept = readdirSync(join(home, "state/overwritten/a"));
    expect(kept.map((name) => readFileSync(join(home, "state/overwritten/a", name), "utf8"))).toEqual(["by hand"]);
    await store.close();
  });

  it("brings a folder back that a person deleted", async () => {
    const { home, store, lock } = await library();
    rmSync(join(home, "skills/a"), { recursive: true });
    await store.persist([revision(lock, { a: one })]);
    expect(await store.readHandEdits()).toEqual({ written: [], missing: [], problems: [] });
    await store.close();
  });

  it("removes a skill only where the decision says so, and then its own files only", async () => {
    const { home, store, lock } = await library();
    writeFileSync(join(home, "skills/b/mine.md"), "by hand");
    const second = revision(lock, { c: skillText("c", "three") });
    await store.persist([second]);
    expect(readdirSync(join(home, "skills"))).toEqual(["a", "b", "c", "steward.lock.json"]);
    await store.persist([revision(second.record.lock, {}, ["a", "b"])]);
    expect(existsSync(join(home, "skills/a"))).toBe(false);
    expect(readdirSync(join(home, "skills/b"))).toEqual(["mine.md"]);
    await store.close();
  });
});

describe("earlier states of skills", () => {
  /** As the world keeps them: what a skill was before each revision that wrote it, newest first. */
  function model(history: readonly (Change & { kind: "library-revision" })[]): Map<string, LockEntry[]> {
    const past = new Map<string, LockEntry[]>();
    let lock: Lock | undefined;
    for (const { record, written, removed } of history) {
      for (const name of written.keys()) {
        const entry = lock?.skills[name];
        if (entry !== undefined) past.set(name, [entry, ...(past.get(name) ?? [])].slice(0, PAST_KEPT));
      }
      for (const name of removed) past.delete(name);
      lock = record.lock;
    }
    return past;
  }

  const edit = fc.record({
    write: fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("one", "two", "three"), { maxKeys: 2 }),
    remove: fc.subarray(["c"]),
    restart: fc.boolean(),
  });

  it("are after any history what the world saw, newest first, across restarts and lost caches", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 14 }), fc.boolean(), async (edits, loseCache) => {
        const home = tempHome();
        let store = await open(home);
        await store.read();
        const history: (Change & { kind: "library-revision" })[] = [];
        let lock: Lock | undefined;
        for (const { write, remove, restart } of edits) {
          const written = Object.fromEntries(Object.entries(write).map(([name, body]) => [name, skillText(name, body)]));
          const present = remove.filter((name) => lock?.skills[name] !== undefined && written[name] === undefined);
          const change = revision(lock, written, present);
          await store.persist([change]);
          history.push(change);
          lock = change.record.lock;
          if (!restart) continue;
          await store.close();
          if (loseCache) rmSync(join(home, "state/cache"), { recursive: true, force: true });
          store = await open(home);
          await store.read();
        }
        await store.close();
        store = await open(home);
        const { pastRevisions, problems } = await store.read();
        await store.close();
        expect(problems).toEqual([]);
        expect(new Map([...pastRevisions].map(([name, states]) => [name as string, states.map(({ entry }) => entry)]))).toEqual(
          model(history),
        );
        for (const [name, states] of pastRevisions) {
          for (const { revision: number, files, entry } of states) {
            expect(number).toBe(entry.revision);
            const record = history.find((change) => change.record.revision === number)?.record;
            expect(Object.keys(files)).toEqual(Object.keys(record?.skills[name as SkillName] ?? {}));
          }
        }
        removeHomes();
      }),
      { numRuns: 25 },
    );
  });
});
