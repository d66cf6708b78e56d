/**
 * Spoken values: which of a tool's required references a request already gives.
 *
 * Owns: recognising identifiers in plain words and matching them to required parameters.
 * Speaks: request texts, parameters.
 * Never: reads the values for anybody; the agent fills the arguments.
 */
import type { Tool } from "../model/tool.js";
import { needsOf } from "../graph/references.js";
import { stem } from "../retrieve/stem.js";
import { tokenise } from "../retrieve/tokens.js";

export interface Spoken {
  /** Stems of everything said. */
  readonly words: ReadonlySet<string>;
  /** Each identifier with the stems of the words just before it. */
  readonly identifiers: readonly { readonly before: ReadonlySet<string> }[];
}

/** Words before an identifier that may say of what it is. */
const CONTEXT_WORDS = 5;
/** A code with a digit, all capitals, a `#`, a long number, or a path. */
const IDENTIFIER = /^(?:#\S*\w|(?=\S*\d)(?=\S*[\p{L}_-])[\p{L}\p{N}_.:/-]{3,}|\d{3,}|[A-Z0-9]{4,}|\S+\/\S+)$/u;

export function readSpoken(text: string): Spoken {
  const words = text.split(/[\s,;()"'`]+/).map((word) => word.replace(/[.!?:]+$/, ""));
  const identifiers: { before: Set<string> }[] = [];
  words.forEach((word, i) => {
    if (!IDENTIFIER.test(word)) return;
    const before = tokenise(words.slice(Math.max(0, i - CONTEXT_WORDS), i).join(" "));
    identifiers.push({ before: new Set(before.map(stem)) });
  });
  return { identifiers, words: new Set(tokenise(text).map(stem)) };
}

/** Required references of a tool that the request does not say: somebody has to look them up first. */
export function openReferences(tool: Tool, spoken: Spoken): string[] {
  const needs = needsOf(tool).filter((need) => need.suffix !== "name");
  const entityOf = (entities: readonly string[]): string[] =>
    (entities.find((entity) => !entity.includes(" ")) ?? "").split("_").map(stem);
  const isNamed = (before: ReadonlySet<string>, entities: readonly string[]): boolean => {
    const words = entityOf(entities);
    return before.has(words.at(-1) ?? "");
  };
  // An identifier that no parameter's entity was said for goes to the first parameter left without one.
  const unclaimed = spoken.identifiers.filter(({ before }) => !needs.some((need) => isNamed(before, need.entities))).length;
  let spare = needs.length === 1 ? unclaimed : 0;
  const open: string[] = [];
  for (const need of needs) {
    if (spoken.identifiers.some(({ before }) => isNamed(before, need.entities))) continue;
    if (spare > 0) spare--;
    else open.push(need.param);
  }
  return open;
}

/** Parameters whose value the agent makes up itself. */
const FREE: ReadonlySet<string> = new Set(
  "query text search keyword term question prompt filter limit page size offset sort order format language message"
    .split(" ")
    .map(stem),
);

/** How many of a tool's required parameters the request says nothing of: the fewer, the sooner it can be called. */
export function unsaid(tool: Tool, spoken: Spoken): number {
  const required = tool.inputSchema["required"];
  if (!Array.isArray(required)) return 0;
  return required.filter((param) => {
    const words = typeof param === "string" ? tokenise(param).map(stem) : [];
    return words.length > 0 && !words.some((word) => FREE.has(word) || spoken.words.has(word));
  }).length;
}
