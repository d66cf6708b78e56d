import { describe, expect, it } from "vitest";
import type { Skill } from "../../src/model/skill.js";
import { renderBody } from "../../src/skills/body.js";
import { joinSteps } from "../../src/skills/join-steps.js";
import { parseSkill, renderSkill, SKILL_PATH } from "../../src/skills/text.js";
import { tool } from "./tools.js";

const both = tool("shop/find_total", ["email"], ["order_id", "total"]);

function skillOf(steps: readonly string[], more: readonly string[] = []): Skill {
  const files = renderSkill({
    name: "atomic-pay",
    tier: "atomic",
    description: "Pay for an order.",
    body: [renderBody({ whenToUse: "It is asked for.", steps }), ...more].join("\n\n"),
    contract: {
      requires: ["shop/find", "shop/total", "shop/pay"].map((key) => ({
        tool: key,
        contractDigest: "0".repeat(64),
        params: [],
        reads: [],
      })),
      uses: [],
      produces: [],
      evidence: [],
    },
  });
  const { skill } = parseSkill({ folder: "atomic-pay", files }, "rules");
  if (skill === undefined) throw new Error("the sample skill reads");
  return skill;
}

const STEPS = [
  "Find it: `shop/find` with email from the request.",
  "Add up: `shop/total` with order_id from step 1.",
  "Pay: `shop/pay` with order_id from step 1, sum from total of step 2 and card from the request.",
];
const JOIN = {
  first: 0,
  last: 1,
  tool: both,
  arguments: [{ name: "email", source: { kind: "request" as const, field: undefined }, optional: false }],
  reads: ["order_id", "total"],
};

describe("steps that fall together", () => {
  it("become one, and later steps take from it what they took from any of them", () => {
    const skill = skillOf(STEPS);
    const files = joinSteps(skill, JOIN);
    expect(files?.[SKILL_PATH]?.split("\n").filter((line) => /^\d\. /.test(line))).toEqual([
      "1. Add up: `shop/find_total` with email from the request.",
      "2. Pay: `shop/pay` with order_id from step 1, sum from total of step 1 and card from the request.",
    ]);
    const after = parseSkill({ folder: "atomic-pay", files: files ?? {} }, "rules").skill;
    expect(after?.contract.requires.map((need) => need.tool)).toEqual(["shop/pay", "shop/find_total"]);
    // Nothing else of the file moves.
    const rest = (text: string | undefined): string[] => (text ?? "").split("\n").filter((line) => !/^\d\. /.test(line));
    expect(rest(files?.[SKILL_PATH])).toEqual(rest(skill.files[SKILL_PATH]));
  });

  it("move the numbers of what comes after them, and leave what stood before", () => {
    const look = "Look: `shop/find` with email from the request.";
    const steps = [look, ...STEPS.slice(0, 2).map((text) => text.replace("step 1", "step 2")), "Say `done` of order_id."];
    const pay = "Pay: `shop/pay` with order_id from step 2, sum from total of step 3 and note from step 1.";
    const files = joinSteps(skillOf([...steps.slice(0, 3), pay]), { ...JOIN, first: 1, last: 2 });
    expect(files?.[SKILL_PATH]).toContain(
      "3. Pay: `shop/pay` with order_id from step 2, sum from total of step 2 and note from step 1.",
    );
  });

  it.each([
    ["a later step speaks of steps in other words", skillOf([...STEPS.slice(0, 2), "Take the sum of step 2 to the till."])],
    ["a tool that falls away is named elsewhere", skillOf(STEPS, ["## Checks\n- `shop/total` agrees."])],
  ])("are left as they are where %s", (_why, skill) => {
    expect(joinSteps(skill, JOIN)).toBeUndefined();
  });
});
