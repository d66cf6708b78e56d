/**
 * The desk: what every operation works with.
 *
 * Owns: the bundle of ports behind the operations, and the little memory that belongs to no noun: running episodes of sessions,
 *       kept results.
 * Speaks: ports of model/, the steward.
 * Never: wire forms; deciding what an event means.
 */
import type { CatalogPin } from "../model/catalog.js";
import type { MaintenanceTally } from "../model/maintenance.js";
import type { Caller, UpstreamAnnouncement } from "../model/operations.js";
import type { Chance, Clock, Manager, Store, Upstreams } from "../model/ports.js";
import type { Episode } from "../model/episode.js";
import type { EpisodeOpening } from "../model/event.js";
import { Fault } from "../model/fault.js";
import type { EpisodeId, ToolKey } from "../model/ids.js";
import type { JsonValue } from "../model/json.js";
import type { Problem } from "../model/problem.js";
import type { Embedder } from "../model/vectors.js";
import type { Steward } from "../steward.js";
import type { CallLog } from "./call-log.js";
import type { Running } from "./maintenance-runs.js";

export interface Desk {
  readonly steward: Steward;
  readonly store: Store;
  readonly upstreams: Upstreams;
  readonly manager: Manager;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly log: (level: "info" | "warn" | "error", text: string, data?: Record<string, unknown>) => void;
  /** Replaces secrets, keeping types; tells the JSON pointers of what was replaced. */
  readonly redact: (value: JsonValue) => { value: JsonValue; paths: readonly string[] };
  /** The configuration says of this tool that it only reads, whatever it says of itself. */
  readonly readsOnly: (tool: ToolKey) => boolean;
  /** Names of the tokens in force. */
  readonly tokenNames: () => readonly string[];
  readonly home: string;
  readonly version: string;
  readonly started: string;
  /** What reading the home and the configuration found. */
  /** What is imperfect in the home and its configuration, as it was read last. */
  readonly problems: () => readonly Problem[];
  readonly embedder: Embedder;
  readonly memory: DeskMemory;
  readonly calls: CallLog;
  /** What upstreams announce beside their tools; answers how to stop listening. */
  readonly onUpstreamAnnouncement: (listener: (label: string, announced: UpstreamAnnouncement) => void) => () => void;
}

export interface DeskMemory {
  /** transport session → the catalog version it stays with; gone with the daemon, as sessions are */
  readonly pins: Map<string, Pick<CatalogPin, "version" | "tools">>;
  /** transport session → its running episode */
  readonly sessions: Map<string, EpisodeId>;
  /** One piece of work at a time per episode: budgets are counted, not raced for. */
  readonly turns: Map<string, Promise<unknown>>;
  /** Maintenance runs under way, oldest first. */
  readonly runs: Map<string, Running>;
  /** What became of the edits of runs so far. */
  tally: MaintenanceTally;
  /** The skill folders as they were looked at last: what they were, and why some of them were not taken up. */
  readonly folders: { seen: string; refused: readonly Problem[] };
  /** Kept whole results by id with the principal whose call made them, oldest first. */
  readonly results: Map<string, { readonly text: string; readonly of: string }>;
}

/** Sessions whose running episode is remembered: more than can be open at once. */
const SESSIONS_MOST = 10_000;
/** Bytes of kept results. */
export const RESULTS_MOST_BYTES = 64 * 1024 * 1024;

export function createMemory(): DeskMemory {
  return {
    pins: new Map(),
    sessions: new Map(),
    turns: new Map(),
    results: new Map(),
    runs: new Map(),
    tally: { runs: 0, applied: 0, skipped: 0, proposed: 0, refused: 0 },
    folders: { seen: "", refused: [] },
  };
}

