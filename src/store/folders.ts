/**
 * Skill folders on disc: what a person may edit at any time.
 *
 * Reading takes what is there, names what it passes over, and follows no link. Writing brings a folder from one set of files to
 * another, touches nothing else in it, and never destroys a person's bytes: what lies where an edit has to write, and is neither
 * the old nor the new file, is copied to state/overwritten first.
 */
import { isUtf8 } from "node:buffer";
import { lstatSync, readdirSync, readFileSync, type Dirent, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { ensureFolder, errorCode, writeAtomic, type Files } from "../host/files.js";
import { pathProblem } from "../host/paths.js";
import { Fault } from "../model/fault.js";
import { SKILL_LIMITS } from "../model/policy.js";
import type { Problem } from "../model/problem.js";
import { atOnce, breathe, digestOfBytes, readBytes, readFileObject } from "./objects.js";
import { places } from "./places.js";

export type FileDigests = Readonly<Record<string, string>>;

export interface FoundFolder {
  readonly folder: string;
  readonly files: Readonly<Record<string, string>>;
}

/** Skill folders looked at before other work may come in between. */
const BETWEEN_BREATHS = 32;

/** Folders whose files differ from `expected` or that are not in it, and expected ones without a SKILL.md. */
export async function findHandEdits(
  home: string,
  expected: Readonly<Record<string, FileDigests>>,
): Promise<{ written: FoundFolder[]; missing: string[]; problems: Problem[] }> {
  const root = join(home, places.skills);
  const written: FoundFolder[] = [];
  const problems: Problem[] = [];
  const seen = new Set<string>();
  let looked = 0;
  for (const name of skillFolders(root, problems)) {
    const files = readSkillFolder(root, name, problems);
    if (files.has("SKILL.md")) {
      seen.add(name);
      if (!isAsExpected(files, expected[name])) written.push({ folder: name, files: textsOf(files) });
    } else if (expected[name] === undefined && files.size > 0) {
      problems.push({
        code: "skill-file-missing",
        where: `skills/${name}`,
        text: "The folder has no SKILL.md; it is not a skill.",
      });
    }
    looked += 1;
    if (looked % BETWEEN_BREATHS === 0) await breathe();
  }
  return { written, missing: Object.keys(expected).filter((name) => !seen.has(name)), problems };
}

function isAsExpected(files: ReadonlyMap<string, Buffer>, expected: FileDigests | undefined): boolean {
  if (expected === undefined || files.size !== Object.keys(expected).length) return false;
  for (const [path, bytes] of files) if (digestOfBytes(bytes) !== expected[path]) return false;
  return true;
}

function textsOf(files: ReadonlyMap<string, Buffer>): Record<string, string> {
  return Object.fromEntries([...files].map(([path, bytes]) => [path, bytes.toString("utf8")]));
}

function skillFolders(root: string, problems: Problem[]): string[] {
  const names: string[] = [];
  for (const entry of entriesOf(root)) {
    if (entry.name.startsWith(".") || entry.isFile()) continue;
    if (entry.isDirectory()) names.push(entry.name);
    else
      problems.push({
        code: "path-refused",
        where: `skills/${entry.name}`,
        text: "It is not a folder of its own (a link?); skills are not read through links.",
      });
  }
  return names.sort();
}

/** Files of one skill folder, all of them UTF-8 text: relative path → bytes. What is passed over is told to `problems`. */
function readSkillFolder(root: string, name: string, problems: Problem[]): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>();
  let count = 0;
  let bytes = 0;
  const note = (path: string, text: string): void =>
    void problems.push({ code: "path-refused", where: `skills/${name}/${path}`, text });

  const walk = (below: string): void => {
    for (const entry of entriesOf(join(root, name, below))) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.name.startsWith(".")) continue;
      const problem = pathProblem(path);
      if (problem !== undefined) note(path, `The file is left out: ${problem}.`);
      else if (entry.isDirectory()) walk(path);
      else if (!entry.isFile()) note(path, "It is left out: links and special files are not part of a skill.");
      else {
        const size = lstatSync(join(root, name, path), { throwIfNoEntry: false })?.size ?? 0;
        count += 1;
        bytes += size;
        if (count > SKILL_LIMITS.filesPerSkill || bytes > SKILL_LIMITS.folderBytes) {
          const limits = `${SKILL_LIMITS.filesPerSkill} files and ${SKILL_LIMITS.folderBytes} bytes`;
          note(path, `It is left out: a skill has at most ${limits}.`);
          return;
        }
        const found = readBytes(join(root, name, path));
        if (found !== undefined && isUtf8(found)) files.set(path, found);
        else note(path, "It is left out: it is not UTF-8 text.");
      }
    }
  };
  walk("");
  return files;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return [];
    throw error;
  }
}

/** Throws Fault `input-invalid` for a name or file name that may not be written below `skills/`. */
export function assertWritable(name: string, paths: Iterable<string>): void {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || name.length > SKILL_LIMITS.nameChars) {
    throw new Fault("input-invalid", `A skill cannot be written as folder ${JSON.stringify(name)}.`);
  }
  const known = new Set<string>();
  for (const path of paths) {
    const problem =
      pathProblem(path) ?? (path.split("/").some((part) => part.startsWith(".")) ? "a part begins with a dot" : undefined);
    if (problem !== undefined)
      throw new Fault("input-invalid", `Skill ${name} cannot have a file ${JSON.stringify(path)}: ${problem}.`);
    // `A.md` and `a.md` are one file on half of the world's discs.
    if (known.has(path.toLowerCase()))
      throw new Fault("input-invalid", `Skill ${name} has two files that differ in case only: ${path}.`);
    known.add(path.toLowerCase());
  }
  if (known.size > SKILL_LIMITS.filesPerSkill)
    throw new Fault("input-invalid", `Skill ${name} has more than ${SKILL_LIMITS.filesPerSkill} files.`);
}

