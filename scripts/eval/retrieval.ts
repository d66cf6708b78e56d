/**
 * `npm run eval -- retrieval --data <dir>`: how well tools are found, on anyone's `catalog.jsonl` and `queries.jsonl`.
 *
 *   --data <dir>        a set, or a folder of sets (or one that has them in `retrieval/`); a set is a folder with `catalog.jsonl` (a tool a
 *                       line: server, name, description, inputSchema) and `queries.jsonl` (a need a line: id, query, gold as a list of
 *                       "server::name"; kind and split where wanted), each plain or as `.gz`
 *   --among <file>      further tools (JSON Lines, `.gz` too) for a harder catalog; default `<dir>/../scale/toucan.jsonl.gz` if there
 *   --among-set <name>  the set asked among them; default livemcpbench, or the only set there is
 *   --sample <n>        at most n queries of each set, evenly spaced
 *   --no-experience     leave out the part with experience: rows of split `experience` teach, rows of split `test` are asked
 *   --explain <id>      one query: what was found, why, and where the right tools stand
 *   --json              figures as JSON
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { parseQuery } from "../../src/retrieve/query.js";
import { searchTools } from "../../src/retrieve/tools.js";
import { vocabularyOf } from "../../src/retrieve/vocabulary.js";
import { countGiven, DataFault } from "./data.js";
import type { Interval } from "./figures.js";
import { auroc, bootstrap, mean } from "./figures.js";
import { driftRows, printCourses, runCourse } from "./experience.js";
import type { QuerySet } from "./sets.js";
import { among, evenly, readQuerySets, readToolSet } from "./sets.js";
import type { Bench, Trial } from "./trials.js";
import { benchOf, FIXED, tryQuery } from "./trials.js";

const defaultData = process.env["STEWARD_DATA"] ?? resolve(import.meta.dirname, "../../../shared/data");

export async function evalRetrieval(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      data: { type: "string" },
      among: { type: "string" },
      "among-set": { type: "string" },
      sample: { type: "string" },
      "no-experience": { type: "boolean", default: false },
      explain: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const data = resolve(values.data ?? defaultData);
  const most = countGiven("sample", values.sample) ?? Number.POSITIVE_INFINITY;
  const sets = readQuerySets(data);
  const name = values["among-set"] ?? (sets.length === 1 ? (sets[0]?.name ?? AMONG_SET) : AMONG_SET);
  const harder = harderSet(sets, name, values.among ?? findMore(data));
  if (harder === undefined && (values.among ?? values["among-set"]) !== undefined) throw amongFault(sets, name);
  if (values.explain !== undefined) {
    explain([...sets, ...(harder === undefined ? [] : [harder])], values.explain);
    return;
  }
  const results = sets.map((set) => run(set, most));
  const among = harder === undefined ? undefined : run(harder, most);
  if (values.json) console.log(JSON.stringify(summary(results, among), undefined, 2));
  else print(results, among);
  if (!values["no-experience"] && !values.json) {
    const courses = sets.map((set) => runCourse(set, most)).filter((course) => course !== undefined);
    printCourses(courses, driftRows(existsSync(join(data, "evolution")) ? data : join(data, "..")), verdict);
  }
  await Promise.resolve();
}

const AMONG_SET = "livemcpbench";

/** Further tools were asked for and there is nothing to ask among them, or no file of them. */
function amongFault(sets: readonly QuerySet[], name: string): DataFault {
  const names = sets.map((set) => set.name);
  return names.includes(name)
    ? new DataFault("--among-set needs further tools; give their file with --among <file>.")
    : new DataFault(`--among-set ${name}: there is no such set; there ${names.length === 1 ? "is" : "are"} ${names.join(", ")}.`);
}

function findMore(data: string): string | undefined {
  const tries = [join(data, "scale/toucan.jsonl.gz"), join(data, "../scale/toucan.jsonl.gz")];
  return tries.find((path) => existsSync(path));
}

function harderSet(sets: readonly QuerySet[], name: string, more: string | undefined): QuerySet | undefined {
  const set = sets.find((one) => one.name === name);
  if (set === undefined || more === undefined) return undefined;
  return among(set, readToolSet(more), `${name} among more`);
}

interface Result {
  readonly bench: Bench;
  readonly trials: readonly Trial[];
  readonly seconds: number;
}

function run(set: QuerySet, most: number): Result {
  const started = process.hrtime.bigint();
  const bench = benchOf(set);
  const trials = evenly(set.queries, most).map((query) => tryQuery(bench, query));
  return { bench, trials, seconds: Number(process.hrtime.bigint() - started) / 1e9 };
}

