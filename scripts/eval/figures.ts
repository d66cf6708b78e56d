/**
 * Figures of retrieval: per query, and means with bootstrap intervals.
 */

export interface Figures {
  readonly ndcg10: number;
  readonly recall5: number;
  readonly hit1: number;
}

/** Binary gains; the ideal has all gold tools first. */
export function figuresOf(answer: readonly string[], gold: ReadonlySet<string>): Figures {
  let gain = 0;
  let found = 0;
  answer.slice(0, 10).forEach((key, i) => {
    if (!gold.has(key)) return;
    gain += 1 / Math.log2(i + 2);
    if (i < 5) found++;
  });
  let ideal = 0;
  for (let i = 0; i < Math.min(10, gold.size); i++) ideal += 1 / Math.log2(i + 2);
  const first = answer[0];
  return {
    ndcg10: ideal === 0 ? 0 : gain / ideal,
    recall5: gold.size === 0 ? 0 : found / gold.size,
    hit1: first !== undefined && gold.has(first) ? 1 : 0,
  };
}

export function f1Of(answer: readonly string[], gold: ReadonlySet<string>): number {
  const right = answer.filter((key) => gold.has(key)).length;
  return right === 0 ? 0 : (2 * right) / (answer.length + gold.size);
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Area under the ROC curve: how often a positive scores above a negative (ties count half). */
export function auroc(positives: readonly number[], negatives: readonly number[]): number {
  const all = [
    ...positives.map((value) => ({ value, positive: true })),
    ...negatives.map((value) => ({ value, positive: false })),
  ];
  all.sort((a, b) => a.value - b.value);
  let rankSum = 0;
  for (let i = 0; i < all.length;) {
    let end = i;
    while (end < all.length && all[end]?.value === all[i]?.value) end++;
    const rank = (i + end + 1) / 2;
    for (let j = i; j < end; j++) if (all[j]?.positive === true) rankSum += rank;
    i = end;
  }
  const { length: p } = positives;
  const { length: n } = negatives;
  return p === 0 || n === 0 ? Number.NaN : (rankSum - (p * (p + 1)) / 2) / (p * n);
}

/** A small generator with a seed (mulberry32): the same intervals in every run. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** 95 % interval of the mean of set means: queries are drawn anew within each set. */
export function bootstrap(sets: readonly (readonly number[])[], rounds = 1000, seed = 7): Interval {
  const random = seeded(seed);
  const means: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const perSet = sets.map((values) => {
      let sum = 0;
      for (let i = 0; i < values.length; i++) sum += values[Math.floor(random() * values.length)] ?? 0;
      return values.length === 0 ? Number.NaN : sum / values.length;
    });
    means.push(mean(perSet));
  }
  means.sort((a, b) => a - b);
  return { low: means[Math.floor(rounds * 0.025)] ?? Number.NaN, high: means[Math.ceil(rounds * 0.975) - 1] ?? Number.NaN };
}
