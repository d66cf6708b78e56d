import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it, expect } from "vitest";
import { Fault } from "../../src/model/fault.js";
import type { Skill } from "../../src/model/skill.js";
import { emptyLibrary, libraryFrom, planRevision } from "../../src/skills/library.js";
import { planImport } from "../../src/skills/import.js";
import { draftOf, KEPT_PREFIX, parseSkill, renderSkill, TIER_KEY } from "../../src/skills/text.js";
import { publicValidatorProblems } from "./public-validators.js";

const folder = resolve(import.meta.dirname, "../golden/skills/hostile");

interface Expected {
  readonly outcome: "survives" | "refused" | "kept, not written";
  readonly code?: string;
  readonly description?: string;
  readonly problems?: readonly string[];
  readonly body?: string;
  readonly license?: string | null;
  readonly allowedTools?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}
const cases = Object.entries(JSON.parse(readFileSync(join(folder, "expected.json"), "utf8")) as Record<string, Expected>);

/** Files that would only fill the repository. */
const MADE: Readonly<Record<string, () => string>> = {
  "sixteen-megabytes": () => `---\nname: sixteen-megabytes\ndescription: A thing.\n---\n${"x".repeat(16 * 1024 * 1024)}`,
  "head-of-a-hundred-kilobytes": () => `---\nname: a\ndescription: ${"x".repeat(100_000)}\n---\nDo it.\n`,
  "nested-thirty-thousand-deep": () => `---\nname: a\ndescription: ${"[".repeat(30_000)}${"]".repeat(30_000)}\n---\nDo it.\n`,
};
const source = (name: string): string => MADE[name]?.() ?? readFileSync(join(folder, `${name}.md`), "utf8");
const codes = (problems: readonly { code: string }[]): string[] => [...new Set(problems.map((problem) => problem.code))].sort();

/** What a skill means, apart from how its file spells it. */
function meaning(skill: Skill): object {
  const { name, tier, description, body, license, compatibility, allowedTools, contract } = skill;
  const metadata = Object.entries(skill.metadata).map(([key, value]) => [
    key.startsWith(KEPT_PREFIX) ? key.slice(KEPT_PREFIX.length) : key,
    value,
  ]);
  return {
    name,
    tier,
    description,
    body,
    license,
    compatibility,
    allowedTools,
    contract,
    metadata: metadata.filter(([key]) => key !== TIER_KEY).sort(),
  };
}

describe("a hostile front matter", () => {
  it("comes in at least forty kinds", () => {
    expect(cases.length).toBeGreaterThanOrEqual(40);
  });

  it.each(cases.filter(([, expected]) => expected.outcome === "refused"))("%s is refused by name", (name, expected) => {
    const { skill, problems } = parseSkill({ folder: name, files: { "SKILL.md": source(name) } }, "import");
    expect(skill).toBeUndefined();
    expect(problems.at(-1)).toMatchObject({ code: expected.code, where: `${name}/SKILL.md` });
    expect(problems.at(-1)?.text.length).toBeGreaterThan(20);
  });

  it.each(cases.filter(([, expected]) => expected.outcome !== "refused"))(
    "%s is read with every oddity named",
    (name, expected) => {
      const { skill, problems } = parseSkill({ folder: name, files: { "SKILL.md": source(name) } }, "import");
      expect(codes(problems)).toEqual(expected.problems);
      expect(skill?.name).toBe(name);
      if (expected.description !== undefined) expect(skill?.description).toBe(expected.description);
      if (expected.body !== undefined) expect(skill?.body).toBe(expected.body);
      if (expected.license !== undefined) expect(skill?.license ?? null).toBe(expected.license);
      if (expected.allowedTools !== undefined) expect(skill?.allowedTools).toBe(expected.allowedTools);
      if (expected.metadata !== undefined) expect({ ...skill?.metadata }).toEqual(expected.metadata);
    },
  );

  it.each(cases.filter(([, expected]) => expected.outcome !== "refused"))(
    "%s goes through import, store and export with its bytes untouched",
    (name) => {
      const files = { "SKILL.md": source(name) };
      const plan = planImport([{ path: `/somewhere/${name}`, written: { folder: name, files } }], emptyLibrary);
      const edits = plan.taken.map(({ skill, written }) => ({
        record: { kind: "add" as const, skill: skill.name, cause: "import", signature: skill.digest, by: "import" as const },
        files: written.files,
        provenance: "import" as const,
      }));
      const revision = planRevision({
        library: emptyLibrary,
        edits,
        at: "2026-01-01T00:00:00.000Z",
        cause: "import",
        catalogVersion: 0,
      });
      const stored = new Map(
        [...revision.written].map(([skill, texts]) => [
          skill,
          Object.fromEntries(
            Object.keys(texts).map((path) => {
              const digest = revision.record.skills[skill]?.[path];
              return [path, [...revision.objects].find(([key]) => key === digest)?.[1] ?? ""];
            }),
          ),
        ]),
      );
      const library = libraryFrom(JSON.parse(JSON.stringify(revision.record)) as typeof revision.record, stored);
      expect([...library.skills.values()].map((skill) => skill.files)).toEqual([files]);
    },
  );

  it.each(cases.filter(([, expected]) => expected.outcome === "survives"))("%s means the same after strict writing", (name) => {
    const first = parseSkill({ folder: name, files: { "SKILL.md": source(name) } }, "import").skill;
    if (first === undefined) throw new Error("it should have been read");
    const files = renderSkill(draftOf(first));
    const second = parseSkill({ folder: name, files }, "import");
    expect(second.problems).toEqual([]);
    if (second.skill === undefined) throw new Error("it should have been read back");
    expect(meaning(second.skill)).toEqual(meaning(first));
    expect(publicValidatorProblems(name, files["SKILL.md"] ?? "")).toEqual([]);
    expect(renderSkill(draftOf(second.skill))).toEqual(files);
  });

  it.each(cases.filter(([, expected]) => expected.outcome === "kept, not written"))(
    "%s is kept as it is, and strict writing refuses it by name",
    (name, expected) => {
      const { skill } = parseSkill({ folder: name, files: { "SKILL.md": source(name) } }, "import");
      if (skill === undefined) throw new Error("it should have been read");
      expect(() => renderSkill(draftOf(skill))).toThrow(Fault);
      expect(() => renderSkill(draftOf(skill))).toThrow(new RegExp(`${expected.code}:`));
    },
  );
});
