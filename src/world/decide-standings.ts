/**
 * What a moved world means for skills: new standings, and the immediate revival of what a returning tool makes whole again (T4).
 */
import { skillsReaching } from "../graph/reach.js";
import type { SkillName, ToolKey } from "../model/ids.js";
import type { PastSkill } from "../model/ports.js";
import type { Standing } from "../model/standing.js";
import { SAMPLE_LIMITS } from "../model/policy.js";
import { put, type Draft } from "./draft.js";
import { dependants } from "./known.js";
import { mayRestore } from "./reverts.js";
import { putRevision } from "./revise.js";
import type { PatternTally } from "./samples.js";
import { computeStandings } from "./standings.js";
import type { Known } from "./world.js";

/** Recomputes the standings that the given tools and skills can move, and writes down those that did. */
export function settleStandings(draft: Draft, cause: { tools?: Iterable<ToolKey>; skills?: Iterable<SkillName> }): void {
  const reached = new Set<SkillName>(skillsReaching(draft.world.graph, withPredecessors(draft.known, cause.tools ?? [])));
  // Skills of this very decision are not in the graph yet; the graph is of the moment before.
  for (const name of dependants(draft.known, [...(cause.skills ?? []), ...reached])) reached.add(name);
  const before = draft.known.standings;
  const tally: PatternTally = { used: new Set(), wanted: new Map() };
  writeStandings(draft, reached, tally);
  const revived = reviveWhole(draft, reached);
  if (revived.length > 0) writeStandings(draft, dependants(draft.known, revived), tally);
  const questions = [...tally.wanted.values()].slice(0, SAMPLE_LIMITS.questionsAtOnce);
  if (questions.length > 0) draft.effects.push({ kind: "run-patterns", questions });
  announce(draft, before);
}

/** The tools, and those that left and lead to one of them: what stands in for a tool is part of why its skills stand as they do. */
function withPredecessors(known: Known, tools: Iterable<ToolKey>): Set<ToolKey> {
  const all = new Set(tools);
  if (known.lineage.size === 0) return all;
  const before = new Map<string, ToolKey[]>();
  for (const link of known.lineage.values())
    for (const to of link.to) before.set(to, [...(before.get(to) ?? []), link.from as ToolKey]);
  // A set takes what is added while it is walked; a catalog that went back makes a circle, which ends here.
  for (const tool of all) for (const from of before.get(tool) ?? []) all.add(from);
  return all;
}

function writeStandings(draft: Draft, skills: Iterable<SkillName>, tally: PatternTally): void {
  const set = new Map<SkillName, Standing>();
  for (const [name, standing] of computeStandings(draft.known, [...skills].sort(), tally)) {
    if (!sameStanding(draft.known.standings.get(name), standing)) set.set(name, standing);
  }
  if (set.size > 0) put(draft, { kind: "standings", set, drop: [] });
}

function sameStanding(a: Standing | undefined, b: Standing): boolean {
  return a !== undefined && JSON.stringify(a) === JSON.stringify(b);
}

/** Restores earlier states of resting skills whose tools all stand again exactly as they were verified. */
function reviveWhole(draft: Draft, skills: Iterable<SkillName>): SkillName[] {
  const restored: { name: SkillName; state: PastSkill }[] = [];
  for (const name of [...skills].sort()) {
    const standing = draft.known.standings.get(name);
    if (standing?.standing !== "inactive" || standing.because !== "broken" || draft.known.pinned.has(name)) continue;
    const state = (draft.known.past.get(name) ?? []).find(
      (past) => isWhole(draft.known, past) && mayRestore(draft.known, name, past),
    );
    if (state !== undefined) restored.push({ name, state });
  }
  if (restored.length === 0) return [];
  putRevision(draft, {
    cause: `known contracts are back in catalog version ${draft.known.catalog.version}`,
    writes: restored.map(({ name, state }) => ({
      name,
      files: state.files,
      provenance: state.entry.provenance,
      verified: state.entry.verified,
      ...(state.entry.approved === undefined ? {} : { marks: { approved: state.entry.approved } }),
      edit: {
        kind: "modify",
        skill: name,
        cause: `T4: the contracts it was verified against are back; restored from library revision ${state.revision}`,
        signature: `revive:${name}:${state.revision}`,
        by: "mechanical",
      },
    })),
  });
  return restored.map(({ name }) => name);
}

function isWhole(known: Known, past: PastSkill): boolean {
  const verified = Object.entries(past.entry.verified);
  return (
    verified.length > 0 &&
    verified.every(([key, digests]) => {
      const tool = known.catalog.tools.get(key as ToolKey);
      return tool !== undefined && tool.digests.contract === digests.contract && known.holds.held[key] === undefined;
    })
  );
}

function announce(draft: Draft, before: Known["standings"]): void {
  const after = draft.known.standings;
  if (after === before) return;
  const woke: SkillName[] = [];
  const rest: SkillName[] = [];
  const due: SkillName[] = [];
  for (const [name, standing] of after) {
    const old = before.get(name);
    if (old?.standing === standing.standing) continue;
    if (standing.standing === "active") woke.push(name);
    else if (old !== undefined) rest.push(name);
    if (standing.standing === "inactive" && standing.because === "broken") due.push(name);
  }
  if (woke.length > 0) draft.effects.push({ kind: "log", level: "info", text: `${countOf(woke)} active: ${namesOf(woke)}` });
  if (rest.length > 0) {
    const reasons = rest.slice(0, NAMED_MOST).map((name) => after.get(name)?.reasons[0]?.text ?? "");
    draft.effects.push({ kind: "log", level: "info", text: `${countOf(rest)} at rest: ${namesOf(rest)}`, data: { reasons } });
  }
  if (woke.length + rest.length > 0) draft.effects.push({ kind: "announce-skills" });
  if (due.length > 0) draft.effects.push({ kind: "maintenance-due", skills: due.sort() });
}

/** Names told in one line of the log; the rest are counted. */
const NAMED_MOST = 5;

function countOf(names: readonly SkillName[]): string {
  return names.length === 1 ? "1 skill is now" : `${names.length} skills are now`;
}

function namesOf(names: readonly SkillName[]): string {
  const more = names.length - NAMED_MOST;
  return `${names.slice(0, NAMED_MOST).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
