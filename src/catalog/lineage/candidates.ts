/**
 * Candidates: which tools may have taken over, and what speaks for each.
 *
 * Owns: targets among added, kept and just renamed tools; the standing of a target; scores.
 * Speaks: Profiles and Likeness.
 * Never: choosing (assign.ts).
 */
import type { JsonValue } from "../../model/json.js";
import type { Keeper } from "./gates.js";
import type { Corpus, Profile } from "./profile.js";
import { answersAll, blend, likeness } from "./score.js";
import type { Likeness } from "./score.js";
import { discriminatorsOf } from "./discriminator.js";
import type { Discriminator } from "./discriminator.js";

/**
 * A tool that may have taken over. `added`: it is new in this version. `kept`: it was there before.
 * `renamed`: it is what a certain rename of this version made of a tool that was there before.
 */
export interface Target {
  readonly profile: Profile;
  readonly before: Profile | undefined;
  readonly origin: "added" | "kept" | "renamed";
  /** The contract or the text moved in this version (always true for added). */
  readonly moved: boolean;
  readonly discriminators: readonly Discriminator[];
  /** Old tools that this one was seen to supersede when it appeared. */
  readonly announced: ReadonlySet<string>;
}

export interface Candidate {
  readonly old: Profile;
  readonly target: Target;
  readonly likeness: Likeness;
  /** Share of the old tool's words that the target gained in this version; 0 for added ones. */
  readonly gain: number;
  readonly score: number;
  readonly method?: MethodFit | undefined;
}

/** An old tool seen as one mode of a target. */
export interface MethodFit {
  readonly fixed: Readonly<Record<string, JsonValue>>;
  /** The value as one string, for the one-to-one assignment and for people. */
  readonly label: string;
  /** Every word of the old name stands in the target's name or the value, and the reverse. */
  readonly exact: boolean;
  /** 0…1 */
  readonly fit: number;
  /** The value was not there in the version before (true for added targets). */
  readonly fresh: boolean;
}

export function targetOf(
  profile: Profile,
  before: Profile | undefined,
  origin: Target["origin"],
  announced: ReadonlySet<string>,
): Target {
  const moved =
    before === undefined ||
    before.tool.digests.contract !== profile.tool.digests.contract ||
    before.tool.digests.text !== profile.tool.digests.text;
  return { profile, before, origin, moved, announced, discriminators: discriminatorsOf(profile) };
}

/** True where the target arrived with the old tool still there, and was seen then as its successor. */
export function isAnnounced(old: Profile, target: Target): boolean {
  return target.announced.has(old.tool.key);
}

export function candidateOf(old: Profile, target: Target, corpus: Corpus, keeper: Keeper): Candidate {
  const alike = likeness(old, target.profile, corpus);
  const gain = gainOf(old, target, corpus);
  let score = blend(alike);
  if (alike.conflict) score *= keeper.factor("conflict");
  return { old, target, likeness: alike, gain, score: score * standing(old, target, gain, keeper) };
}

/**
 * Added and announced targets count in full, and those that answered all the old tool did; others are mostly siblings, unless
 * they gained what the old tool had.
 */
export function standing(old: Profile, target: Target, gain: number, keeper: Keeper): number {
  if (target.origin === "added" || isAnnounced(old, target) || answersAll(old, target.profile)) return 1;
  const factor = target.moved ? keeper.factor("kept-changed") : keeper.factor("kept-unchanged");
  return factor + (1 - factor) * gain;
}

/** Share, by weight, of the old tool's own words that the target did not know before this version and knows now. */
export function gainOf(old: Profile, target: Target, corpus: Corpus): number {
  if (target.before === undefined || !target.moved) return 0;
  const [knew, knows] = [target.before.vocabulary, target.profile.vocabulary];
  let missing = 0;
  let gained = 0;
  for (const word of ownWords(old)) {
    if (knew.has(word)) continue;
    const weight = corpus.nameWeight(word);
    missing += weight;
    if (knows.has(word)) gained += weight;
  }
  return missing === 0 ? 0 : gained / missing;
}

/** The words by which the old tool is told from others: of its name, and its parameters. */
function ownWords(old: Profile): Set<string> {
  return new Set([
    ...old.words.filter((word) => !word.verb).map((word) => word.stem),
    ...old.parameters.map((parameter) => parameter.joined),
  ]);
}

/**
 * All pairs worth a full comparison: they share a name word or their texts touch. Sparse dot products keep
 * a whole catalog against a whole catalog cheap; pairs under the floor could reach no gate.
 */
export function candidatesOf(
  olds: readonly Profile[],
  targets: readonly Target[],
  corpus: Corpus,
  keeper: Keeper,
): Map<Profile, Candidate[]> {
  const byTerm = new Map<string, { at: number; weight: number }[]>();
  targets.forEach((target, at) => {
    for (const [term, weight] of target.profile.text) post(byTerm, `t ${term}`, at, weight);
    for (const word of stemsOf(target.profile)) post(byTerm, `n ${word}`, at, corpus.nameWeight(word) / NAME_SCALE);
  });
  const found = new Map<Profile, Candidate[]>();
  for (const old of olds) {
    const touch = new Float64Array(targets.length);
    for (const [term, weight] of old.text)
      for (const { at, weight: other } of byTerm.get(`t ${term}`) ?? []) add(touch, at, weight * other);
    for (const word of stemsOf(old)) for (const { at, weight } of byTerm.get(`n ${word}`) ?? []) add(touch, at, weight);
    const worth = [...touch.keys()]
      .filter((at) => (touch[at] ?? 0) >= TOUCH_FLOOR)
      .sort((a, b) => (touch[b] ?? 0) - (touch[a] ?? 0));
    const own: Candidate[] = [];
    for (const at of worth.slice(0, MOST_COMPARED)) {
      const target = targets[at];
      if (target !== undefined && target.profile.tool.key !== old.tool.key) own.push(candidateOf(old, target, corpus, keeper));
    }
    found.set(old, own.sort(byScore));
  }
  return found;
}

/** A pair whose texts agree by less, and whose names share no telling word, is not compared. */
const TOUCH_FLOOR = 0.15;
const NAME_SCALE = 10;
/** Targets compared in full per old tool. */
const MOST_COMPARED = 16;

function stemsOf(profile: Profile): Set<string> {
  return new Set(profile.words.map((word) => word.stem));
}

function post(into: Map<string, { at: number; weight: number }[]>, term: string, at: number, weight: number): void {
  const postings = into.get(term);
  if (postings === undefined) into.set(term, [{ at, weight }]);
  else postings.push({ at, weight });
}

function add(to: Float64Array, at: number, weight: number): void {
  to[at] = (to[at] ?? 0) + weight;
}

/** Best first; equal scores in the order of keys, so that the answer does not depend on the listing's order. */
export function byScore(a: Candidate, b: Candidate): number {
  return b.score - a.score || (a.target.profile.tool.key < b.target.profile.tool.key ? -1 : 1);
}
