/**
 * Identity: the same tool under another spelling.
 *
 * Owns: equality modulo separators and case, of word order, but for a plural, and by digests.
 * Speaks: Profiles; finds pairs that need no score.
 * Never: rules over many tools (bulk.ts).
 */
import type { Keeper } from "./gates.js";
import type { Profile } from "./profile.js";
import { conflicts, likeness } from "./score.js";
import type { Corpus } from "./profile.js";
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

interface Spelling {
  readonly key: (profile: Profile) => string;
  readonly says: string;
  /** Weaker spellings ask for likeness beside the name. */
  readonly needsLikeness: boolean;
}

const SPELLINGS: readonly Spelling[] = [
  { key: (of) => words(of.tool.name).join(""), says: "the same name apart from separators and case", needsLikeness: false },
  { key: (of) => of.words.map((word) => word.text).sort().join(" "), says: "the same words in the name in another order", needsLikeness: true },
  { key: (of) => of.words.map((word) => singular(word.text)).join(""), says: "the same name apart from a plural", needsLikeness: true },
  {
    key: (of) => (of.text.size < TELLING_TERMS ? "" : `${of.tool.digests.contract} ${of.tool.digests.text}`),
    says: "equal contract and equal texts under another name",
    needsLikeness: false,
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
  for (const spelling of SPELLINGS) {
    const [left, right, staying] = [olds, news, bystanders].map((side) => byKey(side, spelling)) as [Index, Index, Index];
    for (const [key, mine] of left) {
      const theirs = right.get(key) ?? [];
      const unique = mine.length === 1 && theirs.length === 1 && !staying.has(key);
      const gate = spelling.key === SPELLINGS.at(-1)?.key ? "twin-unique" : "unique-name";
      if (theirs.length === 0 || !keeper.holds(gate, unique)) continue;
      const [old, next] = [mine.find((one) => !takenOld.has(one)), theirs.find((one) => !takenNew.has(one))];
      if (old === undefined || next === undefined) continue;
      if (spelling.needsLikeness && !keeper.reaches("plural-likeness", support(old, next, corpus))) continue;
      takenOld.add(old);
      takenNew.add(next);
      const conflict = spelling.says.startsWith("equal") && plainlyConflict(old, next);
      found.push({
        old,
        next,
        evidence: [spelling.says],
        score: conflict ? 0.7 : 1,
        certain: keeper.holds("certain-conflict", !conflict),
      });
    }
  }
  return found;
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
    index.set(key, [...(index.get(key) ?? []), profile]);
  }
  return index;
}

/** The lesser of text likeness and coverage; without texts only an equal contract supports. */
function support(old: Profile, next: Profile, corpus: Corpus): number {
  const alike = likeness(old, next, corpus);
  if (alike.text === undefined) return old.tool.digests.contract === next.tool.digests.contract ? 1 : 0;
  return Math.min(alike.text, alike.coverage);
}
