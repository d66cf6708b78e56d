/**
 * A turn: what the world has to say to one request, before anybody judges it.
 *
 * Owns: joining search, standings, presence, holds and lineage into candidates and into what must be told beside them
 *       (substitutions, what was left out, unmatched words).
 * Speaks: a view request in; plain data out, taken at one moment.
 * Never: choosing (manager) or cutting to a budget (provision).
 */
import { closure, skillsReaching } from "../graph/reach.js";
import { splitToolKey, type SkillName, type ToolKey } from "../model/ids.js";
import { reachesTool, type Reach } from "../model/reach.js";
import { PROVISION } from "../model/policy.js";
import type { SkillCandidate, ToolCandidate, ViewCandidates } from "../model/ports.js";
import type { Skill, Tier } from "../model/skill.js";
import type { Standing } from "../model/standing.js";
import type { NeedVector } from "../model/vectors.js";
import { BUDGET_MOST, type ViewDecisions, type ViewRecord, type ViewRequest } from "../model/view.js";
import { alternativesOf } from "../provision/alternatives.js";
import { notChosen } from "../provision/choose.js";
import { VIEW_FORM } from "../provision/material.js";
import { wordsOfNeed } from "../provision/meaning.js";
import { needText } from "../provision/plan.js";
import { cuts } from "../provision/ends.js";
import { experienceChannel } from "../retrieve/experience.js";
import { nearnessChannel } from "../retrieve/nearness.js";
import { searchSkills } from "../retrieve/skills.js";
import { searchTools, type ToolSearch } from "../retrieve/tools.js";
import { corrected } from "../retrieve/unmatched.js";
import { nameOf } from "./advance.js";
import { presentSkills, presentTools } from "./experience.js";
import { connectingNotice, correctedNotice, emptyNotice, proposalNotice, weakNotice } from "./notices.js";
import { pinNotice, type Pinned } from "./pin.js";
import { namesOthers, skillWithin, substitutionsWithin } from "./reach.js";
import { askedAndGone, distinct, isMeant, standInsOf, substitutionFor, takenOver } from "./substitutions.js";
import { isOffered, isUnavailable, type World } from "./world.js";

type Found = ViewRecord["found"];

/** Who asks, and what an embedder made of the need. */
export interface Asking {
  /** Labels the caller may use; undefined = all. */
  readonly allowed: Reach;
  /** Stays with what a catalog version had. */
  readonly pinned?: Pinned | undefined;
  readonly need?: NeedVector | undefined;
}

export interface Gathered {
  /** The need's vector had a say. */
  readonly byVectors: boolean;
  readonly allowed: Reach;
  readonly candidates: ViewCandidates;
  readonly found: Omit<Found, "marks" | "names">;
}

/** Atomic skills looked at per request and per step, before the manager chooses; resting ones told of. */
const ATOMIC_LOOKED_AT = 24;
const ATOMIC_PER_STEP = 6;
const RESTING_TOLD = 4;
/** A resting skill is told of only where it fits nearly as well as what stands. */
const RESTING_SHARE = 0.6;
/** Characters of an unmatched word that are said again: what is longer is no word. */
const UNMATCHED_CHARS = 60;
/** Tools looked at for a start, before steps are known. */
const TOOLS_LOOKED_AT = 16;

