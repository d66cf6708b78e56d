/**
 * Alternatives: tools that could do what a chosen one does, so that an agent need not ask again when it is refused.
 *
 * Two sources only, both certain: a skill that says it takes either tool, and another upstream that has a tool of the same name.
 */
import { splitToolKey } from "../model/ids.js";
import type { ViewCandidates } from "../model/ports.js";
import type { View, ViewDecisions } from "../model/view.js";

export type Alternative = NonNullable<View["alternatives"]>[number];

export function alternativesOf(candidates: ViewCandidates, decisions: ViewDecisions): Alternative[] {
  const chosen = new Set(decisions.tools.map((choice) => choice.tool));
  const rows = new Map<string, Alternative>();
  const add = (tool: string, insteadOf: string, why: string): void => {
    const isOffered = candidates.lookup === undefined || candidates.lookup.tool(tool) !== undefined;
    if (!chosen.has(tool) && isOffered && !rows.has(tool)) rows.set(tool, { tool, instead_of: insteadOf, why });
  };
  for (const name of decisions.skills) {
    const skill =
      candidates.lookup?.skill(name) ??
      [...candidates.planning, ...candidates.atomic].find((one) => one.skill.name === name)?.skill;
    for (const need of skill?.contract.requires ?? []) {
      if (need.anyGroup === undefined) continue;
      const taken = skill?.contract.requires.find((other) => other.anyGroup === need.anyGroup && chosen.has(other.tool));
      if (taken !== undefined) add(need.tool, taken.tool, `the skill ${name} takes either`);
    }
  }
  const byName = new Map(decisions.tools.map((choice) => [splitToolKey(choice.tool).name, choice.tool]));
  for (const { tool } of candidates.tools) {
    const same = byName.get(tool.name);
    if (same !== undefined) add(tool.key, same, `a tool of the same name on ${tool.label}`);
  }
  return [...rows.values()];
}
