/**
 * Extraction by script: skills out of the gold actions of one half of a set of tasks, as an experienced person's library would say it.
 *
 * Tasks that read alike form a kind; the others are grouped by the change they end in, or by their being only looked into. Each
 * group of two or more becomes a planning skill (what most of its tasks call, in the order they call it) over one atomic skill a
 * step. Nothing of the other half is looked at.
 */
import { parseSkill, renderSkill } from "../../src/skills/text.js";
import { renderBody } from "../../src/skills/body.js";
import type { Skill } from "../../src/model/skill.js";
import type { Tool } from "../../src/model/tool.js";
import { wordsOfNeed } from "../../src/provision/meaning.js";

export interface SolvedTask {
  readonly id: string;
  readonly domain: string;
  readonly text: string;
  /** Tool keys in the order of the calls. */
  readonly calls: readonly string[];
}

/** Texts at least this alike (cosine of idf weights) are of one kind. */
const ALIKE = 0.3;
const KIND_LEAST = 4;
const GROUP_LEAST = 2;
/** A tool belongs to a group's plan where at least this part of its tasks call it. */
const SHARE = 0.4;
/** Words by which a group is told: in most of its tasks, and clearly oftener than in the others. */
const WORD_SHARE = 0.6;
const WORD_LIFT = 1.5;
const WORDS_MOST = 6;

export function extractSkills(tasks: readonly SolvedTask[], tools: ReadonlyMap<string, Tool>): Skill[] {
  const words = new Map(tasks.map((task) => [task.id, wordsOfNeed(task.text)]));
  const groups: { name: string; tasks: readonly SolvedTask[] }[] = [];
  for (const domain of [...new Set(tasks.map((task) => task.domain))].sort()) {
    const own = tasks.filter((task) => task.domain === domain);
    const kinds = kindsOf(own, words).filter((kind) => kind.length >= KIND_LEAST);
    kinds.forEach((kind, n) => groups.push({ name: `${domain} kind ${n + 1}`, tasks: kind }));
    const rest = own.filter((task) => !kinds.some((kind) => kind.includes(task)));
    const changes = new Set(rest.flatMap((task) => task.calls.filter((key) => isChange(tools, key))));
    for (const key of [...changes].sort()) {
      groups.push({ name: key.replace("/", " "), tasks: rest.filter((task) => task.calls.includes(key)) });
    }
    groups.push({ name: `${domain} look up`, tasks: rest.filter((task) => !task.calls.some((key) => isChange(tools, key))) });
  }
  const skills = new Map<string, Skill>();
  for (const group of groups) {
    if (group.tasks.length < GROUP_LEAST) continue;
    for (const skill of skillsOf(group.name, group.tasks, tasks, words, tools))
      if (!skills.has(skill.name)) skills.set(skill.name, skill);
  }
  return [...skills.values()];
}

function isChange(tools: ReadonlyMap<string, Tool>, key: string): boolean {
  return tools.get(key)?.document["mutatesState"] === true;
}

/** Leader clustering on the texts: each task joins the kind it resembles most on average, or begins one. */
function kindsOf(tasks: readonly SolvedTask[], words: ReadonlyMap<string, ReadonlySet<string>>): SolvedTask[][] {
  const counts = new Map<string, number>();
  for (const task of tasks) for (const word of words.get(task.id) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1);
  const vectors = new Map(
    tasks.map((task) => [
      task.id,
      new Map(
        [...(words.get(task.id) ?? [])]
          .filter((word) => (counts.get(word) ?? 0) > 1)
          .map((word) => [word, Math.log(tasks.length / (counts.get(word) ?? 1) + 0.01)]),
      ),
    ]),
  );
  const kinds: SolvedTask[][] = [];
  for (const task of tasks) {
    const likeness = (kind: readonly SolvedTask[]): number =>
      kind.reduce((sum, other) => sum + cosine(vectors.get(task.id) ?? new Map(), vectors.get(other.id) ?? new Map()), 0) /
      kind.length;
    const best = kinds.map((kind) => ({ kind, alike: likeness(kind) })).sort((a, b) => b.alike - a.alike)[0];
    if (best !== undefined && best.alike > ALIKE) best.kind.push(task);
    else kinds.push([task]);
  }
  return kinds;
}

