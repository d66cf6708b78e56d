/**
 * Standings: joins skills, tools, presence and holds.
 *
 * A standing is a function of the present ground state alone (its `since` apart): no event is remembered, so no order of events,
 * crash or lost wake-up can leave one wrong. "Keep the last standing while an upstream is away" holds because the catalog keeps
 * the upstream's last good tools, and the rest of the judgement is made on them.
 */
import { judge } from "../catalog/level.js";
import { toTool } from "../catalog/intake.js";
import { successors } from "../catalog/lineage.js";
import { worseLevel, type Level } from "../model/drift.js";
import { splitToolKey, type SkillName, type ToolKey } from "../model/ids.js";
import type { Requirement, Skill } from "../model/skill.js";
import type { Standing, StandingReason } from "../model/standing.js";
import type { Tool } from "../model/tool.js";
import { isOffered, type Known } from "./world.js";

interface Judgement {
  readonly level: Level;
  /** Why the skill cannot be used, where it cannot. */
  readonly because: string | undefined;
  readonly needsReview: boolean;
  readonly safeByUsage: boolean;
  readonly reasons: readonly StandingReason[];
}

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
export function computeStandings(known: Known, skills: Iterable<SkillName>): Map<SkillName, Standing> {
  const memo = new Map<SkillName, Judgement>();
  const result = new Map<SkillName, Standing>();
  for (const name of skills) {
    const skill = known.library.skills.get(name);
    if (skill === undefined) continue;
    result.set(name, toStanding(known, name, judgeSkill(known, skill, memo, new Set())));
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
    reasons: [...judgement.reasons],
    since: previous !== undefined && previous.standing === standing ? previous.since : known.now,
  };
}

function judgeSkill(known: Known, skill: Skill, memo: Map<SkillName, Judgement>, path: Set<SkillName>): Judgement {
  const done = memo.get(skill.name);
  if (done !== undefined) return done;
  // A cycle is refused when a skill is written; should one stand on disc all the same, it does not recurse for ever.
  if (path.has(skill.name)) return fine;
  path.add(skill.name);
  const parts: Judgement[] = [];
  const groups = new Map<string, Judgement[]>();
  for (const requirement of skill.contract.requires) {
    const judged = judgeRequirement(known, skill, requirement);
    if (requirement.anyGroup === undefined) parts.push(judged);
    else groups.set(requirement.anyGroup, [...(groups.get(requirement.anyGroup) ?? []), judged]);
  }
  for (const members of groups.values()) parts.push(best(members));
  for (const used of skill.contract.uses) parts.push(judgeUse(known, used as SkillName, memo, path));
  path.delete(skill.name);
  const judgement = parts.reduce(worst, fine);
  memo.set(skill.name, judgement);
  return judgement;
}

function judgeUse(known: Known, used: SkillName, memo: Map<SkillName, Judgement>, path: Set<SkillName>): Judgement {
  const skill = known.library.skills.get(used);
  if (skill === undefined) {
    return inactive("breaking", "dependency", {
      on: `skill:${used}`,
      rule: "S1",
      level: "breaking",
      text: `It uses the skill ${used}, which is not in the library.`,
    });
  }
  const judged = judgeSkill(known, skill, memo, path);
  if (judged.because === undefined) return { ...fine, needsReview: judged.needsReview };
  const first = judged.reasons[0];
  const text = `It uses the skill ${used}, which rests${first === undefined ? "" : `: ${first.text}`}`;
  return inactive(judged.level, "dependency", { on: `skill:${used}`, rule: first?.rule ?? "S1", level: judged.level, text });
}

function judgeRequirement(known: Known, skill: Skill, requirement: Requirement): Judgement {
  const key = requirement.tool as ToolKey;
  const { label } = splitToolKey(key);
  const tool = known.catalog.tools.get(key);
  const judged = tool === undefined ? judgeMissing(known, key) : judgePresent(known, skill, requirement, tool);
  const placed = worst(judged, judgePresence(known, key, label));
  // An optional tool is told of and never rests the skill.
  return requirement.optional === true && placed.because !== undefined
    ? { ...placed, because: undefined, level: "review" }
    : placed;
}

