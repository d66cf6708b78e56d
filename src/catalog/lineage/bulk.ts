/**
 * Bulk rules: one change of words that a whole family of tools follows (`azmcp_x` → `x`, `x_filesystem_y` → `x_fs_y`).
 *
 * Owns: voting for rules and applying those that pass.
 * Speaks: Profiles in, Pairs out.
 * Never: changes that fewer tools follow than the gate asks (assign.ts scores them one by one).
 */
import type { Pair } from "./identity.js";
import type { Keeper } from "./gates.js";
import type { Corpus, Profile } from "./profile.js";
import { foreignWords, likeness, numberDiffers, sameRequired, wordLikeness } from "./score.js";
import type { Word } from "./words.js";

interface Edge {
  readonly old: Profile;
  readonly next: Profile;
  /** Paired already by spelling: it votes and needs no test. */
  readonly settled: boolean;
}
interface Rule {
  readonly from: readonly Word[];
  readonly to: readonly Word[];
  /** Words stand before and behind the change: an insertion in the middle, not a prefix or suffix of the product. */
  readonly inside: boolean;
  readonly edges: Edge[];
}

/** Rules by support, most first; each tool follows one rule at most. */
export function bulkPairs(
  olds: readonly Profile[],
  news: readonly Profile[],
  settled: readonly Pair[],
  corpus: Corpus,
  keeper: Keeper,
): Pair[] {
  const rules = [...votes(olds, news, settled).values()]
    .filter((rule) => keeper.reaches("bulk-support", rule.edges.length))
    .map((rule) => ({
      rule,
      edges: standingEdges(rule, isFamily(rule, [...olds, ...settled.map((pair) => pair.old)]), corpus, keeper),
    }))
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

/** Every pair whose names share a beginning or an end votes for the change between, and every pair that spelling settled. */
function votes(olds: readonly Profile[], news: readonly Profile[], settled: readonly Pair[]): Map<string, Rule> {
  const ends = new Map<string, Set<Profile>>();
  const note = (end: string, next: Profile): void => {
    ends.set(end, (ends.get(end) ?? new Set()).add(next));
  };
  for (const next of news) {
    note(`^${next.words[0]?.text ?? ""}`, next);
    note(`$${next.words.at(-1)?.text ?? ""}`, next);
  }
  const rules = new Map<string, Rule>();
  const vote = (old: Profile, next: Profile, agreed: boolean): void => {
    const change = changeBetween(old.words, next.words);
    const key = `${spell(change.from)}\n${spell(change.to)}`;
    const rule = rules.get(key) ?? { ...change, edges: [] };
    rule.edges.push({ old, next, settled: agreed });
    rules.set(key, { ...rule, inside: rule.inside || change.inside });
  };
  for (const pair of settled) if (pair.certain) vote(pair.old, pair.next, true);
  for (const old of olds) {
    for (const end of [`^${old.words[0]?.text ?? ""}`, `$${old.words.at(-1)?.text ?? ""}`]) {
      for (const next of ends.get(end) ?? [])
        if (end.startsWith("^") || old.words[0]?.text !== next.words[0]?.text) vote(old, next, false);
    }
  }
  return rules;
}

export function changeBetween(a: readonly Word[], b: readonly Word[]): { from: Word[]; to: Word[]; inside: boolean } {
  const most = Math.min(a.length, b.length);
  let head = 0;
  while (head < most && a[head]?.text === b[head]?.text) head += 1;
  let tail = 0;
  while (tail < most - head && a[a.length - 1 - tail]?.text === b[b.length - 1 - tail]?.text) tail += 1;
  return { from: a.slice(head, a.length - tail), to: b.slice(head, b.length - tail), inside: head > 0 && tail > 0 };
}

/** Edges that pass, one to one; none where too few of the votes do. */
function standingEdges(rule: Rule, family: boolean, corpus: Corpus, keeper: Keeper): Edge[] {
  const passing = rule.edges.filter((edge) => edgePasses(rule, family, edge, corpus, keeper));
  if (!keeper.reaches("bulk-share", passing.length / rule.edges.length)) return [];
  const [olds, news] = [countBy(passing, (edge) => edge.old), countBy(passing, (edge) => edge.next)];
  return passing.filter((edge) => keeper.holds("bulk-bijective", olds.get(edge.old) === 1 && news.get(edge.next) === 1));
}

function countBy(edges: readonly Edge[], side: (edge: Edge) => Profile): Map<Profile, number> {
  const counts = new Map<Profile, number>();
  for (const edge of edges) counts.set(side(edge), (counts.get(side(edge)) ?? 0) + 1);
  return counts;
}

function edgePasses(rule: Rule, family: boolean, { old, next, settled }: Edge, corpus: Corpus, keeper: Keeper): boolean {
  if (settled) return true;
  const alike = likeness(old, next, corpus);
  if (!keeper.holds("bulk-conflict", !alike.conflict)) return false;
  const equal = old.tool.digests.contract === next.tool.digests.contract;
  const text = alike.text ?? (equal ? 0.6 : 0);
  if (!keeper.holds("bulk-likeness", keeper.reaches("bulk-likeness", text) && (alike.coverage >= 0.5 || text >= 0.4)))
    return false;
  if (!keeper.holds("number-requires", !numberDiffers(old, next) || sameRequired(old, next))) return false;
  if (!keeper.holds("bulk-living-word", !foreignWords(old, next, corpus).living)) return false;
  if (related(rule) && keeper.holds("bulk-family", family)) return true;
  return keeper.holds("bulk-unrelated-words", keeper.reaches("bulk-unrelated-words", alike.coverage) && text >= 0.6);
}

/** Most tools that could follow the rule do: those whose names have the words that give way, or all where none does. */
function isFamily(rule: Rule, olds: readonly Profile[]): boolean {
  const from = ` ${spell(rule.from)} `;
  const could = olds.filter((old) => rule.from.length === 0 || ` ${spell(old.words)} `.includes(from));
  const does = new Set(rule.edges.map((edge) => edge.old));
  return could.filter((old) => does.has(old)).length >= 0.6 * could.length;
}

/** A prefix or suffix that came or went, or words of which each has kin on the other side. */
function related(rule: Rule): boolean {
  if (rule.from.length === 0 || rule.to.length === 0) return !rule.inside;
  const [few, many] = rule.from.length <= rule.to.length ? [rule.from, rule.to] : [rule.to, rule.from];
  return few.every((word) => many.some((other) => wordLikeness(word, other) >= 0.75));
}
