/**
 * Candidates: which tools may have taken over, and what speaks for each.
 *
 * Owns: targets among added, kept and just renamed tools; the standing of a target; scores.
 * Speaks: Profiles and Likeness.
 * Never: choosing (assign.ts).
 */
import type { JsonValue } from "../../model/json.js";
import type { Keeper } from "./gates.js";
import type { Corpus } from "./corpus.js";
import type { Profile } from "./profile.js";
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
  let discriminators: readonly Discriminator[] | undefined;
  return {
    profile,
    before,
    origin,
    moved,
    announced,
    get discriminators() {
      return (discriminators ??= discriminatorsOf(profile));
    },
  };
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
  const found = new Map<Profile, Candidate[]>();
  if (olds.length === 0 || targets.length === 0) return new Map(olds.map((old) => [old, []]));
  const postings = postingsOf(olds, targets, corpus);
  const touch = new Float64Array(targets.length);
  for (const old of olds) {
    touch.fill(0);
    const { terms, weights } = old.vector;
    for (let n = 0; n < terms.length; n += 1) addAll(touch, postings.texts.get(terms[n] ?? ""), weights[n] ?? 0);
    for (const word of stemsOf(old)) addAll(touch, postings.names.get(word), 1);
    const own: Candidate[] = [];
    for (const at of mostTouched(touch)) {
      const target = targets[at];
      if (target !== undefined && target.profile.tool.key !== old.tool.key) own.push(candidateOf(old, target, corpus, keeper));
    }
    found.set(old, own.sort(byScore));
  }
  return found;
}

/** Where a term stands: places in the list of targets, with its weights there. */
interface Posting {
  readonly ats: number[];
  readonly weights: number[];
}

/** Terms that none of the old tools has are left out. */
function postingsOf(
  olds: readonly Profile[],
  targets: readonly Target[],
  corpus: Corpus,
): { texts: Map<string, Posting>; names: Map<string, Posting> } {
  const none = (): Posting => ({ ats: [], weights: [] });
  const texts = new Map<string, Posting>();
  const names = new Map<string, Posting>();
  for (const old of olds) {
    for (const term of old.vector.terms) if (!texts.has(term)) texts.set(term, none());
    for (const { stem } of old.words) if (!names.has(stem)) names.set(stem, none());
  }
  targets.forEach(({ profile }, at) => {
    const { terms, weights } = profile.vector;
    for (let n = 0; n < terms.length; n += 1) post(texts.get(terms[n] ?? ""), at, weights[n] ?? 0);
    for (const word of stemsOf(profile)) post(names.get(word), at, corpus.nameWeight(word) / NAME_SCALE);
  });
  return { texts, names };
}

function post(into: Posting | undefined, at: number, weight: number): void {
  into?.ats.push(at);
  into?.weights.push(weight);
}

function addAll(touch: Float64Array, posting: Posting | undefined, weight: number): void {
  if (posting === undefined) return;
  const { ats, weights } = posting;
  for (let n = 0; n < ats.length; n += 1) {
    const at = ats[n] ?? 0;
    touch[at] = (touch[at] ?? 0) + weight * (weights[n] ?? 0);
  }
}

/** The places touched most, at most `MOST_COMPARED`, best first; of equal ones the earlier. */
function mostTouched(touch: Float64Array): number[] {
  const best: number[] = [];
  let least = TOUCH_FLOOR;
  for (let at = 0; at < touch.length; at += 1) {
    const here = touch[at] ?? 0;
    if (!(here >= least) || (best.length === MOST_COMPARED && here === least)) continue;
    let place = best.length;
    while (place > 0 && (touch[best[place - 1] ?? 0] ?? 0) < here) place -= 1;
    best.splice(place, 0, at);
    if (best.length > MOST_COMPARED) best.pop();
    if (best.length === MOST_COMPARED) least = touch[best.at(-1) ?? 0] ?? least;
  }
  return best;
}

/** A pair whose texts agree by less, and whose names share no telling word, is not compared. */
const TOUCH_FLOOR = 0.15;
const NAME_SCALE = 10;
/** Targets compared in full per old tool. */
const MOST_COMPARED = 16;

function stemsOf(profile: Profile): Set<string> {
  return new Set(profile.words.map((word) => word.stem));
}

/** Best first; equal scores in the order of keys, so that the answer does not depend on the listing's order. */
export function byScore(a: Candidate, b: Candidate): number {
  return b.score - a.score || (a.target.profile.tool.key < b.target.profile.tool.key ? -1 : 1);
}