function cosine(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let dot = 0;
  for (const [word, weight] of a) dot += weight * (b.get(word) ?? 0);
  const norm = (vector: ReadonlyMap<string, number>): number =>
    Math.sqrt([...vector.values()].reduce((sum, weight) => sum + weight * weight, 0));
  return dot / (norm(a) * norm(b) || 1);
}

function skillsOf(
  name: string,
  tasks: readonly SolvedTask[],
  all: readonly SolvedTask[],
  words: ReadonlyMap<string, ReadonlySet<string>>,
  tools: ReadonlyMap<string, Tool>,
): Skill[] {
  const keys = [...new Set(tasks.flatMap((task) => task.calls))].filter(
    (key) => tasks.filter((task) => task.calls.includes(key)).length >= SHARE * tasks.length,
  );
  const place = (key: string): number => {
    const places = tasks.filter((task) => task.calls.includes(key)).map((task) => task.calls.indexOf(key) / task.calls.length);
    return places.reduce((sum, at) => sum + at, 0) / places.length;
  };
  keys.sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
  if (keys.length === 0) return [];
  const told = tellingWords(tasks, all, words);
  const plain = name.replaceAll("_", " ");
  const description = `${plain[0]?.toUpperCase() ?? ""}${plain.slice(1)}. Speaks of ${told.join(", ")}.`;
  const lead = told.length >= 3 ? `${told.join(" ")}.` : description;
  const atomic = keys.map((key) => atomicSkill(key, tools));
  const body = renderBody({
    whenToUse: description,
    steps: keys.map((key, n) => `${sentence(key)} with skill \`${atomic[n]?.name ?? ""}\`.`),
  });
  const plan = written(
    `plan-${plain.replaceAll(" ", "-")}`,
    "planning",
    lead,
    body,
    [],
    atomic.map((skill) => skill.name),
  );
  return [plan, ...atomic];
}

function tellingWords(
  tasks: readonly SolvedTask[],
  all: readonly SolvedTask[],
  words: ReadonlyMap<string, ReadonlySet<string>>,
): string[] {
  const others = all.filter((task) => !tasks.includes(task));
  const share = (of: readonly SolvedTask[], word: string): number =>
    of.length === 0 ? 0 : of.filter((task) => words.get(task.id)?.has(word) === true).length / of.length;
  const seen = new Set(tasks.flatMap((task) => [...(words.get(task.id) ?? [])]));
  return [...seen]
    .filter((word) => /^\p{L}+$/u.test(word))
    .map((word) => ({ word, own: share(tasks, word), lift: share(tasks, word) / (share(others, word) + 0.02) }))
    .filter(({ own, lift }) => own >= WORD_SHARE && lift >= WORD_LIFT)
    .sort((a, b) => b.own * Math.log(b.lift) - a.own * Math.log(a.lift) || (a.word < b.word ? -1 : 1))
    .slice(0, WORDS_MOST)
    .map(({ word }) => word);
}

function atomicSkill(key: string, tools: ReadonlyMap<string, Tool>): Skill {
  const params = Object.keys((tools.get(key)?.inputSchema["properties"] ?? {}) as object);
  const args = params.length === 0 ? "" : ` with ${params.join(", ")} from the request`;
  const body = renderBody({ whenToUse: `${sentence(key)}.`, steps: [`${sentence(key)}: \`${key}\`${args}.`] });
  return written(`atomic-${key.replaceAll(/[_/]/g, "-")}`, "atomic", `${sentence(key)}.`, body, [key], []);
}

function sentence(key: string): string {
  const plain = key.slice(key.indexOf("/") + 1).replaceAll("_", " ");
  return `${plain[0]?.toUpperCase() ?? ""}${plain.slice(1)}`;
}

function written(
  name: string,
  tier: "planning" | "atomic",
  description: string,
  body: string,
  requires: readonly string[],
  uses: readonly string[],
): Skill {
  const contract = {
    requires: requires.map((tool) => ({ tool, contractDigest: "", params: [], reads: [] })),
    uses: [...uses],
    produces: [],
    evidence: [],
  };
  const { skill, problems } = parseSkill(
    { folder: name, files: renderSkill({ name, tier, description, body, contract }) },
    "rules",
  );
  if (skill === undefined) throw new Error(`${name}: ${problems.map((problem) => problem.text).join(" ")}`);
  return skill;
}