function judgeMissing(known: Known, key: ToolKey): Judgement {
  const departed = known.catalog.departed.get(key);
  if (departed === undefined) {
    return inactive("unknown", "missing", {
      on: key,
      rule: "T2",
      level: "unknown",
      text: `${key} has not been listed by its upstream yet.`,
    });
  }
  const next = successors(key, departed.lastVersion, [...known.lineage.values()], (candidate) =>
    known.catalog.tools.has(candidate),
  );
  if (next === undefined) {
    return inactive("breaking", "broken", {
      on: key,
      rule: "T1",
      level: "breaking",
      text: `${key} was removed after catalog version ${departed.lastVersion}.`,
    });
  }
  return inactive("breaking", "broken", {
    on: key,
    rule: "T3",
    level: "breaking",
    text: `${key} was removed after catalog version ${departed.lastVersion}; ${next.to.join(" and ")} ${next.to.length > 1 ? "take" : "takes"} over (${next.level}).`,
  });
}

function judgePresent(known: Known, skill: Skill, requirement: Requirement, tool: Tool): Judgement {
  const hold = known.holds.held[tool.key];
  if (hold !== undefined) {
    const why = hold.reasons[0]?.text ?? "its annotations changed";
    return inactive("safety", "held", {
      on: tool.key,
      rule: hold.reasons[0]?.rule ?? "A1",
      level: "safety",
      text: `${tool.key} is held until a person approves it: ${why}`,
    });
  }
  const verified = verifiedTool(known, skill.name, tool.key);
  if (verified === undefined) return judgeUnverified(known, skill, requirement, tool);
  if (verified.digests.document === tool.digests.document) return fine;
  const usage = { params: requirement.params, reads: requirement.reads, recorded: [] };
  const { level, reasons, safeByUsage } = judge(verified, tool, usage);
  const told = reasons.map((reason) => ({ on: tool.key, ...reason }));
  if (level === "breaking") return { level, because: "broken", needsReview: false, safeByUsage: false, reasons: told };
  // Undecidable schemas keep the skill in use and ask for a look: no timer can make them clearer.
  const needsReview = level === "dangerous" || level === "unknown";
  return { level, because: undefined, needsReview, safeByUsage, reasons: told };
}

/** No definition is kept that the skill was verified against: its authoring digest is all there is to compare. */
function judgeUnverified(known: Known, skill: Skill, requirement: Requirement, tool: Tool): Judgement {
  const digest = known.library.lock.skills[skill.name]?.verified[tool.key]?.contract ?? requirement.contractDigest;
  if (digest === "" || digest === tool.digests.contract) return fine;
  const text = `${tool.key} is not as it was when the skill was written, and that definition is not kept; look at the skill and approve it.`;
  return { ...fine, level: "unknown", needsReview: true, reasons: [{ on: tool.key, rule: "X2", level: "unknown", text }] };
}

function judgePresence(known: Known, key: ToolKey, label: string): Judgement {
  const presence = known.presence.get(label as never);
  if (presence === undefined) return fine;
  if (!isOffered(presence)) {
    return inactive("breaking", "unreachable", {
      on: key,
      rule: "T2",
      level: "breaking",
      text: `The upstream ${label} is ${presence.state}${presence.reason === undefined ? "" : ` (${presence.reason})`}.`,
    });
  }
  if (presence.state !== "away") return fine;
  const awayMs = Date.parse(known.now) - Date.parse(presence.since);
  const text = `The upstream ${label} is away since ${presence.since}${presence.reason === undefined ? "" : ` (${presence.reason})`}.`;
  const reason: StandingReason = { on: key, rule: "T2", level: "unknown", text };
  if (awayMs >= known.policy.graceMs) return inactive("unknown", "unreachable", reason);
  return { level: "unknown", because: undefined, needsReview: false, safeByUsage: false, reasons: [reason] };
}

function inactive(level: Level, because: string, reason: StandingReason): Judgement {
  return { level, because, needsReview: false, safeByUsage: false, reasons: [reason] };
}

/** Order of the words for the table: what a person must do first wins. */
const becauseRank = ["held", "broken", "missing", "unreachable", "dependency"];

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
    reasons: [...a.reasons, ...b.reasons],
  };
}

/** A group of alternatives stands as its best member does. */
function best(members: readonly Judgement[]): Judgement {
  return members.reduce((a, b) => {
    if ((a.because === undefined) !== (b.because === undefined)) return a.because === undefined ? a : b;
    return worseLevel(a.level, b.level) === a.level && a.level !== b.level ? b : a;
  });
}
