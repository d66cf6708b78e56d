/**
 * Rank: the best documents of an index for a parsed query.
 *
 * Owns: adding up contributions, picking the best, letting a single clause speak.
 * Speaks: slots and scores.
 * Never: tools, servers, words.
 */
import type { Bm25fIndex } from "./bm25f.js";
import { idOf } from "./bm25f.js";
import type { Bm25fScoring, Contribution } from "./contribution.js";
import { contribution } from "./contribution.js";
import type { ParsedQuery } from "./query.js";

export interface Ranked {
  readonly slot: number;
  /** Score of the text of the whole need, on a scale that does not depend on the other candidates. */
  raw: number;
  score: number;
  /** How far it leads a clause of the need, 0…1: 1 = the best of a clause that speaks with full voice. */
  lead: number;
}

export interface RankOptions {
  readonly scoring: Bm25fScoring;
  /** How many are ranked. */
  readonly count: number;
  /** Share of the score that a document's best clause decides. */
  readonly clauses: number;
  /** A clause speaks with full voice if its best score reaches this part of the whole need's. */
  readonly clauseFull: number;
  readonly accept: (slot: number) => boolean;
}

/** How many of each clause's best are looked at; the next would gain less than a hundredth. */
const CLAUSE_DEPTH = 20;

/** The best documents, in no order: what is added to their scores decides it. */
export function rank(index: Bm25fIndex<unknown>, query: ParsedQuery, options: RankOptions): Ranked[] {
  const dense = new Float64Array(index.alive.length);
  const touched = new Int32Array(index.alive.length);
  const byGroup = query.groups.map((group) => remembered(index, group, options.scoring, dense));
  const weighted = byGroup.map((one, number) => [one, query.groups[number]?.weight ?? 0] as const);
  const whole = best(index, dense, touched, options.count, options.accept, weighted);
  const ranked = whole.candidates();
  if (query.clauses.length > 0 && options.clauses > 0 && ranked.length > 0) {
    byClause(index, query, byGroup, { dense, touched }, ranked, options);
  }
  return ranked;
}

/** Contributions are worth remembering from this many documents on … */
const REMEMBERED_LEAST = 256;
/** … up to this many entries for each document of the index, all together. */
const REMEMBERED_PER_DOCUMENT = 32;

interface Memory {
  readonly scoring: Bm25fScoring;
  readonly byTerm: Map<string, Contribution>;
  entries: number;
}
const memories = new WeakMap<Bm25fIndex<unknown>, Memory>();

/** Common words come in every other need: what they contribute is a function of the face and the word, and is kept. */
function remembered(
  index: Bm25fIndex<unknown>,
  group: ParsedQuery["groups"][number],
  scoring: Bm25fScoring,
  dense: Float64Array,
): Contribution | undefined {
  let memory = memories.get(index);
  if (memory?.scoring !== scoring) {
    memory = { scoring, byTerm: new Map(), entries: 0 };
    memories.set(index, memory);
  }
  const name = group.joined ? `+${group.term}` : group.term;
  const known = memory.byTerm.get(name);
  if (known !== undefined) return known;
  const worked = groupContribution(index, group.alternatives, scoring, dense);
  const size = worked?.slots.length ?? 0;
  if (worked === undefined || size < REMEMBERED_LEAST) return worked;
  if (memory.entries + size > REMEMBERED_PER_DOCUMENT * index.documents) {
    memory.byTerm.clear();
    memory.entries = 0;
  }
  memory.byTerm.set(name, worked);
  memory.entries += size;
  return worked;
}

/** What a group adds to a document: its best alternative there, each by its factor. */
function groupContribution(
  index: Bm25fIndex<unknown>,
  alternatives: readonly { readonly term: string; readonly factor: number }[],
  scoring: Bm25fScoring,
  dense: Float64Array,
): Contribution | undefined {
  const parts: { factor: number; part: Contribution }[] = [];
  for (const { term, factor } of alternatives) {
    const part = contribution(index, term, scoring);
    if (part !== undefined) parts.push({ factor, part });
  }
  const [first] = parts;
  if (first === undefined) return undefined;
  if (parts.length === 1 && first.factor === 1) return first.part;
  const slots = new Int32Array(parts.reduce((sum, { part }) => sum + part.slots.length, 0));
  let count = 0;
  for (const { factor, part } of parts) {
    for (let i = 0; i < part.slots.length; i++) {
      const slot = part.slots[i] ?? 0;
      const score = factor * (part.scores[i] ?? 0);
      const before = dense[slot] ?? 0;
      if (before === 0) slots[count++] = slot;
      if (score > before) dense[slot] = score;
    }
  }
  const scores = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const slot = slots[i] ?? 0;
    scores[i] = dense[slot] ?? 0;
    dense[slot] = 0;
  }
  return { slots: slots.slice(0, count), scores };
}

