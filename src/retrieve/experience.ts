/**
 * Experience: what served similar tasks, as remembered from verified episodes.
 *
 * Owns: the memories, how near a need is to each, their votes, the channel they speak by.
 * Speaks: tasks in words, ids of what served them. What has taken over from a remembered tool is the caller's to say.
 * Never: judges outcomes (only verified successes are handed in), shows one agent's words to another, or how far it may be trusted
 *        (calibrate.ts).
 *
 * Nearest neighbours by cosine over tf-idf. There are few memories beside tools, so what is derived from them is derived anew, at the
 * first need after they moved: a moved experience answers exactly like one built afresh.
 */
import type { Channel } from "./channel.js";
import { needWords } from "./query.js";
import type { ExperienceScoring } from "./score.js";
import { EXPERIENCE_SCORING } from "./score.js";
import { stem } from "./stem.js";

/** One verified task. */
export interface Memory {
  /** Episode. */
  readonly id: string;
  /** When it happened; the oldest are forgotten first. */
  readonly at: string;
  readonly task: string;
  /** What served it: tool keys. */
  readonly served: readonly string[];
}

interface Remembered extends Memory {
  /** Stem → occurrences, saturated. */
  readonly terms: ReadonlyMap<string, number>;
}

export interface Experience {
  readonly memories: ReadonlyMap<string, Remembered>;
}

export const NO_EXPERIENCE: Experience = Object.freeze({ memories: new Map() });

/** How far experience is trusted: found by calibration. Weight 0 = not at all, but for repeats. */
export interface Trust {
  readonly weight: number;
  readonly from: number;
  readonly to: number;
}

export const NO_TRUST: Trust = Object.freeze({ weight: 0, from: 0, to: 1 });

/** What a memory speaks for now: what served it, what took over from that, what is made of it. */
export type Present<Id extends string> = (memory: Memory) => readonly Id[];

/** The experience after some memories came or were replaced and some were withdrawn; beyond the limit the oldest are forgotten. */
export function moveExperience(
  experience: Experience,
  moved: { readonly put: Iterable<Memory>; readonly removed: Iterable<string> },
  limit: number = EXPERIENCE_SCORING.memories,
): Experience {
  const memories = new Map(experience.memories);
  let isMoved = false;
  for (const id of moved.removed) isMoved = memories.delete(id) || isMoved;
  for (const memory of moved.put) {
    const terms = termsOf(memory.task);
    if (terms.size === 0 || memory.served.length === 0) isMoved = memories.delete(memory.id) || isMoved;
    else {
      memories.set(memory.id, { ...memory, terms });
      isMoved = true;
    }
  }
  if (!isMoved) return experience;
  if (memories.size > limit) {
    const oldest = [...memories.values()].sort((a, b) => (a.at < b.at || (a.at === b.at && a.id < b.id) ? -1 : 1));
    for (const { id } of oldest.slice(0, memories.size - limit)) memories.delete(id);
  }
  return { memories };
}

function termsOf(task: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of needWords(task)) {
    const term = stem(word);
    counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  return new Map([...counts].map(([term, count]) => [term, (2 * count) / (count + 1)]));
}

interface Derived {
  readonly rows: readonly Remembered[];
  /** Term → rows that have it. */
  readonly postings: ReadonlyMap<string, readonly number[]>;
  /** Euclidean length of each row. */
  readonly lengths: Float64Array;
}
const derivations = new WeakMap<Experience, Derived>();

