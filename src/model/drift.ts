/**
 * Drift: the typed difference between two catalog versions.
 *
 * Owns: rule ids, verdicts, levels and the shape of one change.
 * Speaks: DESIGN.md 5.2's table.
 * Never: computing any of it (catalog/).
 */
import type { CatalogVersion, ToolKey } from "./ids.js";
import type { JsonValue } from "./json.js";

/** Rule ids of DESIGN.md 5.2. `N1` is a tool that appeared (no skill uses it yet). */
export type RuleId =
  | "N1"
  | "T1"
  | "T2"
  | "T3"
  | "T4"
  | "I1"
  | "I2"
  | "I3"
  | "I4"
  | "I5"
  | "I6"
  | "I7"
  | "I8"
  | "I9"
  | "I10"
  | "I11"
  | "I12"
  | "I13"
  | "I14"
  | "I15"
  | "I16"
  | "I17"
  | "O1"
  | "O2"
  | "O3"
  | "O4"
  | "O5"
  | "O6"
  | "O7"
  | "D1"
  | "D2"
  | "D3"
  | "A1"
  | "A2"
  | "A3"
  | "A4"
  | "X1"
  | "X2";

/** What the differ says about schemas alone, before usage is looked at. */
export type Verdict = "breaking" | "edge" | "risky" | "compatible" | "cosmetic" | "undecided";
/** The worst first. */
export const VERDICTS: readonly Verdict[] = ["breaking", "edge", "undecided", "risky", "compatible", "cosmetic"];

/** What a change means for one skill, worst last in LEVELS. */
export type Level = "compatible" | "review" | "dangerous" | "unknown" | "breaking" | "safety";
export const LEVELS: readonly Level[] = ["compatible", "review", "dangerous", "unknown", "breaking", "safety"];

/** The worse of two levels. */
export function worseLevel(a: Level, b: Level): Level {
  return LEVELS.indexOf(a) >= LEVELS.indexOf(b) ? a : b;
}

/** One typed change of one tool. */
export interface ToolChange {
  readonly tool: ToolKey;
  readonly rule: RuleId;
  readonly verdict: Verdict;
  /** Where in the tool: `/inputSchema/properties/order_id`, `/annotations/readOnlyHint`, `` for the tool itself. */
  readonly path: string;
  /** The parameter or output field concerned (dotted for nested, `[]` for items), where there is one. */
  readonly field?: string | undefined;
  /** For I8: the new name of the parameter. */
  readonly renamedTo?: string | undefined;
  readonly before?: JsonValue | undefined;
  readonly after?: JsonValue | undefined;
  /** One sentence for people. */
  readonly text: string;
}

export interface Drift {
  readonly from: CatalogVersion;
  readonly to: CatalogVersion;
  readonly added: readonly ToolKey[];
  readonly removed: readonly ToolKey[];
  /** Tools in both whose document digest moved. */
  readonly changed: readonly ToolKey[];
  /** Every typed change, sorted by tool, rule, path. */
  readonly changes: readonly ToolChange[];
  /** Changes no rule explains: 0 for valid schemas. */
  readonly unclassified: number;
}

/** How a skill uses a tool: the direction in which a change is judged. */
export interface Usage {
  /** Parameters the skill sets (dotted paths). */
  readonly params: readonly string[];
  /** Output fields the skill reads (dotted paths). */
  readonly reads: readonly string[];
  /** Recorded argument objects, redacted paths removed; may be empty. */
  readonly recorded: readonly JsonValue[];
  /** What is known of patterns on recorded texts; undefined where nothing is. Nobody runs one to find out. */
  readonly matches?: ((pattern: string, text: string) => boolean | undefined) | undefined;
}
