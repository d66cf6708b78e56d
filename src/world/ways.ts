/**
 * Ways out: what a person can do about the reason that a skill rests for, and which reason is told first.
 *
 * Owns: the sentences that name a command, and the order of reasons.
 * Speaks: the present ground state; text out, of names that are here already.
 * Never: whether something rests a skill (standings.ts).
 */
import type { Succession } from "../catalog/lineage.js";
import type { ToolKey } from "../model/ids.js";
import type { Skill } from "../model/skill.js";
import type { Standing, StandingReason } from "../model/standing.js";
import { servingOf } from "./upstream-skills.js";
import type { Known } from "./world.js";

/** A reason, and whether the skill rests for it or is only told of it. */
export interface Cause extends StandingReason {
  readonly rests: boolean;
}

export function approveTool(key: ToolKey): string {
  return `\`steward catalog approve ${quoted(key)}\` if it may be called as it is now`;
}

export function approveSkill({ name }: Skill): string {
  return `\`steward skills approve ${name}\` if it may be used as it is`;
}

/** The text may set arguments as a mapping said that is not in force any more. */
export function lookAtMapping({ name }: Skill, isPinned: boolean): string {
  const change = isPinned
    ? `\`steward skills unpin ${name}\` has it bound anew, with the next \`steward maintain\``
    : `edit skills/${name}/SKILL.md`;
  return `${change}, or \`steward skills approve ${name}\` if its text is right as it is`;
}

/** Something took over from a tool of the skill. */
export function followTakeover(known: Known, skill: Skill, { links, to, level }: Succession): string | undefined {
  const own = untouched(known, skill);
  if (own !== undefined) return own === "" ? undefined : `${own}; ${to.join(" and ")} took over`;
  const open = level === "certain" ? undefined : links.find((link) => link.level === "proposed" && link.confirmed === undefined);
  if (open === undefined) return acceptEdit(skill);
  return `\`steward catalog lineage confirm ${open.id}\` if ${open.to.join(" and ")} did take over (\`steward catalog lineage show ${open.id}\`)`;
}

/** A tool of the skill is there and takes or gives something else. */
export function followContract(known: Known, skill: Skill): string | undefined {
  const own = untouched(known, skill);
  return own === undefined ? acceptEdit(skill) : own === "" ? undefined : own;
}

function acceptEdit({ name }: Skill): string {
  return `\`steward maintain --accept ${name}\` takes what maintenance proposes for it (\`--dry-run\` shows it)`;
}

/** What has to be done by hand where maintenance edits nothing; empty where the text is an upstream's, undefined where it may edit. */
function untouched(known: Known, skill: Skill): string | undefined {
  if (known.pinned.has(skill.name)) return `\`steward skills unpin ${skill.name}\`, then \`steward maintain\``;
  if (skill.provenance !== "human" && skill.provenance !== "import") return undefined;
  return servingOf(known, skill) !== undefined
    ? ""
    : `edit skills/${skill.name}/SKILL.md, whose text maintenance leaves to people`;
}

/** As a shell takes it in one piece. */
function quoted(text: string): string {
  return /^[\w./:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** First what the skill rests for and a person can do something about; what was shown to be no trouble last. */
export function inOrder(causes: readonly Cause[]): Cause[] {
  const rank = ({ rests, level, way }: Cause): number =>
    rests ? (way === undefined ? 2 : level === "safety" ? 0 : 1) : level === "compatible" ? 4 : 3;
  return [...causes].sort((a, b) => rank(a) - rank(b));
}

/** As it was or would be somewhere else: what could be done about it there is nothing to do now. */
export function withoutWays(standing: Standing): Standing {
  return { ...standing, reasons: standing.reasons.map(({ way: _way, ...reason }) => reason) };
}
