/**
 * Standings: joins skills, tools, presence and holds.
 *
 * A standing is a function of the present ground state alone (its `since` apart): no event is remembered, so no order of events,
 * crash or lost wake-up can leave one wrong. "Keep the last standing while an upstream is away" holds because the catalog keeps
 * the upstream's last good tools, and the rest of the judgement is made on them.
 */
import { judge } from "../catalog/level.js";
import type { MatchPattern } from "../catalog/schema/accept.js";
import { toTool } from "../catalog/intake.js";
import { takeover } from "../catalog/lineage.js";
import { worseLevel, type Level, type Usage } from "../model/drift.js";
import { splitToolKey, type SkillName, type ToolKey } from "../model/ids.js";
import type { Presence } from "../model/catalog.js";
import type { Requirement, Skill } from "../model/skill.js";
import type { Standing, StandingReason } from "../model/standing.js";
import type { Tool } from "../model/tool.js";
import { speaksToModel } from "../skills/speaks.js";
import { markInForce } from "./reverts.js";
import { matcherOf, samplesFor, type PatternTally } from "./samples.js";
import { servingOf } from "./upstream-skills.js";
import { approveSkill, approveTool, followContract, followTakeover, inOrder, lookAtMapping, type Cause } from "./ways.js";
import { isOffered, type Known } from "./world.js";

interface Judgement {
  readonly level: Level;
  /** Why the skill cannot be used, where it cannot. */
  readonly because: string | undefined;
  readonly needsReview: boolean;
  readonly safeByUsage: boolean;
  readonly reasons: readonly Cause[];
}

/** The rule by which a text waits for a person. */
const WORD_RULE = "S3";

const fine: Judgement = { level: "compatible", because: undefined, needsReview: false, safeByUsage: false, reasons: [] };

/** The definition a skill was last verified against for a tool, where the lock knows one. */
export function verifiedTool(known: Known, skill: SkillName, key: ToolKey): Tool | undefined {
  const digests = known.library.lock.skills[skill]?.verified[key];
  if (digests === undefined) return undefined;
  const present = known.catalog.tools.get(key);
  if (present !== undefined && present.digests.document === digests.document) return present;
  const listed = known.definitions.get(digests.document);
  return listed === undefined ? undefined : toTool(splitToolKey(key).label, listed);
}

/** Standings of the given skills, computed from the ground state. Cost grows with the skills given and what they use. */
export function computeStandings(known: Known, skills: Iterable<SkillName>, tally?: PatternTally): Map<SkillName, Standing> {
  const bench: Bench = { known, memo: new Map(), matches: matcherOf(known, tally) };
  const result = new Map<SkillName, Standing>();
  for (const name of skills) {
    const skill = known.library.skills.get(name);
    if (skill === undefined) continue;
    result.set(name, toStanding(known, name, judgeSkill(bench, skill, new Set())));
  }
  return result;
}

function toStanding(known: Known, name: SkillName, judgement: Judgement): Standing {
  const standing = judgement.because === undefined ? "active" : "inactive";
  const previous = known.standings.get(name);
  return {
    standing,
    ...(judgement.because === undefined ? {} : { because: judgement.because }),
    needsReview: judgement.needsReview,
    ...(judgement.safeByUsage ? { safeByUsage: true } : {}),
    reasons: judgement.reasons.map(({ rests: _rests, ...reason }) => reason),
    since: previous !== undefined && previous.standing === standing ? previous.since : known.now,
  };
}

/** What one round of judging works with: skills that many others use are judged once. */
interface Bench {
  readonly known: Known;
  readonly memo: Map<SkillName, Judgement>;
  readonly matches: MatchPattern;
}

function judgeSkill(bench: Bench, skill: Skill, path: Set<SkillName>): Judgement {
  const done = bench.memo.get(skill.name);
  if (done !== undefined) return done;
  // A cycle is refused when a skill is written; should one stand on disc all the same, it does not recurse for ever.
  if (path.has(skill.name)) return fine;
  path.add(skill.name);
  const parts: Judgement[] = [...judgeServing(bench.known, skill), ...judgeMapping(bench.known, skill)];
  const groups = new Map<string, Judgement[]>();
  for (const requirement of skill.contract.requires) {
    const judged = judgeRequirement(bench, skill, requirement);
    if (requirement.anyGroup === undefined) parts.push(judged);
    else groups.set(requirement.anyGroup, [...(groups.get(requirement.anyGroup) ?? []), judged]);
  }
  for (const members of groups.values()) parts.push(best(members));
  for (const used of skill.contract.uses) parts.push(judgeUse(bench, used as SkillName, path));
  path.delete(skill.name);
  const judgement = parts.reduce(worst, fine);
  bench.memo.set(skill.name, judgement);
  return judgement;
}

