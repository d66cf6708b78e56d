/**
 * Gates: every condition that a link has to pass, as data.
 *
 * Owns: thresholds with their reasons, and the keeper that asks them.
 * Speaks: gate ids and numbers.
 * Never: the figures themselves (score.ts, method.ts).
 *
 * The table is a default parameter everywhere: leaving one row out opens that gate, which is how a test shows
 * that each of them is needed.
 */
export type GateId =
  | "same-upstream"
  | "unique-name"
  | "spelling-support"
  | "plural-likeness"
  | "number-requires"
  | "order-one-word"
  | "twin-unique"
  | "twin-conflict"
  | "bulk-support"
  | "bulk-bijective"
  | "bulk-conflict"
  | "bulk-likeness"
  | "bulk-share"
  | "bulk-family"
  | "bulk-unrelated-words"
  | "conflict"
  | "kept-changed"
  | "kept-unchanged"
  | "kept-needs-evidence"
  | "method-one-to-one"
  | "method-siblings"
  | "method-alone"
  | "certain-text"
  | "certain-coverage"
  | "certain-name"
  | "certain-mutual"
  | "certain-score"
  | "certain-margin"
  | "certain-tie"
  | "certain-conflict"
  | "certain-same-act"
  | "certain-living-word"
  | "certain-lone-word"
  | "kept-alias"
  | "bulk-living-word"
  | "mode-has-act"
  | "proposed-score"
  | "proposed-margin"
  | "proposed-weak-score"
  | "proposed-weak-margin"
  | "proposed-weak-added"
  | "split-parts"
  | "split-likeness"
  | "split-own-best";

export interface LineageGate {
  readonly id: GateId;
  /** The least value that passes, or the factor a score is multiplied by where `says` tells so. */
  readonly limit: number;
  readonly says: string;
}

