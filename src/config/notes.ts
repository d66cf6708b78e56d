/**
 * What people should know of the configuration while a daemon runs.
 *
 * Owns: problems of the file as it was read last, settings that wait for the next start.
 * Speaks: configurations in, problems out.
 * Never: reads the file (config.ts), or puts a setting in force.
 */
import { isDeepStrictEqual } from "node:util";
import type { Config } from "../model/config.js";
import type { Fault } from "../model/fault.js";
import type { Policy } from "../model/policy.js";
import type { Problem } from "../model/problem.js";
import { CONFIG_PLACE } from "./config.js";

export interface ConfigNotes {
  /** As of the last reading. */
  problems(): readonly Problem[];
  /** A reading that is in force now. */
  read(next: Config): readonly Problem[];
  /** A file that could not be read: what was in force stays so. */
  unreadable(fault: Fault): Problem;
}

/** Settings that a running daemon was built with. */
const BUILT_WITH = ["http", "manager"] as const satisfies readonly (keyof Config)[];
const POLICY_BUILT_WITH = [
  "callCapMs",
  "pollMs",
  "requestBytes",
  "sessionIdleMs",
  "sessionsMax",
  "startsAtOnce",
  "stopMs",
] as const satisfies readonly (keyof Policy)[];

export function keepConfigNotes(running: Config): ConfigNotes {
  let problems = running.problems;
  let inForce = problems;
  return {
    problems: () => problems,
    read(next) {
      inForce = [...next.problems, ...atNextStart(running, next)];
      problems = inForce;
      return problems;
    },
    unreadable(fault) {
      const text = `${fault.message} The last good configuration stays in force.`;
      const problem = { code: "config-unreadable", where: CONFIG_PLACE, text };
      problems = [...inForce, problem];
      return problem;
    },
  };
}

/** What of `next` waits for the next start of a daemon that started with `running`, one problem a setting. */
function atNextStart(running: Config, next: Config): Problem[] {
  const waiting = [
    ...BUILT_WITH.filter((key) => !isDeepStrictEqual(running[key], next[key])).map((key) => `steward.${key}`),
    ...POLICY_BUILT_WITH.filter((key) => running.policy[key] !== next.policy[key]).map((key) => `steward.policy.${key}`),
  ];
  return waiting.map((key) => ({
    code: "config-at-next-start",
    where: `${CONFIG_PLACE}: ${key}`,
    text: "The changed setting is in force when the daemon starts again.",
  }));
}
