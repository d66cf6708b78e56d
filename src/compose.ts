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
import { tendGraph } from "./graph/graph.js";
import { loadGraphAddon } from "./host/addon.js";
import { base32, systemChance } from "./host/chance.js";
import { systemClock } from "./host/clock.js";
import { baseEnv, type Environment } from "./host/env.js";
import { nodeFiles } from "./host/files.js";
import { createPatternRunner } from "./host/patterns.js";
import type { Log } from "./host/log.js";
import { redactArgs } from "./host/redact.js";
import { codeStamp, packageVersion } from "./host/starter.js";
import { watchPaths, type Watching } from "./host/watch.js";
import { keepConfigNotes } from "./config/notes.js";
import { watchConfig } from "./config/watch.js";
import { createEmbeddings } from "./manager/embeddings.js";
import { openVectorCache } from "./manager/embeddings-cache.js";
import { createEmbeddingsSwitch, type EmbeddingsSwitch } from "./manager/embeddings-switch.js";
import { createLlm } from "./manager/llm.js";
import { openMemory, type KeptMemory } from "./manager/llm-memory.js";
import { createRules } from "./manager/rules.js";
import { proposeByRules } from "./maintain/propose.js";
import type { Config } from "./model/config.js";
import type { Event } from "./model/event.js";
import type { GraphAddon } from "./retrieve/nominate.js";
import { splitToolKey } from "./model/ids.js";
import type { Operations, UpstreamAnnouncement } from "./model/operations.js";
import type { Clock, Manager, Upstreams } from "./model/ports.js";
import { NO_EMBEDDER, type EmbeddedText } from "./model/vectors.js";
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
import { announcementOf } from "./upstream/translate.js";
import { reapLeftovers } from "./upstream/reap.js";
import { openProcessRecords } from "./upstream/records.js";
import { createUpstreams } from "./upstream/upstreams.js";
import { tendIndexes } from "./world/prepared.js";
import { rebuild } from "./world/rebuild.js";
import { dueTexts, tendVectors } from "./world/vectors.js";
import { questionId } from "./world/samples.js";
import { knownSource } from "./world/upstream-skills.js";
import type { World } from "./world/world.js";

export interface ComposeOptions {
  readonly home: string;
  readonly env: Environment;
  /** The running main script: upstreams of the sample ecosystem are started with it. */
  readonly main: string;
  readonly log: Log;
  /** Connect upstreams; without, the home's last good catalog is worked on. */
  readonly upstreams: boolean;
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
  /** Builds in idle moments what the first task would otherwise wait for. */
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
    problems: () => [...found, ...notes.problems(), ...tokens.problems()],
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
  // Of thousands of folders the first look waits until they are watched, when they are looked at anyway: what was edited meanwhile is
  // taken up a moment after the start instead of keeping everybody waiting.
  const looksLater = options.watch && steward.world().library.skills.size >= MANY_FOLDERS;
  if (!looksLater) await takeFolders(desk, isNew ? shippedLock(home) : undefined);
  const keeper = keepPrepared(() => steward.world(), store, [...prepared.keys()]);
  const tick = setInterval(() => {
    void steward.post({ kind: "tick", at: clock.now() }).catch(() => undefined);
    auto.wake();
    void keeper.whenCalm();
  }, TICK_MS);
  tick.unref();
  const watching = options.watch ? watchHome() : undefined;
  await embedder.configure(config.embeddings);
  calibrating.wake();
  if (options.upstreams) upstreams.start();

  /** Edits by hand are taken up as they are saved; a broken one leaves the last good state in force. */
  function watchHome(): Watching[] {
    const failed = (error: unknown): void =>
      log.warn(`watching ${home} failed; edits are seen at the next start: ${String(error)}`);
    const look = (): void => void takeHandEdits(desk).catch(failed);
    const skills = watchPaths([join(home, "skills")], look, failed);
    // What was edited after the folders were read and before they were watched.
    void skills.ready.then(look);
    const configuration = watchConfig(home, { env: options.env, main: options.main }, (move) => {
      if (move.kind === "unreadable") log.error(notes.unreadable(move.fault).text);
      else void reconfigure(move.config).catch(failed);
    });
    return [skills, configuration];
  }

