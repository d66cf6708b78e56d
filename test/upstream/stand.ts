import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach } from "vitest";
import type { HttpUpstream, StdioUpstream, UpstreamConfig } from "../../src/model/config.js";
import type { Event } from "../../src/model/event.js";
import type { UpstreamLabel } from "../../src/model/ids.js";
import type { JsonObject } from "../../src/model/json.js";
import { DEFAULT_POLICY } from "../../src/model/policy.js";
import type { Policy } from "../../src/model/policy.js";
import type { CallOptions, Clock, UpstreamStatus } from "../../src/model/ports.js";
import { readProcesses } from "../../src/upstream/processes.js";
import { createUpstreams } from "../../src/upstream/upstreams.js";
import type { SupervisedUpstreams, UpstreamsOptions } from "../../src/upstream/upstreams.js";

export const label = (text: string): UpstreamLabel => text as UpstreamLabel;
export const realClock: Clock = { now: () => new Date().toISOString(), elapsedMs: () => performance.now() };
export const baseEnv: Record<string, string> = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
);

const common = { disabled: false, callTimeoutMs: 20_000, connectTimeoutMs: 15_000, idleStopMs: 0 };

/** A fixture server of test/fixtures/servers as an upstream. */
export function fixture(file: string, args: readonly string[] = [], more: Partial<StdioUpstream> = {}): StdioUpstream {
  const path = resolve(import.meta.dirname, "../fixtures/servers", file);
  const name = label(file.replace(/\.mjs$/, ""));
  return {
    kind: "stdio",
    label: name,
    prefix: name,
    command: process.execPath,
    args: [path, ...args],
    env: {},
    cwd: undefined,
    ...common,
    ...more,
  };
}
export function remote(url: string, more: Partial<HttpUpstream> = {}): HttpUpstream {
  const name = label("remote");
  return { kind: "http", label: name, prefix: name, transport: "http", url, headers: {}, forwardHeaders: [], ...common, ...more };
}

export interface Logged {
  readonly level: string;
  readonly text: string;
  readonly data: unknown;
}
export interface Stand {
  readonly upstreams: SupervisedUpstreams;
  readonly events: Event[];
  readonly logs: Logged[];
  readonly told: { label: string; method: string; params: JsonObject }[];
  /** Calls a tool of the only (or the named) upstream. */
  call(name: string, args?: unknown, options?: Partial<CallOptions> & { on?: string }): Promise<JsonObject>;
  status(of?: string): UpstreamStatus;
  presences(of?: string): string[];
  listings(of?: string): Extract<Event, { kind: "listing" }>[];
  /** Waits until the upstream is in this state. */
  reach(state: string, of?: string): Promise<void>;
  stop(): Promise<void>;
}

const standing: Stand[] = [];
const folders: string[] = [];
afterEach(async () => {
  await Promise.all(standing.splice(0).map((one) => one.stop()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Upstreams under test: started, recorded, stopped after the test. */
export function stand(
  configs: UpstreamConfig | readonly UpstreamConfig[],
  more: Partial<UpstreamsOptions> & { policyChanges?: Partial<Policy> } = {},
): Stand {
  const list = Array.isArray(configs) ? (configs as readonly UpstreamConfig[]) : [configs as UpstreamConfig];
  const first = list[0]?.label ?? "";
  const events: Event[] = [];
  const logs: Logged[] = [];
  const told: Stand["told"] = [];
  const { policyChanges, ...rest } = more;
  const upstreams = createUpstreams({
    configs: new Map(list.map((config) => [config.label, config])),
    policy: { ...DEFAULT_POLICY, ...policyChanges },
    post: (event) => void events.push(event),
    clock: realClock,
    log: (level, text, data) => void logs.push({ level, text, data }),
    baseEnv,
    version: "0.0.0-test",
    onNotification: (of, method, params) => void told.push({ label: of, method, params }),
    ...rest,
  });
  const made: Stand = {
    upstreams,
    events,
    logs,
    told,
    call: (name, args = {}, options = {}) => {
      const { on, ...others } = options;
      return upstreams.call({
        label: label(on ?? first),
        name,
        args: args as JsonObject,
        signal: new AbortController().signal,
        ...others,
      });
    },
    status: (of = first) => upstreams.status().find((one) => one.label === of) ?? raise(`no upstream ${of}`),
    presences: (of = first) => events.flatMap((event) => (event.kind === "presence" && event.label === of ? [event.state] : [])),
    listings: (of = first) => events.flatMap((event) => (event.kind === "listing" && event.label === of ? [event] : [])),
    reach: (state, of = first) =>
      until(
        () => made.status(of).presence.state === state,
        `${of} is ${state}`,
        () => JSON.stringify(made.status(of)),
      ),
    stop: () => upstreams.stop(),
  };
  standing.push(made);
  upstreams.start();
  return made;
}

function raise(text: string): never {
  throw new Error(text);
}

/** Waits for something to become true; never asserts how long it took. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string,
  state: () => string = () => "",
  atMostMs = 15_000,
): Promise<void> {
  const endMs = performance.now() + atMostMs;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`never came true: ${what} ${state()}`);
    await sleep(10);
  }
}

export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "upstream-"));
  folders.push(folder);
  return folder;
}
export function linesOf(file: string): number {
  try {
    return readFileSync(file, "utf8").split("\n").length - 1;
  } catch {
    return 0;
  }
}

export function wordsIn(file: string, word: string): number {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line === word).length;
  } catch {
    return 0;
  }
}

/** Counted from the system: is this process there (a zombie is not)? */
export async function isAlive(pid: number): Promise<boolean> {
  return (await readProcesses()).some((one) => one.pid === pid && !one.zombie);
}

export function textOf(result: JsonObject): string {
  const content = result["content"] as { text?: string }[];
  return content[0]?.text ?? "";
}
