/**
 * Likeness of two tools: name, text, parameters, and what speaks against.
 *
 * Owns: the figures that gates are held against.
 * Speaks: two Profiles of one Corpus.
 * Never: deciding (gates.ts, assign.ts).
 */
import type { Corpus } from "./corpus.js";
import type { Parameter, Profile, Weighed } from "./profile.js";
import { isStopWord, singular, verbKinship, verbsConflict } from "./words.js";
import type { Word } from "./words.js";

export interface Likeness {
  /** idf-weighted soft Dice of the names' words, 0…1. */
  readonly name: number;
  /** Cosine of the texts, 0…1, cut where a third tool has the same text; undefined where either tool has none. */
  readonly text: number | undefined;
  /** Share of the old tool's parameters that the new one has, required ones weighing more, 0…1. */
  readonly coverage: number;
  /** Share of the new tool's parameters that the old one has, 0…1. */
  readonly reverse: number;
  /** One reads and the other writes, or they write differently. */
  readonly conflict: boolean;
}

/** A required parameter says more about a tool than an optional one. */
const REQUIRED_WEIGHT = 1.6;
/** Parameters without a namesake are compared up to so many pairs. */
const MOST_KIN_PAIRS = 2_500;
/** What a text counts for at most that a third tool has as well. */
const BOILERPLATE = 0.6;
/** Words that differ only by an ending beyond stemming (`config`, `configuration`). */
const PREFIX_LIKENESS = 0.75;

export function likeness(old: Profile, next: Profile, corpus: Corpus): Likeness {
  const mapped = matchParameters(old.parameters, next.parameters);
  return {
    name: softDice(old.weighed, next.weighed),
    text: textLikeness(old, next, corpus),
    coverage: covered(old.parameters, (parameter) => mapped.get(parameter)?.likeness ?? 0),
    reverse: mapped.size === 0 ? Number(next.parameters.length === 0) : covered(next.parameters, reverseLikeness(mapped)),
    conflict: conflicts(old, next),
  };
}

function textLikeness(old: Profile, next: Profile, corpus: Corpus): number | undefined {
  const alike = cosine(old.text, next.text);
  return alike !== undefined && alike > BOILERPLATE && corpus.isShared(old, next) ? BOILERPLATE : alike;
}

/** .45 name + .30 text + .25 parameters; without texts their weight goes to name and parameters in proportion. */
export function blend(of: Likeness): number {
  const parameters = 0.7 * of.coverage + 0.3 * of.reverse;
  return of.text === undefined ? (0.45 * of.name + 0.25 * parameters) / 0.7 : 0.45 * of.name + 0.3 * of.text + 0.25 * parameters;
}

