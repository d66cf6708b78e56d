/**
 * Import: which of the skill folders found somewhere come into the library, and under which name.
 *
 * Owns: precedence (the order given), conflicts of names, identical copies.
 * Speaks: folders found with the path they were found at; the taken folders' bytes are untouched.
 * Never: walking directories or archives (the edge does, with its caps); replacing a skill of another origin.
 */
import type { SkillName } from "../model/ids.js";
import type { Problem } from "../model/problem.js";
import type { Library, Skill, WrittenSkill } from "../model/skill.js";
import { CONTRACT_PATH } from "./contract.js";
import { parseSkill } from "./text.js";

export interface FoundSkill {
  /** Where it was found: shown in messages. */
  readonly path: string;
  readonly written: WrittenSkill;
}

export interface ImportPlan {
  /** Folder named as the skill is known here; bytes as found. */
  readonly taken: readonly {
    readonly path: string;
    readonly skill: Skill;
    readonly written: WrittenSkill;
    readonly kind: "add" | "modify";
  }[];
  /** What was repaired, refused, doubled or in conflict: one named problem each. */
  readonly problems: readonly Problem[];
}

/** Pure: the same folders in the same order give the same plan. Earlier folders win over later ones, loudly. */
export function planImport(found: readonly FoundSkill[], library: Library): ImportPlan {
  const problems: Problem[] = [];
  const taken = new Map<SkillName, ImportPlan["taken"][number]>();
  for (const { path, written } of found) {
    const reading = parseSkill(written, "import");
    problems.push(...reading.problems.map((problem) => ({ ...problem, where: `${path}: ${problem.where}` })));
    if (reading.skill === undefined) continue;
    const skill = reading.skill;
    const first = taken.get(skill.name);
    if (first !== undefined) {
      problems.push(twice(skill, path, first.path, first.skill.digest === skill.digest));
      continue;
    }
    const known = library.skills.get(skill.name);
    if (known !== undefined && isKnownAs(known, skill)) {
      problems.push({ code: "skill-known", where: path, text: `\`${skill.name}\` is in the library with the same bytes.` });
      continue;
    }
    if (known !== undefined && known.provenance !== "import") {
      const text = `\`${skill.name}\` is in the library already (provenance ${known.provenance}); it is not replaced by an import.`;
      problems.push({ code: "skill-name-taken", where: path, text });
      continue;
    }
    const renamed = { folder: skill.name as string, files: written.files };
    taken.set(skill.name, { path, skill, written: renamed, kind: known === undefined ? "add" : "modify" });
  }
  return { taken: [...taken.values()], problems };
}

/** The same bytes; a contract that was written down here on import is no difference. */
function isKnownAs(known: Skill, found: Skill): boolean {
  const inferred = known.files[CONTRACT_PATH] !== undefined && found.files[CONTRACT_PATH] === undefined ? 1 : 0;
  const paths = Object.keys(found.files);
  return (
    Object.keys(known.files).length === paths.length + inferred && paths.every((path) => known.files[path] === found.files[path])
  );
}

function twice(skill: Skill, path: string, first: string, same: boolean): Problem {
  const text = same
    ? `\`${skill.name}\` was also found at ${first} with the same bytes; it is taken once.`
    : `\`${skill.name}\` was also found at ${first} with other bytes; the one at ${first} is taken, this one is not.`;
  return { code: same ? "skill-duplicate" : "skill-name-conflict", where: path, text };
}
