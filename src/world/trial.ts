/**
 * A trial of edits: would a task that was verified lose a tool it needs?
 *
 * Frozen queries are the tasks of verified episodes with the tools that served them. An edit is judged with the rest of the library in
 * force, and the edits before it that passed: before and after it each task it can reach is provisioned by rules, and a tool the task
 * needs and no longer gets is a finding. Strict: one lost tool of one task refuses the edit.
 */
import type { SkillName, ToolKey } from "../model/ids.js";
import type { ProposedEdit } from "../model/maintenance.js";
import type { Proof } from "../model/ports.js";
import type { Skill } from "../model/skill.js";
import type { Standing } from "../model/standing.js";
import type { ViewRequest } from "../model/view.js";
import { presentCall } from "../maintain/present-call.js";
import { assembleView } from "../provision/assemble.js";
import { decideByRules } from "../provision/choose.js";
import { buildSkillIndex, moveSkillIndex, searchSkills } from "../retrieve/skills.js";
import { parseSkill } from "../skills/text.js";
import { heldTools } from "./known.js";
import { complete, gather } from "./turn.js";
import type { World } from "./world.js";

export interface FrozenQuery {
  readonly task: string;
  readonly episode: string;
  readonly needs: ReadonlySet<ToolKey>;
}

/** Tasks asked in one run, evenly over all: what a run costs is bounded. */
const QUERIES_MOST = 100;
/** An edit can reach a task where its skill is among this many found for it. */
const REACH = 10;

export function frozenQueries(world: World, proofs: readonly Proof[]): FrozenQuery[] {
  const byTask = new Map<string, FrozenQuery>();
  const around = {
    tools: world.catalog.tools,
    departed: world.catalog.departed,
    links: [...world.lineage.values()],
    held: heldTools(world),
  };
  for (const { evidence, weight } of proofs) {
    const { outcome, task, episode, calls } = evidence;
    if (weight !== "verified" || outcome.outcome !== "success" || task.trim() === "") continue;
    const tools = calls
      .flatMap((line) => (line.isError ? [] : [presentCall(line, around)?.tool.key]))
      .filter((key) => key !== undefined);
    if (tools.length > 0) byTask.set(task, { task, episode, needs: new Set(tools) });
  }
  const all = [...byTask.values()];
  const step = Math.max(1, all.length / QUERIES_MOST);
  return Array.from({ length: Math.min(all.length, QUERIES_MOST) }, (_, n) => all[Math.floor(n * step)]).filter(
    (query) => query !== undefined,
  );
}

export interface Trial {
  /** Findings against the edit; without any it is in force for what comes after it. */
  judge(edit: ProposedEdit): string[];
  /** Puts the edit in force without judging it. */
  apply(edit: ProposedEdit): void;
  /** Of the tools that the task needs, those it is shown as things stand in the trial. */
  served(query: FrozenQuery): ReadonlySet<ToolKey>;
}

export function openTrial(world: World, queries: readonly FrozenQuery[]): Trial {
  const skills = new Map(world.library.skills);
  const standings = new Map(world.standings);
  let index = buildSkillIndex([...skills.values()].filter((skill) => standings.get(skill.name)?.standing === "active"));
  const had = new Map<FrozenQuery, ReadonlySet<ToolKey>>();
  const trial = (): World => ({ ...world, library: { ...world.library, skills }, standings, activeSkills: index });
  const served = (query: FrozenQuery): ReadonlySet<ToolKey> => {
    const shown = toolsShown(trial(), query.task);
    return new Set([...query.needs].filter((key) => shown.has(key)));
  };
  const reaches = (name: SkillName, query: FrozenQuery): boolean =>
    (["planning", "atomic", "tool"] as const).some((tier) =>
      searchSkills(index, query.task, { tier, limit: REACH }).hits.some((hit) => hit.skill.name === name),
    );
  const put = (name: SkillName, skill: Skill | undefined, standing: Standing | undefined): void => {
    if (skill === undefined) skills.delete(name);
    else skills.set(name, skill);
    if (standing === undefined) standings.delete(name);
    else standings.set(name, standing);
    const isActive = skill !== undefined && standing?.standing === "active";
    index = moveSkillIndex(index, { changed: isActive ? [skill] : [], removed: isActive ? [] : [name] });
  };
  return {
    served,
    apply(edit) {
      const after = edit.files === undefined ? undefined : parseSkill({ folder: edit.skill, files: edit.files }, "rules").skill;
      if (after !== undefined) put(edit.skill, after, STANDS);
    },
    judge(edit) {
      const after = edit.files === undefined ? undefined : parseSkill({ folder: edit.skill, files: edit.files }, "rules").skill;
      if (after === undefined) return [];
      const before = { skill: skills.get(edit.skill), standing: standings.get(edit.skill) };
      const reached = new Set(before.skill === undefined ? [] : queries.filter((query) => reaches(edit.skill, query)));
      for (const query of reached) if (!had.has(query)) had.set(query, served(query));
      put(edit.skill, after, STANDS);
      const fresh = queries.filter((query) => !reached.has(query) && reaches(edit.skill, query));
      // What a task was served before an edit that only now reaches it is asked with the edit taken out again.
      const unknown = fresh.filter((query) => !had.has(query));
      if (unknown.length > 0) {
        put(edit.skill, before.skill, before.standing);
        for (const query of unknown) had.set(query, served(query));
        put(edit.skill, after, STANDS);
      }
      const findings: string[] = [];
      const now = new Map<FrozenQuery, ReadonlySet<ToolKey>>();
      for (const query of [...reached, ...fresh]) {
        const shown = served(query);
        now.set(query, shown);
        const lost = [...(had.get(query) ?? [])].filter((key) => !shown.has(key));
        if (lost.length > 0)
          findings.push(`The task of ${query.episode} would no longer be shown ${lost.join(" and ")}, which it needs.`);
      }
      if (findings.length > 0) put(edit.skill, before.skill, before.standing);
      else for (const [query, shown] of now) had.set(query, shown);
      return findings;
    },
  };
}

const STANDS: Standing = Object.freeze({ standing: "active", needsReview: false, reasons: [], since: "" });

/** The tools of the view that a task would get at its start, by rules, within the budget in force. */
export function toolsShown(world: World, task: string): Set<ToolKey> {
  const request: ViewRequest = { kind: "start", text: task };
  const gathered = gather(world, request, { allowed: undefined });
  const decisions = decideByRules(gathered.candidates);
  const view = assembleView({
    request,
    decisions,
    basis: { catalog: "", library: 0, evidence: 0, presence: "", policy: "", embedder: "none" },
    before: { turn: 0, explored: 0, skillChars: 0 },
    skill: (name) => world.library.skills.get(name as SkillName),
    tool: (key) => world.catalog.tools.get(key as ToolKey),
    found: complete(world, gathered, decisions),
  });
  return new Set(view.tools.map((tool) => tool.tool as ToolKey));
}