export function cosine(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number | undefined {
  if (a.size === 0 || b.size === 0) return undefined;
  const [few, many] = a.size <= b.size ? [a, b] : [b, a];
  let sum = 0;
  for (const [term, weight] of few) sum += weight * (many.get(term) ?? 0);
  return Math.min(1, sum);
}

/** Kinship of two name words, 0…1. */
export function wordLikeness(a: Word, b: Word): number {
  if (a.stem === b.stem) return 1;
  if (a.verb && b.verb) return verbKinship(a.text, b.text);
  const [short, long] = a.text.length <= b.text.length ? [a.text, b.text] : [b.text, a.text];
  return short.length >= 4 && long.startsWith(short) && short.length >= 0.4 * long.length ? PREFIX_LIKENESS : 0;
}

/** Soft Dice: each word is matched with its best free partner, best pairs first. */
export function softDice(a: readonly Weighed[], b: readonly Weighed[]): number {
  const pairs: { i: number; j: number; likeness: number }[] = [];
  for (let i = 0; i < a.length; i += 1) {
    for (let j = 0; j < b.length; j += 1) {
      const [left, right] = [a[i], b[j]];
      const alike = left === undefined || right === undefined ? 0 : wordLikeness(left.word, right.word);
      if (alike > 0) pairs.push({ i, j, likeness: alike });
    }
  }
  const total = sum(a) + sum(b);
  if (pairs.length === 0 || total === 0) return 0;
  if (pairs.length > 1) pairs.sort((p, q) => q.likeness - p.likeness || p.i - q.i || p.j - q.j);
  const [usedA, usedB] = [new Set<number>(), new Set<number>()];
  let shared = 0;
  for (const { i, j, likeness: alike } of pairs) {
    if (usedA.has(i) || usedB.has(j)) continue;
    usedA.add(i);
    usedB.add(j);
    shared += alike * ((a[i]?.weight ?? 0) + (b[j]?.weight ?? 0));
  }
  return shared / total;
}

function sum(of: readonly Weighed[]): number {
  return of.reduce((total, one) => total + one.weight, 0);
}

/**
 * Verbs decide where both names have one; else the annotations, where both tools carry one. A target whose name or text
 * speaks of the old verb too ("lock or unlock") does not exclude it, nor does a verb that was a noun in the old name.
 */
export function conflicts(old: Profile, next: Profile): boolean {
  const [was, is] = [old.verb, next.verb];
  if (was !== undefined && is !== undefined) {
    const shared = next.words.some((word) => word.text === was) || old.words.some((word) => word.text === is);
    return verbsConflict(was, is) && !shared && !next.spoken.has(was);
  }
  return old.readOnlyHint !== undefined && next.readOnlyHint !== undefined && old.readOnlyHint !== next.readOnlyHint;
}

export interface ParameterMatch {
  readonly to: Parameter;
  readonly likeness: number;
}

/**
 * Old parameters matched one to one with new ones: same words first, then kin words of the same type.
 * A different type costs a part; below half nothing is matched.
 */
export function matchParameters(old: readonly Parameter[], next: readonly Parameter[]): Map<Parameter, ParameterMatch> {
  const matched = new Map<Parameter, ParameterMatch>();
  if (old.length === 0 || next.length === 0) return matched;
  const free = new Set(next);
  const byName = new Map(next.map((parameter) => [parameter.joined, parameter]));
  for (const parameter of old) {
    const same = byName.get(parameter.joined);
    if (same === undefined || !free.has(same)) continue;
    matched.set(parameter, { to: same, likeness: sameType(parameter, same) ? 1 : 0.7 });
    free.delete(same);
  }
  const open = old.filter((parameter) => !matched.has(parameter));
  if (open.length * free.size > MOST_KIN_PAIRS) return matched;
  if (open.length === 0 || free.size === 0) return matched;
  const pairs: { from: Parameter; to: Parameter; likeness: number }[] = [];
  for (const from of open) {
    for (const to of free) {
      const alike = softDice(from.telling, to.telling) * (sameType(from, to) ? 1 : 0.7);
      if (alike >= 0.5) pairs.push({ from, to, likeness: alike });
    }
  }
  pairs.sort((a, b) => b.likeness - a.likeness);
  for (const { from, to, likeness: alike } of pairs) {
    if (matched.has(from) || !free.has(to)) continue;
    matched.set(from, { to, likeness: alike });
    free.delete(to);
  }
  return matched;
}

function telling(word: Word): boolean {
  return !isStopWord(word.text);
}

export function sameType(a: Parameter, b: Parameter): boolean {
  return a.type === b.type || a.type === "any" || b.type === "any";
}

function reverseLikeness(mapped: ReadonlyMap<Parameter, ParameterMatch>): (parameter: Parameter) => number {
  const back = new Map([...mapped.values()].map((match) => [match.to, match.likeness]));
  return (parameter) => back.get(parameter) ?? 0;
}

/** A tool without parameters has nothing to lose: covered. */
function covered(parameters: readonly Parameter[], alike: (parameter: Parameter) => number): number {
  let total = 0;
  let held = 0;
  for (const parameter of parameters) {
    const weight = parameter.required ? REQUIRED_WEIGHT : 1;
    total += weight;
    held += weight * alike(parameter);
  }
  return total === 0 ? 1 : held / total;
}

export interface ForeignWords {
  /** Nouns of the old name without a partner in the new one, and the reverse. */
  readonly dropped: readonly Word[];
  readonly brought: readonly Word[];
  /** A dropped noun still names other tools, or one that named others before came with nothing that gave way. */
  readonly living: boolean;
}

/**
 * Words that tell the two apart as different things, not as one thing under another name. A word that most tools of the
 * upstream carry is its prefix or suffix and tells nothing.
 */
export function foreignWords(old: Profile, next: Profile, corpus: Corpus): ForeignWords {
  const lone = (from: Profile, other: Profile): Word[] =>
    from.words.filter(
      (word) => !word.verb && telling(word) && !other.words.some((partner) => wordLikeness(word, partner) >= PREFIX_LIKENESS),
    );
  const [dropped, brought] = [lone(old, next), lone(next, old)];
  const livesOn = dropped.some((word) => !corpus.isAffix(word.stem) && corpus.namedAfter(word.stem) > 0);
  const came = brought.some((word) => !corpus.isAffix(word.stem) && corpus.namedBefore(word.stem) > 0);
  return { dropped, brought, living: livesOn || (dropped.length === 0 && came) };
}

/** The names differ in a plural: `get_tags` and `get_tag`. */
export function numberDiffers(old: Profile, next: Profile): boolean {
  return old.words.some(
    (word) =>
      !next.words.some((other) => other.text === word.text) &&
      next.words.some((other) => other.text !== word.text && singular(other.text) === singular(word.text)),
  );
}

/** The names have the same words and more than one of them changed its place: `pull_for_branch` is not `branch_for_pull`. */
export function thingsSwapped(old: Profile, next: Profile): boolean {
  const [was, is] = [old.words.map((word) => word.text), next.words.map((word) => word.text)];
  if ([...was].sort().join(" ") !== [...is].sort().join(" ")) return false;
  const without = (of: readonly string[], word: string): string => of.filter((other) => other !== word).join(" ");
  return !was.some((word) => without(was, word) === without(is, word));
}

/** Both ask for the same parameters, by name and type. */
export function sameRequired(old: Profile, next: Profile): boolean {
  const asked = (of: Profile): string =>
    of.parameters
      .filter((parameter) => parameter.required)
      .map((parameter) => `${parameter.joined} ${parameter.type}`)
      .sort()
      .join("\n");
  return asked(old) === asked(next);
}

/** The new tool requires nothing that the old one did not take. */
export function asksNoMore(old: Profile, next: Profile): boolean {
  const taken = matchParameters(next.parameters, old.parameters);
  return next.parameters.every((parameter) => !parameter.required || taken.has(parameter));
}

/**
 * True where the new tool asks no more and answers everything that the old one answered: whoever has it never needed the old
 * one. Needs output schemas on both sides.
 */
export function answersAll(old: Profile, next: Profile): boolean {
  if (old.outputs.size === 0 || next.outputs.size === 0) return false;
  return asksNoMore(old, next) && [...old.outputs].every((field) => next.outputs.has(field));
}