export function gather(world: World, request: ViewRequest, { allowed, pinned, need = { kind: "off" } }: Asking): Gathered {
  const text = needText(request);
  const mayUse = (key: ToolKey): boolean => reachesTool(allowed, key) && (pinned === undefined || pinned.has(key));
  const offered = (key: ToolKey): boolean => mayUse(key) && isOffered(world.presence.get(splitToolKey(key).label));
  const usable = (skill: Skill): boolean =>
    skillWithin(world, skill, allowed) &&
    skill.contract.requires.every((one) => one.optional === true || mayUse(one.tool as ToolKey));
  const { policy } = world;
  const notices: Found["notices"] =
    pinned === undefined ? [] : [{ code: "catalog-pinned", text: pinNotice(world, pinned, allowed) }];
  const vector = need.kind === "vector" && need.embedder === world.vectors.embedder ? need.vector : undefined;
  // Steps of a plan are searched by words: their texts are not known when the need is embedded.
  const vectorOf = (asked: string): Float32Array | undefined => (asked === text ? vector : undefined);
  const { experience, calibration } = world;
  const toolChannels = [
    experienceChannel(experience, calibration, presentTools(world)),
    nearnessChannel<ToolKey>(world.vectors.tools, vectorOf),
  ];
  const skillChannels = [
    experienceChannel(experience, calibration, presentSkills(world), false),
    nearnessChannel<SkillName>(world.vectors.skills, vectorOf),
  ];
  if (need.kind === "failed") notices.push({ code: "lexical-only", text: `Searched by words alone: ${need.why}.` });
  const limit = toolLimit(world, request, notices);
  const findTools = (asked: string, most: number): ToolSearch =>
    searchTools(world.toolIndex, asked, {
      limit: most,
      offered,
      channels: toolChannels,
      standIns: standInsOf(askedAndGone(world, asked, mayUse)),
    });
  const asked = findTools(text, request.kind === "start" ? TOOLS_LOOKED_AT : limit);
  const { need: sought, search } = putRight(text, asked, (other) =>
    findTools(other, request.kind === "start" ? TOOLS_LOOKED_AT : limit),
  );
  /** Where no tool was found, a skill has to be an answer by itself: something resembles every need a little. */
  const skillsFor = (asked: string, tier: Tier, most: number, beside: ToolSearch): SkillCandidate[] => {
    const fitting = searchSkills(world.activeSkills, asked, {
      tier,
      limit: most,
      lambda: policy.mmrLambda,
      channels: skillChannels,
    });
    if (beside.hits.length === 0 && !fitting.trusted) return [];
    return fitting.hits.filter((hit) => usable(hit.skill)).map(({ skill, score }) => ({ skill, score }));
  };
  const wantsSkills = request.kind !== "retrieve";
  const candidates: ViewCandidates = {
    request,
    planning: wantsSkills ? skillsFor(sought, "planning", policy.planningSkills, search) : [],
    atomic: wantsSkills ? skillsFor(sought, "atomic", ATOMIC_LOOKED_AT, search) : [],
    tools: toolsOf(world, search),
    forStep: (goal) => {
      const beside = findTools(goal, policy.toolsPerStep * 2);
      return { atomic: skillsFor(goal, "atomic", ATOMIC_PER_STEP, beside), tools: toolsOf(world, beside) };
    },
    lookup: {
      skill: (name) => {
        const skill = activeSkill(world, name);
        return skill !== undefined && usable(skill) ? skill : undefined;
      },
      tool: (key) => (offered(key as ToolKey) ? world.catalog.tools.get(key as ToolKey) : undefined),
      suppliers: (tool, given) => closure(world.graph, tool, given).filter((supplier) => offered(supplier.tool)),
      notesOn: (tool) => notesOn(world, tool).filter((skill) => skillWithin(world, skill, allowed)),
    },
    limits: {
      planning: policy.planningSkills,
      atomic: policy.atomicSkillsPerView,
      toolsPerStep: policy.toolsPerStep,
      tools: limit,
      mmrLambda: policy.mmrLambda,
    },
  };
  notices.push(...(search === asked ? proposalNotice(asked.proposed) : correctedNotice(asked.proposed)), ...weakNotice(search));
  const resting = wantsSkills ? restingSkills(world, text, usable, allowed) : { told: [], substitutions: [] };
  const found: Gathered["found"] = {
    catalogVersion: world.catalog.version,
    libraryRevision: world.library.revision,
    substitutions: distinct(substitutionsWithin([...askedAndGone(world, text, mayUse), ...resting.substitutions], allowed)),
    alternatives: [],
    unmatched: asked.unmatched.map((word) => cuts.atWord(word, UNMATCHED_CHARS)),
    notices: [...notices, ...connectingNotice(world, allowed)],
    leftOut: [...resting.told, ...notOffered(world, text, mayUse, limit)],
    limits: limitsOf(world, request),
  };
  return { candidates, found, allowed, byVectors: vector !== undefined };
}

/** A need whose unknown words are each one slip of typing away from a known one is searched for as it was meant. */
function putRight(text: string, asked: ToolSearch, again: (need: string) => ToolSearch): { need: string; search: ToolSearch } {
  const need = corrected(text, asked.unmatched, asked.proposed);
  const search = need === undefined ? asked : again(need);
  return need === undefined || search.hits.length === 0 ? { need: text, search: asked } : { need, search };
}

/** Completes what was found for the tools that were decided on: marks, names, and whom they took over from. */
export function complete(world: World, gathered: Gathered, decisions: ViewDecisions): Found {
  const keys = new Set<ToolKey>(decisions.tools.map((choice) => choice.tool as ToolKey));
  for (const step of decisions.plan?.steps ?? []) for (const key of step.tools) keys.add(key as ToolKey);
  const marks: Record<string, string[]> = {};
  const names: Record<string, string> = {};
  for (const key of [...keys].sort()) {
    names[key] = nameOf(world, key);
    const marked = marksOf(world, key);
    if (marked.length > 0) marks[key] = marked;
  }
  const text = needText(gathered.candidates.request);
  const inherited = substitutionsWithin(takenOver(world, text, keys), gathered.allowed);
  return {
    ...gathered.found,
    notices: [...gathered.found.notices, ...emptyNotice(world, gathered.candidates.request, decisions)],
    marks,
    names,
    substitutions: distinct([...gathered.found.substitutions, ...inherited]),
    alternatives: alternativesOf(gathered.candidates, decisions),
    leftOut: [...gathered.found.leftOut, ...notChosen(gathered.candidates, decisions)],
  };
}

