import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Change } from "../../src/model/change.js";
import type { SkillName } from "../../src/model/ids.js";
import { dyingFiles } from "./dying-files.js";
import {
  call,
  catalog,
  digestsOf,
  documentDigest,
  episode,
  evidence,
  samples,
  filesIn,
  has,
  holds,
  lineage,
  open,
  plain,
  presence,
  removeHomes,
  report,
  revision,
  skillText,
  standings,
  tempHome,
  tool,
  view,
} from "./home.js";

afterEach(removeHomes);

const tools = { "shop/get": tool("get"), "shop/cancel": tool("cancel") };

async function written(...batches: readonly Change[][]): Promise<string> {
  const home = tempHome();
  const store = await open(home);
  for (const batch of batches) await store.persist(batch);
  await store.close();
  return home;
}

async function reading(home: string) {
  const store = await open(home);
  const ground = await store.read();
  await store.close();
  return { ground, codes: ground.problems.map(({ code }) => code), where: ground.problems.map(({ where }) => where) };
}

describe("a home", () => {
  it("gives back after a restart what was decided, at the places the design names", async () => {
    const rev = revision(undefined, { "atomic-get": skillText("atomic-get", "one") }, [], { "shop/old": digestsOf(tool("old")) });
    const home = await written(
      [catalog(1, { ...tools, "shop/old": tool("old") })],
      [
        catalog(2, tools, { "shop/old": { ...digestsOf(tool("old")), lastVersion: 1 } }),
        lineage("l1"),
        holds({ "shop/get": "why" }),
      ],
      [
        rev,
        standings({ "atomic-get": "active" }),
        { kind: "pinned", skill: "atomic-get" as SkillName, pin: { at: "x", by: "ann" } },
      ],
      [presence("shop", "away", "lost"), { kind: "rejected", set: new Map([["sig", { skill: "s", why: "w", at: "a" }]]) }],
      [view("vw_1", "ep_1"), episode("ep_1", { views: ["vw_1"] })],
      [call("ep_1", 1), episode("ep_1", { calls: 1 })],
      [evidence("ep_1"), samples("ep_1"), report("run_1")],
      [{ kind: "patterns", answers: new Map([["p", null]]) }],
      [lineage("l2", { to: ["shop/c"] }), lineage("l1", { confirmed: { by: "ann", at: "now" } })],
    );
    const paths = Object.keys(filesIn(home)).map((path) => path.replace(/[0-9a-f]{64}/, "<sha256>"));
    expect([...new Set(paths)].filter((path) => !path.endsWith(".bak")).sort()).toEqual([
      "catalog/lineage.json",
      "catalog/tools/<sha256>.json",
      "catalog/versions/000001.json",
      "catalog/versions/000002.json",
      "skills/atomic-get/SKILL.md",
      "skills/atomic-get/references/contract.json",
      "skills/steward.lock.json",
      "state/calls/000001.jsonl",
      "state/episodes/000001.jsonl",
      "state/evidence/<sha256>.json",
      "state/holds.json",
      "state/library/objects/<sha256>",
      "state/library/revisions/000001.json",
      "state/maintenance/run_1.json",
      "state/patterns.json",
      "state/presence.json",
      "state/rejected.json",
      "state/samples/<sha256>.json",
      "state/standings.json",
      "state/views/vw_1.json",
    ]);
    const store = await open(home);
    const ground = await store.read();
    expect(ground.problems).toEqual([]);
    expect(ground.manifest?.version).toBe(2);
    // Definitions of the catalog, of what left it, of what locks refer to.
    expect([...ground.documents.keys()].sort()).toEqual(
      ["get", "cancel", "old"].map((name) => documentDigest(tool(name))).sort(),
    );
    expect(ground.lineage.map(({ id, confirmed }) => [id, confirmed?.by])).toEqual([
      ["l1", "ann"],
      ["l2", undefined],
    ]);
    expect(ground.skills.get("atomic-get" as SkillName)).toEqual(skillText("atomic-get", "one"));
    expect(plain(ground)).toMatchObject({
      presence: { shop: { state: "away", reason: "lost" } },
      standings: { "atomic-get": { standing: "active" } },
      pinned: { "atomic-get": { by: "ann" } },
      rejected: { sig: { why: "w" } },
      evidence: 1,
      samples: { "shop/get": samples("ep_1").samples },
      patterns: { p: null },
      episodes: [{ episode: "ep_1", calls: 1 }],
    });
    expect(await store.readCalls("ep_1")).toEqual([call("ep_1", 1).line]);
    expect(await store.readCalls("ep_2")).toEqual([]);
    expect(await store.readView("vw_1")).toEqual(view("vw_1", "ep_1").record);
    expect(await store.readView("../../state/holds")).toBeUndefined();
    expect(await store.readReport("run_1")).toEqual(report("run_1").report);
    expect(await store.readEvidence(evidence("ep_1").digest)).toEqual(evidence("ep_1").evidence);
    expect((await store.listManifests()).map(({ version }) => version)).toEqual([1, 2]);
    expect(await store.readManifest(7)).toBeUndefined();
    expect(await store.readRevision(1)).toEqual(rev.record);
    expect(await store.readSkillFiles(rev.record, "atomic-get" as SkillName)).toEqual(skillText("atomic-get", "one"));
    await store.close();
  });

  it("keeps a definition as the upstream listed it: unknown fields, order of members, odd characters", async () => {
    const odd = tool("odd", { _meta: { z: 1, a: [null, 1.5e300] }, icons: [], title: "Ünï \u2028 \ud83d\uded2" });
    const home = await written([catalog(1, { "s/odd": odd })]);
    const { ground } = await reading(home);
    expect(JSON.stringify(ground.documents.get(documentDigest(odd)))).toBe(JSON.stringify(odd));
  });

  it("writes nothing where nothing moved", async () => {
    const home = await written([presence("shop", "up"), standings({ a: "active" }), holds({})]);
    const files = dyingFiles();
    const store = await open(home, { files });
    await store.read();
    const before = files.steps();
    await store.persist([presence("shop", "up"), standings({ a: "active" }), holds({})]);
    await store.persist([
      { kind: "clock", at: "x" },
      { kind: "intake", label: "shop" as never, problems: [] },
    ]);
    expect(files.steps()).toBe(before);
    await store.close();
  });

  it("gives the same bytes for the same state, in whatever order it came about", async () => {
    const a = await written([presence("a", "up")], [presence("b", "up")], [standings({ x: "active", y: "active" })]);
    const b = await written([standings({ y: "active" })], [presence("b", "up"), presence("a", "up"), standings({ x: "active" })]);
    const small = (home: string) => Object.entries(filesIn(home)).filter(([path]) => /(presence|standings)\.json$/.test(path));
    expect(small(a)).toEqual(small(b));
  });

  it("finishes what is being written when it closes, and takes nothing afterwards [P04]", async () => {
    const home = tempHome();
    const store = await open(home);
    const under = [store.persist([presence("shop", "up")]), store.persist([episode("ep_1")]), store.persist([catalog(1, tools)])];
    await store.close();
    await Promise.all(under);
    await expect(store.persist([presence("shop", "away")])).rejects.toMatchObject({ code: "shutting-down" });
    const { ground } = await reading(home);
    expect(plain(ground)).toMatchObject({
      presence: { shop: { state: "up" } },
      manifest: { version: 1 },
      episodes: [{ episode: "ep_1" }],
    });
  });

  it("keeps every one of many decisions made at once, in their order [P02]", async () => {
    const home = tempHome();
    const store = await open(home);
    const labels = Array.from({ length: 60 }, (_, n) => `u${n}`);
    await Promise.all(labels.map((label, n) => store.persist([presence(label, "up"), episode(`ep_${n}`)])));
    await Promise.all(labels.map((_, n) => store.persist([call("ep_1", n + 1), episode("ep_1", { calls: n + 1 })])));
    await store.close();
    const again = await open(home);
    const ground = await again.read();
    expect([...ground.presence.keys()]).toEqual([...labels].sort());
    expect(ground.episodes).toHaveLength(60);
    expect((await again.readCalls("ep_1")).map(({ seq }) => seq)).toEqual(labels.map((_, n) => n + 1));
    await again.close();
  });

  it("refuses ids that are no file names, and nothing of their decision is kept", async () => {
    const home = tempHome();
    const store = await open(home);
    const bad: Change[] = [view("../../x", "ep_1"), report("a/b"), { ...evidence("e"), digest: "../e" }];
    for (const change of bad)
      await expect(store.persist([presence("shop", "up"), change])).rejects.toMatchObject({ code: "input-invalid" });
    expect((await store.read()).presence.size).toBe(0);
    await store.close();
  });

  it("is private where it holds what agents said and did", async () => {
    const home = await written([episode("ep_1")]);
    const store = await open(home);
    expect(await store.operatorToken()).toMatch(/^[0-9a-z]{52}$/);
    expect(await store.operatorToken()).toBe(await store.operatorToken());
    await store.close();
    if (process.platform === "win32") return;
    const mode = (path: string): number => statSync(join(home, path)).mode & 0o777;
    expect([mode("state"), mode("state/operator.token"), mode("state/episodes/000001.jsonl")]).toEqual([0o700, 0o600, 0o600]);
  });
});

