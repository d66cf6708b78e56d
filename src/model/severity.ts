/**
 * Severities of log messages (RFC 5424), least severe first.
 *
 * Owns: their order.
 * Speaks: words.
 * Never: who wants which (surfaces), how an upstream is told (upstream).
 */
export const SEVERITIES = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

export function isSeverity(word: unknown): word is string {
  return typeof word === "string" && (SEVERITIES as readonly string[]).includes(word);
}

/** Is a message of this severity wanted by who asked for `least` and above? Words that are no severity always are. */
export function isSevere(word: unknown, least: string): boolean {
  const at = (SEVERITIES as readonly unknown[]).indexOf(word);
  return at < 0 || at >= (SEVERITIES as readonly string[]).indexOf(least);
}
