/**
 * The words of tool names and texts, as lineage compares them.
 *
 * Owns: splitting names, light stemming, verb groups and their kinship.
 * Speaks: lower-case words.
 * Never: weights or thresholds (gates.ts), retrieval's tokeniser (other needs: there recall, here kinship).
 */

/** Splits a name on separators, case changes and digits' edges kept: `getPRDiff`, `get-pr_diff` → get, pr, diff. */
export function words(name: string): string[] {
  return /^[ -~\s]*$/.test(name) ? plainWords(name) : anyWords(name);
}

function anyWords(name: string): string[] {
  return name
    .normalize("NFKC")
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** What `anyWords` gives for plain ASCII (and any spaces), in one pass: every text of an upstream is read by it. */
function plainWords(name: string): string[] {
  const found: string[] = [];
  let from = 0;
  let before = OTHER;
  for (let at = 0; at <= name.length; at += 1) {
    const kind = kindAt(name, at);
    const begins = kind === UPPER && (before === SMALL || (before === UPPER && isLower(name, at + 1)));
    if (kind === OTHER || begins) {
      if (at > from) found.push(name.slice(from, at).toLowerCase());
      from = kind === OTHER ? at + 1 : at;
    }
    before = kind;
  }
  return found;
}

const [OTHER, UPPER, SMALL] = [0, 1, 2];

/** A capital, a small letter or digit, or what stands between words (the end included). */
function kindAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 0x41 && code <= 0x5a) return UPPER;
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) ? SMALL : OTHER;
}

function isLower(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x61 && code <= 0x7a;
}

/** A word with what is asked of it again and again. */
export interface Word {
  readonly text: string;
  readonly stem: string;
  readonly verb: boolean;
}

export function wordOf(text: string): Word {
  return { text, stem: stem(text), verb: isVerb(text) };
}

const STOP = new Set(
  (
    "a an and any are as at be by can for from has have if in into is it its may of on only or per so than that the their them then there " +
    "these this those to use used using via when where which will with you your each all also not no but"
  ).split(" "),
);

export function isStopWord(word: string): boolean {
  return STOP.has(word);
}

/**
 * A light stem: plural and the regular verb endings. Refused: Porter. It joins words that name different tools
 * (`organization`/`organ`), and lineage loses more by a false kinship than by a missed one.
 */
export function stem(word: string): string {
  if (word.length < 4) return word;
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:s|x|z|ch|sh)es$/.test(word) && word.length > 5) return word.slice(0, -2);
  if (word.endsWith("s") && !/(?:ss|us|is)$/.test(word)) return stem(word.slice(0, -1));
  if (word.endsWith("ing") && word.length > 6) return undouble(word.slice(0, -3));
  if (word.endsWith("ed") && word.length > 5) return undouble(word.slice(0, -2));
  if (word.endsWith("e") && word.length > 4) return word.slice(0, -1);
  return word;
}

function undouble(word: string): string {
  if (/([bdgmnprt])\1$/.test(word)) return word.slice(0, -1);
  return word.endsWith("e") && word.length > 4 ? word.slice(0, -1) : word;
}

/** Singular form only, for "the same name but for a plural". */
export function singular(word: string): string {
  if (word.length < 4) return word;
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:x|z|ch|sh|ss)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith("s") && !/(?:ss|us|is)$/.test(word) ? word.slice(0, -1) : word;
}

/** Words of a name beyond this are not compared, and longer words not taken apart: no honest name has them. */
const MOST_WORDS = 40;
const LONGEST_COMPOUND = 40;

/** `setparam` → set, param and `sessionhost` → session, host, where both parts stand as words in the catalog's names. */
export function splitCompounds(parts: readonly string[], vocabulary: ReadonlySet<string>): string[] {
  return parts.slice(0, MOST_WORDS).flatMap((part) => {
    if (part.length > LONGEST_COMPOUND) return [part];
    for (let cut = part.length - 3; cut >= 3; cut--) {
      const [head, tail] = [part.slice(0, cut), part.slice(cut)];
      if ((vocabulary.has(head) || isVerb(head)) && (vocabulary.has(tail) || isVerb(tail))) return [head, tail];
    }
    return [part];
  });
}

/** Terms of free text: stems without stop words, one-letter words dropped. */
export function terms(text: string): string[] {
  return words(text).flatMap((word) => termOf(word) ?? []);
}

/** What a word counts as in free text; undefined for one that counts for nothing. */
export function termOf(word: string): string | undefined {
  return word.length > 1 && !isStopWord(word) ? stem(word) : undefined;
}

/** What a verb does to the world; `either` where its kind depends on the object (run, open, export). */
export type VerbRole = "read" | "write" | "either";

interface VerbGroup {
  readonly id: string;
  readonly role: VerbRole;
  readonly words: string;
}

/**
 * Verbs that mean the same in tool names. A word may stand in several groups (`set` creates or updates);
 * two words are kin when they share one. `manage`, `write` and `read` are umbrellas: they stand over other groups.
 */
