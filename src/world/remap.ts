/**
 * A mapping that was corrected: what becomes of the skills that were bound by it.
 *
 * A skill that maintenance bound goes back to its last text that called the old tool. There it rests, is due, and is bound anew by the
 * mapping in force, like any other skill whose tool left: in a run, as one revision, under the gate. Where the present text is a person's
 * (pinned, edited by hand, gone back to), or was edited since it was bound, it stays and asks for a look. One whose text the correction
 * does not change is left alone.
 *
 * Refused: writing the new binding at once; a word on a takeover would then rewrite skills outside a run and past the gate.
 */
import { toTool } from "../catalog/intake.js";
import { mendByRules } from "../maintain/propose.js";
import { splitToolKey, type SkillName, type ToolKey } from "../model/ids.js";
import type { LineageLink } from "../model/lineage.js";
import type { DueSkill, PastSkill } from "../model/ports.js";
import type { LockEntry } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import { folderDigest, skillDigest } from "../skills/digest.js";
import { parseSkill } from "../skills/text.js";
import { maintenanceInput } from "./due.js";
import { boundBy, markInForce, marksOfRevert, type Bound } from "./reverts.js";
import { putRevision, type SkillWrite } from "./revise.js";
import type { Draft } from "./draft.js";
import type { Known } from "./world.js";

export interface Remapped {
  /** Back to the text that called the old tool, to be bound anew. */
  readonly back: readonly SkillName[];
  /** They keep their text, and a person is asked to look. */
  readonly marked: readonly SkillName[];
}

/** What of a link says which argument becomes which. */
export function isRemapped(before: LineageLink | undefined, after: LineageLink): before is LineageLink {
  const mapping = ({ params, fixedArguments }: LineageLink): string =>
    JSON.stringify([params, fixedArguments].map((one) => Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))));
  return before !== undefined && before.rejected === undefined && mapping(before) !== mapping(after);
}

/** Puts one revision with what the correction of these links moves; `before`: the world without it. */
export function remapSkills(draft: Draft, before: Known, links: readonly LineageLink[], by: string): Remapped {
  const back: SkillWrite[] = [];
  const marked: SkillWrite[] = [];
  for (const link of links.filter((one) => isRemapped(before.lineage.get(one.id), one))) {
    const why = `${by} corrected what ${link.from} maps to ${link.to.join(" and ")}`;
    for (const bound of boundBy(before, link)) {
      if ([...back, ...marked].some((write) => write.name === bound.name)) continue;
      const { effect, meant } = effectOn(before, draft.known, bound);
      if (effect === "none") continue;
      const isExact = effect === "exact" && !isOwnText(bound.entry);
      if (isExact && !before.pinned.has(bound.name)) back.push(goingBack(before, bound, why, meant));
      else marked.push(marking(before, bound, { link, why, back: isExact ? bound.state.revision : undefined }));
    }
  }
  if (back.length + marked.length > 0)
    putRevision(draft, { cause: `correction of a takeover by ${by}`, writes: [...back, ...marked] });
  return { back: back.map(({ name }) => name), marked: marked.map(({ name }) => name) };
}

/** A skill that was pinned while its mapping was corrected goes back once nothing keeps it. */
export function remapUnpinned(draft: Draft, name: SkillName): void {
  const { known } = draft;
  const { back } = markInForce(known.library.lock.skills[name]) ?? {};
  const state = known.past.get(name)?.find(({ revision }) => revision === back);
  if (back === undefined || state === undefined) return;
  const why = "it was unpinned, and the mapping that it was bound by was corrected before";
  const write = goingBack(known, { name, state }, why, boundText(known, name, state));
  putRevision(draft, { cause: `unpinning of ${name}`, writes: [write] });
}

/** A person wrote the text, or chose it by going back to it. */
function isOwnText({ provenance, reverted }: LockEntry): boolean {
  return provenance === "human" || provenance === "import" || reverted?.stands === true;
}

/** `exact`: the text is what the former mapping made of the state, and the present one makes another. `unclear`: it may be wrong now. */
function effectOn(before: Known, after: Known, { name, state }: Bound): Effect {
  const [old, meant] = [boundText(before, name, state), boundText(after, name, state)];
  const present = after.library.skills.get(name)?.digest;
  if (meant !== undefined && (meant === present || meant === old)) return { effect: "none", meant };
  return { effect: old !== undefined && old === present ? "exact" : "unclear", meant };
}

interface Effect {
  readonly effect: "none" | "exact" | "unclear";
  /** Digest of the text that the mapping in force makes. */
  readonly meant: string | undefined;
}

/** Digest of what the lineage of this world makes of the state; undefined where no exact edit binds it. */
function boundText(known: Known, name: SkillName, { files, entry }: PastSkill): string | undefined {
  // The bytes are those of the machine that wrote them, whoever the text is of by now.
  const { skill } = parseSkill({ folder: name, files }, "rules");
  const standing = known.standings.get(name);
  if (skill === undefined || standing === undefined) return undefined;
  const due: DueSkill = { skill, standing, pinned: false, verified: verifiedBy(known, entry) };
  const { edit } = mendByRules(due, maintenanceInput(known, "incremental", known.now));
  return edit?.files === undefined ? undefined : skillDigest(edit.files);
}

function verifiedBy(known: Known, entry: LockEntry): ReadonlyMap<ToolKey, Tool> {
  return new Map(
    Object.entries(entry.verified).flatMap(([key, { document }]) => {
      const listed = known.definitions.get(document);
      return listed === undefined ? [] : [[key as ToolKey, toTool(splitToolKey(key).label, listed)] as const];
    }),
  );
}

/**
 * The text that is left is brought back by nothing mechanical, but for the one that the mapping in force makes: somebody may come back to
 * what they said first. The text it goes back to is nobody's choice: it is to be bound anew.
 */
function goingBack(
  known: Known,
  { name, state }: Pick<Bound, "name" | "state">,
  why: string,
  meant: string | undefined,
): SkillWrite {
  const { reverted, ...marks } = marksOfRevert(known, name, state.revision, state.entry);
  const again = meant === undefined ? {} : { meant };
  return {
    name,
    files: state.files,
    provenance: state.entry.provenance,
    verified: state.entry.verified,
    marks: { ...marks, reverted: { left: reverted?.left ?? [], stands: false, ...again } },
    edit: {
      kind: "modify",
      skill: name,
      cause: `${why}; back to library revision ${state.revision}, to be bound anew`,
      signature: `remap:${name}:${state.revision}`,
      by: "mechanical",
    },
  };
}

interface Correction {
  readonly link: LineageLink;
  readonly why: string;
  readonly back: number | undefined;
}

function marking(known: Known, { name, entry }: Bound, { link, why, back }: Correction): SkillWrite {
  const of = folderDigest(entry.files);
  const text = `${why} (link ${link.id}), and the skill may still set arguments as they were mapped before.`;
  return {
    name,
    files: known.library.skills.get(name)?.files ?? {},
    provenance: entry.provenance,
    verified: entry.verified,
    marks: { remapped: { of, on: link.to[0] ?? link.from, text, ...(back === undefined ? {} : { back }) } },
    edit: {
      kind: "keep",
      skill: name,
      cause: `${why}; the text stays until a person looked`,
      signature: `remapped:${name}:${of}`,
      by: "mechanical",
    },
  };
}
