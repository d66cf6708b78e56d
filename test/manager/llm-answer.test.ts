import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { nodeFiles } from "../../src/host/files.js";
import { answerSchema, objectIn } from "../../src/manager/answer.js";
import { stepDown, TOP } from "../../src/manager/ladder.js";
import { memoryOfOneProcess, openMemory } from "../../src/manager/llm-memory.js";
import { readCompletion, retryAfterMs } from "../../src/manager/llm-translate.js";
import { editShape } from "../../src/manager/prompt-edit.js";
import { startShape } from "../../src/manager/prompt-view.js";

describe("the object in an answer", () => {
  it.each([
    ["the whole text", ' {"a": 1}\n'],
    ["inside a fence", 'Sure:\n```json\n{"a": 1}\n```\nDone.'],
    ["among words", 'I think {not this} but {"a": 1} is it'],
    ["after thinking aloud", '<think>{"a": 2}</think>{"a": 1}'],
    ["the last of several", '{"a": 2} no, rather {"a": 1}'],
    ["with braces in its strings", 'x {"a": 1, "b": "}{"} y'],
  ])("is found as %s", (_where, text) => {
    expect(objectIn(text)?.["a"]).toBe(1);
  });

  it.each(["", "no", "[1]", "{", '{"a": ', '{"a": 1', "null"])("is not made up out of %j [L03]", (text) => {
    expect(objectIn(text)).toBeUndefined();
  });

  it("is read from any text without throwing, and written JSON is found again", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void objectIn(text)));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        expect(objectIn(`\`\`\`\n${JSON.stringify(value)}\n\`\`\``)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe("a completion", () => {
  it("is read from any JSON without throwing [L12]", () => {
    const odd = fc.oneof(
      fc.jsonValue(),
      fc.record({
        choices: fc.array(fc.record({ message: fc.jsonValue(), finish_reason: fc.jsonValue() })),
        usage: fc.jsonValue(),
      }),
    );
    fc.assert(fc.property(odd, (body) => void readCompletion(body)));
  });

  it("has its text in one piece or in parts, and its refusal in a field or in a part [L02]", () => {
    const read = (message: unknown): unknown => readCompletion({ choices: [{ message }] }).reading;
    expect(read({ content: "a" })).toEqual({ kind: "text", text: "a" });
    expect(
      read({
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      }),
    ).toEqual({ kind: "text", text: "ab" });
    expect(read({ content: "a", refusal: "no" })).toEqual({ kind: "refused" });
    expect(read({ content: [{ type: "refusal", refusal: "no" }] })).toEqual({ kind: "refused" });
    expect(read({ content: "a", refusal: "" })).toEqual({ kind: "text", text: "a" });
  });

  it("does not believe counts that are none", () => {
    const usage = (prompt: unknown, answer: unknown): unknown =>
      readCompletion({ usage: { prompt_tokens: prompt, completion_tokens: answer } }).usage;
    expect(usage(7, 3)).toEqual({ promptTokens: 7, answerTokens: 3 });
    for (const [prompt, answer] of [
      [0, 0],
      [-1, 3],
      [1.5, 3],
      ["7", 3],
      [7, null],
    ])
      expect(usage(prompt, answer)).toBeUndefined();
  });
});

describe("a Retry-After", () => {
  const at = (headers: Record<string, string>): number | undefined =>
    retryAfterMs(new Headers(headers), Date.parse("2026-01-01T00:00:00Z"));

  it("is understood in seconds, milliseconds and as a date [L05]", () => {
    expect(at({ "retry-after": "3600" })).toBe(3_600_000);
    expect(at({ "retry-after": "0.5" })).toBe(500);
    expect(at({ "retry-after-ms": "250", "retry-after": "9" })).toBe(250);
    expect(at({ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" })).toBe(30_000);
    expect(at({ "retry-after": "Thu, 01 Jan 2020 00:00:00 GMT" })).toBe(0);
    expect(at({ "retry-after": "soon" })).toBeUndefined();
    expect(at({})).toBeUndefined();
  });
});

describe("the ladder", () => {
  it("goes down step by step and ends: nothing is asked for ever", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(undefined, "temperature", "max_tokens", "max_completion_tokens", "response_format", "x")),
        (complaints) => {
          let dialect = TOP;
          let steps = 0;
          for (const complaint of [...complaints, ...Array.from({ length: 10 }, () => "temperature max_tokens")]) {
            const lower = stepDown(dialect, complaint);
            if (lower === undefined) break;
            dialect = lower;
            steps += 1;
          }
          expect(steps).toBeLessThanOrEqual(5);
        },
      ),
    );
  });
});

describe("the form of an answer", () => {
  it.each([
    ["start", startShape],
    ["edit", editShape],
  ])("for %s is what strict endpoints take: closed, all required, no defaults", (_name, shape) => {
    const walk = (node: unknown): void => {
      if (typeof node !== "object" || node === null) return;
      const { type, properties, required, additionalProperties } = node as Record<string, unknown>;
      expect(node).not.toHaveProperty("default");
      if (type === "object") {
        expect(additionalProperties).toBe(false);
        expect(required).toEqual(Object.keys(properties as object));
      }
      for (const member of Object.values(node)) walk(member);
    };
    walk(answerSchema(shape));
  });
});

describe("the manager's memory", () => {
  const folder = mkdtempSync(join(tmpdir(), "steward-memory-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const open = (name: string, told: string[] = []): ReturnType<typeof openMemory> =>
    openMemory({ path: join(folder, name), files: nodeFiles(), log: (_level, text) => void told.push(text) });

  it("is there again after a restart", async () => {
    const memory = open("a.json");
    for (let n = 0; n < 20; n += 1) memory.set(`k${n}`, { n });
    await memory.settled();
    expect(open("a.json").get("k7")).toEqual({ n: 7 });
    expect(JSON.parse(readFileSync(join(folder, "a.json"), "utf8"))).toMatchObject({ format: "manager-memory/1" });
  });

  it.each(["", "{", "[]", '{"format":"manager-memory/9"}'])("begins anew, loudly, where the file holds %j", async (text) => {
    writeFileSync(join(folder, "b.json"), text);
    const told: string[] = [];
    const memory = open("b.json", told);
    expect(told).toHaveLength(1);
    memory.set("k", 1);
    await memory.settled();
    expect(open("b.json").get("k")).toBe(1);
  });

  it("holds its newest entries only", () => {
    const memory = memoryOfOneProcess(3);
    for (const key of ["a", "b", "c", "a", "d"]) memory.set(key, key);
    expect(Object.keys(memory.entries())).toEqual(["c", "a", "d"]);
  });
});
