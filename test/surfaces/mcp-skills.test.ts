/** The Skills extension: the library's active skills and those of upstreams, as the SDK's own reader of skills sees them. */
import { createHash } from "node:crypto";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { Refusal } from "../../src/model/fault.js";
import type { JsonObject } from "../../src/model/json.js";
import { SURFACE_LIMITS } from "../../src/model/policy.js";
import { entryProblem, ownUri, splitOwnUri } from "../../src/surfaces/mcp/skill-entry.js";
import { fakeOperations, plan } from "./fake.js";
import type { FakeUpstream } from "./fake.js";
import { closeAll, currentClient, start } from "./start.js";

afterEach(closeAll);

const EXTENSION = "io.modelcontextprotocol/skills";
const BODY = "---\nname: pdf\ndescription: Reads PDF files.\n---\r\n\nRead — all of it.\n";
const file = (uri: string, text: string): JsonObject => ({
  uri,
  digest: `sha256:${createHash("sha256").update(text).digest("hex")}`,
  size: Buffer.byteLength(text),
});
const PDF: JsonObject = {
  uri: "skill://office/pdf/SKILL.md",
  frontmatter: { name: "pdf", description: "Reads PDF files." },
  resources: [file("skill://office/pdf/SKILL.md", BODY)],
  _meta: { "example.com/own": [1] },
};

/** An upstream that serves these entries, one a page. */
const docs = (entries: readonly JsonObject[], more: Partial<FakeUpstream> = {}): FakeUpstream => ({
  label: "docs",
  capabilities: { resources: {}, extensions: { [EXTENSION]: { directoryRead: true } } },
  pass: (method, params) => {
    const at = Number(params["cursor"] ?? 0);
    if (method === "skills/list") {
      const next = at + 1 < entries.length ? { nextCursor: String(at + 1) } : {};
      return { skills: entries.slice(at, at + 1), ...next };
    }
    if (method === "resources/list") return { resources: [] };
    if (method === "skills/get" && params["uri"] === PDF["uri"]) return { skill: PDF };
    if (method === "resources/read" && params["uri"] === PDF["uri"]) return { contents: [{ uri: PDF["uri"] ?? "", text: BODY }] };
    if (method === "resources/directory/read" && params["uri"] === "skill://office/pdf")
      return { resources: [{ uri: PDF["uri"] ?? "", name: "SKILL.md" }] };
    throw new Refusal(-32602, "No such thing", { uri: params["uri"] ?? "" });
  },
  ...more,
});

describe.each(["legacy", "modern"] as const)("a %s agent", (era) => {
  const skillsOf = async (url: string) => new SkillsClient(await currentClient(url, era));

  it("lists, gets and reads the library's active skills; every byte agrees with its digest", async () => {
    const { url } = await start({ operations: fakeOperations([], [plan("plan-cancel-order"), plan("plan-return")]) });
    const skills = await skillsOf(url);
    expect([skills.supported, skills.directoryRead]).toEqual([true, true]);
    const { skills: entries } = await skills.list();
    expect(entries.map((entry) => entry.uri)).toEqual([
      "skill://library/plan-cancel-order/SKILL.md",
      "skill://library/plan-return/SKILL.md",
    ]);
    for (const entry of entries) {
      expect((await skills.get(entry.uri)).skill).toEqual(entry);
      expect(await skills.read(entry)).toMatchObject({ verified: true, mimeType: "text/markdown" });
      expect(await skills.read(entry, "references/contract.json")).toMatchObject({ verified: true, text: "{}\n" });
    }
  });

  it("walks the folders of a skill", async () => {
    const { url } = await start({ operations: fakeOperations([], [plan("plan-return")]) });
    const skills = await skillsOf(url);
    const root = "skill://library/plan-return";
    expect((await skills.readDirectory(root)).resources).toMatchObject([
      { uri: `${root}/SKILL.md`, name: "SKILL.md", mimeType: "text/markdown" },
      { uri: `${root}/references`, name: "references", mimeType: "inode/directory" },
    ]);
    expect((await skills.readDirectory(`${root}/references`)).resources).toMatchObject([
      { uri: `${root}/references/contract.json`, mimeType: "application/json", size: 3 },
    ]);
    for (const none of [`${root}/SKILL.md`, `${root}/nothing`, "skill://library/nobody", "skill://library/%zz"])
      await expect(skills.readDirectory(none)).rejects.toMatchObject({ code: -32602 });
  });

  it("is given an upstream's skills under its label, with bytes, digests and metadata as they are", async () => {
    const { url } = await start({ operations: fakeOperations([docs([PDF])], []) });
    const skills = await skillsOf(url);
    const { skills: entries } = await skills.list();
    const uri = "skill://upstream/docs/office/pdf/SKILL.md";
    expect(entries).toEqual([{ ...PDF, uri, resources: [{ ...file(uri, BODY) }] }]);
    const [entry] = entries;
    if (entry === undefined) throw new Error("nothing was listed");
    expect((await skills.get(uri)).skill).toEqual(entry);
    expect(await skills.read(entry)).toMatchObject({ verified: true, text: BODY });
    expect((await skills.readDirectory("skill://upstream/docs/office/pdf")).resources).toMatchObject([{ uri }]);
    await expect(skills.get("skill://upstream/docs/office/none/SKILL.md")).rejects.toMatchObject({ code: -32602 });
  });
});

