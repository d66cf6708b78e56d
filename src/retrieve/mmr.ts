/**
 * Maximal marginal relevance (Carbonell and Goldstein, 1998): relevant, and not what was chosen already.
 */

export interface MmrOptions<Item> {
  readonly limit: number;
  /** 1 = relevance only, 0 = difference only. */
  readonly lambda: number;
  /** 0…1 */
  readonly relevance: (item: Item) => number;
  /** 0…1, symmetric. */
  readonly similarity: (a: Item, b: Item) => number;
}

/**
 * Up to `limit` items, each the one with the largest λ·relevance − (1−λ)·(largest similarity to those before it). Equal
 * values keep the order given. Cost: limit × items.
 */
export function diversify<Item>(items: readonly Item[], options: MmrOptions<Item>): Item[] {
  const { limit, lambda, relevance, similarity } = options;
  const left = items.map((item) => ({ item, relevance: relevance(item), nearest: 0 }));
  const chosen: Item[] = [];
  while (chosen.length < limit && left.length > 0) {
    let at = 0;
    let most = Number.NEGATIVE_INFINITY;
    left.forEach((one, i) => {
      const value = lambda * one.relevance - (1 - lambda) * one.nearest;
      if (value > most) {
        most = value;
        at = i;
      }
    });
    const [next] = left.splice(at, 1);
    if (next === undefined) break;
    chosen.push(next.item);
    for (const one of left) one.nearest = Math.max(one.nearest, similarity(one.item, next.item));
  }
  return chosen;
}
