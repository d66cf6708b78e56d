import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../src");

/** Rooms from the top of the house to its floor. A room may import rooms below it; what else it may import is said here. */
const LEVELS: readonly (readonly string[])[] = [
  ["main"],
  ["verbs"],
  ["stdio"],
  ["serve"],
  ["rehearse", "exchange"],
  ["compose"],
  ["fittings"],
  ["lab"],
  ["surfaces", "upstream", "store", "manager"],
  ["config"],
  ["host"],
  ["operations"],
  ["steward"],
  ["world"],
  ["provision", "maintain"],
  ["graph", "retrieve", "skills", "evidence"],
  ["catalog"],
  ["model"],
];
const CORE = new Set(["model", "catalog", "skills", "evidence", "graph", "retrieve", "provision", "maintain", "world"]);
/** Packages the core may use: in memory, without clock, chance or IO. */
const CORE_PACKAGES = new Set([
  "zod",
  "canonicalize",
  "graphology",
  "graphology-dag",
  "graphology-gexf",
  "graphology-types",
  "gpt-tokenizer",
  "yaml",
  "node:crypto",
  // Loads the tokeniser on first use: its tables are large.
  "node:module",
]);

interface Import {
  readonly from: string;
  readonly file: string;
  readonly to: string;
}

const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.split("\\").join("/"))
  .sort();

function roomOf(file: string): string {
  const first = file.split("/")[0] ?? "";
  return first.endsWith(".ts") ? first.slice(0, -3) : first;
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const found: string[] = [];
  for (const match of text.matchAll(/^(?:import|export)\s+(?:type\s+)?(?:[^;"']*?\sfrom\s+)?["']([^"']+)["']/gm)) {
    found.push(match[1] ?? "");
  }
  for (const match of text.matchAll(/\bimport\(\s*["']([^"']+)["']\s*\)(?!\.\w)/g)) found.push(match[1] ?? "");
  return found;
}

const inner: Import[] = [];
const packages: { file: string; spec: string }[] = [];
for (const file of files) {
  for (const spec of importsOf(file)) {
    if (spec.startsWith(".")) {
      const target = relative(root, resolve(root, dirname(file), spec))
        .split("\\")
        .join("/")
        .replace(/\.js$/, ".ts");
      inner.push({ from: roomOf(file), file, to: target });
    } else packages.push({ file, spec });
  }
}

const levelOf = (room: string): number => LEVELS.findIndex((rooms) => rooms.includes(room));

describe("the rooms of the house", () => {
  it("every file stands in a room that the map knows", () => {
    expect(files.filter((file) => levelOf(roomOf(file)) < 0)).toEqual([]);
  });

  it("imports point down only, and edge rooms do not import one another", () => {
    const wrong = inner
      .filter(({ from, to }) => roomOf(to) !== from && levelOf(roomOf(to)) <= levelOf(from))
      .map(({ file, to }) => `${file} → ${to}`);
    expect(wrong).toEqual([]);
  });

  it("nothing but the composition and the entry imports the laboratory", () => {
    const wrong = inner
      .filter(({ from, to }) => roomOf(to) === "lab" && !["lab", "compose", "verbs", "main"].includes(from))
      .map(({ file, to }) => `${file} → ${to}`);
    expect(wrong).toEqual([]);
  });

  it("no file imports itself through others, types included", () => {
    const edges = new Map<string, string[]>();
    for (const { file, to } of inner) edges.set(file, [...(edges.get(file) ?? []), to]);
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) {
        cycles.push([...path.slice(path.indexOf(file)), file].join(" → "));
        return;
      }
      if (done.has(file)) return;
      for (const to of edges.get(file) ?? []) visit(to, [...path, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
    expect(cycles).toEqual([]);
  });

  it("the core has no IO, clock, chance, environment or promise", () => {
    const impure: [RegExp, string][] = [
      [/\bDate\.now\(|\bnew Date\(\s*\)|\bperformance\.now\(/, "clock"],
      [/\bMath\.random\(|\brandomUUID\b|\brandomBytes\b/, "chance"],
      [/\bprocess\.(env|cwd|exit|std|on|argv)|\bconsole\./, "process"],
      [/\bsetTimeout\(|\bsetInterval\(|\bsetImmediate\(/, "timer"],
      [/\bfetch\(/, "network"],
      [/\basync\s|\bawait\s/, "promise"],
    ];
    const wrong: string[] = [];
    for (const file of files.filter((name) => CORE.has(roomOf(name)))) {
      const code = readFileSync(join(root, file), "utf8")
        .replace(/\/\*[\s\S]*?\*\//g, "")
        .replace(/\/\/.*$/gm, "")
        .replace(/`(?:[^`\\]|\\.)*`|"(?:[^"\\\n]|\\.)*"/g, '""');
      for (const [pattern, what] of impure) if (pattern.test(code)) wrong.push(`${file}: ${what}`);
    }
    for (const { file, spec } of packages) {
      const name = spec.startsWith("@")
        ? spec.split("/").slice(0, 2).join("/")
        : spec.startsWith("node:")
          ? spec
          : (spec.split("/")[0] ?? "");
      if (CORE.has(roomOf(file)) && !CORE_PACKAGES.has(name)) wrong.push(`${file}: package ${spec}`);
    }
    expect(wrong).toEqual([]);
  });

  it("reports, without failing, long files and long functions", () => {
    const long = files.flatMap((file) => {
      const lines = readFileSync(join(root, file), "utf8").split("\n").length;
      return lines > 400 ? [`${file}: ${lines} lines`] : [];
    });
    if (long.length > 0) process.stdout.write(`long files (not a failure):\n  ${long.join("\n  ")}\n`);
    expect(files.length).toBeGreaterThan(0);
  });
});