/** Adds up in `dense` (left as all zeros), then takes the `count` best accepted slots. */
function best(
  index: Bm25fIndex<unknown>,
  dense: Float64Array,
  touched: Int32Array,
  count: number,
  accept: (slot: number) => boolean,
  parts: Iterable<readonly [one: Contribution | undefined, weight: number]>,
): Best {
  let reached = 0;
  for (const [one, weight] of parts) {
    if (one === undefined || weight === 0) continue;
    const { slots, scores } = one;
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i] ?? 0;
      const before = dense[slot] ?? 0;
      if (before === 0) touched[reached++] = slot;
      dense[slot] = before + weight * (scores[i] ?? 0);
    }
  }
  const top = new Best(index, count);
  for (let i = 0; i < reached; i++) {
    const slot = touched[i] ?? 0;
    const score = dense[slot] ?? 0;
    dense[slot] = 0;
    if (score > 0 && top.wants(slot, score) && accept(slot)) top.put(slot, score);
  }
  return top;
}

/** The n best by (score, id), as a heap with the worst on top. */
class Best {
  private readonly slots: number[] = [];
  private readonly scores: number[] = [];

  constructor(
    private readonly index: Bm25fIndex<unknown>,
    private readonly limit: number,
  ) {}

  wants(slot: number, score: number): boolean {
    if (this.slots.length < this.limit) return this.limit > 0;
    return this.worse(this.slots[0] ?? 0, this.scores[0] ?? 0, slot, score);
  }

  put(slot: number, score: number): void {
    if (this.slots.length < this.limit) {
      this.slots.push(slot);
      this.scores.push(score);
      this.up(this.slots.length - 1);
    } else {
      this.slots[0] = slot;
      this.scores[0] = score;
      this.down(0);
    }
  }

  /** In no order. */
  candidates(): Ranked[] {
    const list: Ranked[] = [];
    for (let i = 0; i < this.slots.length; i++) {
      const score = this.scores[i] ?? 0;
      list.push({ slot: this.slots[i] ?? 0, raw: score, score, lead: 0 });
    }
    return list;
  }

  /** The best score; 0 without any. */
  top(): number {
    let top = 0;
    for (const score of this.scores) if (score > top) top = score;
    return top;
  }

  /** Slots, best first; the heap is empty afterwards. */
  drain(): number[] {
    const sorted: number[] = [];
    for (let last = this.slots.length - 1; last >= 0; last--) {
      sorted.push(this.slots[0] ?? 0);
      this.swap(0, last);
      this.slots.pop();
      this.scores.pop();
      this.down(0);
    }
    return sorted.reverse();
  }

  /** True where a stands below b. */
  private worse(aSlot: number, aScore: number, bSlot: number, bScore: number): boolean {
    return aScore !== bScore ? aScore < bScore : idOf(this.index, aSlot) > idOf(this.index, bSlot);
  }

  private worseAt(a: number, b: number): boolean {
    return this.worse(this.slots[a] ?? 0, this.scores[a] ?? 0, this.slots[b] ?? 0, this.scores[b] ?? 0);
  }

  private swap(a: number, b: number): void {
    [this.slots[a], this.slots[b]] = [this.slots[b] ?? 0, this.slots[a] ?? 0];
    [this.scores[a], this.scores[b]] = [this.scores[b] ?? 0, this.scores[a] ?? 0];
  }

  private up(from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.worseAt(at, parent)) return;
      this.swap(at, parent);
      at = parent;
    }
  }

  private down(from: number): void {
    let at = from;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let worst = at;
      if (left < this.slots.length && this.worseAt(left, worst)) worst = left;
      if (right < this.slots.length && this.worseAt(right, worst)) worst = right;
      if (worst === at) return;
      this.swap(at, worst);
      at = worst;
    }
  }
}

/** A document that answers one clause of a long need best gains, although the rest of the need is about other things. */
function byClause(
  index: Bm25fIndex<unknown>,
  query: ParsedQuery,
  byGroup: readonly (Contribution | undefined)[],
  { dense, touched }: { dense: Float64Array; touched: Int32Array },
  ranked: Ranked[],
  options: RankOptions,
): void {
  const max = topScore(ranked);
  const gain = new Map<number, number>();
  for (const clause of query.clauses) {
    const parts = [...clause].map(([number, weight]) => [byGroup[number], weight] as const);
    const top = best(index, dense, touched, CLAUSE_DEPTH, options.accept, parts);
    const voice = Math.min(1, top.top() / (options.clauseFull * max));
    top.drain().forEach((slot, i) => gain.set(slot, Math.max(gain.get(slot) ?? 0, voice / (i + 1))));
  }
  const known = new Set(ranked.map(({ slot }) => slot));
  for (const slot of gain.keys()) if (!known.has(slot)) ranked.push({ slot, raw: 0, score: 0, lead: 0 });
  for (const one of ranked) {
    one.lead = gain.get(one.slot) ?? 0;
    one.score = (1 - options.clauses) * one.score + options.clauses * max * one.lead;
  }
}

/** The best score among candidates in any order; 0 without any. */
export function topScore(ranked: readonly Ranked[]): number {
  let top = 0;
  for (const { score } of ranked) if (score > top) top = score;
  return top;
}

export function sortRanked(index: Bm25fIndex<unknown>, ranked: Ranked[]): void {
  ranked.sort((a, b) => b.score - a.score || (idOf(index, a.slot) < idOf(index, b.slot) ? -1 : 1));
}
