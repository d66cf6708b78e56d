/**
 * Reading the library back: revisions, the bytes they name, and what skills were before.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../catalog/canonical.js";
import { writeAtomic } from "../host/files.js";
import type { SkillName } from "../model/ids.js";
import type { PastSkill } from "../model/ports.js";
import type { Problem } from "../model/problem.js";
import { libraryRevisionFormat, type LibraryRevisionRecord, type Lock } from "../model/skill.js";
import { numbersIn } from "./names.js";
import { Damage, parseDocument, readText, readWrittenOnce, renderDocument, type DocumentShelf } from "./documents.js";
import { pastFormat } from "./formats.js";
import { breathe, fileObject, missingOf, readBytes, readFileObject, textOf, writeOnce } from "./objects.js";
import { advancePast, type Past } from "./past.js";
import { readPack, SKILL_PACK } from "./packs.js";
import { places } from "./places.js";

type Texts = Readonly<Record<string, string>>;

/**
 * The newest revision that can be read. Where the newest record is lost, it is rebuilt from the lock beside the skills, which
 * names the same files: an older record would make every skill written since look like a hand edit.
 */
export async function newestRevision(
  shelf: DocumentShelf,
  lock: Lock,
  problems: Problem[],
): Promise<LibraryRevisionRecord | undefined> {
  for (const n of numbersIn(shelf.home, places.revisions).reverse()) {
    const record = await readWrittenOnce(shelf, libraryRevisionFormat, places.revision(n), problems);
    if (record !== undefined) return record;
    if (lock.revision === n) return rebuiltRevision(shelf, lock, problems);
  }
  return undefined;
}

async function rebuiltRevision(shelf: DocumentShelf, lock: Lock, problems: Problem[]): Promise<LibraryRevisionRecord> {
  const record: LibraryRevisionRecord = {
    format: libraryRevisionFormat.id,
    revision: lock.revision,
    time: new Date(0).toISOString(),
    cause: `rebuilt from ${places.skillsLock}; the record was damaged`,
    catalogVersion: 0,
    edits: [],
    skills: Object.fromEntries(Object.entries(lock.skills).map(([name, entry]) => [name, entry.files])),
    lock,
  };
  await writeAtomic(shelf.files, join(shelf.home, places.revision(lock.revision)), renderDocument(record));
  problems.push({
    code: "revision-rebuilt",
    where: places.revision(lock.revision),
    text: `It was rebuilt from ${places.skillsLock}; time and edits of it are lost.`,
  });
  return record;
}

/** Skills read before other work may come in between. */
const BETWEEN_BREATHS = 64;

export interface ReadSkills {
  readonly skills: Map<SkillName, Texts>;
  /** Files by their digest, as the pack is to hold them. */
  readonly texts: ReadonlyMap<string, string>;
  /** How many skills were read from files of their own, not from the pack. */
  readonly unpacked: number;
}

/** Files of every skill of a revision. Bytes lost from the store are taken back from the skill's folder, if they are the same. */
export async function readSkillTexts(
  shelf: DocumentShelf,
  record: LibraryRevisionRecord | undefined,
  problems: Problem[],
  options: { readonly usePack: boolean },
): Promise<ReadSkills> {
  const pack = options.usePack ? readPack<string>(shelf.home, SKILL_PACK) : new Map<string, string>();
  const skills = new Map<SkillName, Texts>();
  const kept = new Map<string, string>();
  let unpacked = 0;
  for (const [name, digests] of Object.entries(record?.skills ?? {})) {
    let texts = packedTexts(pack, digests);
    if (texts === undefined) {
      texts = readTexts(shelf.home, digests) ?? (await healedTexts(shelf, name, digests, problems));
      unpacked += 1;
      if (unpacked % BETWEEN_BREATHS === 0) await breathe();
    }
    if (texts === undefined) continue;
    skills.set(name as SkillName, texts);
    for (const [path, digest] of Object.entries(digests)) kept.set(digest, texts[path] ?? "");
  }
  return { skills, texts: kept, unpacked };
}

/** Undefined where any of them is not in the pack. */
function packedTexts(pack: ReadonlyMap<string, string>, digests: Texts): Texts | undefined {
  const texts: Record<string, string> = {};
  for (const path in digests) {
    const text = pack.get(digests[path] ?? "");
    if (text === undefined) return undefined;
    texts[path] = text;
  }
  return texts;
}

/** Undefined where any of them is lost. */
export function readTexts(home: string, digests: Texts): Texts | undefined {
  const texts: Record<string, string> = {};
  for (const [path, digest] of Object.entries(digests)) {
    const text = readFileObject(home, digest);
    if (text === undefined) return undefined;
    texts[path] = text;
  }
  return texts;
}

