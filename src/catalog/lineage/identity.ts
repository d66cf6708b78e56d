/**
 * Identity: the same tool under another spelling.
 *
 * Owns: equality modulo separators and case, of word order, but for a plural, and by digests.
 * Speaks: Profiles; finds pairs that need no score.
 * Never: rules over many tools (bulk.ts).
 */
import type { Keeper } from "./gates.js";
import type { Profile } from "./profile.js";
import { conflicts, likeness, sameRequired, thingsSwapped } from "./score.js";
import type { Corpus } from "./corpus.js";
import { isPlainVerb, singular, verbRole, words } from "./words.js";

export interface Pair {
  readonly old: Profile;
  readonly next: Profile;
  readonly evidence: readonly string[];
  /** 0…1 */
  readonly score: number;
  readonly certain: boolean;
}

/** Texts shorter than this many terms ("Deprecated.") identify nothing. */
const TELLING_TERMS = 3;

type Judge = (old: Profile, next: Profile, corpus: Corpus, keeper: Keeper) => "certain" | "proposed" | undefined;

interface Spelling {
  readonly gate: "unique-name" | "twin-unique";
  readonly says: string;
  readonly key: (profile: Profile) => string;
  readonly judge: Judge;
}

const SPELLINGS: readonly Spelling[] = [
  {
    gate: "unique-name",
    says: "the same name apart from separators and case",
    key: (of) => words(of.tool.name).join(""),
    judge: (old, next, corpus, keeper) =>
      keeper.reaches("spelling-support", kinship(old, next, corpus)) ? "certain" : "proposed",
  },
  {
    gate: "unique-name",
    says: "the same words in the name, one in another place",
    key: (of) =>
      of.words
        .map((word) => word.text)
        .sort()
        .join(" "),
    judge: (old, next, corpus, keeper) => {
      const likely = keeper.reaches("plural-likeness", support(old, next, corpus));
      return likely && keeper.holds("order-one-word", !thingsSwapped(old, next)) ? "certain" : undefined;
    },
  },
  {
    gate: "unique-name",
    says: "the same name apart from a plural",
    key: (of) => of.words.map((word) => singular(word.text)).join(""),
    judge: (old, next, corpus, keeper) =>
      keeper.reaches("plural-likeness", support(old, next, corpus)) && keeper.holds("number-requires", sameRequired(old, next))
        ? "certain"
        : undefined,
  },
  {
    gate: "twin-unique",
    says: "equal contract and equal texts under another name",
    key: (of) => (of.vector.terms.length < TELLING_TERMS ? "" : `${of.tool.digests.contract} ${of.tool.digests.text}`),
    judge: (old, next, _corpus, keeper) => (keeper.holds("twin-conflict", !plainlyConflict(old, next)) ? "certain" : "proposed"),
  },
];

/**
 * Pairs of old and new tools that are one tool by one of the spellings, strongest spelling first. `bystanders` are the
 * tools that stayed: a name or text that one of them shares identifies nothing.
 */
export function identities(
  olds: readonly Profile[],
  news: readonly Profile[],
  bystanders: readonly Profile[],
  corpus: Corpus,
  keeper: Keeper,
): Pair[] {
  const found: Pair[] = [];
  const [takenOld, takenNew] = [new Set<Profile>(), new Set<Profile>()];
  if (olds.length === 0 || news.length === 0) return [];
  for (const spelling of SPELLINGS) {
    const [left, right] = [byKey(olds, spelling), byKey(news, spelling)];
    let staying: ReadonlySet<string> | undefined;
    for (const [key, mine] of left) {
      const theirs = right.get(key) ?? [];
      if (theirs.length === 0) continue;
      staying ??= new Set(bystanders.map(spelling.key));
      const unique = mine.length === 1 && theirs.length === 1 && !staying.has(key);
      if (!keeper.holds(spelling.gate, unique)) continue;
      const [old, next] = [mine.find((one) => !takenOld.has(one)), theirs.find((one) => !takenNew.has(one))];
      if (old === undefined || next === undefined) continue;
      const level = spelling.judge(old, next, corpus, keeper);
      if (level === undefined) continue;
      takenOld.add(old);
      takenNew.add(next);
      const certain = level === "certain";
      found.push({ old, next, evidence: [spelling.says], score: certain ? 1 : 0.7, certain });
    }
  }
  return wholeStyle(found, keeper);
}

/** Where several names were spelt anew and bear it out, those whose texts were rewritten at the same time go with them. */
function wholeStyle(found: readonly Pair[], keeper: Keeper): Pair[] {
  const says = SPELLINGS[0]?.says ?? "";
  const respelt = found.filter((pair) => pair.evidence[0] === says);
  const borneOut = respelt.filter((pair) => pair.certain).length;
  const whole = keeper.reaches("bulk-support", borneOut) && borneOut >= 0.6 * respelt.length;
  return found.map((pair) => (whole && respelt.includes(pair) ? { ...pair, score: 1, certain: true } : pair));
}

/** What bears a spelling out: the better of text likeness, parameters both ways, and an equal contract. */
function kinship(old: Profile, next: Profile, corpus: Corpus): number {
  if (old.tool.digests.contract === next.tool.digests.contract) return 1;
  const alike = likeness(old, next, corpus);
  return Math.max(alike.text ?? 0, old.parameters.length === 0 ? 0 : Math.min(alike.coverage, alike.reverse));
}

/** Equal contracts carry equal annotations: only verbs that plainly read or plainly write can still speak against them. */
function plainlyConflict(old: Profile, next: Profile): boolean {
  const plain = [old.verb, next.verb].every((verb) => verb !== undefined && isPlainVerb(verb) && verbRole(verb) !== "either");
  return plain && conflicts(old, next);
}

type Index = ReadonlyMap<string, readonly Profile[]>;

function byKey(profiles: readonly Profile[], spelling: Spelling): Index {
  const index = new Map<string, Profile[]>();
  for (const profile of profiles) {
    const key = spelling.key(profile);
    if (key === "") continue;
    const same = index.get(key);
    if (same === undefined) index.set(key, [profile]);
    else same.push(profile);
  }
  return index;
}

/** The lesser of text likeness and coverage; without texts only an equal contract supports. */
function support(old: Profile, next: Profile, corpus: Corpus): number {
  const alike = likeness(old, next, corpus);
  if (alike.text === undefined) return old.tool.digests.contract === next.tool.digests.contract ? 1 : 0;
  return Math.min(alike.text, alike.coverage);
}
