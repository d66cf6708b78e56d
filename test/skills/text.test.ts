import fc from "fast-check";
import { describe, it, expect } from "vitest";
import { Fault } from "../../src/model/fault.js";
import { asName, draftOf, draftProblems, parseSkill, renderSkill, safePath, TIER_KEY } from "../../src/skills/text.js";
import { readOwnHead } from "../../src/skills/written.js";
import { readAnyHead } from "../../src/skills/yaml.js";
import { anyDraft, anyText, draft } from "./drafts.js";
import { publicValidatorProblems } from "./public-validators.js";

const read = (files: Record<string, string>, folder = "some-skill") => parseSkill({ folder, files }, "import");
const skillMd = (head: string, body = "Do it.") => ({ "SKILL.md": `---\n${head}\n---\n${body}\n` });
const codes = (files: Record<string, string>, folder?: string) => read(files, folder).problems.map((problem) => problem.code);

describe("writing and reading a skill", () => {
  it("is the identity: what a draft says is what is read back, whatever characters it has [L14]", () => {
    fc.assert(
      fc.property(anyDraft, (one) => {
        const files = renderSkill(one);
        const { skill, problems } = parseSkill({ folder: one.name, files }, "rules");
        expect(problems).toEqual([]);
        expect(skill).toMatchObject({ name: one.name, tier: one.tier, description: one.description.trim() });
        expect(skill?.license).toBe(one.license?.trim());
        expect(skill?.metadata[TIER_KEY]).toBe(one.tier);
        expect(Object.keys(skill?.metadata ?? {}).length).toBe(1 + Object.keys(one.metadata ?? {}).length);
        expect({ ...skill?.contract, format: undefined }).toEqual({
          ...JSON.parse(JSON.stringify(one.contract)),
          format: undefined,
        });
      }),
      { numRuns: 200 },
    );
  });

  it("gives the same bytes again for what was read back", () => {
    fc.assert(
      fc.property(anyDraft, (one) => {
        const files = renderSkill(one);
        const { skill } = parseSkill({ folder: one.name, files }, "rules");
        if (skill === undefined) throw new Error("it should have been read");
        expect(renderSkill(draftOf(skill))).toEqual(files);
      }),
      { numRuns: 200 },
    );
  });

  it("writes only what both public validators accept", () => {
    fc.assert(
      fc.property(anyDraft, (one) => {
        expect(publicValidatorProblems(one.name, renderSkill(one)["SKILL.md"] ?? "")).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it("reads any text at all without throwing, and never without a skill or a reason", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          anyText,
          fc.tuple(anyText, anyText).map(([head, body]) => `---\nname: a\n${head}\n---\n${body}`),
        ),
        (text) => {
          const { skill, problems } = read({ "SKILL.md": text });
          expect(skill !== undefined || problems.length > 0).toBe(true);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("is the same without the YAML parser, wherever that is not needed", () => {
    const line = fc.oneof(
      fc
        .tuple(fc.constantFrom("", "", "", "  ", "   "), fc.constantFrom("a", "b", "c", "d", "e", "f", "metadata", "A"), anyText)
        .map(([indent, key, text]) => `${indent}${key}: ${JSON.stringify(text)}`),
      fc.constantFrom("metadata:", "metadata: {}", "", "# remark", 'a: "x" # y', 'a: "\\x41"', 'a: "\\e"', "a: 'x'"),
    );
    let short = 0;
    fc.assert(
      fc.property(fc.array(line, { maxLength: 4 }), (lines) => {
        const head = lines.join("\n");
        const own = readOwnHead(head);
        if (own === undefined) return;
        short += 1;
        const problems: string[] = [];
        const any = readAnyHead(head, (code) => void problems.push(code));
        if ("refused" in any) throw new Error(any.refused.text);
        expect([...own]).toEqual([...any.fields]);
        expect(problems).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
    expect(short).toBeGreaterThan(100);
  });

  it("quotes every scalar, so that no reader takes one for a number, a date or a truth value", () => {
    const text =
      renderSkill(draft({ description: "yes", metadata: { "steward-since": "2026-01-02" }, license: "1.10" }))["SKILL.md"] ?? "";
    const values =
      text
        .split("---\n")[1]
        ?.split("\n")
        .filter((line) => /: ./.test(line)) ?? [];
    expect(values.length).toBe(5);
    for (const line of values) expect(line).toMatch(/^ *[a-z-]+: ".*"$/);
  });
});

describe("strict writing", () => {
  it.each([
    ["name-rules", { name: "Atomic-Cancel" }],
    ["name-rules", { name: "a--b" }],
    ["name-rules", { name: "-a" }],
    ["name-rules", { name: "a".repeat(65) }],
    ["description-missing", { description: " \n " }],
    ["description-too-long", { description: "x".repeat(1025) }],
    ["description-angle-brackets", { description: "a <b> c" }],
    ["compatibility-too-long", { compatibility: "x".repeat(501) }],
    ["body-empty", { body: "\n\n" }],
    ["body-too-long", { body: "x".repeat(901) }],
    ["body-too-long", { tier: "tool" as const, body: "x".repeat(401) }],
    ["body-too-long", { tier: "planning" as const, body: "x".repeat(1501) }],
    ["metadata-key", { metadata: { author: "me" } }],
    ["metadata-key", { metadata: { "steward-tier": "tool" } }],
    ["text-not-unicode", { body: "half a pair \uD83E" }],
    ["text-control", { description: "a\u0000b" }],
  ])("refuses %s with a fault that names it: %j", (code, changes) => {
    expect(draftProblems(draft(changes)).map((problem) => problem.code)).toContain(code);
    expect(() => renderSkill(draft(changes))).toThrow(Fault);
    expect(() => renderSkill(draft(changes))).toThrow(new RegExp(`${code}: `));
  });

  it("names every rule a draft breaks at once", () => {
    const bad = draft({ name: "X", description: "", body: "" });
    expect(draftProblems(bad).map((problem) => problem.code)).toEqual(["name-rules", "description-missing", "body-empty"]);
  });

  it("counts characters, not code units", () => {
    expect(draftProblems(draft({ tier: "tool", body: "🦊".repeat(400) }))).toEqual([]);
  });
});

describe("lenient reading", () => {
  it("takes block scalars and wrapped descriptions for what YAML says they are [F02] [F03]", () => {
    expect(read(skillMd("name: some-skill\ndescription: |\n  One\n  two")).skill?.description).toBe("One\ntwo");
    expect(read(skillMd("name: some-skill\ndescription:\n  One\n  two")).skill?.description).toBe("One two");
  });

  it("accepts a byte order mark and CRLF, names both, and keeps the bytes [F05]", () => {
    const files = { "SKILL.md": "\uFEFF---\r\nname: some-skill\r\ndescription: A thing.\r\n---\r\nOne\r\ntwo\r\n" };
    const { skill, problems } = read(files);
    expect(problems.map((problem) => problem.code)).toEqual(["byte-order-mark", "line-ends", "tier-missing"]);
    expect(skill?.body).toBe("One\ntwo");
    expect(skill?.files).toEqual(files);
  });

  it("takes only the first fenced block for front matter [F06]", () => {
    expect(read(skillMd("name: some-skill\ndescription: A thing.", "One\n---\nname: other\n---\ntwo")).skill).toMatchObject({
      name: "some-skill",
      body: "One\n---\nname: other\n---\ntwo",
    });
  });

  it("reads names of every kind tolerantly, says what is wrong, and knows the skill by its folder [F09]", () => {
    for (const name of ["PDF Tools", "a--b", "café", "x".repeat(65)]) {
      const { skill, problems } = read(skillMd(`name: ${name}\ndescription: A thing.`));
      expect(skill?.name).toBe("some-skill");
      expect(problems.map((problem) => problem.code)).toContain("name-rules");
    }
    expect(read(skillMd("name: good-name\ndescription: A thing."), "Bad Folder").skill?.name).toBe("good-name");
    expect(read(skillMd("name: Ünï Code\ndescription: A thing."), "Bad Folder").skill?.name).toBe("uni-code");
    expect(read(skillMd("name: 日本\ndescription: A thing."), "日本").skill).toBeUndefined();
  });

  it("refuses a description of blanks [F11]", () => {
    expect(read(skillMd('name: some-skill\ndescription: " \\t "')).skill).toBeUndefined();
    expect(codes(skillMd('name: some-skill\ndescription: " \\t "'))).toEqual(["description-missing"]);
  });

  it("names the first line found where there is no front matter [F12]", () => {
    const { problems } = read({ "SKILL.md": "\n# My skill\n---\nname: a\n---\n" });
    expect(problems).toEqual([
      { code: "front-matter-missing", where: "some-skill/SKILL.md", text: expect.stringContaining("(line 2) is `# My skill`") },
    ]);
  });

  it("never executes front matter, and says the same about a file the second time [S11]", () => {
    const files = { "SKILL.md": "---js\n{ name: process.exit(1) }\n---\nDo it.\n" };
    expect(codes(files)).toEqual(["front-matter-language"]);
    expect(codes(files)).toEqual(["front-matter-language"]);
  });

  it("says on which line bad YAML is", () => {
    const { problems } = read(skillMd("name: some-skill\ndescription: A thing.\nmetadata:\n\tauthor: x"));
    expect(problems[0]?.text).toMatch(/^Line 5, column 1 is not YAML/);
  });

  it("says of any broken line where in the file it is, whether it could be read all the same or not", () => {
    const broken = [
      "description: %x",
      "description: @x",
      'description: "x" y',
      "description: a: b: c",
      "description: [x",
      "description x",
      "\tdescription: x",
      "description: *x",
      "description: {{ x }}",
      "description: !x",
      "description: &x",
      "description: # x",
    ];
    const line = fc.constantFrom("license: MIT", "# a comment", "", "metadata:\n  a: b", "compatibility: any");
    fc.assert(
      fc.property(fc.constantFrom(...broken), fc.uniqueArray(line), fc.nat(4), (bad, before, blank) => {
        const head = ["name: some-skill", ...before, bad].join("\n");
        const text = `${"\n".repeat(blank)}---\n${head}\n---\n\nDo it.\n`;
        const at = text.split("\n").findIndex((one) => one === bad) + 1;
        const { problems } = read({ "SKILL.md": text });
        const found = problems.filter(({ text: said }) => new RegExp(`^Line ${at}[ ,]`).test(said));
        expect(found.length, problems.map(({ text: said }) => said).join("\n")).toBeGreaterThan(0);
        expect(found.every(({ text: said }) => /double quotes/.test(said))).toBe(true);
      }),
    );
  });

  it("takes a workflow of steps for a plan and anything else for one ability, never by its name", () => {
    const plain = "name: plan-b\ndescription: A thing.";
    expect(read(skillMd(plain)).skill?.tier).toBe("atomic");
    expect(read(skillMd(plain, "## Steps\n1. One\n2. Two")).skill?.tier).toBe("planning");
    expect(read(skillMd(`${plain}\nmetadata:\n  steward-tier: tool`, "## Steps\n1. One\n2. Two")).skill?.tier).toBe("tool");
  });
});

describe("the folder of a skill", () => {
  const files = skillMd("name: some-skill\ndescription: A thing.");

  it.each(["../evil", "a/b", "a\\b", "C:evil", ".", "..", "", "a\u0000b", "__proto__", " a"])(
    "named %j is refused [S06]",
    (folder) => {
      expect(codes(files, folder).at(-1)).toBe("path-unsafe");
    },
  );

  it.each(["../x", "/etc/passwd", "a/../../b", "a\\..\\b", "C:\\x", "a//b", "a/./b", "a/ b", `${"x".repeat(256)}`])(
    "with a file %j is refused [S06]",
    (path) => {
      expect(safePath(path)).toBe(false);
      expect(codes({ ...files, [path]: "x" }).at(-1)).toBe("path-unsafe");
    },
  );

  it("without SKILL.md, or with too many files or bytes, is refused", () => {
    expect(codes({ "skill.md": "x" })).toEqual(["skill-file-missing"]);
    expect(codes({ ...files, ...Object.fromEntries(Array.from({ length: 512 }, (_, n) => [`f${n}`, ""])) })).toEqual([
      "too-many-files",
    ]);
    expect(codes({ ...files, "assets/big": "x".repeat(16 * 1024 * 1024) })).toEqual(["skill-too-large"]);
  });

  it("keeps another tool's references/contract.json and does not read it", () => {
    const { skill, problems } = read({ ...files, "references/contract.json": '{"party": "of the first part"}' });
    expect(problems.map((problem) => problem.code)).toContain("contract-foreign");
    expect(skill?.contract.requires).toEqual([]);
  });

  it.each([
    ["contract-unreadable", "{"],
    ["contract-unreadable", '{"format": "contract/1", "requires": "all"}'],
    ["format-newer", '{"format": "contract/2", "requires": []}'],
  ])("whose own contract is bad is refused as %s", (code, text) => {
    const { skill, problems } = read({ ...files, "references/contract.json": text });
    expect(skill).toBeUndefined();
    expect(problems.at(-1)?.code).toBe(code);
  });

  it("can be named after anything", () => {
    expect(asName("PDF Tools — 2")).toBe("pdf-tools-2");
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(asName(text)).toMatch(/^([a-z0-9]+(-[a-z0-9]+)*)?$/);
      }),
    );
  });
});
