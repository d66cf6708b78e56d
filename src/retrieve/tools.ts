/**
 * Tool index: which tools serve a need.
 *
 * Owns: the index of tools, what moves in it, the ranking of one search.
 * Speaks: tools, tool keys, needs in plain words.
 * Never: IO, presence or standings (the caller says what is offered), learned evidence (comes as a channel).
 */
import type { ToolKey, UpstreamLabel } from "../model/ids.js";
import type { Tool } from "../model/tool.js";
import type { Bm25fIndex, Bm25fScoring, Document } from "./bm25f.js";
import { buildIndex, idOf, isKnown, moveIndex, payloadOf, slotOf, slotsWith } from "./bm25f.js";
import { TOOL_FIELDS, toolTexts } from "./fields.js";
import { parseQuery } from "./query.js";
import type { Ranked } from "./rank.js";
import { rank, sortRanked } from "./rank.js";
import type { ToolScoring } from "./score.js";
import { TOOL_SCORING } from "./score.js";
import type { Analyse } from "./terms.js";
import { documentAnalyser } from "./terms.js";
import { prepareVocabulary, vocabularyOf } from "./vocabulary.js";

/** What the index keeps of a tool beside its terms. */
export interface IndexedTool {
  readonly tool: Tool;
  /** Distinct stems of the name. */
  readonly nameTerms: ReadonlySet<string>;
  readonly required: readonly string[];
}

export interface ToolIndex {
  readonly text: Bm25fIndex<IndexedTool>;
  /** Label → the server's own words: first line its title, the rest its description. */
  readonly servers: ReadonlyMap<string, string>;
  /** Label → live tools. */
  readonly perServer: ReadonlyMap<UpstreamLabel, number>;
  /** Tools analysed, replaced or removed so far: a listing that moved nothing adds none. */
  readonly operations: number;
}

/** A further score for tools, worked out by the caller before the search: experience, vectors. */
export interface Channel {
  readonly name: string;
  /** What a full score of this channel is worth, in parts of the best text score. */
  readonly weight: number;
  /** Scores of 0…1. */
  scores(query: string): ReadonlyMap<ToolKey, number>;
}

export interface ToolSearchOptions {
  /** At most this many hits. */
  readonly limit: number;
  /** Tools that may be answered; default all. */
  readonly offered?: ((key: ToolKey) => boolean) | undefined;
  readonly channels?: readonly Channel[] | undefined;
  /** For trials of other weights. */
  readonly scoring?: ToolScoring | undefined;
  /** Whole ranking: no cut-off, no floor. For measurements and for callers that cut by themselves. */
  readonly whole?: boolean | undefined;
}

export interface ToolHit {
  readonly key: ToolKey;
  /** 0…1, for people: 1 is an exact name or as good as the best. */
  readonly score: number;
  readonly raw: number;
  readonly reason: string;
  /** Words of the need that the tool's texts have. */
  readonly matched: readonly string[];
}

export interface ToolSearch {
  readonly hits: readonly ToolHit[];
  /** Words of the need that no offered tool knows. */
  readonly unmatched: readonly string[];
  /** Something was found and none of it was good enough. */
  readonly abstained: boolean;
  /** Text score of the best tool, not normalised; 0 without any. */
  readonly topRaw: number;
}

export function buildToolIndex(tools: Iterable<Tool>, servers: ReadonlyMap<string, string> = new Map()): ToolIndex {
  const analyse = documentAnalyser();
  const perServer = new Map<UpstreamLabel, number>();
  const text = buildIndex(TOOL_FIELDS.length + 1, documents(tools, servers, analyse, perServer));
  prepareVocabulary(text);
  return { text, servers, perServer, operations: text.operations };
}

function* documents(
  tools: Iterable<Tool>,
  servers: ReadonlyMap<string, string>,
  analyse: Analyse,
  perServer: Map<UpstreamLabel, number>,
): Generator<Document<IndexedTool>> {
  for (const tool of tools) {
    perServer.set(tool.label, (perServer.get(tool.label) ?? 0) + 1);
    yield toDocument(tool, servers.get(tool.label), analyse);
  }
}

function toDocument(tool: Tool, serverWords: string | undefined, analyse: Analyse): Document<IndexedTool> {
  const fields = toolTexts(tool, serverWords).map((text) => {
    const terms: string[] = [];
    if (text !== "") analyse(text, terms);
    return terms;
  });
  const required = tool.inputSchema["required"];
  const payload: IndexedTool = {
    tool,
    nameTerms: new Set(fields[0]),
    required: Array.isArray(required) ? required.filter((name) => typeof name === "string") : [],
  };
  return { id: tool.key, payload, fields: [...fields, exactNames(tool)] };
}

/** The last field holds no words but whole names, so that an exact name is found like any term. It weighs nothing. */
function exactNames(tool: Tool): string[] {
  return [exactTerm(tool.name), exactTerm(tool.key)];
}

/** A name without separators and case, marked so that no word equals it. */
function exactTerm(name: string): string {
  const bare = name.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, "");
  return `=${bare === "" ? name : bare}`;
}

/**
 * The index after some tools changed or came and some left; whoever holds the old index may go on asking it.
 * It answers exactly like an index built from the tools that are there now.
 */
