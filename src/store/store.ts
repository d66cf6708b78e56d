/**
 * The store: the home on disc.
 *
 * Owns: where and how everything is kept, the commit of a decision, recovery, the lock, the daemon's own files.
 * Speaks: Changes in, Ground out; formats of model/; Fault where the disc refuses.
 * Never: what a change means; clocks (the caller says when), the configuration (config/).
 *
 * All writes run one after the other in one queue. See commit.ts for how a batch becomes durable, logs.ts for calls and
 * episodes, lock.ts for who may write, places.ts for where things lie.
 */
import { join } from "node:path";
import { ensureFolder, errorCode, nodeFiles, unwritable, type Files } from "../host/files.js";
import type { Log } from "../host/log.js";
import { ownStartTime } from "../host/processes.js";
import { catalogPinsFormat, holdsFormat, presenceFormat } from "../model/catalog.js";
import { Fault } from "../model/fault.js";
import { lineageFormat } from "../model/lineage.js";
import { experienceFormat, NO_CALIBRATION } from "../model/experience.js";
import { flowsFormat } from "../model/flow.js";
import { rejectedFormat } from "../model/maintenance.js";
import type { Ground, Prepared, Store } from "../model/ports.js";
import type { Problem } from "../model/problem.js";
import { patternAnswersFormat } from "../model/sample.js";
import { lockFormat } from "../model/skill.js";
import { standingsFormat } from "../model/standing.js";
import { upstreamSkillsFormat } from "../model/upstream-skills.js";
import { createBulk } from "./bulk.js";
import { createCommitter, type SmallDocuments } from "./commit.js";
import { ensureOperatorToken, readDaemon, writeDaemon } from "./daemon.js";
import type { DocumentShelf, Migrations } from "./documents.js";
import { readGround } from "./ground.js";
import { writePastCache } from "./library.js";
import { lockHome, type HomeLock, type LockTimes } from "./lock.js";
import { openLogs, type LogsOptions } from "./logs.js";
import { SKILL_PACK, TOOL_PACK, writePack } from "./packs.js";
import { keepPast } from "./past.js";
import { FOLDERS, places } from "./places.js";
import { planBatch, type Smalls } from "./plan.js";
import { writePrepared } from "./prepared.js";
import { createReading } from "./reading.js";
import { smallDocument } from "./small.js";
import { sweepTemporary } from "./sweep.js";
import { createTurns } from "./turns.js";

export interface StoreOptions {
  readonly home: string;
  /** Time of opening, for the lock. */
  readonly now: string;
  readonly log: Log;
  readonly files?: Files;
  readonly migrations?: Migrations;
  readonly lockTimes?: LockTimes;
  readonly logLimits?: Pick<LogsOptions, "segmentBytes" | "compactionSlack">;
  /** Objects of one batch from which on they are written in bulk. */
  readonly bulkFrom?: number;
  /** Names the code that runs: what it prepared is kept under it. Absent: nothing prepared is kept or taken. */
  readonly stamp?: string;
}

export interface HomeStore extends Store {
  readonly home: string;
  readonly lock: HomeLock;
  /** True after several starts that crashed: nothing derived is trusted, here or elsewhere (vectors). */
  readonly safeMode: boolean;
  /** What single readings found damaged since the start, newest last. */
  problems(): readonly Problem[];
  /** Makes files of large batches durable one by one, so that their records go. Happens by itself a while after they were written. */
  settle(): Promise<void>;
  /** Takes away what retired episodes left. Happens by itself at a start and an hour after some were retired. */
  forget(): Promise<void>;
  /** Writes state/daemon.json; `close` takes it away. */
  announce(daemon: { readonly url: string; readonly version: string }): Promise<void>;
  /** The local operator's token (state/operator.token, mode 0600), made on first use. */
  operatorToken(): Promise<string>;
  /** Keeps what the world prepared for the next start; a failure is told and forgotten. */
  keepPrepared(prepared: Prepared): Promise<void>;
  /** The home came up well: earlier crashed starts are forgotten. Happens by itself a while after `read`. */
  markReady(): Promise<void>;
}

/** Starts in a row that ended before they were ready, from which on everything derived is rebuilt. */
const SAFE_AFTER = 3;
const READY_MS = 10_000;
/** Systems write what is not fsynced within half a minute: then an fsync of each file costs next to nothing. */
const SETTLE_MS = 60_000;
/** Damaged files that are remembered for whoever asks how the home is. */
const FOUND_MOST = 100;
/** What retired episodes left is taken away together: the log of episodes is read for it. */
const FORGET_MS = 3_600_000;