const VERB_GROUPS: readonly VerbGroup[] = [
  { id: "get", role: "read", words: "get fetch retrieve show describe view load obtain inspect details detail read" },
  { id: "list", role: "read", words: "list ls enumerate browse" },
  { id: "search", role: "read", words: "search find query lookup discover" },
  { id: "check", role: "read", words: "check validate verify diagnose analyze analyse audit" },
  { id: "count", role: "read", words: "count" },
  { id: "create", role: "write", words: "create add new insert make register append post put save provision" },
  { id: "update", role: "write", words: "update edit modify patch change set put save adjust reprioritize configure" },
  { id: "delete", role: "write", words: "delete remove destroy drop purge erase unregister clear" },
  { id: "send", role: "write", words: "send publish notify emit post" },
  { id: "cancel", role: "write", words: "cancel abort revoke void" },
  { id: "approve", role: "write", words: "approve accept" },
  { id: "reject", role: "write", words: "reject decline deny dismiss" },
  { id: "assign", role: "write", words: "assign attach link bind" },
  { id: "unassign", role: "write", words: "unassign detach unlink unbind" },
  { id: "enable", role: "write", words: "enable activate" },
  { id: "disable", role: "write", words: "disable deactivate" },
  { id: "lock", role: "write", words: "lock" },
  { id: "unlock", role: "write", words: "unlock" },
  { id: "move", role: "write", words: "move rename transfer" },
  { id: "copy", role: "write", words: "copy clone duplicate fork" },
  { id: "merge", role: "write", words: "merge" },
  { id: "submit", role: "write", words: "submit" },
  { id: "upload", role: "write", words: "upload import" },
  { id: "download", role: "read", words: "download export" },
  { id: "run", role: "either", words: "run execute invoke trigger start launch call perform" },
  { id: "rerun", role: "either", words: "rerun retry restart" },
  { id: "stop", role: "either", words: "stop terminate kill halt" },
  { id: "open", role: "either", words: "open" },
  { id: "close", role: "either", words: "close" },
  { id: "generate", role: "either", words: "generate" },
];

/** Umbrella verbs name no single act: what they do stands in a mode argument. */
const UMBRELLAS: ReadonlyMap<string, VerbRole> = new Map([
  ["manage", "either"],
  ["handle", "either"],
  ["operate", "either"],
  ["control", "either"],
  ["write", "write"],
  ["read", "read"],
]);

const GROUPS_OF: ReadonlyMap<string, readonly VerbGroup[]> = indexVerbs();

function indexVerbs(): Map<string, readonly VerbGroup[]> {
  const index = new Map<string, VerbGroup[]>();
  for (const group of VERB_GROUPS) {
    for (const word of group.words.split(" ")) {
      index.set(word, [...(index.get(word) ?? []), group]);
    }
  }
  return index;
}

export function isUmbrella(word: string): boolean {
  return UMBRELLAS.has(word);
}

/** In its plain form only: `links` is a noun. */
export function isVerb(word: string): boolean {
  return GROUPS_OF.has(word) || UMBRELLAS.has(word);
}

/** Verbs that are as often nouns in tool names (`test_run`, `search_index`): they count where no plainer verb stands. */
const NOUNISH = new Set(
  (
    "run query search view lock link call start open close load post set fork clone copy import export count details detail " +
    "move patch submit upload download stop check audit duplicate attach bind void control register transfer merge"
  ).split(" "),
);

/** A verb that is hardly ever a noun. */
export function isPlainVerb(word: string): boolean {
  return isVerb(word) && !NOUNISH.has(word);
}

/** The verb stands where the catalog mostly puts it (front or end), else at the other side, else anywhere. */
export function verbOf(parts: readonly string[], verbFirst: boolean): string | undefined {
  const order = verbFirst ? [...parts] : [...parts].reverse();
  const ends = [order[0], order.at(-1)].filter((word) => word !== undefined);
  return ends.find(isPlainVerb) ?? order.find(isPlainVerb) ?? ends.find(isVerb) ?? order.find(isVerb);
}

export function verbRole(word: string): VerbRole | undefined {
  const umbrella = UMBRELLAS.get(word);
  if (umbrella !== undefined) return umbrella;
  const roles = new Set(groupsOf(word).map((group) => group.role));
  if (roles.size === 0) return undefined;
  const [only] = roles;
  return roles.size === 1 ? only : "either";
}

function groupsOf(word: string): readonly VerbGroup[] {
  return GROUPS_OF.get(word) ?? [];
}

/** True if the two verbs mean the same act (share a group). */
export function sameAct(a: string, b: string): boolean {
  if (a === b) return true;
  const groups = groupsOf(a);
  return groupsOf(b).some((group) => groups.includes(group));
}

/** Kinship of two verbs, 0…1: 1 the same word, .9 the same act, .6 both read or an umbrella over the other, 0 otherwise. */
export function verbKinship(a: string, b: string): number {
  if (a === b) return 1;
  if (sameAct(a, b)) return 0.9;
  const [roleA, roleB] = [verbRole(a), verbRole(b)];
  if (isUmbrella(a) || isUmbrella(b)) return roleA === roleB || roleA === "either" || roleB === "either" ? 0.6 : 0;
  return roleA === "read" && roleB === "read" ? 0.6 : 0;
}

/**
 * True where two verbs exclude one another: one reads and the other writes, or both write and share no act.
 * Umbrellas exclude only what they do not cover.
 */
export function verbsConflict(a: string, b: string): boolean {
  const [roleA, roleB] = [verbRole(a), verbRole(b)];
  if (roleA === undefined || roleB === undefined) return false;
  if (sameAct(a, b)) return false;
  if (isUmbrella(a) || isUmbrella(b)) return roleA !== roleB && roleA !== "either" && roleB !== "either";
  if (roleA === "read" && roleB === "read") return false;
  return true;
}
