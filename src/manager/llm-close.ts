/**
 * Dependency closure over a model's plan: a required reference that neither the task nor an earlier tool yields brings its supplier.
 *
 * A net under the model, who was shown the suppliers and may have forgotten one: of several the plan's own counts, else the likeliest.
 */
import type { ToolKey } from "../model/ids.js";
import { PROVISION } from "../model/policy.js";
import type { PlanStep, ToolChoice } from "../model/view.js";
import type { ViewPool } from "./llm-pool.js";

/** The steps with suppliers before the tools that need them; `choices` gains them. */
export function closeSteps(steps: readonly PlanStep[], pool: ViewPool, choices: Map<ToolKey, ToolChoice>): PlanStep[] {
  const have = new Set<string>(steps.flatMap((step) => step.tools));
  return steps.map((step, n) => {
    const tools: string[] = [];
    for (const key of step.tools) {
      for (const way of waysTo(key as ToolKey, pool, have, 0)) {
        have.add(way.tool);
        if (!tools.includes(way.tool)) tools.push(way.tool);
        if (choices.has(way.tool)) continue;
        const score = (choices.get(key as ToolKey)?.score ?? 0) / 2;
        choices.set(way.tool, { tool: way.tool, reason: `supplies ${way.param} for ${way.to}`, score, step: n + 1 });
      }
      if (!tools.includes(key)) tools.push(key);
    }
    return { ...step, tools };
  });
}

interface Way {
  readonly tool: ToolKey;
  readonly param: string;
  readonly to: ToolKey;
}

/** What must be called first for a tool's open references, in order of use. */
function waysTo(key: ToolKey, pool: ViewPool, have: ReadonlySet<string>, depth: number): Way[] {
  if (depth >= PROVISION.supplierLevels) return [];
  const ways: Way[] = [];
  const supplies = pool.suppliers.get(key) ?? [];
  for (const param of new Set(supplies.map((supply) => supply.param))) {
    const able = supplies.filter((supply) => supply.param === param && supply.tool !== key);
    const now = new Set([...have, ...ways.map((way) => way.tool)]);
    const best = able[0];
    if (best === undefined || able.some((supply) => now.has(supply.tool))) continue;
    ways.push(...waysTo(best.tool, pool, now, depth + 1), { tool: best.tool, param, to: key });
  }
  return ways;
}
