/**
 * What happens in episodes: views answered, calls made, outcomes told or verified.
 */
import { flowId, flowsOf } from "../graph/flows.js";
import { canonicalJson, sha256 } from "../catalog/canonical.js";
import { Fault } from "../model/fault.js";
import {
  isEmptyEpisode,
  isVerified,
  TRUST_RANK,
  type CallLine,
  type Episode,
  type Evidence,
  type Outcome,
} from "../model/episode.js";
import { FLOW_EPISODES, FLOWS_KEPT, type SeenFlow } from "../model/flow.js";
import type { EpisodeOpening, Event } from "../model/event.js";
import type { Instant } from "../model/ids.js";
import type { JsonValue } from "../model/json.js";
import { EMPTY_EPISODES_KEPT_MS } from "../model/policy.js";
import { put, type Draft } from "./draft.js";

type Of<Kind extends Event["kind"]> = Extract<Event, { kind: Kind }>;

export function decideEpisodeOpened(draft: Draft, event: Of<"episode-opened">): void {
  put(draft, { kind: "episode", episode: openEpisode(event.episode, event.opening, event.at) });
}

export function decideViewAnswered(draft: Draft, event: Of<"view-answered">): void {
  const { record } = event;
  const episode = runningEpisode(draft, record.episode, event.open, event.at);
  put(draft, { kind: "view", record });
  put(draft, {
    kind: "episode",
    episode: {
      ...episode,
      moved: event.at,
      turn: record.request.kind === "start" ? episode.turn + 1 : episode.turn,
      // The view says what was used: a call that was refused over the limit is not counted.
      explored: record.request.kind === "explore" ? record.view.budgets.explore.used : episode.explored,
      skillChars: Math.max(episode.skillChars, record.view.budgets.skill_chars.used),
      views: [...episode.views, record.view.view],
    },
  });
}

/**
 * A call is evidence whatever became of its episode meanwhile: it is written down after the answer went out. Calls of one event are
 * numbered in their order, and each episode among them moves once.
 */
export function decideEpisodeCalls(draft: Draft, event: Of<"episode-calls">): void {
  const moved = new Map<string, Episode>();
  for (const { line, open } of event.calls) {
    const episode =
      moved.get(line.episode) ?? draft.world.episodes.get(line.episode) ?? openEpisode(line.episode, open ?? unnamed, event.at);
    const seq = episode.calls + 1;
    put(draft, { kind: "call", line: { ...line, format: "call/1", seq } });
    const tools = episode.tools.includes(line.tool) ? episode.tools : [...episode.tools, line.tool];
    moved.set(line.episode, { ...episode, moved: event.at, calls: seq, tools });
    learnFlows(draft, line);
  }
  for (const episode of moved.values()) put(draft, { kind: "episode", episode });
}

/** Writes down what the call was seen to take from others' results, until it was seen often enough to count. */
function learnFlows(draft: Draft, line: Pick<CallLine, "episode" | "tool" | "isError" | "flows">): void {
  const set = new Map<string, SeenFlow>();
  for (const flow of flowsOf(line)) {
    const id = flowId(flow);
    const episodes = draft.known.flows.get(id)?.episodes ?? [];
    if (episodes.length >= FLOW_EPISODES || episodes.includes(line.episode)) continue;
    if (episodes.length === 0 && draft.known.flows.size + set.size >= FLOWS_KEPT) {
      const text = `More than ${FLOWS_KEPT} flows between tools were seen; ${flow.from} → ${flow.to} is not learnt.`;
      draft.effects.push({ kind: "log", level: "warn", text });
      continue;
    }
    set.set(id, { ...flow, episodes: [...episodes, line.episode] });
  }
  if (set.size > 0) put(draft, { kind: "flows", set });
}

/** Episodes retired by one tick: as many as a write takes without being noticed. */
const RETIRED_AT_ONCE = 2_000;

/**
 * Forgets episodes past their time: what they were is evidence of nothing. Verified ones stay, and so does every view and call of
 * theirs. Those with nothing but searches in them go sooner, though not while they may still be gone on with.
 */
