/**
 * Skills that runs taught, judged by a model before they join the library: one small question each.
 *
 * Owns: what is asked, and what a verdict does to an edit.
 * Speaks: the rules' edits in; the same edits with the verdict among their evidence out.
 * Never: makes an edit certain that was not, rewrites it, or loses it: what a model would leave waits for a person, and where there is no
 *        verdict the edit is as rules made it. Evidence taught the skill; a model only looks whether it is one sensible thing.
 */
import { z } from "zod";
import { isLearnt } from "../maintain/extract/extract.js";
import type { ToolKey } from "../model/ids.js";
import type { ProposedEdit } from "../model/maintenance.js";
import { LLM_LIMITS } from "../model/endpoint-limits.js";
import type { MaintenanceInput } from "../model/ports.js";
import { parseSkill } from "../skills/text.js";
import type { Run, RunDeps } from "./llm-run.js";
import { shown, toolRow, type PromptParts } from "./prompt.js";

const learntShape = z.object({ verdict: z.enum(["take", "leave"]), why: z.string().default("") });
const LEARNT = { name: "learnt", shape: learntShape };
/** Tasks of the runs, and skills of the library that share a tool with it, shown beside the draft. */
const TASKS_SHOWN = 3;
const SKILLS_SHOWN = 8;

/** The edits in their order; `run` bounds what may be asked, and answers to the same drafts are remembered by it. */
export async function judgeLearnt(
  deps: RunDeps,
  run: Run,
  input: MaintenanceInput,
  edits: readonly ProposedEdit[],
): Promise<ProposedEdit[]> {
  const judged: ProposedEdit[] = [];
  for (const edit of edits) {
    const parts = edit.kind === "add" && isLearnt(edit) ? learntPrompt(edit, input, deps.secrets()) : undefined;
    judged.push(parts === undefined ? edit : await withVerdict(deps, run, edit, parts));
  }
  return judged;
}

async function withVerdict(deps: RunDeps, run: Run, edit: ProposedEdit, parts: PromptParts): Promise<ProposedEdit> {
  const { answer, spent, ...none } = await run.ask(LEARNT, parts);
  if (answer === undefined) {
    const { fault, why } = none as { fault: string; why: string };
    if (spent.calls > 0) deps.account.add("learnt", { spent, fault });
    return { ...edit, evidence: [...edit.evidence, `not judged by a model: ${why}`] };
  }
  deps.account.add("learnt", { spent });
  const why = shown(answer.why, deps.secrets());
  const said = `model ${deps.model} would ${answer.verdict} it${why === "" ? "" : `: ${why}`}`;
  return { ...edit, certain: edit.certain && answer.verdict === "take", evidence: [...edit.evidence, said] };
}

function learntPrompt(edit: ProposedEdit, input: MaintenanceInput, secrets: readonly string[]): PromptParts | undefined {
  const skill = parseSkill({ folder: edit.skill, files: edit.files ?? {} }, "rules").skill;
  if (skill === undefined) return undefined;
  const tools = new Set(skill.contract.requires.map((need) => need.tool));
  const uses = new Set<string>(skill.contract.uses);
  const near = [...input.skills.values()].filter(
    (other) =>
      other.tier === skill.tier &&
      [...other.contract.requires.map((need) => need.tool), ...other.contract.uses].some(
        (one) => tools.has(one) || uses.has(one),
      ),
  );
  const cited = new Set(skill.contract.evidence.map(({ trajectory }) => trajectory));
  const tasks = input.proofs.filter((proof) => cited.has(proof.digest)).map((proof) => proof.evidence.task);
  return {
    task: [
      "Runs of other agents did a thing the same way, and a written procedure (a skill) was drafted from them by rules. Decide whether it",
      "joins the library.",
      'Verdict "take": it is one sensible thing that will be asked for again, and its steps do it. Verdict "leave": it is an accident of',
      "these runs, does only part of a thing, or one of the skills that are there does the same already. Say in `why`, in one sentence, what",
      "decided it.",
    ],
    blocks: [
      {
        title: "The draft and its steps",
        rows: [
          { skill: skill.name, tier: skill.tier, says: shown(skill.description, secrets) },
          ...skill.steps.map((step) => ({ step: step.n, text: shown(step.text, secrets, LLM_LIMITS.stepChars) })),
        ],
      },
      { title: "Evidence", rows: edit.evidence.map((text) => ({ says: shown(text, secrets) })) },
      {
        title: "What the runs were asked",
        rows: tasks
          .filter((task) => task.trim() !== "")
          .slice(0, TASKS_SHOWN)
          .map((task) => ({ task: shown(task, secrets) })),
      },
      {
        title: "Skills that are there and use some of the same",
        rows: near.slice(0, SKILLS_SHOWN).map((other) => ({ skill: other.name, says: shown(other.description, secrets) })),
      },
      {
        title: "Its tools",
        rows: [...tools].flatMap((key) => input.tools.get(key as ToolKey) ?? []).map((tool) => toolRow(tool, secrets)),
      },
    ],
  };
}