/** Opens a home for this process alone. Throws Fault `home-locked` naming the owner, `home-unwritable` where it cannot be made. */
export async function openStore(options: StoreOptions): Promise<HomeStore> {
  const { home, log } = options;
  const files = options.files ?? nodeFiles();
  try {
    for (const folder of FOLDERS) {
      // What agents said and did is its owner's business.
      await ensureFolder(files, join(home, folder), "/", folder.startsWith(places.state) ? 0o700 : undefined);
    }
    const lock = await lockHome({
      home,
      files,
      now: options.now,
      ...(options.lockTimes === undefined ? {} : { times: options.lockTimes }),
    });
    if (lock.tookOver)
      log.info("the process that worked on this home ended without closing it; its last decision is finished now");
    return createStore({ ...options, files }, lock);
  } catch (error) {
    throw inWords(`opening ${home}`, error);
  }
}

function createStore(options: StoreOptions & { readonly files: Files }, lock: HomeLock): HomeStore {
  const { home, files, log } = options;
  const migrations = options.migrations ?? {};
  const shelf: DocumentShelf = { home, files, migrations };
  const smalls = openSmalls(shelf);
  const logs = openLogs({ home, files, migrations, log, ...options.logLimits });
  const bulk = createBulk(shelf, { from: options.bulkFrom });
  const committer = createCommitter({ shelf, bulk, logs, smalls, log });
  const safeMode = lock.crashes >= SAFE_AFTER;
  if (safeMode) log.warn(`${lock.crashes} starts in a row ended before the home was ready: everything derived is rebuilt`);

  const past = keepPast((states, revision) => writePastCache(shelf, states, revision));
  const { inTurn } = createTurns();
  let closed = false;
  let announced = false;
  let recovered: Promise<readonly Problem[]> | undefined;
  let readyTimer: NodeJS.Timeout | undefined;
  let settleTimer: NodeJS.Timeout | undefined;
  let forgetTimer: NodeJS.Timeout | undefined;

  const foundSince = new Map<string, Problem>();
  function found(problem: Problem): void {
    const [oldest] = foundSince.keys();
    if (foundSince.size >= FOUND_MOST && oldest !== undefined && !foundSince.has(problem.where)) foundSince.delete(oldest);
    foundSince.set(problem.where, problem);
  }

  function writing<Result>(what: string, run: () => Promise<Result>): Promise<Result> {
    return inTurn(async () => {
      if (closed) throw new Fault("shutting-down", "The home is closed.");
      lock.assertHeld();
      await recover();
      try {
        return await run();
      } catch (error) {
        throw inWords(what, error);
      }
    });
  }

  function recover(): Promise<readonly Problem[]> {
    recovered ??= (async () => {
      const problems: Problem[] = [
        ...(await logs.open()),
        ...(await bulk.recover()),
        ...(await committer.recover()),
        ...(await logs.settle()),
      ];
      settleLater();
      for (const small of Object.values(smalls)) problems.push(...(await small.load()));
      return problems;
    })().catch((error: unknown) => {
      // Tried again by the next one who needs it.
      recovered = undefined;
      throw inWords("recovering the home", error);
    });
    return recovered;
  }

  async function read(): Promise<Ground> {
    const found = await recover();
    recovered = Promise.resolve([]);
    const reading = await readGround({ shelf, smalls, logs, problems: found, useCaches: !safeMode, stamp: options.stamp });
    const { ground } = reading;
    past.start(reading.past, smalls.lock.value, !reading.stale.past);
    readyTimer ??= setTimeout(() => void markReady().catch(() => undefined), READY_MS).unref();
    void background("forgetting retired episodes", () => logs.forget());
    if (lock.tookOver) void background("sweeping temporary files", () => sweepTemporary(home, files));
    const { stale } = reading;
    if (stale.tools) void background("packing definitions", () => writePack(home, files, TOOL_PACK, ground.documents));
    if (stale.skills) void background("packing skills", () => writePack(home, files, SKILL_PACK, reading.skillTexts));
    if (stale.past) void background("caching earlier skills", () => past.save());
    return ground;
  }

  function settleLater(): void {
    if (bulk.unsettled) settleTimer ??= setTimeout(() => void settle().catch(told), SETTLE_MS).unref();
  }

  function forgetLater(): void {
    const forget = (): void => {
      forgetTimer = undefined;
      void background("forgetting retired episodes", () => logs.forget());
    };
    forgetTimer ??= setTimeout(forget, FORGET_MS).unref();
  }

  async function settle(): Promise<void> {
    clearTimeout(settleTimer);
    settleTimer = undefined;
    // A turn for each few files: decisions go in between.
    for (let more = true; more;) more = await inTurn(async () => !closed && (await bulk.settleSome()));
  }

  const told = (error: unknown): void => {
    log.warn("files of a large batch could not be made durable by themselves yet; their record is kept", { error });
    settleLater();
  };

  /** Work that only makes later starts quicker: its failure is told and forgotten. */
  function background(what: string, run: () => Promise<void>): Promise<void> {
    return inTurn(async () => {
      if (!closed) await run();
    }).catch((error: unknown) => log.warn(`${what} failed`, { error }));
  }

  async function close(): Promise<void> {
    if (closed) return;
    closed = true;
    clearTimeout(readyTimer);
    clearTimeout(settleTimer);
    clearTimeout(forgetTimer);
    try {
      lock.assertHeld();
      // What failed before is given a last chance; if it fails again, the next start does it.
      await committer.finish();
      await past.save();
    } catch (error) {
      log.warn("closing left work for the next start", { error });
    }
    try {
      if (announced && readDaemon(home)?.pid === process.pid) await files.unlink(join(home, places.daemon));
      await files.close();
    } finally {
      await lock.release();
    }
  }

  function markReady(): Promise<void> {
    return inTurn(() => lock.ready());
  }

  return {
    ...createReading({ shelf, logs, log, lock: () => smalls.lock.value, recover, found }),
    problems: () => [...foundSince.values()],
    home,
    lock,
    safeMode,
    markReady,
    settle,
    forget: () => inTurn(() => logs.forget()),
    async keepPrepared(prepared) {
      const { stamp } = options;
      if (stamp !== undefined) await background("keeping what was prepared", () => writePrepared(home, files, stamp, prepared));
    },
    read: () => inTurn(read),
    persist: (changes) =>
      writing("writing a decision", async () => {
        await committer.finish();
        const batch = planBatch(changes, valuesOf(smalls));
        await committer.commit(batch);
        settleLater();
        past.note(batch.revisions);
        if (changes.some((change) => change.kind === "episode" && change.episode.retired === true)) forgetLater();
      }),
    announce: (daemon) =>
      writing("announcing the daemon", async () => {
        const tokenFile = places.operatorToken;
        await writeDaemon(home, files, { pid: process.pid, startTime: ownStartTime(), tokenFile, ...daemon });
        announced = true;
      }),
    operatorToken: () => writing("making the operator token", () => ensureOperatorToken(home, files)),
    close: () => inTurn(close),
  };
}

