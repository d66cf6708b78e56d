/**
 * Rank: the best documents of an index for a parsed query.
 *
 * Owns: adding up contributions, letting a single clause speak.
 * Speaks: slots and scores.
 * Never: tools, servers, words.
 */
import type { Bm25fIndex } from "./bm25f.js";
import type { Bm25fScoring, Contribution } from "./contribution.js";
import { contribution } from "./contribution.js";
import { Best } from "./best.js";
import type { ParsedQuery } from "./query.js";
import { Ranked, topScore } from "./ranked.js";
import type { Scratch } from "./scratch.js";

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
export function rank(index: Bm25fIndex<unknown>, query: ParsedQuery, options: RankOptions, scratch: Scratch): Ranked[] {
  const byGroup = contributionsOf(index, query, options.scoring, scratch.dense);
  const adding = new Adding(index, scratch, options.accept);
  byGroup.forEach((one, number) => adding.add(one, query.groups[number]?.weight ?? 0));
  const ranked = adding.best(options.count).candidates();
  if (query.clauses.length > 0 && options.clauses > 0 && ranked.length > 0) {
    byClause(query, { byGroup, adding, leads: scratch.leads }, ranked, options);
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
function contributionsOf(
  index: Bm25fIndex<unknown>,
  query: ParsedQuery,
  scoring: Bm25fScoring,
  dense: Float64Array,
): (Contribution | undefined)[] {
  let memory = memories.get(index);
  if (memory?.scoring !== scoring) {
    memory = { scoring, byTerm: new Map(), entries: 0 };
    memories.set(index, memory);
  }
  const { byTerm } = memory;
  const found: (Contribution | undefined)[] = [];
  for (const { term, joined, alternatives } of query.groups) {
    const name = joined ? `+${term}` : term;
    const known = byTerm.get(name);
    const one = known ?? groupContribution(index, alternatives, scoring, dense);
    if (known === undefined && one !== undefined) keep(memory, name, one, REMEMBERED_PER_DOCUMENT * index.documents);
    found.push(one);
  }
  return found;
}

function keep(memory: Memory, name: string, one: Contribution, most: number): void {
  const size = one.slots.length;
  if (size < REMEMBERED_LEAST) return;
  if (memory.entries + size > most) {
    memory.byTerm.clear();
    memory.entries = 0;
  }
  memory.byTerm.set(name, one);
  memory.entries += size;
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

/** Adds up contributions by slot, then takes the best accepted slots; the array it adds up in is left as all zeros. */
class Adding {
  private reached = 0;

  constructor(
    private readonly index: Bm25fIndex<unknown>,
    private readonly scratch: Scratch,
    private readonly accept: (slot: number) => boolean,
  ) {}

  add(one: Contribution | undefined, weight: number): void {
    if (one === undefined || weight === 0) return;
    const { dense, touched } = this.scratch;
    const { slots, scores } = one;
    let { reached } = this;
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i] ?? 0;
      const before = dense[slot] ?? 0;
      if (before === 0) touched[reached++] = slot;
      dense[slot] = before + weight * (scores[i] ?? 0);
    }
    this.reached = reached;
  }

  best(count: number): Best {
    const { dense, touched } = this.scratch;
    const top = new Best(this.index, count);
    for (let i = 0; i < this.reached; i++) {
      const slot = touched[i] ?? 0;
      const score = dense[slot] ?? 0;
      dense[slot] = 0;
      if (score > 0 && top.wants(slot, score) && this.accept(slot)) top.put(slot, score);
    }
    this.reached = 0;
    return top;
  }
}

/** A document that answers one clause of a long need best gains, although the rest of the need is about other things. */
function byClause(
  query: ParsedQuery,
  { byGroup, adding, leads }: { byGroup: readonly (Contribution | undefined)[]; adding: Adding; leads: Float64Array },
  ranked: Ranked[],
  options: RankOptions,
): void {
  const max = topScore(ranked);
  const leading: number[] = [];
  for (const clause of query.clauses) {
    for (const [number, weight] of clause) adding.add(byGroup[number], weight);
    const top = adding.best(CLAUSE_DEPTH);
    const voice = Math.min(1, top.top() / (options.clauseFull * max));
    top.drain().forEach((slot, i) => {
      const before = leads[slot] ?? 0;
      if (before === 0) leading.push(slot);
      leads[slot] = Math.max(before, voice / (i + 1));
    });
  }
  const gain = options.clauses * max;
  for (const one of ranked) {
    const lead = leads[one.slot] ?? 0;
    one.score = (1 - options.clauses) * one.score + gain * lead;
    if (lead === 0) continue;
    one.lead = lead;
    leads[one.slot] = 0;
  }
  for (const slot of leading) {
    const lead = leads[slot] ?? 0;
    if (lead === 0) continue;
    const one = new Ranked(slot, 0, gain * lead);
    one.lead = lead;
    ranked.push(one);
    leads[slot] = 0;
  }
}
