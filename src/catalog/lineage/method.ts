/**
 * Method evidence: old tools that became modes of one merged tool.
 *
 * Owns: how an old name fits a target's name plus one value (or two), and the one-to-one assignment of values.
 * Speaks: Profiles, Targets, fixed arguments.
 * Never: levels (assign.ts).
 */
import type { JsonValue } from "../../model/json.js";
import type { MethodFit, Target } from "./candidates.js";
import type { Discriminator, MethodValue } from "./discriminator.js";
import { discriminatorsOf } from "./discriminator.js";
import type { Keeper } from "./gates.js";
import { textVector } from "./corpus.js";
import type { Corpus } from "./corpus.js";
import type { Profile, Weighed } from "./profile.js";
import { cosine, softDice } from "./score.js";
import { isStopWord, isUmbrella, sameAct, splitCompounds, terms, verbRole, wordOf } from "./words.js";
import type { Word } from "./words.js";

/** One way to call a target: the arguments that choose the mode and the words they add to its name. */
interface Mode {
  readonly fixed: Readonly<Record<string, JsonValue>>;
  readonly label: string;
  readonly words: readonly Word[];
  /** The words of the target's name that count beside it, and its own, each once. */
  readonly spoken: readonly Weighed[];
  /** What descriptions say of it, as terms are weighed. */
  readonly said: () => ReadonlyMap<string, number>;
  readonly says: () => string;
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
  const before = target.before === target.profile ? target.discriminators : discriminatorsBefore(target);
  const known = new Set(before.flatMap((one) => one.values.map((value) => `${one.parameter}=${value.value}`)));
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

function discriminatorsBefore({ before }: Target): readonly Discriminator[] {
  return before === undefined ? [] : discriminatorsOf(before);
}

function modeOf(
  parts: readonly { readonly parameter: string; readonly value: MethodValue }[],
  strong: boolean,
  known: ReadonlySet<string>,
  target: Target,
  corpus: Corpus,
): Mode {
  const labels = parts.map((part) => `${part.parameter}=${part.value.value}`);
  const own = splitCompounds(
    parts.flatMap((part) => part.value.words),
    corpus.vocabulary,
  ).map(wordOf);
  const says = (): string => parts.map((part) => part.value.says()).join(" ");
  let said: ReadonlyMap<string, number> | undefined;
  return {
    fixed: Object.fromEntries(parts.map((part) => [part.parameter, part.value.value])),
    label: labels.join(", "),
    words: own,
    spoken: spokenIn(target.profile, own, strong, corpus),
    said: () => (said ??= textVector(terms(says()), corpus)),
    says,
    strong,
    fresh: target.origin === "added" || labels.some((label) => !known.has(label)),
  };
}

/**
 * What target and mode say together. The target's own verb gives way where the value brings one (`update_order(action: cancel)` is
 * `cancel_order`), as the values of an `action` do; umbrella verbs always give way.
 */
function spokenIn(target: Profile, mode: readonly Word[], strong: boolean, corpus: Corpus): Weighed[] {
  const brings = strong || mode.some((word) => word.verb);
  const own = target.weighed.filter(({ word }) => !isUmbrella(word.text) && !(brings && word.text === target.verb));
  return distinct([...own, ...mode.map((word) => ({ word, weight: corpus.weightOf(word) }))]);
}

/** How the old name fits the target in this mode. */
function fitOf({ old, words, said }: Held, mode: Mode, corpus: Corpus): MethodFit | undefined {
  const { fixed, label, fresh } = mode;
  if (isExact(said, mode.spoken, corpus)) return { fixed, label, exact: true, fit: 1, fresh };
  if (!mode.strong || !verbsMeet(old, mode)) return undefined;
  const dice = softDice(words, mode.spoken);
  if (dice < NEAR_FIT) return undefined;
  const told = cosine(old.text, mode.said());
  const near = told === undefined ? dice : 0.7 * dice + 0.3 * told;
  return { fixed, label, exact: false, fit: Math.min(0.99, near), fresh };
}

/** Words of the mode that stand letter by letter in the old name: tells `get_point` from `get_points`. */
function literally(old: Profile, mode: Mode): number {
  return mode.words.filter((word) => old.words.some((own) => own.text === word.text)).length;
}

function distinct(of: readonly Weighed[]): Weighed[] {
  return [...new Map(of.map((one) => [one.word.text, one])).values()];
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
function isExact(said: readonly Word[], spoken: readonly Weighed[], corpus: Corpus): boolean {
  for (const word of said) if (isTelling(word) && !spoken.some((partner) => sameWord(word, partner.word))) return false;
  for (const { word } of spoken) {
    if (!isTelling(word) || corpus.nameWeight(word.stem) <= EVERYWHERE) continue;
    if (!said.some((partner) => sameWord(word, partner))) return false;
  }
  return true;
}

function isTelling(word: Word): boolean {
  return !isStopWord(word.text);
}

function sameWord(a: Word, b: Word): boolean {
  return a.stem === b.stem || (a.verb && b.verb && sameAct(a.text, b.text));
}

export interface AssignedMethod {
  readonly old: Profile;
  readonly target: Target;
  readonly fit: MethodFit;
}

/** An old tool as it is held against modes. */
interface Held {
  readonly old: Profile;
  /** Each word of its name once. */
  readonly words: readonly Weighed[];
  /** Its words up to the way a thing is found (`by_uid`). */
  readonly said: readonly Word[];
}

/** Old tools by the nouns of their names, read once for all the targets that they are held against. */
export interface HeldTools {
  readonly all: readonly Held[];
  /** Stem of a noun → places in `all`. */
  readonly byNoun: ReadonlyMap<string, readonly number[]>;
  readonly nounless: readonly number[];
}

export function heldTools(olds: readonly Profile[]): HeldTools {
  const byNoun = new Map<string, number[]>();
  const nounless: number[] = [];
  olds.forEach((old, at) => {
    if (old.nouns.length === 0) nounless.push(at);
    for (const noun of new Set(old.nouns)) {
      const places = byNoun.get(noun);
      if (places === undefined) byNoun.set(noun, [at]);
      else places.push(at);
    }
  });
  return { all: olds.map(heldOf), byNoun, nounless };
}

function heldOf(old: Profile): Held {
  const by = old.words.findIndex((word) => word.text === "by");
  return { old, words: distinct(old.weighed), said: by > 0 ? old.words.slice(0, by) : old.words };
}

/** Those without a noun, or with one of these, in their order. */
function nearTo(held: HeldTools, stems: Iterable<string>): Held[] {
  const places = new Set(held.nounless);
  for (const noun of stems) for (const at of held.byNoun.get(noun) ?? []) places.add(at);
  return [...places].sort((a, b) => a - b).flatMap((at) => held.all[at] ?? []);
}

/**
 * The best fits of one target, each value to one old tool and each old tool to one value: exact ones first, then by fit.
 */
export function assignModes(
  held: HeldTools,
  target: Target,
  corpus: Corpus,
  keeper: Keeper,
  isOpen: (old: Profile) => boolean = () => true,
): AssignedMethod[] {
  const fits: { old: Profile; fit: MethodFit; literal: number }[] = [];
  const modes = modesOf(target, corpus);
  const stems = new Set([...target.profile.words, ...modes.flatMap((mode) => mode.words)].map((word) => word.stem));
  const near = nearTo(held, stems).filter(({ old }) => old.tool.key !== target.profile.tool.key && isOpen(old));
  for (const mode of modes) {
    for (const one of near) {
      const fit = fitOf(one, mode, corpus);
      if (fit !== undefined) fits.push({ old: one.old, fit, literal: literally(one.old, mode) });
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
