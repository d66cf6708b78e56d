/**
 * Headers of the agent that go on with its call, where the configuration allows them by name.
 *
 * Owns: the allow-list.
 * Speaks: header names and values (RFC 9110).
 * Never: configured headers (they go with every request of an upstream), copies of arguments (catalog/header-marks.ts).
 */
import type { HttpUpstream } from "../model/config.js";

/** Hop-by-hop and session headers never pass, whatever the configuration names. */
const NEVER_FORWARDED =
  /^(host|connection|content-.*|transfer-encoding|accept.*|mcp-.*|last-event-id|keep-alive|upgrade|te|trailer|origin|proxy-.*)$/i;

/** The agent's headers reduced to those that this upstream may see. */
export function forwardedHeaders(
  config: HttpUpstream,
  headers: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  if (headers === undefined || config.forwardHeaders.length === 0) return {};
  const allowed = new Set(config.forwardHeaders.map((name) => name.toLowerCase()));
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => allowed.has(name.toLowerCase()) && !NEVER_FORWARDED.test(name)),
  );
}
