import { afterEach, describe, expect, it } from "vitest";
import { createPatternRunner, type PatternRunner } from "../../src/host/patterns.js";

const runners: PatternRunner[] = [];
function runner(deadlineMs?: number): PatternRunner {
  const made = createPatternRunner(deadlineMs === undefined ? {} : { deadlineMs });
  runners.push(made);
  return made;
}
afterEach(async () => {
  for (const made of runners.splice(0)) await made.stop();
});

describe("patterns of upstreams", () => {
  it("answer as JSON Schema says: anywhere in the text, in Unicode, with look-around", async () => {
    const answers = await runner().run([
      { pattern: "^[a-z]+-\\d{4}$", text: "ab-1234" },
      { pattern: "^[a-z]+-\\d{4}$", text: "ab-12345" },
      { pattern: "b", text: "abc" },
      { pattern: "^.$", text: "😀" },
      { pattern: "^(?!admin)", text: "administrator" },
      { pattern: "\\p{Lu}", text: "Ä" },
    ]);
    expect(answers.map((answer) => answer.matches)).toEqual([true, false, true, true, false, true]);
  });

  it("are forgiven what only the strict spelling forbids", async () => {
    const [answer] = await runner().run([{ pattern: "^[\\w\\-]+\\_$", text: "a-b_" }]);
    expect(answer?.matches).toBe(true);
  });

  it("that are none, or never end, stay undecided, and those after them are answered", async () => {
    const answers = await runner(400).run([
      { pattern: "(", text: "a" },
      { pattern: "^(a+)+$", text: `${"a".repeat(40)}!` },
      { pattern: "^a", text: "abc" },
    ]);
    expect(answers.map((answer) => answer.matches)).toEqual([undefined, undefined, true]);
  });

  it("run beside the main loop: it turns while one does not end", async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 5);
    await runner(300).run([{ pattern: "^(a+)+$", text: `${"a".repeat(40)}!` }]);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(2);
  });

  it("that were asked at once come back to each asker; those a stop overtook have no answer, not a wrong one", async () => {
    const one = runner();
    const both = await Promise.all([one.run([{ pattern: "a", text: "a" }]), one.run([{ pattern: "a", text: "b" }])]);
    expect(both.map(([answer]) => answer?.matches)).toEqual([true, false]);
    const late = one.run(Array.from({ length: 2_000 }, (_, n) => ({ pattern: "a", text: `a${n}` })));
    await one.stop();
    const answers = await late;
    expect(answers.length).toBeLessThan(2_000);
    expect(answers.every((answer) => answer.matches === true)).toBe(true);
  });
});
