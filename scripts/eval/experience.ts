/**
 * With experience: what remembered tasks add to retrieval, and that they never take much away.
 *
 * In each set the rows of split `experience` teach (a hundredth, a tenth, all of them) and the rows of split `test` are asked. Weight
 * and gate are found anew for each memory, from that memory alone.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { successors } from "../../src/catalog/lineage.js";
import type { ToolKey } from "../../src/model/ids.js";
import { startCalibration } from "../../src/retrieve/calibrate.js";
import type { Experience, Present, Trust } from "../../src/retrieve/experience.js";
import { experienceChannel, knownIds, moveExperience, NO_EXPERIENCE } from "../../src/retrieve/experience.js";
import type { ToolIndex } from "../../src/retrieve/tools.js";
import { buildToolIndex, searchTools, textRanking } from "../../src/retrieve/tools.js";
import type { Figures, Interval } from "./figures.js";
import { bootstrap, figuresOf, mean } from "./figures.js";
import { playHistory, readVersions } from "./lineage.js";
import type { QuerySet, SetQuery } from "./sets.js";
import { readRows } from "./data.js";
import { evenly } from "./sets.js";

/** Parts of the teaching rows. */
const SHARES = [0.01, 0.1, 1];

export interface Taught {
  readonly experience: Experience;
  readonly trust: Trust;
  readonly present: Present<ToolKey>;
}

export function teach(index: ToolIndex, rows: readonly SetQuery[], present: Present<ToolKey>): Taught {
  const put = rows.map(({ id, text, gold }) => ({ id, at: "", task: text, served: [...gold] }));
  const experience = moveExperience(NO_EXPERIENCE, { put, removed: [] });
  const calibration = startCalibration(experience, (need) => textRanking(index, need), present);
  while (!calibration.advance(Number.POSITIVE_INFINITY));
  return { experience, trust: calibration.trust(), present };
}

function ask(index: ToolIndex, query: SetQuery, taught: Taught | undefined): Figures {
  const channels = taught === undefined ? [] : [experienceChannel(taught.experience, taught.trust, taught.present)];
  const { hits } = searchTools(index, query.text, { limit: 10, whole: true, channels });
  return figuresOf(
    hits.map(({ key }) => key),
    query.gold,
  );
}

export interface Lesson {
  readonly share: number;
  readonly memories: number;
  readonly trust: Trust;
  readonly figures: readonly Figures[];
  /** Asked rows none of whose right tools memory has seen. */
  readonly unseen: ReadonlySet<number>;
}

export interface Course {
  readonly name: string;
  readonly asked: readonly SetQuery[];
  readonly without: readonly Figures[];
  readonly lessons: readonly Lesson[];
}

export function runCourse(set: QuerySet, most: number): Course | undefined {
  const pool = set.queries.filter(({ split }) => split === "experience");
  const asked = evenly(
    set.queries.filter(({ split }) => split === "test"),
    most,
  );
  if (pool.length === 0 || asked.length === 0) return undefined;
  const index = buildToolIndex(set.tools, set.servers);
  const there = new Set(set.tools.map(({ key }) => key));
  const present: Present<ToolKey> = ({ served }) => served.filter((id) => there.has(id as ToolKey)) as ToolKey[];
  const lessons = SHARES.map((share): Lesson => {
    const rows = evenly(pool, Math.ceil(share * pool.length));
    const taught = teach(index, rows, present);
    const known = knownIds(taught.experience, present);
    return {
      share,
      memories: taught.experience.memories.size,
      trust: taught.trust,
      figures: asked.map((query) => ask(index, query, taught)),
      unseen: new Set(asked.flatMap(({ gold }, i) => ([...gold].some((key) => known.has(key)) ? [] : [i]))),
    };
  });
  return { name: set.name, asked, without: asked.map((query) => ask(index, query, undefined)), lessons };
}

/** nDCG@10 with less without, row by row. */
function gains({ without }: Course, { figures }: Lesson): number[] {
  return figures.map(({ ndcg10 }, i) => ndcg10 - (without[i]?.ndcg10 ?? 0));
}

export interface DriftRow {
  readonly version: string;
  readonly fresh: Figures;
  readonly remapped: Figures;
  readonly queries: number;
}

/** Taught on one version of a catalog and asked on later ones, with the lineage that is computed on the way. */
export function driftRows(data: string): DriftRow[] {
  if (!existsSync(join(data, "evolution/azure-mcp/queries"))) return [];
  const versions = readVersions(data, "azure-mcp");
  const { links } = playHistory("azure-mcp", versions, true);
  const at = versions.findIndex(({ id }) => id === "v0052");
  const queriesOf = (version: string): SetQuery[] =>
    readRows<{ id: string; query: string; gold: string[] }>(join(data, `evolution/azure-mcp/queries/${version}.jsonl`)).map(
      (row) => ({
        id: row.id,
        text: row.query,
        gold: new Set(row.gold.map((id) => id.replace("::", "/") as ToolKey)),
        kind: "",
        split: "",
      }),
    );
  const lessons = queriesOf("v0052");
  return versions.slice(at + 1).flatMap(({ id, tools }, i): DriftRow[] => {
    if (!existsSync(join(data, `evolution/azure-mcp/queries/${id}.jsonl`))) return [];
    const index = buildToolIndex(tools.values());
    const upTo = links.filter(({ atVersion }) => atVersion <= at + 2 + i);
    const present = remembering((key) =>
      tools.has(key) ? [key] : ((successors(key, at + 1, upTo, (one) => tools.has(one))?.to ?? []) as ToolKey[]),
    );
    const taught = teach(index, lessons, present);
    const asked = queriesOf(id);
    return [
      {
        version: id,
        queries: asked.length,
        fresh: average(asked.map((query) => ask(index, query, undefined))),
        remapped: average(asked.map((query) => ask(index, query, taught))),
      },
    ];
  });
}

