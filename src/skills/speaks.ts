/**
 * What no honest skill says to a model: orders against the person, and characters that nobody sees.
 *
 * Owns: which findings of the scan of texts count for a skill.
 * Speaks: Skill in, sentences out.
 * Never: what becomes of the skill (world/standings.ts); understanding a text (see catalog/scan.ts).
 */
import { isGrave, scanTexts } from "../catalog/scan.js";
import type { Skill } from "../model/skill.js";

const known = new WeakMap<Skill["files"], readonly string[]>();

/** Findings over every file of the folder, each with its quote; worked out once per folder in memory. */
export function speaksToModel({ files }: Pick<Skill, "files">): readonly string[] {
  const before = known.get(files);
  if (before !== undefined) return before;
  const texts = Object.fromEntries(Object.entries(files).map(([path, text]) => [path, text.replace(/^\uFEFF/, "")]));
  const found = scanTexts(texts)
    .filter(isGrave)
    .map((finding) => finding.text);
  known.set(files, found);
  return found;
}

/** What was found in these very files before; they are not looked at again. */
export function rememberSpeaking(files: Skill["files"], found: readonly string[]): void {
  known.set(files, found);
}
