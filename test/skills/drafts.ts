import fc from "fast-check";
import type { Tier } from "../../src/model/skill.js";
import type { SkillDraft } from "../../src/skills/text.js";

const DIGEST = "0123456789abcdef".repeat(4);

/** A small valid draft, to be varied. */
export function draft(changes: Partial<SkillDraft> = {}): SkillDraft {
  return {
    name: "atomic-cancel-order",
    tier: "atomic",
    description: "Cancel an order that is not shipped.",
    body: "## When to use\nNow.\n\n## Steps\n1. Cancel it: `shop/cancel_order` with order_id from the request.",
    contract: {
      requires: [{ tool: "shop/cancel_order", contractDigest: DIGEST, params: ["order_id"], reads: [] }],
      uses: [],
      produces: [],
      evidence: [],
    },
    ...changes,
  };
}

const word = fc.stringMatching(/^[a-z0-9]{1,8}$/);
/** Text with everything YAML stumbles over. */
export const anyText = fc.oneof(
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }),
  fc.string({
    unit: fc.constantFrom(
      ":",
      " ",
      "#",
      "-",
      "\n",
      "'",
      '"',
      "\\",
      "{",
      "[",
      "&",
      "*",
      "!",
      "|",
      "%",
      "@",
      "`",
      "\t",
      "a",
      "é",
      "\u2028",
      "\uFEFF",
      "🦊",
    ),
    minLength: 1,
    maxLength: 40,
  }),
);
/** No line breaks that reading would change, no lone surrogates, no NUL. */
const clean = (text: string): string => text.replace(/[\u0000\uD800-\uDFFF]/g, "");
const prose = anyText.map((text) => clean(text).replace(/[<>]/g, "")).filter((text) => text.trim() !== "");

export const anyDraft: fc.Arbitrary<SkillDraft> = fc.record({
  name: fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join("-")),
  tier: fc.constantFrom<Tier>("planning", "atomic", "tool"),
  description: prose,
  body: anyText.map((text) => `x${clean(text)}`),
  license: fc.option(prose, { nil: undefined }),
  compatibility: fc.option(prose, { nil: undefined }),
  allowedTools: fc.option(prose, { nil: undefined }),
  metadata: fc.dictionary(
    anyText.map((key) => `steward-k${clean(key)}`),
    anyText.map(clean),
    { maxKeys: 3 },
  ),
  contract: fc.record({
    requires: fc.array(
      fc.record(
        {
          tool: fc.tuple(word, anyText).map(([label, name]) => `${label}/${name}`),
          contractDigest: fc.constant(DIGEST),
          params: fc.array(anyText, { maxLength: 3 }),
          reads: fc.array(anyText, { maxLength: 3 }),
          anyGroup: anyText,
          optional: fc.boolean(),
          inferred: fc.boolean(),
        },
        { requiredKeys: ["tool", "contractDigest", "params", "reads"] },
      ),
      { maxLength: 3 },
    ),
    uses: fc.array(word, { maxLength: 3 }),
    produces: fc.array(anyText, { maxLength: 3 }),
    evidence: fc.array(
      fc.record({ trajectory: fc.constant(DIGEST), steps: fc.array(fc.nat(9), { maxLength: 3 }), verifier: word }),
      { maxLength: 2 },
    ),
  }),
});
