/**
 * Method evidence: old tools that became modes of one merged tool.
 *
 * Owns: how an old name fits a target's name plus one value (or two), and the one-to-one assignment of values.
 * Speaks: Profiles, Targets, fixed arguments.
 * Never: levels (assign.ts).
 */
import type { JsonValue } from "../../model/json.js";
import type { MethodFit, Target } from "./candidates.js";
import type { MethodValue } from "./discriminator.js";
import { discriminatorsOf } from "./discriminator.js";
import type { Keeper } from "./gates.js";
import type { Corpus, Profile } from "./profile.js";
import { splitCompounds, terms, textVector } from "./profile.js";
import { cosine, nameWeight, softDice } from "./score.js";
import { isStopWord, isUmbrella, sameAct, verbRole, wordOf } from "./words.js";
import type { Word } from "./words.js";

/** One way to call a target: the arguments that choose the mode and the words they add to its name. */
interface Mode {
  readonly fixed: Readonly<Record<string, JsonValue>>;
  readonly label: string;
  readonly words: readonly Word[];
  readonly says: string;
  readonly strong: boolean;
  readonly fresh: boolean;
}

/** A name that fits by less is not a mode. */
const NEAR_FIT = 0.7;
/** A word of this weight stands in more than half of all names. */
const EVERYWHERE = 0.5;
/** Pairs of mode arguments are tried up to this many combinations. */
const MOST_MODES = 200;

export function modesOf(target: Target, corpus: Corpus): Mode[] {
  const known = new Set(
    target.before === undefined
      ? []
      : discriminatorsOf(target.before).flatMap((one) => one.values.map((value) => `${one.parameter}=${value.value}`)),
  );
  const single = target.discriminators.flatMap((one) =>
    one.values.map((value) => modeOf([{ parameter: one.parameter, value }], one.strong, known, target, corpus)),
  );
  const [first, second] = target.discriminators;
  if (first === undefined || second === undefined || !first.required || !second.required) return single;
  if (first.values.length * second.values.length > MOST_MODES) return single;
  return first.values.flatMap((a) =>
    second.values.map((b) =>
      modeOf(
        [
          { parameter: first.parameter, value: a },
          { parameter: second.parameter, value: b },
        ],
        first.strong || second.strong,
        known,
        target,
        corpus,
      ),
    ),
  );
}

function modeOf(
  parts: readonly { readonly parameter: string; readonly value: MethodValue }[],
  strong: boolean,
  known: ReadonlySet<string>,
  target: Target,
  corpus: Corpus,
): Mode {
  const labels = parts.map((part) => `${part.parameter}=${part.value.value}`);
  return {
    fixed: Object.fromEntries(parts.map((part) => [part.parameter, part.value.value])),
    label: labels.join(", "),
    words: splitCompounds(
      parts.flatMap((part) => part.value.words),
      corpus.vocabulary,
    ).map(wordOf),
    says: parts.map((part) => part.value.says).join(" "),
    strong,
    fresh: target.origin === "added" || labels.some((label) => !known.has(label)),
  };
}

/**
 * How the old name fits the target in this mode. The target's own verb gives way where the value brings one
 * (`update_order(action: cancel)` is `cancel_order`), as the values of an `action` do; umbrella verbs always give way.
 */
export function fitOf(old: Profile, target: Target, mode: Mode, corpus: Corpus): MethodFit | undefined {
  const brings = mode.strong || mode.words.some((word) => word.verb);
  const own = target.profile.words.filter((word) => !isUmbrella(word.text) && !(brings && word.text === target.profile.verb));
  const spoken = distinct([...own, ...mode.words]);
  const dice = softDice(distinct(old.words), spoken, (word) => nameWeight(word, corpus));
  const exact = isExact(old, spoken, corpus);
  if (!exact && (dice < NEAR_FIT || !mode.strong || !verbsMeet(old, mode))) return undefined;
  const told = cosine(old.text, textVector(terms(mode.says), corpus));
  const near = told === undefined ? dice : 0.7 * dice + 0.3 * told;
  return { fixed: mode.fixed, label: mode.label, exact, fit: exact ? 1 : Math.min(0.99, near), fresh: mode.fresh };
}

/** Words of the mode that stand letter by letter in the old name: tells `get_point` from `get_points`. */
function literally(old: Profile, mode: Mode): number {
  return mode.words.filter((word) => old.words.some((own) => own.text === word.text)).length;
}

function distinct(of: readonly Word[]): Word[] {
  return [...new Map(of.map((word) => [word.text, word])).values()];
}

/** Where both the old tool and the mode name an act, it is the same act, or both read. */
function verbsMeet(old: Profile, mode: Mode): boolean {
  const verbs = mode.words.filter((word) => word.verb);
  const own = old.verb;
  if (own === undefined || verbs.length === 0) return true;
  return verbs.some((verb) => sameAct(verb.text, own) || (verbRole(verb.text) === "read" && verbRole(own) === "read"));
}

/**
 * Both names say the same: what is over is a stop word, the way a thing is found (`by_uid`), or a word of the target that nearly
 * every tool carries.
 */
function isExact(old: Profile, spoken: readonly Word[], corpus: Corpus): boolean {
  const by = old.words.findIndex((word) => word.text === "by");
  const mine = by > 0 ? old.words.slice(0, by) : old.words;
  const over = (from: readonly Word[], other: readonly Word[]): Word[] =>
    from.filter((word) => !isStopWord(word.text) && !other.some((partner) => sameWord(word, partner)));
  return over(mine, spoken).length === 0 && over(spoken, mine).every((word) => corpus.nameWeight(word.stem) <= EVERYWHERE);
}

function sameWord(a: Word, b: Word): boolean {
  return a.stem === b.stem || (a.verb && b.verb && sameAct(a.text, b.text));
}

export interface AssignedMethod {
  readonly old: Profile;
  readonly target: Target;
  readonly fit: MethodFit;
}

/**
 * The best fits of one target, each value to one old tool and each old tool to one value: exact ones first, then by fit.
 */
export function assignModes(olds: readonly Profile[], target: Target, corpus: Corpus, keeper: Keeper): AssignedMethod[] {
  const fits: { old: Profile; fit: MethodFit; literal: number }[] = [];
  const modes = modesOf(target, corpus);
  const stems = new Set([...target.profile.words, ...modes.flatMap((mode) => mode.words)].map((word) => word.stem));
  const near = olds.filter(
    (old) => old.tool.key !== target.profile.tool.key && (old.nouns.length === 0 || old.nouns.some((noun) => stems.has(noun))),
  );
  for (const mode of modes) {
    for (const old of near) {
      const fit = fitOf(old, target, mode, corpus);
      if (fit !== undefined) fits.push({ old, fit, literal: literally(old, mode) });
    }
  }
  fits.sort(
    (a, b) =>
      Number(b.fit.exact) - Number(a.fit.exact) ||
      b.literal - a.literal ||
      b.fit.fit - a.fit.fit ||
      (a.fit.label + a.old.tool.key < b.fit.label + b.old.tool.key ? -1 : 1),
  );
  const [takenOlds, takenValues] = [new Set<Profile>(), new Set<string>()];
  const assigned: AssignedMethod[] = [];
  for (const { old, fit } of fits) {
    if (takenOlds.has(old)) continue;
    if (!keeper.holds("method-one-to-one", !takenValues.has(fit.label))) continue;
    takenOlds.add(old);
    takenValues.add(fit.label);
    assigned.push({ old, target, fit });
  }
  return assigned;
}
