/**
 * The `llm` manager: judgement by a model behind any OpenAI-compatible endpoint, with the rules under it.
 *
 * Owns: putting together endpoint, prompts, checks, account and fallback.
 * Speaks: the Manager port.
 * Never: touches a skill or a view with anything that was not checked; fails for what a model does; keeps anybody waiting.
 */
import { systemClock } from "../host/clock.js";
import type { Clock, Manager } from "../model/ports.js";
import { openAccount, type LlmUsage } from "./budget.js";
import { openEndpoint, type Say } from "./llm-client.js";
import { editProposer } from "./llm-edits.js";
import { lineageMatcher } from "./llm-lineage.js";
import { limitsOf, type LlmLimits } from "./llm-limits.js";
import { memoryOfOneProcess, type LlmMemory } from "./llm-memory.js";
import { viewDecider } from "./llm-view.js";

export interface LlmOptions {
  /** Base of the API, as in `http://localhost:11434/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** Empty or undefined for endpoints that want none. */
  readonly apiKey: string | undefined;
  /** What every decision falls back to. */
  readonly rules: Manager;
  readonly log: Say;
  readonly clock?: Clock | undefined;
  readonly limits?: Partial<LlmLimits> | undefined;
  /** What endpoints take, and answers of maintenance that still hold. Default: as long as the process lives. */
  readonly memory?: LlmMemory | undefined;
  /** Values that must be in no prompt; asked for at each, since configurations move. The key itself is always one of them. */
  readonly secrets?: (() => readonly string[]) | undefined;
  /** Apply edits that could be checked wholly (see answer-edit.ts). Default: every edit of a model is for a person to look at. */
  readonly applyChecked?: boolean | undefined;
}

export interface LlmManager extends Manager {
  readonly name: "llm";
  /** Since the process started, by decision. */
  usage(): LlmUsage;
}

export function createLlm(options: LlmOptions): LlmManager {
  const { rules, model, log } = options;
  const apiKey = options.apiKey ?? "";
  const limits = limitsOf(options.limits);
  const memory = options.memory ?? memoryOfOneProcess();
  const clock = options.clock ?? systemClock();
  const account = openAccount();
  const secrets = withKey(options.secrets ?? (() => []), apiKey);
  const endpoint = openEndpoint({ baseUrl: options.baseUrl, model, apiKey, memory, limits, clock, secrets, log });
  const run = { endpoint, limits, account, secrets, model, memory, clock, log };
  return {
    name: "llm",
    status: () => ({ kind: "llm", model, ...endpoint.standing() }),
    decideView: viewDecider({ endpoint, rules, limits, account, secrets, log }),
    matchLineage: lineageMatcher(run),
    proposeEdits: editProposer({ ...run, rules, applyChecked: options.applyChecked ?? false }),
    usage: () => account.usage(),
  };
}

/** The same list for the same configuration: redaction prepares a list once. */
function withKey(secrets: () => readonly string[], apiKey: string): () => readonly string[] {
  let given: readonly string[] | undefined;
  let all: readonly string[] = [];
  return () => {
    const now = secrets();
    if (now !== given) {
      given = now;
      all = apiKey === "" ? now : [...now, apiKey];
    }
    return all;
  };
}
