/**
 * Tool index: which tools serve a need.
 *
 * Owns: the index of tools, what moves in it, the ranking of one search.
 * Speaks: tools, tool keys, needs in plain words.
 * Never: IO, presence or standings (the caller says what is offered), learned evidence (comes as a channel).
 */
import type { ToolKey, UpstreamLabel } from "../model/ids.js";
import type { Tool } from "../model/tool.js";
import { cutOff, inOrder, strengthOf, surenessOf } from "./answer.js";
import type { Bm25fIndex, Document } from "./bm25f.js";
import { buildIndex, idOf, moveIndex, payloadOf, slotOf } from "./bm25f.js";
import type { Channel, Heard } from "./channel.js";
import { hear } from "./channel.js";
import type { Bm25fScoring } from "./contribution.js";
import { cohere } from "./coherence.js";
import { exactSlots, exactTerms, isNamedBy } from "./exact.js";
import type { IndexedTool } from "./fields.js";
import { TOOL_FIELDS, toolTexts } from "./fields.js";
import { freeze, thaw, type FrozenIndex } from "./frozen.js";
import { oncePer } from "../model/once.js";
import { addPhrases } from "./phrases.js";
import type { ParsedQuery } from "./query.js";
import { parseQuery } from "./query.js";
import { rank } from "./rank.js";
import { Ranked, sortRanked, topScore } from "./ranked.js";
import { distinction, matchOf, matchSentence, twinsAmong } from "./reasons.js";
import { borrowScratch, giveBackScratch } from "./scratch.js";
import type { ToolScoring } from "./score.js";
import { TOOL_SCORING } from "./score.js";
import { giveWay, standIn } from "./successors.js";
import { addSuppliers } from "./suppliers.js";
import type { Analyse } from "./terms.js";
import { documentAnalyser } from "./terms.js";
import { isUnknown, proposeWords, unmatchedWords, type Proposal } from "./unmatched.js";
import { prepareVocabulary, vocabularyOf } from "./vocabulary.js";
import { EVERYDAY_TERMS } from "./words.js";

export interface ToolIndex {
  readonly text: Bm25fIndex<IndexedTool>;
  /** Label → the server's own words: first line its title, the rest its description. */
  readonly servers: ReadonlyMap<string, string>;
  /** Label → live tools. */
  readonly perServer: ReadonlyMap<UpstreamLabel, number>;
  /** Tools analysed, replaced or removed so far: a listing that moved nothing adds none. */
  readonly operations: number;
}

export interface ToolSearchOptions {
  /** At most this many hits. */
  readonly limit: number;
  /** Tools that may be answered; default all. */
  readonly offered?: ((key: ToolKey) => boolean) | undefined;
  readonly channels?: readonly Channel<ToolKey>[] | undefined;
  /** What took over from a tool that is still listed: it gives way to those of them that are offered. */
  readonly successors?: ((key: ToolKey) => readonly ToolKey[] | undefined) | undefined;
  /** Tools that the need asks for by the name of one that is gone → that one: they come first, as those named exactly do. */
  readonly standIns?: ReadonlyMap<ToolKey, ToolKey> | undefined;
  /** For trials of other weights. */
  readonly scoring?: ToolScoring | undefined;
  /** Whole ranking: no cut-off, no floor. For measurements and for callers that cut by themselves. */
  readonly whole?: boolean | undefined;
}

export interface ToolHit {
  readonly key: ToolKey;
  /** 0…1, for people: 1 is an exact name or as good as a best one that can be relied on; a weak answer's best stands lower. */
  readonly score: number;
  readonly raw: number;
  readonly reason: string;
  /** Words of the need that the tool's texts have. */
  readonly matched: readonly string[];
  /** The superseded tool that this one stands in for. */
  readonly insteadOf?: ToolKey | undefined;
  /** The hit that this one supplies with a required input, where that is why it is here. */
  readonly supplies?: ToolKey | undefined;
}

export interface ToolSearch {
  readonly hits: readonly ToolHit[];
  /** Words of the need that no offered tool knows, as they were written. */
  readonly unmatched: readonly string[];
  /** Where nothing is answered, or only a name word speaks for it: what may have been meant by them. */
  readonly proposed: readonly Proposal[];
  /** Something is answered, and little speaks for it, or only words akin to those of the need: what the need asks for may not be there. */
  readonly weak: boolean;
  /** Something was found and none of it was good enough. */
  readonly abstained: boolean;
  /** Text score of the best tool, not normalised; 0 without any. */
  readonly topRaw: number;
  /** How far the best tool can be trusted to be an answer at all: `topRaw`, comparable between needs and catalogs. */
  readonly strength: number;
}

