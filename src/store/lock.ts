/**
 * The lock of a home: one process works on it at a time.
 *
 * Every contender puts down a claim of its own (a file nobody else writes) and then looks at all claims. Whoever looks second sees
 * the other's claim, so two never both find themselves alone; who finds a living claim beside its own takes its own away again.
 * Claims of dead processes are removed by whoever sees them, which is safe at any time: the process that wrote one never comes
 * back. So a dead owner needs no takeover that could race, and a living one is never robbed by age.
 *
 * `state/lock` repeats the owner's claim for people and for programs that only look. A claim from another host cannot be asked
 * whether its process lives; its owner touches it regularly, so a contender watches for that, by its own clock.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { ensureFolder, writeAtomic, type Files } from "../host/files.js";
import { hostName, isSameProcess, ownStartTime } from "../host/processes.js";
import { Fault } from "../model/fault.js";
import { readLastDaemon } from "./daemon.js";
import { Damage, parseDocument, readText, renderDocument } from "./documents.js";
import { homeLockFormat, type LockRecord } from "./formats.js";
import { places } from "./places.js";

export interface HomeLock {
  readonly record: LockRecord;
  /** The owner before was found dead: its last writes may need to be finished. */
  readonly tookOver: boolean;
  /** Starts in a row that ended before the home was ready; from SAFE_AFTER on everything derived is rebuilt. */
  readonly crashes: number;
  /** Throws Fault `home-locked` where the claim is gone: another host took this process for dead. */
  assertHeld(): void;
  /** The home came up: the count of crashes starts anew. */
  ready(): Promise<void>;
  release(): Promise<void>;
}

export interface LockTimes {
  /** How often an owner touches its claim. */
  readonly touchMs: number;
  /** How long a contender on another host waits for a touch before it takes the owner for dead. */
  readonly foreignMs: number;
}

const TIMES: LockTimes = { touchMs: 5_000, foreignMs: 20_000 };
/** Of contenders that meet, the one with the smallest name waits this long for the others to withdraw. */
const MEETING_MS = 300;
const LOOK_MS = 10;
/** Meetings lost before the one who won is named. */
const ROUNDS = 5;

/** Takes the lock, or throws Fault `home-locked` naming the owner's pid and URL. */
export async function lockHome(options: { home: string; files: Files; now: string; times?: LockTimes }): Promise<HomeLock> {
  const { home, files } = options;
  const times = options.times ?? TIMES;
  await ensureFolder(files, join(home, places.claims), home);
  for (let round = 1; ; round += 1) {
    const { dead, living } = await sortOut(home, times);
    if (living !== undefined) throw lockedBy(home, living);
    const crashes = Math.max(0, ...dead.map(({ record }) => (record.ready ? 0 : record.crashes + 1)));
    const record: LockRecord = {
      format: homeLockFormat.id,
      pid: process.pid,
      startTime: ownStartTime(),
      host: hostName(),
      since: options.now,
      crashes,
      ready: false,
    };
    const name = `${process.pid}-${randomBytes(6).toString("hex")}.json`;
    const place = `${places.claims}/${name}`;
    await writeAtomic(files, join(home, place), renderDocument(record));
    const other = await meet(home, name, dead);
    if (other === undefined) {
      for (const claim of dead) if (claim.name !== "") await files.unlink(join(home, places.claims, claim.name));
      await writeAtomic(files, join(home, places.lock), renderDocument(record));
      return held({ home, files, place, record, tookOver: dead.length > 0, touchMs: times.touchMs });
    }
    await files.unlink(join(home, place));
    if (round >= ROUNDS) throw lockedBy(home, other.record);
    await pause(LOOK_MS);
  }
}

/** Undefined when no other living claim is left; otherwise one to give way to. */
async function meet(home: string, own: string, dead: readonly Claim[]): Promise<Claim | undefined> {
  for (let waited = 0; ; waited += LOOK_MS) {
    const others = claimsOf(home).filter((claim) => {
      return claim.name !== own && !dead.some((known) => isSameClaim(known, claim)) && isLiving(claim.record);
    });
    const [first] = others;
    if (first === undefined) return undefined;
    if (others.some((claim) => claim.name < own) || waited >= MEETING_MS) return first;
    await pause(LOOK_MS);
  }
}