describe("a damaged home", () => {
  const damages: Record<string, (path: string) => void> = {
    "cut to nothing": (path) => truncateSync(path, 0),
    "all NUL": (path) => writeFileSync(path, Buffer.alloc(200)),
    "cut in the middle": (path) => truncateSync(path, statSync(path).size >> 1),
    "another document": (path) => writeFileSync(path, '{"format":"other/1"}'),
    "not as its format says": (path) => writeFileSync(path, readFileSync(path, "utf8").replace(/"(since|at|id)"/g, '"$1x"')),
  };

  it.each(Object.entries(damages))(
    "starts with the copy before where a small document is %s, and keeps the damaged one [P01]",
    async (_name, damage) => {
      for (const place of ["state/presence.json", "state/standings.json", "state/rejected.json", "catalog/lineage.json"]) {
        const batch = (n: number): Change[] => [
          presence("shop", "up", `r${n}`),
          { kind: "pinned", skill: `s${n}` as SkillName, pin: { at: "x", by: "y" } },
          { kind: "rejected", set: new Map([[`sig${n}`, { skill: "s", why: "w", at: "a" }]]) },
          lineage(`l${n}`),
        ];
        const home = await written(batch(1), batch(2));
        const before = readFileSync(join(home, `${place}.bak`), "utf8");
        damage(join(home, place));
        const broken = readFileSync(join(home, place));
        const { codes, where } = await reading(home);
        expect(codes).toEqual(["document-damaged"]);
        expect(where).toEqual([place]);
        expect(readFileSync(join(home, `${place}.damaged-1`))).toEqual(broken);
        const store = await open(home);
        const ground = plain(await store.read()) as Record<string, unknown>;
        const text = JSON.stringify(ground);
        const name = {
          "state/presence.json": "r1",
          "state/standings.json": "s1",
          "state/rejected.json": "sig1",
          "catalog/lineage.json": "l1",
        }[place];
        expect(text).toContain(`"${name}"`);
        expect(before).toContain(`"${name}"`);
        // It goes on being written, and the good copy is not overwritten by a bad one.
        await store.persist(batch(3));
        await store.close();
        expect((await reading(home)).codes).toEqual([]);
        expect(readFileSync(join(home, place), "utf8")).toContain("3");
      }
    },
  );

  it("starts empty, and says so, where the copy before is damaged as well [P01]", async () => {
    const home = await written([presence("a", "up")], [presence("a", "away")]);
    for (const place of ["state/presence.json", "state/presence.json.bak"]) truncateSync(join(home, place), 0);
    const { ground, codes } = await reading(home);
    expect(codes).toEqual(["document-damaged", "document-damaged"]);
    expect(ground.presence.size).toBe(0);
    expect(readdirSync(join(home, "state")).filter((name) => name.includes("damaged"))).toHaveLength(2);
  });

  it("takes the copy before for a small document that is gone", async () => {
    const home = await written([presence("a", "up")], [presence("a", "away")]);
    rmSync(join(home, "state/presence.json"));
    const { ground, codes } = await reading(home);
    expect(codes).toEqual(["document-missing"]);
    expect(plain(ground)).toMatchObject({ presence: { a: { state: "up" } } });
  });

  it("goes back to the catalog version before, and names a definition that does not hash", async () => {
    const home = await written([catalog(1, tools)], [catalog(2, { "shop/get": tool("get", { title: "x" }) })]);
    writeFileSync(join(home, "catalog/versions/000002.json"), "{");
    writeFileSync(
      join(home, `catalog/tools/${documentDigest(tool("cancel"))}.json`),
      JSON.stringify(tool("cancel", { evil: true })),
    );
    const { ground, codes } = await reading(home);
    expect(ground.manifest?.version).toBe(1);
    expect(codes).toEqual(["document-damaged", "document-damaged", "definition-missing"]);
    expect([...ground.documents.values()].map(({ name }) => name)).toEqual(["get"]);
    const store = await open(home);
    await expect(store.readDocuments([documentDigest(tool("get")), documentDigest(tool("cancel"))])).rejects.toMatchObject({
      code: "home-damaged",
    });
    // Its upstream lists it again: the definition is written anew.
    await store.persist([catalog(2, tools)]);
    expect((await store.readDocuments([documentDigest(tool("cancel"))])).size).toBe(1);
    await store.close();
    expect((await reading(home)).codes).toEqual([]);
  });

  it("writes a definition anew where a damaged one lies in its place", async () => {
    const home = await written([catalog(1, { "shop/get": tool("get") })]);
    const path = join(home, `catalog/tools/${documentDigest(tool("get"))}.json`);
    truncateSync(path, 5);
    const store = await open(home);
    await store.persist([catalog(2, { "shop/get": tool("get"), "shop/x": tool("x") })]);
    expect((await store.readDocuments([documentDigest(tool("get"))])).size).toBe(1);
    await store.close();
  });

  it("rebuilds the newest library revision from the lock beside the skills", async () => {
    const first = revision(undefined, { a: skillText("a", "one") });
    const second = revision(first.record.lock, { b: skillText("b", "two") });
    const home = await written([first], [second]);
    truncateSync(join(home, "state/library/revisions/000002.json"), 10);
    const store = await open(home);
    const ground = await store.read();
    expect(ground.problems.map(({ code }) => code)).toEqual(["document-damaged", "revision-rebuilt"]);
    expect(ground.revision).toMatchObject({ revision: 2, lock: second.record.lock });
    expect([...ground.skills.keys()]).toEqual(["a", "b"]);
    expect(await store.readHandEdits()).toEqual({ written: [], missing: [], problems: [] });
    await store.close();
    expect((await reading(home)).codes).toEqual([]);
  });

  it("takes bytes lost from the store back from the skill's folder, and tells of those that are gone", async () => {
    const home = await written([revision(undefined, { a: skillText("a", "one"), b: skillText("b", "two") })]);
    const digests = Object.fromEntries(
      readdirSync(join(home, "state/library/objects")).map((name) => [
        readFileSync(join(home, "state/library/objects", name), "utf8"),
        name,
      ]),
    );
    truncateSync(join(home, "state/library/objects", digests[skillText("a", "one")["SKILL.md"] ?? ""] ?? ""), 3);
    rmSync(join(home, "state/library/objects", digests[skillText("b", "two")["SKILL.md"] ?? ""] ?? ""));
    rmSync(join(home, "skills/b/SKILL.md"));
    const { ground, codes } = await reading(home);
    expect(codes).toEqual(["object-healed", "object-missing"]);
    expect([...ground.skills.keys()]).toEqual(["a"]);
  });

  it("restores the lock beside the skills where somebody changed it", async () => {
    const home = await written([revision(undefined, { a: skillText("a", "one") })]);
    const good = readFileSync(join(home, "skills/steward.lock.json"), "utf8");
    writeFileSync(join(home, "skills/steward.lock.json"), good.replace("rules", "human"));
    expect((await reading(home)).codes).toEqual(["lock-restored"]);
    expect(readFileSync(join(home, "skills/steward.lock.json"), "utf8")).toBe(good);
  });

  it("sets a damaged pending batch aside", async () => {
    const home = await written([presence("a", "up")]);
    for (const text of [
      "{",
      JSON.stringify({
        format: "pending-batch/1",
        number: 1,
        documents: [{ place: "../../etc/x.json", document: {} }],
        lines: { calls: [], episodes: [] },
        skills: {},
      }),
    ]) {
      writeFileSync(join(home, "state/pending.json"), text);
      expect((await reading(home)).codes).toEqual(["document-damaged"]);
      expect(existsSync(join(home, "state/pending.json"))).toBe(false);
    }
  });
});

