/** Operations on episodes: outcomes told by agents, verified by people and systems. */
import { isEmptyEpisode, isVerified, type CallLine, type Episode, type EpisodeState, type Outcome } from "../model/episode.js";
import type { Counted, FinishAnswer, FinishTaskInput } from "../model/facade.js";
import { Fault } from "../model/fault.js";
import type { EpisodeId } from "../model/ids.js";
import type { Caller } from "../model/operations.js";
import { ownEpisode, type Desk } from "./desk.js";

/** An agent's own word: recorded as a claim, never as a verification. */
export async function finishTask(desk: Desk, input: FinishTaskInput, caller: Caller): Promise<Counted<FinishAnswer>> {
  const before = ownEpisode(desk, caller, input.episode);
  if (before === undefined) throw unknownEpisode(input.episode);
  if (before.outcome !== undefined)
    throw new Fault("episode-finished", `${input.episode} ended as ${before.outcome.outcome} at ${before.outcome.at}.`);
  await desk.calls.settled();
  const at = desk.clock.now();
  const outcome: Outcome = {
    outcome: input.outcome,
    trust: "claim",
    by: caller.principal,
    at,
    ...(input.note === undefined ? {} : { note: input.note }),
  };
  await desk.steward.post({ kind: "episode-finished", at, episode: input.episode as EpisodeId, outcome, calls: [] });
  const episode = requireEpisode(desk, input.episode);
  return {
    body: {
      episode: episode.episode,
      outcome: input.outcome,
      trust: "claim",
      recorded: { calls: episode.calls, tools: episode.tools, views: episode.views.length },
      note: "Recorded as a claim; it becomes evidence when a person, a replay or a system of record verifies it.",
    },
    episode: episode.episode,
  };
}

/** Newest first; by default without those that have nothing but searches in them. */
export function listEpisodes(desk: Desk, options: { readonly state?: EpisodeState; readonly limit?: number } = {}): Episode[] {
  const state = options.state ?? "some";
  return [...desk.steward.world().episodes.values()]
    .filter((episode) => isInState(episode, state))
    .sort((a, b) => (a.opened < b.opened ? 1 : a.opened > b.opened ? -1 : a.episode < b.episode ? -1 : 1))
    .slice(0, options.limit);
}

function isInState(episode: Episode, state: EpisodeState): boolean {
  const { outcome } = episode;
  const isEmpty = isEmptyEpisode(episode);
  switch (state) {
    case "some":
      return !isEmpty;
    case "running":
      return outcome === undefined && !isEmpty;
    case "finished":
      return outcome !== undefined;
    case "verified":
      return isVerified(outcome);
    case "empty":
      return isEmpty;
    case "all":
      return true;
  }
}

export async function readEpisode(desk: Desk, id: string): Promise<{ episode: Episode; calls: readonly CallLine[] }> {
  const episode = requireEpisode(desk, id);
  await desk.calls.settled();
  return { episode: requireEpisode(desk, episode.episode), calls: await desk.store.readCalls(id) };
}

export async function verifyEpisode(
  desk: Desk,
  id: string,
  verdict: { outcome: Outcome["outcome"]; trust: "state" | "replay" | "human"; note?: string },
  caller: Caller,
): Promise<Episode> {
  requireEpisode(desk, id);
  await desk.calls.settled();
  const at = desk.clock.now();
  const outcome: Outcome = {
    outcome: verdict.outcome,
    trust: verdict.trust,
    by: caller.principal,
    at,
    ...(verdict.note === undefined ? {} : { note: verdict.note }),
  };
  await desk.steward.post({
    kind: "episode-finished",
    at,
    episode: id as EpisodeId,
    outcome,
    calls: await desk.store.readCalls(id),
  });
  return requireEpisode(desk, id);
}

function requireEpisode(desk: Desk, id: string): Episode {
  const episode = desk.steward.world().episodes.get(id);
  if (episode === undefined) throw unknownEpisode(id);
  return episode;
}

function unknownEpisode(id: string): Fault {
  return new Fault("episode-unknown", `There is no episode ${id}.`);
}
