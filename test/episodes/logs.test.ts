import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LOG_FORMATS, readLog } from "../../src/evidence/read.js";
import type { JsonObject } from "../../src/model/json.js";
import { sharedData } from "../data.js";
import { readRows } from "../../scripts/eval/data.js";
import { chat, claudeCodeLines, codexLines, lines, liveRuns, tau2Results, tauRuns } from "./logs.js";

const read = (text: string, options: Partial<Parameters<typeof readLog>[1]> = {}): ReturnType<typeof readLog> =>
  readLog(text, { where: "log", ...options });

const LOGS = {
  "openai-chat": JSON.stringify({ messages: chat }),
  "claude-code": lines(claudeCodeLines),
  codex: lines(codexLines),
  "tau-bench": JSON.stringify(tauRuns),
  "tau2-bench": JSON.stringify(tau2Results),
  "live-mcp-bench": JSON.stringify(liveRuns),
} as const;

describe("logs of other programs", () => {
  it.each(Object.entries(LOGS))("%s is recognised and says the same task, calls and results as every other", (name, text) => {
    const reading = read(text);
    expect(reading.format).toBe(name);
    expect(reading.problems).toEqual([]);
    const [episode] = reading.episodes;
    expect(episode?.task).toBe("Cancel order A-1001, I changed my mind.");
    expect(episode?.calls.map((call) => call.isError)).toEqual([false, false]);
    expect(episode?.calls[0]?.result).toMatchObject({ order_id: "A-1001", customer_id: "C-77" });
    const last = episode?.calls[1];
    const args = last?.args["tool"] === undefined ? last?.args : last.args["arguments"];
    expect(args).toEqual({ order_id: "A-1001", customer_id: "C-77" });
  });

  it("a reward is the verdict of a system of record, a label that of a person, and what a run says of itself a claim", () => {
    expect(read(LOGS["tau-bench"]).episodes.map((one) => one.outcome)).toEqual([
      { outcome: "success", trust: "state", note: "reward 1" },
      { outcome: "failure", trust: "state", note: "reward 0" },
    ]);
    expect(read(LOGS["tau2-bench"]).episodes[0]?.outcome?.trust).toBe("state");
    expect(read(LOGS["live-mcp-bench"]).episodes[0]?.outcome).toEqual({ outcome: "success", trust: "claim" });
    const verdicts = new Map([["l1", "failure" as const]]);
    expect(read(LOGS["live-mcp-bench"], { verdicts }).episodes[0]?.outcome).toEqual({ outcome: "failure", trust: "human" });
    expect(read(LOGS["claude-code"]).episodes[0]?.outcome).toBeUndefined();
  });

  it("a failed call is one, and what it gave back is kept", () => {
    const failed = read(LOGS["tau-bench"]).episodes[1]?.calls[0];
    expect(failed).toMatchObject({ isError: true, result: "Error: order not found" });
  });

  it("each prompt of a session is a task of its own, and a prompt without calls is none", () => {
    const more = [
      ...claudeCodeLines,
      { type: "user", sessionId: "s1", message: { role: "user", content: "Thanks!" } },
      { type: "user", sessionId: "s1", message: { role: "user", content: "And look at A-2." } },
      {
        type: "assistant",
        sessionId: "s1",
        message: { role: "assistant", content: [{ type: "tool_use", id: "t9", name: "Bash", input: { command: "ls" } }] },
      },
    ];
    expect(read(lines(more)).episodes.map(({ source, task, calls }) => [source, task, calls.length])).toEqual([
      ["session s1, prompt 1", "Cancel order A-1001, I changed my mind.", 2],
      ["session s1, prompt 3", "And look at A-2.", 1],
    ]);
  });

  it("logs of several programs in one file are each read as their own, in any order, and that is told", () => {
    const pieces: Record<string, readonly JsonObject[]> = {
      "openai-chat": [{ messages: [...chat] }],
      bare: chat,
      "claude-code": claudeCodeLines,
      codex: codexLines,
      "tau-bench": tauRuns,
      "tau2-bench": [tau2Results],
      "live-mcp-bench": liveRuns,
    };
    const said = (documents: readonly JsonObject[]): string[] =>
      read(lines(documents)).episodes.map(({ task, calls }) => `${task} ${JSON.stringify(calls)}`);
    fc.assert(
      fc.property(fc.shuffledSubarray(Object.keys(pieces), { minLength: 1 }), (drawn) => {
        // Older rollouts of Codex look like bare messages: beside one nobody can tell these apart.
        const names = drawn.includes("codex") ? drawn.filter((name) => name !== "bare") : drawn;
        const mixed = names.flatMap((name) => pieces[name] ?? []);
        const alone = names.flatMap((name) => said(pieces[name] ?? []));
        expect(said(mixed).sort()).toEqual([...alone].sort());
        const programs = new Set(names.map((name) => (name === "bare" ? "openai-chat" : name)));
        const { problems, format } = read(lines(mixed));
        expect(problems.map(({ code }) => code)).toEqual(programs.size > 1 ? ["log-mixed"] : []);
        expect(format?.split(" and ").sort()).toEqual([...programs].sort());
      }),
    );
  });

  it("what looks like another program's is read as was asked, and that is told", () => {
    const reading = read(lines([{ messages: [...chat] }, ...claudeCodeLines]), { format: "claude-code" });
    expect(reading.episodes).toHaveLength(1);
    expect(reading.problems.map(({ text }) => text)).toEqual([expect.stringContaining("1 of OpenAI chat messages")]);
  });

  it("torn lines are survived and counted, wherever a log was cut", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: lines(claudeCodeLines).length - 2 }), (at) => {
        const whole = lines(claudeCodeLines);
        const reading = read(`${whole.slice(0, at)}\n${whole.slice(at)}`);
        const isCut = whole[at - 1] !== "\n" && whole[at] !== "\n";
        expect(reading.lines.torn).toBe(isCut ? 2 : 0);
        expect(reading.lines.read + Math.min(1, reading.lines.torn)).toBe(claudeCodeLines.length);
        expect(reading.problems.some((problem) => problem.code === "log-lines-torn")).toBe(isCut);
      }),
    );
  });

  it("no text makes reading fail, and what nobody knows is said with what could be read", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.json()),
        fc.constantFrom(undefined, ...LOG_FORMATS.map(({ name }) => name)),
        (text, format) => {
          const reading = read(text, { format });
          if (reading.episodes.length === 0) expect(reading.problems.length).toBeGreaterThan(0);
        },
      ),
    );
    expect(read('{"a":1}').problems[0]?.text).toContain("claude-code");
    expect(read("{}", { format: "gpt" }).problems[0]?.text).toContain('no log format "gpt"');
  });

  it.each([
    ["null", "the whole of it is null"],
    ["[]", "it is an empty list"],
    [" [ ] ", "it is an empty list"],
    ["[null]", "entry 1 is null"],
    ["[[], 2]", "entry 1 is an empty list"],
    ["7", "the whole of it is a number"],
    ['"text"', "the whole of it is a text"],
    ["true", "the whole of it is true"],
    ["", "it is empty"],
    ["\n\n", "it is empty"],
    ["not json", "no line of it is JSON"],
    ["\n1\nnull\n", "line 2 is a number"],
  ])("of %j it is said what was expected and what came, with the file", (text, came) => {
    const { problems } = read(text);
    const last = problems.at(-1);
    expect(last).toMatchObject({ code: "log-unknown", where: "log" });
    expect(last?.text).toBe(`Expected is a JSON object, a list of objects, or one object a line; ${came}.`);
  });

  it("what is no object between episodes is told of by its place, and what is no JSON by its line", () => {
    const [first, second] = [JSON.stringify({ messages: chat }), JSON.stringify({ messages: chat })];
    const reading = read([first, "null", "{torn", second, "[1]"].join("\n"));
    expect(reading.episodes).toHaveLength(2);
    expect(reading.lines).toEqual({ read: 2, torn: 3 });
    expect(reading.problems.map(({ text }) => text)).toEqual([
      "1 of 5 lines are no JSON and are left out (line 3).",
      "2 of 5 entries are no JSON object and are left out: line 2 is null.",
    ]);
  });

  it("arguments that are no object are a named problem, not a call", () => {
    const broken = [{ role: "assistant", tool_calls: [{ id: "x", function: { name: "get_order", arguments: "{oops" } }] }];
    const reading = read(JSON.stringify({ messages: broken }));
    expect(reading.problems.map(({ code }) => code)).toContain("log-call-unreadable");
  });

  const runsFile = sharedData("trajectories/tau-bench-gpt4o-airline.jsonl.gz");
  it.skipIf(runsFile === undefined)("real logs are read whole: 200 runs of τ-bench", () => {
    const runs = readRows(runsFile ?? "");
    const tau = read(runs.map((run) => JSON.stringify(run)).join("\n"));
    expect(tau.lines).toEqual({ read: 200, torn: 0 });
    expect(tau.episodes.filter((one) => one.outcome?.outcome === "success").length).toBe(
      (runs as { reward: number; calls: unknown[] }[]).filter((run) => run.reward === 1 && run.calls.length > 0).length,
    );
  });
});
