/**
 * Assignment: one old tool, its candidates, and how sure we are.
 *
 * Owns: levels of one-to-one and merging links.
 * Speaks: Candidates in, Verdicts out.
 * Never: splits (split.ts), names and digests alone (identity.ts).
 */
import type { Candidate, Target } from "./candidates.js";
import { byScore, candidateOf, candidatesOf, isAnnounced, standing } from "./candidates.js";
import type { Keeper } from "./gates.js";
import type { AssignedMethod } from "./method.js";
import { assignModes, heldTools } from "./method.js";
import type { Corpus } from "./corpus.js";
import type { Profile } from "./profile.js";
import { answersAll, asksNoMore, foreignWords, numberDiffers, sameRequired, thingsSwapped } from "./score.js";
import { isVerb, sameAct } from "./words.js";

export interface Verdict {
  readonly old: Profile;
  readonly candidate: Candidate;
  /** Distance to the runner-up. */
  readonly margin: number;
  readonly level: "certain" | "proposed";
  readonly evidence: readonly string[];
}
export interface Assignment {
  readonly verdicts: readonly Verdict[];
  /** Best candidates of tools that got no link, best first, at most three each. */
  readonly hints: ReadonlyMap<Profile, readonly Candidate[]>;
}

/** What an exact mode counts as, before the target's standing. */
const EXACT_SCORE = 0.95;
/** Candidates shown for a tool without a link. */
const HINTS = 3;

export function assign(olds: readonly Profile[], targets: readonly Target[], corpus: Corpus, keeper: Keeper): Assignment {
  if (olds.length === 0) return { verdicts: [], hints: new Map() };
  const held = heldTools(olds);
  const methods = targets
    .filter((target) => target.discriminators.length > 0)
    .flatMap((target) => assignModes(held, target, corpus, keeper));
  const candidates = candidatesOf(olds, targets, corpus, keeper);
  for (const method of methods) addMethod(candidates, method, corpus, keeper);
  for (const own of candidates.values()) own.sort(byScore);
  const best = bestSources(candidates);
  const siblings = exactSiblings(methods);
  const verdicts: Verdict[] = [];
  const hints = new Map<Profile, readonly Candidate[]>();
  for (const old of olds) {
    const own = candidates.get(old) ?? [];
    const verdict = verdictOf(old, own, { mutual: best, siblings, corpus }, keeper);
    if (verdict !== undefined) verdicts.push(verdict);
    else hints.set(old, own.slice(0, HINTS));
  }
  return { verdicts, hints };
}

/** A mode replaces the plain comparison with its target: a merged tool is unlike each of its sources. */
function addMethod(candidates: Map<Profile, Candidate[]>, method: AssignedMethod, corpus: Corpus, keeper: Keeper): void {
  const own = candidates.get(method.old) ?? [];
  const plain = own.find((one) => one.target === method.target) ?? candidateOf(method.old, method.target, corpus, keeper);
  const gain = method.target.moved && method.fit.fresh ? 1 : plain.gain;
  const raw = method.fit.exact ? EXACT_SCORE : method.fit.fit * 0.9;
  const score = Math.max(plain.score, raw * standing(method.old, method.target, gain, keeper));
  const rest = own.filter((one) => one !== plain);
  candidates.set(method.old, [...rest, { ...plain, gain, score, method: method.fit }]);
}

/** True unless the target was there, did not change, was not announced, and does something else. */
function couldAlways(candidate: Candidate, corpus: Corpus): boolean {
  const { old, target, likeness, method } = candidate;
  if (target.origin === "added" || target.moved || isAnnounced(old, target) || method?.exact === true) return true;
  if (!actsAgree(candidate)) return false;
  if (answersAll(old, target.profile)) return true;
  const foreign = foreignWords(old, target.profile, corpus);
  const one = !numberDiffers(old, target.profile) || sameRequired(old, target.profile);
  return likeness.coverage >= 0.8 && foreign.dropped.length === 0 && one && asksNoMore(old, target.profile);
}

/** False for a tool whose required mode has no value for what the old one did. */
function modesHaveAct(candidate: Candidate): boolean {
  const { old, target, method } = candidate;
  const modes = target.discriminators.find((one) => one.strong && one.required);
  if (method !== undefined || modes === undefined || old.verb === undefined) return true;
  const verb = old.verb;
  const acts = modes.values.flatMap((value) => value.words.filter(isVerb));
  return acts.length === 0 || acts.some((act) => sameAct(act, verb));
}

/** The one best old tool of each target; none where two are equally good. */
function bestSources(candidates: ReadonlyMap<Profile, readonly Candidate[]>): Map<Target, Candidate | undefined> {
  const best = new Map<Target, Candidate | undefined>();
  const top = new Map<Target, number>();
  for (const own of candidates.values()) {
    for (const one of own) {
      const score = top.get(one.target) ?? 0;
      if (one.score < score) continue;
      best.set(one.target, one.score === score ? undefined : one);
      top.set(one.target, one.score);
    }
  }
  return best;
}

function exactSiblings(methods: readonly AssignedMethod[]): Map<Target, number> {
  const counts = new Map<Target, number>();
  for (const { target, fit } of methods) if (fit.exact) counts.set(target, (counts.get(target) ?? 0) + 1);
  return counts;
}