/** Runs `work` after all earlier work of the same episode, whether that failed or not. */
export async function inTurn<Result>(desk: Desk, episode: string, work: () => Promise<Result>): Promise<Result> {
  const before = desk.memory.turns.get(episode) ?? Promise.resolve();
  const result = before.then(work, work);
  const settled = result.catch(() => undefined);
  desk.memory.turns.set(episode, settled);
  void settled.then(() => {
    if (desk.memory.turns.get(episode) === settled) desk.memory.turns.delete(episode);
  });
  return await result;
}

export interface ChosenEpisode {
  readonly id: EpisodeId;
  /** The caller named it: it shows in the answer's body. */
  readonly named: boolean;
  readonly open: EpisodeOpening | undefined;
}

/**
 * The episode an operation counts in: the named one; else the session's running one; else the token's last one if it is young and
 * unfinished; else a new implicit one, which is the session's running one from here on. An implicit one ends by resting.
 */
export function chooseEpisode(desk: Desk, caller: Caller, named: string | undefined): ChosenEpisode {
  const { episodes } = desk.steward.world();
  if (named !== undefined) {
    if (ownEpisode(desk, caller, named) === undefined)
      throw new Fault("episode-unknown", `There is no episode ${named}; start_task opens one.`);
    return { id: named as EpisodeId, named: true, open: undefined };
  }
  const bound = caller.session === undefined ? undefined : desk.memory.sessions.get(caller.session);
  if (bound !== undefined) {
    const running = episodes.get(bound);
    // Its first call was answered and is not on disc yet.
    if (running === undefined) return { id: bound, named: false, open: opening(caller, "", false) };
    if (running.outcome === undefined && (running.explicit || isYoung(desk, running)))
      return { id: bound, named: false, open: undefined };
  }
  const last = hasToken(caller) ? lastOf(episodes, caller.principal) : undefined;
  if (last !== undefined && last.outcome === undefined && isYoung(desk, last))
    return { id: last.episode as EpisodeId, named: false, open: undefined };
  const id = desk.chance.id("ep_") as EpisodeId;
  bindSession(desk, caller, id);
  return { id, named: false, open: opening(caller, "", false) };
}

function isYoung(desk: Desk, episode: Episode): boolean {
  return Date.parse(desk.clock.now()) - Date.parse(episode.moved) < desk.steward.world().policy.episodeIdleMs;
}

export function opening(caller: Caller, task: string, explicit: boolean): EpisodeOpening {
  return { task, explicit, principal: caller.principal, ...(caller.session === undefined ? {} : { session: caller.session }) };
}

/** Remembers the episode as the session's running one. */
export function bindSession(desk: Desk, caller: Caller, episode: EpisodeId): void {
  if (caller.session === undefined) return;
  const { sessions } = desk.memory;
  sessions.delete(caller.session);
  sessions.set(caller.session, episode);
  for (const oldest of sessions.keys()) {
    if (sessions.size <= SESSIONS_MOST) break;
    sessions.delete(oldest);
  }
}

/** Callers without a token share a principal; only a token's own name tells one agent from another. */
const SHARED_PRINCIPALS: ReadonlySet<string> = new Set(["local", "mcp"]);

function hasToken(caller: Caller): boolean {
  return !SHARED_PRINCIPALS.has(caller.principal);
}

/** May this caller use what `principal` made? A token's is its own; callers without one share theirs, by ids nobody guesses. */
export function isOwn(caller: Caller, principal: string): boolean {
  return principal === caller.principal || (!hasToken(caller) && SHARED_PRINCIPALS.has(principal));
}

/** An episode of this caller; another's is not there for it. */
export function ownEpisode(desk: Desk, caller: Caller, id: string): Episode | undefined {
  const episode = desk.steward.world().episodes.get(id);
  return episode !== undefined && isOwn(caller, episode.principal) ? episode : undefined;
}

function lastOf(episodes: ReadonlyMap<string, Episode>, principal: string): Episode | undefined {
  let last: Episode | undefined;
  for (const episode of episodes.values()) {
    if (episode.principal === principal && (last === undefined || episode.moved > last.moved)) last = episode;
  }
  return last;
}
