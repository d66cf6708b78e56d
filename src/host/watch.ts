/** Watching: told once, a little after the last of several moves, never during them. */
import { statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { watch } from "chokidar";

export interface WatchOptions {
  /** Calm to wait for after a move, in milliseconds. */
  readonly settleMs?: number;
  /** Longest path below a watched folder that is looked at, in folders. */
  readonly depth?: number;
}

const SETTLE_MS = 200;
/** chokidar passes over a second change of one file within 50 ms: looking before that is over could miss the last one. */
const SETTLE_MIN_MS = 100;

export interface Watching {
  /** Resolves when moves are seen from now on. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/**
 * Calls `moved` after files at or below `paths` appeared, changed or went. A path that is no folder now is watched through the
 * folder it lies in, which has to exist: a file that is replaced by renaming is another file to the system. Files whose names
 * begin with a dot are not looked at (temporary files, editors'). `failed` is told when the system cannot watch any more.
 */
export function watchPaths(
  paths: readonly string[],
  moved: () => void,
  failed: (error: unknown) => void,
  options: WatchOptions = {},
): Watching {
  const settleMs = Math.max(SETTLE_MIN_MS, options.settleMs ?? SETTLE_MS);
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const seen = (): void => {
    clearTimeout(timer);
    if (stopped) return;
    timer = setTimeout(moved, settleMs);
    timer.unref();
  };
  const watchers = paths.map((path) => {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    const root = isFolder ? path : dirname(path);
    const depth = isFolder ? options.depth : 0;
    const watcher = watch(root, {
      ignoreInitial: true,
      ignored: (at) => at !== root && basename(at).startsWith("."),
      followSymlinks: false,
      atomic: false,
      ...(depth === undefined ? {} : { depth }),
    });
    watcher.on("all", (_event, at) => {
      if (isFolder || at === path) seen();
    });
    // chokidar follows the file it knew: where that lives on under another name (our own `.bak`), it does not see that the name
    // now means other bytes. The system's own events, which it passes on, say so.
    watcher.on("raw", (_event, at: unknown) => {
      const name = typeof at === "string" ? basename(at) : "";
      if (isFolder ? !name.startsWith(".") : name === basename(path)) seen();
    });
    watcher.on("error", failed);
    return watcher;
  });
  const ready = Promise.all(watchers.map((watcher) => new Promise<void>((resolve) => watcher.once("ready", () => resolve()))));
  return {
    ready: ready.then(() => undefined),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await Promise.all(watchers.map((watcher) => watcher.close()));
    },
  };
}
