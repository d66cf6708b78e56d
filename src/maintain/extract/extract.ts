/**
 * Extraction: what verified trajectories teach, as edits.
 *
 * Owns: which abilities and plans are worth a skill, and which of several ways to one end is kept.
 * Speaks: MaintenanceInput in, ProposedEdit out. A function of all evidence and the present library: run twice, it proposes nothing new.
 * Never: a skill by claims alone without a person; a second skill for what the library already does; a name or text of an upstream
 *        that speaks to the model.
 *
 * In a rebuild what was learnt before is written anew from all evidence there is, in the way that evidence proves best today, under its
 * old name. What the evidence no longer teaches stays as it is: it was proven once.
 */
import { sha256 } from "../../catalog/canonical.js";
import type { SkillName } from "../../model/ids.js";
import type { ProposedEdit } from "../../model/maintenance.js";
import type { MaintenanceInput } from "../../model/ports.js";
import { EXTRACTION } from "../../model/policy.js";
import type { Skill } from "../../model/skill.js";
import { parseSkill, renderSkill, type SkillDraft } from "../../skills/text.js";
import { draftOf, nameFor } from "./draft.js";
import { mergeNeeds, signatureOf, type Candidate } from "./merge.js";
import { needsOf, type Need } from "./needs.js";
import { planFor, shapesOf } from "./plans.js";
import { traceOf, type Trace, type TracedCall } from "./trace.js";

/** Was this edit taught by runs, rather than by the catalog? */
export function isLearnt(edit: Pick<ProposedEdit, "cause">): boolean {
  return /^E\d: /.test(edit.cause);
}

/** `before`: edits of the same run; skills they change count as changed. */
export function extractSkills(input: MaintenanceInput, before: readonly ProposedEdit[]): ProposedEdit[] {
  const successes = input.proofs.filter((proof) => proof.evidence.outcome.outcome === "success");
  if (successes.length === 0) return [];
  const tasks = successes.map((proof) => {
    const trace = traceOf(proof, input);
    return { trace, needs: needsOf(trace) };
  });
  const library = libraryWith(input, before);
  const isAnew = anewIn(input);
  const atomic = atomicEdits(library, mergeNeeds(tasks.flatMap((task) => task.needs)), { failures: failuresBy(input), isAnew });
  const plans = input.planning === "frozen" ? [] : planEdits(library, tasks, isAnew);
  return [...atomic, ...plans].filter((edit) => !input.rejected.has(edit.signature));
}

/** May this skill be written anew? In a rebuild: learnt from evidence by this program, and not pinned. */
type IsAnew = (skill: Skill) => boolean;

function anewIn(input: MaintenanceInput): IsAnew {
  const pinned = new Set(input.due.flatMap((due) => (due.pinned ? [due.skill.name] : [])));
  return (skill) =>
    input.mode === "rebuild" &&
    (skill.provenance === "rules" || skill.provenance === "llm") &&
    skill.contract.evidence.length > 0 &&
    !pinned.has(skill.name);
}

/** Skills by name as they will be after the run, growing as edits are found. */
type Library = Map<string, Skill>;

function libraryWith(input: MaintenanceInput, edits: readonly ProposedEdit[]): Library {
  const library: Library = new Map(input.skills);
  for (const edit of edits) {
    const skill = edit.files === undefined ? undefined : parseSkill({ folder: edit.skill, files: edit.files }, "rules").skill;
    if (skill !== undefined) library.set(edit.skill, { ...skill, provenance: library.get(edit.skill)?.provenance ?? "rules" });
  }
  return library;
}

/** A skill that was learnt from these very runs ends in another call by now: a person took a shorter way to the same end. */
function isDoneOtherwise(library: Library, ending: string, way: Candidate): boolean {
  const ends = new Set(way.needs.map((need) => `${need.trace.proof.digest} ${need.ending.seq}`));
  return [...library.values()].some(
    (skill) =>
      skill.tier === "atomic" &&
      lastTool(skill) !== ending &&
      skill.contract.evidence.some(({ trajectory, steps }) => ends.has(`${trajectory} ${steps.at(-1) ?? 0}`)),
  );
}