/** A skill that an upstream serves stands with its being served there, and, where its text speaks out of turn, with a person's word. */
function judgeServing(known: Known, skill: Skill): Judgement[] {
  const source = servingOf(known, skill);
  if (source === undefined) return judgeImported(known, skill);
  const { label, taken } = source;
  const on = `upstream:${label}`;
  const rests = (because: string, level: Level, text: string): Judgement[] => [
    inactive(level, because, { on, rule: "S2", level, text }),
  ];
  if (!known.prefixes.has(label))
    return rests("unserved", "breaking", `The upstream ${label}, which served it, is not configured.`);
  if (!known.skillsFrom.has(label))
    return rests("unserved", "breaking", `Skills of ${label} are not taken in any more (steward.upstreams.${label}.skills).`);
  const presence = known.presence.get(label);
  if (!isOffered(presence)) return rests("unreachable", "breaking", notOffered(label, presence));
  if (!taken.served) return rests("unserved", "breaking", `${label} does not serve it any more (${taken.uri}).`);
  if (taken.findings.length === 0 || taken.approved === taken.source) return [];
  return [waits(skill, on, taken.findings)];
}

/** A mapping that it was bound by was corrected, and nothing mechanical may follow that. */
function judgeMapping(known: Known, skill: Skill): Judgement[] {
  const mark = markInForce(known.library.lock.skills[skill.name]);
  if (mark === undefined) return [];
  const way = lookAtMapping(skill, mark.back !== undefined);
  const reason: Cause = { on: mark.on, rule: "T3", level: "dangerous", text: mark.text, way, rests: false };
  return [{ ...fine, level: "dangerous", needsReview: true, reasons: [reason] }];
}

/** Does the skill's own text, apart from its tools, wait for a person? */
export function waitsForWord(known: Known, skill: Skill): boolean {
  return judgeServing(known, skill).some(({ reasons }) => reasons.some((reason) => reason.rule === WORD_RULE));
}

/** What came in from elsewhere and speaks to the model waits for a person; an approval is for those bytes alone. */
function judgeImported(known: Known, skill: Skill): Judgement[] {
  if (skill.provenance !== "import") return [];
  const findings = speaksToModel(skill);
  if (findings.length === 0 || known.library.lock.skills[skill.name]?.approved === skill.digest) return [];
  return [waits(skill, `skill:${skill.name}`, findings)];
}

function waits(skill: Skill, on: string, findings: readonly string[]): Judgement {
  const text = `It waits until a person approves it: ${findings.join(" ")}`;
  return inactive("safety", "held", { on, rule: WORD_RULE, level: "safety", text, way: approveSkill(skill) });
}

function judgeUse(bench: Bench, used: SkillName, path: Set<SkillName>): Judgement {
  const skill = bench.known.library.skills.get(used);
  if (skill === undefined) {
    return inactive("breaking", "dependency", {
      on: `skill:${used}`,
      rule: "S1",
      level: "breaking",
      text: `It uses the skill ${used}, which is not in the library.`,
    });
  }
  const judged = judgeSkill(bench, skill, path);
  if (judged.because === undefined) return { ...fine, needsReview: judged.needsReview };
  const first = judged.reasons[0];
  const text = `It uses the skill ${used}, which rests${first === undefined ? "" : `: ${first.text}`}`;
  return inactive(judged.level, "dependency", {
    on: `skill:${used}`,
    rule: first?.rule ?? "S1",
    level: judged.level,
    text,
    ...(first?.way === undefined ? {} : { way: first.way }),
  });
}

function judgeRequirement(bench: Bench, skill: Skill, requirement: Requirement): Judgement {
  const { known } = bench;
  const key = requirement.tool as ToolKey;
  const { label } = splitToolKey(key);
  const tool = known.catalog.tools.get(key);
  const judged = tool === undefined ? judgeMissing(known, skill, key) : judgePresent(bench, skill, requirement, tool);
  const placed = worst(judged, judgePresence(known, key, label));
  // An optional tool is told of and never rests the skill.
  return requirement.optional === true && placed.because !== undefined
    ? { ...placed, because: undefined, level: "review", reasons: placed.reasons.map((reason) => ({ ...reason, rests: false })) }
    : placed;
}

function judgeMissing(known: Known, skill: Skill, key: ToolKey): Judgement {
  const departed = known.catalog.departed.get(key);
  if (departed === undefined) {
    return inactive("unknown", "missing", {
      on: key,
      rule: "T2",
      level: "unknown",
      text: `${key} has not been listed by its upstream yet.`,
    });
  }
  const next = takeover(known.catalog, key, known.lineage);
  if (next === undefined) {
    return inactive("breaking", "broken", {
      on: key,
      rule: "T1",
      level: "breaking",
      text: `${key} was removed after catalog version ${departed.lastVersion}.`,
    });
  }
  const way = followTakeover(known, skill, next);
  return inactive("breaking", "broken", {
    ...(way === undefined ? {} : { way }),
    on: key,
    rule: "T3",
    level: "breaking",
    text: `${key} was removed after catalog version ${departed.lastVersion}; ${next.to.join(" and ")} ${next.to.length > 1 ? "take" : "takes"} over (${next.level}).`,
  });
}

