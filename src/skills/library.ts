/**
 * The library: all skills of one revision, and the pure plan of the next revision.
 *
 * Owns: how a revision record and file texts make a Library, and how accepted edits make the next record and lock.
 * Speaks: digests, edits as data.
 * Never: disc, clocks (`at` is given), deciding whether an edit is good.
 */
import type { CatalogVersion, Digest, Instant, SkillName } from "../model/ids.js";
import type { Problem } from "../model/problem.js";
import { libraryRevisionFormat, lockFormat } from "../model/skill.js";
import type {
  EditRecord,
  Library,
  LibraryRevisionRecord,
  LockEntry,
  Provenance,
  Skill,
  SkillMarks,
  Tier,
} from "../model/skill.js";
import { fileDigests, folderDigest, skillDigest } from "./digest.js";
import { parseSkill } from "./text.js";
import { sha256 } from "../catalog/canonical.js";
import { whyUnread } from "./unread.js";

export { skillDigest };

/** File texts of one skill: relative path → text. */
export type SkillFiles = Readonly<Record<string, string>>;
export type Verified = LockEntry["verified"];

export const emptyLibrary: Library = Object.freeze({
  revision: 0,
  skills: new Map<SkillName, Skill>(),
  lock: Object.freeze({ format: lockFormat.id, revision: 0, skills: {} }),
});

/**
 * The library of a revision. Skills whose bytes equal those of `previous` are taken from it unparsed, and its texts
 * stand in where `files` does not repeat them. A skill that cannot be read is left out: see `readLibrary`.
 */
export function libraryFrom(
  record: LibraryRevisionRecord | undefined,
  files: ReadonlyMap<SkillName, SkillFiles>,
  previous: Library = emptyLibrary,
): Library {
  return readLibrary(record, files, previous).library;
}

/** The same with a problem for every skill of the revision that cannot be relied on. */
export function readLibrary(
  record: LibraryRevisionRecord | undefined,
  files: ReadonlyMap<SkillName, SkillFiles>,
  previous: Library = emptyLibrary,
): { library: Library; problems: Problem[] } {
  if (record === undefined) return { library: emptyLibrary, problems: [] };
  const problems: Problem[] = [];
  const skills = new Map<SkillName, Skill>();
  for (const name of Object.keys(record.skills).sort() as SkillName[]) {
    const digests = record.skills[name] ?? {};
    const provenance = record.lock.skills[name]?.provenance ?? "human";
    const known = previous.skills.get(name);
    if (known !== undefined && known.provenance === provenance && known.digest === folderDigest(digests)) {
      skills.set(name, known);
      continue;
    }
    const texts = files.get(name);
    if (texts === undefined) {
      problems.push({
        code: "skill-files-missing",
        where: name,
        text: "The revision names this skill and its files were not found.",
      });
      continue;
    }
    // The store vouches for the bytes: they were read by these digests.
    const reading = parseSkill({ folder: name, files: texts }, provenance, folderDigest(digests));
    if (reading.skill === undefined) problems.push(...reading.problems);
    else skills.set(name, reading.skill);
  }
  return { library: { revision: record.revision, skills, lock: record.lock }, problems };
}

/** One accepted edit. `add` and `modify` carry the skill's whole files; `keep` and `skip` carry none. */
export interface LibraryEdit {
  readonly record: EditRecord;
  readonly files?: SkillFiles | undefined;
  /** Needed where files are given; an edit never changes it silently. */
  readonly provenance?: Provenance | undefined;
  /** What a person says of these bytes; each one absent here is carried over from the skill as it stands. */
  readonly marks?: SkillMarks | undefined;
}

export interface RevisionRequest {
  readonly library: Library;
  readonly edits: readonly LibraryEdit[];
  /** Skills a person removed. Nothing else ever drops one. */
  readonly removed?: readonly SkillName[] | undefined;
  readonly at: Instant;
  readonly cause: string;
  readonly catalogVersion: CatalogVersion;
  /** What skills were verified against now: replaces the lock's `verified` of the skills it names. */
  readonly verified?: ReadonlyMap<SkillName, Verified> | undefined;
}

