/** The best few of many: a heap, so that what is passed over costs one look. */
import type { Bm25fIndex } from "./bm25f.js";
import { idOf } from "./bm25f.js";
import { Ranked } from "./ranked.js";

/** The n best by (score, id), as a heap with the worst on top. */
export class Best {
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
    return this.slots.map((slot, i) => new Ranked(slot, this.scores[i] ?? 0, this.scores[i] ?? 0));
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
