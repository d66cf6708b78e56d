/** Patterns of a world that is nobody's, run as a daemon runs them: until nothing that standings rest on is left unanswered. */
import type { PatternQuestion } from "../model/sample.js";
import { SAMPLE_LIMITS } from "../model/policy.js";
import { answered, type Played } from "../world/foresee.js";
import { questionId } from "../world/samples.js";

type Answers = Parameters<typeof answered>[1];

/**
 * The world once its patterns are answered. Answers may bring further questions (a schema that is looked at more closely); each is asked
 * once. `left`: questions beyond what a daemon would keep answers of; what rests on them stays undecided.
 */
export async function withPatterns(
  played: Played,
  run: (questions: readonly PatternQuestion[]) => Promise<Answers>,
  at: string,
): Promise<Played & { readonly left: number }> {
  const asked = new Set<string>();
  let now = played;
  for (;;) {
    const fresh = new Map(now.questions.map((question) => [questionId(question), question]));
    for (const id of asked) fresh.delete(id);
    if (fresh.size === 0 || asked.size >= SAMPLE_LIMITS.answers) return { ...now, left: fresh.size };
    for (const id of fresh.keys()) asked.add(id);
    now = answered(now.world, await run([...fresh.values()]), at);
  }
}