function remembering(present: (key: ToolKey) => readonly ToolKey[]): Present<ToolKey> {
  const known = new Map<string, readonly ToolKey[]>();
  const one = (id: string): readonly ToolKey[] => {
    let found = known.get(id);
    if (found === undefined) {
      found = present(id as ToolKey);
      known.set(id, found);
    }
    return found;
  };
  return ({ served }) => served.flatMap(one);
}

function average(figures: readonly Figures[]): Figures {
  const of = (pick: (one: Figures) => number): number => mean(figures.map(pick));
  return { ndcg10: of((one) => one.ndcg10), recall5: of((one) => one.recall5), hit1: of((one) => one.hit1) };
}

type Verdict = (text: string, value: number, least: number) => void;

export function printCourses(courses: readonly Course[], drift: readonly DriftRow[], verdict: Verdict): void {
  console.log("\nWith experience (split experience teaches, split test is asked; trust = weight, gate)");
  if (courses.length === 0) {
    console.log("  no experience in these sets: it takes rows of split experience and rows of split test in one of them");
    return;
  }
  console.log(
    "                        asked  memories   trust               nDCG@10    R@5  hit@1   change in nDCG@10         never seen",
  );
  for (const course of courses) {
    printLine(course.name, course.asked.length, 0, "none", average(course.without), "");
    for (const lesson of course.lessons) {
      const { trust, figures, memories, unseen } = lesson;
      const change = gains(course, lesson);
      const { low, high } = bootstrap([change]);
      const never = [...unseen].map((i) => change[i] ?? 0);
      const told = `${signed(mean(change))} (${signed(low)}…${signed(high)})   ${never.length === 0 ? "–" : `${signed(mean(never))} of ${never.length}`}`;
      printLine("", course.asked.length, memories, `${trust.weight} ${trust.from}–${trust.to}`, average(figures), told);
    }
  }
  const means = SHARES.map((_, i) =>
    mean(courses.map((course) => mean(course.lessons[i]?.figures.map(({ ndcg10 }) => ndcg10) ?? []))),
  );
  const none = mean(courses.map(({ without }) => mean(without.map(({ ndcg10 }) => ndcg10))));
  console.log(`  mean of sets, nDCG@10: ${[none, ...means].map((one) => one.toFixed(3)).join(" → ")} at 0 / 1 / 10 / 100 %`);
  if (drift.length > 0)
    console.log("\nTaught on azure-mcp v0052, asked on later versions with computed lineage (fresh index → with experience)");
  for (const { version, queries, fresh, remapped } of drift) {
    const pair = (pick: (one: Figures) => number): string => `${pick(fresh).toFixed(3)} → ${pick(remapped).toFixed(3)}`;
    console.log(
      `  ${version}  ${String(queries).padStart(4)} asked  hit@1 ${pair((one) => one.hit1)}  nDCG@10 ${pair((one) => one.ndcg10)}`,
    );
  }
  console.log("\nExperience against the targets");
  printVerdicts(courses, drift, verdict);
}

function printVerdicts(courses: readonly Course[], drift: readonly DriftRow[], verdict: Verdict): void {
  const last = (name: string): { with: Figures; without: Figures } | undefined => {
    const course = courses.find((one) => one.name === name);
    const lesson = course?.lessons.at(-1);
    return course === undefined || lesson === undefined
      ? undefined
      : { with: average(lesson.figures), without: average(course.without) };
  };
  const metatool = last("metatool");
  if (metatool !== undefined) verdict("metatool, R@5", metatool.with.recall5, 0.8);
  for (const name of ["traject", "restgpt"]) {
    const one = last(name);
    if (one !== undefined) verdict(`${name}, gain in nDCG@10`, one.with.ndcg10 - one.without.ndcg10, 0);
  }
  // A small set is judged by its interval: what it may have lost for certain.
  const worst = (pick: (interval: Interval, average: number) => number): number =>
    Math.min(
      ...courses.flatMap((course) =>
        course.lessons.map((lesson) => {
          const change = gains(course, lesson);
          return course.asked.length >= SMALL_SET ? mean(change) : pick(bootstrap([change]), mean(change));
        }),
      ),
    );
  verdict(
    "worst change in nDCG@10, any set and memory",
    worst(({ high }) => high),
    -0.01,
  );
  const unseen = courses.flatMap((course) =>
    course.lessons.flatMap((lesson) => {
      const change = gains(course, lesson);
      const never = [...lesson.unseen].map((i) => change[i] ?? 0);
      return never.length === 0 ? [] : [never.length >= SMALL_SET ? mean(never) : bootstrap([never]).high];
    }),
  );
  verdict("worst change where memory has seen no right tool, any set and memory", Math.min(...unseen), -0.04);
  for (const { version, least } of [
    { version: "v0053", least: 0.95 },
    { version: "v0116", least: 0.8 },
  ]) {
    const row = drift.find((one) => one.version === version);
    if (row !== undefined) verdict(`azure-mcp ${version}, hit@1`, row.remapped.hit1, least);
  }
}
/** Fewer asked rows than this are judged by their interval. */
const SMALL_SET = 50;

function printLine(name: string, asked: number, memories: number, trust: string, figures: Figures, told: string): void {
  const { ndcg10, recall5, hit1 } = figures;
  const numbers = [ndcg10, recall5, hit1].map((one) => one.toFixed(3)).join("  ");
  console.log(
    `  ${name.padEnd(22)}${String(asked).padStart(5)}${String(memories).padStart(10)}   ${trust.padEnd(18)}  ${numbers}   ${told}`,
  );
}

function signed(value: number): string {
  return `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(3)}`;
}
