import { describe, it, expect } from "vitest";
import type { ToolKey } from "../../src/model/ids.js";
import type { Requirement, Skill } from "../../src/model/skill.js";
import type { Tool } from "../../src/model/tool.js";
import { lintSkill } from "../../src/skills/lint.js";
import { rewriteTool, type ToolRewrite } from "../../src/skills/rewrite.js";
import { parseSkill, renderSkill } from "../../src/skills/text.js";
import { tool } from "./tools.js";
import { draft } from "./drafts.js";

const D = "ab".repeat(32);
const need = (key: string, params: string[], reads: string[] = [], more: Partial<Requirement> = {}): Requirement => ({
  tool: key,
  contractDigest: D,
  params,
  reads,
  ...more,
});

function skill(steps: string[], requires: Requirement[], extra = "", description = "Does a thing."): Skill {
  const numbered = steps.map((step, n) => `${n + 1}. ${step}`).join("\n");
  const body = `## When to use\nNow.\n\n## Inputs\n- order_id: from the request\n\n## Steps\n${numbered}${extra === "" ? "" : `\n\n${extra}`}`;
  const files = renderSkill(
    draft({ name: "atomic-x", body, description, contract: { requires, uses: [], produces: [], evidence: [] } }),
  );
  const read = parseSkill({ folder: "atomic-x", files }, "starter").skill;
  if (read === undefined) throw new Error("unreadable");
  expect(lintSkill(read)).toEqual([]);
  return read;
}
const change = (
  from: string,
  to: Tool[],
  params: Record<string, string> = {},
  fixedArguments: ToolRewrite["fixedArguments"] = {},
): ToolRewrite => ({ from: from as ToolKey, to, params, fixedArguments });

function rewritten(one: Skill, by: ToolRewrite): Skill {
  const result = rewriteTool(one, by);
  if (result.kind === "refused") throw new Error(result.why);
  const read = parseSkill({ folder: one.name, files: result.files }, one.provenance).skill;
  if (read === undefined) throw new Error("unreadable");
  expect(read.contract).toEqual(result.contract);
  return read;
}
const steps = (one: Skill): string[] => one.steps.map((step) => step.text);
const why = (one: Skill, by: ToolRewrite): string => {
  const result = rewriteTool(one, by);
  return result.kind === "refused" ? result.why : `rewritten: ${result.files["SKILL.md"] ?? ""}`;
};

describe("a rename", () => {
  const one = skill(
    ["Find it: `shop/find` with email from the request.", "Get it: `shop/get` with customer_id from step 1."],
    [need("shop/find", ["email"], ["customer_id"]), need("shop/get", ["customer_id"])],
    "## Gotchas\n- `shop/find` knows one address; `find` is exact.",
    "Uses shop/find, or shop/finder.",
  );

  it("changes the name wherever it stands, and nothing else", () => {
    const now = rewritten(one, change("shop/find", [tool("shop/lookup", ["email"], ["customer_id"])]));
    expect(now.files["SKILL.md"]).toBe(
      one.files["SKILL.md"]
        ?.replaceAll("`shop/find`", "`shop/lookup`")
        .replace("`find`", "`lookup`")
        .replace("shop/find,", "shop/lookup,"),
    );
  });

  it("leaves names alone that only begin with the old one", () => {
    const now = rewritten(one, change("shop/find", [tool("shop/lookup", ["email"], ["customer_id"])]));
    expect(now.description).toBe("Uses shop/lookup, or shop/finder.");
  });

  it("and its way back give the first bytes again", () => {
    const there = rewritten(one, change("shop/get", [tool("shop/fetch", ["customer"])], { customer_id: "customer" }));
    expect(steps(there)[1]).toBe("Get it: `shop/fetch` with customer from customer_id of step 1.");
    const backTool = tool("shop/get", ["customer_id"]);
    const back = rewritten(there, change("shop/fetch", [backTool], { customer: "customer_id" }));
    expect(back.body).toBe(one.body);
    expect(back.contract.requires[1]).toEqual({
      ...need("shop/get", ["customer_id"]),
      contractDigest: backTool.digests.contract,
    });
  });

  it("states the digest, parameters and fields of the new tool in the contract", () => {
    const to = tool("shop/lookup", ["mail"], ["customer_id"]);
    const now = rewritten(one, change("shop/find", [to], { email: "mail" }));
    expect(now.contract.requires[0]).toEqual({
      tool: "shop/lookup",
      contractDigest: to.digests.contract,
      params: ["mail"],
      reads: ["customer_id"],
    });
    expect(steps(now)[0]).toBe("Find it: `shop/lookup` with mail from email in the request.");
  });

  it("follows an output field that got its parameter's new name", () => {
    const now = rewritten(one, change("shop/find", [tool("shop/lookup", ["email"], ["client"])], { customer_id: "client" }));
    expect(steps(now)[1]).toBe("Get it: `shop/get` with customer_id from client of step 1.");
    expect(now.contract.requires[0]?.reads).toEqual(["client"]);
  });

  it("leaves sentences alone in which nothing moves, however their author joined the arguments", () => {
    const joined = "Do it: `shop/do` with a from the request, b from b in the request, and c from the request.";
    const other = skill(
      ["Find it: `shop/find` with email from the request.", joined],
      [need("shop/find", ["email"]), need("shop/do", ["a", "b", "c"])],
    );
    expect(steps(rewritten(other, change("shop/find", [tool("shop/lookup", ["email"])])))[1]).toBe(joined);
  });

  it("keeps groups, options and inference of a requirement", () => {
    const grouped = skill(
      ["Find it: `shop/find` with email from the request."],
      [need("shop/find", ["email"], [], { anyGroup: "g", optional: true, inferred: true })],
    );
    expect(rewritten(grouped, change("shop/find", [tool("shop/lookup", ["email"])])).contract.requires[0]).toMatchObject({
      anyGroup: "g",
      optional: true,
      inferred: true,
    });
  });
});

