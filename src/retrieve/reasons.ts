/**
 * Reasons: why a tool is in an answer, and what tells it from its look-alikes.
 *
 * Owns: matched words, twins among the hits, the sentence shown.
 * Speaks: words of the need, facts of tools.
 * Never: scores.
 */
import type { Tool } from "../model/tool.js";
import { FIELD_MARK } from "./arrays.js";
import type { Bm25fIndex } from "./bm25f.js";
import { hasTerm, payloadOf } from "./bm25f.js";
import type { ParsedQuery } from "./query.js";
import type { IndexedTool } from "./fields.js";

/** Two tools with this much of their words in common (Jaccard) are told apart in the answer. */
const TWIN_OVERLAP = 0.7;
const WORDS_SHOWN = 6;

export interface Match {
  /** Words of the need that the tool's texts have. */
  readonly words: string[];
  /** Words of the need for which the texts have only a synonym or a look-alike. */
  readonly akin: string[];
  /** They have a word of the need, or two of them written as one. */
  readonly isLiteral: boolean;
}

export function matchOf(index: Bm25fIndex<unknown>, slot: number, query: ParsedQuery): Match {
  const words: string[] = [];
  const akin: string[] = [];
  let isLiteral = false;
  for (const { term, word, joined, alternatives } of query.groups) {
    if (hasTerm(index, slot, term)) {
      isLiteral = true;
      if (!joined) words.push(word);
    } else if (alternatives.some((other) => hasTerm(index, slot, other.term))) akin.push(word);
  }
  return { words, akin, isLiteral };
}

export function matchSentence({ words, akin, isLiteral }: Match): string {
  if (!isLiteral && akin.length > 0) return `weak: has only words like ${listed(akin)}`;
  const parts: string[] = [];
  if (words.length > 0) parts.push(`matches ${listed(words)}`);
  if (akin.length > 0) parts.push(`has words like ${listed(akin)}`);
  return parts.join("; ");
}

function listed(words: readonly string[]): string {
  const more = words.length - WORDS_SHOWN;
  return words.slice(0, WORDS_SHOWN).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** For each slot that resembles an earlier one, the first such earlier one. */
export function twinsAmong(index: Bm25fIndex<IndexedTool>, slots: readonly number[]): ReadonlyMap<number, number> {
  const twins = new Map<number, number>();
  slots.forEach((slot, i) => {
    const twin = slots.slice(0, i).find((earlier) => areTwins(index, slot, earlier));
    if (twin !== undefined) twins.set(slot, twin);
  });
  return twins;
}

/** Same name on two servers, same texts, or mostly the same words. */
export function areTwins(index: Bm25fIndex<IndexedTool>, a: number, b: number): boolean {
  const { tool: one } = payloadOf(index, a);
  const { tool: other } = payloadOf(index, b);
  if (one.digests.text === other.digests.text && one.description !== "") return true;
  if (one.label !== other.label && bare(one.name) === bare(other.name)) return true;
  return overlap(wordsOf(index, a), wordsOf(index, b)) >= TWIN_OVERLAP;
}

function bare(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

/** Distinct term numbers of the ordered fields, the server's own left out. */
function wordsOf(index: Bm25fIndex<unknown>, slot: number): Set<number> {
  const { order } = index.shared;
  const words = new Set<number>();
  const end = order.endOf(slot);
  let field = 0;
  for (let i = order.startOf(slot); i < end; i++) {
    const value = order.data[i] ?? 0;
    if (value >= FIELD_MARK) field = value - FIELD_MARK;
    else if (field !== SERVER_FIELD) words.add(value);
  }
  return words;
}
const SERVER_FIELD = 2;

function overlap(a: ReadonlySet<number>, b: ReadonlySet<number>): number {
  let common = 0;
  for (const word of a) if (b.has(word)) common++;
  const either = a.size + b.size - common;
  return either === 0 ? 0 : common / either;
}

/** What tells a tool from its twin: server, effect, required parameters, words of its own. */
export function distinction(tool: Tool, twin: Tool): string {
  const facts: string[] = [];
  if (tool.label !== twin.label) facts.push(`on ${tool.label}`);
  if (effect(tool) !== effect(twin)) facts.push(effect(tool));
  const [own, others] = [requiredOf(tool), requiredOf(twin)];
  const more = own.filter((name) => !others.includes(name));
  const less = others.filter((name) => !own.includes(name));
  if (more.length > 0) facts.push(`needs ${listed(more)}`);
  if (less.length > 0) facts.push(`without ${listed(less)}`);
  if (facts.length < 2) facts.push(...ownWords(tool, twin));
  return `unlike ${twin.key}: ${facts.length > 0 ? facts.join(", ") : "the same in all that is listed"}`;
}

function effect(tool: Tool): string {
  if (tool.annotations.readOnly) return "read-only";
  return tool.annotations.destructive ? "may destroy" : "writes";
}

function requiredOf(tool: Tool): string[] {
  const { required } = tool.inputSchema;
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

function ownWords(tool: Tool, twin: Tool): string[] {
  const split = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  const others = new Set(split(`${twin.name.replaceAll("_", " ")} ${twin.description}`));
  const own = split(`${tool.name.replaceAll("_", " ")} ${tool.description}`).filter((word) => !others.has(word));
  const shown = [...new Set(own)].slice(0, 3);
  return shown.length > 0 ? [`speaks of ${shown.join(", ")}`] : [];
}
