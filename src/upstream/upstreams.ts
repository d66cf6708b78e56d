/**
 * Live sessions to all configured upstreams.
 *
 * Owns: which upstreams run, the places for starting them, era verdicts, the records of their processes.
 * Speaks: the Upstreams port; posts `listing` and `presence` events.
 * Never: the catalog's versions, rights, cutting of results; waits for no upstream when it starts.
 *
 *   upstreams ─▶ supervisor (presence, calls) ─▶ link (one session) ─▶ stdio | http | sse ─▶ peer ─▶ translate
 *                    └▶ lister (listings) ─▶ refresher            └▶ group (processes), exchanges (HTTP)
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { UpstreamConfig } from "../model/config.js";
import type { Event } from "../model/event.js";
import { Fault } from "../model/fault.js";
import type { ToolKey, UpstreamLabel } from "../model/ids.js";
import type { JsonObject } from "../model/json.js";
import { UPSTREAM_LIMITS, type Policy } from "../model/policy.js";
import type { Clock, Upstreams } from "../model/ports.js";
import type { Tool } from "../model/tool.js";
import type { ProcessRecord } from "./reap.js";
import { textOf, type Era, type UpstreamLog } from "./session.js";
import { createStarts } from "./starts.js";
import { superviseUpstream } from "./supervisor.js";
import type { Supervisor } from "./supervisor.js";
import { targetOf } from "./target.js";

export interface UpstreamsOptions {
  readonly configs: ReadonlyMap<UpstreamLabel, UpstreamConfig>;
  readonly policy: Policy;
  readonly post: (event: Event) => Promise<void> | void;
  /** The catalog's tools: what did not move since an earlier run is not read again. */
  readonly known?: (() => ReadonlyMap<ToolKey, Tool>) | undefined;
  /** Digest over the files that were taken from a skill's URI last: those are not read again. */
  readonly knownSkill?: ((label: UpstreamLabel, uri: string) => string | undefined) | undefined;
  readonly clock: Clock;
  readonly log: UpstreamLog;
  /** The daemon's environment; upstreams get what is safe of it. */
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly version: string;
  /** Values to redact from what upstreams write to stderr. */
  readonly secrets?: readonly string[] | undefined;
  /** Notifications that belong to no call: updated resources, moved lists of prompts and resources, log messages. */
  readonly onNotification?: ((label: UpstreamLabel, method: string, params: JsonObject) => void) | undefined;
  /** Reads the configuration again and puts what moved in force: an upstream refused credentials that may have been replaced. */
  readonly reread?: (() => Promise<void>) | undefined;
  /** A process was started: to be recorded at once, so that the next daemon can end what a crash leaves behind. */
  readonly onSpawn?: ((record: ProcessRecord) => void) | undefined;
  /** It and its group are gone. */
  readonly onExit?: ((record: ProcessRecord) => void) | undefined;
}
export interface SupervisedUpstreams extends Upstreams {
  /** Processes that live now, to be given to `reapLeftovers` after a crash. */
  recordedProcesses(): readonly ProcessRecord[];
}