/** The fields of a tool, and one of whole names; names, leads, descriptions and parameter names are kept in order. */
const SHAPE = { fieldCount: TOOL_FIELDS.length + 1, orderedFields: 6 };
const NAME_FIELD = 0;
const DESCRIPTION_FIELD = 4;

export function buildToolIndex(tools: Iterable<Tool>, servers: ReadonlyMap<string, string> = new Map()): ToolIndex {
  const analyse = documentAnalyser();
  const perServer = new Map<UpstreamLabel, number>();
  const text = buildIndex(SHAPE, documents(tools, servers, analyse, perServer));
  prepareVocabulary(text);
  return { text, servers, perServer, operations: text.operations };
}

/** The index as plain data; undefined where words of servers are in it, which are not of the catalog. */
export function freezeToolIndex({ text, servers }: ToolIndex): FrozenIndex | undefined {
  return servers.size > 0 ? undefined : freeze(text, ({ nameTerms }) => nameTerms);
}

/** The index of the same tools again; undefined where one of them is not there. */
export function thawToolIndex(frozen: FrozenIndex, tools: ReadonlyMap<ToolKey, Tool>): ToolIndex | undefined {
  const perServer = new Map<UpstreamLabel, number>();
  const text = thaw<IndexedTool>(frozen, (id, terms) => {
    const tool = tools.get(id as ToolKey);
    if (tool === undefined) return undefined;
    perServer.set(tool.label, (perServer.get(tool.label) ?? 0) + 1);
    return { tool, nameTerms: terms(), required: requiredOf(tool) };
  });
  return text === undefined ? undefined : { text, servers: new Map(), perServer, operations: text.operations };
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
  const payload: IndexedTool = { tool, nameTerms: [...new Set(fields[0])], required: requiredOf(tool) };
  return { id: tool.key, payload, fields: [...fields, exactTerms(tool)] };
}

function requiredOf(tool: Tool): string[] {
  const required = tool.inputSchema["required"];
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
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
  const { text } = index;
  const accept = (slot: number): boolean => options.offered?.(idOf(text, slot) as ToolKey) ?? true;
  const parsed = parseQuery(query, vocabularyOf(text), scoring);
  const ranked = rankByText(index, parsed, scoring, accept);
  const topRaw = ranked.reduce((max, { raw }) => Math.max(max, raw), 0);
  if (index.perServer.size > 1) cohere(text, ranked, scoring.coherence);
  const heard = hear(text, ranked, query, options.channels ?? [], accept);
  const supplied =
    index.perServer.size > 1
      ? addSuppliers(text, ranked, { depth: scoring.closureDepth, part: scoring.closure, accept })
      : new Map<number, number>();
  const instead = giveWay(text, ranked, options.successors, accept);
  const exact = new Set(exactSlots(text, query).filter(accept));
  for (const slot of standIn(text, options.standIns ?? new Map(), accept, instead)) exact.add(slot);
  for (const slot of exact) if (!ranked.some((one) => one.slot === slot)) ranked.push(new Ranked(slot, 0, 0));
  const top = topScore(ranked);
  const words = parsed.groups.filter(({ joined }) => !joined).length;
  const strength = strengthOf(topRaw, words, text.documents, scoring);
  const sure = heard.sure || isNamedBy(text, parsed, NAME_FIELD, accept);
  const isStrong = sure || strength >= scoring.floor;
  // Words that no tool knows, and everyday ones, do not defeat a word that is a tool's name.
  const trusted =
    isStrong ||
    isNamedBy(text, parsed, NAME_FIELD, accept, (group) => EVERYDAY_TERMS.has(group.term) || isUnknown(text, group, accept));
  const shown =
    options.whole === true ? inOrder(text, ranked, exact) : cutOff(text, ranked, { exact, top, trusted, words, scoring });
  const hits = shown.slice(0, options.limit);
  const findings: Findings = { parsed, exact, top, supplied, instead, heard };
  const [best] = hits;
  const doubted = best !== undefined && !sure && exact.size === 0;
  const isAkin = doubted && isOnlyAkin(text, best.slot, findings);
  const unmatched = unmatchedWords(text, query, parsed, accept);
  return {
    hits: toHits(index, hits, findings, doubted ? surenessOf(strength, isAkin, scoring) : 1),
    unmatched,
    proposed: hits.length === 0 || !isStrong ? proposeWords(text, unmatched, accept) : [],
    weak: doubted && (isAkin || strength < scoring.weak),
    abstained: shown.length === 0 && ranked.length > 0,
    topRaw: rounded(topRaw),
    strength: rounded(strength),
  };
}

