/** Skills as other programs are served them: what a strict reader of the same bytes makes of them. */
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { serveSkill } from "../../src/skills/served.js";
import { parseSkill, renderSkill } from "../../src/skills/text.js";
import { frontMatterData } from "../../src/skills/written.js";

const serve = (files: Record<string, string>, folder = "pack-orders") => {
  const { skill } = parseSkill({ folder, files }, "import");
  if (skill === undefined) throw new Error("the skill was refused at reading");
  return serveSkill(skill);
};
const file = (head: string, body = "\nPack.\n"): Record<string, string> => ({ "SKILL.md": `---\n${head}\n---\n${body}` });
const GOOD = "name: pack-orders\ndescription: How orders are packed.";

describe("a skill that is served", () => {
  it("has its front matter typed as YAML types it, not as text", () => {
    const head = `${GOOD}\nversion: 1.0\nsince: 2026-11-30\ndraft: true\nnone:\nlist: [a, 2]\nmetadata:\n  build: "007"`;
    const serving = serve(file(head));
    expect(serving).toMatchObject({
      served: {
        name: "pack-orders",
        frontMatter: { version: 1, since: "2026-11-30", draft: true, none: null, list: ["a", 2], metadata: { build: "007" } },
      },
    });
  });

  it("has a digest and a size of the bytes of every file, whatever characters they have", () => {
    const texts = fc.string({ unit: fc.constantFrom("a", "é", "\u{1F4E6}", "\r\n", "\uFEFF", "\0"), maxLength: 20 });
    fc.assert(
      fc.property(texts, texts, (body, more) => {
        const files = { ...file(GOOD, body), "references/more.txt": more };
        const serving = serve(files);
        expect("served" in serving ? serving.served.files : []).toEqual(
          Object.entries(files)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([path, text]) => ({
              path,
              digest: createHash("sha256").update(Buffer.from(text, "utf8")).digest("hex"),
              size: Buffer.byteLength(text, "utf8"),
            })),
        );
      }),
    );
  });

  it("is every skill that STEWARD writes, and reads the same as by any YAML reader", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 60, unit: "grapheme" }), (text) => {
        const description = text.replace(/[<>]/g, "").trim();
        fc.pre(description !== "");
        const contract = { requires: [], uses: [], produces: [], evidence: [] };
        const files = renderSkill({ name: "pack-orders", tier: "atomic", description, body: "## Steps\n\n1. Pack.", contract });
        const front = frontMatterData(files["SKILL.md"] ?? "");
        const head = (files["SKILL.md"] ?? "").split("---\n")[1] ?? "";
        expect(front).toEqual({ data: parseYaml(head) as unknown });
        expect(serve(files)).toHaveProperty("served");
      }),
    );
  });
});

describe("a skill that strict readers would refuse is left out with its reason", () => {
  it.each([
    ["another name than its folder", file("name: wrap-orders\ndescription: How."), "`name`"],
    ["a description of too many characters", file(`name: pack-orders\ndescription: ${"x".repeat(1_025)}`), "`description`"],
    ["metadata that is no map of texts", file(`${GOOD}\nmetadata:\n  version: 2`), "`metadata`"],
    ["a front matter that is no YAML as it stands", file("name: pack-orders\ndescription: Packs: all of it"), "YAML"],
    ["a front matter that starts late", { "SKILL.md": `\n\n---\n${GOOD}\n---\n\nPack.\n` }, "first line"],
    ["a number without JSON", file(`${GOOD}\nweight: .inf`), "JSON"],
  ])("%s", (_what, files, why) => {
    expect(serve(files)).toMatchObject({ why: expect.stringContaining(why) as unknown });
  });
});
