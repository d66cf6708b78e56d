/**
 * Foresee: the events that would bring another catalog, played on a world in memory, and what differs afterwards.
 *
 * Nothing of the judgement is done here a second time: the same decisions that a daemon would take are taken, and thrown away.
 * The world that is passed must be the caller's own, since advancing moves its indexes in place.
 */
import { diffCatalogs, diffTool } from "../catalog/drift.js";
import { takeover } from "../catalog/lineage.js";
import type { UpstreamLabel, Instant, SkillName, ToolKey } from "../model/ids.js";
import { LEVELS } from "../model/drift.js";
import type { Event } from "../model/event.js";
import type { ForeseenCause, ForeseenSkill, ForeseenSuccessor, Foresight, Outcome } from "../model/foresight.js";
import type { MaintenanceReport, ProposedEdit } from "../model/maintenance.js";
import type { Problem } from "../model/problem.js";
import type { PatternQuestion } from "../model/sample.js";
import type { Skill } from "../model/skill.js";
import { UNSETTLED, type Standing, type StandingReason } from "../model/standing.js";
import type { Tool } from "../model/tool.js";
import { CONTRACT_PATH } from "../skills/contract.js";
import { advance } from "./advance.js";
import { decide } from "./decide.js";
import { verifiedTool } from "./standings.js";
import { withoutWays } from "./ways.js";
import type { World } from "./world.js";

/** Tools of some upstreams as they would be; an upstream that is not named stays as it is, unless `whole`. */
export interface Prospect {
  readonly listings: ReadonlyMap<UpstreamLabel, { readonly tools: readonly Tool[]; readonly problems: readonly Problem[] }>;
  /** Upstreams that are neither listed nor named here are taken out. */
  readonly whole: boolean;
  /** Upstreams that belong to a whole prospect and could not be listed: they keep what they have. */
  readonly unlisted?: readonly UpstreamLabel[];
}

/** A world moved by some events, as a steward would, with the patterns it would have run; nothing is kept anywhere. */
export function play(world: World, events: Iterable<Event>): Played {
  let moved = world;
  const questions: PatternQuestion[] = [];
  for (const event of events) {
    const decision = decide(moved, event);
    moved = advance(moved, decision.changes);
    for (const effect of decision.effects) if (effect.kind === "run-patterns") questions.push(...effect.questions);
  }
  return { world: moved, questions };
}

/** The world before and after the prospect came. */
export interface Arrival {
  readonly before: World;
  readonly after: World;
}

/** A world, and the patterns that its standings rest on and nobody has run: their answers are events (see `answered`). */
export interface Played {
  readonly world: World;
  readonly questions: readonly PatternQuestion[];
}

/** The world without the prospect. Presence is left out: what is compared counts as up before and after. */
export function everythingUp(world: World, prospect: Prospect, at: Instant): Played {
  const labels = new Set([...labelsOf(world), ...prospect.listings.keys()]);
  return play(
    world,
    [...labels].sort().map((label): Event => ({ kind: "presence", at, label, state: "up" })),
  );
}

/** The prospect comes. */
export function arrive(before: World, prospect: Prospect, at: Instant): Played {
  return play(before, arrival(before, prospect, at));
}

export function answered(world: World, answers: Extract<Event, { kind: "patterns-run" }>["answers"], at: Instant): Played {
  return play(world, [{ kind: "patterns-run", at, answers }]);
}

/** What a run would do that would not be proposed without the prospect as well. */
export function dueToIt(report: MaintenanceReport, anyway: readonly ProposedEdit[]): Foresight["maintenance"] {
  const known = new Set(anyway.map(nameOf));
  const isNew = (edit: Parameters<typeof nameOf>[0]): boolean => !known.has(nameOf(edit));
  return {
    applied: report.applied.filter(isNew),
    skipped: (report.skipped ?? []).filter(isNew),
    proposed: report.proposed.filter(isNew),
    refused: report.refused.filter(isNew),
  };
}

function nameOf({ kind, skill, signature }: { kind: string; skill: string; signature: string }): string {
  return JSON.stringify([kind, skill, signature]);
}

/** What differs for the library between the two; `maintenance`: what a run on `after` would do. */
export function foresee({ before, after }: Arrival, maintenance: Foresight["maintenance"]): Foresight {
  const successorsOf = (key: ToolKey): readonly ToolKey[] => takeover(after.catalog, key, after.lineage)?.to ?? [];
  const drift = diffCatalogs(before.catalog, after.catalog, { successors: successorsOf });
  const names = [...after.library.skills.keys()].sort();
  const skills = names.flatMap((name) => foreseen(before, after, name, maintenance) ?? []);
  return {
    from: {
      catalog: before.catalog.version,
      tools: before.catalog.tools.size,
      library: before.library.revision,
      skills: before.library.skills.size,
    },
    to: { tools: after.catalog.tools.size },
    drift: {
      added: drift.added,
      removed: drift.removed,
      changed: drift.changed,
      changes: drift.changes,
      unclassified: drift.unclassified,
    },
    lineage: [...after.lineage.values()].filter((link) => !before.lineage.has(link.id)),
    held: Object.entries(after.holds.held)
      .filter(([key]) => before.holds.held[key] === undefined && after.catalog.tools.has(key as ToolKey))
      .map(([tool, hold]) => ({ tool, reasons: hold.reasons })),
    skills: skills.sort((a, b) => OUTCOMES.indexOf(a.outcome) - OUTCOMES.indexOf(b.outcome) || (a.skill < b.skill ? -1 : 1)),
    maintenance,
  };
}

const OUTCOMES: readonly Outcome[] = ["held", "rests", "review", "safe", "wakes", "stays"];

