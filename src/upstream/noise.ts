/**
 * What one upstream writes that reaches nobody: counted, and told now and then.
 *
 * Owns: the counts, and how often they are told.
 * Speaks: texts, sentences.
 * Never: what is noise (intake.ts), whose an answer is (unaddressed.ts), how much is too much (flood.ts).
 */
import type { UpstreamLog } from "./session.js";

export interface NoiseCounts {
  /** Texts that were no message, or nobody's. */
  readonly noiseLines: number;
  /** Answers that named no request. */
  readonly answersWithoutId: number;
}

export interface Noise {
  /** A text where a message should be; with its first characters. */
  onNoise(head: string): void;
  /** An answer that names no request; with what became of it. */
  onUnaddressed(sentence: string): void;
  counts(): NoiseCounts;
}

export interface NoiseOptions {
  readonly label: string;
  readonly log: UpstreamLog;
  readonly redacted: (text: string) => string;
  readonly elapsedMs: () => number;
}

/** Each kind is told at most so often, in milliseconds. */
const TOLD_MS = 60_000;
/** Of a text, characters that are told. */
const TOLD_CHARS = 120;

export function createNoise({ label, log, redacted, elapsedMs }: NoiseOptions): Noise {
  const counts = { noiseLines: 0, answersWithoutId: 0 };
  const toldMs = { noiseLines: Number.NEGATIVE_INFINITY, answersWithoutId: Number.NEGATIVE_INFINITY };

  function isDue(kind: keyof NoiseCounts): boolean {
    counts[kind] += 1;
    if (elapsedMs() - toldMs[kind] < TOLD_MS) return false;
    toldMs[kind] = elapsedMs();
    return true;
  }

  return {
    onNoise(head) {
      if (!isDue("noiseLines")) return;
      const first = redacted(head).slice(0, TOLD_CHARS);
      log("warn", `upstream ${label} writes what is no message; such lines are skipped`, { lines: counts.noiseLines, first });
    },
    onUnaddressed(sentence) {
      if (isDue("answersWithoutId")) log("warn", `upstream ${label}: ${sentence}`, { answers: counts.answersWithoutId });
    },
    counts: () => ({ ...counts }),
  };
}