describe("formats of other versions", () => {
  it("refuse to be read where they are newer, naming the file", async () => {
    for (const place of ["state/holds.json", "catalog/versions/000001.json", "state/library/revisions/000001.json"]) {
      const home = await written(
        [catalog(1, tools), holds({}), revision(undefined, { a: skillText("a", "1") })],
        [holds({ "a/b": "x" })],
      );
      writeFileSync(join(home, place), readFileSync(join(home, place), "utf8").replace(/("format": "[a-z-]+\/)1"/, '$12"'));
      const store = await open(home);
      await expect(store.read()).rejects.toMatchObject({
        code: "format-newer",
        message: expect.stringContaining(place) as string,
      });
      await store.close();
      expect(has(home, place)).toBe(true);
    }
    const home = await written([episode("ep_1")]);
    const store = await open(home);
    const { renderLine } = await import("../../src/store/lines.js");
    writeFileSync(join(home, "state/episodes/000001.jsonl"), renderLine({ format: "episode/2" }, { number: 1, left: 0 }));
    await expect(store.read()).rejects.toMatchObject({ code: "format-newer" });
    await store.close();
  });

  it("are brought forward where they are older, and the old copy is kept", async () => {
    const home = await written([presence("a", "up"), catalog(1, tools)]);
    const old = (place: string): string => {
      const text = readFileSync(join(home, place), "utf8")
        .replace(/("format": "[a-z-]+\/)1"/, '$10"')
        .replace("listing of", "old listing of");
      writeFileSync(join(home, place), text);
      return text;
    };
    const texts = [old("state/presence.json"), old("catalog/versions/000001.json")];
    const step = (document: object): never =>
      ({ ...document, format: (document as { format: string }).format.replace("/0", "/1") }) as never;
    const store = await open(home, { migrations: { "presence/0": step, "catalog-manifest/0": step } });
    const ground = await store.read();
    expect(ground.problems.map(({ code }) => code).sort()).toEqual(["document-migrated", "document-migrated"]);
    expect(plain(ground)).toMatchObject({ presence: { a: { state: "up" } }, manifest: { cause: "old listing of shop (sync)" } });
    expect([
      readFileSync(join(home, "state/presence.json.v0"), "utf8"),
      readFileSync(join(home, "catalog/versions/000001.json.v0"), "utf8"),
    ]).toEqual(texts);
    await store.persist([presence("b", "up")]);
    await store.close();
    expect((await reading(home)).codes).toEqual([]);
  });
});

describe("a home opened in a process without native addons", () => {
  it("works [P12]", async () => {
    const { execFileSync } = await import("node:child_process");
    const home = tempHome();
    const script = `
      import { openStore } from ${JSON.stringify(join(import.meta.dirname, "../../src/store/store.ts"))};
      import { silentLog } from ${JSON.stringify(join(import.meta.dirname, "../../src/host/log.ts"))};
      const store = await openStore({ home: ${JSON.stringify(home)}, now: "now", log: silentLog });
      await store.persist([{ kind: "presence", label: "shop", presence: { state: "up", since: "now", reason: undefined } }]);
      console.log((await store.read()).presence.size);
      await store.close();`;
    const out = execFileSync(process.execPath, ["--no-addons", "--import", "tsx", "--input-type=module", "-e", script], {
      encoding: "utf8",
    });
    expect(out.trim()).toBe("1");
  });
});
