import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countGiven, DataFault } from "../../scripts/eval/data.js";
import { readQuerySets } from "../../scripts/eval/sets.js";
import { headerOf, unknownOption } from "../../scripts/help.js";

const root = resolve(import.meta.dirname, "../..");
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "steward-eval-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TOOLS = ["get_order", "cancel_order"].map((name) => ({
  server: "shop",
  name,
  description: `${name.replace("_", " ")}.`,
  inputSchema: { type: "object" },
}));
const QUERIES = [
  { id: "q1", query: "look an order up", gold: ["shop::get_order"] },
  { id: "q2", query: "cancel an order", gold: ["shop::cancel_order"] },
];
const lines = (rows: readonly unknown[]): string =>
  rows.map((row) => (typeof row === "string" ? row : JSON.stringify(row))).join("\n");

/** A new set of these rows; `.gz` where `packed`. */
let sets = 0;
function setOf(catalog: readonly unknown[], queries: readonly unknown[], packed = false): string {
  const path = join(folder, `set-${(sets += 1)}`);
  mkdirSync(path);
  for (const [name, rows] of [
    ["catalog.jsonl", catalog],
    ["queries.jsonl", queries],
  ] as const)
    writeFileSync(join(path, packed ? `${name}.gz` : name), packed ? gzipSync(lines(rows)) : lines(rows));
  return path;
}
function faultOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(DataFault);
    return (error as Error).message;
  }
  throw new Error("nothing was refused");
}