export const LINEAGE_GATES: readonly LineageGate[] = [
  { id: "same-upstream", limit: 1, says: "both tools are of one upstream: another upstream may be another tenant" },
  {
    id: "unique-name",
    limit: 1,
    says: "names that are the same but for separators, case or order are so for one tool on each side only",
  },
  {
    id: "spelling-support",
    limit: 0.35,
    says: "a name spelt anew is certain with texts or parameters this alike, or together with others",
  },
  {
    id: "order-one-word",
    limit: 1,
    says: "names of the same words are one tool where one word moved, not where things changed places",
  },
  {
    id: "number-requires",
    limit: 1,
    says: "a name that differs by a plural asks for the same parameters: one thing is asked for by its number",
  },
  {
    id: "plural-likeness",
    limit: 0.6,
    says: "names that differ by a plural need texts this alike and parameters this covered: list and get differ by it",
  },
  { id: "twin-unique", limit: 1, says: "equal contract and text point at one tool only when no sibling shares them" },
  { id: "twin-conflict", limit: 1, says: "… and the names do not say plainly that one reads and the other writes" },
  { id: "bulk-support", limit: 3, says: "so many tools follow one change of words before it counts as a rule" },
  { id: "bulk-bijective", limit: 1, says: "under one rule every new tool stands for one old tool" },
  { id: "bulk-conflict", limit: 1, says: "no edge of a rule turns reading into writing or one write into another" },
  {
    id: "bulk-likeness",
    limit: 0.35,
    says: "each edge of a rule needs texts this alike, and parameters half covered or texts at .4",
  },
  { id: "bulk-share", limit: 0.6, says: "this share of the pairs that would follow a rule pass its edge test" },
  {
    id: "bulk-family",
    limit: 1,
    says: "a rule that few of the tools follow that could is held to the measure of unrelated words",
  },
  {
    id: "bulk-unrelated-words",
    limit: 0.8,
    says: "a rule between unrelated words needs parameters this covered, and texts at .6",
  },
  {
    id: "conflict",
    limit: 0.55,
    says: "factor on the score when one tool reads and the other writes, or they write differently",
  },
  { id: "kept-changed", limit: 0.75, says: "factor for a target that was there before and changed" },
  { id: "kept-unchanged", limit: 0.65, says: "factor for a target that was there before and did not change: mostly a sibling" },
  {
    id: "kept-needs-evidence",
    limit: 0.5,
    says: "a target that was there before is certain only if it gained this share of the old tool's words, or was announced",
  },
  { id: "method-one-to-one", limit: 1, says: "each value of a mode argument stands for one old tool" },
  { id: "method-siblings", limit: 2, says: "so many old tools fit values of one target exactly before a merge is certain" },
  { id: "method-alone", limit: 0.8, says: "a single exact value is certain only with parameters this covered" },
  { id: "certain-text", limit: 0.9, says: "texts this alike make a rename certain, with coverage and mutual best" },
  { id: "certain-coverage", limit: 0.8, says: "… with so much of the old parameters (required ones weigh more) in the new tool" },
  { id: "certain-name", limit: 0.5, says: "… and names this alike: texts alone are boilerplate too often" },
  { id: "certain-mutual", limit: 1, says: "each is the other's best candidate" },
  { id: "certain-score", limit: 0.8, says: "a score this high is certain, with its margin" },
  { id: "certain-margin", limit: 0.12, says: "… and so far ahead of the runner-up" },
  { id: "certain-tie", limit: 0.03, says: "whatever speaks for certainty, the runner-up is this far behind" },
  { id: "certain-conflict", limit: 1, says: "reading never becomes writing with certainty" },
  { id: "certain-same-act", limit: 1, says: "a score alone makes nothing certain where the verbs differ (get, list)" },
  {
    id: "certain-living-word",
    limit: 1,
    says: "no word of the old name that the new one dropped still names other tools: then they are different things",
  },
  {
    id: "certain-lone-word",
    limit: 1,
    says: "a score alone makes nothing certain where a word came or went with nothing in its place",
  },
  { id: "bulk-living-word", limit: 1, says: "a rule between words is none while both words name tools on both sides" },
  {
    id: "kept-alias",
    limit: 1,
    says: "a target that was there and did not change is proposed only where it always could do the same",
  },
  { id: "mode-has-act", limit: 1, says: "a tool whose required mode has no value for the old tool's verb has not taken it over" },
  { id: "proposed-score", limit: 0.5, says: "a score this high is proposed, with its margin" },
  { id: "proposed-margin", limit: 0.03, says: "… and so far ahead of the runner-up" },
  {
    id: "proposed-weak-score",
    limit: 0.36,
    says: "a weak score is proposed only for a tool that was just added, far ahead of the runner-up",
  },
  { id: "proposed-weak-margin", limit: 0.15, says: "… so far ahead" },
  { id: "proposed-weak-added", limit: 1, says: "… and only for a tool that was just added" },
  { id: "split-parts", limit: 2, says: "so many parts make a split" },
  { id: "split-likeness", limit: 0.45, says: "each part is this like the old tool" },
  { id: "split-own-best", limit: 1, says: "each part has the old tool as its best source" },
];

/** Asks the gates; a gate that is not in the table is open. */
export interface Keeper {
  /** True if the value reaches the gate's limit. */
  readonly reaches: (id: GateId, value: number) => boolean;
  /** True if the condition holds. */
  readonly holds: (id: GateId, condition: boolean) => boolean;
  /** The factor, 1 where the gate is open. */
  readonly factor: (id: GateId) => number;
}

export function keeperOf(gates: readonly LineageGate[]): Keeper {
  const limits = new Map(gates.map((gate) => [gate.id, gate.limit]));
  return {
    reaches: (id, value) => value >= (limits.get(id) ?? -Infinity),
    holds: (id, condition) => condition || !limits.has(id),
    factor: (id) => limits.get(id) ?? 1,
  };
}
