/**
 * A draft of a view: what of the material is shown, and how the rest is told.
 */
import type { LeftOut } from "./left-out.js";
import type { Material, SkillMaterial, ToolMaterial } from "./material.js";

/** What of the material is shown. */
export interface Draft {
  readonly tools: Set<ToolMaterial>;
  readonly definitions: Set<ToolMaterial>;
  readonly skills: Map<SkillMaterial, "full" | "brief">;
  alternatives: number;
  /** How tersely plan, notices, substitutions and unmatched words are told: 0 = as they are, TERSEST = hardly. */
  terse: number;
  /** How the rest is told where a view is cut in the present form: `terse` then says nothing. */
  readonly tight?: Tight | undefined;
  /** Form of left_out (left-out.ts). */
  leftOut: number;
}

/** What of plan, notices and substitutions is told (tight.ts). */
export interface Tight {
  /** Tokens of a budget that shows everything. */
  readonly need: number;
  /** In the fewest words there are: what no budget is too small for, if any view fits it. */
  bare: boolean;
  /** Steps of the plan that are told, from the first. */
  steps: number;
  /** Goals as they are; else their first words. */
  wholeGoals: boolean;
  /** Keys of tools that steps may name though they are not shown: left_out names them whatever its form. */
  readonly named: Set<string>;
  /** In the order of the material; those not in it are counted. */
  readonly notices: Map<Notice, "short" | "whole">;
  /** The notice of the budget in full, with the ways out. */
  explains: boolean;
  readonly substitutions: Set<Substitution>;
  unmatched: number;
  /** Why the rules answered in a model's place, in its words. */
  fellBack: boolean;
}

export type Notice = Material["notices"][number];
export type Substitution = Material["input"]["found"]["substitutions"][number];

/** Terseness at which nothing more can be said with fewer words. */
export const TERSEST = 6;

/** What the draft does not show of the material. */
export function cutFrom(material: Material, draft: Draft): LeftOut[] {
  const chars = material.input.request.kind === "explore" ? " or the episode's limit on skill text" : "";
  const whole = material.tools.filter(
    (tool) => tool.definition !== undefined && draft.tools.has(tool) && !draft.definitions.has(tool),
  );
  return [
    ...material.skills
      .filter((skill) => !draft.skills.has(skill))
      .map((skill): LeftOut => ({ kind: "skill", id: skill.name, why: `over the token budget${chars}` })),
    ...material.tools
      .filter((tool) => !draft.tools.has(tool))
      .map((tool): LeftOut => ({ kind: "tool", id: tool.entry.tool, why: "over the token budget" })),
    ...whole.map((tool): LeftOut => ({
      kind: "tool",
      id: tool.entry.tool,
      why: "its definition is over the token budget; ask describe_tools",
    })),
  ];
}