interface Surroundings {
  readonly mutual: ReadonlyMap<Target, Candidate | undefined>;
  readonly siblings: ReadonlyMap<Target, number>;
  readonly corpus: Corpus;
}

function verdictOf(old: Profile, own: readonly Candidate[], around: Surroundings, keeper: Keeper): Verdict | undefined {
  const [first, second] = own;
  if (first === undefined || !keeper.holds("mode-has-act", modesHaveAct(first))) return undefined;
  const margin = first.score - (second?.score ?? 0);
  const siblings = around.siblings.get(first.target) ?? 0;
  const mutual = around.mutual.get(first.target) === first;
  const certain = certainBecause(first, margin, mutual, siblings, around.corpus, keeper);
  if (certain === undefined && !proposes(first, margin, around.corpus, keeper)) return undefined;
  return {
    old,
    candidate: first,
    margin,
    level: certain === undefined ? "proposed" : "certain",
    evidence: [...(certain === undefined ? [] : [certain]), ...evidenceOf(first, second, siblings)],
  };
}

/** The reason why a link is certain, or undefined. */
function certainBecause(
  first: Candidate,
  margin: number,
  mutual: boolean,
  siblings: number,
  corpus: Corpus,
  keeper: Keeper,
): string | undefined {
  const { likeness, target, method } = first;
  const there = target.origin !== "added" && !isAnnounced(first.old, target);
  if (there && !keeper.reaches("kept-needs-evidence", first.gain)) return undefined;
  if (!keeper.reaches("certain-tie", margin)) return undefined;
  if (method?.exact === true) {
    if (keeper.reaches("method-siblings", siblings)) return `${siblings} tools became modes of it`;
    return keeper.reaches("method-alone", likeness.coverage)
      ? "its mode says what the old tool did, and the parameters are there"
      : undefined;
  }
  if (!keeper.holds("certain-conflict", !likeness.conflict) || !keeper.holds("certain-same-act", actsAgree(first)))
    return undefined;
  if (!keeper.holds("certain-mutual", mutual)) return undefined;
  const foreign = foreignWords(first.old, target.profile, corpus);
  if (!keeper.holds("certain-living-word", !foreign.living)) return undefined;
  const counts = numberDiffers(first.old, target.profile);
  if (!keeper.holds("number-requires", !counts || sameRequired(first.old, target.profile))) return undefined;
  if (!keeper.holds("order-one-word", !thingsSwapped(first.old, target.profile))) return undefined;
  const covered = keeper.reaches("certain-coverage", likeness.coverage) && keeper.reaches("certain-name", likeness.name);
  if (keeper.reaches("certain-text", likeness.text ?? 0) && covered) return "the texts agree and the parameters are there";
  const lone = (foreign.dropped.length === 0) !== (foreign.brought.length === 0);
  const clear = keeper.reaches("certain-score", first.score) && keeper.reaches("certain-margin", margin);
  return clear && keeper.holds("certain-lone-word", !lone)
    ? "name, text and parameters agree, far ahead of any other"
    : undefined;
}

function actsAgree({ old, target }: Candidate): boolean {
  const [before, after] = [old.verb, target.profile.verb];
  return before === undefined || after === undefined || sameAct(before, after);
}

function proposes(first: Candidate, margin: number, corpus: Corpus, keeper: Keeper): boolean {
  const clear = keeper.reaches("proposed-score", first.score) && keeper.reaches("proposed-margin", margin);
  const weak =
    keeper.reaches("proposed-weak-score", first.score) &&
    keeper.reaches("proposed-weak-margin", margin) &&
    keeper.holds("proposed-weak-added", first.target.origin === "added");
  return (clear || weak) && keeper.holds("kept-alias", couldAlways(first, corpus));
}

function evidenceOf(first: Candidate, second: Candidate | undefined, siblings: number): string[] {
  const { likeness, target, method, old } = first;
  const said: string[] = [];
  if (method !== undefined) {
    said.push(`${method.exact ? "its mode" : "its mode, nearly,"} \`${method.label}\` is what the old tool did`);
    if (siblings > 1) said.push(`${siblings} tools fit a mode of it exactly`);
  }
  said.push(`names agree ${percent(likeness.name)}`);
  said.push(likeness.text === undefined ? "no texts to compare" : `texts agree ${percent(likeness.text)}`);
  const count = old.parameters.length;
  said.push(count === 0 ? "the old tool took no parameters" : `${percent(likeness.coverage)} of ${count} parameters covered`);
  if (likeness.conflict) said.push("the names say different acts");
  if (target.origin !== "added") {
    said.push(
      isAnnounced(old, target)
        ? "it came while the old tool was still there, as its successor"
        : `it was there before${target.moved ? " and changed" : " and did not change"}`,
    );
    if (answersAll(old, target.profile)) said.push("it asks no more and answers all that the old tool answered");
    if (first.gain > 0) said.push(`it gained ${percent(first.gain)} of the old tool's own words`);
  }
  if (second !== undefined) said.push(`next candidate \`${second.target.profile.tool.key}\` at ${second.score.toFixed(2)}`);
  return said;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
