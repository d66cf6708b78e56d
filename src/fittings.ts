/**
 * Fittings: what stands behind single ports of the house, made from its surroundings and its configuration.
 *
 * Owns: which manager decides, who embeds texts, how upstreams are reached, where patterns run.
 * Speaks: the rooms at the edge; events to the steward.
 * Never: the order of start and stop (compose.ts); decides anything itself.
 */
import { join } from "node:path";
import { loadGraphAddon } from "./host/addon.js";
import { systemClock } from "./host/clock.js";
import { baseEnv, type Environment } from "./host/env.js";
import { nodeFiles } from "./host/files.js";
import type { Log } from "./host/log.js";
import { createPatternRunner } from "./host/patterns.js";
import { packageVersion } from "./host/starter.js";
import { proposeByRules } from "./maintain/propose.js";
import { createEmbeddings } from "./manager/embeddings.js";
import { openVectorCache } from "./manager/embeddings-cache.js";
import { createEmbeddingsSwitch, type EmbeddingsSwitch } from "./manager/embeddings-switch.js";
import { createLlm } from "./manager/llm.js";
import type { KeptMemory } from "./manager/llm-memory.js";
import { createRules } from "./manager/rules.js";
import type { Config } from "./model/config.js";
import type { UpstreamAnnouncement } from "./model/operations.js";
import type { Clock, Manager, Upstreams } from "./model/ports.js";
import { NO_EMBEDDER, type EmbeddedText } from "./model/vectors.js";
import type { Desk } from "./operations/desk.js";
import type { GraphAddon } from "./retrieve/nominate.js";
import type { Steward } from "./steward.js";
import { announcementOf } from "./upstream/translate.js";
import { reapLeftovers } from "./upstream/reap.js";
import { openProcessRecords } from "./upstream/records.js";
import { createUpstreams } from "./upstream/upstreams.js";
import { questionId } from "./world/samples.js";
import { knownSource } from "./world/upstream-skills.js";
import { dueTexts, tendVectors } from "./world/vectors.js";

/** What of its surroundings a house is made from. */
export interface Surroundings {
  readonly home: string;
  readonly env: Environment;
  readonly log: Log;
  /** Connect upstreams; without, the home's last good catalog is worked on. */
  readonly upstreams: boolean;
}

/** Runs the patterns that standings rest on, each once at a time; answers how to stop. */
export function answerPatterns(steward: Steward, clock: Clock, report: Desk["log"]): () => Promise<void> {
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
export function managerOf(
  options: Surroundings,
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
export function embedderOf(
  options: Surroundings,
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

export async function openUpstreams(
  options: Surroundings,
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
