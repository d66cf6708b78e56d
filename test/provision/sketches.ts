/** Any turn on the sample shop, with hostile tools, texts and budgets. */
import fc from "fast-check";
import { SHOP_SKILLS, SHOP_TOOLS } from "./sample.js";
import { turnOf, type Turn, type TurnSketch } from "./turn.js";

export const toolKeys = [...SHOP_TOOLS.map((tool) => tool.key), "odd/много слов", "odd/wide"];
const planning = SHOP_SKILLS.filter((skill) => skill.tier === "planning").map((skill) => skill.name);
const atomic = SHOP_SKILLS.filter((skill) => skill.tier === "atomic").map((skill) => skill.name);

const scored = (names: readonly string[]): fc.Arbitrary<[string, number][]> =>
  fc
    .array(fc.tuple(fc.constantFrom(...names), fc.double({ min: 0, max: 1, noNaN: true })), { maxLength: 8 })
    .map((hits) => [...new Map(hits)].sort((a, b) => b[1] - a[1]));
const words = fc
  .array(
    fc.constantFrom(
      "cancel",
      "order",
      "O-1001",
      "refund the payment",
      "and",
      "stock.",
      "return",
      "items;",
      "товар",
      "荷物はどこ",
      "track",
      "\n- then",
    ),
    { minLength: 1, maxLength: 40 },
  )
  .map((parts) => parts.join(" "));
const sentence = fc.string({ maxLength: 200 });
export const sketches: fc.Arbitrary<TurnSketch> = fc.record(
  {
    request: fc.record(
      {
        kind: fc.constantFrom("start" as const, "retrieve" as const, "explore" as const),
        text: words,
        detail: fc.constantFrom("compact" as const, "full" as const),
        budgetTokens: fc.oneof(fc.constant(200), fc.integer({ min: 200, max: 1_500 }), fc.integer({ min: 1_500, max: 8_000 })),
      },
      { requiredKeys: ["kind", "text", "budgetTokens"] },
    ),
    planning: scored(planning),
    atomic: scored(atomic),
    tools: scored(toolKeys),
    episode: fc.string({ minLength: 1, maxLength: 30 }),
    turn: fc.integer({ min: 1, max: 99 }),
    before: fc.record({
      turn: fc.constant(1),
      explored: fc.integer({ min: 0, max: 4 }),
      skillChars: fc.integer({ min: 0, max: 4_500 }),
    }),
    withoutTools: fc.subarray(toolKeys, { maxLength: 2 }),
    found: fc.record({
      notices: fc.array(fc.record({ code: fc.constantFrom("a", "limit-cut"), text: sentence }), { maxLength: 5 }),
      substitutions: fc.array(
        fc.record({ asked: sentence, given: fc.subarray(toolKeys, { maxLength: 3 }), why: sentence, certain: fc.boolean() }),
        { maxLength: 10 },
      ),
      alternatives: fc.array(
        fc.record({ tool: fc.constantFrom(...toolKeys), instead_of: fc.constantFrom(...toolKeys), why: sentence }),
        { maxLength: 6 },
      ),
      unmatched: fc.array(fc.string({ maxLength: 20 }), { maxLength: 30 }),
      leftOut: fc.array(
        fc.record({
          kind: fc.constantFrom("skill" as const, "tool" as const),
          id: fc.stringMatching(/^[a-z/]{1,30}$/),
          why: sentence,
        }),
        { maxLength: 30 },
      ),
    }),
  },
  { requiredKeys: ["request", "planning", "atomic", "tools", "found"] },
);
const moreTools = {
  "odd/много слов": { description: "Описание без конца ".repeat(40), input: { "имя параметра": "string", id: "string" } },
  "odd/wide": {
    description: "Wide.",
    input: Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`parameter_number_${i}`, "string"])),
  },
} as const;
export const turn = (sketch: TurnSketch): Turn => turnOf({ ...sketch, moreTools });
