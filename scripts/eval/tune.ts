/**
 * `npm run eval -- tune --data <dir>`: how the numbers of src/retrieve/score.ts were chosen, to be run again on other data.
 *
 * One number at a time is tried at other values, from where it stands; a value is taken when the objective gains more than noise.
 * The objective is the mean over sets of nDCG@10 on one half of the queries: half of it with each set's own catalog, half with at
 * least 5,000 foreign tools among them, because a choice made on small catalogs alone loses on large ones. The other half of the
 * queries is only reported.
 *
 *   --data <dir>       as for `retrieval`
 *   --among <file>     the foreign tools; default `<dir>/../scale/toucan.jsonl.gz`
 *   --sample <n>       queries of each set and half (default 60)
 *   --minutes <m>      stop after this long (default 10)
 *   --rounds <n>       passes over all numbers (default 1)
 *   --only <a,b>       only these numbers
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { ToolScoring } from "../../src/retrieve/score.js";
import { TOOL_SCORING } from "../../src/retrieve/score.js";
import type { ToolIndex } from "../../src/retrieve/tools.js";
import { buildToolIndex, searchTools } from "../../src/retrieve/tools.js";
import { countGiven, DataFault } from "./data.js";
import { f1Of, figuresOf, mean } from "./figures.js";
import type { QuerySet, SetQuery } from "./sets.js";
import { among, evenly, readQuerySets, readToolSet } from "./sets.js";

const defaultData = process.env["STEWARD_DATA"] ?? resolve(import.meta.dirname, "../../../shared/data");
const DISTRACTORS = 6_000;
/** A gain below this is noise of the sample. */
const GAIN_LEAST = 0.0008;
/** Values tried: the present one times these, kept within the number's range. */
const FACTORS = [0.5, 0.7, 1.4, 2];

interface Course {
  readonly name: string;
  readonly own: ToolIndex;
  readonly among: ToolIndex;
  readonly taught: readonly SetQuery[];
  readonly held: readonly SetQuery[];
}

/** One number of the scoring: where it stands and what range it has. */
interface Dial {
  readonly path: readonly string[];
  readonly most: number;
}

export async function evalTune(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      data: { type: "string" },
      among: { type: "string" },
      sample: { type: "string", default: "60" },
      minutes: { type: "string", default: "10" },
      rounds: { type: "string", default: "1" },
      only: { type: "string" },
    },
  });
  const data = resolve(values.data ?? defaultData);
  const more = values.among ?? [join(data, "scale/toucan.jsonl.gz"), join(data, "../scale/toucan.jsonl.gz")].find(existsSync);
  if (more === undefined) throw new DataFault("There are no foreign tools; give a file of them with --among <file>.");
  const courses = prepare(readQuerySets(data), more, countGiven("sample", values.sample) ?? 1);
  const until = Date.now() + (countGiven("minutes", values.minutes) ?? 1) * 60_000;
  const only = values.only?.split(",");
  const dials = dialsOf(TOOL_SCORING).filter(({ path }) => only === undefined || only.includes(path.join(".")));
  let present: ToolScoring = TOOL_SCORING;
  let best = objective(courses, present);
  report("as it stands", courses, present);
  for (let round = 0; round < (countGiven("rounds", values.rounds) ?? 1) && Date.now() < until; round++) {
    for (const dial of dials) {
      if (Date.now() >= until) break;
      const tried = candidates(present, dial).map((value) => ({
        value,
        score: objective(courses, turned(present, dial, value)),
      }));
      const better = tried.reduce((most, one) => (one.score > most.score ? one : most), {
        value: read(present, dial),
        score: best,
      });
      const line = tried.map(({ value, score }) => `${value}: ${signed(score - best)}`).join("  ");
      const taken = better.score > best + GAIN_LEAST;
      console.log(
        `${dial.path.join(".").padEnd(28)} ${String(read(present, dial)).padStart(6)}   ${line}${taken ? `   → ${better.value}` : ""}`,
      );
      if (!taken) continue;
      present = turned(present, dial, better.value);
      best = better.score;
    }
  }
  report("after tuning", courses, present);
  cutOffs(courses, present);
  for (const dial of dials) {
    if (read(present, dial) !== read(TOOL_SCORING, dial)) {
      console.log(`changed: ${dial.path.join(".")} ${read(TOOL_SCORING, dial)} → ${read(present, dial)}`);
    }
  }
  await Promise.resolve();
}

