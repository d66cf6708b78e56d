/**
 * Documents that only the store itself reads: the batch under way, the lock, and what it derives to start faster.
 */
import { z } from "zod";
import { defineFormat } from "../model/format.js";
import { lockFormat } from "../model/skill.js";

const document = z.record(z.string(), z.unknown());
const lockEntry = lockFormat.schema.shape.skills.valueType;

export const pendingFormat = defineFormat({
  kind: "pending-batch",
  version: 1,
  place: "state/pending.json",
  purpose: "A batch that is decided and not yet written everywhere. Its presence is the commit; a start finishes it first.",
  shape: {
    /** Number of the batch, as its log lines carry it. */
    number: z.int(),
    /** Whole documents by place, relative to the home. */
    documents: z.array(z.object({ place: z.string(), document })),
    lines: z.object({ calls: z.array(document), episodes: z.array(document) }),
    /** Skill folders to bring from one set of files (path → sha256) to another; an empty `after` removes the folder. */
    skills: z.record(z.string(), z.object({ before: z.record(z.string(), z.string()), after: z.record(z.string(), z.string()) })),
  },
});
export type Pending = z.infer<typeof pendingFormat.schema>;

export const bulkFormat = defineFormat({
  kind: "bulk-objects",
  version: 1,
  place: "state/bulk/NNNNNN.json (gone when every file in it is durable by itself)",
  purpose:
    "Definitions and skill files of one large batch, written with one fsync; a start after a power failure brings them back.",
  shape: {
    /** Contents by place, relative to the home. */
    objects: z.array(z.object({ place: z.string(), text: z.string() })),
  },
});

export const homeLockFormat = defineFormat({
  kind: "home-lock",
  version: 1,
  place: "state/lock (and one claim per contender in state/lock.claims)",
  purpose: "The process that works on this home: a pid with its start time and host, so that a dead owner is recognised.",
  shape: {
    pid: z.int(),
    startTime: z.string(),
    host: z.string(),
    since: z.string(),
    /** Starts in a row that ended before the home was ready. */
    crashes: z.int(),
    ready: z.boolean(),
  },
});
export type LockRecord = z.infer<typeof homeLockFormat.schema>;

export const pastFormat = defineFormat({
  kind: "past-skills",
  version: 1,
  place: "state/cache/past.json",
  purpose: "Derived: earlier states of skills, newest first, so that a start need not read every revision.",
  shape: {
    revision: z.int().min(1),
    /** sha256 of the record of that revision: another history makes the cache void. */
    record: z.string(),
    /** skill → lock entries of its earlier states */
    skills: z.record(z.string(), z.array(lockEntry)),
  },
});
export type PastDocument = z.infer<typeof pastFormat.schema>;