export function createUpstreams(options: UpstreamsOptions): SupervisedUpstreams {
  const supervisors = new Map<UpstreamLabel, { readonly supervisor: Supervisor; readonly connection: string }>();
  const starts = createStarts(options.policy.startsAtOnce);
  const eras = new Map<string, Era>();
  const processes = new Map<string, ProcessRecord>();
  /** Supervisors that are left and still answer what they were asked. */
  const finishing = new Set<Supervisor>();
  /** Labels whose supervisor is ending for another one. */
  const replacing = new Map<UpstreamLabel, Promise<void>>();
  let configured: Promise<void> = Promise.resolve();
  const reread = createReread(options);
  let started = false;
  let stopped = false;

  function add(config: UpstreamConfig): void {
    const supervisor = superviseUpstream({
      config,
      policy: options.policy,
      post: options.post,
      known: options.known ?? (() => new Map()),
      knownSkill: (uri) => options.knownSkill?.(config.label, uri),
      clock: options.clock,
      log: options.log,
      baseEnv: options.baseEnv,
      version: options.version,
      secrets: options.secrets ?? [],
      starts,
      eras,
      onNotification: (method, params) => options.onNotification?.(config.label, method, params),
      reread,
      onSpawn(record) {
        processes.set(record.mark, record);
        options.onSpawn?.(record);
      },
      onGone(record) {
        processes.delete(record.mark);
        options.onExit?.(record);
      },
    });
    supervisors.set(config.label, { supervisor, connection: connectionOf(config) });
    if (started) supervisor.start();
  }

  function running(): Supervisor[] {
    return [...[...supervisors.values()].map(({ supervisor }) => supervisor), ...finishing];
  }

  function find(label: UpstreamLabel): Supervisor {
    if (stopped) throw new Fault("shutting-down", "Upstreams are being stopped.");
    const found = supervisors.get(label);
    if (found === undefined) throw new Fault("tool-unknown", `No upstream is called ${label}.`);
    return found.supervisor;
  }

  /** Calls that come while an upstream is replaced are its successor's. */
  async function on<T>(label: UpstreamLabel, ask: (supervisor: Supervisor) => Promise<T>): Promise<T> {
    for (let gone = replacing.get(label); gone !== undefined; gone = replacing.get(label)) await gone;
    // At once: whoever is found here counts as busy before it can be replaced.
    return ask(find(label));
  }

  async function replace(upstreams: ReadonlyMap<UpstreamLabel, UpstreamConfig>): Promise<void> {
    if (stopped) return;
    const leaving: Promise<void>[] = [];
    let replaced = (): void => undefined;
    const gone = new Promise<void>((resolve) => (replaced = resolve));
    for (const [label, { supervisor, connection }] of [...supervisors]) {
      const next = upstreams.get(label);
      if (next !== undefined && connectionOf(next) === connection) {
        supervisor.adjust(next);
        continue;
      }
      supervisors.delete(label);
      if (next !== undefined) replacing.set(label, gone);
      finishing.add(supervisor);
      leaving.push(supervisor.finish(options.policy.stopMs).finally(() => finishing.delete(supervisor)));
    }
    // What changed starts once its former self is gone: two of one kind may not meet.
    try {
      await Promise.all(leaving);
      if (stopped) return;
      for (const [label, config] of upstreams) if (!supervisors.has(label)) add(config);
    } finally {
      replacing.clear();
      replaced();
    }
  }

  for (const config of options.configs.values()) add(config);

  return {
    start() {
      if (started || stopped) return;
      started = true;
      for (const { supervisor } of supervisors.values()) supervisor.start();
    },
    async sync(label) {
      const asked = label === undefined ? [...supervisors.keys()] : [label];
      return Promise.all(asked.map(async (one) => ({ label: one, ...(await on(one, (supervisor) => supervisor.sync())) })));
    },
    call: (request) => on(request.label, (supervisor) => supervisor.call(request)),
    request: (label, method, params, callOptions) => on(label, (supervisor) => supervisor.request(method, params, callOptions)),
    status: () => running().map((supervisor) => supervisor.status()),
    configure(upstreams) {
      // One after the other: the last word is the one that counts.
      const work = configured.then(() => replace(upstreams));
      configured = work.catch(() => undefined);
      return work;
    },
    async stop() {
      stopped = true;
      await Promise.all(running().map((supervisor) => supervisor.stop()));
    },
    recordedProcesses: () => [...processes.values()],
  };
}

/**
 * Reading the configuration again for whoever wonders: once for all who ask at the same time, and not over and over. Waits a bounded
 * time, since what moved elsewhere in it may take longer to be in force.
 */
function createReread({ reread, clock, log }: UpstreamsOptions): () => Promise<void> {
  let reading: Promise<void> | undefined;
  let readMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (reread === undefined || (reading === undefined && clock.elapsedMs() - readMs < UPSTREAM_LIMITS.rereadGapMs)) return;
    reading ??= reread()
      .catch((error: unknown) => log("warn", `the configuration could not be read again: ${textOf(error)}`))
      .finally(() => {
        reading = undefined;
        readMs = clock.elapsedMs();
      });
    await Promise.race([reading, sleep(UPSTREAM_LIMITS.rereadWaitMs, undefined, { ref: false })]);
  };
}

/** Everything that a connection depends on; other fields change under it, headers by a new session of the same supervisor. */
function connectionOf(config: UpstreamConfig): string {
  const more = config.kind === "stdio" ? [config.env] : [];
  return JSON.stringify([targetOf(config), config.disabled, config.era ?? null, ...more]);
}
