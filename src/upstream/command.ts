/**
 * From a configured command to a file that can be started.
 *
 * Owns: the search along PATH (and PATHEXT), quoting for cmd.exe, and what a person is told when nothing is found.
 * Speaks: paths; the platform and the file check come from outside, so every platform's rules are tested everywhere.
 * Never: starting anything.
 */
import { posix, win32 } from "node:path";
import { envValue } from "./env.js";

export interface Resolution {
  readonly file: string;
  readonly args: readonly string[];
  /** The arguments are quoted already and must reach the command line as they are (Windows). */
  readonly verbatim: boolean;
}
export interface ResolveOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** The child's environment: its PATH is the one searched. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly platform: NodeJS.Platform;
  /** Is this path a file that may be executed? */
  readonly isProgram: (path: string) => boolean;
}

/** Throws Error with the searched places and a way out where there is no such program. */
export function resolveCommand(options: ResolveOptions): Resolution {
  return options.platform === "win32" ? resolveWindows(options) : resolvePosix(options);
}

function resolvePosix({ command, args, env, cwd, isProgram }: ResolveOptions): Resolution {
  if (command.includes("/")) {
    const path = posix.isAbsolute(command) || cwd === undefined ? command : posix.resolve(cwd, command);
    if (isProgram(path)) return { file: path, args, verbatim: false };
    throw new Error(`"${path}" is not there or not executable. Correct the command in the configuration.`);
  }
  const searched = (env["PATH"] ?? "").split(":").filter((folder) => folder !== "");
  for (const folder of searched) {
    const path = posix.join(folder, command);
    if (isProgram(path)) return { file: path, args, verbatim: false };
  }
  throw new Error(notFound(command, searched, ":"));
}

const DEFAULT_PATHEXT = ".COM;.EXE;.BAT;.CMD";

function resolveWindows({ command, args, env, cwd, isProgram }: ResolveOptions): Resolution {
  const extensions = (envValue(env, "PATHEXT", "win32") ?? DEFAULT_PATHEXT).split(";").filter((extension) => extension !== "");
  const known = extensions.some((extension) => command.toLowerCase().endsWith(extension.toLowerCase()));
  const names = known ? [command] : [...extensions.map((extension) => command + extension.toLowerCase()), command];
  const anchored = /[\\/]/.test(command);
  const searched = anchored ? [cwd ?? "."] : (envValue(env, "PATH", "win32") ?? "").split(";").filter((folder) => folder !== "");
  for (const folder of searched) {
    for (const name of names) {
      const path =
        anchored && (win32.isAbsolute(name) || cwd === undefined) ? name : win32.join(folder.replace(/^"|"$/g, ""), name);
      if (isProgram(path))
        return /\.(cmd|bat)$/i.test(path) ? throughCmd(path, args, env) : { file: path, args, verbatim: false };
    }
  }
  if (anchored)
    throw new Error(`"${command}" is not there (tried ${names.join(", ")}). Correct the command in the configuration.`);
  throw new Error(notFound(command, searched, ";"));
}

/** Batch files are no programs: cmd.exe runs them, and everything it would interpret is escaped. */
function throughCmd(path: string, args: readonly string[], env: Readonly<Record<string, string>>): Resolution {
  const broken = args.find((arg) => /[\r\n\0]/.test(arg));
  if (broken !== undefined) throw new Error(`An argument with a line break cannot be passed to the batch file "${path}" safely.`);
  // A shim hands its arguments to a second parsing (%*), so they are escaped once more.
  const line = [escapeMeta(path), ...args.map((arg) => escapeMeta(escapeMeta(quoteArgument(arg))))].join(" ");
  return { file: envValue(env, "COMSPEC", "win32") ?? "cmd.exe", args: ["/d", "/s", "/c", `"${line}"`], verbatim: true };
}

/** Quotes one argument by the rules of the C runtime: backslashes count only before a quote. */
function quoteArgument(arg: string): string {
  return `"${arg.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, "$1$1")}"`;
}
function escapeMeta(text: string): string {
  return text.replace(/[()\][%!^"`<>&|;, *?]/g, "^$&");
}

function notFound(command: string, searched: readonly string[], separator: string): string {
  const places = searched.length === 0 ? "PATH is empty" : `PATH searched: ${searched.join(separator)}`;
  return `"${command}" was not found (${places}). Install it, give its absolute path as the command, or set "env": {"PATH": …} for this upstream.`;
}
