/**
 * Splits: one old tool whose acts became tools of their own; a merge with roles swapped.
 *
 * Owns: finding the parts of a split among added tools.
 * Speaks: Profiles in, Splits out.
 * Never: one-to-one links (assign.ts).
 */
import { candidateOf, targetOf } from "./candidates.js";
import type { Keeper } from "./gates.js";
import { assignModes } from "./method.js";
import type { Corpus, Profile } from "./profile.js";
import { terms } from "./profile.js";
import { discriminatorsOf } from "./discriminator.js";
import { isUmbrella, isVerb, sameAct, stem, verbRole } from "./words.js";

export interface Split {
  readonly old: Profile;
  readonly parts: readonly Profile[];
  readonly level: "certain" | "proposed";
  readonly score: number;
  readonly evidence: readonly string[];
}

/** Splits that the old tools' own mode arguments name. */
export function splitsByModes(olds: readonly Profile[], news: readonly Profile[], corpus: Corpus, keeper: Keeper): Split[] {
  return claim(olds, news, (old, free) => byModes(old, free, corpus, keeper));
}

/** Splits that names and texts suggest; never certain. */
export function splitsByWords(olds: readonly Profile[], news: readonly Profile[], corpus: Corpus, keeper: Keeper): Split[] {
  return claim(olds, news, (old, free) => byWords(old, free, olds, corpus, keeper));
}

/** Each new tool is part of one split at most. */
function claim(
  olds: readonly Profile[],
  news: readonly Profile[],
  find: (old: Profile, free: readonly Profile[]) => Split | undefined,
): Split[] {
  const taken = new Set<Profile>();
  return olds.flatMap((old) => {
    const split = find(
      old,
      news.filter((next) => !taken.has(next)),
    );
    if (split === undefined) return [];
    split.parts.forEach((part) => taken.add(part));
    return [split];
  });
}

/** The old tool's mode argument names what each part does. */
function byModes(old: Profile, news: readonly Profile[], corpus: Corpus, keeper: Keeper): Split | undefined {
  const whole = targetOf(old, undefined, "added", new Set());
  const exact = assignModes(news, whole, corpus, keeper).filter((one) => one.fit.exact);
  if (exact.length === 0 || !keeper.reaches("split-parts", exact.length)) return undefined;
  return {
    old,
    parts: exact.map((one) => one.old),
    level: "certain",
    score: 0.95,
    evidence: [
      `${exact.length} tools are what its modes were`,
      ...exact.map((one) => `\`${one.fit.label}\` is \`${one.old.tool.key}\` now`),
    ],
  };
}

/** No mode argument: the parts share the old tool's nouns, and its text or verb announces what sets them apart. */
function byWords(
  old: Profile,
  news: readonly Profile[],
  olds: readonly Profile[],
  corpus: Corpus,
  keeper: Keeper,
): Split | undefined {
  const parts = news
    .map((next) => ({ next, score: scoreOf(old, next, corpus, keeper) }))
    .filter(({ next, score }) => keeper.reaches("split-likeness", score) && announces(old, next))
    .filter(({ next, score }) => keeper.holds("split-own-best", olds.every((other) => other === old || scoreOf(other, next, corpus, keeper) < score)))
    .sort((a, b) => b.score - a.score || (a.next.tool.key < b.next.tool.key ? -1 : 1));
  const [first] = parts;
  if (first === undefined || !keeper.reaches("split-parts", parts.length)) return undefined;
  return {
    old,
    parts: parts.map((part) => part.next),
    level: "proposed",
    score: first.score,
    evidence: [
      `${parts.length} added tools share its words and its text announces each`,
      ...parts.map((part) => `\`${part.next.tool.key}\` at ${part.score.toFixed(2)}`),
    ],
  };
}

function scoreOf(old: Profile, next: Profile, corpus: Corpus, keeper: Keeper): number {
  return candidateOf(old, targetOf(next, undefined, "added", new Set()), corpus, keeper).score;
}

function announces(old: Profile, part: Profile): boolean {
  const known = new Set([
    ...old.stems,
    ...old.text.keys(),
    ...old.parameters.flatMap((parameter) => [...parameter.stems, ...terms(parameter.description)]),
    ...discriminatorsOf(old).flatMap((one) => one.values.flatMap((value) => value.stems)),
  ]);
  return part.words.every((word) => known.has(stem(word)) || (isVerb(word) && covers(old, word)));
}

/** The old tool's verb is an umbrella over the part's, or the same act, or both read. */
function covers(old: Profile, verb: string): boolean {
  if (old.verb === undefined) return false;
  if (isUmbrella(old.verb)) return verbRole(old.verb) === "either" || verbRole(old.verb) === verbRole(verb);
  return sameAct(old.verb, verb) || (verbRole(old.verb) === "read" && verbRole(verb) === "read");
}