export function retireEpisodes(draft: Draft, at: Instant): void {
  const { episodesKeptMs, episodeIdleMs } = draft.known.policy;
  const since = (ms: number): string => new Date(Date.parse(at) - ms).toISOString();
  const before = since(episodesKeptMs);
  const beforeEmpty = since(Math.min(episodesKeptMs, Math.max(EMPTY_EPISODES_KEPT_MS, episodeIdleMs)));
  let count = 0;
  let empty = 0;
  for (const episode of draft.world.episodes.values()) {
    if (count + empty === RETIRED_AT_ONCE) break;
    const isOld = episode.moved < before;
    if (isVerified(episode.outcome) || !(isOld || (episode.moved < beforeEmpty && isEmptyEpisode(episode)))) continue;
    put(draft, { kind: "episode", episode: { ...episode, retired: true } });
    if (isOld) count += 1;
    else empty += 1;
  }
  if (empty > 0) {
    const text = `${empty} episodes of a day ago and longer, with nothing but searches in them, are forgotten.`;
    draft.effects.push({ kind: "log", level: "info", text });
  }
  if (count === 0) return;
  const text = `${count} episodes in which nothing happened for longer than policy.episodesKeptMs, and that nobody verified, are forgotten.`;
  draft.effects.push({ kind: "log", level: "info", text });
}

export function decideEpisodeFinished(draft: Draft, event: Of<"episode-finished">): void {
  const episode = draft.world.episodes.get(event.episode);
  if (episode === undefined) throw new Fault("episode-unknown", `There is no episode ${event.episode}.`);
  const { outcome } = event;
  if (episode.outcome !== undefined && TRUST_RANK[outcome.trust] < TRUST_RANK[episode.outcome.trust]) {
    throw new Fault(
      "episode-finished",
      `Its outcome is already ${episode.outcome.outcome}, by ${episode.outcome.trust}; a ${outcome.trust} cannot replace that.`,
    );
  }
  put(draft, { kind: "episode", episode: { ...episode, moved: event.at, outcome } });
  if (isVerified(outcome)) putEvidence(draft, episode, event.calls, outcome);
  draft.effects.push({ kind: "episode-ended", episode: event.episode });
}

/** Taken in whole: episode, calls and, where the outcome is trusted, evidence. What is here already stays as it is. */
export function decideEpisodesImported(draft: Draft, event: Of<"episodes-imported">): void {
  for (const { episode, calls } of event.episodes) {
    if (draft.world.episodes.has(episode.episode)) continue;
    for (const line of calls) {
      put(draft, { kind: "call", line });
      learnFlows(draft, line);
    }
    put(draft, { kind: "episode", episode });
    const { outcome } = episode;
    if (isVerified(outcome)) putEvidence(draft, episode, calls, outcome);
  }
}

function putEvidence(draft: Draft, episode: Episode, calls: readonly CallLine[], outcome: Outcome): void {
  const evidence: Evidence = { format: "evidence/1", episode: episode.episode, task: episode.task, calls: [...calls], outcome };
  put(draft, { kind: "evidence", digest: sha256(canonicalJson(evidence as unknown as JsonValue)), evidence });
}

const unnamed: EpisodeOpening = { task: "", explicit: false, principal: "unknown" };

function runningEpisode(draft: Draft, id: string, opening: EpisodeOpening | undefined, at: string): Episode {
  const episode = draft.world.episodes.get(id);
  if (episode === undefined) {
    if (opening === undefined) throw new Fault("episode-unknown", `There is no episode ${id}; start_task opens one.`);
    return openEpisode(id, opening, at);
  }
  if (episode.outcome !== undefined)
    throw new Fault("episode-finished", `${id} ended at ${episode.outcome.at}; start_task opens a new one.`);
  return episode;
}

function openEpisode(id: string, opening: EpisodeOpening, at: string): Episode {
  return {
    format: "episode/1",
    episode: id,
    opened: at,
    moved: at,
    task: opening.task,
    explicit: opening.explicit,
    principal: opening.principal,
    ...(opening.session === undefined ? {} : { session: opening.session }),
    turn: 0,
    explored: 0,
    skillChars: 0,
    views: [],
    calls: 0,
    tools: [],
  };
}
