/** Waits of an embedder: one after a fault, and one for the texts an endpoint refused. */
import type { DueText } from "../model/vectors.js";
import type { Clock } from "../model/ports.js";

/** One wait at a time; what it waited for is called when it is over. It keeps no process alive. */
export class Pause {
  private timer: NodeJS.Timeout | undefined;
  private untilMs = 0;

  constructor(
    private readonly clock: Clock,
    private readonly over: () => void,
  ) {}

  isOn(): boolean {
    return this.timer !== undefined;
  }

  leftMs(): number {
    return Math.max(0, this.untilMs - this.clock.elapsedMs());
  }

  /** Up to a tenth longer, so that not all who wait for one endpoint come back at once. Replaces a wait under way. */
  begin(ms: number): void {
    const whole = ms * (1 + Math.random() / 10);
    this.end();
    this.untilMs = this.clock.elapsedMs() + whole;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.over();
    }, whole);
    this.timer.unref();
  }

  end(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}

/**
 * Texts that an endpoint refused although it takes others. They are left out, and a few of them are asked for again after a while:
 * filters and limits change. Where one is taken, all are asked for; where none is, the next pause is twice as long.
 */
export class RefusedTexts {
  /** Longest not asked for first. */
  private readonly digests = new Set<string>();
  /** Those that may be asked for now. */
  private readonly released = new Set<string>();
  private readonly pause: Pause;
  private pauseMs = 0;

  constructor(
    private readonly limits: {
      readonly refusedMs: number;
      readonly refusedMostMs: number;
      readonly refusedAtOnce: number;
    },
    clock: Clock,
    private readonly wake: () => void,
  ) {
    this.pause = new Pause(clock, () => this.release(limits.refusedAtOnce));
  }

  get count(): number {
    return this.digests.size;
  }

  /** Left out of what is due. */
  isLeftOut({ digest }: DueText): boolean {
    return this.digests.has(digest) && !this.released.has(digest);
  }

  /** Until some are asked for again. */
  leftMs(): number {
    return this.pause.leftMs();
  }

  add(digest: string): void {
    this.digests.delete(digest);
    this.digests.add(digest);
    this.released.delete(digest);
    if (this.pause.isOn()) return;
    this.pauseMs = Math.min(this.limits.refusedMostMs, Math.max(this.limits.refusedMs, this.pauseMs * 2));
    this.pause.begin(this.pauseMs);
  }

  /** This one is taken now: the others may be as well. */
  taken(digest: string): void {
    if (!this.digests.delete(digest)) return;
    this.released.delete(digest);
    this.pauseMs = 0;
    this.release();
  }

  /** Forgets those that are not due any more: their tools left or moved on. */
  keepOnly(due: readonly DueText[]): void {
    if (this.digests.size === 0) return;
    const there = new Set<string>(due.map(({ digest }) => digest));
    for (const digest of this.digests) if (!there.has(digest)) this.forget(digest);
    if (this.digests.size === 0) this.clear();
  }

  /** Some, or all, may be asked for again. */
  release(most = Number.POSITIVE_INFINITY): void {
    if (this.digests.size === 0) return;
    this.pause.end();
    for (const digest of this.digests) {
      if (this.released.size >= most) break;
      this.released.add(digest);
    }
    this.wake();
  }

  clear(): void {
    this.digests.clear();
    this.released.clear();
    this.pause.end();
    this.pauseMs = 0;
  }

  private forget(digest: string): void {
    this.digests.delete(digest);
    this.released.delete(digest);
  }
}

/** The first answer of an endpoint, or that none came. All who wait for it share one deadline: a dead endpoint costs it once. */
export class FirstAnswer {
  /** It came, or is not waited for any more. */
  came: () => void = () => undefined;
  private readonly heard = new Promise<void>((resolve) => (this.came = resolve));
  private timer: NodeJS.Timeout | undefined;

  async within(ms: number): Promise<void> {
    this.timer ??= setTimeout(() => this.came(), ms).unref();
    await this.heard;
    clearTimeout(this.timer);
  }
}

/** A wait as people say it: `4 min`, `20 s`. */
export function waitInWords(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1_000));
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
