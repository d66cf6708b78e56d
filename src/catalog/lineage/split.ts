/**
 * Splits: one old tool whose acts became tools of their own; a merge with roles swapped.
 *
 * Owns: finding the parts of a split among added tools.
 * Speaks: Profiles in, Splits out.
 * Never: one-to-one links (assign.ts).
 */
import { candidatesOf, targetOf } from "./candidates.js";
import type { Keeper } from "./gates.js";
import { assignModes, heldTools } from "./method.js";
import type { HeldTools } from "./method.js";
import { matchParameters } from "./score.js";
import type { Corpus } from "./corpus.js";
import type { Profile } from "./profile.js";
import { isUmbrella, sameAct, stem, verbRole } from "./words.js";

export interface Split {
  readonly old: Profile;
  readonly parts: readonly Profile[];
  readonly level: "certain" | "proposed";
  readonly score: number;
  readonly evidence: readonly string[];
}

/** Splits that the old tools' own mode arguments name. */
export function splitsByModes(
  olds: readonly Profile[],
  news: readonly Profile[],
  kin: Kinship,
  corpus: Corpus,
  keeper: Keeper,
): Split[] {
  if (news.length === 0) return [];
  const held = heldTools(news);
  return claim(olds, news, (old, free) => byModes(old, free, { held, kin }, corpus, keeper));
}

/** Splits that names and texts suggest; never certain. */
export function splitsByWords(olds: readonly Profile[], news: readonly Profile[], kin: Kinship, keeper: Keeper): Split[] {
  return claim(olds, news, (old, free) => byWords(old, free, kin, keeper));
}

/**
 * Parts that a rename of a verb left over: `x_get` that became `x_details` may have become `x_list` too. Only reading tools of
 * the very same nouns count.
 */
export function leftoverParts(old: Profile, next: Profile, free: Free, kin: Kinship): Profile[] {
  if (old.verb === undefined || next.verb === undefined || old.verb === next.verb || verbRole(old.verb) !== "read") return [];
  const nouns = [...old.nouns].sort().join(" ");
  const reads = (part: Profile): boolean => part.verb !== undefined && verbRole(part.verb) === "read";
  return free
    .among(kin.partsOf(old))
    .filter((part) => reads(part) && [...part.nouns].sort().join(" ") === nouns && kin.own(old, part));
}

/** New tools that nothing has claimed yet. */
export interface Free {
  /** Those of these that are free, in the order of the listing; of all where it is undefined. */
  among(parts: ReadonlySet<Profile> | undefined): readonly Profile[];
  has(part: Profile): boolean;
}

export function freeOf(news: readonly Profile[], taken: ReadonlySet<Profile>): Free {
  const places = new Map(news.map((next, at) => [next, at]));
  const has = (part: Profile): boolean => places.has(part) && !taken.has(part);
  const place = (part: Profile): number => places.get(part) ?? 0;
  return {
    has,
    among: (parts) => (parts === undefined ? news.filter(has) : [...parts].filter(has).sort((a, b) => place(a) - place(b))),
  };
}

/** Each new tool is part of one split at most. */
function claim(
  olds: readonly Profile[],
  news: readonly Profile[],
  find: (old: Profile, free: Free) => Split | undefined,
): Split[] {
  if (news.length === 0) return [];
  const taken = new Set<Profile>();
  const free = freeOf(news, taken);
  return olds.flatMap((old) => {
    const split = find(old, free);
    if (split === undefined) return [];
    split.parts.forEach((part) => taken.add(part));
    return [split];
  });
}

/** How a part likens an old tool, roles swapped: as if the part had left and the old tool had been added. */
export interface Kinship {
  readonly score: (old: Profile, part: Profile) => number;
  /** No other old tool is a better source of the part. */
  readonly own: (old: Profile, part: Profile) => boolean;
  /** The new tools of which the old one may be the source; undefined where the gates leave any. */
  readonly partsOf: (old: Profile) => ReadonlySet<Profile> | undefined;
}

export function kinshipOf(olds: readonly Profile[], news: readonly Profile[], corpus: Corpus, keeper: Keeper): Kinship {
  const wholes = news.length === 0 ? [] : olds.map((old) => targetOf(old, undefined, "added", new Set()));
  const sources = candidatesOf(news, wholes, corpus, keeper);
  const parts = new Map<Profile, Set<Profile>>();
  for (const [part, own] of sources) {
    for (const { target } of own) {
      const known = parts.get(target.profile);
      if (known === undefined) parts.set(target.profile, new Set([part]));
      else known.add(part);
    }
  }
  const score = (old: Profile, part: Profile): number => sources.get(part)?.find((one) => one.target.profile === old)?.score ?? 0;
  const own = (old: Profile, part: Profile): boolean => {
    const best = sources.get(part)?.find((one) => one.target.profile !== old)?.score ?? 0;
    return keeper.holds("split-own-best", best < score(old, part));
  };
  // A part for which the old tool scores nothing is none of its own, unless that is not asked.
  const isOpen = keeper.holds("split-own-best", false);
  return { score, own, partsOf: (old) => (isOpen ? undefined : (parts.get(old) ?? NONE)) };
}

