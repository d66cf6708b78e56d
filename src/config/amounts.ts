/**
 * Amounts with units, and the bounds of every policy value: what an operator may write for it.
 */
import type { Policy } from "../model/policy.js";

export type Bound =
  | { readonly kind: "ms" | "bytes" | "count"; readonly min: number; readonly max: number }
  | { readonly kind: "share" }
  | { readonly kind: "flag" }
  | { readonly kind: "word"; readonly words: readonly string[] };

const seconds = 1_000;
const hours = 3_600 * seconds;
const days = 24 * hours;
const MiB = 1024 * 1024;

/** Outside of these a value is a slip of the pen or would break what relies on it. */
export const BOUNDS: Readonly<Record<keyof Policy, Bound>> = {
  settledMs: { kind: "ms", min: 0, max: 10 * 60 * seconds },
  settledAtMostMs: { kind: "ms", min: 0, max: hours },
  graceMs: { kind: "ms", min: 0, max: 365 * days },
  idleStopMs: { kind: "ms", min: 0, max: 30 * days },
  callTimeoutMs: { kind: "ms", min: 100, max: days },
  callCapMs: { kind: "ms", min: 100, max: 7 * days },
  connectTimeoutMs: { kind: "ms", min: 100, max: hours },
  pollMs: { kind: "ms", min: 1 * seconds, max: 7 * days },
  startsAtOnce: { kind: "count", min: 1, max: 64 },
  viewTokens: { kind: "count", min: 200, max: 200_000 },
  viewTokensMax: { kind: "count", min: 200, max: 1_000_000 },
  planningSkills: { kind: "count", min: 0, max: 50 },
  atomicSkillsPerView: { kind: "count", min: 0, max: 100 },
  toolsPerStep: { kind: "count", min: 1, max: 20 },
  retrieveLimit: { kind: "count", min: 1, max: 50 },
  exploreCalls: { kind: "count", min: 0, max: 1_000 },
  exploreTools: { kind: "count", min: 1, max: 100 },
  exploreSkillChars: { kind: "count", min: 0, max: 1_000_000 },
  describeLimit: { kind: "count", min: 1, max: 50 },
  mmrLambda: { kind: "share" },
  resultBytes: { kind: "bytes", min: 1_000, max: 1024 * MiB },
  requestBytes: { kind: "bytes", min: 10_000, max: 1024 * MiB },
  maxNameLength: { kind: "count", min: 16, max: 128 },
  episodeIdleMs: { kind: "ms", min: 1 * seconds, max: 30 * days },
  episodesKeptMs: { kind: "ms", min: days, max: 36_500 * days },
  sessionIdleMs: { kind: "ms", min: 1 * seconds, max: 30 * days },
  sessionsMax: { kind: "count", min: 1, max: 1_000_000 },
  stopMs: { kind: "ms", min: 0, max: 10 * 60 * seconds },
  maintainAuto: { kind: "flag" },
  holdOnTextChange: { kind: "flag" },
  maintainEveryMs: { kind: "ms", min: 0, max: 365 * days },
  maintainPlanning: { kind: "word", words: ["revised", "frozen"] },
  lineageByManager: { kind: "word", words: ["off", "advice", "confirm"] },
  probeCalls: { kind: "count", min: 0, max: 10_000 },
  evidenceKeep: { kind: "word", words: ["shape", "full"] },
};

const MS: Readonly<Record<string, number>> = { ms: 1, s: seconds, m: 60 * seconds, min: 60 * seconds, h: hours, d: days };
const BYTES: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1_000,
  KB: 1_000,
  KiB: 1024,
  MB: 1_000_000,
  MiB,
  GB: 1_000_000_000,
  GiB: 1024 * MiB,
};

/** An amount in the unit of its kind: a number, or a text with a unit (`"5 min"`, `"200 kB"`). A sentence says what is wrong. */
export function readAmount(value: unknown, bound: Bound): number | string | boolean | { readonly wrong: string } {
  if (bound.kind === "flag") return typeof value === "boolean" ? value : { wrong: "it has to be true or false" };
  if (bound.kind === "word") {
    const known = bound.words.find((word) => word === value);
    return known ?? { wrong: `it has to be one of ${bound.words.join(", ")}` };
  }
  if (bound.kind === "share") {
    return typeof value === "number" && value >= 0 && value <= 1 ? value : { wrong: "it has to be a number from 0 to 1" };
  }
  const amount = inUnit(value, bound.kind);
  if (amount === undefined) return { wrong: expected(bound.kind) };
  if (amount < bound.min || amount > bound.max)
    return { wrong: `it has to be from ${bound.min} to ${bound.max}${bound.kind === "count" ? "" : ` ${bound.kind}`}` };
  return amount;
}

function expected(kind: "ms" | "bytes" | "count"): string {
  if (kind === "ms") return 'it has to be a whole number of milliseconds or a text like "30 s", "5 min", "24 h"';
  if (kind === "bytes") return 'it has to be a whole number of bytes or a text like "200 kB", "4 MiB"';
  return "it has to be a whole number";
}

function inUnit(value: unknown, kind: "ms" | "bytes" | "count"): number | undefined {
  if (typeof value === "number") return Number.isInteger(value) ? value : undefined;
  const match = typeof value === "string" && kind !== "count" ? /^(\d+(?:\.\d+)?)\s*([A-Za-z]+)$/.exec(value.trim()) : null;
  const factor = match === null ? undefined : (kind === "ms" ? MS : BYTES)[match[2] ?? ""];
  return match === null || factor === undefined ? undefined : Math.round(Number(match[1]) * factor);
}
