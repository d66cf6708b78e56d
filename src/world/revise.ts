/**
 * One library revision out of whole skill writes: joins the plan of the skills room to the draft of a decision.
 */
import type { SkillName } from "../model/ids.js";
import type { EditRecord, LockEntry, Provenance, SkillMarks } from "../model/skill.js";
import type { ListedTool } from "../model/tool.js";
import { planRevision } from "../skills/library.js";
import { put, type Draft } from "./draft.js";

/** The whole new state of one skill. */
export interface SkillWrite {
  readonly name: SkillName;
  readonly files: Readonly<Record<string, string>>;
  readonly provenance: Provenance;
  /** Tool definitions it counts as verified against from now on. */
  readonly verified: LockEntry["verified"];
  readonly edit: EditRecord;
  /** What a person says of these bytes by this write. */
  readonly marks?: SkillMarks | undefined;
}

/** Puts one revision with all the writes, notes and removals; returns the skills that were really written. */
export function putRevision(
  draft: Draft,
  options: {
    readonly cause: string;
    readonly writes: readonly SkillWrite[];
    readonly removed?: readonly SkillName[];
    /** Edits without bytes (keep, skip, remove): part of the revision's history. */
    readonly notes?: readonly EditRecord[];
    readonly definitions?: ReadonlyMap<string, ListedTool>;
  },
): readonly SkillName[] {
  const plan = planRevision({
    library: draft.known.library,
    edits: [
      ...options.writes.map(({ edit, files, provenance, marks }) => ({ record: edit, files, provenance, marks })),
      ...(options.notes ?? []).map((record) => ({ record })),
    ],
    removed: options.removed ?? [],
    at: draft.known.now,
    cause: options.cause,
    catalogVersion: draft.known.catalog.version,
    verified: new Map(options.writes.map(({ name, verified }) => [name, verified])),
  });
  for (const problem of plan.problems)
    draft.effects.push({ kind: "log", level: "warn", text: `${problem.where}: ${problem.text}` });
  put(draft, {
    kind: "library-revision",
    record: plan.record,
    objects: plan.objects,
    written: plan.written,
    removed: plan.removed,
    ...(options.definitions === undefined ? {} : { definitions: options.definitions }),
  });
  if (plan.written.size > 0) draft.effects.push({ kind: "texts-moved" });
  return [...plan.written.keys()];
}
