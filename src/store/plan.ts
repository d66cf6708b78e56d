/**
 * From changes to writes: what one decision means for the files of a home. Pure; several changes of one kind fold into one write.
 */
import { sha256 } from "../catalog/canonical.js";
import { assertNever, Fault } from "../model/fault.js";
import type { Change } from "../model/change.js";
import type { Holds, Presence } from "../model/catalog.js";
import type { catalogPinsFormat, presenceFormat } from "../model/catalog.js";
import type { experienceFormat } from "../model/experience.js";
import type { flowsFormat } from "../model/flow.js";
import type { LineageLink } from "../model/lineage.js";
import type { rejectedFormat } from "../model/maintenance.js";
import { samplesFormat, type patternAnswersFormat } from "../model/sample.js";
import type { LibraryRevisionRecord, Lock } from "../model/skill.js";
import type { standingsFormat } from "../model/standing.js";
import type { upstreamSkillsFormat } from "../model/upstream-skills.js";
import type { z } from "zod";
import type { lineageFormat } from "../model/lineage.js";
import { renderDocument } from "./documents.js";
import { assertWritable, type FileDigests } from "./folders.js";
import { fileObject, toolObject, type WrittenOnce } from "./objects.js";
import { isDigest, isPlainId, places } from "./places.js";

/** The small documents in force. */
export interface Smalls {
  readonly lineage: z.infer<typeof lineageFormat.schema>;
  readonly holds: Holds;
  readonly presence: z.infer<typeof presenceFormat.schema>;
  readonly standings: z.infer<typeof standingsFormat.schema>;
  readonly rejected: z.infer<typeof rejectedFormat.schema>;
  readonly flows: z.infer<typeof flowsFormat.schema>;
  readonly catalogPins: z.infer<typeof catalogPinsFormat.schema>;
  readonly experience: z.infer<typeof experienceFormat.schema>;
  readonly patterns: z.infer<typeof patternAnswersFormat.schema>;
  readonly upstreamSkills: z.infer<typeof upstreamSkillsFormat.schema>;
  readonly lock: Lock;
}
export type SmallName = keyof Smalls;

export interface Batch {
  /** Durable before anything else; garbage without the rest. */
  readonly objects: readonly WrittenOnce[];
  /** Small documents that move. */
  readonly smalls: Partial<Smalls>;
  /** Documents of their own: manifests, revisions, reports. */
  readonly documents: readonly { readonly place: string; readonly document: object }[];
  readonly lines: { readonly calls: readonly object[]; readonly episodes: readonly object[] };
  /** Skill folders to move, by name. */
  readonly skills: Readonly<Record<string, { before: FileDigests; after: FileDigests }>>;
  /** Revisions in it, in order: what moves the past. */
  readonly revisions: readonly LibraryRevisionRecord[];
}

interface Draft {
  objects: WrittenOnce[];
  smalls: { -readonly [Name in SmallName]?: Smalls[Name] };
  documents: { place: string; document: object }[];
  calls: object[];
  episodes: object[];
  skills: Record<string, { before: FileDigests; after: FileDigests }>;
  revisions: LibraryRevisionRecord[];
}

/** Throws Fault `input-invalid` for ids and names that cannot be files. */
export function planBatch(changes: readonly Change[], now: Smalls): Batch {
  const draft: Draft = { objects: [], smalls: {}, documents: [], calls: [], episodes: [], skills: {}, revisions: [] };
  for (const change of changes) plan(draft, change, now);
  return {
    objects: draft.objects,
    smalls: draft.smalls,
    documents: draft.documents,
    lines: { calls: draft.calls, episodes: draft.episodes },
    skills: draft.skills,
    revisions: draft.revisions,
  };
}