/** The one k that is best on the mean of all sets. */
function bestFixed(results: readonly Result[]): { k: number; f1: number } {
  return FIXED.map((k, i) => ({ k, f1: mean(results.map(({ trials }) => mean(trials.map((t) => t.fixedF1[i] ?? 0)))) })).reduce(
    (best, one) => (one.f1 > best.f1 ? one : best),
  );
}

function setFigures({ bench, trials }: Result, k: number): Record<string, number> {
  const of = (pick: (trial: Trial) => number): number => mean(trials.map(pick));
  const servers = trials.flatMap(({ withoutServers }) => withoutServers ?? []);
  const present = trials.map(({ strength }) => strength);
  return {
    queries: trials.length,
    tools: bench.set.tools.length,
    ndcg10: of((t) => t.figures.ndcg10),
    recall5: of((t) => t.figures.recall5),
    hit1: of((t) => t.figures.hit1),
    stopNdcg10: of((t) => t.stop.ndcg10),
    stopRecall5: of((t) => t.stop.recall5),
    plainNdcg10: of((t) => t.plain.ndcg10),
    cutF1: of((t) => t.cutF1),
    fixedF1: of((t) => t.fixedF1[k - 1] ?? 0),
    shown: of((t) => t.shown),
    confused: of((t) => (t.confused ? 1 : 0)),
    aurocGold: auroc(
      present,
      trials.map(({ withoutGold }) => withoutGold.strength),
    ),
    aurocServers:
      servers.length === 0
        ? Number.NaN
        : auroc(
            present,
            servers.map(({ strength }) => strength),
          ),
    silent: of((t) => (t.shown === 0 ? 1 : 0)),
    falseGold: of((t) => (t.withoutGold.answered ? 1 : 0)),
    doubted: of((t) => (t.doubted ? 1 : 0)),
    doubtedGold: of((t) => (t.withoutGold.doubted ? 1 : 0)),
    doubtedServers: mean(servers.map(({ doubted }) => (doubted ? 1 : 0))),
    falseServers: mean(servers.map(({ answered }) => (answered ? 1 : 0))),
  };
}

function summary(results: readonly Result[], harder: Result | undefined): Record<string, unknown> {
  const { k } = bestFixed(results);
  const named = (list: readonly Result[]): object =>
    Object.fromEntries(list.map((result) => [result.bench.set.name, setFigures(result, k)]));
  return { bestFixedK: k, sets: named(results), ...(harder === undefined ? {} : { harder: named([harder]) }) };
}

const COLUMNS: readonly (readonly [title: string, key: string])[] = [
  ["queries", "queries"],
  ["tools", "tools"],
  ["nDCG@10", "ndcg10"],
  ["stop-BM25", "stopNdcg10"],
  ["BM25", "plainNdcg10"],
  ["R@5", "recall5"],
  ["hit@1", "hit1"],
  ["F1 cut", "cutF1"],
  ["F1 fixed", "fixedF1"],
  ["shown", "shown"],
  ["confused", "confused"],
];
const ABSENCE: readonly (readonly [title: string, key: string])[] = [
  ["AUROC gold gone", "aurocGold"],
  ["servers gone", "aurocServers"],
  ["silent, all there", "silent"],
  ["false answers, gold gone", "falseGold"],
  ["servers gone", "falseServers"],
  ["called weak or silent, all there", "doubted"],
  ["gold gone", "doubtedGold"],
  ["servers gone", "doubtedServers"],
];

function print(results: readonly Result[], harder: Result | undefined): void {
  const { k, f1 } = bestFixed(results);
  const all = harder === undefined ? results : [...results, harder];
  const rows = all.map((result) => ({ name: result.bench.set.name, figures: setFigures(result, k) }));
  const means: Record<string, number> = {};
  for (const [, key] of [...COLUMNS, ...ABSENCE]) {
    means[key] = mean(
      rows
        .slice(0, results.length)
        .map(({ figures }) => figures[key] ?? Number.NaN)
        .filter((value) => !Number.isNaN(value)),
    );
  }
  const withMean = [...rows.slice(0, results.length), { name: "mean of sets", figures: means }, ...rows.slice(results.length)];
  console.log(`Tools found (F1 fixed: the best k for all sets, ${k}; no experience, no vectors)`);
  table(withMean, COLUMNS);
  console.log("\n95 % bootstrap intervals");
  for (const result of all) intervals(result.bench.set.name, [result], k);
  intervals("mean of sets", results, k);
  console.log("\nNothing there to find: strength tells it, and answers in spite of it");
  table(withMean, ABSENCE);
  console.log("\nAgainst the targets");
  verdict("mean nDCG@10", means["ndcg10"] ?? 0, 0.58);
  verdict(
    "least lead over stop-word BM25 on any set",
    Math.min(...rows.map(({ figures }) => (figures["ndcg10"] ?? 0) - (figures["stopNdcg10"] ?? 0))),
    0,
  );
  verdict("F1 with the cut-off over the best fixed k", (means["cutF1"] ?? 0) / f1, 1.08);
  verdict("AUROC, gold tools gone", means["aurocGold"] ?? 0, 0.64);
  verdict("AUROC, their servers gone", means["aurocServers"] ?? 0, 0.75);
  if (harder !== undefined) verdict(`${harder.bench.set.name}, nDCG@10`, rows.at(-1)?.figures["ndcg10"] ?? 0, 0.2);
  console.log(`\n${all.map(({ bench, seconds }) => `${bench.set.name} ${seconds.toFixed(1)} s`).join(" · ")}`);
}

