/** Watching the configuration: the next one when the file moved, or the Fault that says why it stays as it was. */
import { join } from "node:path";
import { watchPaths, type Watching, type WatchOptions } from "../host/watch.js";
import type { Config } from "../model/config.js";
import { Fault } from "../model/fault.js";
import { CONFIG_PLACE, readConfig, type ConfigSurroundings } from "./config.js";

export type ConfigMove =
  { readonly kind: "moved"; readonly config: Config } | { readonly kind: "unreadable"; readonly fault: Fault };

/** Tells each readable state of the file once it settled; an unreadable one is told as such, and the last good one stays in force. */
export function watchConfig(
  home: string,
  around: ConfigSurroundings,
  tell: (move: ConfigMove) => void,
  options: WatchOptions = {},
): Watching {
  const asFault = (error: unknown): Fault => (error instanceof Fault ? error : new Fault("config-invalid", String(error)));
  const failed = (error: unknown): void => tell({ kind: "unreadable", fault: asFault(error) });
  const moved = (): void => {
    readConfig(home, around).then((config) => tell({ kind: "moved", config }), failed);
  };
  return watchPaths([join(home, CONFIG_PLACE)], moved, failed, options);
}
