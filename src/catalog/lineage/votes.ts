/**
 * Votes: the changes of words that enough pairs of names follow, each with its pairs.
 *
 * Owns: finding them without laying every old name beside every new one.
 * Speaks: Profiles in, Rules out.
 * Never: whether a rule holds (bulk.ts).
 *
 * Two names that share their first or their last word vote for the change between what they share at both ends. Where a whole catalog
 * carries one prefix that is every pair, and nearly all of them are alone with their change. So names are joined by their shared ends
 * (contexts), and only what stands in a context often enough to gather the votes that a rule needs is laid beside anything.
 */
import type { Profile } from "./profile.js";
import type { Word } from "./words.js";

export interface Edge {
  readonly old: Profile;
  readonly next: Profile;
  /** Paired already by spelling: it votes and needs no test. */
  readonly settled: boolean;
}
export interface Rule {
  readonly from: readonly Word[];
  readonly to: readonly Word[];
  /** Words stand before and behind the change: an insertion in the middle, not a prefix or suffix of the product. */
  readonly inside: boolean;
  /** Those that spelling settled first, then in the order of the listings. */
  readonly edges: readonly Edge[];
}

/** Rules for which `enough` pairs vote; those that spelling settled vote whatever they share. */
export function votes(
  olds: readonly Profile[],
  news: readonly Profile[],
  settled: readonly { readonly old: Profile; readonly next: Profile }[],
  enough: (count: number) => boolean,
): Rule[] {
  const spelling = new Spelling();
  const agreed = agreedOn(settled, spelling);
  const contexts = contextsOf(namesOf(olds, spelling), namesOf(news, spelling));
  const most = mostVotes(contexts, agreed.values());
  const rules: Rule[] = [];
  for (const places of standings(contexts, most, enough)) {
    for (const [to, found] of gathered(places)) {
      const key = pairOf(places[0]?.place.change ?? 0, to);
      const known = agreed.get(key);
      agreed.delete(key);
      found.edges.sort(inListedOrder);
      const edges = [...(known?.edges ?? []), ...found.edges.map(({ old, next }) => edgeOf(old, next))];
      if (enough(edges.length)) rules.push({ ...found, inside: found.inside || known?.inside === true, edges });
    }
  }
  for (const { from, to, inside, edges } of agreed.values()) if (enough(edges.length)) rules.push({ from, to, inside, edges });
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

/** One number for each word and each row of words. */
class Spelling {
  readonly #words = new Map<string, number>();
  readonly #rows = new Map<number, number>();

  words(of: readonly Word[]): number[] {
    return of.map(({ text }) => numberIn(this.#words, text));
  }

  /** The row that goes on with one more word; 0 is the empty one. */
  onward(row: number, word: number): number {
    return numberIn(this.#rows, pairOf(row, word));
  }

  row(words: readonly number[]): number {
    return words.reduce((row, word) => this.onward(row, word), 0);
  }
}

function numberIn<Key>(known: Map<Key, number>, key: Key): number {
  const found = known.get(key) ?? known.size + 1;
  known.set(key, found);
  return found;
}

/** Two numbers below 2^26 as one. */
function pairOf(a: number, b: number): number {
  return a * 0x400_0000 + b;
}

/** The changes that settled pairs follow. */
function agreedOn(
  settled: readonly { readonly old: Profile; readonly next: Profile }[],
  spelling: Spelling,
): Map<number, Agreed> {
  const agreed = new Map<number, Agreed>();
  for (const { old, next } of settled) {
    const change = changeBetween(old.words, next.words);
    const [fromRow, toRow] = [change.from, change.to].map((side) => spelling.row(spelling.words(side))) as [number, number];
    const key = pairOf(fromRow, toRow);
    const known = agreed.get(key);
    if (known === undefined) agreed.set(key, { ...change, fromRow, toRow, edges: [{ old, next, settled: true }] });
    else known.edges.push({ old, next, settled: true });
    if (known !== undefined) known.inside ||= change.inside;
  }
  return agreed;
}

interface Agreed {
  readonly from: readonly Word[];
  readonly to: readonly Word[];
  readonly fromRow: number;
  readonly toRow: number;
  inside: boolean;
  readonly edges: Edge[];
}

/** A name in numbers, with its place in the listing. */
interface Name {
  readonly at: number;
  readonly profile: Profile;
  readonly words: readonly number[];
  /** `rows[i][n]`: the row of `n` words from the word `i` on. */
  readonly rows: readonly (readonly number[])[];
  /** How many names of its side are the same words. */
  readonly alike: number;
}

function namesOf(profiles: readonly Profile[], spelling: Spelling): Name[] {
  const counts = new Map<number, number>();
  const read = profiles.map((profile, at) => {
    const words = spelling.words(profile.words);
    const rows = [...words.keys(), words.length].map((from) => {
      const own = [0];
      for (const word of words.slice(from)) own.push(spelling.onward(own.at(-1) ?? 0, word));
      return own;
    });
    const whole = rows[0]?.at(-1) ?? 0;
    counts.set(whole, (counts.get(whole) ?? 0) + 1);
    return { at, profile, words, rows, whole };
  });
  return read.map(({ whole, ...name }) => ({ ...name, alike: counts.get(whole) ?? 1 }));
}

/** A name seen as what it shares with others at both ends, and what stands between. */
interface Place {
  readonly name: Name;
  /** Words before and behind the change. */
  readonly head: number;
  readonly tail: number;
  /** Row of the words between. */
  readonly change: number;
}

/** Names that begin and end with the same words. */
interface Context {
  readonly olds: Place[];
  readonly news: Place[];
}

/** Contexts that have names of both sides. */
function contextsOf(olds: readonly Name[], news: readonly Name[]): Context[] {
  const contexts = new Map<number, Context>();
  const [heads, tails] = [new Set<number>(), new Set<number>()];
  for (const { rows, words } of news) {
    for (let length = 0; length <= words.length; length += 1) {
      heads.add(rowOf(rows, 0, length));
      tails.add(rowOf(rows, words.length - length, length));
    }
  }
  for (const name of olds) {
    for (const [key, place] of placesOf(name, heads, tails)) {
      const context = contexts.get(key);
      if (context === undefined) contexts.set(key, { olds: [place], news: [] });
      else context.olds.push(place);
    }
  }
  for (const name of news) for (const [key, place] of placesOf(name, heads, tails)) contexts.get(key)?.news.push(place);
  return [...contexts.values()].filter((context) => context.news.length > 0);
}

function rowOf(rows: Name["rows"], from: number, length: number): number {
  return rows[from]?.[length] ?? 0;
}

/** All ways to see a name, but as wholly different from others: only names without a word share nothing and are yet the same. */
function* placesOf(name: Name, heads: ReadonlySet<number>, tails: ReadonlySet<number>): Iterable<[number, Place]> {
  const { rows, words } = name;
  for (let head = 0; head <= words.length; head += 1) {
    const before = rowOf(rows, 0, head);
    if (!heads.has(before)) break;
    for (let tail = 0; head + tail <= words.length; tail += 1) {
      const behind = rowOf(rows, words.length - tail, tail);
      if (!tails.has(behind)) break;
      if (head + tail === 0 && words.length > 0) continue;
      yield [pairOf(before, behind), { name, head, tail, change: rowOf(rows, head, words.length - head - tail) }];
    }
  }
}

/** Row → the most votes that a change from it, or to it, can have. */
interface MostVotes {
  readonly from: ReadonlyMap<number, number>;
  readonly to: ReadonlyMap<number, number>;
}

/** In a context a change leads from one row of words to one other: it has as many votes as there are names of the same words. */
function mostVotes(contexts: readonly Context[], agreed: Iterable<Agreed>): MostVotes {
  const [from, to] = [new Map<number, number>(), new Map<number, number>()];
  const add = (into: Map<number, number>, row: number, votes: number): void => void into.set(row, (into.get(row) ?? 0) + votes);
  for (const { fromRow, toRow, edges } of agreed) {
    add(from, fromRow, edges.length);
    add(to, toRow, edges.length);
  }
  for (const { olds, news } of contexts) {
    const [mostOlds, mostNews] = [olds, news].map((side) => side.reduce((most, { name }) => Math.max(most, name.alike), 0));
    for (const { change } of olds) add(from, change, mostNews ?? 0);
    for (const { change } of news) add(to, change, mostOlds ?? 0);
  }
  return { from, to };
}

/** An old name in a context, and the new ones there. */
interface Standing {
  readonly place: Place;
  readonly nexts: readonly Place[];
}

/** By what gives way: the places from which a change may gather enough votes, with those to which it may. */
function standings(contexts: readonly Context[], most: MostVotes, enough: (count: number) => boolean): Iterable<Standing[]> {
  const byChange = new Map<number, Standing[]>();
  for (const { olds, news } of contexts) {
    const nexts = news.filter(({ change }) => enough(most.to.get(change) ?? 0));
    if (nexts.length === 0) continue;
    for (const place of olds) {
      if (!enough(most.from.get(place.change) ?? 0)) continue;
      const same = byChange.get(place.change);
      if (same === undefined) byChange.set(place.change, [{ place, nexts }]);
      else same.push({ place, nexts });
    }
  }
  return byChange.values();
}

interface Gathered {
  readonly from: readonly Word[];
  readonly to: readonly Word[];
  inside: boolean;
  readonly edges: { readonly old: Place; readonly next: Place }[];
}

/** The changes from one row of words, by the row they lead to. */
function gathered(standing: readonly Standing[]): Map<number, Gathered> {
  const found = new Map<number, Gathered>();
  for (const { place: old, nexts } of standing) {
    for (const next of nexts) {
      if (!sharesNoMore(old, next)) continue;
      const known = found.get(next.change) ?? { from: changedIn(old), to: changedIn(next), inside: false, edges: [] };
      known.inside ||= old.head > 0 && old.tail > 0;
      known.edges.push({ old, next });
      found.set(next.change, known);
    }
  }
  return found;
}

/** The two names share nothing beyond this context: it is the one that `changeBetween` finds. */
function sharesNoMore({ name: old, head, tail }: Place, { name: next }: Place): boolean {
  const [a, b] = [old.words, next.words];
  const most = Math.min(a.length, b.length);
  if (head < most && a[head] === b[head]) return false;
  return tail === most - head || a[a.length - 1 - tail] !== b[b.length - 1 - tail];
}

function changedIn({ name, head, tail }: Place): readonly Word[] {
  return name.profile.words.slice(head, name.words.length - tail);
}

/** By the old tool; its pairs that share the first word before those that share the last. */
function inListedOrder(a: { old: Place; next: Place }, b: { old: Place; next: Place }): number {
  return a.old.name.at - b.old.name.at || Number(a.old.head === 0) - Number(b.old.head === 0) || a.next.name.at - b.next.name.at;
}

function edgeOf(old: Place, next: Place): Edge {
  return { old: old.name.profile, next: next.name.profile, settled: false };
}
