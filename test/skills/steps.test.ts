import fc from "fast-check";
import { describe, it, expect } from "vitest";
import type { Skill } from "../../src/model/skill.js";
import { lintSkill } from "../../src/skills/lint.js";
import { inferRequirements } from "../../src/skills/infer.js";
import { mentionedTools, sections } from "../../src/skills/mentions.js";
import { parseStepCall, renderStepCall, type StepArgument, type StepCall } from "../../src/skills/step-call.js";
import { briefOf, parseSteps } from "../../src/skills/steps.js";
import { parseSkill } from "../../src/skills/text.js";
import type { ToolKey } from "../../src/model/ids.js";

const goals = (body: string, uses: string[] = []): string[] => parseSteps(body, uses).map((step) => step.goal);

describe("steps", () => {
  it("are the numbered list under Steps, and only that", () => {
    const body = "1. not this\n2. nor this\n\n## Steps\n1. First\n2. Second\n\n## Checks\n1. not this";
    expect(goals(body)).toEqual(["First", "Second"]);
  });

  it("are counted by position, whatever number the file gives", () => {
    expect(parseSteps("## Steps\n1. a\n1. b").map((step) => step.n)).toEqual([1, 2]);
    expect(goals("## Steps\n1. a\n2. b\n1. another list")).toEqual(["a", "b"]);
    expect(parseSteps("## Steps\n3. a\n7) b").map((step) => [step.n, step.text])).toEqual([
      [1, "a"],
      [2, "b"],
    ]);
  });

  it("go on over indented and wrapped lines and end at the next heading", () => {
    expect(parseSteps("## Steps\n1. a\n   goes on\nand on\n\n   and on\n2. b\n\nAfterword.\n").map((step) => step.text)).toEqual([
      "a goes on and on and on",
      "b",
    ]);
  });

  it("of other authors are found under their own words and headings", () => {
    expect(goals("## Workflow\n1. a\n2. b")).toEqual(["a", "b"]);
    expect(goals("# Skill\n1. a\n2. b")).toEqual(["a", "b"]);
    expect(goals("## Step 1: Fetch\nGet it.\n\n## Step 2 - Check\nLook.")).toEqual(["Fetch Get it", "Check Look"]);
    expect(goals("Just prose.\n\n1. lonely")).toEqual([]);
  });

  it("never come out of fenced code", () => {
    expect(parseSteps("```\n## Steps\n1. a\n2. b\n```\n")).toEqual([]);
    expect(mentionedTools("~~~\n`shop/get_order`\n~~~\n`shop/real`")).toEqual(["shop/real"]);
  });

  it("have a goal without tools, skills and arguments", () => {
    expect(goals("## Steps\n1. Look up the order: `shop/get_order` with order_id from the request; it must be `paid`.")).toEqual([
      "Look up the order",
    ]);
    expect(goals("## Steps\n1. Cancel it with skill `atomic-cancel-order`.")).toEqual(["Cancel it"]);
    expect(goals("## Steps\n1. Use `house-style` to write it.", ["house-style"])).toEqual(["to write it"]);
    expect(goals("## Steps\n1. Set the mode to `fast`, then stop.")).toEqual(["Set the mode to `fast`, then stop"]);
    expect(goals("## Steps\n1. `shop/get_order`")).toEqual(["`shop/get_order`"]);
  });

  it("name tools by label and skills by prefix or contract; files of the folder are no tools", () => {
    const [step] = parseSteps("## Steps\n1. `shop/a` and `x/y/z`, `references/notes.md`, `plain`, `plan-b`, `known`.", ["known"]);
    expect(step).toMatchObject({ tools: ["shop/a", "x/y/z"], skills: ["plan-b", "known"] });
  });
});

