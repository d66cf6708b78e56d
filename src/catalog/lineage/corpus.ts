/**
 * Corpus: what the words of one upstream's tools weigh.
 *
 * Owns: inverse document frequencies, reading each tool's name and text once.
 * Speaks: Tools in, weights and words out.
 * Never: one tool's profile (profile.ts), comparing two (score.ts).
 */
import type { Tool } from "../../model/tool.js";
import { splitCompounds, termOf, wordOf, words } from "./words.js";
import type { Word } from "./words.js";

/** Word statistics of one upstream's tools, those that left and those that are there. */
export interface Corpus {
  /** Names in words before compounds were split. */
  readonly vocabulary: ReadonlySet<string>;
  readonly verbFirst: boolean;
  /** The tool's name in words, compounds split. */
  wordsOf(tool: Tool): readonly Word[];
  nameWeight(stemmed: string): number;
  /** Weight of a word in a name. */
  weightOf(word: Word): number;
  textWeight(stemmed: string): number;
  /** Tools that had this stem in their names before this version, and that have it now. */
  namedBefore(stemmed: string): number;
  namedAfter(stemmed: string): number;
  /** Most tools carried the word before, or carry it now: a product's prefix or suffix. */
  isAffix(stemmed: string): boolean;
  /** tf-idf of the tool's title and description, unit length; empty without text. */
  vectorOf(tool: Tool): TextVector;
  /** A third tool has the text of one of the two: boilerplate that tells nothing. */
  isShared(old: Spoken, next: Spoken): boolean;
}

/** Terms in the order in which they are said first, each once, with their weights. */
export interface TextVector {
  readonly terms: readonly string[];
  readonly weights: readonly number[];
}

/** Whose text is meant. */
export interface Spoken {
  readonly tool: Tool;
}

/** What a corpus reads of a tool, once. */
interface Sheet {
  readonly words: readonly Word[];
  /** Terms of title and description as they are said, in numbers. */
  readonly said: readonly number[];
}

/** Statistics over the tools of one upstream: as they were before this version, and as they are in it. */
export function corpusOf(before: readonly Tool[], after: readonly Tool[]): Corpus {
  const all = [...new Set([...before, ...after])];
  const spelt = new Map(all.map((tool) => [tool, words(tool.name)]));
  const vocabulary = new Set([...spelt.values()].flat());
  const read = memo(wordOf);
  const terms = new Terms();
  const sheetOf = memo((tool: Tool): Sheet => ({
    words: splitCompounds(spelt.get(tool) ?? words(tool.name), vocabulary).map(read),
    said: terms.read(toldText(tool)),
  }));
  const distinct = [...new Map([...after, ...before].map((tool) => [tool.key, tool])).values()];
  const texts = terms.spread(distinct.map((tool) => sheetOf(tool).said));
  const names = (tools: readonly Tool[]): Map<string, number> => countStems(tools.map((tool) => sheetOf(tool).words));
  const [named, was, is] = [names(distinct), names(before), names(after)];
  const verbs = (place: (parts: readonly Word[]) => Word | undefined): number =>
    distinct.filter((tool) => place(sheetOf(tool).words)?.verb === true).length;
  const nameWeight = memo((stemmed: string) => inverse(distinct.length, named.get(stemmed) ?? 0));
  const textWeight = memo((stemmed: string) => inverse(distinct.length, texts.get(stemmed) ?? 0));
  return {
    vocabulary,
    verbFirst: verbs((parts) => parts[0]) >= verbs((parts) => parts.at(-1)),
    wordsOf: (tool) => sheetOf(tool).words,
    nameWeight,
    weightOf: (word) => nameWeight(word.stem) * (word.verb ? VERB_WEIGHT : 1),
    textWeight,
    namedBefore: (stemmed) => was.get(stemmed) ?? 0,
    namedAfter: (stemmed) => is.get(stemmed) ?? 0,
    isAffix: (stemmed) =>
      (was.get(stemmed) ?? 0) > AFFIX_SHARE * before.length || (is.get(stemmed) ?? 0) > AFFIX_SHARE * after.length,
    vectorOf: (tool) => vectorOf(terms.spelt(sheetOf(tool).said), textWeight),
    isShared: sharing(all, (tool) => sheetOf(tool).said),
  };
}

/** The same function, that works out each answer once; it lives as long as the corpus does. */
function memo<Key, Value extends object | number>(work: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => {
    let value = known.get(key);
    if (value === undefined) known.set(key, (value = work(key)));
    return value;
  };
}

