/**
 * Told successors: what a tool's own description says when it is on its way out.
 *
 * Owns: which sentence speaks of an end, and which tool it names.
 * Speaks: Tools of one upstream in, keys out.
 * Never: following the text: what it names is a hint, weighed when the tool has left and never certain by itself.
 */
import type { ToolKey } from "../../model/ids.js";
import type { Tool } from "../../model/tool.js";

/** Says that the tool goes, or that another is meant to be used in its place. */
const ENDING = /\b(deprecated|deprecation|superseded|obsolete|replaced by|in favou?r of|will be removed|no longer maintained)\b/i;
/** Sentence by sentence: names elsewhere in the text are mentions. A dot inside a name ends nothing. */
const SENTENCES = /[.!?](?=\s|$)|\n+/;
const TOKEN = /[A-Za-z0-9][A-Za-z0-9_./-]*/g;

/** Tools of the same upstream that the tool's description names as taking its place, in the order they are named. */
export function toldSuccessors(tool: Tool, byName: ReadonlyMap<string, ToolKey>): readonly ToolKey[] {
  if (!ENDING.test(tool.description)) return [];
  const told = new Set<ToolKey>();
  const sentences = tool.description.split(SENTENCES);
  sentences.forEach((sentence, at) => {
    // "Deprecated. Use `find_order` instead." is two sentences.
    const speaks =
      ENDING.test(sentence) || (ENDING.test(sentences[at - 1] ?? "") && /\b(use|prefer|see|instead)\b/i.test(sentence));
    if (!speaks) return;
    for (const [token] of sentence.matchAll(TOKEN)) {
      const key = byName.get(token.replace(/[./-]+$/, ""));
      if (key !== undefined && key !== tool.key && (isIdentifier(token) || isQuoted(sentence, token))) told.add(key);
    }
  });
  return [...told];
}

/** Of two words at least: nothing that stands in a sentence by chance. */
function isIdentifier(token: string): boolean {
  return /[A-Za-z0-9][_.-][A-Za-z0-9]|[a-z][A-Z]/.test(token);
}

function isQuoted(sentence: string, token: string): boolean {
  return ["`", '"', "'"].some((quote) => sentence.includes(`${quote}${token}${quote}`));
}
