/**
 * Query: what a need asks for, as groups of terms.
 *
 * Owns: which words of a need count, their weights, their stand-ins (synonyms, compounds, look-alikes), its clauses.
 * Speaks: terms; asks a vocabulary what it knows.
 * Never: documents or ranks.
 */
import type { TextScoring } from "./score.js";
import { stem } from "./stem.js";
import { synonymsOf } from "./synonyms.js";
import { tokenise } from "./tokens.js";
import { REQUEST_WORDS, STOP_WORDS } from "./words.js";

/** Words of a need that are looked at; what follows adds cost and no meaning. */
export const QUERY_WORDS_MAX = 400;
/** Clauses of a need that are ranked on their own. */
const CLAUSES_MAX = 24;
const LOOK_ALIKES = 2;
const GRAM = 4;

/** What may stand for a word of the need. */
export interface Alternative {
  readonly term: string;
  readonly factor: number;
  /** It merely looks like the word. */
  readonly guessed: boolean;
}

/** One meaning of the need: a word and what may stand for it. */
export interface TermGroup {
  /** The stem of the word as written. */
  readonly term: string;
  /** The word as written, for people. */
  readonly word: string;
  /** Two neighbouring words written as one. */
  readonly joined: boolean;
  /** n·2/(n+1) for n occurrences. */
  readonly weight: number;
  readonly alternatives: readonly Alternative[];
}

export interface ParsedQuery {
  readonly groups: readonly TermGroup[];
  /** Per clause (two or more of them, of two or more words each): number of group → weight there. */
  readonly clauses: readonly ReadonlyMap<number, number>[];
  /** The stems of the need's words in their order. */
  readonly sequence: readonly string[];
}

export interface Vocabulary {
  knows(term: string): boolean;
  /** Terms that share 4-grams with an unknown one, with the Jaccard resemblance, best first. */
  lookAlikes(term: string, least: number, count: number): readonly { readonly term: string; readonly likeness: number }[];
}

/** The words of a need that say what is needed: without function words and words of asking, unless nothing else is there. */
export function needWords(text: string): string[] {
  const words = tokenise(text).slice(0, QUERY_WORDS_MAX);
  const meant = words.filter((word) => !STOP_WORDS.has(word) && !REQUEST_WORDS.has(word));
  if (meant.length > 0) return meant;
  const asked = words.filter((word) => !STOP_WORDS.has(word));
  return asked.length > 0 ? asked : words;
}

export function parseQuery(text: string, vocabulary: Vocabulary, scoring: TextScoring): ParsedQuery {
  const stems = remembered(stem);
  const words = needWords(text);
  const numberOf = new Map<string, number>();
  const counted: { term: string; word: string; count: number }[] = [];
  for (const word of words) {
    const term = stems(word);
    const known = numberOf.get(term);
    const entry = known === undefined ? undefined : counted[known];
    if (entry !== undefined) entry.count++;
    else {
      numberOf.set(term, counted.length);
      counted.push({ term, word, count: 1 });
    }
  }
  const groups: TermGroup[] = counted.map(({ term, word, count }) => ({
    term,
    word,
    joined: false,
    weight: saturated(count),
    alternatives: alternatives(term, vocabulary, scoring),
  }));
  for (const term of compounds(words, numberOf)) {
    if (!vocabulary.knows(term)) continue;
    numberOf.set(term, groups.length);
    groups.push({
      term,
      word: term,
      joined: true,
      weight: scoring.compound,
      alternatives: [{ term, factor: 1, guessed: false }],
    });
  }
  return { groups, clauses: clausesOf(text, numberOf, stems), sequence: words.map(stems) };
}

/** A need says its words again and again: whole, in clauses, in pairs. */
function remembered(work: (word: string) => string): (word: string) => string {
  const known = new Map<string, string>();
  return (word) => {
    let result = known.get(word);
    if (result === undefined) {
      result = work(word);
      known.set(word, result);
    }
    return result;
  };
}

function saturated(count: number): number {
  return (count * 2) / (count + 1);
}

function alternatives(term: string, vocabulary: Vocabulary, scoring: TextScoring): Alternative[] {
  const list: Alternative[] = [];
  if (vocabulary.knows(term)) list.push({ term, factor: 1, guessed: false });
  else if (scoring.fuzzy > 0) {
    for (const { term: other, likeness } of vocabulary.lookAlikes(term, scoring.fuzzyLeast, LOOK_ALIKES)) {
      list.push({ term: other, factor: scoring.fuzzy * likeness, guessed: true });
    }
  }
  if (scoring.synonym > 0) {
    for (const other of synonymsOf(term))
      if (vocabulary.knows(other)) list.push({ term: other, factor: scoring.synonym, guessed: false });
  }
  return list;
}

/** Neighbouring words written as one: `git hub` also asks for `github`. */
function compounds(words: readonly string[], have: ReadonlyMap<string, number>): Set<string> {
  const found = new Set<string>();
  for (let i = 1; i < words.length; i++) {
    const term = stem(`${words[i - 1] ?? ""}${words[i] ?? ""}`);
    if (!have.has(term)) found.add(term);
  }
  return found;
}

// Ends of sentences, and where one wish in a list of wishes ends.
const CLAUSE_END = /(?<=[.!?;:])\s+|[。！？；\n]+|,\s+|\s[—–-]\s|—|\b(?:and|then|also)\b/iu;

function clausesOf(
  text: string,
  numberOf: ReadonlyMap<string, number>,
  stems: (word: string) => string,
): ReadonlyMap<number, number>[] {
  const clauses: Map<number, number>[] = [];
  for (const clause of text.split(CLAUSE_END)) {
    const counts = new Map<number, number>();
    for (const word of needWords(clause)) {
      const number = numberOf.get(stems(word));
      if (number !== undefined) counts.set(number, (counts.get(number) ?? 0) + 1);
    }
    if (counts.size >= 2) clauses.push(new Map([...counts].map(([number, count]) => [number, saturated(count)])));
    if (clauses.length === CLAUSES_MAX) break;
  }
  return clauses.length >= 2 ? clauses : [];
}

/** Overlapping runs of four characters, the word's edges marked. */
export function grams(term: string): Set<string> {
  const marked = `^${term}$`;
  const found = new Set<string>();
  for (let i = 0; i + GRAM <= marked.length; i++) found.add(marked.slice(i, i + GRAM));
  if (found.size === 0) found.add(marked);
  return found;
}
