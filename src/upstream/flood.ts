/**
 * Upstreams that write on and on without a message: told from those that are merely noisy.
 *
 * Owns: what came since the last message within the time in which it counts, and where in that time the flood began.
 * Speaks: bytes, lines, milliseconds.
 * Never: ending anything itself.
 */
import { UPSTREAM_LIMITS } from "../model/policy.js";

export interface FloodGuard {
  add(bytes: number, lines: number): void;
  /** A message came. */
  reset(): void;
}

/** What came within one step of time. */
interface Slice {
  readonly atMs: number;
  bytes: number;
  lines: number;
}
const STEP_MS = 1_000;
/** Of all that counts, the part that came before the flood: a line now and then does not make it older. */
const BEFORE = 0.01;

/**
 * `onFlood` is called once, when within the last `floodMs` and since the last message more came than any upstream has reason to write: it
 * would go on for ever and take the daemon's time from all others. A server that logs to stdout for days is noisy; only one that does
 * nothing else is of no use.
 */
export function createFloodGuard(options: { elapsedMs: () => number; onFlood: (sentence: string) => void }): FloodGuard {
  let slices: Slice[] = [];
  let counted = 0;
  let told = false;

  function count(bytes: number, lines: number, nowMs: number): void {
    const last = slices.at(-1);
    if (last === undefined || nowMs - last.atMs >= STEP_MS) slices.push({ atMs: nowMs, bytes, lines });
    else {
      last.bytes += bytes;
      last.lines += lines;
    }
    counted += weightOf({ bytes, lines });
    for (let first = slices[0]; first !== undefined && nowMs - first.atMs > UPSTREAM_LIMITS.floodMs; first = slices[0]) {
      counted -= weightOf(first);
      slices.shift();
    }
  }

  return {
    add(bytes, lines) {
      const nowMs = options.elapsedMs();
      count(bytes, lines, nowMs);
      if (counted <= UPSTREAM_LIMITS.floodBytes || told) return;
      told = true;
      options.onFlood(sentenceOf(floodIn(slices, counted), nowMs));
      slices = [];
    },
    reset() {
      if (slices.length > 0) slices = [];
      counted = 0;
    },
  };
}

function weightOf({ bytes, lines }: Pick<Slice, "bytes" | "lines">): number {
  return bytes + lines * UPSTREAM_LIMITS.floodLineBytes;
}

/** The last of these slices, from where all that comes before is next to nothing. */
function floodIn(slices: readonly Slice[], counted: number): readonly Slice[] {
  let before = 0;
  const from = slices.findIndex((slice) => (before += weightOf(slice)) > counted * BEFORE);
  return slices.slice(Math.max(0, from));
}

function sentenceOf(flood: readonly Slice[], nowMs: number): string {
  const bytes = flood.reduce((sum, slice) => sum + slice.bytes, 0);
  const lines = flood.reduce((sum, slice) => sum + slice.lines, 0);
  const tookMs = Math.ceil(nowMs - (flood[0]?.atMs ?? nowMs));
  return `it wrote ${bytes} bytes in ${lines} lines to stdout within ${tookMs} ms without a message among them`;
}