describe("the call sentence", () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,10}$/);
  const argument: fc.Arbitrary<StepArgument> = fc
    .record({
      name,
      source: fc.oneof(
        fc.record({ kind: fc.constant("request" as const), field: fc.option(name, { nil: undefined }) }),
        fc.record({
          kind: fc.constant("step" as const),
          step: fc.integer({ min: 1, max: 30 }),
          field: fc.option(name, { nil: undefined }),
        }),
        fc.record({
          kind: fc.constant("literal" as const),
          value: fc.oneof(
            fc.string({ maxLength: 20 }).filter((text) => !/[`\n]/.test(text)),
            fc.boolean(),
            fc.integer(),
            fc.constant(null),
            fc.array(fc.string({ maxLength: 5 }), { maxLength: 3 }),
          ),
        }),
      ),
      optional: fc.boolean(),
    })
    .map(({ name: own, source, optional }) =>
      source.kind === "literal"
        ? { name: own, source: { ...source, value: JSON.parse(JSON.stringify(source.value)) as never }, optional: false }
        : { name: own, source: { ...source, field: source.field === own ? undefined : source.field }, optional },
    );
  const call: fc.Arbitrary<StepCall> = fc.record({
    goal: fc.constantFrom("Do it", "Look up the order, then", "A: b"),
    tool: fc.constantFrom("shop/get_order" as ToolKey, "a.b-c/do.it/now" as ToolKey),
    arguments: fc.array(argument, { maxLength: 4 }),
    tail: fc.constantFrom(".", "", "; it must be `paid`.", " (see below).", ", then wait."),
  });

  it("is read exactly as it is written", () => {
    fc.assert(
      fc.property(call, (one) => {
        expect(parseStepCall(renderStepCall(one))).toEqual(one);
      }),
      { numRuns: 500 },
    );
  });

  it("is either read and written back to the letter, or not taken for one", () => {
    const part = fc.constantFrom(
      "Do it: ",
      "`shop/a`",
      " with ",
      "x from ",
      "the request",
      "step 2",
      ", ",
      " and ",
      "y = ",
      '"v"',
      " if given",
      " of ",
      ".",
      " in ",
      "z",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const text = parts.join("");
        const one = parseStepCall(text);
        if (one !== undefined) expect(parseStepCall(renderStepCall(one))).toEqual(one);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    "Look: `shop/a` with order_id.",
    "Look: `shop/a` with order_id from somewhere.",
    "Look: `shop/a` with order_id from the request, status from yesterday.",
    "Look up `shop/a` with order_id from the request.",
    "Look: `plain` with order_id from the request.",
    "Look: `shop/a` using order_id",
  ])("is not guessed at: %s", (text) => {
    expect(parseStepCall(text)).toBeUndefined();
  });
});

describe("the brief form", () => {
  const skill = (body: string): Skill => {
    const read = parseSkill(
      { folder: "a", files: { "SKILL.md": `---\nname: a\ndescription: What it is.\n---\n${body}\n` } },
      "import",
    ).skill;
    if (read === undefined) throw new Error("unreadable");
    return read;
  };

  it("has the description and every step whole", () => {
    expect(
      briefOf(skill("## When to use\nLong talk.\n\n## Steps\n1. One: `a/b`.\n2. Two\n   goes on.\n\n## Gotchas\n- more")),
    ).toBe("What it is.\n1. One: `a/b`.\n2. Two goes on.");
  });

  it("has the first paragraph where there are no steps", () => {
    expect(briefOf(skill("# Title\n\nFirst paragraph\nof two lines.\n\nSecond."))).toBe(
      "What it is.\nFirst paragraph of two lines.",
    );
  });
});

describe("a body made to be slow", () => {
  const size = 200_000;
  it.each([
    ["blanks in a heading", `# a${" ".repeat(size)}b`],
    ["hash marks in a heading", `# a ${"# ".repeat(size / 2)}b`],
    ["headings without end", "# a\n".repeat(size / 4)],
    ["nested headings", "# a\n## b\n### c\n#### d\n".repeat(size / 20)],
    ["one long word", "a".repeat(size)],
    ["one long word with joints", "a-".repeat(size / 2)],
    ["dots", `${".".repeat(size)}x`],
    ["brackets in a span", `\`${"(".repeat(size)}\``],
    ["spans in a step", `## Steps\n1. ${"`shop/a` ".repeat(size / 9)}`],
    ["many different tools in a step", `## Steps\n1. ${Array.from({ length: size / 14 }, (_, n) => `\`shop/t${n}\``).join(" ")}`],
    ["commas in a literal", `## Steps\n1. Do: \`shop/a\` with x = ["${",".repeat(size)}`],
    ["arguments without end", `## Steps\n1. Do: \`shop/a\` with ${"x from the request, ".repeat(size / 20)}`],
    ["blank lines", `a${"\n ".repeat(size / 2)}b`],
    ["fences", "```\n".repeat(size / 4)],
    ["links", "](".repeat(size / 2)],
    ["underscores", "mcp__".repeat(size / 5)],
    ["backticks", "`".repeat(size)],
    ["colons before spans", `## Steps\n1. ${": `".repeat(size / 3)}`],
  ])("(%s) is still read, linted, inferred from and shortened", (_what, body) => {
    const { skill, problems } = parseSkill(
      { folder: "a", files: { "SKILL.md": `---\nname: a\ndescription: A thing.\n---\n${body}` } },
      "starter",
    );
    expect(problems.map((problem) => problem.code)).toContain("tier-missing");
    if (skill === undefined) throw new Error("unreadable");
    lintSkill(skill);
    briefOf(skill);
    inferRequirements(skill.body, new Map());
  });

  it("has sections that together cover it", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("# a", "## b", "### c", "text", "", "```"), { maxLength: 20 }), (lines) => {
        const found = sections(lines.join("\n"));
        for (const section of found) {
          if (section.rank > 0) expect(lines[section.line]).toMatch(/^#/);
          expect(section.text.split("\n").some((line) => section.rank === 1 && line === "# a" && !lines.includes("```"))).toBe(
            false,
          );
        }
      }),
    );
  });
});
