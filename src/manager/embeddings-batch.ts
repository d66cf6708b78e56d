/** What goes into one request to an embeddings endpoint, and which needs' vectors stay at hand. */
import type { DueText } from "../model/vectors.js";
import type { EmbeddingLimits } from "./embeddings-options.js";

/** Texts of one request: fewer after an endpoint refused that many, more again after it took some. */
export class Batches {
  private texts: number;
  /** Digests of texts that are asked for alone, since no vector came for them among others. */
  private readonly suspects = new Set<string>();

  constructor(private readonly limits: Pick<EmbeddingLimits, "batchTexts" | "batchChars">) {
    this.texts = limits.batchTexts;
  }

  /** The next ones from a place on: at most so many texts and characters; a suspect goes alone. Never none. */
  next(due: readonly DueText[], from: number): DueText[] {
    const batch: DueText[] = [];
    let chars = 0;
    for (const one of due.slice(from, from + this.texts)) {
      const isSuspect = this.suspects.has(one.digest);
      chars += one.text().length;
      if (batch.length > 0 && (chars > this.limits.batchChars || isSuspect)) break;
      batch.push(one);
      if (isSuspect) break;
    }
    return batch;
  }

  wasTooMuch(batch: readonly DueText[]): void {
    this.texts = Math.max(1, batch.length >> 1);
  }

  wasTaken(): void {
    this.texts = Math.min(this.limits.batchTexts, this.texts * 2);
  }

  suspect(digest: string, isSuspect: boolean): void {
    if (isSuspect) this.suspects.add(digest);
    else this.suspects.delete(digest);
  }

  /** Another embedder is in force: what the former one made of texts says nothing. */
  forget(): void {
    this.suspects.clear();
  }
}

/** Remembers one more; the oldest go where there are more than `most`. */
export function keepRecent<Kept>(kept: Map<string, Kept>, key: string, value: Kept, most: number): void {
  kept.set(key, value);
  for (const oldest of kept.keys()) {
    if (kept.size <= most) break;
    kept.delete(oldest);
  }
}
