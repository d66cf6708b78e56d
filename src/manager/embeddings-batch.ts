/** What goes into one request to an embeddings endpoint, and which needs' vectors stay at hand. */
import type { DueText } from "../model/vectors.js";

/** The texts of one request out of those that are next: at most so many characters; a suspect goes alone. */
export function batchFrom(next: readonly DueText[], most: number, suspects: ReadonlySet<string>): DueText[] {
  const batch: DueText[] = [];
  let chars = 0;
  for (const one of next) {
    chars += one.text().length;
    if (batch.length > 0 && (chars > most || suspects.has(one.digest))) break;
    batch.push(one);
    if (suspects.has(one.digest)) break;
  }
  return batch;
}

/** Remembers one more; the oldest go where there are more than `most`. */
export function keepRecent<Kept>(kept: Map<string, Kept>, key: string, value: Kept, most: number): void {
  kept.set(key, value);
  for (const oldest of kept.keys()) {
    if (kept.size <= most) break;
    kept.delete(oldest);
  }
}
