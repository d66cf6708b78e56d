/**
 * Variables in configured texts: `${VAR}`, `${env:VAR}`, `${VAR:-default}`; `$${` stands for `${`.
 */
import type { Environment } from "../host/env.js";

export interface Expanded {
  readonly text: string;
  /** Variables without a value and without a default, as written. */
  readonly missing: readonly string[];
  /** Values that came out of the environment: what a text holds of them may be a secret. */
  readonly values: readonly string[];
}

/** `given` are variables of our own (STEWARD_HOME, …); they go before the environment. */
export function expand(text: string, env: Environment, given: Readonly<Record<string, string>>): Expanded {
  const missing: string[] = [];
  const values: string[] = [];
  const out = text.replace(/\$\$\{|\$\{([^{}]*)\}/g, (all, inside: string | undefined) => {
    if (inside === undefined) return "${";
    const match = /^(?:env:)?([A-Za-z_][A-Za-z0-9_().]*)(?::-(.*))?$/s.exec(inside);
    const name = match?.[1];
    if (name === undefined) {
      missing.push(all);
      return all;
    }
    const own = given[name];
    if (own !== undefined) return own;
    const value = env[name];
    if (value !== undefined && value !== "") {
      values.push(value);
      return value;
    }
    if (match?.[2] !== undefined) return match[2];
    if (value === undefined) missing.push(all);
    return value ?? all;
  });
  return { text: out, missing, values };
}
