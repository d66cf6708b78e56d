/**
 * Score: every weight and threshold of retrieval, with its meaning and range.
 *
 * Owns: the numbers; another number here changes which tools are preferred, never what is true.
 * Speaks: plain numbers; `npm run eval -- tune` measures alternatives on public query sets with a large catalog among them.
 * Never: code that uses them.
 */

/** One field of a document. */
export interface FieldWeight {
  /** How much one occurrence counts, ≥ 0. */
  readonly weight: number;
  /** Length normalisation: 0 = none, 1 = in full proportion to the field's length. */
  readonly b: number;
}

export type ToolField =
  "name" | "title" | "server" | "lead" | "description" | "parameterNames" | "parameterTexts" | "outputNames" | "serverText";

/** What tools and skills have in common. */
export interface TextScoring {
  /** Saturation: how many weighted occurrences still add, > 0. */
  readonly k1: number;
  /** Sharpens inverse document frequency, ≥ 0; 1 = plain BM25. */
  readonly idfPower: number;
  /** Factor of a synonym of a query word, 0…1. */
  readonly synonym: number;
  /** Factor of two adjacent query words written as one, 0…1. */
  readonly compound: number;
  /** Factor of a vocabulary word that resembles an unknown query word, times the resemblance, 0…1. */
  readonly fuzzy: number;
  /** Least resemblance (Jaccard of 4-grams), 0…1. */
  readonly fuzzyLeast: number;
  /** An everyday word is never taken for rarer than this part of ln(documents + 1), 0…1; 1 = no cap. */
  readonly everydayRarity: number;
  /** Share of the score that the best clause of a long need decides, 0…1. */
  readonly clauses: number;
  /** A clause counts fully if its best score reaches this part of the whole need's best, > 0. */
  readonly clauseFull: number;
  /** What a pair of neighbouring words adds per unit of the lesser word's rarity, ≥ 0. */
  readonly pair: number;
  /** Factor for pairs beyond names and leads, 0…1. */
  readonly pairLate: number;
  /** A tool whose whole name the need spells out gains this part of its score, ≥ 0. */
  readonly nameCover: number;
  /** Candidates that are ranked a second time. */
  readonly rerank: number;
  /** What is shown reaches down to this part of the best score, 0…1, for a need of six words. */
  readonly cutOff: number;
  /** A longer need asks for more things: the cut-off falls by this for each e-fold of its words (and rises for shorter ones), ≥ 0. */
  readonly cutOffLength: number;
  /** What leads a clause of the need is shown down to this part of the best score, 0…1. */
  readonly cutOffLeading: number;
}

export interface ToolScoring extends TextScoring {
  readonly fields: Readonly<Record<ToolField, FieldWeight>>;
  /** The same as `pair` and `nameCover`, in the raw score by which an answer is trusted at all: phrases and names are surer signs. */
  readonly surePair: number;
  readonly sureName: number;
  /** Share of the score that the best tool of the same server decides, 0…1; off where there is one server. */
  readonly coherence: number;
  /** Part of a tool's score that its required input's suppliers inherit, 0…1. */
  readonly closure: number;
  /** How many of the best tools bring their suppliers. */
  readonly closureDepth: number;
  /**
   * Below this strength of the best tool (answer.ts), nothing is answered; 0 = always answer. Low on purpose: a refused right tool
   * costs more than a weak wrong one that says what it matched.
   */
  readonly floor: number;
  /**
   * Below this strength, ≥ floor, an answer is given and called weak. Where it stands, a tenth of the needs whose tools are there are
   * called so, and three tenths of those whose servers are not.
   */
  readonly weak: number;
  /** The score shown for a best tool that has no word of the need, only words akin to them, 0…1. */
  readonly akin: number;
}

export const TOOL_SCORING: ToolScoring = Object.freeze({
  fields: Object.freeze({
    name: { weight: 1.5, b: 0.8 },
    title: { weight: 2, b: 0.6 },
    server: { weight: 3, b: 1 },
    lead: { weight: 1, b: 0.5 },
    description: { weight: 0.3, b: 0.8 },
    parameterNames: { weight: 0.7, b: 0.25 },
    parameterTexts: { weight: 0.3, b: 0.75 },
    outputNames: { weight: 0.3, b: 0.75 },
    serverText: { weight: 0.2, b: 1 },
  }),
  k1: 5,
  idfPower: 1.2,
  synonym: 0.3,
  compound: 0.7,
  fuzzy: 0.5,
  fuzzyLeast: 0.3,
  everydayRarity: 0.5,
  clauses: 0.2,
  clauseFull: 0.3,
  pair: 2,
  pairLate: 0.6,
  nameCover: 0.3,
  surePair: 6,
  sureName: 2,
  coherence: 0.4,
  closure: 0.2,
  closureDepth: 5,
  rerank: 300,
  cutOff: 0.75,
  cutOffLength: 0.05,
  cutOffLeading: 0.45,
  floor: 0.6,
  weak: 1.2,
  akin: 0.5,
});