describe("data of others for a measure of retrieval", () => {
  it("is read plain and gzipped alike", () => {
    const [plain] = readQuerySets(setOf(TOOLS, QUERIES));
    const [packed] = readQuerySets(setOf(TOOLS, QUERIES, true));
    expect({ ...packed, name: "" }).toEqual({ ...plain, name: "" });
    expect(plain?.queries).toHaveLength(2);
  });

  it.each<[string, readonly unknown[], readonly unknown[], RegExp]>([
    ["a line that is no JSON", ["", "{"], QUERIES, /catalog\.jsonl:2 is no JSON/],
    ["a line that is no object", [[1]], QUERIES, /catalog\.jsonl:1 is no object/],
    ["a tool without a server", [{ ...TOOLS[0], server: undefined }], QUERIES, /catalog\.jsonl:1: server is missing/],
    ["a tool without a name", [TOOLS[1], { ...TOOLS[0], name: "" }], QUERIES, /catalog\.jsonl:2: name is ""/],
    ["a description that is no text", [{ ...TOOLS[0], description: 5 }], QUERIES, /catalog\.jsonl:1: description is 5/],
    [
      "a tool without a schema",
      [{ ...TOOLS[0], inputSchema: null }],
      QUERIES,
      /catalog\.jsonl:1: inputSchema is null.*"type": "object"/,
    ],
    ["no tool at all", [], QUERIES, /catalog\.jsonl has no tool/],
    ["no query at all", TOOLS, ["  "], /queries\.jsonl has no query/],
    ["a query without an id", TOOLS, [{ ...QUERIES[0], id: 7 }], /queries\.jsonl:1: id is 7/],
    ["an id given twice", TOOLS, [QUERIES[0], QUERIES[0]], /queries\.jsonl:2: id "q1" was given before/],
    ["a blank query", TOOLS, [{ ...QUERIES[0], query: " " }], /queries\.jsonl:1: query is " "/],
    ["no right tool", TOOLS, [QUERIES[0], { ...QUERIES[1], gold: [] }], /queries\.jsonl:2: gold is \[\]/],
    ["right tools that are no list", TOOLS, [{ ...QUERIES[0], gold: "shop::get_order" }], /queries\.jsonl:1: gold is "shop/],
    [
      "a right tool that is not there",
      TOOLS,
      [{ ...QUERIES[0], gold: ["get_order"] }],
      /gold names "get_order", which .*catalog\.jsonl does not have/,
    ],
  ])("with %s is refused by file, line and field", (_what, catalog, queries, says) => {
    expect(faultOf(() => readQuerySets(setOf(catalog, queries)))).toMatch(says);
  });

  it("that is not there, or half there, is named with the form it should have", () => {
    expect(faultOf(() => readQuerySets(join(folder, "nowhere")))).toMatch(/nowhere is not there; .*--data/);
    const whole = join(folder, "several");
    mkdirSync(join(whole, "half"), { recursive: true });
    writeFileSync(join(whole, "half/catalog.jsonl"), lines(TOOLS));
    const told: string[] = [];
    expect(faultOf(() => readQuerySets(whole, (text) => told.push(text)))).toMatch(/has no set: .*catalog\.jsonl.*"gold"/);
    expect(told).toEqual([`${join(whole, "half")} is left out: it has catalog.jsonl and no queries.jsonl`]);
  });

  it("that says something twice, wrongly or in no text is named by file, line and field", () => {
    expect(faultOf(() => readQuerySets(setOf([...TOOLS, TOOLS[0]], QUERIES)))).toMatch(
      /catalog\.jsonl:3: name "get_order" of server "shop" was given before, at .*:1/,
    );
    const [first] = QUERIES;
    expect(faultOf(() => readQuerySets(setOf(TOOLS, [first, { ...first, id: "q3", split: "tset" }])))).toMatch(
      /queries\.jsonl:2: split is "tset"; it has to be "experience" or "test"/,
    );
    const path = setOf(TOOLS, QUERIES);
    writeFileSync(join(path, "queries.jsonl"), Buffer.from(`${JSON.stringify(first)}\n{"id": "\xff"}\n`, "latin1"));
    expect(faultOf(() => readQuerySets(path))).toMatch(/queries\.jsonl:2 is no UTF-8/);
    expect(faultOf(() => readQuerySets(join(path, "queries.jsonl")))).toMatch(/queries\.jsonl is a file; give the folder/);
  });

  it("is asked with whole numbers above 0", () => {
    expect([countGiven("sample", "3"), countGiven("sample", undefined)]).toEqual([3, undefined]);
    for (const text of ["0", "-1", "x", "", "1.5"]) expect(faultOf(() => countGiven("sample", text))).toMatch(/^--sample/);
  });
});

describe("the measures' command line", () => {
  const run = (...args: readonly string[]): { code: number | null; out: string; err: string } => {
    const done = spawnSync(process.execPath, ["--import", "tsx", ...args], {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, STEWARD_DATA: "" },
    });
    return { code: done.status, out: done.stdout, err: done.stderr };
  };

  it("tells of each measure what its header says, and takes no option beside those", () => {
    for (const what of ["drift", "lineage", "maintenance", "provision", "retrieval", "skills", "tau", "tune"]) {
      const header = headerOf(join(root, `scripts/eval/${what}.ts`));
      expect(header, what).toContain(`eval -- ${what}`);
      expect(unknownOption(["--never-heard-of"], header)).toBe("--never-heard-of");
    }
    for (const what of ["calls", "sync", "retrieval", "start"])
      expect(headerOf(join(root, `scripts/bench/${what}.ts`)).length).toBeGreaterThan(40);
    const help = run("scripts/eval/main.ts", "retrieval", "--help");
    expect([help.code, help.out]).toEqual([0, expect.stringContaining("queries.jsonl")]);
    expect(run("scripts/bench/main.ts", "start", "--help").out).toContain("start: ");
  });

  it("ends wrong use and unusable data with exit code 2, one line and no stack", () => {
    const good = setOf(TOOLS, QUERIES);
    const cases: [string[], RegExp][] = [
      [["retrieval", "--data", good, "--among", join(folder, "missing.jsonl.gz")], /missing\.jsonl\.gz cannot be read/],
      [["retrieval", "--data", setOf(TOOLS, [])], /has no query/],
      [["retrieval", "--data", good, "--bogus"], /--bogus is no option/],
      [["skills", "--data", join(folder, "nowhere")], /nowhere.* is not there/],
    ];
    for (const [args, says] of cases) {
      const { code, err } = run("scripts/eval/main.ts", ...args);
      expect([code, err.trim().split("\n").length], err).toEqual([2, 1]);
      expect(err).toMatch(says);
    }
  });

  it("measures a small set of one server without a figure that is no number", () => {
    const { code, out } = run("scripts/eval/main.ts", "retrieval", "--data", setOf(TOOLS, QUERIES, true), "--no-experience");
    expect([code, out.includes("NaN")], out).toEqual([0, false]);
    expect(out).toMatch(/mean nDCG@10: 0\.\d+ [^]*their servers gone: these sets cannot tell/);
  });
});
