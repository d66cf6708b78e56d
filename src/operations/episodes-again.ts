/**
 * A log that is taken in again may say what became of its tasks, where it said nothing before: such a verdict is heard, not lost.
 *
 * A word that is trusted no more than the one that stands replaces nothing; where the two differ, that is told with the way out.
 */
import { canonicalJson } from "../catalog/canonical.js";
import { TRUST_RANK, type CallLine, type Episode, type Outcome } from "../model/episode.js";
import type { EpisodeId } from "../model/ids.js";
import type { JsonValue } from "../model/json.js";
import type { World } from "../world/world.js";
import type { Desk } from "./desk.js";

/** A verdict on an episode that is here, and what is to become of it; undefined where it says nothing new. */
export type Again =
  | { readonly kind: "taken"; readonly episode: string; readonly outcome: Outcome; readonly calls: readonly CallLine[] }
  | { readonly kind: "left"; readonly episode: string; readonly why: string };

export async function verdictAgain(
  desk: Desk,
  world: World,
  { episode: told, calls }: { readonly episode: Episode; readonly calls: readonly CallLine[] },
): Promise<Again | undefined> {
  const { episode, outcome } = told;
  const had = world.episodes.get(episode)?.outcome;
  if (outcome === undefined || (had?.outcome === outcome.outcome && TRUST_RANK[had.trust] >= TRUST_RANK[outcome.trust]))
    return undefined;
  if (had !== undefined && TRUST_RANK[had.trust] >= TRUST_RANK[outcome.trust]) {
    const verify = `\`steward episodes verify ${episode} ${outcome.outcome}\` replaces that`;
    return {
      kind: "left",
      episode,
      why: `it is ${had.outcome} already, by ${had.trust}, and ${outcome.outcome} here, by ${outcome.trust}; ${verify}`,
    };
  }
  const kept = await desk.store.readCalls(episode);
  if (said(kept) !== said(calls)) return { kind: "left", episode, why: "its calls here are others than those of the log" };
  return { kind: "taken", episode, outcome, calls: kept };
}

/** What was called with what, whatever became of it. */
function said(calls: readonly CallLine[]): string {
  return canonicalJson(calls.map(({ tool, args }) => [tool, args]) as unknown as JsonValue);
}

export async function hearVerdict(desk: Desk, again: Extract<Again, { kind: "taken" }>): Promise<void> {
  const { episode, outcome, calls } = again;
  const at = desk.clock.now();
  await desk.steward.post({ kind: "episode-finished", at, episode: episode as EpisodeId, outcome: { ...outcome, at }, calls });
}