export type SkillField = "name" | "description" | "steps" | "tools" | "body";

export interface SkillScoring extends TextScoring {
  readonly fields: Readonly<Record<SkillField, FieldWeight>>;
  /** Below this strength of the best skill, skills are no answer where no tool is one either; 0 = always. */
  readonly floor: number;
}

export const SKILL_SCORING: SkillScoring = Object.freeze({
  fields: Object.freeze({
    name: { weight: 1.5, b: 0.5 },
    description: { weight: 1, b: 0.5 },
    steps: { weight: 0.5, b: 0.6 },
    tools: { weight: 0.5, b: 0.6 },
    body: { weight: 0.2, b: 0.75 },
  }),
  k1: 5,
  idfPower: 1.2,
  synonym: 0.3,
  compound: 0.7,
  fuzzy: 0.5,
  fuzzyLeast: 0.3,
  everydayRarity: 0.5,
  clauses: 0.2,
  clauseFull: 0.3,
  pair: 2,
  pairLate: 0.6,
  nameCover: 0.3,
  rerank: 60,
  floor: 0.6,
  cutOff: 0.25,
  cutOffLength: 0,
  cutOffLeading: 0.25,
});

/** How vectors join, where an embedder is configured. */
export interface VectorScoring {
  /** What the nearest is worth, in parts of the best text score, ≥ 0. With 1, vectors and text have the same say. */
  readonly weight: number;
  /** Nearest ones that are looked at, ≥ 1. */
  readonly nominated: number;
  /** Surprise (spreads above the need's median cosine) below which nearness says nothing, ≥ 0. */
  readonly leastSurprise: number;
  /** How far above chance the nearest must be to be an answer by itself, in spreads, ≥ 0. */
  readonly sureAbove: number;
  /**
   * Numbers (rows × dimension) up to which every row is looked at; above, a graph nominates. `npm run bench -- retrieval`: 4 ms a need at
   * a million, 12 ms at four million, where the graph takes 1.4 ms but a quarter of a millisecond and more to grow by a vector.
   */
  readonly exactNumbers: number;
}

export const VECTOR_SCORING: VectorScoring = Object.freeze({
  weight: 0.8,
  nominated: 40,
  leastSurprise: 1.5,
  sureAbove: 0.5,
  exactNumbers: 1_000_000,
});

/** How verified experience joins. Its weight and gate are found by itself (calibrate.ts) among the values here. */
export interface ExperienceScoring {
  /** Similar tasks that vote, ≥ 1. */
  readonly voters: number;
  /** A task's vote counts its similarity to this power, ≥ 1. */
  readonly votePower: number;
  /** Weights that are tried: what a full vote is worth, in parts of the best text score, > 0. */
  readonly weights: readonly number[];
  /** Gates that are tried: below `from` a tool's most similar task says nothing, from `to` on it says all, 0 ≤ from < to ≤ 1. */
  readonly gates: readonly { readonly from: number; readonly to: number }[];
  /** Remembered tasks that weight and gate are tried on, ≥ 3; fewer memories than 3 say nothing. */
  readonly triedOn: number;
  /** A gain counts in proportion m / (m + this) for m memories, ≥ 0: few memories prove little. */
  readonly shyness: number;
  /** Standard errors by which a gain is discounted, ≥ 0. */
  readonly doubt: number;
  /**
   * What needs may lose on the mean whose tools memory has never seen, in nDCG@10, ≥ 0; asked of every pair while at least so large a
   * share of memories (0…1) is the only one of its tool: as many needs to come are about tools that no memory has.
   */
  readonly unseenLoss: number;
  readonly unseenShare: number;
  /** The weight falls with the share of tools among the text's best that memory knows, to this power, ≥ 0; 0 = no guard for new tools. */
  readonly guard: number;
  /** A task that is nearly word for word a remembered one (similarity between the two) has its tools at this weight at least. */
  readonly repeat: { readonly from: number; readonly to: number; readonly weight: number };
  /** Newest memories that are kept, ≥ 1. */
  readonly memories: number;
  /** A vote from which on experience is an answer by itself, 0…1. */
  readonly sureFrom: number;
}

export const EXPERIENCE_SCORING: ExperienceScoring = Object.freeze({
  voters: 20,
  votePower: 4,
  weights: [0.15, 0.3, 0.6, 1, 1.5, 2.3, 4],
  gates: [
    { from: 0.05, to: 0.35 },
    { from: 0.2, to: 0.6 },
  ],
  triedOn: 150,
  shyness: 5,
  doubt: 0.5,
  unseenLoss: 0.02,
  unseenShare: 0.02,
  guard: 2,
  repeat: { from: 0.9, to: 0.98, weight: 4 },
  memories: 5_000,
  sureFrom: 0.5,
});