/** What an agent must know of a tool beside its definition. */
export function marksOf(world: World, key: ToolKey): string[] {
  const presence = world.presence.get(splitToolKey(key).label);
  return [
    ...(world.holds.held[key] === undefined ? [] : ["held"]),
    ...(world.holds.review[key] === undefined ? [] : ["review"]),
    ...(isUnavailable(presence) ? ["unavailable"] : []),
    ...(isOffered(presence) ? [] : ["not-offered"]),
  ];
}

function activeSkill(world: World, name: string): Skill | undefined {
  return world.standings.get(name as SkillName)?.standing === "active" ? world.library.skills.get(name as SkillName) : undefined;
}

/** Active tool skills written for a tool. */
function notesOn(world: World, tool: ToolKey): Skill[] {
  return skillsReaching(world.graph, [tool]).flatMap((name) => {
    const skill = activeSkill(world, name);
    const isNote = skill !== undefined && skill.tier === "tool" && skill.contract.requires.some((need) => need.tool === tool);
    return isNote ? [skill] : [];
  });
}

function toolsOf(world: World, search: ToolSearch): ToolCandidate[] {
  return search.hits.flatMap(({ key, score, reason }) => {
    const tool = world.catalog.tools.get(key);
    return tool === undefined ? [] : [{ tool, score, reason }];
  });
}

function toolLimit(world: World, request: ViewRequest, notices: Found["notices"]): number {
  const { policy } = world;
  if (request.kind !== "retrieve") return policy.exploreTools;
  const asked = request.limit ?? policy.retrieveLimit;
  if (asked > policy.retrieveLimit)
    notices.push({ code: "limit-cut", text: `limit ${asked} was cut to ${policy.retrieveLimit}.` });
  return Math.min(asked, policy.retrieveLimit);
}

function limitsOf(world: World, request: ViewRequest): Found["limits"] {
  const { policy } = world;
  return {
    form: VIEW_FORM,
    tokens: Math.min(request.budgetTokens ?? policy.viewTokens, policy.viewTokensMax),
    tokensMost: Math.min(policy.viewTokensMax, BUDGET_MOST),
    explore: policy.exploreCalls,
    skillChars: policy.exploreSkillChars,
    ...(request.kind === "explore" ? { skillShare: PROVISION.exploreShare } : {}),
    atomic: policy.atomicSkillsPerView,
    tools: toolLimit(world, request, []),
  };
}

/** Resting skills that would have fitted: told of with their reason, and what took over from their tools. */
function restingSkills(
  world: World,
  text: string,
  usable: (skill: Skill) => boolean,
  reach: Reach,
): { told: Found["leftOut"]; substitutions: Found["substitutions"] } {
  const resting = searchSkills(world.restingSkills, text, { limit: RESTING_TOLD });
  const standing = searchSkills(world.activeSkills, text, { limit: 1 });
  if (resting.topRaw < standing.topRaw * RESTING_SHARE) return { told: [], substitutions: [] };
  const told: Found["leftOut"] = [];
  const substitutions: Found["substitutions"] = [];
  const words = wordsOfNeed(text);
  for (const { skill, raw } of resting.hits) {
    if (raw < resting.topRaw * RESTING_SHARE || !usable(skill)) continue;
    const why = world.standings.get(skill.name);
    const because = firstOf(why);
    told.push({
      kind: "skill",
      id: skill.name,
      why: `rests (${why?.because ?? "missing"})${namesOthers(world, because, reach) ? "" : `: ${because}`}`,
    });
    for (const reason of why?.reasons ?? []) {
      const substitution =
        reason.rule === "T3" && isMeant(reason.on, words)
          ? substitutionFor(world, reason.on as ToolKey, `the skill ${skill.name} was written for it`)
          : undefined;
      if (substitution !== undefined) substitutions.push(substitution);
    }
  }
  return { told, substitutions };
}

/** The reason that is told first, and what a person can do about it. */
function firstOf(standing: Standing | undefined): string {
  const { text, way } = standing?.reasons[0] ?? { text: "its tools have not been listed yet" };
  return way === undefined ? text : `${text} (For a person: ${way}.)`;
}

/** Tools that would have been found were their upstream not parked or disabled. */
function notOffered(world: World, text: string, mayUse: (key: ToolKey) => boolean, limit: number): Found["leftOut"] {
  const silent = [...world.presence].filter(([, presence]) => !isOffered(presence)).map(([label]) => label);
  if (silent.length === 0) return [];
  const hits = searchTools(world.toolIndex, text, { limit, offered: mayUse }).hits;
  return hits.flatMap(({ key }) => {
    const { label } = splitToolKey(key);
    const presence = world.presence.get(label);
    if (isOffered(presence)) return [];
    const why = `its upstream ${label} is ${presence?.state ?? "gone"}${presence?.reason === undefined ? "" : ` (${presence.reason})`}`;
    return [{ kind: "tool" as const, id: key, why }];
  });
}
