/**
 * A maintenance run's proposals come back: the gate, one library revision, the report.
 *
 * Work begun before the world moved is distrusted: an edit whose skill or tools are not what they were when it was proposed is
 * refused, and the skill is simply due again.
 */
import { gateEdit, TOOL_HELD, USES_MISSING } from "../maintain/gate.js";
import { differenceOf } from "../maintain/difference.js";
import type { Event } from "../model/event.js";
import type { JsonValue } from "../model/json.js";
import type { LineageLink } from "../model/lineage.js";
import type { MaintenanceReport, ProposedEdit } from "../model/maintenance.js";
import type { EditRecord } from "../model/skill.js";
import { parseSkill } from "../skills/text.js";
import { presentDigests } from "./decide-library.js";
import { hearLineage, type Heard } from "./decide-lineage.js";
import { settleStandings } from "./decide-standings.js";
import { put, type Draft } from "./draft.js";
import { dependants, heldTools } from "./known.js";
import { dueSkills, maintenanceInput, rejectedFor } from "./due.js";
import { undoesRevert } from "./reverts.js";
import { putRevision, type SkillWrite } from "./revise.js";
import { stillResting } from "./still-resting.js";

type Of<Kind extends Event["kind"]> = Extract<Event, { kind: Kind }>;
type Applied = MaintenanceReport["applied"][number];
type Refused = MaintenanceReport["refused"][number];

export function decideMaintenanceProposed(draft: Draft, event: Of<"maintenance-proposed">): void {
  const before = draft.known;
  const moved = event.basis.catalog !== before.catalog.version || event.basis.library !== before.library.revision;
  const heard = hearLineage(draft, event);
  const sorted = sortOut(draft, event, moved, heard);
  const { accepted, refused, trial } = withoutStillborn(draft, event, sorted);
  const due = dueSkills(before, event.mode).length;
  const edited: Applied[] = accepted.map((edit) => shown(draft, edit));
  if (!event.dryRun) {
    draft.known = trial.known;
    draft.changes.push(...trial.changes);
    draft.effects.push(...trial.effects);
    // A gate's refusal is remembered; an edit that only came too late is not.
    remember(draft, event.at, accepted, moved ? [] : refused.filter(isFinal));
  }
  const outcomes = {
    applied: edited.filter(writes),
    skipped: edited.filter((edit) => !writes(edit)),
    proposed: sorted.proposed.map((edit) => shown(draft, edit)),
    refused,
  };
  const input = maintenanceInput({ ...draft.known, lineage: heard.lineage }, event.mode, event.at);
  const notes = [...(event.notes ?? []), ...notesOnRemapped(heard)];
  const report: MaintenanceReport = {
    format: "maintenance-report/1",
    id: event.id,
    at: event.at,
    mode: event.mode,
    dryRun: event.dryRun,
    basis: { ...event.basis },
    library: draft.known.library.revision,
    ...outcomes,
    revived: revivedSince(draft),
    safeByUsage: safeByUsage(draft),
    stillInactive: stillResting(draft.known, input, { ...outcomes, dryRun: event.dryRun }),
    ...(heard.looks.length === 0 ? {} : { lineage: [...heard.looks] }),
    ...(notes.length === 0 ? {} : { notes }),
    tokens: { ...event.tokens },
    looked: { due, all: before.library.skills.size },
  };
  put(draft, { kind: "report", report });
  draft.answer = { report: report as unknown as JsonValue };
}

/** What the run did besides its edits. */
function notesOnRemapped({ remapped: { back, marked } }: Heard): string[] {
  const why = "the manager corrected the mapping of the takeover that bound it";
  return [
    ...back.map((skill) => `${skill} went back to its text before: ${why}. The next run binds it anew.`),
    ...marked.map((skill) => `${skill} keeps its text and asks for a look: ${why}.`),
  ];
}

/** Is it an edit, rather than a look that left everything as it was? */
function writes({ kind }: Pick<EditRecord, "kind">): boolean {
  return kind !== "skip" && kind !== "keep";
}

/**
 * A skill that would rest from its first moment is not added: what it stands on is held, away or at rest, and it is learnt once that
 * stands again. Tried on a draft of its own; without one skill another may have nothing to build on, so it is tried again.
 */
function withoutStillborn(
  draft: Draft,
  event: Of<"maintenance-proposed">,
  { accepted, refused }: Pick<Sorted, "accepted" | "refused">,
): Pick<Sorted, "accepted" | "refused"> & { readonly trial: Draft } {
  const trial: Draft = { ...draft, changes: [], effects: [] };
  applyAccepted(trial, event, accepted);
  const stillborn = accepted.flatMap((edit): Refused[] => {
    const standing = edit.kind === "add" ? trial.known.standings.get(edit.skill) : undefined;
    if (standing?.standing !== "inactive") return [];
    const why = standing.reasons[0]?.text ?? standing.because ?? "";
    return [{ ...record(edit), findings: [`${STILLBORN} ${why}`] }];
  });
  if (stillborn.length === 0) return { accepted, refused, trial };
  const names = new Set(stillborn.map((edit) => edit.skill));
  const others = accepted.filter((edit) => !names.has(edit.skill) || edit.kind !== "add");
  return withoutStillborn(draft, event, { accepted: others, refused: [...refused, ...stillborn] });
}

/** How the finding begins that an added skill could not be used. */
const STILLBORN = "It would rest as soon as it is added, and is looked at again in the next run:";