/** What the text alone says: tools with their part of the best score, best first. For whoever weighs a channel against it. */
export function textRanking(
  index: ToolIndex,
  need: string,
  scoring: ToolScoring = TOOL_SCORING,
): { id: ToolKey; score: number }[] {
  const ranked = rankByText(index, parseQuery(need, vocabularyOf(index.text), scoring), scoring, () => true);
  if (index.perServer.size > 1) cohere(index.text, ranked, scoring.coherence);
  sortRanked(index.text, ranked);
  const top = ranked[0]?.score ?? 0;
  return ranked.map(({ slot, score }) => ({ id: idOf(index.text, slot) as ToolKey, score: top > 0 ? score / top : 0 }));
}

/** Candidates by the words of the need, in no order. */
function rankByText(index: ToolIndex, parsed: ParsedQuery, scoring: ToolScoring, accept: (slot: number) => boolean): Ranked[] {
  const { text } = index;
  const scratch = borrowScratch(text.alive.length, text.shared.terms.length);
  const { rerank: count, clauses, clauseFull } = scoring;
  const ranked = rank(text, parsed, { scoring: bm25fScoring(scoring), count, clauses, clauseFull, accept }, scratch);
  const phrases = {
    pair: scoring.pair,
    late: scoring.pairLate,
    lateFrom: DESCRIPTION_FIELD,
    name: scoring.nameCover,
    nameField: NAME_FIELD,
    sure: { pair: scoring.surePair, name: scoring.sureName },
  };
  addPhrases(text, parsed, ranked, phrases, scratch);
  giveBackScratch(scratch);
  return ranked;
}

/** The same object each time, so that what was worked out with it can be told. */
const bm25fScoring = oncePer((scoring: ToolScoring): Bm25fScoring => ({
  weights: [...TOOL_FIELDS.map((field) => scoring.fields[field].weight), 0],
  bs: [...TOOL_FIELDS.map((field) => scoring.fields[field].b), 0],
  k1: scoring.k1,
  idfPower: scoring.idfPower,
  everyday: { terms: EVERYDAY_TERMS, share: scoring.everydayRarity },
}));

interface Findings {
  readonly parsed: ParsedQuery;
  readonly exact: ReadonlySet<number>;
  readonly top: number;
  readonly supplied: ReadonlyMap<number, number>;
  readonly instead: ReadonlyMap<number, ToolKey>;
  readonly heard: Heard;
}

/** Nothing speaks for the tool but words that stand for those of the need. */
function isOnlyAkin(text: ToolIndex["text"], slot: number, { parsed, instead, heard }: Findings): boolean {
  return !instead.has(slot) && heard.reasonsFor(slot).length === 0 && !matchOf(text, slot, parsed).isLiteral;
}

/** `sureness`: what the best of them is worth, 0…1. */
function toHits(index: ToolIndex, shown: readonly Ranked[], findings: Findings, sureness: number): ToolHit[] {
  const { text } = index;
  const twins = twinsAmong(
    text,
    shown.map(({ slot }) => slot),
  );
  return shown.map((one) => {
    const { tool } = payloadOf(text, one.slot);
    const match = matchOf(text, one.slot, findings.parsed);
    const insteadOf = findings.instead.get(one.slot);
    const supplied = findings.supplied.get(one.slot);
    const supplies = supplied === undefined ? undefined : (idOf(text, supplied) as ToolKey);
    const twin = twins.get(one.slot);
    const reasons = [
      insteadOf !== undefined ? `took over from ${insteadOf}` : findings.exact.has(one.slot) ? "exact name" : "",
      matchSentence(match),
      ...findings.heard.reasonsFor(one.slot),
      supplies === undefined ? "" : `yields what ${supplies} requires`,
      twin === undefined ? "" : distinction(tool, payloadOf(text, twin).tool),
    ].filter((reason) => reason !== "");
    return {
      key: tool.key,
      score: findings.exact.has(one.slot) ? 1 : rounded((sureness * one.score) / (findings.top || 1)),
      raw: rounded(one.raw),
      reason: reasons.join("; "),
      matched: match.words,
      ...(insteadOf === undefined ? {} : { insteadOf }),
      ...(supplies === undefined ? {} : { supplies }),
    };
  });
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
