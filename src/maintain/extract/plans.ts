/**
 * Plans: tasks of one shape become a planning skill.
 *
 * A task's shape is the set of needs it had. Its plan has them in the order most tasks had, each done with the atomic skill that does it;
 * its description speaks in the words that most of these tasks have and others have not.
 */
import { SKILL_LIMITS } from "../../model/policy.js";
import type { Skill } from "../../model/skill.js";
import { tokenise } from "../../retrieve/tokens.js";
import { STOP_WORDS } from "../../retrieve/words.js";
import { renderBody } from "../../skills/body.js";
import { asName, draftProblems, TIER_PREFIX, type SkillDraft } from "../../skills/text.js";
import { capital, shortened, spoken } from "../say.js";
import { citations } from "./draft.js";
import type { Need } from "./needs.js";
import type { Trace } from "./trace.js";

export interface Shape {
  /** Tool keys the needs end in, sorted: what makes two tasks alike. */
  readonly signature: string;
  readonly tasks: readonly { readonly trace: Trace; readonly needs: readonly Need[] }[];
  /** Different task texts. */
  readonly support: number;
}

/** Steps of a plan: more is no plan that anybody follows. */
const STEPS_MOST = 8;
/** Words by which a shape's tasks are told: in most of them, and clearly oftener than in the others. */
const WORD_SHARE = 0.6;
const WORD_LIFT = 1.5;
const WORDS_MOST = 6;

/** Shapes of verified tasks with several needs, the best supported first. */
export function shapesOf(tasks: readonly { trace: Trace; needs: readonly Need[] }[]): Shape[] {
  const groups = new Map<string, { trace: Trace; needs: readonly Need[] }[]>();
  for (const task of tasks) {
    const keys = [...new Set(task.needs.map((need) => need.ending.tool.key))];
    // Without a word of what was asked nothing says when to follow a plan: it would be taken for its tools' names.
    const isTold = task.trace.proof.evidence.task.trim() !== "";
    if (task.trace.proof.weight !== "verified" || !isTold || keys.length < 2 || keys.length > STEPS_MOST) continue;
    const signature = keys.sort().join(" + ");
    groups.set(signature, [...(groups.get(signature) ?? []), task]);
  }
  return [...groups]
    .map(([signature, members]) => ({
      signature,
      tasks: members,
      support: new Set(members.map((member) => member.trace.proof.evidence.task)).size,
    }))
    .sort((a, b) => b.support - a.support || (a.signature < b.signature ? -1 : 1));
}

/** `skillFor`: the atomic skill whose last step is that tool. Undefined where a need has none, or the plan cannot be written. */
export function planFor(
  shape: Shape,
  options: {
    readonly skillFor: (tool: string) => Pick<Skill, "name"> | undefined;
    readonly others: readonly string[];
    readonly taken: ReadonlySet<string>;
  },
): SkillDraft | undefined {
  const keys = orderOf(shape);
  const skills = keys.map((key) => options.skillFor(key));
  const uses = skills.flatMap((skill) => (skill === undefined ? [] : [skill.name as string]));
  if (uses.length < keys.length || new Set(uses).size < uses.length) return undefined;
  const goals = keys.map((key) => capital(spoken(key.slice(key.indexOf("/") + 1))));
  const name = asName(`${TIER_PREFIX.planning}${keys.map((key) => key.slice(key.indexOf("/") + 1)).join("-and-")}`);
  if (options.taken.has(name)) return undefined;
  const words = tellingWords(
    shape.tasks.map((task) => task.trace.proof.evidence.task),
    options.others,
  );
  const what = goals.map((goal, n) => (n === 0 ? goal : goal.toLowerCase())).join(", then ");
  const description = words.length === 0 ? `${what}.` : `${what}. Speaks of ${words.join(", ")}.`;
  const draft: SkillDraft = {
    name,
    tier: "planning",
    description: shortened(description, SKILL_LIMITS.listedDescriptionChars),
    body: renderBody({
      whenToUse: description,
      steps: goals.map((goal, n) => `${goal} with skill \`${uses[n] ?? ""}\`.`),
    }),
    contract: { requires: [], uses, produces: [], evidence: citations(shape.tasks.flatMap((task) => task.needs)) },
  };
  return draftProblems(draft).length === 0 ? draft : undefined;
}

/** The order in which most tasks had their needs: by mean place of the first call that ends in each. */
function orderOf(shape: Shape): string[] {
  const places = new Map<string, number[]>();
  for (const { needs } of shape.tasks) {
    const endings = [...new Set(needs.map((need) => need.ending.tool.key as string))];
    endings.forEach((key, n) => places.set(key, [...(places.get(key) ?? []), n / endings.length]));
  }
  const mean = (key: string): number => {
    const all = places.get(key) ?? [];
    return all.reduce((sum, place) => sum + place, 0) / all.length;
  };
  return [...places.keys()].sort((a, b) => mean(a) - mean(b) || (a < b ? -1 : 1));
}

function tellingWords(own: readonly string[], others: readonly string[]): string[] {
  const wordsOf = (text: string): Set<string> =>
    new Set(tokenise(text).filter((word) => /^\p{L}{3,}$/u.test(word) && !STOP_WORDS.has(word)));
  const ownSets = own.filter((text) => text !== "").map(wordsOf);
  const otherSets = others.filter((text) => text !== "").map(wordsOf);
  const share = (sets: readonly Set<string>[], word: string): number =>
    sets.length === 0 ? 0 : sets.filter((set) => set.has(word)).length / sets.length;
  return [...new Set(ownSets.flatMap((set) => [...set]))]
    .map((word) => ({ word, own: share(ownSets, word), lift: share(ownSets, word) / (share(otherSets, word) + 0.02) }))
    .filter(({ own: had, lift }) => had >= WORD_SHARE && lift >= WORD_LIFT)
    .sort((a, b) => b.own * Math.log(b.lift) - a.own * Math.log(a.lift) || (a.word < b.word ? -1 : 1))
    .slice(0, WORDS_MOST)
    .map(({ word }) => word);
}
