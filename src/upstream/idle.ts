/**
 * Rest: a spawned upstream that nobody uses is stopped; its tools stay listed and a call starts it.
 *
 * Owns: one timer per upstream, looked at again when it fires instead of being wound up with each call.
 * Speaks: milliseconds.
 * Never: stopping anything itself.
 */
export interface IdleWatch {
  /** It was used until now. */
  touch(): void;
  /** Watches from now on (again), with the limit in force. */
  watch(): void;
  stop(): void;
}
export interface IdleOptions {
  /** 0 = never rests. */
  readonly limitMs: () => number;
  readonly elapsedMs: () => number;
  /** Calls or subscriptions need it now. */
  readonly needed: () => boolean;
  /** It has been idle for the limit. False = it cannot rest now; it is watched on. */
  readonly rest: () => boolean;
}

export function createIdleWatch({ limitMs, elapsedMs, needed, rest }: IdleOptions): IdleWatch {
  let timer: NodeJS.Timeout | undefined;
  let usedAtMs = elapsedMs();

  function watch(): void {
    clearTimeout(timer);
    timer = undefined;
    if (limitMs() <= 0) return;
    timer = setTimeout(look, Math.max(1, usedAtMs + limitMs() - elapsedMs()));
    timer.unref();
  }

  function look(): void {
    timer = undefined;
    if (needed()) usedAtMs = elapsedMs();
    if (elapsedMs() - usedAtMs >= limitMs() && rest()) return;
    if (elapsedMs() - usedAtMs >= limitMs()) usedAtMs = elapsedMs();
    watch();
  }

  return {
    touch() {
      usedAtMs = elapsedMs();
    },
    watch,
    stop: () => clearTimeout(timer),
  };
}
