/**
 * Vocabulary: what an index knows of words, and which known words resemble an unknown one.
 *
 * Resemblance is found by shared 4-grams. The table of grams grows with the shared arrays of the index; whether a term
 * counts is asked of the face, so older and newer faces both answer rightly.
 */
import type { Bm25fIndex } from "./bm25f.js";
import { isKnown } from "./bm25f.js";
import type { Vocabulary } from "./query.js";
import { grams } from "./query.js";

/** Terms shorter than this, or with anything but letters, resemble nothing. */
const LETTERS_LEAST = 4;
const PLAIN = /^\p{L}+$/u;

interface GramTable {
  readonly termsOf: Map<string, number[]>;
  /** Terms entered so far. */
  entered: number;
}
const tables = new WeakMap<object, GramTable>();

/** Enters terms of the index into its gram table, at most `count`; otherwise the first unknown word pays for it. True when all are in. */
export function prepareVocabulary(index: Bm25fIndex<unknown>, count = Infinity): boolean {
  return gramTable(index, count).entered === index.shared.terms.length;
}

function gramTable(index: Bm25fIndex<unknown>, count = Infinity): GramTable {
  let table = tables.get(index.shared);
  if (table === undefined) {
    table = { termsOf: new Map(), entered: 0 };
    tables.set(index.shared, table);
  }
  const { terms } = index.shared;
  for (const end = Math.min(terms.length, table.entered + count); table.entered < end; table.entered++) {
    const term = terms[table.entered] ?? "";
    if (term.length < LETTERS_LEAST || !PLAIN.test(term)) continue;
    for (const gram of grams(term)) {
      const list = table.termsOf.get(gram);
      if (list === undefined) table.termsOf.set(gram, [table.entered]);
      else list.push(table.entered);
    }
  }
  return table;
}

export function vocabularyOf(index: Bm25fIndex<unknown>): Vocabulary {
  return {
    knows: (term) => isKnown(index, term),
    lookAlikes: (term, least, count) => lookAlikes(index, term, least, count),
  };
}

function lookAlikes(
  index: Bm25fIndex<unknown>,
  term: string,
  least: number,
  count: number,
): { term: string; likeness: number }[] {
  if (term.length < LETTERS_LEAST || !PLAIN.test(term)) return [];
  const own = grams(term);
  const { termsOf } = gramTable(index);
  const shared = new Map<number, number>();
  for (const gram of own) for (const number of termsOf.get(gram) ?? []) shared.set(number, (shared.get(number) ?? 0) + 1);
  const found: { term: string; likeness: number }[] = [];
  for (const [number, common] of shared) {
    const other = index.shared.terms[number] ?? "";
    const likeness = common / (own.size + Math.max(1, other.length - 1) - common);
    if (likeness >= least) found.push({ term: other, likeness });
  }
  found.sort((a, b) => b.likeness - a.likeness || (a.term < b.term ? -1 : 1));
  const known: { term: string; likeness: number }[] = [];
  for (const candidate of found) {
    if (known.length === count) break;
    if (isKnown(index, candidate.term)) known.push(candidate);
  }
  return known;
}
