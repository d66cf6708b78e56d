/** A house in little before a made embedder: a world with a small ecosystem, the embedder in force, needs asked as a view asks them. */
import "openai";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/host/clock.js";
import { nodeFiles } from "../../src/host/files.js";
import { createEmbeddings, type EmbeddingLimits, type Embeddings } from "../../src/manager/embeddings.js";
import { openVectorCache } from "../../src/manager/embeddings-cache.js";
import type { UpstreamLabel } from "../../src/model/ids.js";
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import type { Tool } from "../../src/model/tool.js";
import { NO_EMBEDDER } from "../../src/model/vectors.js";
import { createSteward, type Steward } from "../../src/steward.js";
import { gather, type Gathered } from "../../src/world/turn.js";
import { derive } from "../../src/world/rebuild.js";
import { dueTexts, vectorsBasis } from "../../src/world/vectors.js";
import { emptyKnown, type World } from "../../src/world/world.js";
import { startEmbeddingsServer, type EmbeddingsServer, type Mood } from "../fixtures/embeddings-server.js";
import { ECOSYSTEM } from "../retrieve/made.js";

export const KEY = "embeddings-key-0123456789";
/** A deadline for tests that wait for it. */
export const SHORT_MS = 120;

export interface Told {
  readonly level: string;
  readonly text: string;
  readonly data: Record<string, unknown> | undefined;
}

export interface Kit {
  readonly steward: Steward;
  readonly embeddings: Embeddings;
  readonly told: Told[];
  readonly folder: string;
  world(): World;
  /** One listing of a label's tools. */
  list(label: string, tools: readonly Tool[]): Promise<void>;
  /** What a search finds and says, as a view of kind `retrieve` would. */
  ask(need: string): Promise<Asked>;
  /** Resolves once the condition holds. */
  until(condition: () => boolean | Promise<boolean>): Promise<void>;
  /** All tools and skills have vectors of the embedder in force. */
  isWhole(): boolean;
  stop(): Promise<void>;
}

export interface Asked {
  readonly tools: string[];
  readonly notices: string[];
  readonly byVectors: boolean;
  readonly basis: string;
  readonly reasons: string[];
}

export interface KitOptions {
  readonly limits?: Partial<EmbeddingLimits>;
  readonly dimensions?: number;
  readonly tools?: readonly Tool[];
  /** Folder of an earlier kit: a restart. */
  readonly folder?: string;
}

const homes: string[] = [];

export function forgetHomes(): void {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
}

export async function kitOn(server: Pick<EmbeddingsServer, "url">, options: KitOptions = {}): Promise<Kit> {
  const home = options.folder ?? mkdtempSync(join(tmpdir(), "steward-vectors-"));
  homes.push(home);
  const folder = join(home, "state/vectors");
  const clock = systemClock();
  const told: Told[] = [];
  const files = nodeFiles();
  const log = (level: string, text: string, data?: Record<string, unknown>): void => void told.push({ level, text, data });
  const steward = createSteward({ world: derive(emptyKnown, new Map()), store: { persist: () => Promise.resolve() }, log });
  const tools = options.tools ?? ECOSYSTEM;
  const labels = [...new Set(tools.map((tool) => tool.label))];
  await steward.post({
    kind: "configured",
    at: clock.now(),
    starting: true,
    upstreams: new Map(labels.map((label) => [label, { disabled: false, prefix: label }])),
    policy: DEFAULT_POLICY,
  });
  const list = async (label: string, listed: readonly Tool[]): Promise<void> => {
    const at = clock.now();
    await steward.post({ kind: "listing", at, label: label as UpstreamLabel, tools: listed, problems: [], cause: "sync" });
  };
  for (const label of labels) {
    await list(
      label,
      tools.filter((tool) => tool.label === label),
    );
  }
  const embeddings = createEmbeddings({
    baseUrl: server.url,
    model: "made",
    apiKey: KEY,
    dimensions: options.dimensions,
    cache: openVectorCache({ folder, files, log }),
    due: (embedder) => dueTexts(steward.world(), embedder),
    deliver: async (embedder, dimension, rows) =>
      void (await steward.post({ kind: "texts-embedded", at: clock.now(), embedder, dimension, rows })),
    clock,
    secrets: () => [KEY],
    log,
    // Quick to come back, and no rest between faults: each test meets the endpoint anew.
    limits: {
      needMs: 10_000,
      batchMs: 10_000,
      retryMs: 10,
      retryMostMs: 50,
      restAfterFaults: 1_000,
      restMs: 1,
      ...options.limits,
    },
  });
  steward.onEffect((effect) => {
    if (effect.kind === "texts-moved") embeddings.wake();
  });
  embeddings.wake();
  const world = (): World => steward.world();
  return {
    steward,
    embeddings,
    told,
    folder: home,
    world,
    list,
    async ask(text) {
      const need = await embeddings.embed(text);
      const gathered: Gathered = gather(world(), { kind: "retrieve", text }, { allowed: undefined, need });
      return {
        tools: gathered.candidates.tools.map(({ tool }) => tool.key),
        reasons: gathered.candidates.tools.map(({ reason }) => reason),
        notices: gathered.found.notices.filter(({ code }) => code === "lexical-only").map((notice) => notice.text),
        byVectors: gathered.byVectors,
        basis: gathered.byVectors ? vectorsBasis(world().vectors) : NO_EMBEDDER,
      };
    },
    async until(condition) {
      while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    isWhole: () => world().vectors.embedder !== NO_EMBEDDER && dueTexts(world(), world().vectors.embedder).length === 0,
    async stop() {
      await embeddings.stop();
      await files.close();
    },
  };
}

/** What closeSets stops; a test that makes a part by itself adds it. */
export const open: { stop(): Promise<void> }[] = [];

/** An endpoint in a mood and a kit on it, until closeSets. */
export async function set(mood: Mood, options: KitOptions = {}): Promise<{ server: EmbeddingsServer; kit: Kit }> {
  const server = await startEmbeddingsServer(mood);
  const kit = await kitOn(server, options);
  open.push(kit, { stop: () => server.close() });
  return { server, kit };
}

export async function closeSets(): Promise<void> {
  for (const one of open.splice(0)) await one.stop();
}
