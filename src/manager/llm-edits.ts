/**
 * Maintenance with a model: rules first, then one question for each skill they cannot mend for certain, and one for each that runs taught.
 *
 * Owns: what is asked about and what never is, the estimate of a rebuild.
 * Speaks: MaintenanceInput in; edits and tokens out.
 * Never: asks about pinned, hand-written or imported skills, or about what rules mend for certain; loses an edit of the rules because a
 *        model failed; lets a run outlast its time or its tokens.
 */
import { setImmediate } from "node:timers/promises";
import type { SkillName, ToolKey } from "../model/ids.js";
import type { ProposedEdit } from "../model/maintenance.js";
import type { DueSkill, MaintenanceInput, Manager } from "../model/ports.js";
import type { Skill } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import { buildToolIndex, searchTools, type ToolIndex } from "../retrieve/tools.js";
import { editFrom, type EditContext } from "./answer-edit.js";
import { promptTokens } from "./llm-client.js";
import { judgeLearnt } from "./llm-learnt.js";
import { openRun, type Run, type RunDeps } from "./llm-run.js";
import { editCase, editPrompt, editShape } from "./prompt-edit.js";
import { promptOf } from "./prompt.js";

export interface EditDeps extends RunDeps {
  readonly rules: Manager;
  readonly applyChecked: boolean;
}

export function editProposer(deps: EditDeps): Manager["proposeEdits"] {
  const estimate = rebuildEstimator(deps);
  return async (input, tell) => {
    const ruled = await deps.rules.proposeEdits(input);
    const byRules = new Map(ruled.edits.map((edit) => [edit.skill, edit]));
    const { runTokens, runMs } = deps.limits;
    const spent = input.spent ?? { tokens: 0, ms: 0 };
    const left = { tokens: Math.max(0, runTokens - spent.tokens), ms: Math.max(0, runMs - spent.ms) };
    const run: EditRun = {
      deps,
      input,
      near: nearTools(input, deps.limits.nearTools),
      asking: openRun(deps, left, "maintenance goes on by rules alone"),
    };
    const decided = new Map<SkillName, ProposedEdit>();
    for (const [n, due] of input.due.entries()) {
      tell?.(n, input.due.length, due.skill.name);
      const ruling = byRules.get(due.skill.name);
      if (!mayAskAbout(due) || isSettled(ruling, input) || needsNewSteps(due, input)) continue;
      const edit = await decideOn(run, due, ruling);
      if (edit !== undefined) decided.set(due.skill.name, edit);
    }
    return {
      edits: await judgeLearnt(deps, run.asking, input, merged(ruled.edits, decided)),
      tokens: { used: spent.tokens + run.asking.used(), rebuildEstimate: await estimate(input, costOf(run)) },
    };
  };
}

interface EditRun {
  readonly deps: EditDeps;
  readonly input: MaintenanceInput;
  readonly near: (tool: Tool) => readonly ToolKey[];
  readonly asking: Run;
}

function mayAskAbout(due: DueSkill): boolean {
  return !due.pinned && mayRewrite(due.skill);
}

/** What people wrote or brought is only annotated; neither rules nor a model rewrite it. */
function mayRewrite(skill: Skill): boolean {
  return skill.provenance !== "human" && skill.provenance !== "import";
}

/** Mended for certain. A rebuild looks at what stands as well: there a mere `keep` of the rules settles nothing. */
function isSettled(ruling: ProposedEdit | undefined, input: MaintenanceInput): boolean {
  return ruling?.certain === true && !(input.mode === "rebuild" && ruling.kind === "keep");
}

/** A tool that became several needs further steps, which no replacement within one can say: there the rules' own proposal stands. */
function needsNewSteps(due: DueSkill, input: MaintenanceInput): boolean {
  const gone = new Set(due.skill.contract.requires.map((need) => need.tool).filter((tool) => !input.tools.has(tool as ToolKey)));
  return input.links.some((link) => link.rejected === undefined && link.to.length > 1 && gone.has(link.from));
}

/** The rules' edits in their order, those the model decided on in their place; further ones at the end, in the order of what is due. */
function merged(edits: readonly ProposedEdit[], decided: ReadonlyMap<SkillName, ProposedEdit>): ProposedEdit[] {
  const ruled = new Set(edits.map((edit) => edit.skill));
  const own = [...decided].filter(([name]) => !ruled.has(name)).map(([, edit]) => edit);
  return [...edits.map((edit) => decided.get(edit.skill) ?? edit), ...own];
}