export interface RevisionPlan {
  readonly record: LibraryRevisionRecord;
  /** Every file text of the written skills, by sha256. */
  readonly objects: ReadonlyMap<Digest, string>;
  readonly written: ReadonlyMap<SkillName, SkillFiles>;
  readonly removed: readonly SkillName[];
  /** Edits that could not be part of it, with the reason: their skills are as before. */
  readonly problems: readonly Problem[];
}

/** The next revision: revision + 1, whole. Pure: the same request gives the same bytes. */
export function planRevision(request: RevisionRequest): RevisionPlan {
  const { library, at, cause, catalogVersion } = request;
  const revision = library.revision + 1;
  const entries = new Map<string, LockEntry>(Object.entries(library.lock.skills));
  const objects = new Map<Digest, string>();
  const written = new Map<SkillName, SkillFiles>();
  const problems: Problem[] = [];
  const edits: EditRecord[] = [];

  for (const edit of request.edits) {
    if (edit.files === undefined) {
      edits.push(edit.record);
      continue;
    }
    const name = edit.record.skill as SkillName;
    const made = lockEntry(name, { ...edit, files: edit.files }, revision, entries.get(name));
    if ("problem" in made) {
      problems.push(made.problem);
      continue;
    }
    edits.push(edit.record);
    entries.set(name, made.entry);
    written.set(name, edit.files);
    for (const text of Object.values(edit.files)) objects.set(sha256(text), text);
  }
  const removed = (request.removed ?? []).filter((name) => entries.has(name));
  for (const name of removed) {
    entries.delete(name);
    written.delete(name);
  }
  for (const [name, verified] of request.verified ?? []) {
    const entry = entries.get(name);
    if (entry !== undefined) entries.set(name, { ...entry, verified: sortedRecord(Object.entries(verified)) });
  }

  const lockSkills = sortedRecord([...entries]);
  const record: LibraryRevisionRecord = {
    format: libraryRevisionFormat.id,
    revision,
    time: at,
    cause,
    catalogVersion,
    edits,
    skills: sortedRecord([...entries].map(([name, entry]) => [name, entry.files] as const)),
    lock: { format: lockFormat.id, revision, skills: lockSkills },
  };
  return { record, objects, written, removed, problems };
}

function lockEntry(
  name: SkillName,
  { files, marks, ...edit }: LibraryEdit & { readonly files: SkillFiles },
  revision: number,
  before: LockEntry | undefined,
): { entry: LockEntry } | { problem: Problem } {
  const provenance = edit.provenance ?? before?.provenance ?? "human";
  const reading = parseSkill({ folder: name, files }, provenance);
  if (reading.skill === undefined) {
    const text = `The edit was left out: ${whyUnread(reading.problems)}`;
    return { problem: { code: "skill-refused", where: name, text } };
  }
  if (reading.skill.name !== name) {
    const text = `The edit was left out: its files are the skill \`${reading.skill.name}\`, not \`${name}\`.`;
    return { problem: { code: "skill-refused", where: name, text } };
  }
  const tier: Tier = reading.skill.tier;
  const digests = fileDigests(files);
  const entry = { tier, revision, provenance, files: digests, verified: before?.verified ?? {} };
  return { entry: { ...entry, ...carriedMarks(before, folderDigest(digests)), ...marks } };
}

/** A person's choice stands until other bytes do; what the person left stays left until it is taken up again. */
function carriedMarks(before: LockEntry | undefined, digest: Digest): SkillMarks {
  const kept = {
    ...(before?.approved === undefined ? {} : { approved: before.approved }),
    ...(before?.remapped?.of === digest ? { remapped: before.remapped } : {}),
  };
  if (before?.reverted === undefined) return kept;
  const left = before.reverted.left.filter((other) => other !== digest);
  const stands = before.reverted.stands && folderDigest(before.files) === digest;
  return left.length === 0 && !stands ? kept : { ...kept, reverted: { left, stands } };
}

function sortedRecord<Value>(entries: readonly (readonly [string, Value])[]): Record<string, Value> {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
