/**
 * Foresight: what a catalog that is not in force yet would mean for the library.
 *
 * Owns: the answer of `steward check`.
 * Speaks: skills, tools, rules, standings before and after.
 * Never: how it is shown (surfaces/cli) or found out (world/foresee.ts).
 */
import type { Drift, Level } from "./drift.js";
import type { JsonValue } from "./json.js";
import type { LineageLink } from "./lineage.js";
import type { MaintenanceOutcomes } from "./maintenance.js";
import type { Provenance, Tier } from "./skill.js";
import type { Standing } from "./standing.js";

/**
 * What would become of one skill: `held` and `rests` = not offered any more; `review` = offered, and a person should look; `safe` =
 * touched, and its recorded calls show that it works; `wakes` = offered again; `stays` = at rest before and after.
 */
export type Outcome = "held" | "rests" | "review" | "safe" | "wakes" | "stays";

/** One change of a tool that bears on a skill. */
export interface ForeseenCause {
  /** The tool, or the skill (`skill:<name>`), that causes it. */
  readonly on: string;
  readonly rule: string;
  readonly level: Level;
  readonly text: string;
  /** The parameter or output field, dotted, where there is one. */
  readonly field?: string;
  /** Where in the tool's definition: `/inputSchema/properties/order_id`. */
  readonly path?: string;
  readonly before?: JsonValue;
  readonly after?: JsonValue;
}

/** Who would take over from a tool that is gone. */
export interface ForeseenSuccessor {
  readonly tool: string;
  readonly to: readonly string[];
  readonly kind: LineageLink["kind"];
  readonly level: "certain" | "proposed";
  /** old parameter → new parameter */
  readonly params: Readonly<Record<string, string>>;
  readonly fixedArguments: Readonly<Record<string, JsonValue>>;
  readonly evidence: readonly string[];
}

export interface ForeseenSkill {
  readonly skill: string;
  readonly tier: Tier;
  readonly provenance: Provenance;
  readonly outcome: Outcome;
  readonly before: Standing;
  readonly after: Standing;
  readonly causes: readonly ForeseenCause[];
  readonly successors: readonly ForeseenSuccessor[];
  /** What `steward maintain` would do then: apply, propose to a person, or be refused by its own gate; absent: nothing. */
  readonly maintenance?: {
    readonly how: "applied" | "left" | "proposed" | "refused";
    readonly cause: string;
    readonly findings: readonly string[];
  };
  /** Where the skill names the first tool of its causes; lines count from 1. */
  readonly places: readonly { readonly path: string; readonly line: number }[];
}

export interface Foresight {
  /** `catalog` 0: the home has no version of its own; its tools are those that the skills were verified against. */
  readonly from: { readonly catalog: number; readonly tools: number; readonly library: number; readonly skills: number };
  readonly to: { readonly tools: number };
  readonly drift: Pick<Drift, "added" | "removed" | "changed" | "changes" | "unclassified">;
  /** Links that would be found. */
  readonly lineage: readonly LineageLink[];
  /** Tools that would wait for a person. */
  readonly held: readonly {
    readonly tool: string;
    readonly reasons: readonly { readonly rule: string; readonly text: string }[];
  }[];
  /** Every skill that the change would touch, and those that rest already; the worst first. */
  readonly skills: readonly ForeseenSkill[];
  readonly maintenance: MaintenanceOutcomes;
}