/** The model's edit; where there is none, the rules' one with a word why; undefined where there is neither. */
async function decideOn(run: EditRun, due: DueSkill, ruling: ProposedEdit | undefined): Promise<ProposedEdit | undefined> {
  const { deps, input } = run;
  const one = editCase(due, input, run.near);
  const asked = await run.asking.ask(EDIT, editPrompt(one, input, deps.secrets()));
  const context: EditContext = { input, applyChecked: deps.applyChecked, model: deps.model };
  if (asked.answer !== undefined) {
    const outcome = editFrom(asked.answer, one, context);
    if (outcome.kind === "edit" && !input.rejected.has(outcome.edit.signature)) {
      deps.account.add("edit", { spent: asked.spent });
      // An edit for people is worth more than a model's shrug.
      return outcome.edit.kind === "skip" && ruling !== undefined ? ruling : outcome.edit;
    }
    const why = outcome.kind === "edit" ? "it was refused before" : outcome.why;
    deps.account.add("edit", { spent: asked.spent, fault: "invalid", dropped: 1 });
    deps.log("info", `a model's edit of ${due.skill.name} was not taken: ${why}`);
    return annotated(ruling, `the model's edit was not taken: ${why}`);
  }
  if (asked.spent.calls > 0) deps.account.add("edit", { spent: asked.spent, fault: asked.fault });
  return annotated(ruling, `not decided by a model: ${asked.why}`);
}

function annotated(ruling: ProposedEdit | undefined, why: string): ProposedEdit | undefined {
  return ruling === undefined ? undefined : { ...ruling, evidence: [...ruling.evidence, why] };
}

const EDIT = { name: "edit", shape: editShape };

/** Tools like one that left, by what its name and description say. The index is built when the first one is asked for. */
function nearTools(input: MaintenanceInput, most: number): (tool: Tool) => readonly ToolKey[] {
  let index: ToolIndex | undefined;
  return (tool) => {
    index ??= buildToolIndex(input.tools.values());
    const words = `${tool.name.replace(/[_-]+/g, " ")} ${tool.description.slice(0, 400)}`;
    return searchTools(index, words, { limit: most }).hits.map((hit) => hit.key);
  };
}

/** What one skill costs: its prompt by our count times `perToken`, and an answer. */
interface Cost {
  readonly perToken: number;
  readonly answerTokens: number;
}

function costOf(run: EditRun): Cost {
  const { answers, answerTokens, promptTokens: reported, promptTokensCounted } = run.asking.seen;
  if (answers === 0) return { perToken: 1, answerTokens: run.deps.limits.editAnswerGuess };
  return { perToken: reported / promptTokensCounted, answerTokens: answerTokens / answers };
}

/** Prompts counted between two turns of the event loop. */
const COUNTED_AT_ONCE = 20;

/**
 * What asking about every skill that may be rewritten would have cost: the same prompts, built and counted and not sent. A prompt is
 * counted once for a skill on the same tools.
 */
function rebuildEstimator(deps: EditDeps): (input: MaintenanceInput, cost: Cost) => Promise<number> {
  const counted = new WeakMap<Skill, { readonly ground: string; readonly tokens: number }>();
  return async (input, cost) => {
    const due = new Map(input.due.map((one) => [one.skill.name, one]));
    const near = nearTools(input, deps.limits.nearTools);
    let tokens = 0;
    let n = 0;
    for (const skill of input.skills.values()) {
      if (!mayRewrite(skill)) continue;
      const one = due.get(skill.name) ?? asIfDue(skill, input);
      const ground = groundOf(one, input);
      let known = counted.get(skill);
      if (known?.ground !== ground) {
        const prompt = promptOf(editPrompt(editCase(one, input, near), input, deps.secrets()), deps.secrets());
        known = { ground, tokens: promptTokens({ prompt }) };
        counted.set(skill, known);
        if (++n % COUNTED_AT_ONCE === 0) await setImmediate();
      }
      tokens += known.tokens * cost.perToken + cost.answerTokens;
    }
    return Math.round(tokens);
  };
}

/** A skill that stands, looked at as a rebuild would: on the tools it has now. */
function asIfDue(skill: Skill, input: MaintenanceInput): DueSkill {
  const verified = new Map<ToolKey, Tool>();
  for (const need of skill.contract.requires) {
    const tool = input.tools.get(need.tool as ToolKey);
    if (tool !== undefined) verified.set(tool.key, tool);
  }
  return { skill, standing: { standing: "active", needsReview: false, reasons: [], since: input.at }, pinned: false, verified };
}

function groundOf(due: DueSkill, input: MaintenanceInput): string {
  const tools = due.skill.contract.requires.map((need) => input.tools.get(need.tool as ToolKey)?.digests.document ?? "");
  return [...tools, ...[...due.verified.values()].map((tool) => tool.digests.document), due.standing.reasons.length].join(" ");
}
