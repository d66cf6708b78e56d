/**
 * A skill as other programs are served it: its front matter as data, its files with digests and sizes.
 *
 * Owns: what can be served so that a reader who checks it agrees.
 * Speaks: Skill in; ServedSkill or the reason why not out.
 * Never: URIs and wire forms (the surfaces'), standings.
 */
import type { ServedSkill } from "../model/operations.js";
import { SKILL_LIMITS } from "../model/policy.js";
import type { Skill } from "../model/skill.js";
import { fileDigests } from "./digest.js";
import { NAME_RULE, SKILL_PATH } from "./text.js";
import { frontMatterData } from "./written.js";

export type Serving = { readonly served: ServedSkill } | { readonly why: string };

/** The rules are those of the Agent Skills format: whoever serves less is refused by strict readers, with the whole list. */
export function serveSkill(skill: Skill): Serving {
  const front = frontMatterData(skill.files[SKILL_PATH] ?? "");
  if ("refused" in front) return { why: front.refused.text };
  const { name, description, compatibility, metadata } = front.data;
  if (name !== skill.name || !NAME_RULE.test(skill.name)) return { why: `Its \`name\` is not ${skill.name}.` };
  if (!isText(description, SKILL_LIMITS.descriptionChars))
    return { why: `Its \`description\` is not a text of at most ${SKILL_LIMITS.descriptionChars} characters.` };
  if (compatibility !== undefined && !isText(compatibility, SKILL_LIMITS.compatibilityChars))
    return { why: `Its \`compatibility\` is not a text of at most ${SKILL_LIMITS.compatibilityChars} characters.` };
  if (metadata !== undefined && !isFlat(metadata)) return { why: "Its `metadata` is not a map from texts to texts." };
  const digests = fileDigests(skill.files);
  const files = Object.entries(skill.files)
    .map(([path, text]) => ({ path, digest: digests[path] ?? "", size: bytesOf(text) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  return { served: { name, description, frontMatter: front.data, files } };
}

function isText(value: unknown, mostChars: number): value is string {
  return typeof value === "string" && value.trim() !== "" && Array.from(value).length <= mostChars;
}

function isFlat(value: unknown): boolean {
  const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
  return isMap && Object.values(value).every((item) => typeof item === "string");
}

const encoder = new TextEncoder();
const bytesOf = (text: string): number => encoder.encode(text).byteLength;
