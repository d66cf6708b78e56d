/**
 * Calibrate: how far experience may be trusted, found by itself.
 *
 * Each of some remembered tasks is asked as if it were not remembered, with every weight and gate; the pair that gains most over the
 * text alone is taken, and none where nothing gains for certain. So experience from another world, or too little of it, says nothing.
 */
import type { Experience, Memory, Present, Trust } from "./experience.js";
import { knownIds, nearestTasks, NO_TRUST, ramp, shareKnown, votesOf, weightFor } from "./experience.js";
import type { ExperienceScoring } from "./score.js";
import { EXPERIENCE_SCORING } from "./score.js";

/** What the text alone says: ids with their part of the best score, best first. */
export type TextRanking<Id extends string> = (need: string) => readonly { readonly id: Id; readonly score: number }[];

/** Places that count, and text candidates that a vote may lift into them. */
const PLACES = 10;
const CANDIDATES = 100;
/** The text's best, by which a need is judged to be about what memory knows: as many as a channel is told. */
const BEST = 5;
const MEMORIES_LEAST = 3;

/** A calibration under way: a few tasks at a time, so that nothing waits for it. */
export interface Calibration {
  /** Tries up to `count` further tasks; true when all were. */
  advance(count: number): boolean;
  /** What was found with the tasks tried so far: the pair with the surest gain among those that cost new tools little. */
  trust(): Trust;
}

export function startCalibration<Id extends string>(
  experience: Experience,
  ranking: TextRanking<Id>,
  present: Present<Id>,
  scoring: ExperienceScoring = EXPERIENCE_SCORING,
): Calibration {
  const memories = [...experience.memories.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const step = Math.max(1, memories.length / scoring.triedOn);
  const tried =
    memories.length < MEMORIES_LEAST ? [] : memories.filter((_, i) => Math.floor(i / step) > Math.floor((i - 1) / step));
  const mindsUnseen = shareOfSingles(memories, present) >= scoring.unseenShare;
  const pairs = scoring.gates.flatMap((gate) => scoring.weights.map((weight) => ({ ...gate, weight })));
  const gains = pairs.map((): number[] => []);
  const losses = pairs.map((): number[] => []);
  let at = 0;

  /** What each pair changes for one task, asked without some memories. */
  function changes(
    memory: Memory,
    right: ReadonlySet<string>,
    leftOut: (other: Memory) => boolean,
    known: ReadonlySet<string>,
  ): number[] {
    const near = nearestTasks(experience, memory.task, scoring.voters, leftOut);
    const votes = votesOf(near, present, scoring);
    const text = ranking(memory.task).slice(0, CANDIDATES);
    const share = shareKnown(
      text.slice(0, BEST).map(({ id }) => id),
      known,
    );
    const before = ndcg(text, right);
    return pairs.map((trust) => {
      const weight = weightFor(trust, { nearest: near[0]?.nearness ?? 0, known: share }, scoring);
      const scores = new Map(text.map(({ id, score }) => [id, score]));
      for (const [id, vote] of votes) {
        scores.set(id, (scores.get(id) ?? 0) + weight * vote.share * ramp(vote.nearest, trust.from, trust.to));
      }
      const mixed = [...scores].map(([id, score]) => ({ id, score })).sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
      return ndcg(mixed, right) - before;
    });
  }

  return {
    advance(count) {
      for (const end = Math.min(tried.length, at + count); at < end; at++) {
        const memory = tried[at];
        if (memory === undefined) continue;
        const right = new Set<string>(present(memory));
        if (right.size === 0) continue;
        const known = knownIds(experience, present);
        changes(memory, right, ({ id }) => id === memory.id, known).forEach((gain, i) => gains[i]?.push(gain));
        if (!mindsUnseen) continue;
        // As if no memory had its tools: whatever shares one is left out, and they count as unknown.
        const unseen = new Set([...known].filter((id) => !right.has(id)));
        const shares = (other: Memory): boolean => present(other).some((id) => right.has(id));
        changes(memory, right, shares, unseen).forEach((loss, i) => losses[i]?.push(loss));
      }
      return at >= tried.length;
    },
    trust() {
      let [best, most] = [NO_TRUST, 0];
      pairs.forEach((trust, i) => {
        if (mindsUnseen && mean(losses[i] ?? []) < -scoring.unseenLoss) return;
        const gain = certainGain(gains[i] ?? [], memories.length, scoring);
        if (gain > most) [best, most] = [trust, gain];
      });
      return best;
    },
  };
}

/** Share of memories with a tool that no other memory has: so often, roughly, a new task needs a tool that none has (Good and Turing). */
function shareOfSingles<Id extends string>(memories: readonly Memory[], present: Present<Id>): number {
  const times = new Map<Id, number>();
  for (const memory of memories) for (const id of new Set(present(memory))) times.set(id, (times.get(id) ?? 0) + 1);
  const singles = memories.filter((memory) => present(memory).some((id) => times.get(id) === 1));
  return singles.length / Math.max(1, memories.length);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** Mean gain less its doubt, in proportion to how much there is to go by. */
function certainGain(gains: readonly number[], memories: number, scoring: ExperienceScoring): number {
  const count = gains.length;
  if (count === 0) return 0;
  const average = mean(gains);
  const variance = gains.reduce((sum, gain) => sum + (gain - average) ** 2, 0) / Math.max(1, count - 1);
  return (average - scoring.doubt * Math.sqrt(variance / count)) * (memories / (memories + scoring.shyness));
}

/** Normalised discounted cumulative gain of the first ten places. */
function ndcg(ranking: readonly { readonly id: string }[], right: ReadonlySet<string>): number {
  let [gain, ideal] = [0, 0];
  for (let place = 0; place < PLACES; place++) {
    const worth = 1 / Math.log2(place + 2);
    const one = ranking[place];
    if (one !== undefined && right.has(one.id)) gain += worth;
    if (place < right.size) ideal += worth;
  }
  return ideal === 0 ? 0 : gain / ideal;
}
