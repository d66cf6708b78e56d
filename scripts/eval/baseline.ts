/**
 * Baselines: one bag of words a tool (name, server, description, parameter names), Okapi BM25 with k1 1.2 and b 0.75.
 *
 * Deliberately independent of src/retrieve but for the splitting of words, so that the comparison means something.
 */
import type { ToolKey } from "../../src/model/ids.js";
import { isJsonObject } from "../../src/model/json.js";
import { stem } from "../../src/retrieve/stem.js";
import { tokenise } from "../../src/retrieve/tokens.js";
import { REQUEST_WORDS, STOP_WORDS } from "../../src/retrieve/words.js";
import type { ToolSet } from "./sets.js";

const K1 = 1.2;
const B = 0.75;

export interface Baseline {
  search(query: string, limit: number): ToolKey[];
}

/** `stop`: leave out function words and words of asking. */
export function bm25Baseline({ tools, servers }: ToolSet, stop: boolean): Baseline {
  const words = (text: string): string[] =>
    tokenise(text)
      .filter((word) => !stop || (!STOP_WORDS.has(word) && !REQUEST_WORDS.has(word)))
      .map(stem);
  const postings = new Map<string, [document: number, occurrences: number][]>();
  const lengths = tools.map((tool, document) => {
    const properties = tool.inputSchema["properties"];
    const names = isJsonObject(properties) ? Object.keys(properties) : [];
    const bag = words([tool.name, servers.get(tool.label) ?? tool.label, tool.description, ...names].join(" "));
    const counts = new Map<string, number>();
    for (const word of bag) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const [word, count] of counts) {
      const list = postings.get(word);
      if (list === undefined) postings.set(word, [[document, count]]);
      else list.push([document, count]);
    }
    return bag.length;
  });
  const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
  return {
    search(query, limit) {
      const scores = new Map<number, number>();
      for (const word of words(query)) {
        const list = postings.get(word) ?? [];
        const idf = Math.log(1 + (tools.length - list.length + 0.5) / (list.length + 0.5));
        for (const [document, count] of list) {
          const norm = K1 * (1 - B + (B * (lengths[document] ?? 0)) / mean);
          scores.set(document, (scores.get(document) ?? 0) + (idf * count * (K1 + 1)) / (count + norm));
        }
      }
      return [...scores]
        .sort((a, b) => b[1] - a[1] || a[0] - b[0])
        .slice(0, limit)
        .flatMap(([document]) => tools[document]?.key ?? []);
    },
  };
}