function isSameClaim(a: Claim, b: Claim): boolean {
  return (
    a.name === b.name &&
    a.record.pid === b.record.pid &&
    a.record.startTime === b.record.startTime &&
    a.record.host === b.record.host
  );
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function held(options: {
  home: string;
  files: Files;
  place: string;
  record: LockRecord;
  tookOver: boolean;
  touchMs: number;
}): HomeLock {
  const { home, files, place } = options;
  const path = join(home, place);
  let record = options.record;
  let released = false;
  const timer = setInterval(() => {
    try {
      utimesSync(path, new Date(), new Date());
    } catch {
      // Seen by assertHeld.
    }
  }, options.touchMs);
  timer.unref();
  return {
    get record() {
      return record;
    },
    tookOver: options.tookOver,
    crashes: options.record.crashes,
    assertHeld() {
      if (released || existsSync(path)) return;
      throw new Fault(
        "home-locked",
        `This process lost its claim on ${home}; it writes nothing more. Stop it and look at state/lock.`,
      );
    },
    async ready() {
      if (released || record.ready) return;
      record = { ...record, ready: true, crashes: 0 };
      await writeAtomic(files, path, renderDocument(record));
    },
    async release() {
      if (released) return;
      released = true;
      clearInterval(timer);
      await files.unlink(join(home, places.lock));
      await files.unlink(path);
    },
  };
}

interface Claim {
  readonly name: string;
  readonly record: LockRecord;
}

/** Whether a living process of this host works on the home, or is about to. */
export function isTaken(home: string): boolean {
  if (!existsSync(join(home, places.claims))) return false;
  return claimsOf(home).some(({ record }) => record.host === hostName() && isLiving(record));
}

function claimsOf(home: string): Claim[] {
  const claims: Claim[] = [];
  for (const name of readdirSync(join(home, places.claims))) {
    if (name.startsWith(".")) continue;
    const record = readRecord(home, `${places.claims}/${name}`);
    if (record !== undefined) claims.push({ name, record });
  }
  // A lock that another program wrote counts too.
  const lock = readRecord(home, places.lock);
  const known = lock === undefined || claims.some(({ record }) => record.pid === lock.pid && record.startTime === lock.startTime);
  return known || lock === undefined ? claims : [...claims, { name: "", record: lock }];
}

function readRecord(home: string, place: string): LockRecord | undefined {
  const text = readText(home, place);
  if (text === undefined) return undefined;
  try {
    return parseDocument(homeLockFormat, text, place, {}).value;
  } catch (error) {
    // Claims are written whole; what cannot be read is no claim.
    if (error instanceof Damage) return undefined;
    throw error;
  }
}

function isLiving(record: LockRecord): boolean {
  if (record.host !== hostName()) return true;
  const isOwn = record.pid === process.pid && record.startTime === ownStartTime();
  return isOwn || isSameProcess(record.pid, record.startTime);
}

/** Claims of dead processes, and a living one if there is any. Waits where only the owner's host could tell. */
async function sortOut(home: string, times: LockTimes): Promise<{ dead: readonly Claim[]; living: LockRecord | undefined }> {
  const claims = claimsOf(home);
  const local = claims.filter(({ record }) => record.host === hostName());
  const foreign = claims.filter(({ record }) => record.host !== hostName());
  const living = local.find(({ record }) => isLiving(record))?.record ?? (await livingForeign(home, foreign, times));
  return { dead: claims, living };
}

async function livingForeign(home: string, claims: readonly Claim[], times: LockTimes): Promise<LockRecord | undefined> {
  const touched = (claim: Claim): number => {
    const place = claim.name === "" ? places.lock : `${places.claims}/${claim.name}`;
    return statSync(join(home, place), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  };
  const before = claims.map(touched);
  for (let waited = 0; claims.length > 0 && waited < times.foreignMs; waited += times.touchMs / 5) {
    await pause(times.touchMs / 5);
    const moved = claims.find((claim, at) => touched(claim) !== before[at]);
    if (moved !== undefined) return moved.record;
  }
  return undefined;
}

function lockedBy(home: string, owner: LockRecord): Fault {
  const url = daemonUrl(home, owner);
  const where = owner.host === hostName() ? "" : ` on host ${owner.host}`;
  const at = url === undefined ? "" : `, at ${url}`;
  return new Fault("home-locked", `Process ${owner.pid}${where} works on ${home} since ${owner.since}${at}.`, {
    pid: owner.pid,
    host: owner.host,
    url: url ?? null,
  });
}

function daemonUrl(home: string, owner: LockRecord): string | undefined {
  try {
    const daemon = readLastDaemon(home);
    return daemon?.pid === owner.pid && daemon.startTime === owner.startTime ? daemon.url : undefined;
  } catch {
    return undefined;
  }
}