export function moveToolIndex(
  index: ToolIndex,
  moved: { readonly changed: Iterable<Tool>; readonly removed: Iterable<ToolKey> },
): ToolIndex {
  const perServer = new Map(index.perServer);
  const analyse = documentAnalyser();
  const changed = new Map<ToolKey, Tool>();
  for (const tool of moved.changed) changed.set(tool.key, tool);
  const removed = new Set<ToolKey>();
  for (const key of moved.removed) if (!changed.has(key) && slotOf(index.text, key) !== undefined) removed.add(key);
  const count = (label: UpstreamLabel, by: number): void => {
    const after = (perServer.get(label) ?? 0) + by;
    if (after > 0) perServer.set(label, after);
    else perServer.delete(label);
  };
  for (const key of removed) {
    const slot = slotOf(index.text, key);
    if (slot !== undefined) count(payloadOf(index.text, slot).tool.label, -1);
  }
  for (const tool of changed.values()) if (slotOf(index.text, tool.key) === undefined) count(tool.label, 1);
  const put = [...changed.values()].map((tool) => toDocument(tool, index.servers.get(tool.label), analyse));
  const text = moveIndex(index.text, { put, removed });
  if (text === index.text) return index;
  prepareVocabulary(text);
  return { ...index, text, perServer, operations: text.operations };
}

/** The tools that serve a need, best first; deterministic for the same index, need and options. */
export function searchTools(index: ToolIndex, query: string, options: ToolSearchOptions): ToolSearch {
  const scoring = options.scoring ?? TOOL_SCORING;
  const accept = (slot: number): boolean => options.offered?.(idOf(index.text, slot) as ToolKey) ?? true;
  const parsed = parseQuery(query, vocabularyOf(index.text), scoring);
  const scored = rank(index.text, parsed, {
    scoring: bm25fScoring(scoring),
    count: scoring.rerank,
    sentences: scoring.sentences,
    accept,
  });
  const { ranked } = scored;
  const topRaw = ranked.reduce((max, { raw }) => Math.max(max, raw), 0);
  if (index.perServer.size > 1) cohere(index, ranked, scoring.coherence);
  const exact = new Set(exactSlots(index, query).filter(accept));
  const top = ranked[0]?.score ?? 0;
  for (const slot of exact) if (!ranked.some((one) => one.slot === slot)) ranked.push({ slot, raw: 0, score: top });
  ranked.sort(
    (a, b) =>
      Number(exact.has(b.slot)) - Number(exact.has(a.slot)) ||
      b.score - a.score ||
      (idOf(index.text, a.slot) < idOf(index.text, b.slot) ? -1 : 1),
  );
  const shown = options.whole === true ? ranked : cut(ranked, exact, top, topRaw, scoring);
  const unmatched = parsed.groups.filter(({ term }) => !isKnown(index.text, term, accept)).map(({ word }) => word);
  return {
    hits: shown.slice(0, options.limit).map((one) =>
      toHit(
        index,
        one,
        exact.has(one.slot),
        top,
        parsed.groups.map(({ term, word }) => ({ term, word })),
      ),
    ),
    unmatched,
    abstained: shown.length === 0 && ranked.length > 0,
    topRaw,
  };
}

function bm25fScoring(scoring: ToolScoring): Bm25fScoring {
  return {
    weights: [...TOOL_FIELDS.map((field) => scoring.fields[field].weight), 0],
    bs: [...TOOL_FIELDS.map((field) => scoring.fields[field].b), 0],
    k1: scoring.k1,
    idfPower: scoring.idfPower,
  };
}

/** A tool gains by what its server's best tool is worth: the tools of one task mostly live together. */
function cohere(index: ToolIndex, ranked: Ranked[], share: number): void {
  const max = ranked[0]?.score ?? 0;
  if (max <= 0 || share <= 0) return;
  const bestOf = new Map<string, number>();
  for (const { slot, score } of ranked) {
    const { label } = payloadOf(index.text, slot).tool;
    if (score > (bestOf.get(label) ?? 0)) bestOf.set(label, score);
  }
  for (const one of ranked) {
    const best = bestOf.get(payloadOf(index.text, one.slot).tool.label) ?? 0;
    one.score = (1 - share) * one.score + share * best * Math.sqrt(one.score / max);
  }
  sortRanked(index.text, ranked);
}

function exactSlots(index: ToolIndex, query: string): number[] {
  const term = exactTerm(query.trim());
  return slotsWith(index.text, term);
}

function cut(ranked: readonly Ranked[], exact: ReadonlySet<number>, top: number, topRaw: number, scoring: ToolScoring): Ranked[] {
  return ranked.filter(({ slot, score }) => exact.has(slot) || (topRaw >= scoring.floor && score >= scoring.cutOff * top));
}

function toHit(
  index: ToolIndex,
  one: Ranked,
  exact: boolean,
  top: number,
  words: readonly { term: string; word: string }[],
): ToolHit {
  const key = idOf(index.text, one.slot) as ToolKey;
  const { tool } = payloadOf(index.text, one.slot);
  const has = new Set<string>();
  const analyse = documentAnalyser();
  for (const text of toolTexts(tool, index.servers.get(tool.label))) {
    const terms: string[] = [];
    analyse(text, terms);
    for (const term of terms) has.add(term);
  }
  const matched = words.filter(({ term }) => has.has(term)).map(({ word }) => word);
  return {
    key,
    score: exact ? 1 : Math.round((one.score / (top || 1)) * 1000) / 1000,
    raw: one.raw,
    reason: exact ? "exact name" : `matches ${matched.join(", ")}`,
    matched,
  };
}
