/** Which home a command means. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Environment } from "../host/env.js";
import { starterHome } from "../host/starter.js";

/**
 * `--home`, else `STEWARD_HOME`, else `./.steward` in a clone where `npm start` runs or has run, else `~/.steward`. Absolute.
 * A clone is the very package that runs, not any folder: a home is configured to start programs, and a folder that somebody sent
 * must not become one by being stood in.
 */
export function resolveHome(options: {
  readonly flag?: string | undefined;
  readonly env: Environment;
  readonly cwd: string;
  /** Root of the running package. */
  readonly packageRoot?: string;
}): string {
  const { env, cwd } = options;
  const user = env["HOME"] ?? env["USERPROFILE"] ?? homedir();
  const chosen = [options.flag, env["STEWARD_HOME"]].find((path) => path !== undefined && path !== "");
  if (chosen !== undefined) return resolve(cwd, chosen.replace(/^~(?=[/\\]|$)/, user));
  const inClone = resolve(cwd) === resolve(options.packageRoot ?? starterHome().root);
  const beside = join(resolve(cwd), ".steward");
  if (inClone && (env["npm_lifecycle_event"] === "start" || existsSync(beside))) return beside;
  return join(user, ".steward");
}