export interface FolderMove {
  readonly name: string;
  /** Files as the last revision left them. */
  readonly before: FileDigests;
  /** Files as they shall be; none removes the folder. */
  readonly after: FileDigests;
}

/**
 * Brings skill folders to `after`; done again, it does nothing. What was found in the way and copied aside, and files whose bytes
 * are lost (they are left as they are), are told to `problems`.
 */
export async function moveFolders(home: string, files: Files, moves: readonly FolderMove[], problems: Problem[]): Promise<void> {
  // Names are made durable at the end, each folder once: the batch that asks for this is not forgotten before.
  const touched = new Set<string>();
  await atOnce(moves, (move) => moveFolder(home, files, move, touched, problems));
  for (const folder of touched) if (statOf(folder) !== undefined) await files.syncFolder(folder);
}

async function moveFolder(
  home: string,
  files: Files,
  move: FolderMove,
  touched: Set<string>,
  problems: Problem[],
): Promise<void> {
  const root = join(home, places.skill(move.name));
  assertOwnFolder(root, move.name);
  for (const [path, digest] of Object.entries(move.after)) {
    const at = join(root, path);
    const found = foundDigest(at);
    if (found === digest) continue;
    const text = readFileObject(home, digest);
    if (text === undefined) {
      const lost = `Its bytes (${digest}) are not in the store; the file is left as it is.`;
      problems.push({ code: "object-missing", where: `skills/${move.name}/${path}`, text: lost });
      continue;
    }
    if (found !== undefined && found !== move.before[path]) await rescue(home, files, move.name, path, problems);
    await makeWay(home, files, move.name, path, touched);
    await writeAtomic(files, at, text, { folderLater: true });
    touched.add(dirname(at));
  }
  for (const [path, digest] of Object.entries(move.before)) {
    if (move.after[path] !== undefined) continue;
    const at = join(root, path);
    const found = foundDigest(at);
    if (found === undefined) continue;
    if (found !== digest) await rescue(home, files, move.name, path, problems);
    await files.unlink(at);
    touched.add(dirname(at));
  }
  await sweepEmpty(home, files, root, move, touched);
}

/** sha256 of a file's bytes (of any bytes, text or not); undefined where there is none. */
function foundDigest(path: string): string | undefined {
  const stats = statOf(path);
  if (stats === undefined) return undefined;
  if (!stats.isFile()) return "not a file";
  const bytes = readBytes(path);
  return bytes === undefined ? undefined : digestOfBytes(bytes);
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** A link in the place of a folder would lead the write out of the library. */
function assertOwnFolder(path: string, name: string): void {
  const stats = statOf(path);
  if (stats !== undefined && !stats.isDirectory()) {
    throw new Fault("home-unwritable", `skills/${name} is not a folder of its own (a link?); nothing is written through it.`);
  }
}

/** Creates the folders that a file of a skill lies in. */
async function makeWay(home: string, files: Files, name: string, path: string, touched: Set<string>): Promise<void> {
  let at = join(home, places.skills);
  for (const part of [name, ...path.split("/").slice(0, -1)]) {
    const parent = at;
    at = join(at, part);
    assertOwnFolder(at, at.slice(join(home, places.skills).length + 1));
    if (statOf(at) !== undefined) continue;
    await files.makeFolder(at);
    touched.add(parent);
  }
}

async function rescue(home: string, files: Files, name: string, path: string, problems: Problem[]): Promise<void> {
  const from = join(home, places.skill(name), path);
  const stats = statOf(from);
  if (stats?.isFile() !== true) {
    throw new Fault("home-unwritable", `skills/${name}/${path} is not a plain file; it is not written over.`);
  }
  const bytes = readFileSync(from);
  const place = `${places.overwritten}/${name}/${digestOfBytes(bytes).slice(0, 12)}-${path.replaceAll("/", "-")}`;
  await ensureFolder(files, join(home, dirname(place)), home);
  await writeAtomic(files, join(home, place), bytes);
  problems.push({
    code: "hand-edit-overwritten",
    where: `skills/${name}/${path}`,
    text: `The file had been edited meanwhile; its bytes are kept as ${place}.`,
  });
}

/** Removes folders that the move left empty, the deepest first. */
async function sweepEmpty(home: string, files: Files, root: string, move: FolderMove, touched: Set<string>): Promise<void> {
  const gone = Object.keys(move.before).filter((path) => move.after[path] === undefined);
  const folders = new Set<string>();
  for (const path of gone) {
    for (let at = dirname(join(root, path)); at !== root && at.startsWith(root); at = dirname(at)) folders.add(at);
  }
  const removed = Object.keys(move.after).length === 0;
  const deepest = [...folders].sort((a, b) => b.length - a.length);
  for (const folder of removed ? [...deepest, root] : deepest) {
    await files.removeFolder(folder);
    touched.add(dirname(folder));
  }
  if (removed) touched.add(join(home, places.skills));
}
