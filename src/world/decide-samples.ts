/**
 * What recorded calls mean for standings: new samples after evidence, and answers of patterns that were run on them.
 */
import type { Event } from "../model/event.js";
import { SAMPLE_LIMITS } from "../model/policy.js";
import type { PatternAnswer } from "../model/sample.js";
import { settleStandings } from "./decide-standings.js";
import { put, type Draft } from "./draft.js";
import { moveSamples, questionId, type PatternTally } from "./samples.js";
import { computeStandings } from "./standings.js";
import type { Known } from "./world.js";

/** After every decision: evidence that it brought becomes samples, and skills on those tools are judged by them. */
export function decideSamples(draft: Draft): void {
  const tools = moveSamples(draft);
  if (tools.length > 0) settleStandings(draft, { tools });
}

export function decidePatternsRun(draft: Draft, event: Extract<Event, { kind: "patterns-run" }>): void {
  const answers = new Map<string, PatternAnswer>(draft.known.patterns);
  for (const { pattern, text, matches } of event.answers) answers.set(questionId({ pattern, text }), matches ?? null);
  if (answers.size === draft.known.patterns.size) return;
  put(draft, { kind: "patterns", answers: sorted(answers) });
  settleStandings(draft, { tools: draft.known.samples.keys() });
  if (answers.size > SAMPLE_LIMITS.answers) put(draft, { kind: "patterns", answers: sorted(needed(draft.known)) });
}

/** The answers that some standing rests on now. What a later schema asks is asked again. */
function needed(known: Known): Map<string, PatternAnswer> {
  const tally: PatternTally = { used: new Set(), wanted: new Map() };
  computeStandings(known, known.library.skills.keys(), tally);
  return new Map([...known.patterns].filter(([id]) => tally.used.has(id)));
}

function sorted(answers: ReadonlyMap<string, PatternAnswer>): ReadonlyMap<string, PatternAnswer> {
  return new Map([...answers].sort(([a], [b]) => (a < b ? -1 : 1)));
}
