/** The limits of the `llm` manager as it runs with them: the policy's, some of them overridden by configuration or by tests. */
import { LLM_LIMITS } from "../model/endpoint-limits.js";

export type LlmLimits = { readonly [Name in keyof typeof LLM_LIMITS]: number };

export function limitsOf(overrides: Partial<LlmLimits> = {}): LlmLimits {
  const set = Object.entries(overrides).filter(([, value]) => value !== undefined);
  return Object.freeze({ ...LLM_LIMITS, ...Object.fromEntries(set) });
}
