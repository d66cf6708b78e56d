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
import { STOP_WORDS } from "../retrieve/words.js";

export interface Spoken {
  /** Stems of everything said. */
  readonly words: ReadonlySet<string>;
  /** For each identifier the stem of the word that stands before it and says what it is (or what to do with it); "" where none does. */
  readonly identifiers: readonly string[];
}

/** A code with a digit, all capitals, a `#`, a long number, or a path. */
const IDENTIFIER = /^(?:#\S*\w|(?=\S*\d)(?=\S*[\p{L}_-])[\p{L}\p{N}_.:/-]{3,}|\d{3,}|[A-Z0-9]{4,}|\S+\/\S+)$/u;
/** Words between a thing and its identifier: "order number is …". */
const BETWEEN: ReadonlySet<string> = new Set(
  "id ids number numbers no nr code codes key keys uuid ref reference called named".split(" "),
);

export function readSpoken(text: string): Spoken {
  const words = text.split(/[\s,;()"'`]+/).map((word) => word.replace(/[.!?:]+$/, ""));
  const identifiers: string[] = [];
  let last = "";
  for (const word of words) {
    if (IDENTIFIER.test(word)) {
      identifiers.push(last);
      continue;
    }
    const telling = tokenise(word).filter((token) => !BETWEEN.has(token) && !STOP_WORDS.has(token));
    last = stem(telling.at(-1) ?? "") || last;
  }
  return { identifiers, words: new Set(tokenise(text).map(stem)) };
}

/** Required references of a tool that the request does not say: somebody has to look them up first. */
export function openReferences(tool: Tool, spoken: Spoken): string[] {
  const needs = needsOf(tool)
    .filter((need) => need.suffix !== "name")
    .map(({ param, entities }) => ({
      param,
      head: stem((entities.find((entity) => !entity.includes(" ")) ?? "").split("_").at(-1) ?? ""),
    }));
  const open = needs.filter((need) => !spoken.identifiers.includes(need.head)).map((need) => need.param);
  // "cancel W12": an identifier that only the tool's own verb introduces is what the tool's one need asks for.
  const own = new Set(tokenise(tool.name).map(stem));
  const isMeant = spoken.identifiers.some((word) => word === "" || (own.has(word) && !needs.some((need) => need.head === word)));
  return needs.length === 1 && isMeant ? [] : open;
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