async function healedTexts(shelf: DocumentShelf, name: string, digests: Texts, problems: Problem[]): Promise<Texts | undefined> {
  const texts: Record<string, string> = {};
  for (const [path, digest] of Object.entries(digests)) {
    const text =
      readFileObject(shelf.home, digest) ?? textOf(readBytes(join(shelf.home, places.skill(name), path)) ?? Buffer.alloc(0));
    if (text === undefined || sha256(text) !== digest) {
      problems.push({
        code: "object-missing",
        where: `skills/${name}/${path}`,
        text: `Its bytes (${digest}) are lost from ${places.objects}; the skill cannot be read.`,
      });
      return undefined;
    }
    texts[path] = text;
  }
  const objects = Object.entries(digests).map(([path, digest]) => fileObject(digest, texts[path] ?? ""));
  await writeOnce(shelf.home, shelf.files, missingOf(shelf.home, objects));
  problems.push({
    code: "object-healed",
    where: `skills/${name}`,
    text: `Bytes lost from ${places.objects} were taken back from the skill's folder.`,
  });
  return texts;
}

export interface ReadPast {
  readonly past: Past;
  /** Revisions that had to be read because the cache does not reach so far. */
  readonly behind: number;
}

/** Earlier states of skills up to a revision, from the cache and the revisions since. */
export async function readPast(
  shelf: DocumentShelf,
  record: LibraryRevisionRecord | undefined,
  useCache: boolean,
): Promise<ReadPast> {
  if (record === undefined) return { past: new Map(), behind: 0 };
  const start = useCache ? readCache(shelf, record.revision) : undefined;
  let past: Past = start?.past ?? new Map();
  let before = start?.record.lock;
  let behind = 0;
  for (const n of numbersIn(shelf.home, places.revisions)) {
    if (n <= (start?.record.revision ?? 0) || n > record.revision) continue;
    const next = n === record.revision ? record : readRecordQuietly(shelf, n);
    if (next === undefined) continue;
    past = advancePast(past, before, next);
    before = next.lock;
    behind += 1;
  }
  return { past, behind };
}

function readCache(shelf: DocumentShelf, upTo: number): { past: Past; record: LibraryRevisionRecord } | undefined {
  const text = readText(shelf.home, places.pastCache);
  if (text === undefined) return undefined;
  try {
    const cache = parseDocument(pastFormat, text, places.pastCache, {}).value;
    const record = readRecordQuietly(shelf, cache.revision);
    if (cache.revision > upTo || record === undefined || recordDigest(shelf, cache.revision) !== cache.record) return undefined;
    return { past: new Map(Object.entries(cache.skills)), record };
  } catch (error) {
    if (error instanceof Damage) return undefined;
    throw error;
  }
}

export async function writePastCache(shelf: DocumentShelf, past: Past, revision: number): Promise<void> {
  const record = recordDigest(shelf, revision);
  if (record === undefined) return;
  const document = { format: pastFormat.id, revision, record, skills: Object.fromEntries(past) };
  await writeAtomic(shelf.files, join(shelf.home, places.pastCache), renderDocument(document));
}

function recordDigest(shelf: DocumentShelf, revision: number): string | undefined {
  const text = readText(shelf.home, places.revision(revision));
  return text === undefined ? undefined : sha256(text);
}

/** Undefined for a damaged record too: history has a gap then, and the start goes on. */
function readRecordQuietly(shelf: DocumentShelf, revision: number): LibraryRevisionRecord | undefined {
  const place = places.revision(revision);
  if (!existsSync(join(shelf.home, place))) return undefined;
  try {
    return parseDocument(libraryRevisionFormat, readText(shelf.home, place) ?? "", place, shelf.migrations).value;
  } catch (error) {
    if (error instanceof Damage) return undefined;
    throw error;
  }
}

/** Earlier states with their texts; states whose bytes are lost are left out. */
export function pastWithTexts(
  home: string,
  past: Past,
  current: LibraryRevisionRecord | undefined,
): Map<SkillName, readonly PastSkill[]> {
  const all = new Map<SkillName, readonly PastSkill[]>();
  for (const [name, entries] of past) {
    if (current?.skills[name] === undefined) continue;
    const states: PastSkill[] = [];
    for (const entry of entries) {
      const files = readTexts(home, entry.files);
      if (files !== undefined) states.push({ revision: entry.revision, files, entry });
    }
    if (states.length > 0) all.set(name as SkillName, states);
  }
  return all;
}
