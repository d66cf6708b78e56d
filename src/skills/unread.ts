/**
 * Why a folder is no skill, in words: what reading it found on the way, and what ended it.
 */
import type { Problem } from "../model/problem.js";

/** One text of everything that was found, the reason last; what ended the reading is often only what an earlier finding led to. */
export function whyUnread(problems: readonly Problem[]): string {
  return problems.length === 0 ? "It cannot be read." : [...new Set(problems.map(({ text }) => text))].join(" ");
}
