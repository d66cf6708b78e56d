/**
 * Bulk rules: one change of words that a whole family of tools follows (`azmcp_x` → `x`, `x_filesystem_y` → `x_fs_y`).
 *
 * Owns: judging the rules that were voted for, and applying those that pass.
 * Speaks: Profiles in, Pairs out.
 * Never: changes that fewer tools follow than the gate asks (assign.ts scores them one by one).
 */
import type { Pair } from "./identity.js";
import type { Keeper } from "./gates.js";
import type { Corpus } from "./corpus.js";
import type { Profile } from "./profile.js";
import { conflicts, foreignWords, likeness, numberDiffers, sameRequired, wordLikeness } from "./score.js";
import { votes } from "./votes.js";
import type { Edge, Rule } from "./votes.js";
import type { Word } from "./words.js";

/** Rules by support, most first; each tool follows one rule at most. */
export function bulkPairs(
  olds: readonly Profile[],
  news: readonly Profile[],
  settled: readonly Pair[],
  corpus: Corpus,
  keeper: Keeper,
): Pair[] {
  if (olds.length === 0 || news.length === 0) return [];
  const certain = settled.filter((pair) => pair.certain);
  const enough = (count: number): boolean => keeper.reaches("bulk-support", count);
  const family = familyOf([...olds, ...settled.map((pair) => pair.old)]);
  const rules = votes(olds, news, certain, enough)
    .map((rule) => ({ rule, edges: standingEdges(rule, family, corpus, keeper) }))
    .filter(({ edges }) => edges.length > 0 && keeper.reaches("bulk-support", edges.length))
    .sort((a, b) => b.edges.length - a.edges.length || (named(a.rule) < named(b.rule) ? -1 : 1));
  const [takenOld, takenNew] = [new Set<Profile>(), new Set<Profile>()];
  const found: Pair[] = [];
  for (const { rule, edges } of rules) {
    const standing = edges.filter((edge) => !takenOld.has(edge.old) && !takenNew.has(edge.next));
    if (!keeper.reaches("bulk-support", standing.length)) continue;
    for (const edge of standing) {
      if (edge.settled) continue;
      takenOld.add(edge.old);
      takenNew.add(edge.next);
      found.push({
        old: edge.old,
        next: edge.next,
        score: 0.95,
        certain: true,
        evidence: [`${edges.length} tools follow the same change of name: ${named(rule)}`],
      });
    }
  }
  return found;
}

function named(rule: Rule): string {
  const side = (parts: readonly Word[]): string => (parts.length === 0 ? "nothing" : `\`${spell(parts)}\``);
  return `${side(rule.from)} ⇒ ${side(rule.to)}`;
}

function spell(parts: readonly Word[]): string {
  return parts.map((word) => word.text).join(" ");
}

/** Edges that pass, one to one; none where too few of the votes do. */
function standingEdges(rule: Rule, family: Family, corpus: Corpus, keeper: Keeper): Edge[] {
  const passing: Edge[] = [];
  let left = rule.edges.length;
  for (const edge of rule.edges) {
    // What is left could not make up for those that failed.
    if (!keeper.reaches("bulk-share", (passing.length + left) / rule.edges.length)) return [];
    left -= 1;
    if (edgePasses(rule, family, edge, corpus, keeper)) passing.push(edge);
  }
  if (!keeper.reaches("bulk-share", passing.length / rule.edges.length)) return [];
  const [olds, news] = [countBy(passing, (edge) => edge.old), countBy(passing, (edge) => edge.next)];
  return passing.filter((edge) => keeper.holds("bulk-bijective", olds.get(edge.old) === 1 && news.get(edge.next) === 1));
}

function countBy(edges: readonly Edge[], side: (edge: Edge) => Profile): Map<Profile, number> {
  const counts = new Map<Profile, number>();
  for (const edge of edges) counts.set(side(edge), (counts.get(side(edge)) ?? 0) + 1);
  return counts;
}

/** What costs little is asked first. */
function edgePasses(rule: Rule, family: Family, { old, next, settled }: Edge, corpus: Corpus, keeper: Keeper): boolean {
  if (settled) return true;
  if (!keeper.holds("bulk-conflict", !conflicts(old, next))) return false;
  if (!keeper.holds("bulk-living-word", !foreignWords(old, next, corpus).living)) return false;
  if (!keeper.holds("number-requires", !numberDiffers(old, next) || sameRequired(old, next))) return false;
  const alike = likeness(old, next, corpus);
  const equal = old.tool.digests.contract === next.tool.digests.contract;
  const text = alike.text ?? (equal ? 0.6 : 0);
  if (!keeper.holds("bulk-likeness", keeper.reaches("bulk-likeness", text) && (alike.coverage >= 0.5 || text >= 0.4)))
    return false;
  if (related(rule) && keeper.holds("bulk-family", family(rule))) return true;
  return keeper.holds("bulk-unrelated-words", keeper.reaches("bulk-unrelated-words", alike.coverage) && text >= 0.6);
}

type Family = (rule: Rule) => boolean;

/** Most tools that could follow the rule do: those whose names have the words that give way, or all where none does. */
function familyOf(olds: readonly Profile[]): Family {
  const byWord = new Map<string, string[]>();
  for (const old of olds) {
    for (const text of new Set(old.words.map((word) => word.text))) {
      const names = byWord.get(text);
      if (names === undefined) byWord.set(text, [spell(old.words)]);
      else names.push(spell(old.words));
    }
  }
  const counts = new Map<string, number>();
  const couldFollow = (from: readonly Word[]): number => {
    if (from.length === 0) return olds.length;
    const spelt = spell(from);
    const rarest = from
      .map((word) => byWord.get(word.text) ?? [])
      .reduce((few, names) => (names.length < few.length ? names : few));
    const count = counts.get(spelt) ?? rarest.filter((name) => ` ${name} `.includes(` ${spelt} `)).length;
    counts.set(spelt, count);
    return count;
  };
  const known = new Map<Rule, boolean>();
  return (rule) => {
    const is = known.get(rule) ?? new Set(rule.edges.map((edge) => edge.old)).size >= 0.6 * couldFollow(rule.from);
    known.set(rule, is);
    return is;
  };
}

/** A prefix or suffix that came or went, or words of which each has kin on the other side. */
function related(rule: Rule): boolean {
  if (rule.from.length === 0 || rule.to.length === 0) return !rule.inside;
  const [few, many] = rule.from.length <= rule.to.length ? [rule.from, rule.to] : [rule.to, rule.from];
  return few.every((word) => many.some((other) => wordLikeness(word, other) >= 0.75));
}
