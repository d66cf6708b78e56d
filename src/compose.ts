/**
 * Compose: puts the house together.
 *
 * Owns: which implementation stands behind each port, the order of start and stop.
 * Speaks: every room.
 * Never: decides anything about catalogs, skills or views.
 *
 *   start: lock home → read ground → rebuild → configured (standings settle) → skill folders → upstreams connect in the background
 *   stop:  take no more requests → calls finish → upstreams end → inbox empties → home closes
 */
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { readConfig } from "./config/config.js";
import { answerPatterns, embedderOf, managerOf, openUpstreams, type Surroundings } from "./fittings.js";
import { tendGraph } from "./graph/graph.js";
import { base32, systemChance } from "./host/chance.js";
import { systemClock } from "./host/clock.js";
import { nodeFiles } from "./host/files.js";
import { redactArgs } from "./host/redact.js";
import { codeStamp, packageVersion } from "./host/starter.js";
import { watchPaths, type Watching } from "./host/watch.js";
import { keepConfigNotes } from "./config/notes.js";
import { watchConfig } from "./config/watch.js";
import { openMemory } from "./manager/llm-memory.js";
import type { Config } from "./model/config.js";
import type { Event } from "./model/event.js";
import { splitToolKey } from "./model/ids.js";
import type { Operations, UpstreamAnnouncement } from "./model/operations.js";
import { createCallLog } from "./operations/call-log.js";
import { createCalibrating } from "./operations/calibrate.js";
import { createMemory, type Desk } from "./operations/desk.js";
import { takeFolders, takeHandEdits } from "./operations/library.js";
import { maintain } from "./operations/maintenance.js";
import { keepMaintained } from "./operations/maintenance-auto.js";
import { createOperations } from "./operations/operations.js";
import { keepPrepared } from "./operations/prepared.js";
import { createSteward, type Steward } from "./steward.js";
import { shippedLock } from "./store/seed.js";
import { openTokenFile, type TokenFile } from "./store/token-file.js";
import { openStore, type HomeStore } from "./store/store.js";
import { tendIndexes } from "./world/prepared.js";
import { rebuild } from "./world/rebuild.js";
import type { World } from "./world/world.js";

export interface ComposeOptions extends Surroundings {
  /** The running main script: upstreams of the sample ecosystem are started with it. */
  readonly main: string;
  /** Watch the skill folders and the configuration for edits. */
  readonly watch: boolean;
}

export interface House {
  readonly home: string;
  readonly version: string;
  readonly config: Config;
  readonly store: HomeStore;
  readonly steward: Steward;
  readonly operations: Operations;
  readonly tokens: TokenFile;
  /** To be called once, when the house answers: builds in idle moments what the first task would otherwise wait for. */
  warm(): void;
  stop(): Promise<void>;
}

/** Tools and skills that the dependency graph grows by at a time: a few ms, between which requests have their turn. */
const GRAPH_STEPS_AT_ONCE = 32;
/** Words of the indexes, likewise. */
const WORDS_AT_ONCE = 1_000;
/** Skill folders that take a tenth of a second to look at. */
const MANY_FOLDERS = 2_000;
/** Seconds matter for the grace period only in hours: a tick a minute is enough. */
const TICK_MS = 60_000;

