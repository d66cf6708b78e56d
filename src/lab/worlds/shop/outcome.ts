/**
 * What a base function answers: a result, or one sentence that a person can act on.
 *
 * Owns: the outcome type and how arguments and money are read and written.
 * Speaks: JSON.
 * Never: thrown; a refused request changes nothing.
 */
import type { JsonObject } from "../../../model/json.js";

export type Outcome = { readonly ok: JsonObject } | { readonly error: string };

export const ok = (value: JsonObject): Outcome => ({ ok: value });
export const no = (error: string): Outcome => ({ error });

/** An argument that the schema says is text. */
export function text(args: JsonObject, name: string): string {
  const value = args[name];
  return typeof value === "string" ? value : "";
}
export function optionalText(args: JsonObject, name: string): string | null {
  const value = args[name];
  return typeof value === "string" && value.trim() !== "" ? value : null;
}
export function whole(args: JsonObject, name: string): number {
  const value = args[name];
  return typeof value === "number" ? Math.trunc(value) : 0;
}
/** Amounts are given and shown in pounds and kept in cents, so that sums are exact. */
export function cents(args: JsonObject, name: string): number {
  const value = args[name];
  return typeof value === "number" ? Math.round(value * 100) : 0;
}
export const pounds = (amountCents: number): number => amountCents / 100;
export const money = (amountCents: number): string => `£${(amountCents / 100).toFixed(2)}`;

/** The next id of a table: `F-3001`, `F-3002`, … */
export function nextId(table: Readonly<Record<string, unknown>>, prefix: string, first: number): string {
  const used = Object.keys(table).map((id) => Number(id.slice(prefix.length)));
  return `${prefix}${Math.max(first - 1, ...used.filter((n) => Number.isInteger(n))) + 1}`;
}