function plan(draft: Draft, change: Change, now: Smalls): void {
  const current = <Name extends SmallName>(name: Name): Smalls[Name] => draft.smalls[name] ?? now[name];
  switch (change.kind) {
    case "catalog-version":
      for (const [digest, document] of change.documents) draft.objects.push(toolObject(plainDigest(digest), document));
      draft.documents.push({ place: places.version(change.manifest.version), document: change.manifest });
      return;
    case "lineage":
      draft.smalls.lineage = {
        ...current("lineage"),
        links: mergedLinks(current("lineage").links, change.links),
        ...(change.hints === undefined ? {} : { hints: [...change.hints] }),
      };
      return;
    case "holds":
      draft.smalls.holds = change.holds;
      return;
    case "catalog-pin":
      draft.smalls.catalogPins = {
        ...current("catalogPins"),
        tokens: withEntry(current("catalogPins").tokens, change.token, change.pin),
      };
      return;
    case "presence":
      draft.smalls.presence = {
        ...current("presence"),
        upstreams: withEntry(current("presence").upstreams, change.label, shown(change.presence)),
      };
      return;
    case "library-revision":
      return planRevision(draft, change, current("lock"));
    case "standings":
      draft.smalls.standings = {
        ...current("standings"),
        skills: withEntries(current("standings").skills, change.set, change.drop),
      };
      return;
    case "pinned":
      draft.smalls.standings = {
        ...current("standings"),
        pinned: withEntry(current("standings").pinned, change.skill, change.pin),
      };
      return;
    case "rejected":
      draft.smalls.rejected = { ...current("rejected"), edits: withEntries(current("rejected").edits, change.set, []) };
      return;
    case "calibration":
      draft.smalls.experience = { ...current("experience"), calibration: change.calibration };
      return;
    case "flows":
      draft.smalls.flows = { ...current("flows"), flows: withEntries(current("flows").flows, change.set, []) };
      return;
    case "episode":
      draft.episodes.push(change.episode);
      return;
    case "call":
      draft.calls.push(change.line);
      return;
    case "view":
      draft.objects.push({ place: places.view(plainId(change.record.view.view)), text: renderDocument(change.record) });
      return;
    case "evidence":
      // Not an object: how many there are is part of what answers rest on.
      draft.documents.push({ place: places.evidenceOf(plainDigest(change.digest)), document: change.evidence });
      return;
    case "samples":
      draft.documents.push({
        place: places.samplesOf(sha256(change.tool)),
        document: { format: samplesFormat.id, tool: change.tool, samples: change.samples },
      });
      return;
    case "patterns":
      draft.smalls.patterns = { ...current("patterns"), answers: Object.fromEntries(change.answers) };
      return;
    case "upstream-skills":
      draft.smalls.upstreamSkills = {
        ...current("upstreamSkills"),
        upstreams: withEntry(current("upstreamSkills").upstreams, change.label, change.taken),
      };
      return;
    case "report":
      draft.documents.push({ place: places.report(plainId(change.report.id)), document: change.report });
      return;
    case "intake":
    case "policy":
    case "vectors":
    case "clock":
      // In memory only: they come again with the next listing and the configuration.
      return;
    default:
      return assertNever(change, "change");
  }
}

function planRevision(draft: Draft, change: Extract<Change, { kind: "library-revision" }>, lock: Lock): void {
  const { record, objects, written, removed } = change;
  for (const [digest, text] of objects) draft.objects.push(fileObject(plainDigest(digest), text));
  draft.documents.push({ place: places.revision(record.revision), document: record });
  for (const name of [...written.keys(), ...removed]) {
    const after = record.skills[name] ?? {};
    assertWritable(name, Object.keys(after));
    draft.skills[name] = { before: draft.skills[name]?.before ?? lock.skills[name]?.files ?? {}, after };
  }
  draft.smalls.lock = record.lock;
  draft.revisions.push(record);
}

/** Links by id: known ones are replaced where they stand, new ones follow. */
function mergedLinks(known: readonly LineageLink[], given: readonly LineageLink[]): LineageLink[] {
  return [...new Map([...known, ...given].map((link) => [link.id, link])).values()];
}

function shown(presence: Presence | undefined): Smalls["presence"]["upstreams"][string] | undefined {
  if (presence === undefined) return undefined;
  const { state, since, reason } = presence;
  return { state, since, ...(reason === undefined ? {} : { reason }) };
}

function withEntry<Value>(record: Readonly<Record<string, Value>>, key: string, value: Value | undefined): Record<string, Value> {
  return value === undefined ? withEntries(record, new Map(), [key]) : withEntries(record, new Map([[key, value]]), []);
}

/** Sorted by key, so that equal contents are equal bytes. */
function withEntries<Value>(
  record: Readonly<Record<string, Value>>,
  set: ReadonlyMap<string, Value>,
  drop: readonly string[],
): Record<string, Value> {
  const all = new Map(Object.entries(record));
  for (const [key, value] of set) all.set(key, value);
  for (const key of drop) all.delete(key);
  return Object.fromEntries([...all].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

function plainId(id: string): string {
  if (!isPlainId(id)) throw new Fault("input-invalid", `${JSON.stringify(id)} cannot be the id of a document.`);
  return id;
}

function plainDigest(digest: string): string {
  if (!isDigest(digest)) throw new Fault("input-invalid", `${JSON.stringify(digest)} is not a sha256.`);
  return digest;
}