describe("the list of skills", () => {
  it("loses no skill to another that strict readers refuse: that one is left out, and it is said why [C10]", async () => {
    const bad: JsonObject[] = [
      { ...PDF, uri: "skill://office/word/SKILL.md" },
      { ...PDF, resources: [{ ...file(String(PDF["uri"]), BODY), digest: "md5:1" }] },
      { ...PDF, frontmatter: { name: "PDF files", description: "x" } },
      { frontmatter: {} },
    ];
    const { url } = await start({ operations: fakeOperations([docs([...bad, PDF])], [plan("plan-return")]) });
    const client = await currentClient(url, "modern");
    const { skills } = await new SkillsClient(client).list();
    expect(skills.map((skill) => skill.frontmatter.name)).toEqual(["plan-return", "pdf"]);
    const raw = JSON.stringify(await client.request({ method: "skills/list", params: {} }, anySchema));
    for (const why of ["is not the folder", "no sha256 digest", "name rules", "unnamed"]) expect(raw).toContain(why);
  });

  it("comes in pages that go on after a skill, so that a list that moves loses and doubles none", async () => {
    const many = Array.from({ length: SURFACE_LIMITS.skillsPerPage + 3 }, (_, at) => plan(`plan-${String(at).padStart(4, "0")}`));
    const { url } = await start({ operations: fakeOperations([], many) });
    const client = await currentClient(url, "modern");
    const { skills } = await new SkillsClient(client).list();
    expect(skills).toHaveLength(many.length);
    await expect(client.request({ method: "skills/list", params: { cursor: "?" } }, anySchema)).rejects.toMatchObject({
      code: -32602,
    });
  });

  it("has active skills only; a resting one is refused with its reason", async () => {
    const resting = plan("plan-return", { standing: "inactive", because: "broken", needsReview: false, since: "", reasons: [] });
    const { url } = await start({ operations: fakeOperations([], [resting, plan("plan-cancel-order")]) });
    const client = await currentClient(url, "modern");
    const skills = new SkillsClient(client);
    expect((await skills.list()).skills.map((skill) => skill.frontmatter.name)).toEqual(["plan-cancel-order"]);
    const uri = "skill://library/plan-return/SKILL.md";
    await expect(skills.get(uri)).rejects.toMatchObject({ code: -32602 });
    await expect(client.readResource({ uri })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("rests") as string,
    });
  });

  it("has no skill of an upstream that rests in the library, and neither its entry nor its files are given out", async () => {
    const why = "`docs-pdf` rests: it waits until a person approves it";
    const operations = { ...fakeOperations([docs([PDF])], []), skillWithheld: () => why };
    const { url } = await start({ operations });
    const client = await currentClient(url, "modern");
    const answer = (await client.request({ method: "skills/list", params: {} }, anySchema)) as JsonObject;
    expect(answer["skills"]).toEqual([]);
    expect(JSON.stringify(answer["_meta"])).toContain(why);
    const uri = "skill://upstream/docs/office/pdf/SKILL.md";
    const refused = { code: -32602, message: expect.stringContaining(why) as string };
    await expect(new SkillsClient(client).get(uri)).rejects.toMatchObject(refused);
    await expect(client.readResource({ uri })).rejects.toMatchObject(refused);
  });

  it("is said to have moved when standings move", async () => {
    const operations = fakeOperations([], [plan("plan-return")]);
    const { url } = await start({ operations });
    const client = await currentClient(url, "modern");
    let heard = 0;
    client.setNotificationHandler("notifications/resources/list_changed", () => void (heard += 1));
    await client.listen({ resourcesListChanged: true });
    operations.announce("skills");
    while (heard === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(heard).toBe(1);
  });
});

describe("URIs of own skills", () => {
  it("lead back to skill and path, whatever the path has", () => {
    const segment = fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => !text.includes("/"));
    fc.assert(
      fc.property(segment, fc.array(segment, { maxLength: 3 }), (skill, path) => {
        expect(splitOwnUri(ownUri(skill, path.join("/")))).toEqual({ skill, path: path.join("/") });
      }),
    );
    expect(splitOwnUri("skill://upstream/docs/x/SKILL.md")).toBeUndefined();
  });

  it("make entries that have no problem", () => {
    expect(entryProblem(PDF)).toBeUndefined();
    for (const resources of [[], [{ uri: "skill://office/pdf/../x", digest: "", size: 0 }], "static", undefined])
      expect(entryProblem(JSON.parse(JSON.stringify({ ...PDF, resources })) as JsonObject)).toBeDefined();
    expect(entryProblem({ ...PDF, resources: "dynamic" })).toBeUndefined();
  });
});

const anySchema = {
  "~standard": { version: 1 as const, vendor: "test", validate: (value: unknown) => ({ value: value as JsonObject }) },
};
