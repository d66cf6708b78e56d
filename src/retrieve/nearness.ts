/**
 * Nearness: the channel of vectors.
 *
 * Owns: what a cosine is worth, whatever embedder made it; the texts that stand for tools and skills in its space.
 * Speaks: ids, unit vectors.
 * Never: asks an embedder; the need's vector is there before the search, or the channel is silent.
 *
 * Embedders differ in how near anything is to anything, so a cosine counts by its surprise: how many spreads it lies above what this
 * need has with all rows. Among n rows chance alone reaches about √(2 ln n).
 */
import type { Skill } from "../model/skill.js";
import type { Tool } from "../model/tool.js";
import type { Channel } from "./channel.js";
import { TOOL_FIELDS, toolTexts } from "./fields.js";
import { VECTOR_SCORING } from "./score.js";
import type { VectorIndex } from "./vector-rows.js";
import { nearest } from "./vectors.js";

/** Characters of one text: what follows names no purpose any more, and embedders cut at 512 tokens and more. */
const TEXT_CHARS = 1_600;

/** `vectorOf`: the need's unit vector, where it was embedded in time. */
export function nearnessChannel<Id extends string>(
  index: VectorIndex,
  vectorOf: (need: string) => Float32Array | undefined,
): Channel<Id> {
  return {
    name: "vectors",
    speak(need) {
      const vector = vectorOf(need);
      if (vector === undefined || index.count === 0) return undefined;
      const { hits, median, spread } = nearest(index, vector, VECTOR_SCORING.nominated);
      const surprise = (nearness: number): number => (spread > 0 ? (nearness - median) / spread : 0);
      const sure = Math.sqrt(2 * Math.log(Math.max(2, index.count))) + VECTOR_SCORING.sureAbove;
      const full = Math.max(sure, surprise(hits[0]?.nearness ?? 0));
      const least = VECTOR_SCORING.leastSurprise;
      const scores = new Map<Id, number>();
      for (const { id, nearness } of hits) {
        const score = (surprise(nearness) - least) / (full - least);
        if (score > 0) scores.set(id as Id, score);
      }
      return {
        weight: VECTOR_SCORING.weight,
        scores,
        sure: surprise(hits[0]?.nearness ?? 0) >= sure,
        because: () => "near in meaning",
      };
    },
  };
}

/** What of a tool is embedded: names as words, what it does, what it takes. */
export function toolText(tool: Tool): string {
  const texts = toolTexts(tool, undefined);
  const of = (field: (typeof TOOL_FIELDS)[number]): string => texts[TOOL_FIELDS.indexOf(field)] ?? "";
  const parameters = of("parameterNames");
  const name = tool.title ?? words(tool.name);
  const text = `${of("server")}: ${name}. ${tool.description}${parameters === "" ? "" : `\nTakes ${words(parameters)}`}`;
  return text.slice(0, TEXT_CHARS);
}

/** What of a skill is embedded: what it is for and its steps' goals. */
export function skillText(skill: Skill): string {
  return [`${words(skill.name)}. ${skill.description}`, ...skill.steps.map(({ text }) => text)].join("\n").slice(0, TEXT_CHARS);
}

/** Identifiers as words: `get_orderItems` → `get order Items`. */
function words(text: string): string {
  return text.replaceAll(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, " ").replaceAll(/[_\-./]+/g, " ");
}