describe("a merge", () => {
  const one = skill(
    ["Approve it: `shop/approve` with return_id from the request and note from the request if given.", "Tell them: `shop/list`."],
    [need("shop/approve", ["return_id", "note"], ["value"]), need("shop/list", [])],
    "## Gotchas\n- `shop/approve` cannot be undone.",
  );
  const manage = tool("shop/manage", ["action", "return_id", "note?"], ["value"]);

  it("sets the fixed argument in the call and says it beside other mentions", () => {
    const now = rewritten(one, change("shop/approve", [manage], {}, { action: "approve" }));
    expect(steps(now)[0]).toBe(
      'Approve it: `shop/manage` with action = "approve", return_id from the request and note from the request if given.',
    );
    expect(now.body).toContain('- `shop/manage` (action = "approve") cannot be undone.');
    expect(now.contract.requires[0]).toMatchObject({
      tool: "shop/manage",
      params: ["return_id", "note", "action"],
      reads: ["value"],
    });
  });

  it("of two tools that a skill used both leaves one requirement that needs all of it", () => {
    const both = skill(
      [
        "Try: `shop/approve` with return_id from the request.",
        "Else: `shop/reject` with return_id from the request and note from the request.",
      ],
      [need("shop/approve", ["return_id"], ["value"]), need("shop/reject", ["return_id", "note"])],
    );
    const first = rewritten(both, change("shop/approve", [manage], {}, { action: "approve" }));
    const second = rewritten(first, change("shop/reject", [manage], {}, { action: "reject" }));
    expect(second.contract.requires).toEqual([
      { tool: "shop/manage", contractDigest: manage.digests.contract, params: ["return_id", "action", "note"], reads: ["value"] },
    ]);
    expect(steps(second)).toEqual([
      'Try: `shop/manage` with action = "approve" and return_id from the request.',
      'Else: `shop/manage` with action = "reject", return_id from the request and note from the request.',
    ]);
  });

  it("gives a call without arguments its first one", () => {
    const now = rewritten(one, change("shop/list", [tool("shop/query", ["kind", "limit?"])], {}, { kind: "all" }));
    expect(steps(now)[1]).toBe('Tell them: `shop/query` with kind = "all".');
  });
});