function verdict(text: string, value: number, least: number): void {
  if (Number.isNaN(value)) return console.log(`  –        ${text}: these sets cannot tell`);
  console.log(`  ${value >= least ? "reached" : "MISSED "}  ${text}: ${value.toFixed(3)} (≥ ${least.toFixed(2)})`);
}

function table(
  rows: readonly { name: string; figures: Record<string, number> }[],
  columns: readonly (readonly [title: string, key: string])[],
): void {
  const width = Math.max(...rows.map(({ name }) => name.length));
  console.log(`  ${"".padEnd(width)}${columns.map(([title]) => title.padStart(Math.max(9, title.length + 2))).join("")}`);
  for (const { name, figures } of rows) {
    const cells = columns.map(([title, key]) => cell(figures[key] ?? Number.NaN, key).padStart(Math.max(9, title.length + 2)));
    console.log(`  ${name.padEnd(width)}${cells.join("")}`);
  }
}

function cell(value: number, key: string): string {
  if (Number.isNaN(value)) return "–";
  if (key === "queries" || key === "tools") return String(Math.round(value));
  return value.toFixed(key === "shown" ? 1 : 3);
}

function intervals(name: string, results: readonly Result[], k: number): void {
  const over = (pick: (trial: Trial) => number): Interval => bootstrap(results.map(({ trials }) => trials.map(pick)));
  const span = ({ low, high }: Interval): string => `${low.toFixed(3)}…${high.toFixed(3)}`;
  console.log(
    `  ${name.padEnd(22)} nDCG@10 ${span(over((t) => t.figures.ndcg10))}  lead over stop-BM25 ${span(
      over((t) => t.figures.ndcg10 - t.stop.ndcg10),
    )}  R@5 ${span(over((t) => t.figures.recall5))}  F1 cut ${span(over((t) => t.cutF1))}  F1 cut − fixed ${span(
      over((t) => t.cutF1 - (t.fixedF1[k - 1] ?? 0)),
    )}`,
  );
}

function explain(sets: readonly QuerySet[], id: string): void {
  const found = sets.flatMap((set) => set.queries.filter((query) => query.id === id).map((query) => ({ set, query })));
  if (found.length === 0) throw new DataFault(`--explain ${id}: no query of any set has that id.`);
  for (const { set, query } of found) {
    const bench = benchOf(set);
    const parsed = parseQuery(query.text, vocabularyOf(bench.index.text), bench.scoring);
    const whole = searchTools(bench.index, query.text, { limit: bench.scoring.rerank, whole: true });
    const cut = searchTools(bench.index, query.text, { limit: FIXED.length });
    console.log(`${set.name} ${query.id}\n  ${query.text}\n\nasked for`);
    for (const { word, weight, joined, alternatives } of parsed.groups) {
      const stands = alternatives.map(({ term, factor }) => `${term} ${factor.toFixed(2)}`).join(", ");
      console.log(`  ${word}${joined ? " (joined)" : ""} × ${weight.toFixed(2)}: ${stands || "unknown"}`);
    }
    console.log(`  clauses: ${parsed.clauses.length}; unmatched: ${cut.unmatched.join(", ") || "none"}`);
    console.log(`\nfound (strength ${cut.strength.toFixed(3)}${cut.abstained ? ", nothing answered" : ""}; ▸ shown, ✓ right)`);
    whole.hits.slice(0, 10).forEach((hit, i) => {
      const marks = `${cut.hits.some(({ key }) => key === hit.key) ? "▸" : " "}${query.gold.has(hit.key) ? "✓" : " "}`;
      console.log(
        `  ${marks} ${String(i + 1).padStart(2)} ${hit.score.toFixed(3)} (raw ${hit.raw.toFixed(1)}) ${hit.key}\n        ${hit.reason}`,
      );
    });
    console.log("\nright");
    for (const key of query.gold) {
      const place = whole.hits.findIndex((hit) => hit.key === key) + 1;
      console.log(`  ${place === 0 ? "not found" : `place ${place}`}  ${key}`);
    }
  }
}

if (process.argv[1] === import.meta.filename) await evalRetrieval(process.argv.slice(2));