const NONE: ReadonlySet<Profile> = new Set();

/** The old tool's mode argument names what each part does. */
function byModes(
  old: Profile,
  free: Free,
  { held, kin }: { readonly held: HeldTools; readonly kin: Kinship },
  corpus: Corpus,
  keeper: Keeper,
): Split | undefined {
  const whole = targetOf(old, undefined, "added", new Set());
  if (whole.discriminators.length === 0) return undefined;
  const fits = assignModes(held, whole, corpus, keeper, free.has);
  const exact = fits.filter((one) => one.fit.exact);
  if (exact.length === 0 || !keeper.reaches("split-parts", exact.length)) return undefined;
  const named = fits.map((one) => one.old);
  const more = free.among(kin.partsOf(old)).filter((part) => !named.includes(part) && isPart(old, part, kin, keeper));
  return {
    old,
    parts: [...named, ...more],
    level: "certain",
    score: 0.95,
    evidence: [
      `${exact.length} tools are what its modes were`,
      ...fits.map((one) => `\`${one.fit.label}\` is ${one.fit.exact ? "" : "nearly "}\`${one.old.tool.key}\` now`),
    ],
  };
}

/**
 * No mode argument: each part carries the old tool's nouns, or the old text announces what sets the part apart, or none of
 * them takes all of the old parameters while together they do.
 */
function byWords(old: Profile, free: Free, kin: Kinship, keeper: Keeper): Split | undefined {
  const news = free.among(kin.partsOf(old));
  const named = news.filter((part) => isPart(old, part, kin, keeper));
  const shares = news.filter((part) => isShare(old, part, kin, keeper));
  const parts = (named.length < 2 && complete(old, shares) ? shares : named)
    .map((part) => ({ part, score: kin.score(old, part) }))
    .sort((a, b) => b.score - a.score || (a.part.tool.key < b.part.tool.key ? -1 : 1));
  const [first] = parts;
  if (first === undefined || !keeper.reaches("split-parts", parts.length)) return undefined;
  return {
    old,
    parts: parts.map((one) => one.part),
    level: "proposed",
    score: first.score,
    evidence: [
      `${parts.length} added tools share its words`,
      ...parts.map((one) => `\`${one.part.tool.key}\` at ${one.score.toFixed(2)}`),
    ],
  };
}

function isPart(old: Profile, part: Profile, kin: Kinship, keeper: Keeper): boolean {
  return announces(old, part) && keeper.reaches("split-likeness", kin.score(old, part)) && kin.own(old, part);
}

/** A tool that is likest to the old one and may have taken over a share of it. */
function isShare(old: Profile, part: Profile, kin: Kinship, keeper: Keeper): boolean {
  return keeper.reaches("split-likeness", kin.score(old, part)) && kin.own(old, part);
}

/** Together the shares take every required parameter of the old tool, and no one of them does alone. */
function complete(old: Profile, shares: readonly Profile[]): boolean {
  const required = old.parameters.filter((parameter) => parameter.required);
  const takes = (part: Profile): number => {
    const matched = matchParameters(required, part.parameters);
    required.forEach((parameter) => matched.has(parameter) && together.add(parameter.name));
    return matched.size;
  };
  const together = new Set<string>();
  const alone = Math.max(0, ...shares.map(takes));
  return required.length >= 2 && alone < required.length && together.size === required.length;
}

/** The part does what the old tool's verb or text covers, on the old tool's nouns or on things its text names. */
function announces(old: Profile, part: Profile): boolean {
  const act = part.verb === undefined || old.vocabulary.has(stem(part.verb)) || covers(old, part.verb);
  if (!act) return false;
  const stems = new Set(part.words.map((word) => word.stem));
  const within = old.nouns.length > 0 && old.nouns.every((noun) => stems.has(noun));
  return within || part.nouns.every((noun) => old.vocabulary.has(noun));
}

/** The old tool's verb is an umbrella over the part's, or the same act, or both read. */
function covers(old: Profile, verb: string): boolean {
  if (old.verb === undefined) return false;
  if (isUmbrella(old.verb)) return verbRole(old.verb) === "either" || verbRole(old.verb) === verbRole(verb);
  return sameAct(old.verb, verb) || (verbRole(old.verb) === "read" && verbRole(verb) === "read");
}
