/**
 * Watching: told once, a little after the last of several moves; during them only where they go on and on.
 *
 * Folders are watched, not files: the system tells of whatever moves in a folder by its name, so ten thousand files cost as many
 * watches as they have folders, and no file is looked at before it moved. Where the system watches whole trees itself (macOS,
 * Windows) one watch does; elsewhere each folder has its own, followed as folders come and go.
 */
import { lstatSync, readdirSync, realpathSync, statSync, watch, type Dirent, type FSWatcher } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { errorCode } from "./files.js";

export interface WatchOptions {
  /** Calm to wait for after a move, in milliseconds. */
  readonly settleMs?: number;
  /** Leave the tree to the system instead of watching folder by folder. Absent: where systems can (macOS, Windows). */
  readonly bySystem?: boolean;
  /** From so many moves between two calms on, folders are taken up anew. */
  readonly manyMoves?: number;
}

const SETTLE_MS = 200;
/** Folders taken up before other work may come in between: about 2 ms. */
const BETWEEN_BREATHS = 64;
/**
 * Moves between two calms from which on the system may have dropped some of them (Linux drops what comes while its queue is full, of
 * 16,384 as a rule, and the runtime does not say so): then folders are taken up anew.
 */
const MANY_MOVES = 1_000;
/** Moves that never end are told all the same: at the latest after so many times the calm that is waited for. */
const CALMS_AT_MOST = 25;
const WATCHES_TREES: readonly NodeJS.Platform[] = ["darwin", "win32"];

