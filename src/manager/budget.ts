/**
 * What the model costs: tokens by decision, and the budget of one maintenance run.
 *
 * Owns: the account and the allowance.
 * Speaks: counts; the endpoint's own figures where it gives some, o200k tokens otherwise.
 * Never: prices, or which question is worth its tokens.
 */

/** The decisions a model takes part in. `start` is draft of the plan, choice of skills and tools, in one question. */
export type Decision = "start" | "retrieve" | "explore" | "edit" | "lineage" | "learnt";

export interface Spent {
  readonly calls: number;
  readonly promptTokens: number;
  readonly answerTokens: number;
}

export const NOTHING_SPENT: Spent = Object.freeze({ calls: 0, promptTokens: 0, answerTokens: 0 });

export function addSpent(a: Spent, b: Spent): Spent {
  return {
    calls: a.calls + b.calls,
    promptTokens: a.promptTokens + b.promptTokens,
    answerTokens: a.answerTokens + b.answerTokens,
  };
}

export function tokensOf(spent: Spent): number {
  return spent.promptTokens + spent.answerTokens;
}

export interface DecisionAccount extends Spent {
  /** Decisions the model made. */
  readonly decided: number;
  /** Decisions that rules made because the model did not, by what went wrong. */
  readonly fellBack: Readonly<Record<string, number>>;
  /** Things it named that were no candidates, or that a check took out. */
  readonly dropped: number;
}
export type LlmUsage = Readonly<Record<Decision, DecisionAccount>>;

export interface Account {
  add(decision: Decision, entry: { spent: Spent; fault?: string | undefined; dropped?: number | undefined }): void;
  usage(): LlmUsage;
}

export function openAccount(): Account {
  const empty: DecisionAccount = { ...NOTHING_SPENT, decided: 0, fellBack: {}, dropped: 0 };
  const accounts: Record<Decision, DecisionAccount> = {
    start: empty,
    retrieve: empty,
    explore: empty,
    edit: empty,
    lineage: empty,
    learnt: empty,
  };
  return {
    add(decision, { spent, fault, dropped = 0 }) {
      const before = accounts[decision];
      accounts[decision] = {
        ...addSpent(before, spent),
        decided: before.decided + (fault === undefined ? 1 : 0),
        fellBack: fault === undefined ? before.fellBack : { ...before.fellBack, [fault]: (before.fellBack[fault] ?? 0) + 1 },
        dropped: before.dropped + dropped,
      };
    },
    usage: () => ({ ...accounts }),
  };
}

/** Tokens left for a run. A question is asked only where prompt and longest answer fit, so that the bound holds whatever comes back. */
export interface Allowance {
  mayAsk(promptTokens: number, answerTokens: number): boolean;
  take(spent: Spent): void;
  used(): number;
}

export function openAllowance(most: number): Allowance {
  let used = 0;
  return {
    mayAsk: (promptTokens, answerTokens) => used + promptTokens + answerTokens <= most,
    take(spent) {
      used += tokensOf(spent);
    },
    used: () => used,
  };
}
