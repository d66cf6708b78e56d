/**
 * Meaning: how much of what a skill or tool says of itself stands in a need.
 *
 * The measure is the reverse of a search score: a search asks which document has the need's words, this asks whether the need has the
 * document's. A task of two hundred words that says "cancel" and "order" covers `plan-cancel-order` wholly, whatever else it says.
 */
import { splitToolKey } from "../model/ids.js";
import type { Skill } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import { needWords } from "../retrieve/query.js";
import { stem } from "../retrieve/stem.js";
import { synonymsOf } from "../retrieve/synonyms.js";
import { tokenise } from "../retrieve/tokens.js";
import { STOP_WORDS } from "../retrieve/words.js";
import { firstSentence } from "./signature.js";

/** Stems of a need's words. */
export type Words = ReadonlySet<string>;

/** What something says of itself: stem → weight. */
export type Meaning = ReadonlyMap<string, number>;

/** Verbs of looking and nouns of form say little of what a thing is for. */
const FAINT: ReadonlySet<string> = new Set(
  (
    "get list find search show check look view read fetch retrieve query describe lookup see tell load browse give " +
    "detail details info information data all record records result results value values by id ids"
  )
    .split(" ")
    .map(stem),
);
const FAINT_WEIGHT = 0.3;
/** A synonym is nearly the word. */
const SYNONYM = 0.8;

export function wordsOfNeed(text: string): Words {
  return new Set(needWords(text).map(stem));
}

export function meaningOf(text: string): Meaning {
  const meaning = new Map<string, number>();
  for (const word of tokenise(text)) {
    if (STOP_WORDS.has(word)) continue;
    const term = stem(word);
    meaning.set(term, FAINT.has(term) ? FAINT_WEIGHT : 1);
  }
  return meaning;
}

/** The name of a skill, without the mark of its tier. */
export function nameMeaning(skill: Pick<Skill, "name">): Meaning {
  return meaningOf(skill.name.replace(/^(?:plan|atomic|tool)-/, ""));
}

/** The name of a tool; a first word that repeats the server's says nothing. */
export function toolMeaning(tool: Pick<Tool, "key">): Meaning {
  const { label, name } = splitToolKey(tool.key);
  const own = meaningOf(name);
  const server = meaningOf(label);
  const rest = new Map([...own].filter(([term]) => !server.has(term)));
  return rest.size > 0 ? rest : own;
}

/** Part of a meaning that the words have, 0…1. */
export function coverOf(meaning: Meaning, words: Words): number {
  let all = 0;
  let had = 0;
  for (const [term, weight] of meaning) {
    all += weight;
    had += weight * matchOf(term, words);
  }
  return all === 0 ? 0 : had / all;
}

/** Weight of the terms of a meaning that the words have. */
export function sharedWeight(meaning: Meaning, words: Words): number {
  let shared = 0;
  for (const [term, weight] of meaning) shared += weight * matchOf(term, words);
  return shared;
}

/** Terms of a meaning that the words have and that say something. */
export function sharedTerms(meaning: Meaning, words: Words): Set<string> {
  const shared = new Set<string>();
  for (const [term, weight] of meaning) if (weight === 1 && matchOf(term, words) > 0) shared.add(term);
  return shared;
}

function matchOf(term: string, words: Words): number {
  if (words.has(term)) return 1;
  return synonymsOf(term).some((other) => words.has(other)) ? SYNONYM : 0;
}

/** How surely a need means a skill, 0…1: by its name or by the first sentence of its description, whichever says it better. */
export function skillFit(skill: Pick<Skill, "name" | "description">, words: Words): number {
  return Math.max(coverOf(nameMeaning(skill), words), coverOf(meaningOf(firstSentence(skill.description)), words));
}

/** How surely a need means a tool, 0…1, by its name. */
export function toolFit(tool: Pick<Tool, "key">, words: Words): number {
  return coverOf(toolMeaning(tool), words);
}
