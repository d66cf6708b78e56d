/**
 * The `rules` manager: every decision at once, without a model, a network or a clock.
 *
 * Owns: being the default, and what `llm` falls back to.
 * Speaks: the Manager port.
 * Never: the rules themselves (provision/choose.ts, maintain/propose.ts).
 */
import type { ProposedEdit } from "../model/maintenance.js";
import type { MaintenanceInput, Manager, ViewCandidates } from "../model/ports.js";
import { decideByRules } from "../provision/choose.js";

/**
 * `proposeByRules` is maintenance's own, passed in by whoever puts the house together; `rebuildEstimate` tells what a rebuild of the
 * same library would have cost a model. Rules themselves use no tokens.
 */
export function createRules(
  proposeByRules: (input: MaintenanceInput) => readonly ProposedEdit[],
  rebuildEstimate: (input: MaintenanceInput) => number = () => 0,
): Manager {
  return {
    name: "rules",
    status: () => ({ kind: "rules", state: "reachable" }),
    decideView: (candidates: ViewCandidates) => Promise.resolve(decideByRules(candidates)),
    // What rules know of takeovers stands in the links already; a proposed one is what they cannot decide.
    matchLineage: () => Promise.resolve({ verdicts: [], unjudged: [], tokens: 0 }),
    proposeEdits: (input) =>
      Promise.resolve({
        edits: proposeByRules(input),
        tokens: { used: input.spent?.tokens ?? 0, rebuildEstimate: rebuildEstimate(input) },
      }),
  };
}
