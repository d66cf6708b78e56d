/**
 * Skill index: which skills fit a need.
 *
 * Owns: the index of skills, what moves in it, their ranking without repetition.
 * Speaks: skills, skill names, needs in plain words.
 * Never: standings (the caller indexes active skills, or says which count), tools' availability.
 */
import type { SkillName } from "../model/ids.js";
import { splitToolKey } from "../model/ids.js";
import { DEFAULT_POLICY } from "../model/policy.js";
import type { Skill, Tier } from "../model/skill.js";
import { strengthOf } from "./answer.js";
import type { Bm25fIndex, Document } from "./bm25f.js";
import { buildIndex, idOf, moveIndex, payloadOf } from "./bm25f.js";
import type { Channel } from "./channel.js";
import { hear } from "./channel.js";
import { freeze, thaw, type FrozenIndex } from "./frozen.js";
import type { Bm25fScoring } from "./contribution.js";
import { diversify } from "./mmr.js";
import type { ParsedQuery } from "./query.js";
import { parseQuery } from "./query.js";
import { oncePer } from "../model/once.js";
import { addPhrases } from "./phrases.js";
import type { Ranked } from "./ranked.js";
import { rank } from "./rank.js";
import { sortRanked } from "./ranked.js";
import type { SkillField, SkillScoring } from "./score.js";
import { SKILL_SCORING } from "./score.js";
import { borrowScratch, giveBackScratch } from "./scratch.js";
import type { Analyse } from "./terms.js";
import { documentAnalyser } from "./terms.js";
import { EVERYDAY_TERMS } from "./words.js";
import { unmatchedWords } from "./unmatched.js";
import { prepareVocabulary, vocabularyOf } from "./vocabulary.js";

/** The first three are kept in order, for phrases. */
const SKILL_FIELDS: readonly SkillField[] = ["name", "description", "steps", "tools", "body"];

interface IndexedSkill {
  readonly skill: Skill;
  /** Distinct terms of name, description and steps: what two skills are compared by. */
  readonly gist: ReadonlySet<string>;
}

export interface SkillIndex {
  readonly text: Bm25fIndex<IndexedSkill>;
  /** Skills analysed, replaced or removed so far. */
  readonly operations: number;
}

export interface SkillSearchOptions {
  /** Only skills of this tier. */
  readonly tier?: Tier | undefined;
  readonly limit: number;
  /** Skills that may be answered; default all. */
  readonly active?: ((name: SkillName) => boolean) | undefined;
  /** Maximal marginal relevance: 1 = relevance only. */
  readonly lambda?: number | undefined;
  readonly channels?: readonly Channel<SkillName>[] | undefined;
  /** For trials of other weights. */
  readonly scoring?: SkillScoring | undefined;
}

export interface SkillHit {
  readonly name: SkillName;
  readonly skill: Skill;
  /** 0…1: part of the best score. */
  readonly score: number;
  readonly raw: number;
}

export interface SkillSearch {
  readonly hits: readonly SkillHit[];
  /** Words of the need that no such skill knows. */
  readonly unmatched: readonly string[];
  /** Score of the best skill, not normalised; 0 without any. */
  readonly topRaw: number;
  /** The best skill can be taken for an answer by itself, whatever tools say. */
  readonly trusted: boolean;
}

export function buildSkillIndex(skills: Iterable<Skill>): SkillIndex {
  const analyse = documentAnalyser();
  const text = buildIndex({ fieldCount: SKILL_FIELDS.length, orderedFields: 3 }, mapped(skills, analyse));
  prepareVocabulary(text);
  return { text, operations: text.operations };
}

/** The index as plain data. */
export function freezeSkillIndex({ text }: SkillIndex): FrozenIndex {
  return freeze(text, ({ gist }) => gist);
}

/** The index of the same skills again; undefined where one of them is not there. */
export function thawSkillIndex(frozen: FrozenIndex, skills: ReadonlyMap<SkillName, Skill>): SkillIndex | undefined {
  const text = thaw<IndexedSkill>(frozen, (id, terms) => {
    const skill = skills.get(id as SkillName);
    let gist: ReadonlySet<string> | undefined;
    // Only skills that are compared need it.
    return skill === undefined
      ? undefined
      : {
          skill,
          get gist() {
            return (gist ??= new Set(terms()));
          },
        };
  });
  return text === undefined ? undefined : { text, operations: text.operations };
}

function* mapped(skills: Iterable<Skill>, analyse: Analyse): Generator<Document<IndexedSkill>> {
  for (const skill of skills) yield toDocument(skill, analyse);
}

