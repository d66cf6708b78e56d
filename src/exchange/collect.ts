/**
 * Exchange: skill folders that come from others and go to others.
 *
 * Owns: finding them below folders, where clients keep them, and in git repositories (this file); handing active ones out (handout.ts).
 * Speaks: FoundSkills and HandedOut for the CLI; bytes as text, untouched.
 * Never: reads through links or hidden folders but those of clients, runs anything of a repository, decides what is taken.
 */
import { execFile } from "node:child_process";
import { isUtf8 } from "node:buffer";
import { existsSync, lstatSync, readdirSync, readFileSync, statSync, type Dirent } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import type { Environment } from "../host/env.js";
import { errorCode } from "../host/files.js";
import { isDotPath, pathProblem } from "../host/paths.js";
import { redact } from "../host/redact.js";
import { SKILL_LIMITS } from "../model/policy.js";
import type { Problem } from "../model/problem.js";
import { CliFault, EXIT, type FoundSkills } from "../surfaces/cli/access.js";

interface Surroundings {
  readonly cwd: string;
  readonly env: Environment;
}

/** Where clients keep skills, below a project and below a user's folder. */
const CLIENT_FOLDERS = [".claude/skills", ".agents/skills"];
/** Hidden folders that are looked into on the way down. */
const CLIENT_ROOTS: ReadonlySet<string> = new Set([".claude", ".agents"]);
const PASSED_OVER: ReadonlySet<string> = new Set(["node_modules"]);
/** Folders below the one given: enough for collections of plugins, little enough not to walk a whole disc. */
const DEPTH = 6;
const FOLDERS_MOST = 20_000;

export async function collectSkills(
  around: Surroundings,
  options: { readonly sources: readonly string[]; readonly ref?: string },
): Promise<FoundSkills> {
  const sources = options.sources.length > 0 ? options.sources : clientFolders(around);
  const found: Found = { folders: [], problems: [] };
  for (const source of sources) {
    const path = resolve(around.cwd, source);
    if (!existsSync(path) && isRepository(source)) await collectRepository(around, source, options.ref, found);
    else if (options.ref !== undefined) throw new CliFault(`--ref is for git repositories; ${source} is a folder.`, EXIT.usage);
    else collectFolder(path, source, found);
  }
  return { ...found, looked: sources };
}

interface Found {
  readonly folders: FoundSkills["folders"][number][];
  readonly problems: Problem[];
}

function clientFolders({ cwd, env }: Surroundings): string[] {
  const user = env["HOME"] ?? env["USERPROFILE"] ?? homedir();
  const all = [cwd, user].flatMap((root) => CLIENT_FOLDERS.map((folder) => join(root, folder)));
  return [...new Set(all)].filter((folder) => existsSync(folder));
}

/** An address, `user@host:path`, or a name ending in `.git`. */
function isRepository(source: string): boolean {
  return /^(https?|ssh|git|file):\/\//.test(source) || /^[\w.-]+@[\w.-]+:/.test(source) || /\.git\/?$/.test(source);
}

/* ── folders ───────────────────────────────────────────────────────────────────────────────────────────────────────────── */

function collectFolder(root: string, origin: string, found: Found): void {
  const stats = statSync(root, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) {
    const what = stats === undefined ? "There is no such folder" : "It is not a folder";
    throw new CliFault(`${origin}: ${what}; give a folder with a SKILL.md at or below it, or the address of a git repository.`);
  }
  let left = FOLDERS_MOST;
  const tooDeep: string[] = [];
  const walk = (path: string, below: string, depth: number): void => {
    if (existsSync(join(path, "SKILL.md"))) return readSkill(path, below === "" ? origin : `${origin}/${below}`, found);
    for (const entry of entriesOf(path)) {
      const child = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isSymbolicLink() && existsSync(join(path, entry.name, "SKILL.md"))) leaveOutLink(`${origin}/${child}`, found);
      if (!entry.isDirectory() || PASSED_OVER.has(entry.name)) continue;
      if (entry.name.startsWith(".") && !CLIENT_ROOTS.has(entry.name)) continue;
      if (depth > DEPTH) {
        tooDeep.push(child);
        continue;
      }
      left -= 1;
      if (left < 0) throw new CliFault(`${origin} has more than ${FOLDERS_MOST} folders; give the one that has the skills.`);
      walk(join(path, entry.name), child, depth + 1);
    }
  };
  walk(root, "", 0);
  const [first] = tooDeep;
  if (first === undefined) return;
  const text = `Folders more than ${DEPTH + 1} levels below it were not looked into: ${tooDeep.length}, the first ${first}. If they have skills, give them by themselves.`;
  found.problems.push({ code: "folder-too-deep", where: origin, text });
}

