/**
 * Samples: joins verified calls, skills and schemas, so that "what a skill really sends" can be laid against a schema that moved.
 *
 * All of it is ground state: samples move with evidence, answers of patterns come back as events. A standing stays a function of
 * what is on disc, and nothing here runs a pattern.
 */
import { withoutRedacted } from "../catalog/usage.js";
import { canonicalJson, sha256 } from "../catalog/canonical.js";
import type { MatchPattern } from "../catalog/schema/accept.js";
import type { Evidence } from "../model/episode.js";
import type { ToolKey } from "../model/ids.js";
import { isJsonObject, type JsonValue } from "../model/json.js";
import { SAMPLE_LIMITS } from "../model/policy.js";
import type { PatternQuestion, Sample } from "../model/sample.js";
import type { Requirement, Skill } from "../model/skill.js";
import { put, type Draft } from "./draft.js";
import type { Known } from "./world.js";

/** The samples that speak for one requirement of a skill. */
export function samplesFor(
  known: Known,
  skill: Skill,
  need: Pick<Requirement, "tool" | "params">,
  present: string,
): readonly Sample[] {
  const samples = known.samples.get(need.tool as ToolKey) ?? [];
  const cited = samples.filter((sample) => isCited(sample, skill));
  if (cited.length > 0) return cited;
  // A skill that cites nothing is shown by calls it could have made itself, as they were before the tool moved.
  const sets = new Set(need.params.map((path) => path.replace(/[.[].*$/, "")));
  return samples.filter(
    (sample) =>
      Object.keys(sample.args).every((name) => sets.has(name)) && sample.calls.some((call) => call.contract !== present),
  );
}

function isCited(sample: Sample, { contract }: Skill): boolean {
  return contract.evidence.some((item) =>
    sample.calls.some((call) => call.evidence === item.trajectory && (item.steps.length === 0 || item.steps.includes(call.seq))),
  );
}

/** What judging asked of patterns: what was answered already, and what is not known yet. */
export interface PatternTally {
  readonly used: Set<string>;
  readonly wanted: Map<string, PatternQuestion>;
}

/** What is known of patterns. A text or pattern of any size is not run: what it would say stays undecided. */
export function matcherOf(known: Known, tally?: PatternTally): MatchPattern {
  return (pattern, text) => {
    if (text.length > SAMPLE_LIMITS.textChars || pattern.length > SAMPLE_LIMITS.textChars) return undefined;
    const id = questionId({ pattern, text });
    const answer = known.patterns.get(id);
    if (answer === undefined) tally?.wanted.set(id, { pattern, text });
    else tally?.used.add(id);
    return answer ?? undefined;
  };
}

export function questionId({ pattern, text }: PatternQuestion): string {
  return sha256(canonicalJson([pattern, text]));
}

/**
 * Moves the samples by the evidence of a decision; answers with the tools whose samples moved. An episode that is told to have
 * failed after all takes its calls back.
 */
export function moveSamples(draft: Draft): ToolKey[] {
  const moved = new Map<ToolKey, readonly Sample[]>();
  const cited = new Set<string>();
  for (const change of draft.changes) {
    if (change.kind !== "evidence") continue;
    if (cited.size === 0) for (const digest of citedEvidence(draft.known)) cited.add(digest);
    const { evidence, digest } = change;
    if (evidence.outcome.outcome !== "success") withdraw(draft.known, evidence, moved);
    else for (const [tool, samples] of samplesOf(evidence, digest)) add(draft.known, tool, samples, cited, moved);
  }
  for (const [tool, samples] of moved) put(draft, { kind: "samples", tool, samples });
  return [...moved.keys()];
}

function citedEvidence(known: Known): string[] {
  return [...known.library.skills.values()].flatMap((skill) => skill.contract.evidence.map((item) => item.trajectory));
}

/** Calls that were answered, as samples, by tool. */
function samplesOf(evidence: Evidence, digest: string): Map<ToolKey, Sample[]> {
  const found = new Map<ToolKey, Sample[]>();
  for (const line of evidence.calls) {
    if (line.isError || line.fault !== undefined || !isJsonObject(line.args)) continue;
    const { args, redacted } = withoutRedacted(line.args, line.redacted);
    const text = canonicalJson([args, [...redacted]] as JsonValue);
    if (text.length > SAMPLE_LIMITS.argsChars) continue;
    const call = { evidence: digest, episode: evidence.episode, seq: line.seq, contract: line.contract };
    const tool = line.tool as ToolKey;
    found.set(tool, [{ digest: sha256(text), args, redacted: [...redacted], calls: [call] }, ...(found.get(tool) ?? [])]);
  }
  return found;
}

/** Newest first; what a skill cites is kept whatever came since. */
function add(
  known: Known,
  tool: ToolKey,
  fresh: readonly Sample[],
  cited: ReadonlySet<string>,
  moved: Map<ToolKey, readonly Sample[]>,
): void {
  const merged = new Map<string, Sample>();
  for (const sample of [...fresh, ...(moved.get(tool) ?? known.samples.get(tool) ?? [])]) {
    const same = merged.get(sample.digest);
    merged.set(sample.digest, same === undefined ? sample : { ...same, calls: [...same.calls, ...sample.calls] });
  }
  const isKept = (call: Sample["calls"][number], at: number): boolean =>
    at < SAMPLE_LIMITS.callsPerSample || cited.has(call.evidence);
  const all = [...merged.values()].map((sample) => ({ ...sample, calls: sample.calls.filter(isKept) }));
  const kept = all.filter((sample, at) => at < SAMPLE_LIMITS.perTool || sample.calls.some((call) => cited.has(call.evidence)));
  moved.set(tool, kept);
}

function withdraw(known: Known, evidence: Evidence, moved: Map<ToolKey, readonly Sample[]>): void {
  for (const tool of new Set(evidence.calls.map((line) => line.tool as ToolKey))) {
    const samples = moved.get(tool) ?? known.samples.get(tool) ?? [];
    const left = samples.flatMap((sample) => {
      const calls = sample.calls.filter((call) => call.episode !== evidence.episode);
      return calls.length === 0 ? [] : [{ ...sample, calls }];
    });
    if (JSON.stringify(left) !== JSON.stringify(samples)) moved.set(tool, left);
  }
}