interface Sorted {
  readonly accepted: ProposedEdit[];
  readonly proposed: ProposedEdit[];
  readonly refused: Refused[];
}

function sortOut(draft: Draft, event: Of<"maintenance-proposed">, moved: boolean, heard: Heard): Sorted {
  const accepted: ProposedEdit[] = [];
  const proposed: ProposedEdit[] = [];
  const refused: Refused[] = [];
  const context = gateContext(draft, event, [...heard.lineage.values()]);
  const remapped = new Set<string>([...heard.remapped.back, ...heard.remapped.marked]);
  // Edits may build on one another: what passed counts as being in the library.
  const skills = new Map(context.skills);
  for (const edit of event.edits) {
    const findings = moved
      ? ["The catalog or the library moved while this was worked out; it is due again."]
      : remapped.has(edit.skill)
        ? [REMAPPED]
        : [...gateEdit(edit, { ...context, skills }), ...(event.findings?.get(edit.signature) ?? [])];
    if (findings.length > 0) refused.push({ ...record(edit), findings });
    else if (
      (edit.certain && !undoesRevert(draft.known, edit)) ||
      event.accept.includes("*") ||
      event.accept.includes(edit.skill)
    ) {
      accepted.push(edit);
      const written = edit.files === undefined ? undefined : parseSkill({ folder: edit.skill, files: edit.files }, "rules").skill;
      if (written !== undefined) skills.set(written.name, written);
    } else proposed.push(undoesRevert(draft.known, edit) ? { ...edit, evidence: [...edit.evidence, REVERTED] } : edit);
  }
  return { accepted, proposed, refused };
}

/** What an edit was worked out on is not the text any more, or waits for a look. */
const REMAPPED = "The mapping that it was bound by was corrected in this run; it is looked at again in the next.";

const REVERTED = "A person reverted this skill to the text it has, so this waits for a person's word: accept it, or leave it.";

/** A refusal that only says what an edit builds on is not there (yet), rests or waits for a person, is not the edit's own fault. */
function isFinal(refused: Refused): boolean {
  return !refused.findings.every(
    (finding) =>
      finding.startsWith(USES_MISSING) || finding.endsWith(TOOL_HELD) || finding.startsWith(STILLBORN) || finding === REMAPPED,
  );
}

function gateContext(
  draft: Draft,
  event: Of<"maintenance-proposed">,
  links: readonly LineageLink[],
): Parameters<typeof gateEdit>[1] {
  return {
    tools: draft.known.catalog.tools,
    skills: draft.known.library.skills,
    held: heldTools(draft.known),
    pinned: new Set(draft.known.pinned.keys()),
    provenance: (skill) => draft.known.library.lock.skills[skill]?.provenance,
    rejected: rejectedFor(draft.known, event.accept),
    recorded: (digest) => event.recorded?.get(digest),
    departed: draft.known.catalog.departed,
    links,
  };
}

function applyAccepted(draft: Draft, event: Of<"maintenance-proposed">, accepted: readonly ProposedEdit[]): void {
  const writes: SkillWrite[] = [];
  const notes: EditRecord[] = [];
  for (const edit of accepted) {
    if (edit.files === undefined || edit.contract === undefined) {
      notes.push(record(edit));
      continue;
    }
    writes.push({
      name: edit.skill,
      files: edit.files,
      provenance: edit.by === "llm" ? "llm" : (draft.known.library.lock.skills[edit.skill]?.provenance ?? "rules"),
      verified: presentDigests(draft.known, edit.contract),
      edit: record(edit),
    });
  }
  if (writes.length === 0) return;
  const written = putRevision(draft, {
    cause: `maintenance ${event.id} (${event.mode})`,
    writes,
    notes,
    ...(event.recorded === undefined ? {} : { recorded: event.recorded }),
  });
  settleStandings(draft, { skills: dependants(draft.known, written) });
  draft.effects.push({ kind: "announce-skills" });
}

/** What was refused or skipped is not proposed again. */
function remember(draft: Draft, at: string, accepted: readonly ProposedEdit[], refused: readonly Refused[]): void {
  const skipped = accepted
    .filter((edit) => edit.kind === "skip")
    .map((edit) => ({ ...record(edit), findings: ["not worth an edit"] }));
  const set = new Map(
    [...refused, ...skipped].map((edit) => [edit.signature, { skill: edit.skill, why: edit.findings.join(" "), at }] as const),
  );
  if (set.size > 0) put(draft, { kind: "rejected", set });
}

function revivedSince(draft: Draft): string[] {
  const before = draft.world.standings;
  return [...draft.known.standings]
    .filter(([name, standing]) => standing.standing === "active" && before.get(name)?.standing === "inactive")
    .map(([name]) => name)
    .sort();
}

function safeByUsage(draft: Draft): string[] {
  const names = [...draft.known.standings].filter(([, standing]) => standing.safeByUsage === true).map(([name]) => name);
  return names.sort();
}

function shown(draft: Draft, edit: ProposedEdit): Applied {
  const old = draft.world.library.skills.get(edit.skill)?.files["SKILL.md"] ?? "";
  const difference = edit.files === undefined ? undefined : differenceOf(old, edit.files["SKILL.md"] ?? "");
  return { ...record(edit), evidence: [...edit.evidence], ...(difference === undefined ? {} : { difference }) };
}

function record(edit: ProposedEdit): EditRecord {
  return { kind: edit.kind, skill: edit.skill, cause: edit.cause, signature: edit.signature, by: edit.by };
}