interface Ground {
  /** Verified failures by the way they went. */
  readonly failures: ReadonlyMap<string, number>;
  readonly isAnew: IsAnew;
}

function atomicEdits(library: Library, candidates: readonly Candidate[], ground: Ground): ProposedEdit[] {
  const edits: ProposedEdit[] = [];
  const byEnding = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    const ending = candidate.steps.at(-1)?.tool.key ?? "";
    byEnding.set(ending, [...(byEnding.get(ending) ?? []), candidate]);
  }
  for (const [ending, ways] of [...byEnding].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const best = bestWay(ways);
    if (best === undefined || isDoneOtherwise(library, ending, best)) continue;
    const edit = editFor(library, ending, best, ground);
    if (edit === undefined) continue;
    edits.push(edit);
    const written = edit.files === undefined ? undefined : parseSkill({ folder: edit.skill, files: edit.files }, "rules").skill;
    if (written !== undefined && edit.certain) library.set(edit.skill, written);
  }
  return edits;
}

/** Of several ways to one end the one most often proven; of equals the shorter, then the first by name. */
function bestWay(ways: readonly Candidate[]): Candidate | undefined {
  // One look and nothing else is what the tool's own skill says.
  const several = ways.filter((way) => way.steps.length > 1 || way.needs.some((need) => !need.ending.isRead));
  const proven = several.filter((way) => way.support >= EXTRACTION.supportLeast);
  const claimed = several.filter((way) => way.claims >= EXTRACTION.claimsLeast && way.claimants >= EXTRACTION.claimantsLeast);
  const order = (a: Candidate, b: Candidate): number =>
    b.support - a.support || b.claims - a.claims || a.steps.length - b.steps.length || (a.signature < b.signature ? -1 : 1);
  return [...proven].sort(order)[0] ?? [...claimed].sort(order)[0];
}

/** add, modify, or skip with the reason; undefined where the library does it in this very way. */
function editFor(library: Library, ending: string, way: Candidate, ground: Ground): ProposedEdit | undefined {
  const present = [...library.values()].filter((skill) => skill.tier === "atomic" && lastTool(skill) === ending);
  const isProven = way.support >= EXTRACTION.supportLeast;
  const same = present.find((skill) => waySignature(skill) === way.signature);
  const anew = isProven ? (same ?? present.find(ground.isAnew)) : same;
  if (anew !== undefined && ground.isAnew(anew))
    return rewritten(library, draftOf(way, anew.name), { ...way, runs: way.needs.map((need) => need.calls) });
  if (same !== undefined) return undefined;
  const failed = ground.failures.get(way.signature) ?? 0;
  const evidence = [
    isProven
      ? `${way.support} verified runs went this way: ${way.signature}`
      : `${way.claims} agents' claims (${way.claimants} agents) and no verification: ${way.signature}`,
    ...(failed > 0 ? [`${failed} verified failures went this way too`] : []),
  ];
  const skip = (why: string, skill: string): ProposedEdit => ({
    kind: "skip",
    skill: skill as SkillName,
    cause: why,
    signature: sha256(`way\n${skill}\n${way.signature}\n${library.get(skill)?.digest ?? ""}`),
    by: "rules",
    certain: true,
    evidence,
  });
  const [own] = present;
  if (own !== undefined) {
    if (own.provenance === "human" || own.provenance === "import" || own.provenance === "starter")
      return skip(`${own.name} does this in another way and was not made from evidence; it is left as it is`, own.name);
    if (!isProven || own.contract.evidence.length >= way.support)
      return skip(`${own.name} does this in another way that is proven as well`, own.name);
  }
  const name = own?.name ?? nameFor(way, new Set(library.keys()));
  const draft = draftOf(way, name);
  if (draft === undefined) return skip(`it cannot be said within the bounds of a skill: ${way.signature}`, name);
  const cause = isProven
    ? `E1: ${way.support} verified runs did this the same way`
    : `E2: ${way.claims} claims agree; nobody verified them`;
  const certain = isProven && !isWidened(way.needs.map((need) => need.calls));
  return edit(draft, { kind: own === undefined ? "add" : "modify", cause, evidence, certain });
}

type Runs = readonly (readonly TracedCall[])[];

