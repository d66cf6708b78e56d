import type { Candidate, Target } from "../../src/catalog/lineage/candidates.js";
import { byScore, candidateOf } from "../../src/catalog/lineage/candidates.js";
import type { Corpus } from "../../src/catalog/lineage/corpus.js";
import { textVector } from "../../src/catalog/lineage/corpus.js";
import type { Keeper } from "../../src/catalog/lineage/gates.js";
import { modesOf } from "../../src/catalog/lineage/method.js";
import type { Profile } from "../../src/catalog/lineage/profile.js";
import { cosine, softDice } from "../../src/catalog/lineage/score.js";
import type { Edge } from "../../src/catalog/lineage/votes.js";
import { changeBetween } from "../../src/catalog/lineage/votes.js";
import { isStopWord, isUmbrella, sameAct, terms, verbRole } from "../../src/catalog/lineage/words.js";
import type { Word } from "../../src/catalog/lineage/words.js";

/**
 * The search for successors in its plain form: everything is laid beside everything. What the search takes short ways for is held
 * against it.
 */

export function plainWords(name: string): string[] {
  return name
    .normalize("NFKC")
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

export interface Pairing {
  readonly old: Profile;
  readonly next: Profile;
}

/** Every change of words with all the pairs that follow it, by its spelling. */
export function plainVotes(
  olds: readonly Profile[],
  news: readonly Profile[],
  settled: readonly Pairing[],
): Map<string, { inside: boolean; edges: Edge[] }> {
  const rules = new Map<string, { inside: boolean; edges: Edge[] }>();
  const vote = (old: Profile, next: Profile, isSettled: boolean): void => {
    const change = changeBetween(old.words, next.words);
    const key = `${spell(change.from)} > ${spell(change.to)}`;
    const rule = rules.get(key) ?? { inside: false, edges: [] };
    rule.inside ||= change.inside;
    rule.edges.push({ old, next, settled: isSettled });
    rules.set(key, rule);
  };
  for (const { old, next } of settled) vote(old, next, true);
  for (const old of olds) {
    const sharesFirst = (next: Profile): boolean => old.words[0]?.text === next.words[0]?.text;
    for (const next of news) if (sharesFirst(next)) vote(old, next, false);
    for (const next of news) {
      if (!sharesFirst(next) && old.words.at(-1)?.text === next.words.at(-1)?.text) vote(old, next, false);
    }
  }
  return rules;
}

export function spell(words: readonly Word[]): string {
  return words.map((word) => word.text).join(" ");
}

/** Every target is touched by every old tool; the sixteen touched most are compared. */
export function plainCandidates(
  olds: readonly Profile[],
  targets: readonly Target[],
  corpus: Corpus,
  keeper: Keeper,
): Map<Profile, Candidate[]> {
  const touch = (old: Profile, { profile }: Target): number => {
    let sum = 0;
    for (const [term, weight] of old.text) sum += weight * (profile.text.get(term) ?? 0);
    const theirs = new Set(profile.words.map((word) => word.stem));
    for (const stem of new Set(old.words.map((word) => word.stem))) sum += theirs.has(stem) ? corpus.nameWeight(stem) / 10 : 0;
    return sum;
  };
  return new Map(
    olds.map((old) => {
      const worth = targets.map((target) => ({ target, touch: touch(old, target) })).filter((one) => one.touch >= 0.15);
      const compared = worth.sort((a, b) => b.touch - a.touch).slice(0, 16);
      const others = compared.filter(({ target }) => target.profile.tool.key !== old.tool.key);
      return [old, others.map(({ target }) => candidateOf(old, target, corpus, keeper)).sort(byScore)];
    }),
  );
}

interface Fit {
  readonly old: Profile;
  readonly label: string;
  readonly exact: boolean;
  readonly fit: number;
}

/** Every old tool in every mode of a target, the best first, each tool and each value taken once. */
export function plainModes(olds: readonly Profile[], target: Target, corpus: Corpus): Fit[] {
  const modes = modesOf(target, corpus);
  const stems = new Set([...target.profile.words, ...modes.flatMap((mode) => mode.words)].map((word) => word.stem));
  const fits: (Fit & { literal: number })[] = [];
  for (const mode of modes) {
    const brings = mode.strong || mode.words.some((word) => word.verb);
    const own = target.profile.words.filter((word) => !isUmbrella(word.text) && !(brings && word.text === target.profile.verb));
    const spoken = once([...own, ...mode.words]);
    for (const old of olds) {
      const isNear = old.nouns.length === 0 || old.nouns.some((noun) => stems.has(noun));
      if (!isNear || old.tool.key === target.profile.tool.key) continue;
      const weighed = (words: readonly Word[]) => words.map((word) => ({ word, weight: corpus.weightOf(word) }));
      const dice = softDice(weighed(once(old.words)), weighed(spoken));
      const exact = isExact(old, spoken, corpus);
      if (!exact && (dice < 0.7 || !mode.strong || !verbsMeet(old, mode.words))) continue;
      const told = cosine(old.text, textVector(terms(mode.says()), corpus));
      const near = told === undefined ? dice : 0.7 * dice + 0.3 * told;
      const literal = mode.words.filter((word) => old.words.some((other) => other.text === word.text)).length;
      fits.push({ old, label: mode.label, exact, fit: exact ? 1 : Math.min(0.99, near), literal });
    }
  }
  const name = (one: Fit): string => one.label + one.old.tool.key;
  const order = (a: (typeof fits)[number], b: (typeof fits)[number]): number =>
    Number(b.exact) - Number(a.exact) || b.literal - a.literal || b.fit - a.fit || (name(a) < name(b) ? -1 : 1);
  const taken = new Set<unknown>();
  return fits.sort(order).flatMap(({ literal: _literal, ...fit }) => {
    if (taken.has(fit.old) || taken.has(fit.label)) return [];
    taken.add(fit.old).add(fit.label);
    return [fit];
  });
}

function once(words: readonly Word[]): Word[] {
  return [...new Map(words.map((word) => [word.text, word])).values()];
}

function isExact(old: Profile, spoken: readonly Word[], corpus: Corpus): boolean {
  const by = old.words.findIndex((word) => word.text === "by");
  const mine = by > 0 ? old.words.slice(0, by) : old.words;
  const same = (a: Word, b: Word): boolean => a.stem === b.stem || (a.verb && b.verb && sameAct(a.text, b.text));
  const over = (from: readonly Word[], other: readonly Word[]): Word[] =>
    from.filter((word) => !isStopWord(word.text) && !other.some((partner) => same(word, partner)));
  return over(mine, spoken).length === 0 && over(spoken, mine).every((word) => corpus.nameWeight(word.stem) <= 0.5);
}

function verbsMeet(old: Profile, mode: readonly Word[]): boolean {
  const [own, verbs] = [old.verb, mode.filter((word) => word.verb)];
  if (own === undefined || verbs.length === 0) return true;
  return verbs.some((verb) => sameAct(verb.text, own) || (verbRole(verb.text) === "read" && verbRole(own) === "read"));
}