function toDocument(skill: Skill, analyse: Analyse): Document<IndexedSkill> {
  const read = (text: string): string[] => {
    const terms: string[] = [];
    analyse(text, terms);
    return terms;
  };
  const tools = new Set([...skill.contract.requires.map(({ tool }) => tool), ...skill.steps.flatMap((step) => step.tools)]);
  const fields = [
    read(skill.name),
    read(skill.description),
    read(skill.steps.map(({ goal }) => goal).join("\n")),
    read([...tools].map((tool) => splitToolKey(tool).name).join("\n")),
    read(skill.body),
  ];
  const gist = new Set(fields.slice(0, 3).flat());
  return { id: skill.name, payload: { skill, gist }, fields };
}

/** The index after some skills changed or came and some left; it answers exactly like one built from those there now. */
export function moveSkillIndex(
  index: SkillIndex,
  moved: { readonly changed: Iterable<Skill>; readonly removed: Iterable<SkillName> },
): SkillIndex {
  const changed = new Map<SkillName, Skill>();
  for (const skill of moved.changed) changed.set(skill.name, skill);
  const analyse = documentAnalyser();
  const text = moveIndex(index.text, {
    put: [...changed.values()].map((skill) => toDocument(skill, analyse)),
    removed: [...moved.removed].filter((name) => !changed.has(name)),
  });
  if (text === index.text) return index;
  prepareVocabulary(text);
  return { text, operations: text.operations };
}

/** The skills that fit a need, best first, each adding something to those before it. */
export function searchSkills(index: SkillIndex, query: string, options: SkillSearchOptions): SkillSearch {
  const scoring = options.scoring ?? SKILL_SCORING;
  const accept = (slot: number): boolean => {
    const { skill } = payloadOf(index.text, slot);
    return (options.tier === undefined || skill.tier === options.tier) && (options.active?.(skill.name) ?? true);
  };
  const parsed = parseQuery(query, vocabularyOf(index.text), scoring);
  const words = parsed.groups.filter(({ joined }) => !joined).length;
  const ranked = rankByWords(index, parsed, scoring, { count: Math.max(scoring.rerank, options.limit), accept });
  const topRaw = ranked.reduce((max, { raw }) => Math.max(max, raw), 0);
  const heard = hear(index.text, ranked, query, options.channels ?? [], accept);
  sortRanked(index.text, ranked);
  const top = ranked[0]?.score ?? 0;
  const good = ranked.filter(({ score }) => score >= scoring.cutOff * top);
  const chosen = diversify(good, {
    limit: options.limit,
    lambda: options.lambda ?? DEFAULT_POLICY.mmrLambda,
    relevance: ({ score }) => score / (top || 1),
    similarity: (a, b) => overlap(payloadOf(index.text, a.slot).gist, payloadOf(index.text, b.slot).gist),
  });
  return {
    hits: chosen.map(({ slot, score, raw }) => ({
      name: idOf(index.text, slot) as SkillName,
      skill: payloadOf(index.text, slot).skill,
      score: Math.round((score / (top || 1)) * 1000) / 1000,
      raw,
    })),
    unmatched: unmatchedWords(index.text, query, parsed, accept),
    topRaw,
    trusted: heard.sure || strengthOf(topRaw, words, index.text.documents, scoring) >= scoring.floor,
  };
}

/** Candidates by the words of the need, in no order. */
function rankByWords(
  { text }: SkillIndex,
  parsed: ParsedQuery,
  scoring: SkillScoring,
  { count, accept }: { count: number; accept: (slot: number) => boolean },
): Ranked[] {
  const scratch = borrowScratch(text.alive.length, text.shared.terms.length);
  const { clauses, clauseFull } = scoring;
  const ranked = rank(text, parsed, { scoring: bm25fScoring(scoring), count, clauses, clauseFull, accept }, scratch);
  const phrases = {
    pair: scoring.pair,
    late: scoring.pairLate,
    lateFrom: 2,
    name: scoring.nameCover,
    nameField: 0,
    sure: { pair: scoring.pair, name: scoring.nameCover },
  };
  addPhrases(text, parsed, ranked, phrases, scratch);
  giveBackScratch(scratch);
  return ranked;
}

/** The same object each time, so that what was worked out with it can be told. */
const bm25fScoring = oncePer((scoring: SkillScoring): Bm25fScoring => ({
  weights: SKILL_FIELDS.map((field) => scoring.fields[field].weight),
  bs: SKILL_FIELDS.map((field) => scoring.fields[field].b),
  k1: scoring.k1,
  idfPower: scoring.idfPower,
  everyday: { terms: EVERYDAY_TERMS, share: scoring.everydayRarity },
}));

/** Jaccard: terms in common over terms in either. */
function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  let common = 0;
  for (const term of a) if (b.has(term)) common++;
  return common / (a.size + b.size - common);
}
