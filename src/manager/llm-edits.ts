/**
 * Maintenance with a model: rules first, then one question for each skill they cannot mend for certain.
 *
 * Owns: what is asked about and what never is, the budget of a run, answers that still hold, the estimate of a rebuild.
 * Speaks: MaintenanceInput in; edits and tokens out.
 * Never: asks about pinned, hand-written or imported skills, or about what rules mend for certain; loses an edit of the rules because a
 *        model failed; lets a run outlast its time or its tokens.
 *
 * A run that died is taken up where it was: answers are remembered by their question, so that the next run pays for the rest only.
 */
import { setImmediate } from "node:timers/promises";
import { sha256 } from "../catalog/canonical.js";
import type { JsonObject, JsonValue } from "../model/json.js";
import type { SkillName, ToolKey } from "../model/ids.js";
import type { ProposedEdit } from "../model/maintenance.js";
import type { Clock, DueSkill, MaintenanceInput, Manager } from "../model/ports.js";
import type { Skill } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import { buildToolIndex, searchTools, type ToolIndex } from "../retrieve/tools.js";
import { answerSchema } from "./answer.js";
import { editFrom, type EditContext } from "./answer-edit.js";
import { NOTHING_SPENT, openAllowance, type Account, type Allowance, type Spent } from "./budget.js";
import { promptTokens, type Endpoint, type Question, type Say } from "./llm-client.js";
import type { LlmLimits } from "./llm-limits.js";
import type { LlmMemory } from "./llm-memory.js";
import { editCase, editPrompt, editShape, type EditAnswer, type EditCase } from "./prompt-edit.js";
import { promptOf, type PromptParts } from "./prompt.js";

export interface EditDeps {
  readonly endpoint: Endpoint;
  readonly rules: Manager;
  readonly limits: LlmLimits;
  readonly account: Account;
  readonly secrets: () => readonly string[];
  readonly model: string;
  readonly memory: LlmMemory;
  readonly clock: Clock;
  readonly log: Say;
  readonly applyChecked: boolean;
}

export function editProposer(deps: EditDeps): Manager["proposeEdits"] {
  const estimate = rebuildEstimator(deps);
  return async (input) => {
    const ruled = await deps.rules.proposeEdits(input);
    const byRules = new Map(ruled.edits.map((edit) => [edit.skill, edit]));
    const run: Run = {
      deps,
      input,
      near: nearTools(input, deps.limits.nearTools),
      allowance: openAllowance(deps.limits.runTokens),
      endsMs: deps.clock.elapsedMs() + deps.limits.runMs,
      seen: { answers: 0, answerTokens: 0, promptTokens: 0, promptTokensCounted: 0 },
      over: undefined,
    };
    const decided = new Map<SkillName, ProposedEdit>();
    for (const due of input.due) {
      const ruling = byRules.get(due.skill.name);
      if (!mayAskAbout(due) || isSettled(ruling, input) || needsNewSteps(due, input)) continue;
      const edit = await decideOn(run, due, ruling);
      if (edit !== undefined) decided.set(due.skill.name, edit);
    }
    return {
      edits: merged(ruled.edits, decided),
      tokens: { used: run.allowance.used(), rebuildEstimate: await estimate(input, costOf(run)) },
    };
  };
}

interface Run {
  readonly deps: EditDeps;
  readonly input: MaintenanceInput;
  readonly near: (tool: Tool) => readonly ToolKey[];
  readonly allowance: Allowance;
  readonly endsMs: number;
  /** What answered questions cost by the endpoint's count, and their prompts by ours: the estimate speaks the endpoint's language. */
  readonly seen: { answers: number; answerTokens: number; promptTokens: number; promptTokensCounted: number };
  /** Why nothing more is asked in this run. */
  over: string | undefined;
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
async function decideOn(run: Run, due: DueSkill, ruling: ProposedEdit | undefined): Promise<ProposedEdit | undefined> {
  const { deps, input } = run;
  const one = editCase(due, input, run.near);
  const asked = await answerFor(run, one);
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

type Asked =
  | { readonly answer: EditAnswer; readonly spent: Spent }
  | { readonly answer: undefined; readonly spent: Spent; readonly fault: string; readonly why: string };

async function answerFor(run: Run, one: EditCase): Promise<Asked> {
  const { deps } = run;
  const question = questionOf(deps, editPrompt(one, run.input, deps.secrets()));
  const key = `edit ${sha256(`${deps.model}\n${question.content}`)}`;
  const known = editShape.safeParse(deps.memory.get(key));
  if (known.success) return { answer: known.data, spent: NOTHING_SPENT };
  const none = (fault: string, why: string, spent: Spent = NOTHING_SPENT): Asked => ({ answer: undefined, spent, fault, why });
  if (run.over !== undefined) return none("over", run.over);
  const leftMs = run.endsMs - deps.clock.elapsedMs();
  if (leftMs < deps.limits.leastMs) return none("over", stop(run, "the run's time is used up"));
  const counted = promptTokens(question);
  if (!run.allowance.mayAsk(counted, deps.limits.editAnswerTokens)) {
    return none("over", stop(run, "the run's token budget is used up"));
  }
  const reply = await deps.endpoint.ask(question, {
    withinMs: Math.min(deps.limits.editMs, leftMs),
    retries: deps.limits.editRetries,
    retryAfterMostMs: deps.limits.retryAfterMostMs,
  });
  run.allowance.take(reply.spent);
  if (reply.kind === "failed") {
    // Who refuses one question may answer the next; who is not there will not be.
    if (!["refused", "cut", "invalid", "late"].includes(reply.fault)) stop(run, reply.why);
    return none(reply.fault, reply.why, reply.spent);
  }
  run.seen.answers += 1;
  run.seen.answerTokens += reply.spent.answerTokens / reply.spent.calls;
  run.seen.promptTokens += reply.spent.promptTokens / reply.spent.calls;
  run.seen.promptTokensCounted += counted;
  deps.memory.set(key, reply.answer as unknown as JsonValue);
  return { answer: reply.answer, spent: reply.spent };
}

function stop(run: Run, why: string): string {
  if (run.over === undefined) run.deps.log("warn", `maintenance goes on by rules alone: ${why}`);
  run.over ??= why;
  return why;
}

/** The question, and its content without the mark that is drawn anew for each prompt. */
function questionOf(deps: EditDeps, parts: PromptParts): Question<EditAnswer> & { content: string } {
  return {
    prompt: promptOf(parts, deps.secrets()),
    content: JSON.stringify(parts),
    form: { name: "edit", schema: EDIT_SCHEMA },
    answerTokens: deps.limits.editAnswerTokens,
    read: (answer: JsonObject) => editShape.safeParse(answer).data,
  };
}

const EDIT_SCHEMA = answerSchema(editShape);

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

function costOf(run: Run): Cost {
  const { answers, answerTokens, promptTokens: reported, promptTokensCounted } = run.seen;
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