/** Terms of texts in numbers: texts say the same few thousand words again and again. */
class Terms {
  /** Word as written → number of its term, or −1 for one that counts for nothing. */
  readonly #byWord = new Map<string, number>();
  readonly #byTerm = new Map<string, number>();
  readonly #terms: string[] = [];

  read(text: string): number[] {
    const said: number[] = [];
    for (const word of words(text)) {
      const term = this.#byWord.get(word) ?? this.#learn(word);
      if (term >= 0) said.push(term);
    }
    return said;
  }

  #learn(word: string): number {
    const term = termOf(word);
    const number = term === undefined ? -1 : (this.#byTerm.get(term) ?? this.#terms.push(term) - 1);
    if (term !== undefined) this.#byTerm.set(term, number);
    this.#byWord.set(word, number);
    return number;
  }

  spelt(said: readonly number[]): string[] {
    return said.map((term) => this.#terms[term] ?? "");
  }

  /** Term → in how many of these texts it is said. */
  spread(texts: readonly (readonly number[])[]): Map<string, number> {
    const counts = new Uint32Array(this.#terms.length);
    const last = new Int32Array(this.#terms.length).fill(-1);
    texts.forEach((said, at) => {
      for (const term of said) {
        if (last[term] === at) continue;
        last[term] = at;
        counts[term] = (counts[term] ?? 0) + 1;
      }
    });
    return new Map(this.#terms.map((term, at) => [term, counts[at] ?? 0]));
  }
}

/** Stem → names that have it. */
function countStems(names: readonly (readonly Word[])[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names)
    name.forEach(({ stem }, at) => {
      if (name.findIndex((other) => other.stem === stem) === at) counts.set(stem, (counts.get(stem) ?? 0) + 1);
    });
  return counts;
}

/** Has a third of these tools the text of one of the two? */
function sharing(tools: readonly Tool[], saidBy: (tool: Tool) => readonly number[]): Corpus["isShared"] {
  let sayers: Map<string, Set<string>> | undefined;
  const textOf = memo((tool: Tool) => ({ text: saidBy(tool).join(" ") }));
  return (old, next) => {
    sayers ??= sayersOf(tools, (tool) => textOf(tool).text);
    for (const { tool } of [old, next]) {
      const keys = sayers.get(textOf(tool).text) ?? new Set();
      if (keys.size > Number(keys.has(old.tool.key)) + Number(keys.has(next.tool.key))) return true;
    }
    return false;
  };
}

/** Text → keys of the tools that have it. */
function sayersOf(tools: readonly Tool[], textOf: (tool: Tool) => string): Map<string, Set<string>> {
  const sayers = new Map<string, Set<string>>();
  for (const tool of tools) {
    const keys = sayers.get(textOf(tool));
    if (keys === undefined) sayers.set(textOf(tool), new Set([tool.key]));
    else keys.add(tool.key);
  }
  return sayers;
}

/** Weight of a verb beside a noun in names: verbs are few and shared, nouns tell tools apart. */
const VERB_WEIGHT = 0.8;
/** Share of names from which on a word is the product's, not the tool's. */
const AFFIX_SHARE = 0.6;

/** Smoothed idf; the floor keeps a word that every tool carries (a product prefix) from weighing nothing at all. */
function inverse(size: number, frequency: number): number {
  return Math.max(0.1, Math.log(1 + (size - frequency + 0.5) / (frequency + 0.5)));
}

function toldText(tool: Tool): string {
  return `${tool.title ?? ""}\n${tool.description}`;
}

/** Terms of any text, weighed as those of the corpus. */
export function textVector(said: readonly string[], corpus: Corpus): ReadonlyMap<string, number> {
  return asMap(vectorOf(said, corpus.textWeight));
}

export function asMap({ terms, weights }: TextVector): ReadonlyMap<string, number> {
  return new Map(terms.map((term, at) => [term, weights[at] ?? 0]));
}

function vectorOf(said: readonly string[], weigh: (term: string) => number): TextVector {
  const places = new Map<string, number>();
  const terms: string[] = [];
  const counts: number[] = [];
  for (const term of said) {
    const at = places.get(term) ?? terms.push(term) - 1;
    places.set(term, at);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  let square = 0;
  const weights = terms.map((term, at) => {
    const weight = (1 + Math.log(counts[at] ?? 1)) * weigh(term);
    square += weight * weight;
    return weight;
  });
  const length = Math.sqrt(square);
  return { terms, weights: weights.map((weight) => weight / length) };
}