function derive(experience: Experience): Derived {
  const known = derivations.get(experience);
  if (known !== undefined) return known;
  const rows = [...experience.memories.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const postings = new Map<string, number[]>();
  rows.forEach(({ terms }, row) => {
    for (const term of terms.keys()) {
      const list = postings.get(term);
      if (list === undefined) postings.set(term, [row]);
      else list.push(row);
    }
  });
  const lengths = Float64Array.from(rows, ({ terms }) => lengthOf(terms, rows.length, postings));
  const derived = { rows, postings, lengths };
  derivations.set(experience, derived);
  return derived;
}

function rarity(rows: number, having: number): number {
  // The one added keeps a word that all tasks have worth something: in a small or uniform memory it is all that they share.
  return Math.log(1 + rows / (having + 0.5));
}

function lengthOf(terms: ReadonlyMap<string, number>, rows: number, postings: Derived["postings"]): number {
  let sum = 0;
  for (const [term, count] of terms) sum += (count * rarity(rows, postings.get(term)?.length ?? 0)) ** 2;
  return Math.sqrt(sum);
}

export interface Near {
  readonly memory: Memory;
  /** Cosine, 0…1. */
  readonly nearness: number;
}

/** The remembered tasks most similar to a need, most similar first, equal ones by id; without those that are left out. */
export function nearestTasks(experience: Experience, need: string, count: number, leftOut?: (memory: Memory) => boolean): Near[] {
  const { rows, postings, lengths } = derive(experience);
  const terms = termsOf(need);
  const length = lengthOf(terms, rows.length, postings);
  const sums = new Map<number, number>();
  for (const [term, occurrences] of terms) {
    const having = postings.get(term);
    if (having === undefined) continue;
    const worth = occurrences * rarity(rows.length, having.length) ** 2;
    for (const row of having) sums.set(row, (sums.get(row) ?? 0) + worth * (rows[row]?.terms.get(term) ?? 0));
  }
  const near: Near[] = [];
  for (const [row, sum] of sums) {
    const memory = rows[row];
    const nearness = sum / (length * (lengths[row] ?? 0) || 1);
    if (memory !== undefined && nearness > 0) near.push({ memory, nearness });
  }
  near.sort((a, b) => b.nearness - a.nearness || (a.memory.id < b.memory.id ? -1 : 1));
  const kept: Near[] = [];
  for (const one of near) {
    if (kept.length === count) break;
    if (leftOut?.(one.memory) !== true) kept.push(one);
  }
  return kept;
}

export interface Vote {
  /** Share of the similar tasks that it served, weighted by similarity, 0…1. */
  readonly share: number;
  /** Similarity of the most similar task it served. */
  readonly nearest: number;
  readonly tasks: number;
}

/** What the similar tasks say for each present id. */
export function votesOf<Id extends string>(
  near: readonly Near[],
  present: Present<Id>,
  scoring = EXPERIENCE_SCORING,
): Map<Id, Vote> {
  const votes = new Map<Id, { share: number; nearest: number; tasks: number }>();
  const whole = near.reduce((sum, { nearness }) => sum + nearness ** scoring.votePower, 0);
  for (const { memory, nearness } of near) {
    const part = nearness ** scoring.votePower / (whole || 1);
    for (const id of new Set(present(memory))) {
      const vote = votes.get(id) ?? { share: 0, nearest: 0, tasks: 0 };
      vote.share += part;
      vote.nearest = Math.max(vote.nearest, nearness);
      vote.tasks++;
      votes.set(id, vote);
    }
  }
  return votes;
}

/** 0 up to `from`, 1 from `to` on. */
export function ramp(value: number, from: number, to: number): number {
  return Math.min(1, Math.max(0, (value - from) / (to - from)));
}

/**
 * What a full vote is worth for one need. It falls where the text's best are tools that memory has never seen (they cannot have votes,
 * and may well be the right ones), and rises where the need is a remembered one word for word.
 */
export function weightFor(
  trust: Trust,
  { nearest, known }: { readonly nearest: number; readonly known: number },
  scoring: ExperienceScoring = EXPERIENCE_SCORING,
): number {
  const { repeat } = scoring;
  return Math.max(trust.weight * known ** scoring.guard, repeat.weight * ramp(nearest, repeat.from, repeat.to));
}

/** Memory's channel. `present`: as of the moment of the search. `guarded`: weigh by how much of the text's best memory knows. */
export function experienceChannel<Id extends string>(
  experience: Experience,
  trust: Trust,
  present: Present<Id>,
  guarded = true,
): Channel<Id> {
  return {
    name: "experience",
    speak(need, best) {
      if (experience.memories.size === 0) return undefined;
      const near = nearestTasks(experience, need, EXPERIENCE_SCORING.voters);
      const votes = votesOf(near, present);
      if (votes.size === 0) return undefined;
      const share = guarded ? shareKnown(best, knownIds(experience, present)) : 1;
      const weight = weightFor(trust, { nearest: near[0]?.nearness ?? 0, known: share });
      const scores = new Map<Id, number>();
      for (const [id, vote] of votes) scores.set(id, vote.share * ramp(vote.nearest, trust.from, trust.to));
      return {
        weight,
        scores,
        sure: weight > 0 && Math.max(...scores.values()) >= EXPERIENCE_SCORING.sureFrom,
        because: (id) => {
          const tasks = votes.get(id)?.tasks ?? 0;
          return `served ${tasks === 1 ? "a similar task" : `${tasks} similar tasks`}`;
        },
      };
    },
  };
}

/** Part of the text's best that memory knows; 1 where the text has none. */
export function shareKnown(best: readonly string[], known: ReadonlySet<string>): number {
  return best.length === 0 ? 1 : best.filter((id) => known.has(id)).length / best.length;
}

const knowledge = new WeakMap<Experience, { readonly present: unknown; readonly known: ReadonlySet<string> }>();

/** Every present id that some memory speaks for. */
export function knownIds<Id extends string>(experience: Experience, present: Present<Id>): ReadonlySet<string> {
  const remembered = knowledge.get(experience);
  if (remembered?.present === present) return remembered.known;
  const known = new Set<string>([...experience.memories.values()].flatMap((memory) => present(memory)));
  knowledge.set(experience, { present, known });
  return known;
}
