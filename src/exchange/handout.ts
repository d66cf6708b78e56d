/**
 * Handing out: a client's skill folder is brought to the active skills.
 *
 * A record beside them says which folders and bytes are ours. Whatever else lies there, and whatever somebody changed since, is left
 * as it is and named. The record is written first with both what was and what will be ours, so that a process that dies in between
 * leaves no copy that nobody knows.
 */
import { accessSync, constants, existsSync, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { sha256 } from "../catalog/canonical.js";
import { ensureFolder, errorCode, nodeFiles, writeAtomic, type Files } from "../host/files.js";
import { isDotPath, pathProblem } from "../host/paths.js";
import { handoutFormat, type Handout } from "../model/handout.js";
import type { Problem } from "../model/problem.js";
import { renderDocument } from "../store/documents.js";
import { CliFault, EXIT, type HandedOut } from "../surfaces/cli/access.js";

const RECORD = ".steward-handout.json";

type Texts = Readonly<Record<string, string>>;

/** `root`, where it does not lie in the home; throws CliFault where it does: there skills are the library's own. */
export function outsideOf(home: string, root: string): string {
  const [from, to] = [realPath(home), realPath(root)];
  if (to !== from && !to.startsWith(from.endsWith(sep) ? from : `${from}${sep}`)) return root;
  throw new CliFault(
    `${root} lies in the home ${home}, whose skills are the library's own; name a folder of a client outside of it.`,
    EXIT.usage,
  );
}

/** Through links, as far as the path is there. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realPath(above), basename(path));
  }
}

export async function handOut(
  root: string,
  skills: Readonly<Record<string, Texts>>,
  files: Files = nodeFiles(),
): Promise<HandedOut> {
  const problems: Problem[] = [];
  await prepareFolder(files, root);
  const before = readRecord(root, problems);
  const names = [...new Set([...Object.keys(before.skills), ...Object.keys(skills)])].sort();
  const free = names.filter((name) => isFree(root, name, before.skills[name], skills[name], problems));
  const digests = (texts: Texts): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([path, text]) => [path, sha256(text)]));
  const after: Handout["skills"] = {};
  const kept: Handout["skills"] = {};
  for (const name of names) {
    const [was, next] = [before.skills[name], skills[name]];
    if (free.includes(name) && next !== undefined) after[name] = digests(next);
    else if (!free.includes(name) && was !== undefined) kept[name] = was;
  }
  await writeRecord(files, root, { ...before.skills, ...after });
  const removed: string[] = [];
  for (const name of free) {
    const next = skills[name];
    for (const [path, text] of Object.entries(next ?? {})) {
      await ensureFolder(files, dirname(join(root, name, path)), "/");
      await writeAtomic(files, join(root, name, path), text);
    }
    for (const path of Object.keys(before.skills[name] ?? {}))
      if (next?.[path] === undefined) await takeAway(files, root, name, path);
    if (next === undefined) removed.push(name);
  }
  await writeRecord(files, root, { ...kept, ...after });
  return { written: Object.keys(after), removed, problems };
}

/** May the folder be written? Not where it is somebody else's, or where a byte is not the one that was handed out. */
function isFree(root: string, name: string, ours: Texts | undefined, next: Texts | undefined, problems: Problem[]): boolean {
  const refuse = (code: string, text: string): boolean => {
    problems.push({ code, where: join(root, name), text });
    return false;
  };
  const bad = [name, ...Object.keys(next ?? {})].map((path) => pathProblem(path)).find((problem) => problem !== undefined);
  if (bad !== undefined) return refuse("path-refused", `It is not written: ${bad}.`);
  if (lstatSync(join(root, name), { throwIfNoEntry: false })?.isSymbolicLink() === true)
    return refuse("path-refused", "It is a link; nothing is written through it.");
  const found = filesBelow(join(root, name));
  if (found.length === 0) return true;
  const same = (path: string, digest: string | undefined): boolean =>
    digest !== undefined && sha256(readFileSync(join(root, name, path), "utf8")) === digest;
  if (ours !== undefined && found.every((path) => same(path, ours[path]))) return true;
  if (next !== undefined && found.every((path) => same(path, next[path] === undefined ? undefined : sha256(next[path] ?? ""))))
    return true;
  return ours === undefined
    ? refuse("folder-foreign", "A skill of this name is there that is not from here; it is left as it is.")
    : refuse(
        "folder-changed",
        "Somebody changed it since it was handed out; it is left as it is. Move it away to have it written anew.",
      );
}

/** Throws a CliFault that says what is in the way, before anything is written. */
async function prepareFolder(files: Files, root: string): Promise<void> {
  const shown = resolve(root);
  try {
    await ensureFolder(files, root, "/");
    if (!statSync(root).isDirectory()) throw Object.assign(new Error("a file is there"), { code: "ENOTDIR" });
    accessSync(root, constants.W_OK);
  } catch (error) {
    throw new CliFault(`${shown} cannot be written to as a folder (${errorCode(error) ?? String(error)}); give another one.`);
  }
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !isDotPath(path));
}

async function takeAway(files: Files, root: string, name: string, path: string): Promise<void> {
  await files.unlink(join(root, name, path));
  for (let at = dirname(join(root, name, path)); at.startsWith(join(root, name)); at = dirname(at)) await files.removeFolder(at);
}

function readRecord(root: string, problems: Problem[]): Handout {
  const empty: Handout = { format: handoutFormat.id, skills: {} };
  if (!existsSync(join(root, RECORD))) return empty;
  try {
    return handoutFormat.schema.parse(JSON.parse(readFileSync(join(root, RECORD), "utf8")));
  } catch {
    const text = "It cannot be read, so nothing here counts as handed out by us: folders of other bytes are left as they are.";
    problems.push({ code: "document-damaged", where: join(root, RECORD), text });
    return empty;
  }
}

function writeRecord(files: Files, root: string, skills: Handout["skills"]): Promise<void> {
  return writeAtomic(files, join(root, RECORD), renderDocument({ format: handoutFormat.id, skills }));
}
