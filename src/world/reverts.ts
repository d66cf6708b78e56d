/**
 * A person's word on which text of a skill stands: it outranks what is mechanical.
 *
 * What a person reverted to stays until a person says otherwise; what was reverted away from is brought back by nothing mechanical.
 */
import { takeover } from "../catalog/lineage.js";
import type { SkillName, ToolKey } from "../model/ids.js";
import type { LineageLink } from "../model/lineage.js";
import type { ProposedEdit } from "../model/maintenance.js";
import type { PastSkill } from "../model/ports.js";
import type { LockEntry, SkillMarks } from "../model/skill.js";
import { folderDigest, skillDigest } from "../skills/digest.js";
import type { SkillWrite } from "./revise.js";
import type { Known } from "./world.js";

/** More than a skill has earlier states that could be brought back. */
const LEFT_KEPT = 32;

/** Marks of a skill that goes back to `entry`: its present text, and every state since the revision `to`, are left. */
export function marksOfRevert(known: Known, name: SkillName, to: number, entry: LockEntry): SkillMarks {
  const present = known.library.lock.skills[name];
  const digest = folderDigest(entry.files);
  const since = (known.past.get(name) ?? []).filter((past) => past.revision > to).map((past) => past.entry);
  const states = [...(present === undefined ? [] : [present]), ...since].map(({ files }) => folderDigest(files) as string);
  const left = [...new Set([...states, ...(present?.reverted?.left ?? [])])].filter((other) => other !== digest);
  const approved = [entry.approved, present?.approved].find((one) => one === digest);
  return { ...(approved === undefined ? {} : { approved }), reverted: { left: left.slice(0, LEFT_KEPT), stands: true } };
}

/** May an earlier state be restored without a person? */
export function mayRestore(known: Known, name: SkillName, { entry }: PastSkill): boolean {
  const reverted = known.library.lock.skills[name]?.reverted;
  return reverted === undefined || (!reverted.stands && !reverted.left.includes(folderDigest(entry.files)));
}

/** Would the edit undo what a person chose by a revert? Then it is for a person, however certain it is. */
export function undoesRevert(known: Known, edit: ProposedEdit): boolean {
  const reverted = known.library.lock.skills[edit.skill]?.reverted;
  if (reverted === undefined || edit.files === undefined) return false;
  const digest = skillDigest(edit.files);
  return reverted.stands || (reverted.left.includes(digest) && digest !== reverted.meant);
}

/** Whose bytes, as they are now, were bound by a mapping that was corrected since: what there is to look at. */
export function markInForce(entry: LockEntry | undefined): LockEntry["remapped"] {
  return entry?.remapped !== undefined && entry.remapped.of === folderDigest(entry.files) ? entry.remapped : undefined;
}

/** Of these skills, those that rest now and why. */
export function restingOf(known: Known, names: Iterable<SkillName>): { skill: string; reason: string }[] {
  return [...new Set(names)].sort().flatMap((skill) => {
    const standing = known.standings.get(skill);
    return standing?.standing === "inactive" ? [{ skill, reason: standing.reasons[0]?.text ?? standing.because ?? "" }] : [];
  });
}

export interface Bound {
  readonly name: SkillName;
  readonly entry: LockEntry;
  /** The last state that called the tool that left. */
  readonly state: PastSkill;
}

/** Skills that call what stands in for the tool that left, and called that one before. */
export function boundBy(known: Known, link: LineageLink): Bound[] {
  const present = takeover(known.catalog, link.from as ToolKey, known.lineage)?.to ?? [];
  const standIns = new Set<string>([...link.to, ...present]);
  return (Object.entries(known.library.lock.skills) as [SkillName, LockEntry][]).flatMap(([name, entry]) => {
    const calls = known.library.skills.get(name)?.contract.requires.map(({ tool }) => tool) ?? [];
    if (calls.includes(link.from) || !calls.some((tool) => standIns.has(tool))) return [];
    const state = known.past.get(name)?.find((past) => past.entry.verified[link.from as ToolKey] !== undefined);
    return state === undefined ? [] : [{ name, entry, state }];
  });
}

/**
 * Skills that maintenance bound to the successors of a takeover which a person now says is none: they go back to the last text that
 * called the old tool. Pinned skills and texts of a person or an import are not touched. `known`: the world before that word.
 */
export function rebindBack(known: Known, link: LineageLink, by: string): SkillWrite[] {
  const isMachines = ({ name, entry }: Bound): boolean =>
    entry.provenance !== "human" && entry.provenance !== "import" && !known.pinned.has(name);
  return boundBy(known, link)
    .filter(isMachines)
    .map(({ name, state }) => ({
      name,
      files: state.files,
      provenance: state.entry.provenance,
      verified: state.entry.verified,
      marks: marksOfRevert(known, name, state.revision, state.entry),
      edit: {
        kind: "modify",
        skill: name,
        cause: `${by} rejected that ${link.to.join(" and ")} took over from ${link.from}; back to library revision ${state.revision}`,
        signature: `revert:${name}:${state.revision}`,
        by: "human",
      },
    }));
}
