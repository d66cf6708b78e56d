/** An atomic skill from a candidate: one step a tool, each argument with its source, and the trajectories it was proven by. */
import type { Contract } from "../../model/skill.js";
import { SKILL_LIMITS } from "../../model/policy.js";
import { renderBody } from "../../skills/body.js";
import { renderStepCall, type StepArgument } from "../../skills/step-call.js";
import { asName, draftProblems, TIER_PREFIX, type SkillDraft } from "../../skills/text.js";
import { propertiesOf } from "../fields.js";
import { capital, sentenceAbout, shortened, spoken } from "../say.js";
import { splitToolKey } from "../../model/ids.js";
import type { Candidate, CandidateStep } from "./merge.js";
import type { Need } from "./needs.js";

/** Trajectories a contract cites: more prove nothing further, and each is kept on disc while it is cited. */
export const CITED_MOST = 5;
/** Characters of what a sentence about a tool takes of a body. */
const SENTENCE_CHARS = 160;

/** The name an ability gets by its last tool; `taken` names get the upstream, then a number, in front of the end. */
export function nameFor(candidate: Candidate, taken: ReadonlySet<string>): string {
  const last = candidate.steps.at(-1)?.tool;
  const { label, name } = splitToolKey(last?.key ?? "");
  const first = candidate.steps[0]?.tool.name ?? "";
  const wanted = [
    asName(`${TIER_PREFIX.atomic}${name}`),
    asName(`${TIER_PREFIX.atomic}${label}-${name}`),
    asName(`${TIER_PREFIX.atomic}${name}-after-${first}`),
  ];
  const free = wanted.find((one) => !taken.has(one));
  if (free !== undefined) return free;
  for (let n = 2; ; n += 1) {
    const numbered = `${(wanted[0] ?? "").slice(0, SKILL_LIMITS.nameChars - 4)}-${n}`;
    if (!taken.has(numbered)) return numbered;
  }
}

/** Undefined where the ability cannot be said within the format's bounds. */
export function draftOf(candidate: Candidate, name: string): SkillDraft | undefined {
  const last = candidate.steps.at(-1);
  if (last === undefined) return undefined;
  const lean = { ...candidate, steps: candidate.steps.map(withoutOptional) };
  return [candidate, lean].map((one) => draft(one, name, last)).find((one) => draftProblems(one).length === 0);
}

function withoutOptional(step: CandidateStep): CandidateStep {
  return { ...step, slots: step.slots.filter((slot) => !slot.optional) };
}

function draft(candidate: Candidate, name: string, last: CandidateStep): SkillDraft {
  const about = sentenceAbout(last.tool, SENTENCE_CHARS);
  const what = capital(spoken(last.tool.name));
  const description = about.toLowerCase().startsWith(what.toLowerCase()) ? about : `${what}: ${about}`;
  const body = renderBody({
    whenToUse: shortened(description, SENTENCE_CHARS),
    inputs: inputsOf(candidate),
    steps: candidate.steps.map(stepSentence),
  });
  return {
    name,
    tier: "atomic",
    description: shortened(description, SKILL_LIMITS.listedDescriptionChars),
    body,
    contract: contractOf(candidate, last),
  };
}

function stepSentence(step: CandidateStep): string {
  const args = step.slots.map(({ param, slot, optional }): StepArgument => ({
    name: param,
    optional,
    source:
      slot.kind === "request"
        ? { kind: "request", field: undefined }
        : slot.kind === "literal"
          ? { kind: "literal", value: slot.value }
          : { kind: "step", step: slot.step, field: slot.field === param ? undefined : slot.field },
  }));
  return renderStepCall({ goal: capital(spoken(step.tool.name)), tool: step.tool.key, arguments: args, tail: "." });
}

function inputsOf(candidate: Candidate): string[] {
  const asked = candidate.steps.flatMap(({ slots }) => slots.filter(({ slot }) => slot.kind === "request"));
  return [...new Map(asked.map(({ param, optional }) => [param, optional])).entries()].map(
    ([param, optional]) => `${param}: from the request${optional ? ", if given" : ""}`,
  );
}

function contractOf(candidate: Candidate, last: CandidateStep): Omit<Contract, "format"> {
  return {
    requires: candidate.steps.map(({ tool, slots }, n) => ({
      tool: tool.key,
      contractDigest: tool.digests.contract,
      params: slots.map(({ param }) => param),
      reads: readsOf(candidate, n + 1),
    })),
    uses: [],
    produces: last.tool.outputSchema === undefined ? [] : Object.keys(propertiesOf(last.tool.outputSchema)).slice(0, 8),
    evidence: citations(candidate.needs),
  };
}

/** Fields of a step that later steps take. */
function readsOf(candidate: Candidate, step: number): string[] {
  const fields = candidate.steps.flatMap(({ slots }) =>
    slots.flatMap(({ slot }) => (slot.kind === "step" && slot.step === step && slot.field !== undefined ? [slot.field] : [])),
  );
  return [...new Set(fields)];
}

/** The first verified trajectories, each with the calls that are the ability's steps. */
export function citations(needs: readonly Need[]): Contract["evidence"] {
  const cited = new Map<string, Contract["evidence"][number]>();
  for (const { trace, calls } of needs) {
    const { digest, weight, evidence } = trace.proof;
    if (weight !== "verified" || cited.size >= CITED_MOST || cited.has(digest)) continue;
    cited.set(digest, {
      trajectory: digest,
      steps: calls.map((call) => call.seq),
      verifier: `${evidence.outcome.trust}: ${evidence.outcome.by}`,
    });
  }
  return [...cited.values()];
}