function judgePresent(bench: Bench, skill: Skill, requirement: Requirement, tool: Tool): Judgement {
  const { known } = bench;
  const hold = known.holds.held[tool.key];
  if (hold !== undefined) {
    const why = hold.reasons[0]?.text ?? "its annotations changed";
    return inactive("safety", "held", {
      on: tool.key,
      rule: hold.reasons[0]?.rule ?? "A1",
      level: "safety",
      text: `${tool.key} is held until a person approves it: ${why}`,
      way: approveTool(tool.key),
    });
  }
  const verified = verifiedTool(known, skill.name, tool.key);
  if (verified === undefined) return judgeUnverified(known, skill, requirement, tool);
  if (verified.digests.document === tool.digests.document) return fine;
  const usage = usageOf(bench, skill, requirement, tool);
  const { level, reasons, safeByUsage, overruled } = judge(verified, tool, usage);
  const way = level === "breaking" ? followContract(known, skill) : undefined;
  const told: Cause[] = reasons.map((reason) => {
    const rests = level === "breaking" && reason.level === "breaking";
    return { on: tool.key, ...reason, rests, ...(rests && way !== undefined ? { way } : {}) };
  });
  const fitting = usage.recorded.length === 1 ? "the recorded call fits" : `${usage.recorded.length} recorded calls fit`;
  for (const { rule, text } of overruled)
    told.push({ on: tool.key, rule, level: "compatible", rests: false, text: `safe by usage, ${fitting} all the same: ${text}` });
  if (level === "breaking") return { level, because: "broken", needsReview: false, safeByUsage: false, reasons: told };
  // Undecidable schemas keep the skill in use and ask for a look: no timer can make them clearer.
  const needsReview = level === "dangerous" || level === "unknown";
  return { level, because: undefined, needsReview, safeByUsage, reasons: told };
}

/** How the skill uses the tool: what it says it sets and reads, and what verified calls really sent. */
function usageOf({ known, matches }: Bench, skill: Skill, { params, reads }: Requirement, tool: Tool): Usage {
  const samples = samplesFor(known, skill, { tool: tool.key, params }, tool.digests.contract);
  const redacted = samples.flatMap((sample) => sample.redacted);
  return {
    params: redacted.length === 0 ? params : [...new Set([...params, ...redacted])],
    reads,
    recorded: samples.map((sample) => sample.args),
    matches,
  };
}

/** No definition is kept that the skill was verified against: its authoring digest is all there is to compare. */
function judgeUnverified(known: Known, skill: Skill, requirement: Requirement, tool: Tool): Judgement {
  const digest = known.library.lock.skills[skill.name]?.verified[tool.key]?.contract ?? requirement.contractDigest;
  if (digest === "" || digest === tool.digests.contract) return fine;
  const text = `${tool.key} is not as it was when the skill was written, and that definition is not kept; look at the skill and approve it.`;
  return {
    ...fine,
    level: "unknown",
    needsReview: true,
    reasons: [{ on: tool.key, rule: "X2", level: "unknown", text, rests: false }],
  };
}

function judgePresence(known: Known, key: ToolKey, label: string): Judgement {
  const presence = known.presence.get(label as never);
  if (presence === undefined) return fine;
  if (!isOffered(presence)) {
    return inactive("breaking", "unreachable", {
      on: key,
      rule: "T2",
      level: "breaking",
      text: notOffered(label, presence),
    });
  }
  if (presence.state !== "away") return fine;
  const awayMs = Date.parse(known.now) - Date.parse(presence.since);
  const text = `The upstream ${label} is away since ${presence.since}${presence.reason === undefined ? "" : ` (${presence.reason})`}.`;
  const reason: StandingReason = { on: key, rule: "T2", level: "unknown", text };
  if (awayMs >= known.policy.graceMs) return inactive("unknown", "unreachable", reason);
  return { level: "unknown", because: undefined, needsReview: false, safeByUsage: false, reasons: [{ ...reason, rests: false }] };
}

function notOffered(label: string, presence: Presence | undefined): string {
  return `The upstream ${label} is ${presence?.state ?? "away"}${presence?.reason === undefined ? "" : ` (${presence.reason})`}.`;
}

function inactive(level: Level, because: string, reason: StandingReason): Judgement {
  return { level, because, needsReview: false, safeByUsage: false, reasons: [{ ...reason, rests: true }] };
}

/** Order of the words for the table: what a person must do first wins. */
const becauseRank = ["held", "broken", "unserved", "missing", "unreachable", "dependency"];

function worst(a: Judgement, b: Judgement): Judgement {
  if (a === fine) return b;
  if (b === fine) return a;
  const words = [a.because, b.because].filter((word) => word !== undefined);
  words.sort((x, y) => becauseRank.indexOf(x) - becauseRank.indexOf(y));
  return {
    level: worseLevel(a.level, b.level),
    because: words[0],
    needsReview: a.needsReview || b.needsReview,
    safeByUsage: a.safeByUsage || b.safeByUsage,
    reasons: inOrder([...a.reasons, ...b.reasons]),
  };
}

/** A group of alternatives stands as its best member does. */
function best(members: readonly Judgement[]): Judgement {
  return members.reduce((a, b) => {
    if ((a.because === undefined) !== (b.because === undefined)) return a.because === undefined ? a : b;
    return worseLevel(a.level, b.level) === a.level && a.level !== b.level ? b : a;
  });
}