describe("a split", () => {
  const one = skill(
    [
      "Get it: `shop/get` with order_id from the request.",
      "Send it: `depot/ship` with order_id from the request, carrier from the request and address from step 1; keep the number.",
      "Tell them: `shop/mark` with order_id from the request and number from step 2.",
    ],
    [
      need("shop/get", ["order_id"], ["address"]),
      need("depot/ship", ["order_id", "carrier", "address"], ["number", "shipment_id"]),
      need("shop/mark", ["order_id", "number"]),
    ],
    "## Checks\n- What step 2 said and what step 3 said agree.\n- `depot/ship` gave a number.",
  );
  const pack = tool("depot/pack", ["order_id"], ["shipment_id", "order_id"]);
  const send = tool("depot/send", ["shipment_id", "carrier", "address"], ["shipment_id", "number"]);

  it("becomes consecutive steps, each with its own arguments, linked by what the first one yields", () => {
    const now = rewritten(one, change("depot/ship", [pack, send]));
    expect(steps(now)).toEqual([
      "Get it: `shop/get` with order_id from the request.",
      "Send it (1 of 2): `depot/pack` with order_id from the request.",
      "Send it (2 of 2): `depot/send` with carrier from the request, address from step 1 and shipment_id from step 2; keep the number.",
      "Tell them: `shop/mark` with order_id from the request and number from step 3.",
    ]);
    expect(now.contract.requires.map(({ tool: key, params, reads }) => [key, params, reads])).toEqual([
      ["shop/get", ["order_id"], ["address"]],
      ["depot/pack", ["order_id"], []],
      ["depot/send", ["carrier", "address", "shipment_id"], ["number", "shipment_id"]],
      ["shop/mark", ["order_id", "number"], []],
    ]);
  });

  it("moves every later number and reference along, in the file too", () => {
    const now = rewritten(one, change("depot/ship", [pack, send]));
    expect(now.body).toMatch(/\n2\. Send.*\n3\. Send.*\n4\. Tell/);
    expect(now.body).toContain("- What step 3 said and what step 4 said agree.\n- `depot/pack` and `depot/send` gave a number.");
  });

  it("of a tool called twice moves both", () => {
    const twice = skill(
      [
        "A: `depot/ship` with order_id from the request and carrier from the request.",
        "B: `depot/ship` with order_id from step 1 and carrier from the request.",
        "C: `shop/mark` with order_id from step 2.",
      ],
      [need("depot/ship", ["order_id", "carrier"], ["order_id"]), need("shop/mark", ["order_id"])],
    );
    const now = rewritten(
      twice,
      change("depot/ship", [
        tool("depot/pack", ["order_id"], ["shipment_id", "order_id"]),
        tool("depot/send", ["shipment_id", "carrier"], ["number"]),
      ]),
    );
    expect(steps(now)).toEqual([
      "A (1 of 2): `depot/pack` with order_id from the request.",
      "A (2 of 2): `depot/send` with carrier from the request and shipment_id from step 1.",
      "B (1 of 2): `depot/pack` with order_id from step 1.",
      "B (2 of 2): `depot/send` with carrier from the request and shipment_id from step 3.",
      "C: `shop/mark` with order_id from step 3.",
    ]);
  });
});