  let stopped = false;
  function warm(): void {
    const isWarm = (world: World): boolean => tendGraph(world.graph, GRAPH_STEPS_AT_ONCE) && tendIndexes(world, WORDS_AT_ONCE);
    if (!stopped && !isWarm(steward.world())) setImmediate(warm);
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
      for (const watcher of watching ?? []) await watcher.stop();
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

/** Runs the patterns that standings rest on, each once at a time; answers how to stop. */
function answerPatterns(steward: Steward, clock: Clock, report: Desk["log"]): () => Promise<void> {
  const runner = createPatternRunner();
  const asked = new Set<string>();
  steward.onEffect((effect) => {
    if (effect.kind !== "run-patterns") return;
    const fresh = effect.questions.filter((question) => !asked.has(questionId(question)));
    if (fresh.length === 0) return;
    for (const question of fresh) asked.add(questionId(question));
    void runner
      .run(fresh)
      .then((answers) => (answers.length === 0 ? undefined : steward.post({ kind: "patterns-run", at: clock.now(), answers })))
      .catch((error: unknown) => report("warn", `patterns of changed tools could not be run: ${String(error)}`))
      .finally(() => {
        for (const question of fresh) asked.delete(questionId(question));
      });
  });
  return () => runner.stop();
}

/** Rules decide by default; a configured model decides with rules under it. */
function managerOf(
  options: ComposeOptions,
  config: Config,
  memory: KeptMemory,
  log: (level: "info" | "warn" | "error", text: string, data?: Record<string, unknown>) => void,
): Manager {
  const rules = createRules(proposeByRules);
  const { manager } = config;
  if (manager.kind === "rules") return rules;
  return createLlm({
    baseUrl: manager.baseUrl,
    model: manager.model,
    apiKey: options.env[manager.apiKeyEnv],
    rules,
    log,
    memory,
    secrets: () => config.secrets,
    ...(manager.applyChecked === undefined ? {} : { applyChecked: manager.applyChecked }),
    limits: {
      ...(manager.viewTimeoutMs === undefined ? {} : { viewMs: manager.viewTimeoutMs }),
      ...(manager.maintenanceTokens === undefined ? {} : { runTokens: manager.maintenanceTokens }),
    },
  });
}

/** Rows that a graph of vectors grows by at a time: about 4 ms, between which requests have their turn. */
const GROWN_AT_ONCE = 4;

/** Texts are embedded in the background, beside the inbox; what comes of it are events. */
function embedderOf(
  options: ComposeOptions,
  steward: Steward,
  secrets: () => readonly string[],
  log: (level: "info" | "warn" | "error", text: string, data?: Record<string, unknown>) => void,
): EmbeddingsSwitch {
  const clock = systemClock();
  let addon: GraphAddon | undefined;
  const cache = openVectorCache({ folder: join(options.home, "state/vectors"), files: nodeFiles(), log });
  const put = async (embedder: string, dimension: number, rows: readonly EmbeddedText[]): Promise<void> =>
    void (await steward.post({ kind: "texts-embedded", at: clock.now(), embedder, dimension, rows }));
  const grow = (): void => {
    if (!tendVectors(steward.world().vectors, addon, GROWN_AT_ONCE)) setImmediate(grow);
  };
  return createEmbeddingsSwitch({
    open: (config) => {
      addon = loadGraphAddon();
      return createEmbeddings({
        ...config,
        apiKey: options.env[config.apiKeyEnv],
        dimensions: config.dimensions,
        cache,
        due: (embedder) => dueTexts(steward.world(), embedder),
        deliver: put,
        onSettled: grow,
        clock,
        secrets,
        log,
      });
    },
    clear: () => put(NO_EMBEDDER, 1, []),
    note: () => (addon === undefined ? "; hnswlib-node is not there, so every vector is looked at" : ""),
  });
}

async function openUpstreams(
  options: ComposeOptions,
  config: Config,
  steward: Steward,
  announce: (label: string, announced: UpstreamAnnouncement) => void,
  reread: () => Promise<void>,
): Promise<{ upstreams: Upstreams; settled: () => Promise<void> }> {
  const { home, log } = options;
  const files = nodeFiles();
  const say = (level: "debug" | "info" | "warn" | "error", text: string, data?: Record<string, unknown>): void =>
    log[level](text, data);
  const records = openProcessRecords(join(home, "state/processes.json"), files, say);
  if (options.upstreams) await reapLeftovers(records.leftovers, say);
  const upstreams = createUpstreams({
    configs: config.upstreams,
    policy: config.policy,
    post: (event) => void steward.post(event).catch(() => undefined),
    known: () => steward.world().catalog.tools,
    knownSkill: (label, uri) => knownSource(steward.world(), label, uri),
    clock: systemClock(),
    log: say,
    baseEnv: baseEnv(options.env),
    version: packageVersion(),
    secrets: config.secrets,
    onNotification(label, method, params) {
      const announced = announcementOf(method, params);
      if (announced !== undefined) announce(label, announced);
    },
    reread,
    onSpawn: (record) => records.add(record),
    onExit: (record) => records.remove(record),
  });
  return { upstreams, settled: () => records.settled() };
}

/** The event that puts a configuration in force; `starting`: nothing is connected yet. */
export function configuredEvent(config: Config, at: string, starting: boolean): Event {
  const upstreams = new Map(
    [...config.upstreams].map(([label, { disabled, prefix, skills }]) => [label, { disabled, prefix, skills }] as const),
  );
  return { kind: "configured", at, starting, upstreams, policy: config.policy };
}
