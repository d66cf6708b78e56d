/**
 * Patterns of upstreams, run on recorded texts in a thread of their own: one that never ends costs its deadline and nothing else.
 *
 * Refused: an engine in linear time. It knows another language of patterns than the one JSON Schema names (ECMA-262, with look-around
 * and back references), so it would answer wrongly or not at all where it matters.
 */
import { Worker } from "node:worker_threads";
import { SAMPLE_LIMITS } from "../model/policy.js";
import type { PatternQuestion } from "../model/sample.js";

export interface PatternRunner {
  /**
   * Answers in the order of the questions; `matches` undefined where one is no pattern or did not end in time. Fewer where it was
   * stopped meanwhile.
   */
  run(questions: readonly PatternQuestion[]): Promise<readonly (PatternQuestion & { readonly matches: boolean | undefined })[]>;
  stop(): Promise<void>;
}

/** JSON Schema means patterns with the flag `u`; many are written by people who never heard of it. */
const SOURCE = `
const { parentPort } = require("node:worker_threads");
parentPort.on("message", ({ pattern, text }) => {
  let matches;
  for (const flags of ["u", ""]) {
    try {
      matches = new RegExp(pattern, flags).test(text);
      break;
    } catch {}
  }
  parentPort.postMessage(matches);
});
parentPort.postMessage("ready");
`;

const TRIES = 2;

export function createPatternRunner(options: { readonly deadlineMs?: number } = {}): PatternRunner {
  const deadlineMs = options.deadlineMs ?? SAMPLE_LIMITS.patternMs;
  let thread: Worker | undefined;
  let tail: Promise<unknown> = Promise.resolve();
  let stopped = false;

  /** A thread that has come up: its start does not count against a pattern. */
  async function awake(): Promise<Worker> {
    if (thread !== undefined) return thread;
    const fresh = new Worker(SOURCE, { eval: true, env: {}, resourceLimits: { maxOldGenerationSizeMb: 64 } });
    fresh.unref();
    await new Promise<void>((resolve, reject) => {
      fresh.once("message", () => resolve());
      fresh.once("error", reject);
      fresh.once("exit", () => reject(new Error("the thread for patterns ended before it was ready")));
    });
    thread = fresh;
    return fresh;
  }

  async function drop(): Promise<void> {
    const old = thread;
    thread = undefined;
    await old?.terminate();
  }

  /** `late`: the deadline passed, or the thread died of it. */
  async function ask(question: PatternQuestion): Promise<{ late: boolean; matches: boolean | undefined }> {
    const worker = await awake();
    const answer = await new Promise<{ late: boolean; matches: boolean | undefined }>((resolve) => {
      const end = (late: boolean, matches?: boolean): void => {
        clearTimeout(timer);
        worker.removeAllListeners();
        resolve({ late, matches });
      };
      const timer = setTimeout(() => end(true), deadlineMs);
      worker.once("message", (matches: boolean | undefined) => end(false, matches));
      worker.once("error", () => end(true));
      worker.once("exit", () => end(true));
      worker.postMessage(question);
    });
    if (answer.late) await drop();
    return answer;
  }

  async function answerTo(question: PatternQuestion): Promise<boolean | undefined> {
    for (let n = 0; n < TRIES; n += 1) {
      const { late, matches } = await ask(question);
      if (!late) return matches;
    }
    return undefined;
  }

  return {
    run(questions) {
      const work = tail.then(async () => {
        const answers = [];
        for (const question of questions) {
          if (stopped) break;
          answers.push({ ...question, matches: await answerTo(question) });
        }
        return answers;
      });
      tail = work.catch(() => undefined);
      return work;
    },
    async stop() {
      stopped = true;
      await tail;
      await drop();
    },
  };
}