/** Runs of a tool that could do less prove nothing certain of the one that took over from it. */
function isWidened(runs: Runs): boolean {
  return runs.some((calls) => calls.some((call) => call.isWidened));
}

/** The skill as the evidence of today has it; undefined where it says just that already. */
function rewritten(
  library: Library,
  draft: SkillDraft | undefined,
  from: { signature: string; support: number; runs: Runs },
): ProposedEdit | undefined {
  if (draft === undefined || from.support < EXTRACTION.supportLeast) return undefined;
  const evidence = [`${from.support} verified runs are written anew: ${from.signature}`];
  const cause = `R1: written anew from ${from.support} verified runs`;
  const made = edit(draft, { kind: "modify", cause, evidence, certain: !isWidened(from.runs) });
  const before = library.get(draft.name as SkillName);
  const isSame = made?.files !== undefined && before !== undefined && sameFiles(made.files, before.files);
  return isSame ? undefined : made;
}

function sameFiles(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const paths = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...paths].every((path) => a[path] === b[path]);
}

function lastTool(skill: Skill): string | undefined {
  return skill.steps.at(-1)?.tools[0];
}

function waySignature(skill: Skill): string {
  return signatureOf(skill.steps.flatMap((step) => step.tools));
}

function failuresBy(input: MaintenanceInput): Map<string, number> {
  const failed = new Map<string, number>();
  for (const proof of input.proofs) {
    if (proof.evidence.outcome.outcome !== "failure" || proof.weight !== "verified") continue;
    const ways = new Set(needsOf(traceOf(proof, input)).map((need) => signatureOf(need.calls.map((call) => call.tool.key))));
    for (const way of ways) failed.set(way, (failed.get(way) ?? 0) + 1);
  }
  return failed;
}

function planEdits(library: Library, tasks: readonly { trace: Trace; needs: readonly Need[] }[], isAnew: IsAnew): ProposedEdit[] {
  const edits: ProposedEdit[] = [];
  const plans = [...library.values()].filter((skill) => skill.tier === "planning");
  const known = new Map(plans.map((skill) => [usesOf(skill.contract.uses), skill]));
  const skillFor = (tool: string): Skill | undefined =>
    [...library.values()].find((skill) => skill.tier === "atomic" && lastTool(skill) === tool);
  for (const shape of shapesOf(tasks)) {
    if (shape.support < EXTRACTION.supportLeast) continue;
    const own = new Set(shape.tasks.map((task) => task.trace));
    const others = tasks.filter((task) => !own.has(task.trace)).map((task) => task.trace.proof.evidence.task);
    const taken = new Set<string>([...library.keys(), ...edits.map((one) => one.skill)]);
    for (const plan of plans) if (isAnew(plan)) taken.delete(plan.name);
    const draft = planFor(shape, { skillFor, others, taken });
    if (draft === undefined) continue;
    const runs = shape.tasks.map((task) => task.trace.calls);
    const same = known.get(usesOf(draft.contract.uses));
    if (same !== undefined) {
      const again = isAnew(same) ? rewritten(library, { ...draft, name: same.name }, { ...shape, runs }) : undefined;
      if (again !== undefined && !edits.some((one) => one.skill === same.name)) edits.push(again);
      continue;
    }
    if (library.has(draft.name as SkillName)) continue;
    const evidence = [`${shape.support} verified tasks had these needs: ${shape.signature}`];
    const made = edit(draft, {
      kind: "add",
      cause: `E3: ${shape.support} verified tasks have this shape`,
      evidence,
      certain: !isWidened(runs),
    });
    if (made !== undefined) edits.push(made);
  }
  return edits;
}

const usesOf = (uses: readonly string[]): string => [...uses].sort().join(" + ");

function edit(draft: SkillDraft, more: Pick<ProposedEdit, "kind" | "cause" | "evidence" | "certain">): ProposedEdit | undefined {
  const files = renderSkill(draft);
  const { skill } = parseSkill({ folder: draft.name, files }, "rules");
  if (skill === undefined) return undefined;
  return {
    ...more,
    skill: skill.name,
    files,
    contract: skill.contract,
    signature: sha256(`${draft.name}\n${skill.digest}`),
    by: "rules",
  };
}