function prepare(sets: readonly QuerySet[], more: string, sample: number): Course[] {
  const foreign = readToolSet(more);
  const distractors = { ...foreign, tools: evenly(foreign.tools, DISTRACTORS) };
  return sets.map((set) => {
    const harder = among(set, distractors, set.name);
    const half = (parity: number): SetQuery[] =>
      evenly(
        set.queries.filter(({ id }) => (createHash("sha256").update(id).digest()[0] ?? 0) % 2 === parity),
        sample,
      );
    return {
      name: set.name,
      own: buildToolIndex(set.tools, set.servers),
      among: buildToolIndex(harder.tools, harder.servers),
      taught: half(0),
      held: half(1),
    };
  });
}

/** Every number that ranks, in the order of the file; what only cuts is measured by `cutOffs`. */
function dialsOf(scoring: ToolScoring): Dial[] {
  const dials: Dial[] = [];
  for (const [field, { weight }] of Object.entries(scoring.fields)) {
    if (weight === 0) continue;
    dials.push({ path: ["fields", field, "weight"], most: 10 }, { path: ["fields", field, "b"], most: 1 });
  }
  for (const [name, most] of [
    ["k1", 50],
    ["idfPower", 3],
    ["synonym", 1],
    ["compound", 1],
    ["fuzzy", 1],
    ["everydayRarity", 1],
    ["clauses", 1],
    ["clauseFull", 2],
    ["pair", 20],
    ["pairLate", 1],
    ["nameCover", 4],
    ["coherence", 1],
    ["closure", 1],
  ] as const) {
    dials.push({ path: [name], most });
  }
  return dials;
}

function read(scoring: ToolScoring, { path }: Dial): number {
  let at: unknown = scoring;
  for (const name of path) at = (at as Record<string, unknown>)[name];
  return Number(at);
}

function turned(scoring: ToolScoring, { path }: Dial, value: number): ToolScoring {
  const copy = structuredClone(scoring) as unknown as Record<string, unknown>;
  let at = copy;
  for (const name of path.slice(0, -1)) at = at[name] as Record<string, unknown>;
  at[path.at(-1) ?? ""] = value;
  return copy as unknown as ToolScoring;
}

function candidates(scoring: ToolScoring, dial: Dial): number[] {
  const now = read(scoring, dial);
  const values = now === 0 ? [dial.most / 20, dial.most / 5] : FACTORS.map((factor) => Math.min(dial.most, now * factor));
  return [...new Set(values.map((value) => Math.round(value * 100) / 100))].filter((value) => value !== now);
}

function ndcg(index: ToolIndex, queries: readonly SetQuery[], scoring: ToolScoring): number {
  return mean(
    queries.map(({ text, gold }) => {
      const { hits } = searchTools(index, text, { limit: 10, whole: true, scoring });
      return figuresOf(
        hits.map(({ key }) => key),
        gold,
      ).ndcg10;
    }),
  );
}

function objective(courses: readonly Course[], scoring: ToolScoring): number {
  return mean(courses.map(({ own, among, taught }) => (ndcg(own, taught, scoring) + ndcg(among, taught, scoring)) / 2));
}

function report(title: string, courses: readonly Course[], scoring: ToolScoring): void {
  const of = (queries: "taught" | "held", index: "own" | "among"): string =>
    mean(courses.map((course) => ndcg(course[index], course[queries], scoring))).toFixed(4);
  console.log(
    `${title}: nDCG@10 own catalogs ${of("taught", "own")} (held half ${of("held", "own")}), among ${DISTRACTORS} more ${of("taught", "among")} (held ${of("held", "among")})`,
  );
}

/** F1 of the answers by cut-off, on own catalogs. */
function cutOffs(courses: readonly Course[], scoring: ToolScoring): void {
  for (const cutOff of [0.6, 0.65, 0.7, 0.75, 0.8, 0.85]) {
    const line = [0, 0.05, 0.1, 0.15].map((cutOffLength) => {
      const f1 = mean(
        courses.map(({ own, taught }) =>
          mean(
            taught.map(({ text, gold }) =>
              f1Of(
                searchTools(own, text, { limit: 20, scoring: { ...scoring, cutOff, cutOffLength } }).hits.map(({ key }) => key),
                gold,
              ),
            ),
          ),
        ),
      );
      return `${cutOffLength}: ${f1.toFixed(4)}`;
    });
    console.log(`F1 with cutOff ${cutOff}, cutOffLength ${line.join("  ")}`);
  }
}

function signed(value: number): string {
  return `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(4)}`;
}

if (process.argv[1] === import.meta.filename) await evalTune(process.argv.slice(2));