describe("a rewrite that cannot be exact is refused with the reason", () => {
  const one = skill(
    [
      "Get it: `shop/get` with order_id from the request.",
      "Do it: `shop/do` with order_id from the request and total from step 1.",
    ],
    [need("shop/get", ["order_id"], ["total"]), need("shop/do", ["order_id", "total"])],
  );
  const cases: [string, () => [Skill, ToolRewrite], RegExp][] = [
    ["a tool the contract does not name", () => [one, change("shop/other", [tool("shop/x")])], /does not require shop\/other/],
    ["no successor", () => [one, change("shop/get", [])], /nothing took over/],
    [
      "a parameter without a place",
      () => [one, change("shop/do", [tool("shop/x", ["order_id"])])],
      /parameter total has no place in shop\/x/,
    ],
    [
      "a required parameter nobody sets",
      () => [one, change("shop/get", [tool("shop/x", ["order_id", "depth"], ["total"])])],
      /required depth/,
    ],
    [
      "a field that is gone",
      () => [one, change("shop/get", [tool("shop/x", ["order_id"], ["sum"])])],
      /output field total is not in/,
    ],
    [
      "a fixed argument nobody takes",
      () => [one, change("shop/get", [tool("shop/x", ["order_id"], ["total"])], {}, { mode: "a" })],
      /fixed argument mode/,
    ],
    [
      "a parameter both fixed and given",
      () => [one, change("shop/do", [tool("shop/x", ["order_id", "total"])], {}, { total: 1 })],
      /both fixed and given/,
    ],
    [
      "an optional source for a required parameter",
      () => [
        skill(["Get it: `shop/get` with order_id from the request if given."], [need("shop/get", ["order_id"])]),
        change("shop/get", [tool("shop/x", ["order_id"])]),
      ],
      /required order_id/,
    ],
    [
      "a parameter that another tool has too, named in prose",
      () => [
        skill(
          ["Get it: `shop/get` with order_id from the request.", "Do it: `shop/do` with order_id from the request."],
          [need("shop/get", ["order_id"]), need("shop/do", ["order_id"])],
          "## Gotchas\n- `order_id` has four digits.",
        ),
        change("shop/get", [tool("shop/x", ["id"])], { order_id: "id" }),
      ],
      /which one is meant is not said/,
    ],
    [
      "the old key in plain prose",
      () => [
        skill(
          ["Get it: `shop/get` with order_id from the request."],
          [need("shop/get", ["order_id"])],
          "## Gotchas\n- Never call shop/get twice.",
        ),
        change("shop/get", [tool("shop/x", ["order_id"])]),
      ],
      /also named outside code spans/,
    ],
    [
      "a split beside another numbered list",
      () => [
        skill(
          ["Get it: `shop/get` with order_id from the request."],
          [need("shop/get", ["order_id"])],
          "## Checks\n1. One\n2. Two",
        ),
        change("shop/get", [tool("shop/x", ["order_id"], ["id"]), tool("shop/y", ["id"])]),
      ],
      /not just its steps/,
    ],
    [
      "a body that would grow too long",
      () => [
        skill(
          ["Get it: `shop/get` with order_id from the request."],
          [need("shop/get", ["order_id"])],
          `## Gotchas\n- ${"x".repeat(735)}`,
        ),
        change("shop/get", [tool(`shop/${"long_".repeat(20)}`, ["order_id"])]),
      ],
      /break a rule: The body has/,
    ],
  ];
  it.each(cases)("%s", (_what, make, reason) => {
    const [subject, by] = make();
    const before = JSON.stringify(subject);
    expect(why(subject, by)).toMatch(reason);
    expect(JSON.stringify(subject)).toBe(before);
  });

  it("a step of another author whose arguments are not said in the form", () => {
    const text = "---\nname: a\ndescription: A thing.\n---\n## Steps\n1. Call `shop/get` with the number.\n2. Done.\n";
    const contract = { format: "contract/1", requires: [need("shop/get", ["order_id"])], uses: [], produces: [], evidence: [] };
    const read = parseSkill(
      { folder: "a", files: { "SKILL.md": text, "references/contract.json": JSON.stringify(contract) } },
      "import",
    ).skill;
    if (read === undefined) throw new Error("unreadable");
    expect(why(read, change("shop/get", [tool("shop/x", ["id"])], { order_id: "id" }))).toMatch(
      /not say its arguments in the form/,
    );
    expect(steps(rewritten(read, change("shop/get", [tool("shop/x", ["order_id"])])))[0]).toBe("Call `shop/x` with the number.");
  });

  it("and line ends and marks of the file are kept where it succeeds [F05]", () => {
    const text = "\uFEFF---\r\nname: a\r\ndescription: A thing.\r\n---\r\n## Steps\r\n1. Do: `shop/get`.\r\n2. Done.\r\n";
    const contract = { format: "contract/1", requires: [need("shop/get", [])], uses: [], produces: [], evidence: [] };
    const read = parseSkill(
      { folder: "a", files: { "SKILL.md": text, "references/contract.json": JSON.stringify(contract) } },
      "import",
    ).skill;
    if (read === undefined) throw new Error("unreadable");
    expect(rewritten(read, change("shop/get", [tool("shop/x")])).files["SKILL.md"]).toBe(text.replace("shop/get", "shop/x"));
  });
});