/** The small documents of a home, not read yet. */
export function openSmalls(shelf: DocumentShelf): SmallDocuments {
  return {
    lineage: smallDocument(shelf, lineageFormat, places.lineage, { format: lineageFormat.id, links: [] }),
    holds: smallDocument(shelf, holdsFormat, places.holds, { format: holdsFormat.id, held: {}, approved: {}, review: {} }),
    presence: smallDocument(shelf, presenceFormat, places.presence, { format: presenceFormat.id, upstreams: {} }),
    standings: smallDocument(shelf, standingsFormat, places.standings, { format: standingsFormat.id, skills: {}, pinned: {} }),
    catalogPins: smallDocument(shelf, catalogPinsFormat, places.catalogPins, { format: catalogPinsFormat.id, tokens: {} }),
    patterns: smallDocument(shelf, patternAnswersFormat, places.patterns, { format: patternAnswersFormat.id, answers: {} }),
    rejected: smallDocument(shelf, rejectedFormat, places.rejected, { format: rejectedFormat.id, edits: {} }),
    experience: smallDocument(shelf, experienceFormat, places.experience, {
      format: experienceFormat.id,
      calibration: NO_CALIBRATION,
    }),
    flows: smallDocument(shelf, flowsFormat, places.flows, { format: flowsFormat.id, flows: {} }),
    upstreamSkills: smallDocument(shelf, upstreamSkillsFormat, places.upstreamSkills, {
      format: upstreamSkillsFormat.id,
      upstreams: {},
    }),
    // The revision's record repeats it, and people look into this folder.
    lock: smallDocument(
      shelf,
      lockFormat,
      places.skillsLock,
      { format: lockFormat.id, revision: 0, skills: {} },
      { keepPrevious: false },
    ),
  };
}

function valuesOf(smalls: SmallDocuments): Smalls {
  return {
    lineage: smalls.lineage.value,
    holds: smalls.holds.value,
    presence: smalls.presence.value,
    standings: smalls.standings.value,
    rejected: smalls.rejected.value,
    flows: smalls.flows.value,
    catalogPins: smalls.catalogPins.value,
    experience: smalls.experience.value,
    patterns: smalls.patterns.value,
    upstreamSkills: smalls.upstreamSkills.value,
    lock: smalls.lock.value,
  };
}

/** Errors of the system become Faults for people; everything else is passed on as it is. */
function inWords(what: string, error: unknown): unknown {
  return error instanceof Fault || errorCode(error) === undefined ? error : unwritable(what, error);
}
