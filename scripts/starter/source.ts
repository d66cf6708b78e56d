/**
 * What the starter library is written in, before it is skill folders.
 *
 * Owns: the parts a person writes; everything else (contracts, parameters, locks) is derived.
 * Speaks: sections, the fields read of each tool, what a skill yields.
 * Never: digests, file syntax.
 */
import type { SkillSections } from "../../src/skills/body.js";

export interface ToolSource {
  readonly tool: string;
  readonly description: string;
  readonly use: string;
  readonly gotchas: readonly string[];
  readonly produces: readonly string[];
}

export interface AtomicSource {
  readonly name: string;
  readonly description: string;
  readonly sections: SkillSections;
  /** tool → output fields the skill reads, dotted, `[]` for items. */
  readonly reads: Readonly<Record<string, readonly string[]>>;
  readonly produces: readonly string[];
}

export interface PlanSource {
  readonly name: string;
  readonly description: string;
  readonly sections: SkillSections;
  readonly produces: readonly string[];
}