function labelsOf(world: World): Set<UpstreamLabel> {
  return new Set([...world.catalog.tools.values()].map((tool) => tool.label));
}

/** The events by which a daemon would come to know the prospect. */
function arrival(world: World, prospect: Prospect, at: Instant): Event[] {
  const events: Event[] = [];
  if (prospect.whole) {
    const kept = [...prospect.listings.keys(), ...(prospect.unlisted ?? [])].sort();
    const upstreams = new Map(kept.map((label) => [label, settingsIn(world, label)]));
    events.push({ kind: "configured", at, starting: true, upstreams, policy: world.policy });
  }
  for (const [label, { tools, problems }] of [...prospect.listings].sort(([a], [b]) => (a < b ? -1 : 1)))
    events.push({ kind: "listing", at, label, tools, problems, cause: "sync" });
  return events;
}

/** A prospect says nothing of settings: they stay as they are. */
function settingsIn(world: World, label: UpstreamLabel) {
  const skills = world.skillsFrom.has(label) ? ("import" as const) : ("forward" as const);
  return { disabled: false, prefix: world.prefixes.get(label) ?? label, skills };
}

/** What would become of one skill; undefined where nothing touches it. */
function foreseen(before: World, after: World, name: SkillName, report: Foresight["maintenance"]): ForeseenSkill | undefined {
  const skill = after.library.skills.get(name);
  const [was, is] = [before.standings.get(name) ?? UNSETTLED, withoutNumbers(after.standings.get(name) ?? UNSETTLED)];
  const outcome = outcomeOf(was, is);
  if (skill === undefined || outcome === undefined) return undefined;
  const causes = is.reasons.map((reason) => causeOf(after, name, reason));
  const maintenance = maintenanceOf(report, name);
  return {
    skill: name,
    tier: skill.tier,
    provenance: skill.provenance,
    outcome,
    before: withoutWays(was),
    after: is,
    causes,
    successors: skill.contract.requires.flatMap((need) => successorOf(after, need.tool as ToolKey) ?? []),
    ...(maintenance === undefined ? {} : { maintenance }),
    places: placesOf(skill, causes),
  };
}

/** Versions counted in the rehearsal are nobody's. */
function withoutNumbers(standing: Standing): Standing {
  const reasons = standing.reasons.map((reason) => ({ ...reason, text: reason.text.replace(/ after catalog version \d+/g, "") }));
  return withoutWays({ ...standing, reasons });
}

function outcomeOf(was: Standing, is: Standing): Outcome | undefined {
  if (is.standing === "inactive") {
    if (was.standing === "inactive") return "stays";
    return is.because === "held" ? "held" : "rests";
  }
  if (was.standing === "inactive") return "wakes";
  const news = is.reasons.filter((reason) => !was.reasons.some((known) => sameReason(known, reason)));
  const isWorse = news.some((reason) => LEVELS.indexOf(reason.level) >= LEVELS.indexOf("review"));
  if (isWorse || (is.needsReview && !was.needsReview)) return "review";
  return is.safeByUsage === true && was.safeByUsage !== true ? "safe" : undefined;
}

function sameReason(a: StandingReason, b: StandingReason): boolean {
  return a.on === b.on && a.rule === b.rule && a.text === b.text;
}

/** The reason with the place in the tool and the values before and after, where it is a change of a definition. */
function causeOf(world: World, name: SkillName, reason: StandingReason): ForeseenCause {
  const key = reason.on as ToolKey;
  const [verified, present] = [verifiedTool(world, name, key), world.catalog.tools.get(key)];
  const changes = verified === undefined || present === undefined ? [] : diffTool(verified, present).changes;
  const change = changes.find((one) => one.rule === reason.rule && reason.text.endsWith(one.text));
  return {
    on: reason.on,
    rule: reason.rule,
    level: reason.level,
    text: reason.text,
    ...(change === undefined ? {} : { path: change.path }),
    ...(change?.field === undefined ? {} : { field: change.field }),
    ...(change?.before === undefined ? {} : { before: change.before }),
    ...(change?.after === undefined ? {} : { after: change.after }),
  };
}

function successorOf(world: World, key: ToolKey): ForeseenSuccessor | undefined {
  const next = takeover(world.catalog, key, world.lineage);
  if (next === undefined) return undefined;
  const { to, kind, level, params, fixedArguments, links } = next;
  return { tool: key, to, kind, level, params, fixedArguments, evidence: links.flatMap((link) => link.evidence) };
}

function maintenanceOf(report: Foresight["maintenance"], name: SkillName): ForeseenSkill["maintenance"] {
  for (const how of ["applied", "proposed", "refused"] as const) {
    const edit = report[how].find((one) => one.skill === name);
    if (edit !== undefined) return { how, cause: edit.cause, findings: "findings" in edit ? edit.findings : [] };
  }
  const left = report.skipped.find((one) => one.skill === name);
  return left === undefined ? undefined : { how: "left", cause: left.cause, findings: [] };
}

/** Lines of the skill's files that name what causes it; the first line where none does. */
function placesOf(skill: Skill, causes: readonly ForeseenCause[]): ForeseenSkill["places"] {
  const named = causes.map((cause) => cause.on.replace(/^skill:/, ""));
  return ["SKILL.md", CONTRACT_PATH].flatMap((path) => {
    const text = skill.files[path];
    if (text === undefined) return [];
    const line = text.split("\n").findIndex((row) => named.some((name) => row.includes(name)));
    return path === "SKILL.md" || line >= 0 ? [{ path, line: Math.max(line, 0) + 1 }] : [];
  });
}
