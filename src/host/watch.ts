/**
 * Watching: told once, a little after the last of several moves, never during them.
 *
 * Folders are watched, not files: the system tells of whatever moves in a folder by its name, so ten thousand files cost as many
 * watches as they have folders, and no file is looked at before it moved. Where the system watches whole trees itself (macOS,
 * Windows) one watch does; elsewhere each folder has its own, followed as folders come and go.
 */
import { lstatSync, readdirSync, statSync, watch, type Dirent, type FSWatcher } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { errorCode } from "./files.js";

export interface WatchOptions {
  /** Calm to wait for after a move, in milliseconds. */
  readonly settleMs?: number;
  /** Leave the tree to the system instead of watching folder by folder. Absent: where systems can (macOS, Windows). */
  readonly bySystem?: boolean;
}

const SETTLE_MS = 200;
/** Folders taken up before other work may come in between: about 2 ms. */
const BETWEEN_BREATHS = 64;
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
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const seen = (): void => {
    clearTimeout(timer);
    if (stopped) return;
    timer = setTimeout(moved, settleMs);
    timer.unref();
  };
  const watched = paths.map((path) => {
    let told = false;
    const fail = (error: unknown): void => {
      if (!told && !stopped) failed(error);
      told = true;
    };
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    const tree = isFolder ? watchTree(path, seen, fail, options) : undefined;
    // The path itself may be replaced, and only the folder that it lies in tells.
    const above = openWatch(dirname(path), false, fail, (kind, name) => {
      if (name !== undefined && name !== basename(path)) return;
      if (kind === "rename") tree?.again();
      seen();
    });
    return { tree, above };
  });
  return {
    ready: Promise.all(watched.map(({ tree }) => tree?.ready ?? Promise.resolve())).then(() => undefined),
    stop() {
      stopped = true;
      clearTimeout(timer);
      for (const { tree, above } of watched) {
        tree?.stop();
        above?.close();
      }
      return Promise.resolve();
    },
  };
}

interface Tree {
  readonly ready: Promise<void>;
  /** The root may be another folder now. */
  again(): void;
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
      if (kind === "rename" && name !== undefined) follow(join(folder, name));
    });
    if (watcher === undefined) return [];
    watchers.set(folder, watcher);
    return foldersIn(folder, failed);
  }

  /** An entry came, went, or is another one under the same name. */
  function follow(path: string): void {
    if (watchers.has(path))
      for (const folder of watchers.keys()) if (folder === path || folder.startsWith(path + sep)) drop(folder);
    const stats = (path === root ? statSync : lstatSync)(path, { throwIfNoEntry: false });
    if (stats?.isDirectory() === true) void takeAll([path]);
  }

  async function takeAll(waiting: string[]): Promise<void> {
    let taken = 0;
    for (let folder = waiting.pop(); folder !== undefined && !stopped; folder = waiting.pop()) {
      waiting.push(...take(folder));
      taken += 1;
      if (taken % BETWEEN_BREATHS === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  return {
    ready: takeAll([root]),
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