export async function compose(options: ComposeOptions): Promise<House> {
  const { home, log } = options;
  const clock = systemClock();
  const started = clock.now();
  const store = await openStore({ home, now: started, log, stamp: codeStamp() });
  try {
    return await furnish(options, store, started);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function furnish(options: ComposeOptions, store: HomeStore, started: string): Promise<House> {
  const { home, log } = options;
  const clock = systemClock();
  const version = packageVersion();
  let config = await readConfig(home, { env: options.env, main: options.main });
  const ground = await store.read();
  // What outlives the start names what it needs: the ground state as it was read is large, and gone when the world stands.
  const { problems: found, prepared } = ground;
  const isNew = ground.revision === undefined;
  const notes = keepConfigNotes(config);
  for (const problem of [...found, ...notes.problems()]) log.warn(`${problem.where}: ${problem.text}`);
  const report = (level: "info" | "warn" | "error", text: string, data?: Record<string, unknown>): void => log[level](text, data);
  const tokens = openTokenFile(home, report);
  const steward = createSteward({ world: rebuild(ground, started), store, log: report });
  steward.onEffect((effect) => {
    if (effect.kind === "log") log[effect.level](effect.text, effect.data);
    else if (effect.kind === "texts-moved") embedder.wake();
    if (effect.kind === "texts-moved" || effect.kind === "episode-ended") calibrating.wake();
  });
  const stopPatterns = answerPatterns(steward, clock, report);
  const announcements = new Set<(label: string, announced: UpstreamAnnouncement) => void>();
  const announce = (label: string, announced: UpstreamAnnouncement): void => {
    for (const listener of announcements) listener(label, announced);
  };
  const { upstreams, settled } = await openUpstreams(options, config, steward, announce, () => reread());
  const calibrating = createCalibrating(steward, clock, report);
  const embedder = embedderOf(options, steward, () => config.secrets, report);
  const memory = openMemory({ path: join(home, "state/manager.json"), files: nodeFiles(), log: report });
  const redact: Desk["redact"] = (value) => redactArgs(value, config.secrets);
  const desk: Desk = {
    steward,
    store,
    upstreams,
    manager: managerOf(options, config, memory, report),
    clock,
    chance: systemChance(),
    log: report,
    redact,
    readsOnly: (tool) => {
      const { label, name } = splitToolKey(tool);
      return config.upstreams.get(label)?.readOnlyTools?.includes(name) === true;
    },
    tokenNames: () => tokens.inForce().tokens.tokens.map(({ name }) => name),
    home,
    version,
    started,
    problems: () => [...found, ...store.problems(), ...notes.problems(), ...tokens.problems()],
    embedder,
    memory: createMemory(),
    calls: createCallLog({ steward, clock, redact, log: report, flowKey: base32(32) }),
    onUpstreamAnnouncement(listener) {
      announcements.add(listener);
      return () => announcements.delete(listener);
    },
  };
  const auto = keepMaintained({
    steward,
    clock,
    log: report,
    run: () => maintain(desk, { mode: "incremental", dryRun: false }),
  });
  steward.onEffect((effect) => {
    if (effect.kind === "maintenance-due" || effect.kind === "announce-skills") auto.wake();
  });
  // Where nothing is to be connected, the last good catalog is worked on as it was offered last.
  await steward.post(configuredEvent(config, clock.now(), options.upstreams));
  // Thousands of folders are watched and looked at once the house answers: what was edited meanwhile is taken up a moment after the
  // start instead of keeping everybody waiting.
  const looksLater = options.watch && steward.world().library.skills.size >= MANY_FOLDERS;
  if (!looksLater) await takeFolders(desk, isNew ? shippedLock(home) : undefined);
  const keeper = keepPrepared(() => steward.world(), store, [...prepared.keys()]);
  const tick = setInterval(() => {
    void steward.post({ kind: "tick", at: clock.now() }).catch(() => undefined);
    auto.wake();
    void keeper.whenCalm();
  }, TICK_MS);
  tick.unref();
  const watching: Watching[] = [];
  if (options.watch) watching.push(watchConfiguration());
  if (options.watch && !looksLater) watching.push(watchFolders());
  await embedder.configure(config.embeddings);
  calibrating.wake();
  if (options.upstreams) upstreams.start();

  /** Edits by hand are taken up as they are saved; a broken one leaves the last good state in force. */
  function watchFolders(): Watching {
    const look = (): void => void takeHandEdits(desk).catch(unwatched);
    const skills = watchPaths([join(home, "skills")], look, unwatched);
    // What was edited after the folders were read and before they were watched.
    void skills.ready.then(look);
    return skills;
  }
  function watchConfiguration(): Watching {
    return watchConfig(home, { env: options.env, main: options.main }, (move) => {
      if (move.kind === "unreadable") log.error(notes.unreadable(move.fault).text);
      else void reconfigure(move.config).catch(unwatched);
    });
  }
  function unwatched(error: unknown): void {
    log.warn(`watching ${home} failed; edits are seen at the next start: ${String(error)}`);
  }

  let stopped = false;
  function warm(): void {
    if (looksLater && !stopped) watching.push(watchFolders());
    warmSome();
  }
  function warmSome(): void {
    const isWarm = (world: World): boolean => tendGraph(world.graph, GRAPH_STEPS_AT_ONCE) && tendIndexes(world, WORDS_AT_ONCE);
    if (!stopped && !isWarm(steward.world())) setImmediate(warmSome);
  }

  /** Where an upstream refuses what it is told of us: the file may hold something newer that was not seen yet. */
  async function reread(): Promise<void> {
    const next = await readConfig(home, { env: options.env, main: options.main });
    if (!stopped && !isDeepStrictEqual(next.upstreams, config.upstreams)) await reconfigure(next);
  }

  async function reconfigure(next: Config): Promise<void> {
    for (const problem of notes.read(next)) log.warn(`${problem.where}: ${problem.text}`);
    config = next;
    await steward.post(configuredEvent(next, clock.now(), false));
    if (options.upstreams) await upstreams.configure(next.upstreams);
    await embedder.configure(next.embeddings);
    log.info("the configuration was read again");
  }

  return {
    home,
    version,
    config,
    store,
    steward,
    operations: createOperations(desk),
    tokens,
    warm,
    async stop() {
      stopped = true;
      clearInterval(tick);
      await auto.stop();
      for (const watcher of watching) await watcher.stop();
      await upstreams.stop();
      await embedder.stop();
      await calibrating.stop();
      await stopPatterns();
      await Promise.all(desk.memory.turns.values());
      await desk.calls.settled();
      await steward.close();
      await settled();
      await memory.settled();
      await keeper.now();
      await store.close();
    },
  };
}

/** The event that puts a configuration in force; `starting`: nothing is connected yet. */
export function configuredEvent(config: Config, at: string, starting: boolean): Event {
  const upstreams = new Map(
    [...config.upstreams].map(([label, { disabled, prefix, skills }]) => [label, { disabled, prefix, skills }] as const),
  );
  return { kind: "configured", at, starting, upstreams, policy: config.policy };
}
