/** An `llm` manager before a scripted model, with short limits: tests wait for it and not for a model. */
// The package is loaded before the first deadline of a test runs.
import "openai";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { createLlm, type LlmManager, type LlmOptions } from "../../src/manager/llm.js";
import { memoryOfOneProcess } from "../../src/manager/llm-memory.js";
import { createRules } from "../../src/manager/rules.js";
import { proposeByRules } from "../../src/maintain/propose.js";
import { startModelServer, type ModelServer } from "../fixtures/model-server.js";

export const KEY = "model-key-0123456789";
export const rules = createRules(proposeByRules);

/** A deadline for tests that wait for it, and one that no answer of a scripted server comes near, however busy the machine. */
export const SHORT_MS = 150;
const LONG_MS = 15_000;

export interface Told {
  readonly level: string;
  readonly text: string;
  readonly data: Record<string, unknown> | undefined;
}

export function managerOn(
  server: Pick<ModelServer, "url">,
  options: Partial<LlmOptions> = {},
): { manager: LlmManager; told: Told[]; memory: ReturnType<typeof memoryOfOneProcess> } {
  const told: Told[] = [];
  const memory = memoryOfOneProcess();
  const manager = createLlm({
    baseUrl: server.url,
    model: "scripted",
    apiKey: KEY,
    rules,
    log: (level, text, data) => void told.push({ level, text, data }),
    memory,
    ...options,
    // No rest between faults: each test meets the endpoint anew.
    limits: { viewMs: LONG_MS, editMs: LONG_MS, leastMs: 5, retryMs: 4, restAfterFaults: 1_000, ...options.limits },
  });
  return { manager, told, memory };
}

/** A scripted server for the tests of a file: there before the first, with no request of another test, and gone after the last. */
export function keepModelServer(): ModelServer {
  let live: ModelServer | undefined;
  const server = (): ModelServer => {
    if (live === undefined) throw new Error("the scripted model is there from the first test on");
    return live;
  };
  beforeAll(async () => {
    live = await startModelServer();
  });
  beforeEach(() => {
    server().requests.length = 0;
  });
  afterAll(() => server().close());
  return {
    get url() {
      return server().url;
    },
    get requests() {
      return server().requests;
    },
    get counted() {
      return server().counted;
    },
    will: (...moods) => server().will(...moods),
    close: () => server().close(),
  };
}

/** Rejects where the work takes far longer than the short deadline: then nobody kept it. */
export async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error("no deadline was kept")), 60 * SHORT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