export interface Watching {
  /** Resolves when moves are seen from now on. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/**
 * Calls `moved` after files at or below `paths` appeared, changed or went. A path that is no folder now is watched through the
 * folder it lies in, which has to exist: a file that is replaced by renaming is another file to the system. Names that begin with
 * a dot are not looked at (temporary files, editors'), links are not followed. `failed` is told, once a path, when the system
 * cannot watch (more) of it; what is watched by then stays so.
 */
export function watchPaths(
  paths: readonly string[],
  moved: () => void,
  failed: (error: unknown) => void,
  options: WatchOptions = {},
): Watching {
  const settleMs = options.settleMs ?? SETTLE_MS;
  const manyMoves = options.manyMoves ?? MANY_MOVES;
  let timer: NodeJS.Timeout | undefined;
  let latest: NodeJS.Timeout | undefined;
  let stopped = false;
  let moves = 0;
  const settle = (): void => {
    clearTimeout(timer);
    if (stopped) return;
    timer = setTimeout(calm, settleMs).unref();
    latest ??= setTimeout(calm, settleMs * CALMS_AT_MOST).unref();
  };
  const unsettle = (): void => {
    clearTimeout(timer);
    clearTimeout(latest);
    latest = undefined;
  };
  const seen = (): void => {
    moves += 1;
    settle();
  };
  const watched = paths.map((path) => {
    let told = false;
    return watchPath(path, { ...options, settleMs }, seen, (error) => {
      if (!told && !stopped) failed(error);
      told = true;
    });
  });
  function calm(): void {
    unsettle();
    const mayMiss = moves >= manyMoves;
    moves = 0;
    moved();
    // What moved before a folder was watched again is looked for once they all are.
    if (mayMiss) void Promise.all(watched.map((one) => one.again())).then(settle);
  }
  return {
    ready: Promise.all(watched.map(({ ready }) => ready)).then(() => undefined),
    stop() {
      stopped = true;
      unsettle();
      for (const one of watched) one.stop();
      return Promise.resolve();
    },
  };
}

/** The path with what is in it, and the folders that tell when the path itself, or what it leads to as a link, is replaced. */
function watchPath(path: string, options: WatchOptions, seen: () => void, failed: (error: unknown) => void): Tree {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const tree = isFolder ? watchTree(path, seen, failed, options) : undefined;
  const above = watchAbove(path);
  let beyond: FSWatcher | undefined;
  let leadsTo: string | undefined;
  follow();

  function watchAbove(place: string): FSWatcher | undefined {
    return openWatch(dirname(place), false, failed, (kind, name) => {
      if (name !== undefined && name !== basename(place)) return;
      if (kind === "rename") void again();
      seen();
    });
  }

  /** Where the path leads now; where that is gone for a moment, it is waited for at the last place. */
  function follow(): void {
    const target = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? targetOf(path) : undefined;
    if (target === undefined || target === leadsTo) return;
    beyond?.close();
    leadsTo = target;
    beyond = watchAbove(target);
  }

  function again(): Promise<void> {
    follow();
    return tree?.again() ?? Promise.resolve();
  }

  return {
    ready: tree?.ready ?? Promise.resolve(),
    again,
    stop() {
      tree?.stop();
      above?.close();
      beyond?.close();
    },
  };
}

function targetOf(link: string): string | undefined {
  try {
    return realpathSync(link);
  } catch {
    return undefined;
  }
}

interface Tree {
  readonly ready: Promise<void>;
  /** The root may be another folder now, or moves were missed: folders are taken up anew. Resolves when they are. */
  again(): Promise<void>;
  stop(): void;
}

function watchTree(root: string, seen: () => void, failed: (error: unknown) => void, options: WatchOptions): Tree {
  const bySystem = options.bySystem ?? WATCHES_TREES.includes(process.platform);
  return bySystem ? watchBySystem(root, seen, failed) : watchEachFolder(root, seen, failed);
}

function watchBySystem(root: string, seen: () => void, failed: (error: unknown) => void): Tree {
  const open = (): FSWatcher | undefined =>
    openWatch(root, true, failed, (_kind, name) => {
      if (name?.split(sep).some(isHidden) !== true) seen();
    });
  let watcher = open();
  return {
    ready: Promise.resolve(),
    again() {
      watcher?.close();
      watcher = open();
      return Promise.resolve();
    },
    stop: () => watcher?.close(),
  };
}

function watchEachFolder(root: string, seen: () => void, failed: (error: unknown) => void): Tree {
  const watchers = new Map<string, FSWatcher>();
  let stopped = false;

  function drop(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  /** Watches a folder, unless it is none, and answers the folders in it. First watched, then read: what comes between is seen. */
  function take(folder: string): string[] {
    drop(folder);
    const watcher = openWatch(folder, false, failed, (kind, name) => {
      if (name !== undefined && isHidden(name)) return;
      seen();
      // Its own name is told when it goes itself; that is no entry of it, and what is none is forgotten.
      if (kind === "rename" && name !== undefined) void follow(join(folder, name));
    });
    if (watcher === undefined) return [];
    watchers.set(folder, watcher);
    return foldersIn(folder, failed);
  }

  /** An entry came, went, or is another one under the same name. */
  async function follow(path: string): Promise<void> {
    if (watchers.has(path))
      for (const folder of watchers.keys()) if (folder === path || folder.startsWith(path + sep)) drop(folder);
    const stats = (path === root ? statSync : lstatSync)(path, { throwIfNoEntry: false });
    if (stats?.isDirectory() !== true) return;
    // A move between the first of many folders and the last may lie in one that was not watched yet.
    if ((await takeAll([path])) >= BETWEEN_BREATHS) seen();
  }

  /** Answers how many folders were taken. */
  async function takeAll(waiting: string[]): Promise<number> {
    let taken = 0;
    for (let folder = waiting.pop(); folder !== undefined && !stopped; folder = waiting.pop()) {
      waiting.push(...take(folder));
      taken += 1;
      if (taken % BETWEEN_BREATHS === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return taken;
  }

  return {
    ready: takeAll([root]).then(() => undefined),
    again: () => follow(root),
    stop() {
      stopped = true;
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}

const isHidden = (name: string): boolean => name.startsWith(".");

/** Undefined where there is no such folder, or the system refuses, which `failed` is told. */
function openWatch(
  folder: string,
  recursive: boolean,
  failed: (error: unknown) => void,
  told: (kind: string, name: string | undefined) => void,
): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { recursive, persistent: false }, (kind, name) => told(kind, name ?? undefined));
    watcher.on("error", (error) => {
      // On Windows a watched folder that goes is an error.
      if (!isGone(error) && errorCode(error) !== "EPERM") failed(error);
    });
    return watcher;
  } catch (error) {
    if (!isGone(error)) failed(error);
    return undefined;
  }
}

function foldersIn(folder: string, failed: (error: unknown) => void): string[] {
  try {
    const entries: Dirent[] = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && !isHidden(entry.name)).map(({ name }) => join(folder, name));
  } catch (error) {
    if (!isGone(error)) failed(error);
    return [];
  }
}

function isGone(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "");
}
