/** Watching: told once, a little after the last of several moves, never during them. */
import { watch } from "chokidar";

export interface WatchOptions {
  /** Calm to wait for after a move, in milliseconds. */
  readonly settleMs?: number;
  /** Longest path below a watched folder that is looked at, in folders. */
  readonly depth?: number;
}

const SETTLE_MS = 200;

export interface Watching {
  /** Resolves when moves are seen from now on. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/**
 * Calls `moved` after files at or below `paths` appeared, changed or went. Paths need not exist yet. Files whose names begin
 * with a dot are not looked at (temporary files, editors'). `failed` is told when the system cannot watch any more.
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
  const watcher = watch([...paths], {
    ignoreInitial: true,
    ignored: (path) => /(^|[/\\])\.[^/\\]*$/.test(path) && !paths.includes(path),
    followSymlinks: false,
    persistent: true,
    ...(options.depth === undefined ? {} : { depth: options.depth }),
  });
  watcher.on("all", () => {
    clearTimeout(timer);
    if (stopped) return;
    timer = setTimeout(moved, settleMs);
    timer.unref();
  });
  watcher.on("error", failed);
  const ready = new Promise<void>((resolve) => watcher.once("ready", () => resolve()));
  return {
    ready,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await watcher.close();
    },
  };
}
