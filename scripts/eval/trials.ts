/**
 * Trials: one query set asked of STEWARD's retrieval and of the baselines, query by query.
 */
import type { ToolKey } from "../../src/model/ids.js";
import { splitToolKey } from "../../src/model/ids.js";
import { areTwins } from "../../src/retrieve/reasons.js";
import { slotOf } from "../../src/retrieve/bm25f.js";
import type { ToolScoring } from "../../src/retrieve/score.js";
import { TOOL_SCORING } from "../../src/retrieve/score.js";
import type { ToolIndex } from "../../src/retrieve/tools.js";
import { buildToolIndex, moveToolIndex, searchTools } from "../../src/retrieve/tools.js";
import type { Baseline } from "./baseline.js";
import { bm25Baseline } from "./baseline.js";
import type { Figures } from "./figures.js";
import { f1Of, figuresOf } from "./figures.js";
import type { QuerySet, SetQuery } from "./sets.js";

/** Fixed answer lengths that the cut-off is compared with. */
export const FIXED = Array.from({ length: 20 }, (_, i) => i + 1);

export interface Trial {
  readonly query: SetQuery;
  readonly figures: Figures;
  readonly plain: Figures;
  readonly stop: Figures;
  /** F1 of the answer as cut off. */
  readonly cutF1: number;
  /** How many tools it showed. */
  readonly shown: number;
  /** F1 of the first k, k of FIXED. */
  readonly fixedF1: readonly number[];
  /** The first tool is wrong and a look-alike of a right one. */
  readonly confused: boolean;
  /** Nothing is answered with everything there, or the answer is called weak. */
  readonly doubted: boolean;
  /** Strength of the answer with everything there, without the gold tools, without their servers. */
  readonly strength: number;
  readonly withoutGold: Absence;
  /** Not measurable where the servers of the gold are all there are. */
  readonly withoutServers: Absence | undefined;
}

export interface Absence {
  readonly strength: number;
  /** Something was answered although nothing right was there. */
  readonly answered: boolean;
  /** Nothing was answered, or the answer was called weak. */
  readonly doubted: boolean;
}

export interface Bench {
  readonly set: QuerySet;
  readonly index: ToolIndex;
  readonly plain: Baseline;
  readonly stop: Baseline;
  readonly keysOf: ReadonlyMap<string, readonly ToolKey[]>;
  readonly scoring: ToolScoring;
}

export function benchOf(set: QuerySet, scoring: ToolScoring = TOOL_SCORING): Bench {
  const keysOf = new Map<string, ToolKey[]>();
  for (const { label, key } of set.tools) keysOf.set(label, [...(keysOf.get(label) ?? []), key]);
  return {
    set,
    index: buildToolIndex(set.tools, set.servers),
    plain: bm25Baseline(set, false),
    stop: bm25Baseline(set, true),
    keysOf,
    scoring,
  };
}

export function tryQuery(bench: Bench, query: SetQuery): Trial {
  const { index, scoring } = bench;
  const { text, gold } = query;
  const whole = searchTools(index, text, { limit: FIXED.length, whole: true, scoring });
  const keys = whole.hits.map(({ key }) => key);
  const answer = searchTools(index, text, { limit: FIXED.length, scoring });
  const cut = answer.hits.map(({ key }) => key);
  const labels = new Set([...gold].map((key) => splitToolKey(key).label as string));
  return {
    query,
    figures: figuresOf(keys, gold),
    plain: figuresOf(bench.plain.search(text, 10), gold),
    stop: figuresOf(bench.stop.search(text, 10), gold),
    cutF1: f1Of(cut, gold),
    shown: cut.length,
    fixedF1: FIXED.map((k) => f1Of(keys.slice(0, k), gold)),
    confused: isConfused(index, keys[0], gold),
    strength: whole.strength,
    doubted: answer.weak || cut.length === 0,
    withoutGold: absence(bench, text, gold),
    withoutServers:
      labels.size < bench.keysOf.size
        ? absence(bench, text, new Set([...labels].flatMap((label) => bench.keysOf.get(label) ?? [])))
        : undefined,
  };
}

function absence({ index, scoring }: Bench, text: string, removed: ReadonlySet<ToolKey>): Absence {
  const answer = searchTools(moveToolIndex(index, { changed: [], removed }), text, { limit: 5, scoring });
  return { strength: answer.strength, answered: answer.hits.length > 0, doubted: answer.weak || answer.hits.length === 0 };
}

function isConfused(index: ToolIndex, first: ToolKey | undefined, gold: ReadonlySet<ToolKey>): boolean {
  const slot = first === undefined ? undefined : slotOf(index.text, first);
  if (first === undefined || slot === undefined || gold.has(first)) return false;
  return [...gold].some((key) => {
    const right = slotOf(index.text, key);
    return right !== undefined && areTwins(index.text, slot, right);
  });
}
