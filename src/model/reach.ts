/**
 * Reach: the upstreams whose tools a caller may use.
 *
 * Owns: what a reach covers.
 * Speaks: labels and tool keys.
 * Never: who has which reach (state/tokens.json), what an answer leaves out for it (world/reach.ts).
 */
import { splitToolKey } from "./ids.js";

/** Labels of upstreams; undefined = all. */
export type Reach = ReadonlySet<string> | undefined;

export function reaches(reach: Reach, label: string): boolean {
  return reach === undefined || reach.has(label);
}

export function reachesTool(reach: Reach, key: string): boolean {
  return reaches(reach, splitToolKey(key).label);
}