function leaveOutLink(where: string, found: Found): void {
  found.problems.push({ code: "path-refused", where, text: "It is left out: it is a link. Give the folder it leads to." });
}

/** One skill folder. What cannot be taken as it is (links, files that are no text) is left out by name. */
function readSkill(root: string, origin: string, found: Found): void {
  const files: Record<string, string> = {};
  let bytes = 0;
  const leftOut = (path: string, text: string): void =>
    void found.problems.push({ code: "path-refused", where: `${origin}/${path}`, text: `It is left out: ${text}.` });
  const walk = (below: string): void => {
    for (const entry of entriesOf(join(root, below))) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (isDotPath(path)) continue;
      const problem = pathProblem(path);
      if (problem !== undefined) leftOut(path, problem);
      else if (entry.isDirectory()) walk(path);
      else if (!entry.isFile()) leftOut(path, "links and special files are not part of a skill");
      else {
        bytes += lstatSync(join(root, path)).size;
        if (bytes > SKILL_LIMITS.folderBytes || Object.keys(files).length >= SKILL_LIMITS.filesPerSkill)
          return leftOut(path, `a skill has at most ${SKILL_LIMITS.filesPerSkill} files and ${SKILL_LIMITS.folderBytes} bytes`);
        const content = readFileSync(join(root, path));
        if (isUtf8(content)) files[path] = content.toString("utf8");
        else leftOut(path, "it is not UTF-8 text");
      }
    }
  };
  walk("");
  found.folders.push({ folder: basename(root), origin, files });
}

function entriesOf(path: string): Dirent[] {
  return readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/* ── git ───────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

const run = promisify(execFile);
const GIT_MS = 300_000;

/** One commit of the repository, without its history, in a folder of its own that is gone afterwards. */
async function collectRepository(around: Surroundings, url: string, ref: string | undefined, found: Found): Promise<void> {
  const checkout = await mkdtemp(join(tmpdir(), "steward-import-"));
  try {
    await git(around, checkout, url, ["init", "--quiet", "--template="]);
    await git(around, checkout, url, ["fetch", "--quiet", "--depth=1", "--no-tags", "--", url, ref ?? "HEAD"]);
    await git(around, checkout, url, ["checkout", "--quiet", "--detach", "FETCH_HEAD"]);
    const commit = (await git(around, checkout, url, ["rev-parse", "--short=12", "HEAD"])).trim();
    collectFolder(checkout, `${withoutUser(url)}@${commit}`, found);
  } finally {
    await rm(checkout, { recursive: true, force: true });
  }
}

/** Asks for no password, follows no link out of the checkout, runs no hook, filter or helper that the repository names. */
const SAFE = ["core.symlinks=false", "core.hooksPath=/dev/null", "protocol.ext.allow=never", "submodule.recurse=false"];

async function git({ env }: Surroundings, cwd: string, url: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run("git", [...SAFE.flatMap((setting) => ["-c", setting]), ...args], {
      cwd,
      env: { ...env, GIT_TERMINAL_PROMPT: "0", GIT_LFS_SKIP_SMUDGE: "1" },
      timeout: GIT_MS,
      maxBuffer: 1 << 20,
    });
    return stdout;
  } catch (error) {
    if (errorCode(error) === "ENOENT")
      throw new CliFault(
        "git was not found in PATH: install it, or fetch the repository yourself and give the folder.",
        EXIT.usage,
      );
    const said = String((error as { stderr?: unknown }).stderr ?? "").trim() || String(error);
    const secret = /\/\/([^/@]+)@/.exec(url)?.[1];
    throw new CliFault(`${withoutUser(url)}: git says: ${redact(said, secret === undefined ? [] : [secret])}`);
  }
}

/** Names and tokens in an address are nobody's business. */
function withoutUser(url: string): string {
  return url.replace(/\/\/[^/@]*@/, "//");
}
